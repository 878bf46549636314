"""Keeps a conversation that another agent's program has: from the events of its turns, while they are told.

The program keeps its own history, by which it goes on. What is kept here is for people: what was said and done.
"""

from msgspec import json

from mooring.agents.history import (
    CallBlock,
    CallResult,
    ModelMessage,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.sessions.journal import SessionJournal
from mooring.core.conversation.event import (
    ConversationEvent,
    InputAdded,
    TextPiece,
    ThinkingPiece,
    TokensUsed,
    TokenUsage,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnFailed,
    TurnStarted,
)
from mooring.core.conversation.turn import TurnInput
from mooring.core.protocol.content import Text


class TurnRecorder:
    """Writes the turns of one conversation into its journal. What a sub-agent says and does isn't kept."""

    def __init__(self, journal: SessionJournal) -> None:
        self.journal = journal
        """Keeps the conversation."""
        self._kind: type[TextBlock | ThinkingBlock] = TextBlock
        self._expected: list[TurnInput] = []
        """What was said during the turn and not read yet."""
        self._forget()
        self._noted_cost = 0.0
        self._has_unpriced = False
        """Whether the price of any reply in this turn is unknown."""

    def begin_turn(self, said: TurnInput) -> None:
        """Write down what the person said, before the program gets it."""
        self._expected.clear()
        self.journal.add_message(PersonMessage((Text(said.text), *said.attachments)))

    def expect(self, said: TurnInput) -> None:
        """Take what the person says during the turn; it is written down where the program reads it."""
        self._expected.append(said)

    async def settle(self) -> None:
        """Wait until all of it is written. See `Journal.settle`."""
        await self.journal.settle()

    def take(self, event: ConversationEvent) -> None:
        if isinstance(event, TokensUsed):
            self._record_usage(event)
        if event.parent is not None:
            return
        match event:
            case TurnStarted(model=str(model)):
                self.journal.model = model
            case TextPiece(text=text):
                self._add_piece(TextBlock, text)
                self.journal.record_text(text)
            case ThinkingPiece(text=text):
                self._add_piece(ThinkingBlock, text)
            case InputAdded(text=text):
                self._add_said(text)
            case ToolStarted():
                self._start_call(event)
            case ToolFinished():
                self._end_call(event)
            case TurnFailed(retry_in=float()):
                self._drop_reply()
            case TurnDone():
                self._end_turn(event)
                self._record_rest(event)
            case _:
                pass

    def _add_said(self, text: str) -> None:
        """Write down what the program reads now, with all that was attached to it."""
        self._close_reply()
        said = next((each for each in self._expected if each.text == text), TurnInput(text))
        if said in self._expected:
            self._expected.remove(said)
        self.journal.add_message(PersonMessage((Text(said.text), *said.attachments), in_turn=True))

    def _record_usage(self, event: TokensUsed) -> None:
        if event.parent is None and event.model:
            self.journal.model = event.model
        # Some programs know what a turn cost, and not what each reply did: then it is noted at the end.
        self._has_unpriced = self._has_unpriced or event.cost is None
        self._noted_cost += event.cost or 0.0
        self.journal.record_usage(event.model, event.usage, event.cost or 0.0)

    def _record_rest(self, event: TurnDone) -> None:
        """Note what a turn cost besides what its replies did."""
        if self._has_unpriced:
            rest = None if event.cost is None else event.cost - self._noted_cost
            self.journal.record_usage(self.journal.model, TokenUsage(), rest)
        self._has_unpriced, self._noted_cost = False, 0.0

    def _add_piece(self, kind: type[TextBlock | ThinkingBlock], text: str) -> None:
        """Take some more of a text: a program tells one in hundreds of pieces, which are one block."""
        self._close_calls()
        if kind is not self._kind:
            self._close_text()
        self._kind = kind
        self._pieces.append(text)

    def _close_text(self) -> None:
        if self._pieces:
            self._blocks.append(self._kind("".join(self._pieces)))
            self._pieces.clear()

    def _start_call(self, event: ToolStarted) -> None:
        self._close_calls()
        call = CallBlock(event.id, _name_tool(event), json.encode(event.arguments).decode())
        self._close_text()
        self._blocks.append(call)
        self._open.add(event.id)
        self.journal.record_block(call)
        self.journal.record_call_started(call)

    def _end_call(self, event: ToolFinished) -> None:
        self._open.discard(event.id)
        result = CallResult(event.id, _name_tool(event), event.outcome.parts, not event.success)
        self._results.append(result)
        self.journal.record_call_ended(result)

    def _close_calls(self) -> None:
        """Write a reply and its results as messages, once all of its calls have ended and something new comes."""
        if self._results and not self._open:
            self._close_reply()

    def _close_reply(self) -> None:
        self._close_text()
        if self._blocks:
            self.journal.add_message(ModelMessage(tuple(self._blocks), self.journal.model))
        if self._results:
            self.journal.add_message(ResultsMessage(tuple(self._results)))
        self._forget()

    def _end_turn(self, event: TurnDone) -> None:
        if event.reason == "interrupted" and not self._results and not self._open:
            # What arrived is in the journal already, as a reply without an end.
            self._forget()
        else:
            self._close_reply()

    def _drop_reply(self) -> None:
        # Calls that were made stay, whatever becomes of the words around them.
        if self._results or self._open:
            return
        self.journal.drop_reply()
        self._forget()

    def _forget(self) -> None:
        self._blocks: list[ReplyBlock] = []
        self._pieces: list[str] = []
        self._results: list[CallResult] = []
        self._open: set[str] = set()


def _name_tool(event: ToolStarted | ToolFinished) -> str:
    """As a person names a tool: what a program calls it differs from one to the next."""
    return event.name if event.server is None else f"{event.server}.{event.tool}"
