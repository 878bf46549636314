"""The only code that touches disk: bounded reads, locks, and writes that leave the old file or the new one.

Here is also which files there are: those that fit a pattern, the folders of a project, the program of a command.
Reads never block and never follow a surprise: a FIFO, a device, a folder or a file beyond its limit is a
`FileError` with the reason, a missing file is `None`.
"""

import os
from itertools import islice
from typing import TYPE_CHECKING, Any

from mooring.core.definitions.paths import is_below
from mooring.files.owner import is_own_user
from mooring.files.reading import LIMIT, read, read_own, read_part, release_database, reserve_database

if TYPE_CHECKING:
    from mooring.files.locking import locked, try_locked
    from mooring.files.private import (
        check_private,
        check_writable,
        make_folder,
        make_own,
        make_private_folder,
        trim_folder,
    )
    from mooring.files.writing import GrowingFile, create, update, write


__all__ = [
    "LIMIT",
    "GrowingFile",
    "check_private",
    "check_writable",
    "create",
    "find_exit",
    "find_foreign_owner",
    "locked",
    "make_folder",
    "make_own",
    "make_private_folder",
    "match_paths",
    "read",
    "read_own",
    "read_part",
    "release_database",
    "repository_folders",
    "reserve_database",
    "trim_folder",
    "try_locked",
    "update",
    "which",
    "write",
]

# Loaded on first use: a listing only reads, and loading all of it would cost it half a millisecond.
_NAMES = {
    "locking": "locked try_locked",
    "private": "check_private check_writable make_folder make_own make_private_folder trim_folder",
    "writing": "GrowingFile create update write",
}

if not TYPE_CHECKING:  # to a type checker, it would make every name a valid one

    def __getattr__(name: str) -> Any:
        from importlib import import_module  # only here

        for module, names in _NAMES.items():
            if name in names.split():
                found = getattr(import_module(f"mooring.files.{module}"), name)
                globals()[name] = found  # the next use finds it at once
                return found
        raise AttributeError(f"module 'mooring.files' has no attribute {name!r}")


_MOST_LINKS = 200
"""How many links of one path are followed; the system follows 40."""


def match_paths(pattern: str, most: int) -> list[str]:
    """The existing paths that match a pattern with one `*` in a folder's or a file's name, sorted, at most `most`."""
    before, _, after = pattern.partition("*")
    folder, _, prefix = before.rpartition("/")
    suffix, _, below = after.partition("/")
    try:
        names = sorted(os.listdir(folder))
    except (OSError, ValueError):
        return []
    fitting = (name for name in names if name.startswith(prefix) and name.endswith(suffix))
    paths = (os.path.join(folder, name, below) if below else os.path.join(folder, name) for name in fitting)
    # Counted last, so that folders without the file do not take the place of those that have it.
    return list(islice(filter(os.path.lexists, paths), most))


def repository_folders(cwd: str) -> list[str]:
    """The folders of a repository, from `cwd` up to the nearest that holds `.git`; `cwd` alone where none does.

    Whoever it belongs to: `settings.find_project_folders` knows whether it is the project.
    """
    folders = [cwd]
    while not os.path.lexists(os.path.join(folders[-1], ".git")):
        parent = os.path.dirname(folders[-1])
        if parent == folders[-1]:
            return [cwd]
        folders.append(parent)
    return folders


def find_foreign_owner(cwd: str, root: str) -> int | None:
    """The other user that a repository above a folder, or its `.git`, belongs to; `None` if it is the person's own.

    The folder itself is not looked at: whoever goes into it has chosen it.
    """
    if root == cwd or not hasattr(os, "geteuid"):
        return None
    for path in (root, os.path.join(root, ".git")):
        try:
            owner = os.lstat(os.path.realpath(path) if path == root else path).st_uid
        except OSError:
            continue
        if not is_own_user(owner):
            return owner
    return None


def find_exit(path: str, real: str, folder: str) -> str:
    """The link in a folder by which an absolute path leads out of it; empty if none does.

    `real` is where the path was found to lead, and `folder` has no links in it.
    """
    if is_below(real, folder):
        return ""
    links, end = _follow_links(path)
    if end != real:
        # Somebody changes it at this moment.
        return path
    inside = [link for link in links if is_below(os.path.dirname(link), folder)]
    return inside[-1] if inside else ""


def _follow_links(path: str) -> tuple[list[str], str]:
    """The links on the way of a path, each by a path without links, and where they lead, as `realpath` has it."""
    links: list[str] = []
    here = "/"
    names = path.split("/")[::-1]
    while names and len(links) < _MOST_LINKS:
        name = names.pop()
        if name in ("", os.curdir):
            continue
        below = os.path.dirname(here) if name == os.pardir else os.path.join(here, name)
        target = None if name == os.pardir else _read_link(below)
        if target is None:
            here = below
            continue
        links.append(below)
        here = "/" if target.startswith("/") else here
        names += target.split("/")[::-1]
    return links, here


def _read_link(path: str) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None


def which(command: str, path: str, cwd: str) -> str | None:
    """The file that a command runs: looked up along `path`, or from `cwd` if it names a folder."""
    if os.path.dirname(command):
        candidates = [os.path.join(cwd, os.path.expanduser(command))]
    else:
        # An empty part of the path would mean the working folder, in which a repository could plant a program.
        folders = filter(None, path.split(os.pathsep))
        candidates = [os.path.join(cwd, folder, command) for folder in folders]
    for candidate in candidates:
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return None
