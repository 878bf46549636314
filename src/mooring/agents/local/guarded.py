"""Files that are read, or written, only with a person's yes each time, and those that are never written."""

import os
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cached_property

from mooring.core.definitions.paths import KERNEL_FOLDERS, Paths, is_below
from mooring.core.text.glob import Glob, literal
from mooring.discovery.known_places import list_obeyed, list_project_places, list_user_places, locate_obeyed

OWN = "it is among Mooring's own settings and records, which only its commands change"
_PRIVATE = "Mooring keeps its own settings, records and secrets there"
_SYSTEM = "it is not a file on a disk, but a view into the system"
_TEXT_FOLDERS = ("agents", "commands", "skills")

_NAMES = frozenset(
    {
        "copilot-instructions.md",
        ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
        ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc",
        ".gitconfig", ".gitmodules", ".npmrc", ".pypirc", ".netrc", ".pam_environment", ".xprofile",
        ".xinitrc", ".xsession", ".xsessionrc", ".vimrc", ".exrc", ".emacs", ".gdbinit", ".pythonrc", ".curlrc",
        ".wgetrc", "authorized_keys", "crontab",
    }
)  # fmt: skip
_FOLDERS = frozenset(
    {
        ".git", ".hg", ".svn", ".idea", ".copilot", ".ssh", ".gnupg", ".aws", ".kube", ".docker", "launchagents",
        "launchdaemons",
    }
)  # fmt: skip
_SHARED = frozenset({".github"})
"""Hidden folders of which agents obey only a part."""
_BELOW_CONFIG = ("autostart", "systemd", "environment.d", "fish", "git", "nvim", "opencode", "github-copilot")


class GuardedFiles:
    """Which files of one machine are guarded. Nothing is looked up before the first question."""

    def __init__(self, where: Paths) -> None:
        self._where = where

    # --- reading --------------------------------------------------------------------------------------------------

    def find_privacy(self, real: str) -> str:
        """Why a file is read only if a person says so each time; empty if a rule can allow it."""
        reason = self.list_private().find_above(real)
        return "" if reason == _PRIVATE and self._is_text(real) else reason

    def find_privacy_below(self, real: str) -> str:
        """The same for a folder that somebody looks through who doesn't ask about each file in it."""
        return self.find_privacy(real) or self.list_private().find_below(real)

    def list_private(self) -> "PrivateFolders":
        """The folders whose files always ask, as they are now: one may be there by the next call."""
        where = self._where
        own = (where.config, where.state, where.cache, f"{where.system}/etc/mooring")
        return PrivateFolders({**dict.fromkeys(KERNEL_FOLDERS, _SYSTEM), **dict.fromkeys(own, _PRIVATE)})

    def _is_text(self, real: str) -> bool:
        """Whether a file of Mooring's own configuration is a text for agents, which the person wrote to be read."""
        folder = os.path.realpath(self._where.config)
        if not is_below(real, folder) or real == folder:
            return False
        first = os.path.relpath(real, folder).split("/")[0]
        return first in _TEXT_FOLDERS or real.endswith(".md")

    # --- writing --------------------------------------------------------------------------------------------------

    def find_refusal(self, real: str) -> str:
        """Why a file is never written; empty if it may be."""
        reason = self.list_private().find_above(real)
        if reason == _SYSTEM:
            return reason
        return OWN if reason or ".mooring" in _split_folded(real) else ""

    def find_reason(self, real: str) -> str:
        """Why a file is written only if a person says so each time; empty if a rule can allow it."""
        if self.is_configuration(real):
            return "it is a configuration file that other programs act on"
        parts = _split_folded(real)
        if parts[-1] in _NAMES:
            return "shells, agents or other programs act on what it says"
        if self._is_obeyed(real):
            return "agents obey what it says, or run it"
        folders = {*_FOLDERS, *self.agent_folders, *(_BELOW_CONFIG if ".config" in parts else ())}
        if not folders.isdisjoint(parts):
            return "programs act on what is in its folder"
        return ""

    def is_configuration(self, real: str) -> bool:
        """Whether a file is one in which some coding tool keeps its servers, or what switches them."""
        folded = _fold(real)
        return any(glob.matches(folded) is not False for glob in self._places)

    def _is_obeyed(self, real: str) -> bool:
        folded = "/".join(_split_folded(real))
        return any(glob.matches(folded) is not False for glob in self._obeyed)

    @cached_property
    def agent_folders(self) -> frozenset[str]:
        """The hidden folders of a project that belong to coding tools as a whole."""
        return frozenset(name for name in list_hidden_folders() if name not in _SHARED)

    @cached_property
    def _obeyed(self) -> tuple[Glob, ...]:
        """Every file and folder that some coding tool obeys or runs."""
        globs: set[str] = set()
        for obeyed in list_obeyed():
            if obeyed.project:
                globs.add(f"*/{literal(_fold(obeyed.project))}")
            for path in locate_obeyed(obeyed, self._where):
                globs |= {_fold(form) for form in _list_forms(path)}
        return tuple(Glob(glob) for each in sorted(globs) for glob in (each, f"{each}/*"))

    @cached_property
    def _places(self) -> tuple[Glob, ...]:
        """Every file in which some coding tool keeps its servers, or what switches them."""
        globs = {f"*/{_fold(path)}" for path in list_project_places()}
        for path in list_user_places(self._where):
            globs |= {_fold(form) for form in _list_forms(path)}
        return tuple(map(Glob, sorted(globs)))


