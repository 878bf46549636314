"""The records that Mooring keeps for a person in JSON files of their own: approvals, rules, pins, secrets."""

import json
from typing import Protocol, TypeVar

import msgspec

from mooring import files
from mooring.errors import FileError

DAMAGED = "is damaged"
"""Why a record that holds something else cannot be read."""


class Versioned(Protocol):
    """The content of a record, with the version of its format."""

    @property
    def version(self) -> int: ...


T = TypeVar("T", bound=Versioned)


def read_own_record(path: str, kind: type[T], max_bytes: int) -> T | None:
    """The content of one of the person's own records, `None` if there is no such file.

    Raises:
        FileError: it cannot be read, is damaged, or was written by a newer version.
    """
    data = files.read_own(path, max_bytes)
    if data is None:
        return None
    try:
        found = msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise FileError(path, DAMAGED) from None
    if found.version != 1:
        raise FileError(path, "was written by a newer version of mooring")
    return found


def write_own_record(path: str, record: Versioned) -> None:
    """Replace one of the person's own records. Raises: FileError."""
    files.write(path, json.dumps(msgspec.to_builtins(record), indent=2).encode() + b"\n")
