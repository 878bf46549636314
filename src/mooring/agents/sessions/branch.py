"""Another conversation from an earlier point of one: which points there are, and a session that holds all before one.

The session that is left stays as it is.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from mooring.agents.history import PersonMessage
from mooring.agents.sessions.connection import find_connection
from mooring.agents.sessions.database import BUSY_SECONDS, SqlStatement
from mooring.agents.sessions.replay import MessageAdded, decode_content
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Text
from mooring.errors import FileError, ParseError
from mooring.permissions.audit import new_session_id

if TYPE_CHECKING:
    from sqlite3 import Connection

_SELECT_MESSAGES = "SELECT number, at, data FROM entries WHERE session = ? AND kind = 'message' ORDER BY number DESC"
_SELECT_BEFORE = "SELECT 1 FROM entries WHERE session = ? AND number < ? LIMIT 1"
# What it takes counts from here on: what was taken before counts where it was.
_COPY_SESSION = """
INSERT INTO sessions (id, folder, cwd, agent, model, backend, mode, title, loaded, continues, created, used, turns,
compacted)
SELECT ?, folder, cwd, agent, model, backend, mode, CASE WHEN ? THEN title ELSE '' END, loaded, id, ?, ?, ?,
(SELECT coalesce(max(number), 0) FROM entries WHERE session = id AND kind = 'compaction' AND number < ?)
FROM sessions WHERE id = ?
"""
_COPY_ENTRIES = """
INSERT INTO entries (session, number, at, kind, data)
SELECT ?, number, at, kind, data FROM entries WHERE session = ? AND number < ?
"""
_COPY_FILES = """
INSERT INTO kept_files (session, turn, path, at, content, mode, folder, previous, expected, is_mixed)
SELECT ?, turn, path, at, content, mode, folder, previous, expected, is_mixed FROM kept_files
WHERE session = ? AND turn < ?
"""


class EarlierMessage(Struct, frozen=True):
    """Something that the person said, with which a turn began."""

    number: int
    """Of its entry."""
    said: datetime
    parts: tuple[Part, ...]
    turns_before: int

    @property
    def text(self) -> str:
        """What they typed."""
        first = self.parts[0] if self.parts else None
        return first.text if isinstance(first, Text) else ""

    @property
    def attachments(self) -> tuple[Part, ...]:
        return self.parts[1:] if self.parts and isinstance(self.parts[0], Text) else self.parts


def list_earlier_messages(path: str, session: str) -> tuple[EarlierMessage, ...]:
    """What the person said in a session, the last first. Raises: FileError."""
    with find_connection(path).read() as connection:
        if connection is None:
            return ()
        try:
            found = list(_list_turns(connection, session))
        except ParseError as error:
            raise FileError(path, error.reason) from None
    return tuple(
        EarlierMessage(number, datetime.fromtimestamp(at, UTC), message.parts, len(found) - 1 - position)
        for position, (number, at, message) in enumerate(found)
    )


def _list_turns(connection: "Connection", session: str) -> Iterator[tuple[int, float, PersonMessage]]:
    for number, at, data in connection.execute(_SELECT_MESSAGES, (session,)):
        match decode_content(data):
            case MessageAdded(PersonMessage(begins_turn=True) as message):
                yield number, at, message
            case _:
                pass


def branch_session(path: str, session: str, message: EarlierMessage) -> str | None:
    """The id of a new session that holds what was said before a message; `None` if nothing was. Raises: FileError."""
    id = new_session_id()
    is_made = True

    def make_batch(connection: "Connection") -> list[SqlStatement]:
        nonlocal is_made
        is_made = connection.execute(_SELECT_BEFORE, (session, message.number)).fetchone() is not None
        return _copy_session(id, session, message) if is_made else []

    # All of it or nothing, whenever this process ends.
    find_connection(path).write(make_batch, BUSY_SECONDS)
    return id if is_made else None


def _copy_session(id: str, session: str, message: EarlierMessage) -> list[SqlStatement]:
    now, turns, number = time.time(), message.turns_before, message.number
    return [
        (_COPY_SESSION, (id, turns > 0, now, now, turns, number, session)),
        (_COPY_ENTRIES, (id, session, number)),
        (_COPY_FILES, (id, session, number)),
    ]
