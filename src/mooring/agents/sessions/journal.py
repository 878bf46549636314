"""Writes a conversation into `sessions.db` while it happens, so that it survives the end of this process at any moment.

What cannot be written at once waits in memory and is tried again, while the conversation goes on.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct, json

from mooring import files
from mooring.agents.history import (
    CallBlock,
    CallResult,
    Journal,
    KeepFile,
    Message,
    ModelMessage,
    PersonCommand,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    SummaryMessage,
)
from mooring.agents.sessions.database import ADD_ENTRY, CHANGE_ENTRY, DROP_NOTES, SqlStatement
from mooring.agents.sessions.handover import Handover
from mooring.agents.sessions.kept_files import add_kept_file
from mooring.agents.sessions.last_turn import LastTurn, read_last_turn, remove_turns
from mooring.agents.sessions.replay import (
    BlockArrived,
    CallEnded,
    CallStarted,
    EntryContent,
    EntryKind,
    HistoryReplaced,
    MessageAdded,
    TextArrived,
    encode_content,
    get_kind,
)
from mooring.agents.sessions.writer import SessionDatabase
from mooring.core.conversation.event import TokenUsage
from mooring.core.protocol.content import Text
from mooring.core.text.secret import redact
from mooring.errors import FileError
from mooring.permissions.audit import new_session_id

if TYPE_CHECKING:
    from mooring.agents.sessions.branch import EarlierMessage

TEXT_SECONDS = 0.5
"""How long text that streams in waits to be written. Half of what is promised, since the loop may be busy."""
LONGEST_TITLE = 120

_BEGIN = """
INSERT INTO sessions (id, folder, cwd, agent, model, backend, backend_session, mode, parent, call, continues, created,
used, owner_pid, owner_start)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_USE = """
UPDATE sessions SET used = ?, expired = NULL, agent = ?, model = ?, backend_session = ?, mode = ?, loaded = ?,
turns = turns + ?, title = CASE WHEN title = '' OR ? AND turns = 0 THEN ? ELSE title END WHERE id = ?
"""
_NAME_BACKEND_SESSION = "UPDATE sessions SET backend_session = ? WHERE id = ?"
_COMPACT = "UPDATE sessions SET compacted = ? WHERE id = ?"
_SPEND = """
UPDATE sessions SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
cache_read_tokens = cache_read_tokens + ?, cache_write_tokens = cache_write_tokens + ?, uncounted = uncounted + ?,
cost = cost + ? WHERE id = ?
"""
_RELEASE = "UPDATE sessions SET owner_pid = NULL, owner_start = NULL WHERE id = ?"

NOTES_OF_REPLY: tuple[EntryKind, EntryKind] = ("block", "text")
NOTES_OF_CALLS: tuple[EntryKind, EntryKind] = ("started", "ended")


class SubAgentOf(Struct, frozen=True):
    """Whom a sub-agent works for."""

    session: str
    call: str
    spenders: tuple[str, ...]
    """The sessions that what it takes counts to, besides its own."""


class JournalPlace(Struct, frozen=True):
    """Where a session that goes on is continued."""

    number: int
    """Of the last entry."""
    settled: int
    """Of the last entry that stands for everything noted before it."""
    turn: int = 0
    """Of the entry that began the last turn; 0 if none did."""


