"""The sessions of a person: which there are, one of them in full or to go on with, and the removal of old ones."""

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct, json
from msgspec.structs import replace

from mooring.agents.history import CallBlock, CallResult, Message, ModelMessage, ResultsMessage
from mooring.agents.sessions.database import (
    ADD_ENTRY,
    BUSY_SECONDS,
    DROP_NOTES,
    SqlStatement,
    is_unwritable,
    transaction,
)
from mooring.agents.sessions.handover import Handover, make_handover
from mooring.agents.sessions.journal import (
    NOTES_OF_REPLY,
    JournalPlace,
    SessionJournal,
    SessionOwner,
    identify_this_process,
)
from mooring.agents.sessions.last_turn import find_last_turn
from mooring.agents.sessions.replay import (
    HistoryReplaced,
    MessageAdded,
    Replay,
    ReplyCut,
    SessionEntry,
    TranscriptEntry,
    decode_content,
    encode_content,
    get_kind,
    make_transcript,
)
from mooring.agents.sessions.writer import SessionDatabase
from mooring.core.conversation.event import TokenUsage
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.core.text.suggestions import nearest
from mooring.errors import ConfigError, FileError, ParseError
from mooring.permissions.audit import new_session_id
from mooring.settings import find_project_folders

if TYPE_CHECKING:
    from sqlite3 import Connection

DAY_SECONDS = 86_400.0
LARGEST_LEAP = 2 * DAY_SECONDS
"""A clock that is further ahead of the last use of any session may be wrong, so nothing expires by it."""
MOST_COMPARED = 1_000
"""With how many of the newest sessions an unknown id is compared."""
MOST_NAMED = 3
_EMPTYING_TRIES, _EMPTYING_SECONDS = 50, 0.02
_FREED_PAGES = 256
"""How much of the file is given back after each session that is removed: about 1 MiB, so that nobody waits for it."""


class SessionSummary(Struct, frozen=True, rename="camel"):
    """What a list shows of one session."""

    id: str
    folder: str
    """The root of the project that it belongs to, or the folder that it was started in."""
    cwd: str
    agent: str | None
    model: str
    """Empty if another agent's program chooses it and has not said which."""
    backend: str
    """Who answers: `api`, or the program of another agent."""
    backend_session: str | None
    """What that program calls this conversation."""
    mode: str | None
    """The permission mode that was used last; `None` if it is unknown."""
    title: str
    """The first words that the person said."""
    created: datetime
    used: datetime
    turns: int
    usage: TokenUsage
    cost: float | None
    """In US dollars; `None` if any part of it is unknown."""
    open_in: int | None
    """The id of the process that has it open now."""
    continues: str | None = None
    """The id of the session with somebody else that it was begun with the transcript of."""

    @property
    def answerer(self) -> str:
        """Who answers in it, as a person says it."""
        return self.model if self.backend == "api" else self.backend


class SubAgentTranscript(Struct, frozen=True, rename="camel"):
    """All that a sub-agent said and did for one call."""

    agent: str
    model: str
    call: str
    """The id of the call."""
    began: datetime
    messages: tuple[TranscriptEntry, ...]
    sub_agents: "tuple[SubAgentTranscript, ...]" = ()


class ResumedSession(Struct, frozen=True):
    """A session that goes on: what the model is sent, and what was open when it was interrupted."""

    journal: SessionJournal
    session: SessionSummary
    messages: tuple[Message, ...]
    """If the last one is a reply with calls, each of them is in `ended` or in `waiting`."""
    ended: tuple[CallResult, ...]
    """What became of calls of the last reply. Those that may have run are errors that say so; none is repeated."""
    waiting: tuple[CallBlock, ...]
    """The calls of the last reply that never ran: they have to be asked about again."""
    loaded: tuple[str, ...]
    """The tools that had been loaded, by name."""


