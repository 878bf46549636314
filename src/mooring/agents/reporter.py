"""Tells one conversation's turns: each event with the turn it belongs to, and every call with how it ended."""

from msgspec import Struct

from mooring.conversation.events import EventStream
from mooring.core.conversation.event import (
    ConversationEvent,
    DeniedCall,
    EndOfTurn,
    HistoryCompacted,
    InputAdded,
    NameTaken,
    PlanChanged,
    TextPiece,
    ThinkingPiece,
    Todo,
    TokensUsed,
    TokenUsage,
    ToolFinished,
    TurnDone,
    TurnFailed,
    TurnStarted,
)
from mooring.core.definitions.approved import TakenName
from mooring.core.protocol.limits import TurnLimits


class Spent(Struct):
    """What the turns of a conversation took so far."""

    usage: TokenUsage = TokenUsage()
    cost: float | None = 0.0
    """In US dollars; `None` once the price of any part of it is unknown."""
    replies: int = 0

    def find_limit(self, limits: TurnLimits) -> EndOfTurn | None:
        """The limit that was reached, of tokens or of cost: `failed` if what it limits is unknown."""
        if limits.token_budget is not None and self.usage.total >= limits.token_budget:
            return "token-budget"
        if limits.token_budget is not None and self.usage.partial:
            return "failed"
        if limits.max_cost is None:
            return None
        if self.cost is None:
            return "failed"
        return "max-cost" if self.cost >= limits.max_cost else None


class TurnReporter:
    """Tells the turns of one conversation, or of one sub-agent, into its stream of events."""

    def __init__(self, stream: EventStream, backend: str, *, above: "TurnReporter | None" = None) -> None:
        """`above` tells the agent that started this one."""
        self.stream = stream
        self.backend = backend
        self.spent = Spent()
        """What this agent took, with its sub-agents."""
        self._above = above
        self.done: TurnDone | None = None
        """How the last turn ended."""
        self.error = ""
        """Why it failed, if it did."""
        self._in_turn = False
        self._denied: list[DeniedCall] = []
        stream.add_listener(self._record_denied)

    @property
    def parent(self) -> str | None:
        """The id of the call that a sub-agent works for."""
        return self.stream.parent

    @property
    def conversation(self) -> str:
        """What tells this conversation from every other, and a sub-agent's from that of whoever started it."""
        return self.stream.session if self.parent is None else f"{self.stream.session}/{self.parent}"

    @property
    def spent_in_turn(self) -> Spent:
        """What all agents took in the turn: every one of them spends what the person allowed for the whole."""
        return self.spent if self._above is None else self._above.spent_in_turn

    def _tell(self, event: ConversationEvent) -> None:
        # A program may say something more when its turn has ended already.
        if self._in_turn:
            self.stream.emit(event)

    # --- the turn itself ------------------------------------------------------------------------------------------

    def begin(self, *, model: str | None = None, agent: str | None = None) -> None:
        self.stream.begin_turn()
        self.spent = Spent()
        self.done, self.error = None, ""
        self._denied = []
        self._in_turn = True
        self._tell(TurnStarted(**self.stream.stamp, backend=self.backend, model=model, agent=agent))

    def begin_aside(self) -> None:
        """Forget what the last turn took: what comes next is asked for outside of turns."""
        self.spent = Spent()

    def tell_taken_name(self, taken: TakenName) -> None:
        """Tell that something of the project is used by a name of somebody else's."""
        self._tell(NameTaken(**self.stream.stamp, taken=taken))

    def end(self, reason: EndOfTurn, text: str = "", stop: str = "") -> None:
        spent = self.spent
        self.done = TurnDone(
            **self.stream.stamp,
            reason=reason,
            text=text,
            replies=spent.replies,
            usage=spent.usage,
            cost=spent.cost,
            denied=tuple(self._denied),
            stop=stop,
        )
        self._in_turn = False
        try:
            self.stream.emit(self.done)
        finally:
            self.stream.end_turn()

    def fail(self, error: str, retry_in: float | None = None) -> None:
        """Say that the model failed, and when it is asked again, if it is."""
        self.error = error
        self._tell(TurnFailed(**self.stream.stamp, error=error, retry_in=retry_in))

    def begin_sub_agent(self, call: str) -> "TurnReporter":
        """The reporter of a sub-agent that works for a call of this turn."""
        return TurnReporter(self.stream.begin_part(call), self.backend, above=self)

    def _record_denied(self, event: ConversationEvent) -> None:
        # What a sub-agent was refused counts to this turn as well.
        if isinstance(event, ToolFinished) and event.outcome.refusal is not None:
            refusal = event.outcome.refusal
            self._denied.append(DeniedCall(event.name, event.server, event.tool, refusal.rule, refusal.reason))

    # --- what the model says --------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Tell some more of the answer."""
        self._tell(TextPiece(**self.stream.stamp, text=text))

    def think(self, text: str) -> None:
        """Tell some more of what the model thinks."""
        self._tell(ThinkingPiece(**self.stream.stamp, text=text))

    def tell_added(self, text: str) -> None:
        """Tell that what the person said during the turn is read now."""
        self._tell(InputAdded(**self.stream.stamp, text=text))

    def change_plan(self, steps: tuple[Todo, ...]) -> None:
        self._tell(PlanChanged(**self.stream.stamp, steps=steps))

    def use(self, model: str, usage: TokenUsage | None, cost: float | None, window: int | None) -> None:
        """Tell what a reply took. Of one whose provider doesn't say, nothing is told: it is unknown, not nothing."""
        self.spent.replies += 1
        self._spend(usage or TokenUsage(partial=True), cost)
        if usage is None:
            return
        used = TokensUsed(
            **self.stream.stamp,
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
        spent = self.spent
        spent.usage += usage
        spent.cost = None if spent.cost is None or cost is None else spent.cost + cost
        if self._above is not None:
            self._above._spend(usage, cost)

    def compact(self, summary: str, tokens_before: int, tokens_after: int) -> None:
        """Tell that what was said before became a summary."""
        compacted = HistoryCompacted(
            **self.stream.stamp, summary=summary, tokens_before=tokens_before, tokens_after=tokens_after
        )
        self._tell(compacted)
