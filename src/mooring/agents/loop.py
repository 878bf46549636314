"""The loop of an agent: the model is asked, calls are made, and it is asked again until it has nothing left to call.

Plain functions over a thread. Everything that happens goes to the thread's reporter in order, and into its journal
before it can be lost.
"""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import aclosing
from math import ceil
from random import random
from typing import Any
from uuid import uuid4

from msgspec import Struct, field

from mooring.agents.compaction import compact, is_nearly_full
from mooring.agents.history import (
    CallBlock,
    CallResult,
    ModelMessage,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    TextBlock,
    make_interrupted,
    make_refused,
)
from mooring.agents.limits import CUT_OFF, LimitReached, check_limits, refuse_repeated_calls
from mooring.agents.model import ORDINARY_STOPS, BlockFinished, ModelRequest, ReplyFinished, ReplyText, ReplyThinking
from mooring.agents.streak import mention_repetition
from mooring.agents.thread import AgentThread, make_person_message
from mooring.core.conversation.event import EndOfTurn
from mooring.core.conversation.turn import TurnInput
from mooring.core.protocol.content import Text
from mooring.display.text import end_sentence
from mooring.errors import ContextOverflow, ModelError, ModelOverloaded

MOST_RETRIES = 5
FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0
"""Seconds between two tries: doubled each time, or what the provider asks for."""
MOST_PATIENCE = 300.0
"""Seconds that a provider may ask to wait. Where it asks for an hour, the turn ends, so that the user can decide."""


async def run_turn(thread: AgentThread, said: TurnInput | None) -> None:
    """Take a conversation one turn further; without `said`, go on where it was interrupted.

    Cancelling this ends the turn and its calls, and leaves a history that the next turn can go on with. A model that
    fails ends the turn too, and is told as an event. So does a limit of the thread, as the reason of the end.
    """
    await _report_turn(thread, _run_turn(thread, said))


async def run_task(thread: AgentThread, agent: str, task: str) -> None:
    """Have one of the agents do a task for the user, as a turn in which the model itself is not asked.

    The model reads of it in the next turn. Cancelling this ends the sub-agent.
    """
    await _report_turn(thread, _run_task(thread, agent, task))


async def _report_turn(thread: AgentThread, work: Coroutine[Any, Any, EndOfTurn]) -> None:
    reporter = thread.reporter
    thread.begin_turn()
    reporter.begin(model=thread.model.name, agent=thread.agent)
    taken = thread.find_taken_name()
    if taken is not None:
        reporter.tell_taken_name(taken)
    reason: EndOfTurn = "failed"
    try:
        reason = await work
    except asyncio.CancelledError:
        reason = "interrupted"
        raise
    except LimitReached as reached:
        reason = reached.reason
    except ModelError as error:
        reporter.fail(str(error))
    finally:
        reporter.end(reason, thread.last_text, thread.unknown_stop)


async def _run_turn(thread: AgentThread, said: TurnInput | None) -> EndOfTurn:
    await _finish_interrupted(thread)
    if said is not None:
        thread.add(make_person_message(said))
    system = thread.system()
    while True:
        await thread.reporter.stream.wait_for_room()
        thread.announce_news()
        thread.read_added()
        if is_nearly_full(thread, system):
            await compact(thread, system)
        finished = await _ask_patiently(thread, system)
        calls = finished.message.calls
        if finished.stop == "length":
            if calls:
                thread.add(ResultsMessage(tuple(make_refused(call, CUT_OFF) for call in calls)))
            return "length"
        thread.is_reply_paused = finished.stop == "paused"
        if thread.is_reply_paused:
            continue
        if calls:
            await make_calls(thread, calls)
            if thread.unheard_plan:
                return _end_with_plan(thread)
        elif not thread.inbox.has_unread:
            return "finished"


def _end_with_plan(thread: AgentThread) -> EndOfTurn:
    """Make the plan that nobody can approve the answer."""
    thread.reporter.say(thread.unheard_plan)
    thread.add(ModelMessage((TextBlock(thread.unheard_plan),), thread.model.name))
    return "finished"


async def _run_task(thread: AgentThread, agent: str, task: str) -> EndOfTurn:
    await _finish_interrupted(thread)
    thread.add(PersonMessage((Text(f"/{agent} {task}"),)))
    thread.system()  # looks which agents there are now
    await thread.journal.settle()
    arguments = {"subagent_type": agent, "prompt": task}
    outcome = await thread.tools.call("Agent", arguments, id=uuid4().hex)
    answer = outcome.for_person or outcome.text
    thread.reporter.say(answer)
    said = f"[The agent {agent} was given this task. Its answer:]\n{answer}"
    thread.add(ModelMessage((TextBlock(said),), thread.model.name))
    return "failed" if outcome.is_error else "finished"


async def _finish_interrupted(thread: AgentThread) -> None:
    """Make the calls of the last reply that have no result: they were never made."""
    last = thread.messages[-1] if thread.messages else None
    if thread.is_interrupted and isinstance(last, ModelMessage):
        await make_calls(thread, last.calls, thread.ended)
        thread.ended = {}


