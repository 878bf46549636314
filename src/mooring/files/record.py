"""The records that Mooring keeps for a person in JSON files of their own: approvals, rules, pins, secrets.

Each ends in a checksum. A byte that a disk changed may leave valid JSON that says something else: a deny of another
tool, another secret. Records without a checksum are read too: earlier versions wrote none, and a person who edits one
can remove it.
"""

import json
import re
import zlib
from typing import Protocol, TypeVar

import msgspec

from mooring import files
from mooring.errors import ConfigError, FileError

DAMAGED = "is damaged"
"""Why a record that holds something else cannot be read."""
CHANGED = "is damaged, or was edited: its checksum does not match"
"""Why a record that was changed by something else is not believed."""
_AFTER_EDIT = 'if you edited it, remove the line with "checksum"; to start a new one, move the file away'
_CHECKSUM = rb',\s*"checksum": ?"([^"]*)"\s*}\s*\Z'


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
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ConfigError):
        raise FileError(path, DAMAGED) from None
    if not _is_unchanged(data):
        raise FileError(path, CHANGED, _AFTER_EDIT)
    if found.version != 1:
        raise FileError(path, "was written by a newer version of mooring")
    return found


def write_own_record(path: str, record: Versioned) -> None:
    """Replace one of the person's own records. Raises: FileError."""
    files.write(path, _add_checksum(json.dumps(msgspec.to_builtins(record), indent=2).encode()))


def _add_checksum(data: bytes) -> bytes:
    body = data.rstrip().removesuffix(b"}").rstrip()
    return b'%b,\n  "checksum": "%08x"\n}\n' % (body, zlib.crc32(body))


def _is_unchanged(data: bytes) -> bool:
    # At the end, where it is written: a single byte that changed there makes it another key, or no JSON at all.
    found = re.search(_CHECKSUM, data[-200:])
    if found is None:
        return True
    body = data[: len(data) - len(found[0])]
    return found[1] == b"%08x" % zlib.crc32(body)