class SessionJournal(Journal):
    """Keeps one conversation in `sessions.db`. Nothing is written before something is said.

    No method raises: the person is told by the database what goes wrong.
    """

    def __init__(
        self,
        database: SessionDatabase,
        id: str,
        *,
        folder: str,
        cwd: str,
        model: str,
        agent: str | None = None,
        backend: str = "api",
        backend_session: str | None = None,
        mode: str | None = None,
        place: JournalPlace | None = None,
        works_for: SubAgentOf | None = None,
        handover: Handover | None = None,
        keep_file: KeepFile | None = None,
    ) -> None:
        """What was handed over is written before the first message. What a sub-agent does to files is kept by whoever
        it works for, with `keep_file`."""
        self.id = id
        self.model = model
        """Who answers now. Set it before a reply of another model is asked for."""
        self.agent = agent
        self.find_mode: Callable[[], str | None] = lambda: mode
        """Finds the permission mode, `None` if it is unknown; written with each message."""
        self._backend = backend
        self._backend_session = backend_session
        self.list_loaded: Callable[[], tuple[str, ...]] = lambda: ()
        """Lists the tools that were loaded so far, as `Conversation.loaded` does."""
        self._database = database
        self._folder = folder
        self._cwd = cwd
        self._works_for = works_for
        self._continues = None if handover is None else handover.session
        self._unwritten_handover = handover
        self._number = place.number if place else 0
        self._settled = place.settled if place else 0
        self._turn = place.turn if place else 0
        self._keep_file = keep_file
        self._is_begun = place is not None
        self._has_dropped_reply = False
        self._pieces: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    # --- what is said ---------------------------------------------------------------------------------------------

    def add_message(self, message: Message) -> None:
        match message:
            case ModelMessage():
                self._forget_text()
                self._write(*self._drop(NOTES_OF_REPLY), *self._add(MessageAdded(message)), self._use_for(message))
            case ResultsMessage():
                self._write(*self._drop(NOTES_OF_CALLS), *self._add(MessageAdded(message)), self._use_for(message))
                self._settled = self._number
            case PersonMessage() | SummaryMessage():
                added = self._add(MessageAdded(message))
                self._settled = self._number
                if isinstance(message, PersonMessage) and message.begins_turn:
                    self._turn = self._number
                self._write(*added, self._use_for(message))

    def record_text(self, piece: str) -> None:
        """Take some more of the text that is arriving; it is written soon."""
        self._pieces.append(piece)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TEXT_SECONDS, self._write_text)

    def record_block(self, block: ReplyBlock) -> None:
        # A call says nothing of the text before it; any other block is that text.
        if not isinstance(block, CallBlock):
            self._forget_text()
        self._write(*self._add(BlockArrived(block)))

    def drop_reply(self) -> None:
        """Forget what arrived of a reply, with the next thing that is written.

        Not at once: until then it is all that anybody has of what was said.
        """
        self._forget_text()
        self._has_dropped_reply = True

    # --- what is done ---------------------------------------------------------------------------------------------

    def record_call_started(self, call: CallBlock) -> None:
        self._write(*self._add(CallStarted(call.id)))

    def record_call_ended(self, result: CallResult) -> None:
        self._write(*self._add(CallEnded(result)))

    def record_command_started(self, command: str) -> int:
        added = self._add(PersonCommand(command))
        title = redact(_shorten_title(f"!{command}"), self._database.secrets)
        self._write(*added, self._use(title, is_turn=False))
        return self._number

    def record_command_ended(self, number: int, ended: PersonCommand) -> None:
        data = redact(encode_content(ended), self._database.secrets)
        self._write((CHANGE_ENTRY, (data, self.id, number)))

    def compact(self, messages: tuple[Message, ...]) -> None:
        """Write down what the model is sent from now on; all that was said before stays."""
        added = self._add(HistoryReplaced(messages))
        self._settled = self._number
        self._write(*added, (_COMPACT, (self._number, self.id)))

    def record_usage(self, model: str, usage: TokenUsage | None, cost: float | None) -> None:
        """Add what one reply took; with a price that is unknown, so is the sum."""
        usage = usage or TokenUsage(partial=True)
        tokens = usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens
        self._write(*((_SPEND, (*tokens, usage.partial, cost, id)) for id in self._spenders))

    @property
    def _spenders(self) -> tuple[str, ...]:
        """The sessions that a reply counts to: a sub-agent's also to that of whoever it works for."""
        return (self.id,) if self._works_for is None else (self.id, *self._works_for.spenders)

    def begin_sub_agent(self, call: str, *, agent: str, model: str) -> "SessionJournal":
        """A session for the sub-agent that works for a call: it belongs to this one, and is removed with it."""
        return SessionJournal(
            self._database,
            new_session_id(),
            folder=self._folder,
            cwd=self._cwd,
            model=model,
            agent=agent,
            works_for=SubAgentOf(self.id, call, self._spenders),
            keep_file=self.keep_file,
        )

    def keep_file(self, path: str, before: bytes | None, after: bytes) -> None:
        if self._keep_file is not None:
            self._keep_file(path, before, after)
            return
        # Who undoes the turn is told which files were not kept; that the record can't be written is told anyway.
        with suppress(FileError):
            now = self._database.clock()
            self._database.write_in_order(add_kept_file(self.id, self._turn, path, before, after, now))

    async def find_last_turn(self) -> LastTurn | None:
        """The last turn, with all that was done in it; `None` if nothing was said yet.

        Raises: FileError if it isn't in the file, or can't be read.
        """
        await self._settle_all()
        return await asyncio.to_thread(read_last_turn, self._database.path, self.id, self.model)

    async def list_earlier_messages(self) -> "tuple[EarlierMessage, ...]":
        """What the person said, the last first. Raises: FileError, as `find_last_turn`."""
        from mooring.agents.sessions.branch import list_earlier_messages  # few conversations go back

        await self._settle_all()
        return await asyncio.to_thread(list_earlier_messages, self._database.path, self.id)

    async def branch(self, message: "EarlierMessage") -> str | None:
        """The id of a new session that holds what was said before a message; `None` if nothing was.

        This one stays as it is. Raises: FileError, as `find_last_turn`.
        """
        from mooring.agents.sessions.branch import branch_session  # as above

        await self._settle_all()
        return await asyncio.to_thread(branch_session, self._database.path, self.id, message)

    async def _settle_all(self) -> None:
        self._write_text()
        await self.settle()
        if self._database.is_behind:
            raise FileError(self._database.path, "lacks the last turn, since it cannot be written", "fix that first")

    def go_back(self, turn: LastTurn) -> None:
        """Forget a turn and all that came after it. What it took stays spent."""
        self._forget_text()
        self._has_dropped_reply = False
        # No number is used twice: what is still to be written may be about the old ones.
        self._settled = self._number
        self._write(*remove_turns(self.id, turn, self._number))

    def name_backend_session(self, id: str) -> None:
        """Write down by which id another agent's program continues this conversation; it may change."""
        if id == self._backend_session:
            return
        self._backend_session = id
        if self._is_begun:
            self._write((_NAME_BACKEND_SESSION, (id, self.id)))

    async def settle(self) -> None:
        """Wait, without holding up anything else, until what was written down is in the file, or can't be for now."""
        await self._database.settle()

    def close(self) -> None:
        """Write what is left, and let another process have the session."""
        self._write_text()
        if self._is_begun:
            self._write((_RELEASE, (self.id,)))
            self._database.leave()

    # --- entries --------------------------------------------------------------------------------------------------

    def _add(self, content: EntryContent) -> list[SqlStatement]:
        """The statements that add an entry, after the text that came before it."""
        statements = self._drop(NOTES_OF_REPLY) if self._has_dropped_reply else []
        handover, text = self._unwritten_handover, self._pop_text()
        handed = () if handover is None else (MessageAdded(handover.message),)
        texts = (TextArrived(text),) if text else ()
        self._has_dropped_reply, self._unwritten_handover = False, None
        for each in (*handed, *texts, content):
            self._number += 1
            data = redact(encode_content(each), self._database.secrets)
            statements.append((ADD_ENTRY, (self.id, self._number, self._database.clock(), get_kind(each), data)))
        return statements

    def _drop(self, kinds: tuple[EntryKind, EntryKind]) -> list[SqlStatement]:
        """The statements that remove notes which something else stands for now."""
        return [(DROP_NOTES, (self.id, self._settled, *kinds))]

    def _use_for(self, message: Message) -> SqlStatement:
        is_turn = isinstance(message, PersonMessage) and message.begins_turn
        title = redact(_make_title(message), self._database.secrets) if is_turn else ""
        return self._use(title, is_turn=is_turn)

    def _use(self, title: str, *, is_turn: bool) -> SqlStatement:
        """The statement that brings the row of the session up to date.

        The title stays what it is, unless there is none, or it is that of a command before the first turn.
        """
        loaded = json.encode(self.list_loaded()).decode()
        names = self.agent, self.model, self._backend_session, self.find_mode()
        return _USE, (self._database.clock(), *names, loaded, is_turn, is_turn and title != "", title, self.id)

    def _begin(self) -> SqlStatement:
        owner, now = identify_this_process(), self._database.clock()
        place = self.id, self._folder, self._cwd
        names = self.agent, self.model, self._backend, self._backend_session, self.find_mode()
        works_for = self._works_for
        above = (None, None) if works_for is None else (works_for.session, works_for.call)
        return _BEGIN, (*place, *names, *above, self._continues, now, now, owner.pid, owner.start)

    # --- text that streams in -------------------------------------------------------------------------------------

    def _write_text(self) -> None:
        text = self._pop_text()
        if text:
            self._write(*self._add(TextArrived(text)))

    def _pop_text(self) -> str:
        text = "".join(self._pieces)
        self._forget_text()
        return text

    def _forget_text(self) -> None:
        self._pieces.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # --- the file -------------------------------------------------------------------------------------------------

    def _write(self, *statements: SqlStatement) -> None:
        if not self._is_begun:
            self._is_begun = True
            self._database.enter(self.id)
            statements = self._begin(), *statements
        self._database.write(statements)


