"""The last turn of a conversation on disk: what was said and done in it, and what there was before."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from mooring.agents.history import CallBlock, Message, ModelMessage, PersonMessage, ResultsMessage, join_texts
from mooring.agents.sessions.connection import find_connection
from mooring.agents.sessions.database import SqlStatement
from mooring.agents.sessions.kept_files import KeptFile, list_kept_files
from mooring.agents.sessions.replay import (
    BlockArrived,
    CallEnded,
    EntryContent,
    MessageAdded,
    Replay,
    SessionEntry,
    decode_content,
)
from mooring.errors import FileError, ParseError

if TYPE_CHECKING:
    from sqlite3 import Connection

_SELECT = "SELECT number, at, data FROM entries WHERE session = ?"
_LAST_COMPACTION = (
    "SELECT coalesce(max(number), 0) FROM entries WHERE session = ? AND kind = 'compaction' AND number < ?"
)
# What the person ran themselves was no part of the turn, and is not undone with it.
_DROP_TURN = "DELETE FROM entries WHERE session = ? AND number BETWEEN ? AND ? AND kind != 'command'"
_BELOW = """
WITH RECURSIVE below (id) AS (
    SELECT id FROM sessions WHERE parent = ? AND created >= ?
    UNION SELECT sessions.id FROM sessions JOIN below ON sessions.parent = below.id
)
"""
"""The sub-agents that began to work for a session since a moment, and those that worked for them."""


class MadeCall(Struct, frozen=True):
    """One call of a turn, and what the model got for it; empty if it never ended."""

    call: CallBlock
    result: str = ""
    is_error: bool = False


class LastTurn(Struct, frozen=True):
    """A turn that nothing was said after."""

    session: str
    number: int
    """Of the entry that began it."""
    began: float
    said: str
    before: tuple[Message, ...]
    """What the model was sent before it."""
    calls: tuple[MadeCall, ...]
    """Those of sub-agents too."""
    files: tuple[KeptFile, ...]


def read_last_turn(path: str, session: str, model: str) -> LastTurn | None:
    """The last turn of a session; `None` if nothing was said in it yet. Raises: FileError."""
    with find_connection(path).read() as connection:
        if connection is None:
            return None
        try:
            found = find_last_turn(connection, session)
            return None if found is None else _read_turn(connection, session, found, model)
        except ParseError as error:
            raise FileError(path, error.reason) from None


def find_last_turn(connection: "Connection", session: str) -> SessionEntry | None:
    """The entry that began the last turn: what the person said last. Raises: ParseError."""
    rows = connection.execute(f"{_SELECT} AND kind = 'message' ORDER BY number DESC", (session,))
    return next((entry for entry in _decode(rows) if _is_turn(entry.content)), None)


def remove_turns(session: str, turn: LastTurn, last: int) -> list[SqlStatement]:
    """The statements that take a session back before a turn, up to its entry with the number `last`."""
    began = session, turn.began
    is_first = "turns <= 1"
    return [
        ("PRAGMA secure_delete = ON", ()),
        (f"{_BELOW} DELETE FROM entries WHERE session IN below", began),
        (f"{_BELOW} DELETE FROM sessions WHERE id IN below", began),
        (_DROP_TURN, (session, turn.number, last)),
        ("DELETE FROM kept_files WHERE session = ? AND turn BETWEEN ? AND ?", (session, turn.number, last)),
        (f"UPDATE sessions SET compacted = ({_LAST_COMPACTION}) WHERE id = ?", (session, turn.number, session)),
        (
            f"UPDATE sessions SET title = CASE WHEN {is_first} THEN '' ELSE title END, turns = max(turns - 1, 0) "
            "WHERE id = ?",
            (session,),
        ),
    ]


def _is_turn(content: EntryContent) -> bool:
    match content:
        case MessageAdded(PersonMessage(begins_turn=True)):
            return True
        case _:
            return False


def _read_turn(connection: "Connection", session: str, begin: SessionEntry, model: str) -> LastTurn:
    assert isinstance(begin.content, MessageAdded)
    message = begin.content.message
    assert isinstance(message, PersonMessage)
    return LastTurn(
        session=session,
        number=begin.number,
        began=begin.at,
        said=join_texts(message.parts),
        before=_read_before(connection, session, begin.number, model),
        calls=tuple(_read_calls(connection, session, begin)),
        files=list_kept_files(connection, session, begin.number),
    )


def _read_before(connection: "Connection", session: str, number: int, model: str) -> tuple[Message, ...]:
    """What the model was sent before an entry: a summary that was made later stands for nothing there."""
    (first,) = connection.execute(_LAST_COMPACTION, (session, number)).fetchone()
    rows = connection.execute(f"{_SELECT} AND number >= ? AND number < ? ORDER BY number", (session, first, number))
    replay = Replay(model).take(entry.content for entry in _decode(rows))
    replay.close_reply()
    return tuple(replay.messages)


def _read_calls(connection: "Connection", session: str, begin: SessionEntry) -> Iterator[MadeCall]:
    rows = connection.execute(f"{_SELECT} AND number >= ? ORDER BY number", (session, begin.number))
    yield from _list_calls([entry.content for entry in _decode(rows)])
    below = connection.execute(f"{_BELOW} SELECT id FROM below", (session, begin.at)).fetchall()
    for (id,) in below:
        rows = connection.execute(f"{_SELECT} ORDER BY number", (id,))
        yield from _list_calls([entry.content for entry in _decode(rows)])


def _list_calls(contents: Sequence[EntryContent]) -> Iterator[MadeCall]:
    """The calls in some entries. Providers may give the calls of each reply the same ids."""
    open_calls: dict[str, CallBlock] = {}
    for content in contents:
        match content:
            case MessageAdded(ModelMessage() as message):
                open_calls |= {call.id: call for call in message.calls}
            case BlockArrived(CallBlock() as call):
                open_calls[call.id] = call
            case MessageAdded(ResultsMessage(results)):
                ended = [result for result in results if result.id in open_calls]
                yield from (
                    MadeCall(open_calls.pop(result.id), join_texts(result.parts), result.is_error) for result in ended
                )
            case CallEnded(result) if result.id in open_calls:
                yield MadeCall(open_calls.pop(result.id), join_texts(result.parts), result.is_error)
            case _:
                pass
    yield from map(MadeCall, open_calls.values())


def _decode(rows: Iterator[tuple[int, float, str]]) -> Iterator[SessionEntry]:
    for number, at, data in rows:
        yield SessionEntry(number, at, decode_content(data))
