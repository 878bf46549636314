"""The folders in which people keep agents, commands and skills, and the files in them, each read once."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.discovery.format import locate, user_file
from mooring.errors import FileError
from mooring.files.reading import list_folder
from mooring.settings import find_project_folders

FolderScope: TypeAlias = Literal["project", "user"]


class FolderRow(Protocol):
    """A tool's folder: its path in a project, and that in a person's home. It is empty where there is none."""

    @property
    def project(self) -> str: ...

    @property
    def user(self) -> str: ...


R = TypeVar("R", bound=FolderRow)


class FoundFolder(Struct, Generic[R], frozen=True):
    """A folder that is there, and the row that it was looked for by."""

    row: R
    path: str
    scope: FolderScope
    base: str = "/"
    """The folder of the project that it was looked for in."""
    fence: str | None = None
    """For a project's, its root without links."""


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
        elif depth < bounds.deepest and _may_enter(f"{path}/{name[:-1]}", bounds):
            yield from walk_files(root, bounds, refuse_folder, relative, depth + 1)


def _list_names(path: str, most: int) -> list[str]:
    try:
        return list_folder(path, most)
    except FileError:  # it is gone by now, or nobody may look into it
        return []


def _may_enter(path: str, bounds: WalkBounds) -> bool:
    return bounds.follows_links or not os.path.islink(path)


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
