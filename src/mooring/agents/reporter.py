"""Tells one conversation's turns: each event with the turn it belongs to, and every call with how it ended."""

from itertools import count
from typing import TypedDict

from msgspec import Struct

from mooring.core.conversation.call import (
    CallChanged,
    CallDone,
    CallFailed,
    CallPending,
    CallProcessing,
    ToolCall,
)
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.question import Allow, Answer, Ask, No, Question, Yes
from mooring.core.conversation.turn import (
    DeniedCall,
    EmitTurnEvent,
    EndOfTurn,
    HistoryCompacted,
    NameTaken,
    PlanChanged,
    QuestionAnswered,
    QuestionAsked,
    TextPiece,
    ThinkingPiece,
    Todo,
    TokensUsed,
    TokenUsage,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnEvent,
    TurnFailed,
    TurnStarted,
)
from mooring.core.definitions.approved import TakenName
from mooring.core.protocol.content import Text

LONGEST_ERROR = 500
"""How many characters of a failure are its one line."""


class TurnStamp(TypedDict):
    """Which turn an event belongs to."""

    session: str
    turn: int
    parent: str | None


class Spent(Struct):
    """What the turns of a conversation took so far."""

    usage: TokenUsage = TokenUsage()
    cost: float | None = 0.0
    """In US dollars; `None` once the price of any part of it is unknown."""
    replies: int = 0

    def add(self, usage: TokenUsage, cost: float | None) -> None:
        self.usage += usage
        self.cost = None if self.cost is None or cost is None else self.cost + cost


