"""What happens in a chat, as blocks of its transcript."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Protocol

from mooring.chat.conversations import spell_resuming
from mooring.chat.plain.turn_view import describe_failure, describe_spending
from mooring.chat.screen.call_card import CallCard
from mooring.chat.screen.cards import LinesBlock, NoticeBlock, PlanBlock, ReadsBlock, Said, SubAgentBlock, WarningBlock
from mooring.chat.screen.reply import ReplyBlock, ThinkingBlock
from mooring.chat.screen.stack import Block
from mooring.chat.turn_progress import TurnProgress
from mooring.core.conversation.event import (
    ConversationEvent,
    HistoryCompacted,
    InputAdded,
    NameTaken,
    PlanChanged,
    QuestionAnswered,
    QuestionAsked,
    TextPiece,
    ThinkingPiece,
    TokensUsed,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnDone,
    TurnFailed,
    TurnStarted,
    WatchChanged,
)
from mooring.display.calls import find_kind
from mooring.display.lines import describe_end, describe_taken_name, describe_watch
from mooring.errors import MooringError
from mooring.tools.results.deliver import keep_media

if TYPE_CHECKING:
    from mooring.chat.recent_calls import RecentCall
    from mooring.chat.session import ChatSession

STDERR_DELAY = 0.2
"""Seconds after a call failed until the end of its server's stderr is shown."""
INTERVAL = 1.0
"""Seconds between two drawings of what is under way."""


class BlockScreen(Protocol):
    """What the view needs of the screen that it is drawn on."""

    def add_block(self, block: Block) -> None: ...

    def note_change(self, block: Block) -> None: ...

    def show_waiting(self, text: str) -> None: ...

    @property
    def line_width(self) -> int: ...

    @property
    def advise(self) -> Callable[[str], None]:
        """Takes how to go on, should the program be killed."""

    def end_history(self) -> None:
        """All that was said before stands there."""

    def note_session(self, session: "ChatSession", cost: float | None) -> None:
        """What the status line tells may have changed."""


