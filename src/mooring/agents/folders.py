"""The folders in which people keep agents, commands and skills; the files in them, and what these may bring along."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

from mooring import files
from mooring.agents.local.guarded import GuardedFiles, list_hidden_folders
from mooring.core.definitions.paths import Workspace, is_below
from mooring.core.definitions.problem import Problem
from mooring.discovery.format import locate, user_file
from mooring.errors import FileError
from mooring.files.reading import list_folder
from mooring.settings import find_project_folders

FolderScope: TypeAlias = Literal["project", "user"]


class FolderRow(Struct, frozen=True):
    """A tool's folder: its path in a project, and that in a person's home. It is empty where there is none."""

    project: str
    user: str


R = TypeVar("R", bound=FolderRow)


class FoundFolder(Struct, Generic[R], frozen=True):
    """A folder that is there, and the row that it was looked for by."""

    row: R
    path: str
    scope: FolderScope
    base: str = "/"
    """The folder of the project that it was looked for in."""
    fence: str | None = None
    """For a project's, its root without links: a link leads no further."""


def find_folders(workspace: Workspace, rows: Sequence[R]) -> Iterator[FoundFolder[R]]:
    """The folders that are there, highest first: the project's, nearer ones before farther ones, then the person's."""
    located = [(row, locate(user_file(row.user), workspace.where)) for row in rows if row.user]
    if workspace.project:
        own = {os.path.realpath(path) for _, path in located if path is not None}
        yield from _find_project_folders(workspace, rows, own)
    for row, path in located:
        if path is not None and os.path.isdir(path):
            yield FoundFolder(row, path, "user")


def _find_project_folders(workspace: Workspace, rows: Sequence[R], own: set[str]) -> Iterator[FoundFolder[R]]:
    above = find_project_folders(workspace.where, workspace.cwd)
    fence = os.path.realpath(above[-1])
    for row in rows:
        for base in above:
            path = os.path.join(base, row.project)
            # Whoever works in their home folder has their own files there, not those of a project.
            if os.path.isdir(path) and os.path.realpath(path) not in own:
                yield FoundFolder(row, path, "project", base, fence)


class WalkBounds(Struct, frozen=True):
    """How far a walk goes."""

    deepest: int
    """How many folders a file may be in."""
    most_entries: int
    """How many names of each folder are looked at."""
    follows_links: bool
    """Whether links to folders below the first one are followed."""


def walk_files(
    root: str, bounds: WalkBounds, refuse_folder: Callable[[str], Problem | None], below: str = "", depth: int = 0
) -> Iterator[str | Problem]:
    """The files in a folder and below it in a stable order, by their paths from there, and what is refused instead.

    `below` is a folder's path from there, with a slash at its end.
    """
    path = f"{root}/{below}"[:-1]
    refused = refuse_folder(path)
    if refused is not None:
        yield refused
        return
    for name in _list_names(path, bounds.most_entries):
        relative = f"{below}{name}"
        if not name.endswith("/"):
            yield relative
        elif depth < bounds.deepest and (bounds.follows_links or not os.path.islink(f"{path}/{name[:-1]}")):
            yield from walk_files(root, bounds, refuse_folder, relative, depth + 1)


def _list_names(path: str, most: int) -> list[str]:
    try:
        return list_folder(path, most)
    except FileError:  # it is gone by now, or nobody may look into it
        return []


FileStamp: TypeAlias = tuple[int, int, int]
"""Differs as soon as a file was written."""

T = TypeVar("T")


def stamp_file(path: str) -> FileStamp | None:
    """A file's stamp; `None` if there is no such file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    # The inode too: a file that is replaced within the clock's resolution may have the same time and size.
    return found.st_mtime_ns, found.st_size, found.st_ino


class UnchangedFiles(Generic[T]):
    """Keeps what was read of each file from one look at all of them to the next."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[FileStamp, T]] = {}
        self._now: dict[str, tuple[FileStamp, T]] = {}

    def begin(self) -> None:
        """Look at all of them again: those that are not read from now on are forgotten the next time."""
        self._before, self._now = self._now, {}

    def read(self, path: str, stamp: FileStamp, read: Callable[[], T]) -> T:
        """What a file says, by `read` unless its stamp is the same as before."""
        known = self._before.get(path)
        if known is None or known[0] != stamp:
            known = stamp, read()
        self._now[path] = known
        return known[1]


class Reach(Struct, frozen=True):
    """What texts may name on one machine, seen from one project. All paths are without links."""

    project: str
    home: str
    guarded: GuardedFiles

    def find_refusal(self, real: str, fence: str | None) -> str:
        """Why a text may not bring a file along; empty if it may.

        `fence` is the repository that the text belongs to; `None` if the person wrote it.
        """
        if self.guarded.find_privacy(real):
            return "is never given to a model"
        if fence is None:
            return ""
        # A repository that holds the home folder is no project but everything.
        if is_below(self.home, fence) or not is_below(real, fence):
            return "is outside of the project"
        if self.guarded.is_configuration(real):
            return "is a configuration file, and may hold secrets"
        hidden = {name for name in os.path.relpath(real, fence).split("/") if name.startswith(".")}
        # Hidden folders hold keys and tokens; those of agents hold texts, but also settings, logins and histories.
        if hidden - list_hidden_folders() or (hidden and not real.lower().endswith((".md", ".mdc", ".mdx"))):
            return "is hidden, and may hold secrets"
        return ""

    def find_link_refusal(self, base: str, path: str, fence: str | None) -> str:
        """The same for a path that was looked for in a folder of a repository: links on the way may lead elsewhere."""
        expected = os.path.join(os.path.realpath(base), os.path.relpath(path, base))
        real = os.path.realpath(path)
        return "" if fence is None or real == expected else self.find_refusal(real, fence)

    def find_exit(self, path: str, real: str) -> str:
        """The link of the project by which a path leads out of it, if a person may agree to that; empty otherwise."""
        return "" if self.guarded.find_privacy(real) else files.find_exit(path, real, self.project)

    def find_fence(self, real: str) -> str | None:
        """The repository that a file of the person's choice belongs to: what it names in turn they may never have read.

        `None` if it is in none, or in one that holds their home folder.
        """
        if is_below(real, self.project) and not is_below(self.home, self.project):
            return self.project
        root = files.repository_folders(os.path.dirname(real))[-1]
        is_repository = os.path.lexists(os.path.join(root, ".git"))
        return root if is_repository and not is_below(self.home, root) else None


def make_reach(workspace: Workspace) -> Reach:
    """What texts may name from this folder. Looks at the disk."""
    where = workspace.where
    project = os.path.realpath(find_project_folders(where, os.path.realpath(workspace.cwd))[-1])
    return Reach(project, os.path.realpath(where.home), GuardedFiles(where))


def resolve_named(workspace: Workspace, folder: str, named: str) -> tuple[str, str] | None:
    """The file or folder that a text in a folder names: its path with links and without; `None` if there is none."""
    path = f"{workspace.where.home}{named[1:]}" if named.startswith("~/") else os.path.join(folder, named)
    try:
        return (path, os.path.realpath(path)) if os.path.lexists(path) else None
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return None
