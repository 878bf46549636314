"""The events of one conversation: told in order, to functions at once, and to readers that may take their time.

Nothing is merged or dropped for a reader. Once one has too much to read, its conversation waits before it goes on.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Self
from uuid import uuid4
from weakref import ref

from mooring.core.conversation.call import ToolCall
from mooring.core.conversation.event import (
    ConversationEvent,
    EmitEvent,
    EventStamp,
    QuestionAnswered,
    QuestionAsked,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.question import Allow, Answer, Ask, No, Question, Yes
from mooring.core.definitions.config import Origin
from mooring.core.protocol.result import Progress

MOST_UNREAD = 1000
"""How many events a reader may have before it before the conversation waits for it."""
LONGEST_ERROR = 500
"""How many characters of a failure are its one line."""


class _CallStamp(EventStamp):
    id: str
    name: str
    server: str | None
    tool: str


class _SourcedStamp(_CallStamp):
    provider: str | None
    source: str | None


class EventStream:
    """What happens in one conversation, or in the part of it that a sub-agent has."""

    def __init__(
        self,
        session: str | None = None,
        *,
        turn: int = 0,
        find_origin: Callable[[str], Origin | None] = lambda server: None,
        parent: str | None = None,
        above: "EventStream | None" = None,
    ) -> None:
        """`turn` is the number of turns that the conversation had before. `find_origin` finds where a server comes
        from. `parent` is the call that a sub-agent works for; `above` is told everything too."""
        self.session = session or uuid4().hex
        """Identifies the conversation."""
        self.turn = turn
        """How many turns there were, with the one under way."""
        self.in_turn = False
        self.parent = parent
        self._find_server_origin = find_origin
        self._above = above
        self._listeners: list[EmitEvent] = []
        self._readers: list[ref[EventReader]] = []
        """Weak, so that a reader that nobody holds any more is not waited for."""
        self._open: set[str] = set()
        self._background: set[str] = set()
        self._questions = count(1)
        self._is_closed = False

    def begin_part(self, call: str) -> "EventStream":
        """The stream of a sub-agent that works for a call of this conversation."""
        return EventStream(self.session, parent=call, above=self)

    @property
    def stamp(self) -> EventStamp:
        """What every event says."""
        return {"session": self.session, "turn": self._find_turn(), "parent": self.parent}

    def _find_turn(self) -> int:
        # A sub-agent works in the turn of the agent that started it.
        if self._above is not None:
            return self._above._find_turn()
        return self.turn if self.in_turn else 0

    def begin_turn(self) -> None:
        """Everything belongs to the next turn from now on. A sub-agent's part belongs to the turn under way."""
        self.turn += 1
        self.in_turn = True

    def end_turn(self) -> None:
        """Nothing belongs to a turn from now on."""
        self.in_turn = False

    # --- who hears of it ------------------------------------------------------------------------------------------

    def add_listener(self, listener: EmitEvent) -> None:
        """Have a function called with every event from now on; it must not block."""
        self._listeners.append(listener)

    def remove_listener(self, listener: EmitEvent) -> None:
        self._listeners.remove(listener)

    def read(self) -> "EventReader":
        """A reader of all events from now on."""
        reader = EventReader()
        self._readers.append(ref(reader, self._readers.remove))
        if self._is_closed:
            reader.end()
        return reader

    def emit(self, event: ConversationEvent) -> None:
        """Tell an event to everybody."""
        for listener in tuple(self._listeners):
            listener(event)
        for reader in self._list_readers():
            reader.add(event)
        if self._above is not None:
            self._above.emit(event)

    def _list_readers(self) -> "list[EventReader]":
        return [reader for each in self._readers if (reader := each()) is not None]

    @property
    def _is_heard(self) -> bool:
        """Whether anybody listens or reads: most conversations of a program are called and nothing else."""
        return bool(self._listeners or self._readers) or (self._above is not None and self._above._is_heard)

    def emit_safely(self, event: ConversationEvent) -> None:
        """Tell what became of a call or a watch. What a listener raises must not change that."""
        guard_listener(self.emit)(event)

    @property
    def is_full(self) -> bool:
        """Whether somebody has too much to read."""
        if self._readers and any(reader.is_full for reader in self._list_readers()):
            return True
        return self._above is not None and self._above.is_full

    async def wait_for_room(self) -> None:
        """Wait until everybody who reads has room for more."""
        # The rooms, not the readers: one that nobody else holds is not to be kept alive by waiting for it.
        for room in [reader.room for reader in self._list_readers()]:
            await room.wait()
        if self._above is not None:
            await self._above.wait_for_room()

    def close(self) -> None:
        """End what is read, once everything told so far was."""
        self._is_closed = True
        for reader in self._list_readers():
            reader.end()

    # --- calls ----------------------------------------------------------------------------------------------------

    def start_call(self, call: ToolCall) -> None:
        """Tell that a tool is to be called."""
        self._open.add(call.id)
        if not self._is_heard:
            return
        self.emit_safely(ToolStarted(**self._describe_with_source(call), arguments=call.arguments))

    def move_call(self, call: ToolCall, progress: Progress | None, background: bool) -> None:
        """Tell that a call is on its way, or how far it is."""
        if not self._is_heard:
            return
        self.emit_safely(ToolProgress(**self._describe(call), progress=progress, background=background))

    def finish_call(self, call: ToolCall, outcome: Outcome, *, canceled: bool = False) -> None:
        """Tell how a call ended. One that was told to its end already is not told again."""
        if call.id not in self._open and call.id not in self._background:
            return
        self._open.discard(call.id)
        if outcome.continues is None:
            self._background.discard(call.id)
        else:
            self._background.add(call.id)
        if not self._is_heard:
            return
        finished = ToolFinished(
            **self._describe_with_source(call),
            arguments=call.arguments,
            success=not outcome.is_error,
            outcome=outcome,
            error=_name_error(outcome),
            denied=outcome.refusal is not None,
            canceled=canceled,
        )
        self.emit_safely(finished)

    def _describe(self, call: ToolCall) -> "_CallStamp":
        """What every event about a call says."""
        return {**self.stamp, "id": call.id, "name": call.name, "server": call.server, "tool": call.tool}

    def _describe_with_source(self, call: ToolCall) -> "_SourcedStamp":
        origin = self._find_origin(call)
        provider, source = (None, None) if origin is None else (origin.tool, origin.path)
        return {**self._describe(call), "provider": provider, "source": source}

    def _find_origin(self, call: ToolCall) -> Origin | None:
        if self._above is not None:
            return self._above._find_origin(call)
        return None if call.server is None else self._find_server_origin(call.server)

    def number_question(self) -> str:
        """The id of one more question."""
        number = f"q{next(self._questions)}"
        # Several sub-agents may ask at the same time.
        return number if self.parent is None else f"{self.parent}-{number}"


