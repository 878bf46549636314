"""Where things are on this machine: a value, so that a test or another platform is described rather than patched."""

import os
import posixpath
import sys
from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.errors import ConfigError

Platform: TypeAlias = Literal["linux", "darwin", "win32"]
KERNEL_FOLDERS = ("/proc", "/sys", "/dev")
"""What is in them are views into the system, not files on a disk."""


class Paths(Struct, frozen=True):
    """The person's folders, the platform and the environment, as given."""

    home: str
    env: Mapping[str, str] = {}
    platform: Platform = "linux"
    system: str = ""
    """Put before the machine's own paths (`/etc/…`), so that a test can describe a managed machine."""

    @property
    def xdg_config(self) -> str:
        """`$XDG_CONFIG_HOME` or `~/.config`: where most command-line tools keep their files, on every platform."""
        return self._folder("XDG_CONFIG_HOME", ".config")

    @property
    def app_config(self) -> str:
        """Where desktop programs keep their files: by platform."""
        match self.platform:
            case "linux":
                return self.xdg_config
            case "darwin":
                return f"{self.home}/Library/Application Support"
            case "win32":
                return self.env.get("APPDATA") or f"{self.home}/AppData/Roaming"

    @property
    def xdg_data(self) -> str:
        """Where command-line tools keep what they write themselves: by platform."""
        return self.local if self.platform == "win32" else self._folder("XDG_DATA_HOME", ".local/share")

    @property
    def local(self) -> str:
        """`%LOCALAPPDATA%`."""
        return self.env.get("LOCALAPPDATA") or f"{self.home}/AppData/Local"

    @property
    def program_data(self) -> str:
        """`%PROGRAMDATA%`, the machine's own."""
        folder = self.env.get("PROGRAMDATA") or "C:/ProgramData"
        return f"{self.system}/{folder}" if self.system else folder

    @property
    def config(self) -> str:
        """Mooring's own configuration folder."""
        return f"{self.app_config if self.platform == 'win32' else self.xdg_config}/mooring"

    @property
    def state(self) -> str:
        """Where Mooring keeps decisions and sessions."""
        return self._own("XDG_STATE_HOME", ".local/state", "state")

    @property
    def record(self) -> str:
        """The file of conversations."""
        return f"{self.state}/sessions.db"

    @property
    def cache(self) -> str:
        """Where Mooring keeps what it can make again."""
        return self._own("XDG_CACHE_HOME", ".cache", "cache")

    def _own(self, variable: str, fallback: str, kind: str) -> str:
        if self.platform == "win32":
            return f"{self.local}/mooring/{kind}"
        return f"{self._folder(variable, fallback)}/mooring"

    def _folder(self, variable: str, fallback: str) -> str:
        value = self.env.get(variable, "")
        # A relative value would let the working folder, a repository perhaps, choose where decisions are kept.
        return value if posixpath.isabs(value) else f"{self.home}/{fallback}"


def here(env: Mapping[str, str]) -> Paths:
    """This machine and this person.

    Raises:
        ConfigError: the home folder is not known. A relative one would make a repository's files the person's own.
    """
    # USERPROFILE is where Windows keeps it; neither is set for some services, whose account is asked then.
    home = env.get("HOME") or env.get("USERPROFILE") or os.path.expanduser("~")
    if not os.path.isabs(home):
        raise ConfigError("Your home folder is not known; set HOME to its full path.")
    platform = sys.platform if sys.platform in ("darwin", "win32") else "linux"
    return Paths(home.rstrip("/") or "/", dict(env), platform)  # type: ignore[arg-type]  # narrowed above


class Workspace(Struct, frozen=True):
    """What to look at: the machine, the folder, and what the command line adds."""

    where: Paths
    cwd: str
    project: bool = True
    demo: bool = False
    configs: tuple[str, ...] = ()
    """Files in the common shape that win over everything else."""
    switched_on: frozenset[str] = frozenset()
    """Servers that are on whatever their files say; one that a policy refuses stays refused."""


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder or in it. Both have to be resolved: links are not followed here."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