class SessionStore:
    """The sessions in a person's state folder."""

    def __init__(
        self,
        where: Paths,
        *,
        secrets: Sequence[str] = (),
        on_problem: Callable[[Problem], None] = lambda problem: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`secrets` are struck out of whatever is written. `on_problem` is told when sessions cannot be written."""
        self.path = where.record
        self._where = where
        self._database = SessionDatabase(self.path, on_problem, secrets, clock)

    # --- one to go on with ----------------------------------------------------------------------------------------

    def begin(
        self, cwd: str, *, model: str, agent: str | None = None, backend: str = "api", handover: Handover | None = None
    ) -> SessionJournal:
        """A journal for a new session. Nothing is written, and nothing can fail, before something is said."""
        return SessionJournal(
            self._database,
            new_session_id(),
            folder=self._find_folder(cwd),
            cwd=cwd,
            model=model,
            agent=agent,
            backend=backend,
            handover=handover,
        )

    def resume(self, id: str) -> ResumedSession:
        """Open a session to go on with it; `id` may be the beginning of one.

        Raises:
            ConfigError: there is no such session, or several, or another process has it open.
            FileError: the file cannot be used.
        """
        import sqlite3  # a chat that keeps nothing, and a listing, don't need it

        with self._database.record.read() as connection:
            if connection is None:
                raise _make_unknown(None, id)
            try:
                resumed, claim = self._claim(connection, id)
            except sqlite3.Error as error:
                if not is_unwritable(error):
                    raise
                resumed, claim = self._read_resumed(connection, id)
            self._database.enter(resumed.session.id, _copy_session(connection, resumed.session.id))
        if claim:
            # Told and tried again like everything else that cannot be written.
            self._database.write(claim)
        return resumed

    def read_handover(self, id: str, window: int | None) -> Handover:
        """What somebody else is given of a session, to go on with it in another one; it stays as it is.

        `window` is how many tokens a request may have, if that is known. Raises: ConfigError, FileError.
        """
        with self._database.record.read() as connection:
            session = _find_session(connection, id)
            assert connection is not None
            entries = self._read_sent(connection, session.id)
        replay = Replay(session.model).take(entry.content for entry in entries)
        replay.close_reply()
        ended = (ResultsMessage(replay.ended),) if replay.ended else ()
        return make_handover(session.id, session.answerer, session.turns, (*replay.messages, *ended), window)

    def find_newest(self, cwd: str, backend: str | None = None) -> SessionSummary:
        """The session of a folder that was used last, or the last with one backend. Raises: ConfigError, FileError."""
        newest = self.list(cwd, backend=backend, most=1)
        if not newest:
            with_whom = "" if backend is None else f" with {backend}"
            hint = "`mooring sessions --all` shows those of other folders."
            raise ConfigError(f"There is no session of {self._find_folder(cwd)}{with_whom} to continue.", hint)
        return newest[0]

    def _find_folder(self, cwd: str) -> str:
        """The folder that a session belongs to: the root of the project, or `cwd` if that is in none."""
        return find_project_folders(self._where, cwd)[-1]

    def _claim(self, connection: "Connection", id: str) -> "tuple[ResumedSession, list[SqlStatement]]":
        """A session to go on with, which is this process's from now on; nothing is left to be written."""
        with transaction(connection):
            resumed, claim = self._read_resumed(connection, id)
            for statement in claim:
                connection.execute(*statement)
        return resumed, []

    def _read_resumed(self, connection: "Connection", id: str) -> "tuple[ResumedSession, list[SqlStatement]]":
        """A session to go on with, and the statements that make it this process's."""
        session = _find_session(connection, id)
        _check_not_open(session)
        entries = self._read_sent(connection, session.id)
        replay = Replay(session.model).take(entry.content for entry in entries)
        turn = find_last_turn(connection, session.id)
        place, claim = self._find_place(session.id, entries, replay.arriving)
        place = replace(place, turn=0 if turn is None else turn.number)
        replay.close_reply()
        owner = identify_this_process()
        claim.append((_CLAIM, (owner.pid, owner.start, session.id)))
        (loaded,) = connection.execute("SELECT loaded FROM sessions WHERE id = ?", (session.id,)).fetchone()
        resumed = ResumedSession(
            journal=self._continue_journal(session, place),
            session=session,
            messages=tuple(replay.messages),
            ended=replay.ended,
            waiting=replay.waiting,
            loaded=json.decode(loaded, type=tuple[str, ...]),
        )
        return resumed, claim

    def _find_place(
        self, id: str, entries: Sequence[SessionEntry], cut: ModelMessage | None
    ) -> "tuple[JournalPlace, list[SqlStatement]]":
        """Where the session is continued: after what arrived of a reply, which is to be written down as what it is."""
        number = entries[-1].number if entries else 0
        settled = max((entry.number for entry in entries if _is_settled(entry)), default=0)
        if cut is None:
            return JournalPlace(number, settled), []
        # Otherwise whatever arrives next would be taken for more of it.
        content = ReplyCut(cut)
        number += 1
        statements: list[SqlStatement] = [
            (DROP_NOTES, (id, settled, *NOTES_OF_REPLY)),
            (ADD_ENTRY, (id, number, self._database.clock(), get_kind(content), encode_content(content))),
        ]
        return JournalPlace(number, number), statements

    def _continue_journal(self, session: SessionSummary, place: JournalPlace) -> SessionJournal:
        return SessionJournal(
            self._database,
            session.id,
            folder=session.folder,
            cwd=session.cwd,
            model=session.model,
            agent=session.agent,
            backend=session.backend,
            backend_session=session.backend_session,
            mode=session.mode,
            place=place,
        )

    # --- to look at -----------------------------------------------------------------------------------------------

    def list(self, cwd: str | None = None, *, backend: str | None = None, most: int = -1) -> tuple[SessionSummary, ...]:
        """The sessions of a folder or with a backend, or all of them, the one that was used last first.

        Raises: FileError.
        """
        wanted: dict[str, str] = {}
        if cwd is not None:
            wanted["folder = ?"] = self._find_folder(cwd)
        if backend is not None:
            wanted["backend = ?"] = backend
        with self._database.record.read() as connection:
            if connection is None:
                return ()
            conditions = " AND ".join((_NO_SUB_AGENT, *wanted))
            query = f"{_SELECT} {conditions} ORDER BY used DESC LIMIT ?"
            return tuple(map(_make_summary, connection.execute(query, (*wanted.values(), most))))

    def find(self, id: str) -> SessionSummary:
        """The session with that id, or the only one whose id begins so. Raises: ConfigError, FileError."""
        with self._database.record.read() as connection:
            return _find_session(connection, id)

    def read(self, id: str) -> tuple[SessionSummary, tuple[TranscriptEntry, ...]]:
        """A session and all that was said in it; `id` may be the beginning of one. Raises: ConfigError, FileError."""
        with self._database.record.read() as connection:
            session = _find_session(connection, id)
            assert connection is not None
            entries = self._read_entries(connection, session.id, 0)
        return session, tuple(make_transcript(entries, session.model))

    def read_sub_agents(self, id: str) -> tuple[SubAgentTranscript, ...]:
        """All that the sub-agents of a session said, in the order in which they began. Raises: FileError."""
        with self._database.record.read() as connection:
            return () if connection is None else self._read_sub_agents(connection, id)

    def _read_sub_agents(self, connection: "Connection", parent: str) -> tuple[SubAgentTranscript, ...]:
        query = "SELECT id, agent, model, call, created FROM sessions WHERE parent = ? ORDER BY created"
        found = connection.execute(query, (parent,)).fetchall()
        return tuple(
            SubAgentTranscript(
                agent=agent,
                model=model,
                call=call,
                began=datetime.fromtimestamp(created, UTC),
                messages=tuple(make_transcript(self._read_entries(connection, id, 0), model)),
                sub_agents=self._read_sub_agents(connection, id),
            )
            for id, agent, model, call, created in found
        )

    def _read_sent(self, connection: "Connection", id: str) -> Sequence[SessionEntry]:
        """The entries that make up what the model is sent."""
        (compacted,) = connection.execute("SELECT compacted FROM sessions WHERE id = ?", (id,)).fetchone()
        return self._read_entries(connection, id, compacted)

    def _read_entries(self, connection: "Connection", id: str, first: int) -> Sequence[SessionEntry]:
        query = "SELECT number, at, data FROM entries WHERE session = ? AND number >= ? ORDER BY number"
        rows = connection.execute(query, (id, first))
        try:
            return [SessionEntry(number, at, decode_content(data)) for number, at, data in rows]
        except ParseError as error:
            raise FileError(self.path, error.reason) from None

    # --- to remove ------------------------------------------------------------------------------------------------

    def remove(self, id: str) -> SessionSummary:
        """Remove a session for good; `id` may be the beginning of one. Raises: ConfigError, FileError."""
        with self._database.use() as connection:
            session = _find_session(connection, id)
            assert connection is not None
            _check_not_open(session)
            _remove(connection, session.id)
            _empty_log(connection)
        return session

    def remove_all(self) -> tuple[int, int]:
        """Remove every session; how many, and how many are open and so stay. Raises: FileError."""
        with self._database.record.hold():
            found = self.list()
            closed = [session.id for session in found if session.open_in is None]
            removed = self._remove_each(closed, float("inf"))
        return removed, len(found) - removed

    def remove_expired(self, days: float) -> int:
        """Mark the sessions that nobody used for so many days, and remove those that were marked on an earlier day.

        If the clock is days ahead of the last use of any session it may be wrong, and nothing is done. How many were
        removed. Raises: FileError.
        """
        now = self._database.clock()
        before = now - days * DAY_SECONDS
        with self._database.record.hold():
            return self._remove_each(self._mark_expired(now, before), before)

    def _mark_expired(self, now: float, before: float) -> Sequence[str]:
        """Mark the sessions that were not used since a moment; those that were marked on an earlier day."""
        with self._database.use() as connection:
            newest = self._database.newest_use
            if connection is None or newest is None or now - newest > LARGEST_LEAP:
                return ()
            due = connection.execute(_SELECT_DUE, (before, _find_midnight(now))).fetchall()
            with transaction(connection):
                connection.execute(_UNMARK, (before,))
                connection.execute(_MARK, (now, before, now))
        return [id for (id,) in due]

    def _remove_each(self, ids: Sequence[str], before: float) -> int:
        """Remove sessions that were not used since a moment; how many."""
        removed = 0
        for id in ids:
            # One by one: others write meanwhile, in this process too.
            with self._database.use() as connection:
                removed += connection is not None and _remove(connection, id, before)
        if removed:
            with self._database.use() as connection:
                if connection is not None:
                    _empty_log(connection)
        return removed


_SELECT = (
    "SELECT id, folder, cwd, agent, model, backend, backend_session, mode, title, created, used, turns, "
    "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, uncounted, cost, owner_pid, owner_start, "
    "continues FROM sessions"
)
_NO_SUB_AGENT = "WHERE parent IS NULL"
"""Sub-agents are shown with the session that they belong to, and nobody goes on with one."""


_CLAIM = "UPDATE sessions SET owner_pid = ?, owner_start = ?, expired = NULL WHERE id = ?"
_SELECT_DUE = f"SELECT id FROM sessions {_NO_SUB_AGENT} AND used < ? AND expired < ?"
_MARK = f"UPDATE sessions SET expired = ? {_NO_SUB_AGENT} AND used < ? AND (expired IS NULL OR expired > ?)"
# A clock that was ahead for a while may have marked them.
_UNMARK = f"UPDATE sessions SET expired = NULL {_NO_SUB_AGENT} AND used >= ? AND expired IS NOT NULL"


def _find_midnight(now: float) -> float:
    """When the day began, where this machine is."""
    return datetime.fromtimestamp(now).astimezone().replace(hour=0, minute=0, second=0, microsecond=0).timestamp()


def _copy_session(connection: "Connection", id: str) -> "Iterator[SqlStatement]":
    """The statements that would make a session as it is now."""
    found = connection.execute("SELECT * FROM sessions WHERE id = ?", (id,))
    names = [column[0] for column in found.description]
    yield f"INSERT INTO sessions ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", found.fetchone()
    query = "SELECT session, number, at, kind, data FROM entries WHERE session = ? ORDER BY number"
    yield from ((ADD_ENTRY, row) for row in connection.execute(query, (id,)).fetchall())


def _make_summary(row: "Sequence[Any]") -> SessionSummary:
    # The columns are in the order of the fields.
    texts, (created, used, turns), tokens, (cost, pid, start, continues) = row[:9], row[9:12], row[12:17], row[17:]
    times = datetime.fromtimestamp(created, UTC), datetime.fromtimestamp(used, UTC)
    owner = pid if pid is not None and SessionOwner(pid, start).is_running else None
    sent, received, cache_read, cache_write, uncounted = tokens
    usage = TokenUsage(sent, received, cache_read, cache_write, partial=uncounted > 0)
    return SessionSummary(*(*texts, *times, turns, usage, cost, owner, continues))


def _find_session(connection: "Connection | None", id: str) -> SessionSummary:
    """The session with that id, or the only one whose id begins so. Raises: ConfigError."""
    # Nothing comes after this character, so that the index finds them.
    found = (
        ()
        if connection is None or not id
        else connection.execute(
            f"{_SELECT} {_NO_SUB_AGENT} AND id >= ? AND id < ? LIMIT ?", (id, f"{id}\U0010ffff", MOST_NAMED)
        ).fetchall()
    )
    sessions = list(map(_make_summary, found))
    exact = [session for session in sessions if session.id == id]
    if len(exact or sessions) == 1:
        return (exact or sessions)[0]
    if sessions:
        names = ", ".join(session.id for session in sessions)
        raise ConfigError(f"The ids of several sessions begin with {id!r}.", f"Write more of it: {names}, …")
    raise _make_unknown(connection, id)


def _make_unknown(connection: "Connection | None", id: str) -> ConfigError:
    near = nearest(id, _list_ids(connection), 1)
    hint = f"Did you mean {near[0]}?" if near else "`mooring sessions --all` shows those that are stored."
    return ConfigError(f"There is no session {id!r}.", hint)


def _list_ids(connection: "Connection | None") -> Iterator[str]:
    if connection is not None:
        query = f"SELECT id FROM sessions {_NO_SUB_AGENT} ORDER BY used DESC LIMIT ?"
        rows = connection.execute(query, (MOST_COMPARED,))
        yield from (row[0] for row in rows)


def _check_not_open(session: SessionSummary) -> None:
    if session.open_in is not None:
        hint = "End that conversation first."
        raise ConfigError(f"The session {session.id} is open in another process ({session.open_in}).", hint)


def _is_settled(entry: SessionEntry) -> bool:
    """Whether what was noted before an entry belongs to something older than whatever comes next."""
    match entry.content:
        case MessageAdded(message):
            return not isinstance(message, ModelMessage)
        case ReplyCut() | HistoryReplaced():
            return True
        case _:
            return False


def _remove(connection: "Connection", id: str, before: float = float("inf")) -> bool:
    """Remove a session that nobody has open, and nobody used since a moment; whether it was removed."""
    # What is removed is overwritten: who removes a conversation doesn't want it to be found in the file.
    connection.execute("PRAGMA secure_delete = ON")
    with transaction(connection):
        # Somebody may have opened it meanwhile.
        row = connection.execute(f"{_SELECT} WHERE id = ? AND used < ?", (id, before)).fetchone()
        if row is None or _make_summary(row).open_in is not None:
            return False
        for each in (id, *_list_below(connection, id)):
            connection.execute("DELETE FROM entries WHERE session = ?", (each,))
            connection.execute("DELETE FROM kept_files WHERE session = ?", (each,))
            connection.execute("DELETE FROM sessions WHERE id = ?", (each,))
    connection.execute(f"PRAGMA incremental_vacuum({_FREED_PAGES})").fetchall()
    return True


def _list_below(connection: "Connection", id: str) -> list[str]:
    """The ids of a session's sub-agents, and of theirs."""
    query = """
    WITH RECURSIVE below (id) AS (
        SELECT id FROM sessions WHERE parent = ?
        UNION SELECT sessions.id FROM sessions JOIN below ON sessions.parent = below.id
    ) SELECT id FROM below
    """
    return [row[0] for row in connection.execute(query, (id,))]


def _empty_log(connection: "Connection") -> None:
    """Move what was written lately from the log beside the file into it, which overwrites what was removed.

    SQLite keeps every writer out while it waits for those who read. So it never waits, and is asked again instead; what
    is left in the log at last is moved by whoever closes the file last.
    """
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        for _ in range(_EMPTYING_TRIES):
            ((is_busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            if not is_busy:
                return
            time.sleep(_EMPTYING_SECONDS)
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