class _AskTold:
    """An `ask` with every question and answer told. It equals the `ask` behind it: the same person answers."""

    def __init__(self, stream: EventStream, ask: Ask) -> None:
        self._stream = stream
        self._ask = ask

    async def __call__(self, question: Question) -> Answer:
        stream, id = self._stream, self._stream.number_question()
        stream.emit(QuestionAsked(**stream.stamp, id=id, question=question))
        answer: Answer = No("The question was dropped.", "cancel")
        try:
            answer = await self._ask(question)
        finally:
            stream.emit(_make_answered(stream, id, answer))
        return answer

    def __eq__(self, other: object) -> bool:
        return self._ask == (other._ask if isinstance(other, _AskTold) else other)

    def __hash__(self) -> int:
        return hash(self._ask)


def tell_questions(stream: EventStream, ask: Ask) -> Ask:
    """The same `ask`, with every question and answer told."""
    return _AskTold(stream, ask)


def _make_answered(stream: EventStream, id: str, answer: Answer) -> QuestionAnswered:
    match answer:
        case Yes():
            return QuestionAnswered(**stream.stamp, id=id, answer="yes")
        case Allow():
            return QuestionAnswered(**stream.stamp, id=id, answer="allow")
        case No(reason=reason):
            return QuestionAnswered(**stream.stamp, id=id, answer="no", reason=reason)


class EventReader:
    """Reads the events of a conversation in order, with `async for`. It ends with the conversation.

    Read in a task of its own, or leave it: while it has too much to read, the conversation waits.
    """

    def __init__(self) -> None:
        self._unread: deque[ConversationEvent] = deque()
        self._is_ended = False
        self._has_news = asyncio.Event()
        self.room = asyncio.Event()
        """Set while more can be taken."""
        self.room.set()

    @property
    def is_full(self) -> bool:
        return not self.room.is_set()

    def add(self, event: ConversationEvent) -> None:
        if self._is_ended:
            return
        self._unread.append(event)
        self._has_news.set()
        if len(self._unread) >= MOST_UNREAD:
            self.room.clear()

    def end(self) -> None:
        """Take nothing more; what is unread can still be read, and nobody waits for it."""
        self._is_ended = True
        self._has_news.set()
        self.room.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ConversationEvent:
        while not self._unread:
            if self._is_ended:
                raise StopAsyncIteration
            self._has_news.clear()
            await self._has_news.wait()
        event = self._unread.popleft()
        if len(self._unread) < MOST_UNREAD:
            self.room.set()
        return event

    def __del__(self) -> None:
        # Nobody reads any more: whoever waits for room goes on.
        self.room.set()


def guard_listener(listener: EmitEvent) -> EmitEvent:
    """The same listener; what it raises goes to the loop's handler."""

    def listen_safely(event: ConversationEvent) -> None:
        try:
            listener(event)
        except Exception as error:  # noqa: BLE001 - the program's own code
            context = {"message": f"a listener failed for {type(event).__name__}", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)

    return listen_safely


def _name_error(outcome: Outcome) -> str:
    if not outcome.is_error:
        return ""
    words = outcome.for_person or outcome.text
    return words[:LONGEST_ERROR].partition("\n")[0]
