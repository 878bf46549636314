"""When a turn has gone far enough: it was long or dear enough, or the model makes the same call again and again."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import DecodeError, json

from mooring.agents.history import CallBlock, make_refused
from mooring.agents.streak import normalize_arguments
from mooring.agents.thread import AgentThread
from mooring.core.conversation.call import CallId, ToolCall, ToolDefinition
from mooring.core.conversation.event import EndOfTurn
from mooring.core.conversation.outcome import CallRefusal, Outcome
from mooring.core.conversation.question import Allow, ContinueTurn, No, RepeatedCall, Yes
from mooring.core.protocol.content import Text
from mooring.errors import ModelError, MooringError

_NOT_REPEATED = "The call was not made: the same call was made several times in a row. Do something else, or say why."
_REFUSED = "The call was not made: the person refused to have the same call made again. Do something else."
CUT_OFF = "The call was not made, because the reply was cut off. Make it again if it is needed, in a shorter reply."
"""What it says may be half of what was meant."""


class LimitReached(Exception):
    """The turn ends here, for this reason."""

    def __init__(self, reason: EndOfTurn) -> None:
        super().__init__(reason)
        self.reason: EndOfTurn = reason


async def check_limits(thread: AgentThread) -> None:
    """Find out whether the model may be asked once more; called before every request.

    Raises: LimitReached; ModelError if a price or a number of tokens is unknown that has to be known.
    """
    limits = thread.limits
    spent = thread.reporter.spent_in_turn
    reached = spent.find_limit(limits)
    if reached == "failed" and limits.token_budget is not None and spent.usage.partial:
        raise ModelError(
            thread.model.name, "its provider doesn't say how many tokens a reply takes, so that they have no limit."
        )
    if reached == "failed":
        raise ModelError(thread.model.name, "the price of a reply is unknown, so that its cost has no limit.")
    if reached is not None:
        raise LimitReached(reached)
    if thread.reporter.spent.replies >= limits.most_requests + thread.granted_requests:
        await _ask_to_continue(thread)


async def _ask_to_continue(thread: AgentThread) -> None:
    """Raises: LimitReached, unless the person wants it to go on."""
    # A sub-agent has an answer to give instead, and whoever started it decides what comes next.
    if thread.ask is None or thread.reporter.parent is not None:
        raise LimitReached("max-turns")
    more = thread.limits.most_requests
    answer = await thread.ask(ContinueTurn(thread.reporter.spent.replies, more))
    # Nothing but a plain yes: a program that allows every call hasn't thought of this one.
    if not isinstance(answer, Yes):
        raise LimitReached("max-turns")
    thread.granted_requests += more


async def refuse_repeated_calls(thread: AgentThread, calls: Sequence[CallBlock]) -> None:
    """Ask about calls that only repeat what was done before. Those that are refused get their result here.

    One that permission is asked for anyway is not asked about twice: that question says so.

    Raises: LimitReached if no one can be asked; then none of the calls is made.
    """
    thread.repetitions = {}
    streak = thread.streak
    for call in calls:
        is_asked_about = streak.add(call.name, normalize_arguments(call.arguments))
        # A call may fail before anybody is asked whether it may be made, such as an edit of what isn't there. If that
        # was so the last time, the question about permission can't be relied on.
        is_first = streak.times == streak.asks_at
        if is_asked_about and is_first and thread.ask is not None and _needs_permission(thread, call):
            thread.repetitions[call.id] = streak.times
        elif is_asked_about:
            await _ask_about_repeated(thread, call, calls)


def _needs_permission(thread: AgentThread, call: CallBlock) -> bool:
    try:
        return thread.tools.may(call.name, call.arguments).action == "ask"
    except MooringError:
        return False  # it fails by itself


async def _ask_about_repeated(thread: AgentThread, call: CallBlock, calls: Sequence[CallBlock]) -> None:
    times = thread.streak.times
    tool = thread.tools.find(call.name)
    question = RepeatedCall(
        None if tool is None else tool.server,
        call.name if tool is None else tool.tool or tool.name,
        _read_arguments(call),
        times,
        "" if thread.reporter.parent is None else thread.agent or "",
    )
    answer = No(nobody=True) if thread.ask is None else await thread.ask(question)
    thread.streak.settle(times, answer)
    match answer:
        case Yes() | Allow():
            pass
        case No(nobody=True):
            thread.results |= {each.id: make_refused(each, _NOT_REPEATED) for each in calls}
            raise LimitReached("repeated")
        case No(reason=reason):
            _refuse_repeated(thread, call, tool, reason)


def _read_arguments(call: CallBlock) -> Mapping[str, Any]:
    try:
        arguments = json.decode(call.arguments)
    except DecodeError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def _refuse_repeated(thread: AgentThread, call: CallBlock, tool: ToolDefinition | None, reason: str) -> None:
    words = f"{_REFUSED} They said: {reason}" if reason else _REFUSED
    if tool is None:
        # The model gets its result; nobody else heard of a call to a tool that doesn't exist.
        thread.results[call.id] = make_refused(call, words)
        return
    name = tool.name if tool.server is None else f"{tool.server}.{tool.tool}"
    refusal = f"{name} was not called again: you refused it."
    outcome = Outcome(
        (Text(words),),
        is_error=True,
        server=tool.server,
        tool=tool.tool,
        for_person=refusal,
        refusal=CallRefusal(refusal),
    )
    invocation = ToolCall(CallId(call.id), tool.name, _read_arguments(call), tool.server, tool.tool)
    thread.reporter.stream.start_call(invocation)
    thread.reporter.stream.finish_call(invocation, outcome)