class ScreenView:
    """Shows one chat as blocks: its turns, calls outside of them, and what is under way."""

    def __init__(self, screen: BlockScreen, session: "ChatSession") -> None:
        self._screen = screen
        self._session = session
        self._progress = TurnProgress(lambda: session.conversation.pairs, ending="Esc stops it")
        self._reply: ReplyBlock | None = None
        """The text that the model is writing."""
        self._thinking: ThinkingBlock | None = None
        self._reads: ReadsBlock | None = None
        """Reads and searches in a row."""
        self._plan: PlanBlock | None = None
        """The plan of this turn."""
        self._cards: dict[str, CallCard] = {}
        """The calls under way."""
        self._sub_agents: dict[str, SubAgentBlock] = {}
        """By the call that each works for."""
        self._cost: float | None = 0.0
        """What the chat took before this turn."""

    # --- what is under way ------------------------------------------------------------------------------------------

    def begin(self, doing: str) -> None:
        self._progress.begin(doing)

    @contextmanager
    def drawn(self) -> Iterator[None]:
        drawing = asyncio.create_task(self._redraw())
        try:
            yield
        finally:
            drawing.cancel()
            self._screen.show_waiting("")
            self._note_session()

    async def _redraw(self) -> None:
        while True:
            self.draw()
            await asyncio.sleep(INTERVAL)

    def draw(self) -> None:
        self._screen.show_waiting(self._progress.describe("", self._screen.line_width))

    def _note_session(self) -> None:
        if hasattr(self._session, "host") and hasattr(self._session, "conversations"):
            self._screen.note_session(self._session, self._cost)

    def _name_resuming(self) -> None:
        id = self._session.responder.session
        if id is not None:
            self._screen.advise(spell_resuming(self._session.workspace, id))

    async def show_history(self, id: str) -> bool:
        from mooring.chat.screen.history import list_blocks  # few chats go on with a conversation
        from mooring.verbs.agent.sessions import show_session

        try:
            transcript = await asyncio.to_thread(show_session, self._session.workspace.where, id)
        except MooringError:
            return False
        keep = partial(keep_media, self._session.store, secret=transcript.session.id)
        known = dict(self._session.conversation.pairs)
        # In a thread: images are written to files.
        for block in await asyncio.to_thread(lambda: list(list_blocks(transcript, known, keep))):
            block.is_history = True
            self._screen.add_block(block)
        self._screen.end_history()
        self._name_resuming()
        return True

    # --- what happened ----------------------------------------------------------------------------------------------

    def show(self, event: ConversationEvent, *, in_turn: bool) -> None:
        self._progress.note(event)
        if not isinstance(event, ThinkingPiece) and event.parent is None:
            self._end_thought()
        if event.parent is not None:
            self._show_sub_agent(event, event.parent)
            return
        match event:
            case TurnStarted():
                self._name_resuming()
                self._end_reply()
                self._reads = self._plan = None
                self._sub_agents.clear()
            case TextPiece(text=text):
                self._add_text(text)
            case ThinkingPiece(text=text):
                self._add_thought(text)
            case InputAdded(text=text):
                self._add(Said(text))
            case ToolStarted():
                self._begin_call(event)
            case ToolProgress():
                self._note_progress(event)
            case ToolFinished():
                # What a command calls while it makes a turn is for that turn.
                if event.turn or not in_turn or event.id in self._cards:
                    self._end_call(event)
                if event.server is None:
                    self._note_session()  # it may have ended plan mode
            case PlanChanged():
                self._show_plan(event)
            case WatchChanged():
                self._add(LinesBlock(describe_watch(event)))
            case NameTaken(taken=taken):
                self._add(WarningBlock(describe_taken_name(taken)))
            case HistoryCompacted():
                text = "The conversation filled the model's window; its beginning is now a summary."
                self._add(NoticeBlock(text))
            case TurnFailed():
                if self._reply is not None and event.retry_in is not None:
                    self._reply.drop()
                self._add(WarningBlock(describe_failure(event)))
            case TokensUsed() | QuestionAnswered():
                self._note_session()
            case QuestionAsked():
                self._end_reply()
            case TurnDone():
                self._end_turn(event)

    def _add(self, block: Block) -> None:
        self._end_reply()
        self._reads = None
        self._screen.add_block(block)

    def _end_reply(self) -> None:
        """What the model says next is another reply."""
        if self._reply is not None:
            self._reply.end()
            self._screen.note_change(self._reply)
            self._reply = None

    def _end_thought(self) -> None:
        if self._thinking is not None:
            self._thinking.end()
            self._screen.note_change(self._thinking)
            self._thinking = None

    def _add_text(self, text: str) -> None:
        reply = self._reply
        if reply is None:
            if not text.strip():
                return
            reply = ReplyBlock()
            self._add(reply)
            self._reply = reply
        reply.feed(text)
        self._screen.note_change(reply)

    def _add_thought(self, text: str) -> None:
        thinking = self._thinking
        if thinking is None:
            thinking = ThinkingBlock()
            self._add(thinking)
            self._thinking = thinking
        thinking.feed(text)
        self._screen.note_change(thinking)

    def _begin_call(self, event: ToolStarted) -> None:
        if find_kind(event) != "other":
            return  # those are shown once they have ended, as counts or as a plan
        self._cards[event.id] = card = self._make_card(event)
        self._add(card)

    def _make_card(self, event: ToolStarted | ToolFinished) -> CallCard:
        return CallCard(event, self._session.conversation.pairs, self._session.calls.find)

    def _note_progress(self, event: ToolProgress) -> None:
        card = self._cards.get(event.id)
        if card is not None:
            card.note_progress(event)
            self._screen.note_change(card)

    def _end_call(self, event: ToolFinished) -> None:
        card = self._cards.get(event.id)
        call = self._session.calls.find_ended(event)
        kind = find_kind(event)
        if card is None and kind == "plan" and event.success:
            return  # its steps were shown
        is_quiet = kind in ("read", "search") and not event.outcome.is_error
        if card is None and is_quiet and call is not None and not call.images:
            self._count_read(call)
            return
        if card is None:
            card = self._make_card(event)
            self._add(card)
        card.finish(event, call)
        if event.outcome.is_error and event.server is not None:
            # What its program wrote comes through another pipe, and may still be on its way.
            asyncio.get_running_loop().call_later(STDERR_DELAY, self._show_stderr, card, event.server)
        if event.outcome.continues is None:
            self._cards.pop(event.id, None)
        self._screen.note_change(card)

    def _show_stderr(self, card: CallCard, server: str) -> None:
        lines = self._session.servers.news.find_output(server, card.began)
        if lines:
            card.note_stderr(lines)
            self._screen.note_change(card)

    def _count_read(self, call: "RecentCall") -> None:
        if self._reads is None:
            reads = ReadsBlock()
            self._add(reads)
            self._reads = reads
        self._reads.add(call)
        self._screen.note_change(self._reads)

    def _show_plan(self, event: PlanChanged) -> None:
        if self._plan is None:
            self._plan = PlanBlock(event.steps)
            self._add(self._plan)
        else:
            self._plan.change(event.steps)
            self._screen.note_change(self._plan)

    def _end_turn(self, event: TurnDone) -> None:
        words = describe_end(event)
        if words and event.reason != "interrupted":
            self._add(WarningBlock(words))
        if event.replies or event.usage.total:
            self._add(NoticeBlock(describe_spending(event), gap=0))
        self._cost = None if self._cost is None or event.cost is None else self._cost + event.cost
        self._note_session()

    # --- sub-agents -------------------------------------------------------------------------------------------------

    def _show_sub_agent(self, event: ConversationEvent, call: str) -> None:
        block = self._sub_agents.get(call)
        if block is None:
            block = self._open_sub_agent(call)
        found = self._session.calls.find_ended(event) if isinstance(event, ToolFinished) else None
        block.note(event, found)
        self._screen.note_change(block)

    def _open_sub_agent(self, call: str) -> SubAgentBlock:
        """Below the card of the call that it works for, in the block of the sub-agent that made it, if one did."""
        owner = next((block for block in self._sub_agents.values() if call in block.cards), None)
        card = self._cards.get(call) if owner is None else owner.cards[call]
        started = None if card is None else card.event
        block = self._sub_agents[call] = SubAgentBlock(started, self._session.conversation.pairs, owner)
        if owner is None:
            self._add(block)
        return block