async def _ask_patiently(thread: AgentThread, system: str) -> ReplyFinished:
    """Ask the model; again after a while if it is overloaded, and once with a shorter history if it is too long.

    Raises: ModelError; LimitReached.
    """
    retries, was_shortened = 0, False
    while True:
        try:
            return await _ask(thread, system)
        except ModelOverloaded as error:
            thread.journal.drop_reply()
            if error.retry_after is not None and error.retry_after > MOST_PATIENCE:
                raise _describe_long_wait(error, error.retry_after) from error
            if retries == MOST_RETRIES:
                raise
            seconds = _choose_wait(retries, error.retry_after)
            retries += 1
            thread.reporter.fail(str(error), seconds)
            await thread.sleep(seconds)
        except ContextOverflow:
            thread.journal.drop_reply()
            if was_shortened or not await compact(thread, system, must=True):
                raise
            was_shortened = True


def _choose_wait(retries: int, asked_for: float | None) -> float:
    if asked_for is not None:
        return asked_for
    # With some chance in it: everybody who was turned away at once would come back at once.
    seconds: float = FIRST_WAIT * 2**retries * (0.75 + random() / 2)
    return min(seconds, LONGEST_WAIT)


def _describe_long_wait(error: ModelOverloaded, seconds: float) -> ModelOverloaded:
    minutes = ceil(seconds / 60)
    wait = f"{minutes} minutes" if minutes < 120 else f"{ceil(minutes / 60)} hours"
    reason = f"{end_sentence(error.reason)} It asks to wait {wait}."
    return ModelOverloaded(error.model, reason, seconds, error.hint)


class _PartialReply(Struct):
    """What has arrived of a reply."""

    blocks: list[ReplyBlock] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    """The text of the block that is still arriving."""


async def _ask(thread: AgentThread, system: str) -> ReplyFinished:
    await check_limits(thread)
    thread.read_added()
    # Frozen here: what the model is shown stays the same for this one reply, whatever servers list meanwhile.
    request = ModelRequest(
        system, tuple(thread.messages), thread.tools.definitions, conversation=thread.reporter.conversation
    )
    partial = _PartialReply()
    # What the person said is written before it is sent.
    await thread.journal.settle()
    try:
        finished = await _receive(thread, request, partial)
    except asyncio.CancelledError:
        _save_partial(thread, partial)
        raise
    message = finished.message
    # What it cost first: nothing that was paid for is forgotten if this process ends in between.
    thread.journal.record_usage(message.model, finished.usage, finished.cost)
    if finished.stop == "length" and not message.calls and not message.text:
        thread.journal.drop_reply()  # providers refuse thoughts that lead to nothing
    else:
        thread.add(message)
    thread.reporter.use(message.model, finished.usage, finished.cost, thread.model.window)
    if finished.usage is not None:
        thread.context_tokens = finished.usage.total
        thread.counted_messages = len(thread.messages)
    if finished.stop == "refused" and not message.calls:
        reason = f"the provider withheld the reply{_say_why(finished)}"
        raise ModelError(message.model, reason, "Say it in other words.")
    is_ordinary = finished.stop != "finished" or finished.stop_word in ORDINARY_STOPS
    thread.unknown_stop = "" if is_ordinary else finished.stop_word
    return finished


def _say_why(finished: ReplyFinished) -> str:
    if finished.stop_details:
        return f": {finished.stop_details.rstrip('.')}."
    return f" ({finished.stop_word})." if finished.stop_word else "."


async def _receive(thread: AgentThread, request: ModelRequest, partial: _PartialReply) -> ReplyFinished:
    reporter, journal = thread.reporter, thread.journal
    # Closed at once when this is cancelled, so that the provider stops writing, and charging.
    async with aclosing(thread.model.reply(request)) as events:
        async for event in events:
            if reporter.stream.is_full:
                await reporter.stream.wait_for_room()
            match event:
                case ReplyText(text):
                    partial.pieces.append(text)
                    journal.record_text(text)
                    reporter.say(text)
                case ReplyThinking(text):
                    reporter.think(text)
                case BlockFinished(block):
                    partial.blocks.append(block)
                    partial.pieces.clear()
                    journal.record_block(block)
                case ReplyFinished():
                    return event
    raise ModelOverloaded(thread.model.name, "its reply ended in the middle.")


def _save_partial(thread: AgentThread, partial: _PartialReply) -> None:
    """Keep what the model had said when it was interrupted.

    Nothing else of the reply: its calls were never made, and providers refuse thoughts that lead to nothing. The
    journal has what arrived already, as a reply without an end, which is what it is.
    """
    said = [block.text for block in partial.blocks if isinstance(block, TextBlock)]
    text = "".join([*said, *partial.pieces])
    if text.strip():
        thread.messages.append(ModelMessage((TextBlock(text),), thread.model.name))


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
        if thread.streak.is_unanswered:
            raise LimitReached("repeated")
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
    thread.record_result(call.id, outcome)


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
