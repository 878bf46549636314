"""Tells the turns of another agent's program: it says what happened in its own words, and these become turn events."""

from collections.abc import Callable, Mapping
from typing import Any

from mooring.agents.reporter import TurnReporter
from mooring.conversation.events import EventStream
from mooring.core.conversation.call import CallId, ToolCall, ToolName
from mooring.core.conversation.event import EndOfTurn, Todo, TokenUsage
from mooring.core.conversation.outcome import CallRefusal, Outcome, Part
from mooring.core.definitions.approved import TakenName
from mooring.core.protocol.content import Text
from mooring.core.protocol.limits import TurnLimits
from mooring.errors import Denied


class AgentReporter:
    """Tells the turns of one conversation. What a sub-agent does is told with the id of the call that it works for.

    Every tool that was started is finished exactly once, at the end of the turn at the latest; what an agent says of a
    tool twice, or of one that it never started, is told once.
    """

    def __init__(self, stream: EventStream, backend: str) -> None:
        self.stream = stream
        self.backend = backend
        self.on_end: Callable[[], None] = lambda: None
        """Called when a turn ends."""
        self.on_finish: Callable[[str, bool], None] = lambda id, success: None
        """Called with a call that ended, and whether it succeeded."""
        self.limits = TurnLimits()
        """How far a turn may go, as far as somebody said so: the program has limits of its own for the rest."""
        self.on_limit: Callable[[], object] = lambda: None
        """Called when a turn has gone far enough: it is to be canceled."""
        self.taken_names: Mapping[str, TakenName] = {}
        """The names of agents that the project took and the person has not approved."""
        self.stopped_by: EndOfTurn | None = None
        """Why the turn under way, or the last one, was canceled before its end; `None` if it wasn't."""
        self._reached: EndOfTurn | None = None
        self._main = TurnReporter(stream, backend)
        self._subs: dict[str, TurnReporter] = {}
        self._in_turn = False
        self._started: dict[str, tuple[TurnReporter, ToolCall]] = {}
        self._denied: dict[str, Denied] = {}

    # --- the turn itself ------------------------------------------------------------------------------------------

    def begin(self, *, model: str | None = None, agent: str | None = None) -> None:
        self._in_turn = True
        self._reached = self.stopped_by = None
        self._main.begin(model=model, agent=agent)
        self._tell_whose(self._main, agent)

    def end(self, reason: EndOfTurn, text: str = "") -> None:
        """End the turn, with the sub-agents and the calls that are still open. Without a turn, nothing happens."""
        if not self._in_turn:
            return
        reason = self.stopped_by or reason
        for parent in tuple(self._subs):
            self.end_agent(parent, reason)
        self._cut_off(self._main)
        self._main.end(reason, text)
        self._in_turn = False
        self._denied.clear()
        self.on_end()

    def fail(self, error: str, retry_in: float | None = None, *, parent: str | None = None) -> None:
        """Say that the model or the program failed, and when it is tried again, if it is."""
        self._find(parent).fail(error, retry_in)

    def tell_added(self, text: str) -> None:
        """Tell that what the person said during the turn is read now."""
        self._main.tell_added(text)

    # --- sub-agents -----------------------------------------------------------------------------------------------

    def begin_agent(self, parent: str, *, model: str | None = None, agent: str | None = None) -> None:
        """Say that a sub-agent works for a call from now on. Whatever is told with that `parent` begins one too."""
        if not self._in_turn or parent in self._subs:
            return
        sub = self._main.begin_sub_agent(parent)
        self._subs[parent] = sub
        sub.begin(model=model, agent=agent)
        self._tell_whose(sub, agent)

    def _tell_whose(self, reporter: TurnReporter, agent: str | None) -> None:
        taken = self.taken_names.get(agent or "")
        if taken is not None:
            reporter.tell_taken_name(taken)

    def end_agent(self, parent: str, reason: EndOfTurn = "finished", text: str = "") -> None:
        """Say that the sub-agent of a call is done, if there is one."""
        sub = self._subs.pop(parent, None)
        if sub is None:
            return
        self._cut_off(sub)
        sub.end(reason, text)

    def _cut_off(self, reporter: TurnReporter) -> None:
        """Tell the end of the calls that are still open: whatever ends the turn has cut them off."""
        outcome = Outcome((Text("The turn ended."),), is_error=True)
        for id, (starter, call) in tuple(self._started.items()):
            if starter is reporter:
                del self._started[id]
                reporter.stream.finish_call(call, outcome, canceled=True)

    def _find(self, parent: str | None) -> TurnReporter:
        if parent is None or not self._in_turn:
            return self._main
        self.begin_agent(parent)
        return self._subs[parent]

    # --- what the model says --------------------------------------------------------------------------------------

    def say(self, text: str, *, parent: str | None = None) -> None:
        self._find(parent).say(text)

    def think(self, text: str, *, parent: str | None = None) -> None:
        self._find(parent).think(text)

    def change_plan(self, steps: tuple[Todo, ...], *, parent: str | None = None) -> None:
        self._find(parent).change_plan(steps)

    def use(
        self,
        model: str,
        usage: TokenUsage,
        cost: float | None = None,
        window: int | None = None,
        *,
        parent: str | None = None,
        goes_on: bool = False,
    ) -> None:
        """Tell what one reply took. `goes_on` if it wants to make calls, so that the model will be asked again."""
        self._find(parent).use(model, usage, cost, window)
        self._reached = self._find_limit()
        if goes_on:
            self._stop_if_reached()

    def _find_limit(self) -> EndOfTurn | None:
        """The limit that the turn has reached; `None` if it may go on."""
        spent, most = self._main.spent, self.limits.max_turns
        is_long = most is not None and spent.replies >= most
        return spent.find_limit(self.limits) or ("max-turns" if is_long else None)

    def _stop_if_reached(self) -> None:
        if self._reached == "failed" and self.stopped_by is None:
            self.fail(f"{self.backend} doesn't know what a reply cost, so that the cost of a turn has no limit.")
        if self._reached is not None:
            self.stop(self._reached)

    def stop(self, reason: EndOfTurn) -> None:
        """End the turn under way, for this reason."""
        if not self._in_turn or self.stopped_by is not None:
            return
        self.stopped_by = reason
        self.on_limit()

    def record_cost(self, cost: float | None) -> None:
        """Note what the whole turn cost in US dollars: some agents know the price of a turn, and not of a reply.

        `None` if that is unknown after all.
        """
        self._main.spent.cost = cost

    # --- what tools do --------------------------------------------------------------------------------------------

    def start_tool(
        self,
        id: str,
        name: str,
        server: str | None,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        parent: str | None = None,
    ) -> None:
        """Tell that a tool is to be called: `name` is what the model calls it, `server` the name in the configuration.

        Told again, as by an agent that first says which tool and then with what, it is started once.
        """
        if not self._in_turn:
            return
        # A call means that the model will be asked again, with its result.
        self._stop_if_reached()
        if id in self._started:
            return
        reporter = self._find(parent)
        invocation = ToolCall(CallId(id), ToolName(name), arguments, server, tool)
        self._started[id] = (reporter, invocation)
        reporter.stream.start_call(invocation)

    def finish_tool(
        self,
        id: str,
        *,
        success: bool,
        text: str = "",
        error: str = "",
        denied: bool = False,
        canceled: bool = False,
        parts: tuple[Part, ...] = (),
        structured: Any = None,
    ) -> None:
        """Tell how a call ended. `parts` is for results that are more than `text`; `error` is why it failed.

        One that the gate refused is told as refused, also if the agent does not say so. A sub-agent that works for the
        call ends with it.
        """
        self.on_finish(id, success)
        found = self._started.pop(id, None)
        if found is None:
            return
        self.end_agent(id)
        reporter, invocation = found
        refused = None if success else self._denied.pop(id, None)
        refusal = _make_refusal(refused, denied and not success, error or text)
        content = parts or ((Text(text or error),) if text or error else ())
        outcome = Outcome(
            content,
            is_error=not success,
            server=invocation.server,
            tool=invocation.tool,
            # Only where nothing was called: what a call that failed said is its result, and is shown as one.
            for_person="" if refusal is None else refusal.reason,
            refusal=refusal,
            structured=structured,
        )
        reporter.stream.finish_call(invocation, outcome, canceled=canceled)

    def record_denied(self, id: str, denied: Denied) -> None:
        """Note that the gate refused a call: its end is told with the rule that would allow it."""
        self._denied[id] = denied


def _make_refusal(refused: Denied | None, denied: bool, reason: str) -> CallRefusal | None:
    if refused is not None:
        return CallRefusal(str(refused), refused.rule)
    return CallRefusal(reason) if denied else None
