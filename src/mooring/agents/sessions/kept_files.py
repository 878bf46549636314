"""What files were before a turn changed them, in the record beside the conversation: rows of `kept_files`.

One row for each file of a turn, with what the file was before the first change in it. Whether somebody else has changed
the file since is told by digests: of what it was before the last change, and of what it is after it. Both, since a
process may end between the row and the change.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from mooring.agents.sessions.database import SqlStatement
from mooring.core.text.digest import compute_digest
from mooring.files.no_follow import find_missing_folder, find_mode

if TYPE_CHECKING:
    from sqlite3 import Connection

MOST_BYTES = 256 * 1024 * 1024
"""How much is kept of all conversations together; what was kept first goes first."""
MOST_SECONDS = 30 * 86_400.0

_ADD = """
INSERT INTO kept_files (session, turn, path, at, content, mode, folder, previous, expected)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (session, turn, path) DO UPDATE SET
    is_mixed = is_mixed OR excluded.previous NOT IN (previous, expected),
    previous = excluded.previous,
    expected = excluded.expected
"""
# Of a file that a turn made, nothing is kept but that it did.
_LIMIT = """
DELETE FROM kept_files WHERE at < ? OR rowid IN (
    SELECT rowid FROM (
        SELECT rowid, sum(length(content)) OVER (ORDER BY at DESC, rowid DESC) AS total FROM kept_files
    ) WHERE total > ?
)
"""
_SELECT = "SELECT path, content, mode, folder, previous, expected, is_mixed FROM kept_files"


class KeptFile(Struct, frozen=True):
    """What one file was before a turn changed it."""

    path: str
    content: bytes | None
    """`None` if there was none."""
    mode: int | None
    folder: str
    """The topmost folder that had to be made for it; empty if none had to be."""
    previous: str
    """A digest of what it was before the last change of the turn."""
    expected: str
    """A digest of what it is since then."""
    is_mixed: bool
    """Somebody else changed it between two changes of the turn."""


def add_kept_file(
    session: str, turn: int, path: str, before: bytes | None, after: bytes, now: float, most_bytes: int = MOST_BYTES
) -> Sequence[SqlStatement]:
    """The statements that keep what a file is, and remove what is too old or too much. Raises: FileError."""
    folder = find_missing_folder(path) if before is None else ""
    place = session, turn, os.fsencode(path), now
    digests = compute_digest(before), compute_digest(after)
    return [
        # What is removed is overwritten, as with everything else in the record.
        ("PRAGMA secure_delete = ON", ()),
        (_ADD, (*place, before, find_mode(path), os.fsencode(folder), *digests)),
        (_LIMIT, (now - MOST_SECONDS, most_bytes)),
    ]


def list_kept_files(connection: "Connection", session: str, turn: int) -> tuple[KeptFile, ...]:
    """What the files were that a turn changed, by their paths."""
    rows = connection.execute(f"{_SELECT} WHERE session = ? AND turn = ? ORDER BY path", (session, turn))
    return tuple(
        KeptFile(os.fsdecode(path), content, mode, os.fsdecode(folder), previous, expected, bool(is_mixed))
        for path, content, mode, folder, previous, expected, is_mixed in rows
    )
