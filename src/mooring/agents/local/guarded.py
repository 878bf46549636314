"""Files that decide what programs do with this machine: some are never written, others only with a person's yes."""

import os
import unicodedata
from collections.abc import Iterator
from functools import cached_property

from mooring.core.glob import Glob, literal
from mooring.core.where import Where
from mooring.discovery.known_places import list_project_places, list_user_places

OWN = "it is among Mooring's own settings and records, which only its commands change"

_NAMES = frozenset(
    {
        # What agents are told.
        "agent.md", "agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md", "qwen.md",
        "copilot-instructions.md", ".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".goosehints",
        # What shells and other programs run or load when they start.
        ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
        ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc",
        ".envrc", ".gitconfig", ".gitmodules", ".npmrc", ".pypirc", ".netrc", ".pam_environment", ".xprofile",
        ".xinitrc", ".xsession", ".xsessionrc", ".vimrc", ".exrc", ".emacs", ".gdbinit", ".pythonrc", ".curlrc",
        ".wgetrc", "authorized_keys", "crontab",
    }
)  # fmt: skip
_FOLDERS = frozenset(
    {
        ".git", ".hg", ".svn", ".husky", ".claude", ".cursor", ".vscode", ".idea", ".codex", ".gemini", ".qwen",
        ".opencode", ".copilot", ".kiro", ".roo", ".windsurf", ".continue", ".omp", ".factory", ".amazonq", ".junie",
        ".agents", ".ssh", ".gnupg", ".aws", ".kube", ".docker",
        "launchagents", "launchdaemons",
    }
)  # fmt: skip
_BELOW_CONFIG = ("autostart", "systemd", "environment.d", "fish", "git", "nvim", "opencode", "github-copilot")


class GuardedFiles:
    """Which files of one machine are guarded. Nothing is looked up before the first question."""

    def __init__(self, where: Where) -> None:
        self._where = where

    def find_refusal(self, real: str) -> str:
        """Why a file is never written; empty if it may be."""
        return OWN if self.is_own(real) or ".mooring" in _split_folded(real) else ""

    def find_reason(self, real: str) -> str:
        """Why a file is written only if a person says so each time; empty if a rule can allow it."""
        if self._is_configuration(real):
            return "it is a configuration file that other programs act on"
        parts = _split_folded(real)
        if parts[-1] in _NAMES:
            return "shells, agents or other programs act on what it says"
        if not _FOLDERS.isdisjoint(parts) or any(folder in parts for folder in self._config_folders(parts)):
            return "programs act on what is in its folder"
        return ""

    def is_own(self, real: str) -> bool:
        """Whether a file is in one of Mooring's own folders, by whatever path."""
        folded = _fold(real)
        if any(folded == own or folded.startswith(f"{own}/") for own in self._own_folders):
            return True
        # The same folder may be mounted twice, or its file system may ignore more than case.
        identities = self._own_identities()
        return bool(identities) and any(identity in identities for identity in _list_identities(real))

    @cached_property
    def _own_folders(self) -> frozenset[str]:
        where = self._where
        folders = (where.config, where.state, where.cache, f"{where.system}/etc/mooring")
        return frozenset(_fold(form) for folder in folders for form in (folder, os.path.realpath(folder)))

    def _own_identities(self) -> set[tuple[int, int]]:
        # Looked up each time: a folder that is not there yet may be by the next call.
        where = self._where
        folders = (where.config, where.state, where.cache, f"{where.system}/etc/mooring")
        return {identity for folder in folders if (identity := _find_identity(folder)) is not None}

    def _config_folders(self, parts: list[str]) -> tuple[str, ...]:
        return _BELOW_CONFIG if ".config" in parts else ()

    def _is_configuration(self, real: str) -> bool:
        folded = _fold(real)
        return any(glob.matches(folded) is not False for glob in self._places)

    @cached_property
    def _places(self) -> tuple[Glob, ...]:
        """Every file in which some coding tool keeps its servers, or what switches them."""
        globs = {f"*/{_fold(path)}" for path in list_project_places()}
        for path in list_user_places(self._where):
            globs |= {_fold(form) for form in _list_forms(path)}
        return tuple(map(Glob, sorted(globs)))


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
    return _fold(path).split("/")


def _list_identities(path: str) -> Iterator[tuple[int, int]]:
    """What the system calls a path and each folder that it is in."""
    while True:
        identity = _find_identity(path)
        if identity is not None:
            yield identity
        above = os.path.dirname(path)
        if above == path:
            return
        path = above


def _find_identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
