"""The calls of one reply: made at once where they are independent, their results in the order of the reply."""

import asyncio
from collections.abc import Mapping, Sequence

from mooring.agents.history import CallBlock, CallResult, ResultsMessage, make_interrupted
from mooring.agents.limits import end_unanswered, refuse_repeated_calls
from mooring.agents.streak import mention_repetition
from mooring.agents.thread import AgentThread


async def make_calls(
    thread: AgentThread, calls: Sequence[CallBlock], ended: Mapping[str, CallResult] | None = None
) -> None:
    """Make the calls of a reply and add their results; those in `ended` are not made again.

    Calls of servers, and tools that only read, run at the same time. Tools of the agent's own that change something run
    one after another, since each may count on the one before.

    If this is cancelled, or a question is answered by raising, every call still gets a result: without one, no provider
    would take the history any more.

    Raises: LimitReached if no one can be asked about a call that is made again and again.
    """
    thread.calls = {call.id: call for call in calls}
    thread.results = dict(ended or {})
    thread.started.clear()
    try:
        # A call that runs is on record, however busy the file is.
        await thread.journal.settle()
        await refuse_repeated_calls(thread, [call for call in calls if call.id not in thread.results])
        tasks = _begin_calls(thread, [call for call in calls if call.id not in thread.results])
        if tasks:
            await _wait_for_all(tasks)
        end_unanswered(thread)
    finally:
        kept = [_find_result(thread, call) for call in calls]
        thread.calls = {}
        thread.add(ResultsMessage(tuple(kept)))


def _begin_calls(thread: AgentThread, calls: Sequence[CallBlock]) -> list["asyncio.Task[None]"]:
    tasks: list[asyncio.Task[None]] = []
    before: asyncio.Task[None] | None = None
    for call in calls:
        is_change = _changes_something(thread, call)
        task = asyncio.create_task(_make_call(thread, call, before if is_change else None))
        tasks.append(task)
        if is_change:
            before = task
    return tasks


async def _make_call(thread: AgentThread, call: CallBlock, before: "asyncio.Task[None] | None") -> None:
    if before is not None:
        await asyncio.wait({before})
    with mention_repetition(thread.streak, thread.repetitions.get(call.id, 0)):
        outcome = await thread.tools.call(call.name, call.arguments, id=call.id)
    # Noted already if it has ended; if it continues in the background, this is what the model gets for now.
    thread.note_result(call.id, outcome)


async def _wait_for_all(tasks: Sequence["asyncio.Task[None]"]) -> None:
    """Wait until every task has ended. If one raises, or this is cancelled, the others are cancelled too."""
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


def _changes_something(thread: AgentThread, call: CallBlock) -> bool:
    tool = thread.tools.find(call.name)
    if tool is None or tool.server is not None:
        return False
    return tool.hints is None or not tool.hints.read_only_hint


def _find_result(thread: AgentThread, call: CallBlock) -> CallResult:
    return thread.results.get(call.id) or make_interrupted(call, may_have_run=call.id in thread.started)
