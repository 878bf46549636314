"""One conversation with a model: what was said and done so far, and everything that it goes on with."""

import asyncio
from collections.abc import Callable, Iterable

from mooring.agents.history import CallBlock, CallResult, Journal, Message, ModelMessage, PersonMessage
from mooring.agents.model import Model
from mooring.agents.reporter import TurnReporter
from mooring.agents.streak import CallStreak
from mooring.agents.turn_inbox import TurnInbox
from mooring.conversation.conversation import Conversation
from mooring.core.conversation.event import ConversationEvent, Todo, ToolFinished, ToolProgress, WatchChanged
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.question import Ask
from mooring.core.conversation.turn import TurnInput
from mooring.core.definitions.approved import TakenName
from mooring.core.protocol.content import Text
from mooring.core.protocol.limits import Sleep, TurnLimits

NO_OUTPUT = Text("(no output)")
"""What the model gets for a call that returned nothing: providers refuse an empty result."""


class AgentThread:
    """The state of one conversation with a model. `run_turn` takes it one turn further."""

    tools: Conversation
    """Set once: what a conversation tells has to be taken before it exists."""

    def __init__(
        self,
        model: Model,
        reporter: TurnReporter,
        *,
        system: Callable[[], str] = lambda: "",
        journal: Journal | None = None,
        messages: Iterable[Message] = (),
        ended: Iterable[CallResult] = (),
        agent: str | None = None,
        find_taken_name: Callable[[], TakenName | None] = lambda: None,
        limits: TurnLimits | None = None,
        ask: Ask | None = None,
    ) -> None:
        """`messages` are those of a conversation that goes on. If the last one is a reply with calls, `ended` are the
        results that are known; the calls without one are made first of all. `ask` is whom questions about the turn
        itself are put to; without it the turn ends where one would be asked."""
        self.model = model
        self.reporter = reporter
        self.system = system
        self.journal = journal or Journal()
        self.messages = list(messages)
        self.ended = {result.id: result for result in ended}
        self.agent = agent
        self.find_taken_name = find_taken_name
        """Finds out whether the agent is a project's under a name of somebody else's."""
        self.limits = limits or TurnLimits()
        self.ask = ask
        self.granted_requests = 0
        """How many times more the model may be asked in this turn, because the person said so."""
        self.unknown_stop = ""
        """Why the last reply ended, in the provider's own words, if nobody here knows them."""
        self.streak = CallStreak()
        self.repetitions: dict[str, int] = {}
        """Of the calls that are being made, those that the question about permission says are repeated: which call in a
        row each is."""
        self.sleep: Sleep = asyncio.sleep
        self.plan: tuple[Todo, ...] = ()
        self.context_tokens = 0
        """How many tokens the last reply and everything before it take, as the provider counted them."""
        self.counted_messages = 0
        """How many of the messages these tokens are."""
        self.calls: dict[str, CallBlock] = {}
        """The calls of the reply that are being made."""
        self.started: set[str] = set()
        """Those of them that were permitted: they may have run."""
        self.results: dict[str, CallResult] = {}
        """What became of those that have ended."""
        self.inbox = TurnInbox()
        """What the person says during a turn."""
        self.is_reply_paused = False
        """Whether the provider paused in the middle of the last reply, which nothing may come behind."""
        self.unheard_plan = ""
        """The plan that the turn ends with, since nobody is there to look at it."""
        self._background: set[str] = set()
        self._news: list[str] = []
        reporter.stream.add_listener(self.take)

    def begin_turn(self) -> None:
        """Forget what was counted in the turn before."""
        self.granted_requests = 0
        self.unknown_stop = ""
        self.is_reply_paused = False
        self.unheard_plan = ""
        self.streak = CallStreak()

    def add(self, message: Message) -> None:
        """Add what was said, once it is written down."""
        self.journal.add_message(message)
        self.messages.append(message)

    @property
    def last_text(self) -> str:
        """What the model said last in this turn."""
        for message in reversed(self.messages):
            if isinstance(message, ModelMessage) and message.text:
                return message.text
            if isinstance(message, PersonMessage) and message.begins_turn:
                break
        return ""

    @property
    def is_interrupted(self) -> bool:
        """Whether the last reply has calls without results: they were never made."""
        last = self.messages[-1] if self.messages else None
        return isinstance(last, ModelMessage) and bool(last.calls)

    def go_back(self, messages: Iterable[Message]) -> None:
        """Forget what was said after these messages."""
        self.messages = list(messages)
        self.ended = {}
        self.plan = ()
        self.context_tokens = self.counted_messages = 0

    def change_plan(self, steps: tuple[Todo, ...]) -> None:
        self.plan = steps
        self.reporter.change_plan(steps)

    # --- what the tools do ----------------------------------------------------------------------------------------

    def take(self, event: ConversationEvent) -> None:
        """Take what becomes of the calls and watches of this conversation; a listener of its stream."""
        if event.parent != self.reporter.parent:
            return  # a sub-agent's
        match event:
            case ToolProgress(id=id) if id in self.calls and id not in self.started:
                # Before the call is sent: whatever ends this process now, nobody takes it for one that never ran.
                self.journal.record_call_started(self.calls[id])
                self.started.add(id)
            case ToolFinished(id=id, outcome=outcome) if outcome.continues is not None:
                self._background.add(id)
            case ToolFinished(id=id, outcome=outcome) if id in self._background:
                self._background.discard(id)
                self._news.append(_describe_background(event.name, id, outcome))
            case ToolFinished(id=id, outcome=outcome, canceled=False):
                self.record_result(id, outcome)
            case WatchChanged(outcome=outcome):
                words = outcome.text or "(no text)"
                self._news.append(f"{event.target} of {event.server}, which you watch, is now:\n{words}")
            case _:
                pass

    def record_result(self, id: str, outcome: Outcome) -> None:
        """Keep what became of a call, as soon as anybody is told: what comes next may be an interruption."""
        if id not in self.calls or id in self.results:
            return
        result = CallResult(id, self.calls[id].name, outcome.parts or (NO_OUTPUT,), outcome.is_error)
        self.journal.record_call_ended(result)
        self.results[id] = result

    def announce_news(self) -> None:
        """Add what happened since the model was asked last, such as how calls in the background ended."""
        if self._news:
            words = "\n\n".join(self._news)
            self._news = []
            self.add(PersonMessage((Text(words),), synthetic=True))

    def read_added(self) -> None:
        """Add what the person has said since the model was asked last. Every call has its result by then."""
        if self.is_reply_paused:
            return
        for said in self.inbox.read():
            self.add(make_person_message(said, in_turn=True))
            self.reporter.tell_added(said.text)


def make_person_message(said: TurnInput, *, in_turn: bool = False) -> PersonMessage:
    texts = (Text(said.text),) if said.text else ()
    return PersonMessage((*texts, *said.attachments), in_turn=in_turn)


def _describe_background(name: str, id: str, outcome: Outcome) -> str:
    how = "failed" if outcome.is_error else "has ended"
    return f"The call {id} of {name}, which continued in the background, {how}:\n{outcome.text}"