def _make_title(message: Message) -> str:
    """The first words that the person said, on one line."""
    parts = message.parts if isinstance(message, PersonMessage) else ()
    # What follows the first text is attached: nobody typed it.
    text = next((part.text for part in parts if isinstance(part, Text)), "")
    return _shorten_title(text)


def _shorten_title(text: str) -> str:
    words = " ".join(text.split())
    # Half a character, as a terminal passes it on, would be refused by the file.
    return words[:LONGEST_TITLE].encode(errors="replace").decode()


_DEAD = (b"Z", b"X")
"""A process that has ended, but that its parent has not asked about: in containers, nobody may ever do."""
_STATE_FIELD, _START_FIELD = 0, 19


class SessionOwner(Struct, frozen=True):
    """A process, told apart from a later one with the same number by when it was started."""

    pid: int
    start: int
    """In the kernel's ticks since it booted; 0 on a system that doesn't say."""

    @property
    def is_running(self) -> bool:
        return _find_start(self.pid) == self.start


def identify_this_process() -> SessionOwner:
    pid = os.getpid()
    return SessionOwner(pid, _find_start(pid) or 0)


def _find_start(pid: int) -> int | None:
    """When a process was started; `None` if it has ended."""
    if not os.path.isdir("/proc/self"):
        return 0 if _exists(pid) else None
    fields: list[bytes] = []
    with suppress(FileError):
        # The name of the command is in parentheses, and may hold anything.
        fields = (files.read(f"/proc/{pid}/stat") or b"").rpartition(b")")[2].split()
    if len(fields) <= _START_FIELD or fields[_STATE_FIELD] in _DEAD:
        return None
    return int(fields[_START_FIELD])


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