class PrivateFolders:
    """Folders by their paths and by what the system calls them, each with the reason why its files always ask.

    The same folder may be mounted twice, or its file system may ignore more than case.
    """

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self._paths = {
            _fold(form): reason for path, reason in reasons.items() for form in (path, os.path.realpath(path))
        }
        self._there = {
            _fold(form) for path in reasons for form in (path, os.path.realpath(path)) if os.path.isdir(path)
        }
        identities = ((_find_identity(path), reason) for path, reason in reasons.items())
        self._identities = {identity: reason for identity, reason in identities if identity is not None}

    def find(self, folder: str) -> str:
        """Why what is in a folder always asks, if it is itself one of these; empty if it isn't.

        That is enough for a walk, which comes from above.
        """
        reason = self._paths.get(_fold(folder), "")
        identity = None if reason else _find_identity(folder)
        return reason if identity is None else self._identities.get(identity, "")

    def find_below(self, real: str) -> str:
        """The same for a folder that holds one of these."""
        folder = f"{_fold(real).rstrip('/')}/"
        return next(
            (reason for path, reason in self._paths.items() if path.startswith(folder) and path in self._there), ""
        )

    def find_above(self, real: str) -> str:
        """The same for a path that is one of these, or anywhere below."""
        while True:
            reason = self.find(real)
            above = os.path.dirname(real)
            if reason or above == real:
                return reason
            real = above


def list_hidden_folders() -> frozenset[str]:
    """The hidden folders of a project in which coding tools look for texts."""
    first = (obeyed.project.partition("/") for obeyed in list_obeyed())
    return frozenset(folder for folder, slash, _ in first if slash and folder.startswith("."))


def _list_forms(pattern: str) -> Iterator[str]:
    """The glob for a place, with and without the links on its way; only its star is special."""
    before, star, after = pattern.partition("*")
    folder, _, prefix = before.rpartition("/")
    for form in (folder, os.path.realpath(folder)):
        yield f"{literal(form)}/{literal(prefix)}{star}{literal(after)}"


def _fold(path: str) -> str:
    """A path as a file system compares it that ignores case and composition, as a Mac's does."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _split_folded(path: str) -> list[str]:
    # Some file systems ignore dots and blanks at the end of a name.
    return [part.rstrip(". ") for part in _fold(path).split("/")]


def _find_identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