class TurnReporter:
    """Tells the turns of one conversation, or of one sub-agent, to whoever listens.

    What happens between two turns, such as the end of a call in the background, belongs to none and is not told here.
    """

    def __init__(
        self,
        session: str,
        backend: str,
        *,
        parent: str | None = None,
        turn: int = 0,
        above: "TurnReporter | None" = None,
    ) -> None:
        """`turn` is the number of turns that the conversation had before, `above` tells the agent that started this
        one."""
        self.session = session
        self.backend = backend
        self.turn = turn
        self.spent = Spent()
        """What this agent took, with its sub-agents."""
        self._above = above
        self.done: TurnDone | None = None
        """How the last turn ended."""
        self.error = ""
        """Why it failed, if it did."""
        self.parent = parent
        """The id of the call that a sub-agent works for."""
        self._emit: EmitTurnEvent | None = None
        self._open: dict[str, ToolCall] = {}
        self._denied: list[DeniedCall] = []
        self._questions = count(1)

    @property
    def stamp(self) -> TurnStamp:
        """What every event of the turn says."""
        return {"session": self.session, "turn": self.turn, "parent": self.parent}

    @property
    def spent_in_turn(self) -> Spent:
        """What all agents took in the turn: every one of them spends what the person allowed for the whole."""
        return self.spent if self._above is None else self._above.spent_in_turn

    def _tell(self, event: TurnEvent) -> None:
        if self._emit is not None:
            self._emit(event)

    # --- the turn itself ------------------------------------------------------------------------------------------

    def begin(self, emit: EmitTurnEvent, *, model: str | None = None, agent: str | None = None) -> None:
        """Begin a turn: until it ends, `emit` receives everything."""
        self.turn += 1
        self.spent = Spent()
        self.done, self.error = None, ""
        self._denied = []
        self._emit = emit
        started = TurnStarted(
            **self.stamp,
            backend=self.backend,
            model=model,
            agent=agent,
        )
        self._tell(started)

    def tell_taken_name(self, taken: TakenName) -> None:
        """Tell that something of the project is used by a name of somebody else's."""
        self._tell(NameTaken(**self.stamp, taken=taken))

    def end(self, reason: EndOfTurn, text: str = "") -> None:
        """End the turn. Calls that are still open were cut off by whatever ended it."""
        for invocation in tuple(self._open.values()):
            self._finish(invocation, Outcome((Text("The turn ended."),), is_error=True), canceled=True)
        spent = self.spent
        self.done = TurnDone(
            **self.stamp,
            reason=reason,
            text=text,
            replies=spent.replies,
            usage=spent.usage,
            cost=spent.cost,
            denied=tuple(self._denied),
        )
        self._tell(self.done)
        self._emit = None

    def fail(self, error: str, retry_in: float | None = None) -> None:
        """Say that the model failed, and when it is asked again, if it is."""
        self.error = error
        failed = TurnFailed(**self.stamp, error=error, retry_in=retry_in)
        self._tell(failed)

    def begin_sub_agent(self, call: str) -> "TurnReporter":
        """The reporter of a sub-agent that works for a call of this turn."""
        # Its one turn is this turn: it counts on from the one before.
        return TurnReporter(self.session, self.backend, parent=call, turn=self.turn - 1, above=self)

    def relay(self, event: TurnEvent) -> None:
        """Pass on what a sub-agent tells. What it was refused counts to this turn as well."""
        if isinstance(event, ToolFinished):
            self._record_denied(event, event.outcome)
        self._tell(event)

    # --- what the model says --------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Tell some more of the answer."""
        self._tell(TextPiece(**self.stamp, text=text))

    def think(self, text: str) -> None:
        """Tell some more of what the model thinks."""
        self._tell(ThinkingPiece(**self.stamp, text=text))

    def change_plan(self, steps: tuple[Todo, ...]) -> None:
        """Tell which steps the agent means to take."""
        self._tell(PlanChanged(**self.stamp, steps=steps))

    def use(self, model: str, usage: TokenUsage, cost: float | None, window: int | None) -> None:
        """Tell what one reply took."""
        self.spent.replies += 1
        self._spend(usage, cost)
        used = TokensUsed(
            **self.stamp,
            model=model,
            usage=usage,
            cost=cost,
            window=window,
            turn_usage=self.spent_in_turn.usage,
            turn_cost=self.spent_in_turn.cost,
        )
        self._tell(used)

    def _spend(self, usage: TokenUsage, cost: float | None) -> None:
        """Count what a reply took, for the agents above too."""
        self.spent.add(usage, cost)
        if self._above is not None:
            self._above._spend(usage, cost)

    def compact(self, summary: str, tokens_before: int, tokens_after: int) -> None:
        """Tell that what was said before became a summary."""
        compacted = HistoryCompacted(
            **self.stamp,
            summary=summary,
            tokens_before=tokens_before,
            tokens_after=tokens_after,
        )
        self._tell(compacted)

    # --- what tools do --------------------------------------------------------------------------------------------

    def tell_call(self, event: CallChanged) -> None:
        """Tell what became of a call. Progress isn't told: it would be most of a log, and is worth nothing later."""
        invocation = event.request
        match event.state:
            case CallPending():
                self._start(invocation)
            case CallProcessing(background=True):
                words = "It continues in the background."
                self._finish(invocation, Outcome((Text(words),), continues=invocation.id))
            case CallProcessing():
                pass
            case CallDone(outcome):
                self._finish(invocation, outcome)
            case CallFailed(outcome, aborted):
                self._finish(invocation, outcome, canceled=aborted)

    def _start(self, invocation: ToolCall) -> None:
        if self._emit is None:
            return
        self._open[invocation.id] = invocation
        started = ToolStarted(
            **self.stamp,
            id=invocation.id,
            name=invocation.name,
            arguments=invocation.arguments,
            server=invocation.server,
            tool=invocation.tool,
        )
        self._tell(started)

    def _finish(self, invocation: ToolCall, outcome: Outcome, *, canceled: bool = False) -> None:
        # One that was told to continue in the background has been told to its end already.
        if self._open.pop(invocation.id, None) is None:
            return
        self._record_denied(invocation, outcome)
        finished = ToolFinished(
            **self.stamp,
            id=invocation.id,
            name=invocation.name,
            arguments=invocation.arguments,
            success=not outcome.is_error,
            outcome=outcome,
            server=invocation.server,
            tool=invocation.tool,
            error=_name_error(outcome),
            denied=outcome.refusal is not None,
            canceled=canceled,
        )
        self._tell(finished)

    def _record_denied(self, invocation: ToolCall | ToolFinished, outcome: Outcome) -> None:
        refusal = outcome.refusal
        if refusal is None:
            return
        denied = DeniedCall(invocation.name, invocation.server, invocation.tool, refusal.rule, refusal.reason)
        self._denied.append(denied)

    # --- what is asked --------------------------------------------------------------------------------------------

    def wrap_ask(self, ask: Ask) -> Ask:
        """The same `ask`, with every question and answer told."""

        async def ask_and_tell(question: Question) -> Answer:
            id = self._number_question()
            asked = QuestionAsked(**self.stamp, id=id, question=question)
            self._tell(asked)
            answer: Answer = No("The question was dropped.", "cancel")
            try:
                answer = await ask(question)
            finally:
                self._tell(_answered(self, id, answer))
            return answer

        return ask_and_tell

    def _number_question(self) -> str:
        number = f"q{next(self._questions)}"
        # Several sub-agents may ask at the same time.
        return number if self.parent is None else f"{self.parent}-{number}"


def _answered(reporter: TurnReporter, id: str, answer: Answer) -> QuestionAnswered:
    match answer:
        case Yes():
            return QuestionAnswered(**reporter.stamp, id=id, answer="yes")
        case Allow():
            return QuestionAnswered(**reporter.stamp, id=id, answer="allow")
        case No(reason=reason):
            return QuestionAnswered(**reporter.stamp, id=id, answer="no", reason=reason)


def _name_error(outcome: Outcome) -> str:
    if not outcome.is_error:
        return ""
    words = outcome.for_person or outcome.text
    return words[:LONGEST_ERROR].partition("\n")[0]
