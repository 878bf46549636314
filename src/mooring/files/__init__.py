"""The only code that touches disk: bounded reads, locks, and writes that leave the old file or the new one.

Reads never block and never follow a surprise: a FIFO, a device, a folder or a file beyond its limit is a
`FileError` with the reason, a missing file is `None`.
"""

from typing import TYPE_CHECKING, Any

from mooring.files.paths import find_exit, find_foreign_owner, match_paths, repository_folders, which
from mooring.files.reading import LIMIT, read, read_own, read_part, reserve_database

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
