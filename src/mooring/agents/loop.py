"""The loop of an agent: the model is asked, calls are made, and it is asked again until it has nothing left to call.

Plain functions over a thread. Everything that happens goes to the thread's reporter in order, and into its journal
before it can be lost.
"""

import asyncio
from contextlib import aclosing
from random import random

from msgspec import Struct, field

from mooring.agents.calls import make_calls
from mooring.agents.compaction import compact, is_nearly_full
from mooring.agents.history import ModelMessage, PersonMessage, ReplyBlock, ResultsMessage, TextBlock
from mooring.agents.limits import LimitReached, check_limits, make_cut_off
from mooring.agents.model import BlockFinished, ModelRequest, ReplyFinished, ReplyText, ReplyThinking
from mooring.agents.thread import AgentThread
from mooring.core.conversation.turn import EmitTurnEvent, EndOfTurn, TurnInput
from mooring.core.protocol.content import Text
from mooring.errors import ContextOverflow, ModelError, ModelOverloaded

MOST_RETRIES = 5
FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0
"""Seconds between two tries: doubled each time, or what the provider asks for."""


async def run_turn(thread: AgentThread, said: TurnInput | None, emit: EmitTurnEvent) -> None:
    """Take a conversation one turn further; without `said`, go on where it was interrupted.

    Cancelling this ends the turn and its calls, and leaves a history that the next turn can go on with. A model that
    fails ends the turn too, and is told as an event. So does a limit of the thread, as the reason of the end.
    """
    reporter = thread.reporter
    thread.begin_turn()
    reporter.begin(emit, model=thread.model.name, agent=thread.agent)
    taken = thread.find_taken_name()
    if taken is not None:
        reporter.tell_taken_name(taken)
    reason: EndOfTurn = "failed"
    try:
        reason = await _take_turn(thread, said)
    except asyncio.CancelledError:
        reason = "interrupted"
        raise
    except LimitReached as reached:
        reason = reached.reason
    except ModelError as error:
        reporter.fail(str(error))
    finally:
        reporter.end(reason, thread.last_text)


async def _take_turn(thread: AgentThread, said: TurnInput | None) -> EndOfTurn:
    await _finish_interrupted(thread)
    if said is not None:
        texts = (Text(said.text),) if said.text else ()
        thread.add(PersonMessage((*texts, *said.attachments)))
    system = thread.system()
    while True:
        thread.take_news()
        if is_nearly_full(thread, system):
            await compact(thread, system)
        finished = await _ask_patiently(thread, system)
        calls = finished.message.calls
        if finished.stop == "length":
            if calls:
                thread.add(ResultsMessage(tuple(map(make_cut_off, calls))))
            return "length"
        if not calls:
            return "finished"
        await make_calls(thread, calls)


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
        return min(asked_for, LONGEST_WAIT)
    # With some chance in it: everybody who was turned away at once would come back at once.
    seconds: float = FIRST_WAIT * 2**retries * (0.75 + random() / 2)
    return min(seconds, LONGEST_WAIT)


class _PartialReply(Struct):
    """What has arrived of a reply."""

    blocks: list[ReplyBlock] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    """The text of the block that is still arriving."""

    def take_text(self) -> str:
        """All that the model said so far."""
        texts = [block.text for block in self.blocks if isinstance(block, TextBlock)]
        return "".join([*texts, *self.pieces])


async def _ask(thread: AgentThread, system: str) -> ReplyFinished:
    await check_limits(thread)
    # Frozen here: what the model is shown stays the same for this one reply, whatever servers list meanwhile.
    request = ModelRequest(system, tuple(thread.messages), thread.tools.definitions)
    partial = _PartialReply()
    # What the person said is written before it is sent.
    await thread.journal.settle()
    try:
        finished = await _receive(thread, request, partial)
    except asyncio.CancelledError:
        _keep_partial(thread, partial)
        raise
    message = finished.message
    # What it cost first: nothing that was paid for is forgotten if this process ends in between.
    thread.journal.note_usage(message.model, finished.usage, finished.cost)
    if finished.stop == "length" and not message.calls and not message.text:
        thread.journal.drop_reply()  # providers refuse thoughts that lead to nothing
    else:
        thread.add(message)
    thread.reporter.use(message.model, finished.usage, finished.cost, thread.model.window)
    thread.context_tokens = finished.usage.input_tokens + finished.usage.output_tokens
    thread.counted_messages = len(thread.messages)
    if finished.stop == "refused" and not message.calls:
        raise ModelError(message.model, "the provider withheld the reply.", "Say it in other words.")
    return finished


async def _receive(thread: AgentThread, request: ModelRequest, partial: _PartialReply) -> ReplyFinished:
    reporter, journal = thread.reporter, thread.journal
    # Closed at once when this is cancelled, so that the provider stops writing, and charging.
    async with aclosing(thread.model.reply(request)) as events:
        async for event in events:
            match event:
                case ReplyText(text):
                    partial.pieces.append(text)
                    journal.note_text(text)
                    reporter.say(text)
                case ReplyThinking(text):
                    reporter.think(text)
                case BlockFinished(block):
                    partial.blocks.append(block)
                    partial.pieces.clear()
                    journal.note_block(block)
                case ReplyFinished():
                    return event
    raise ModelOverloaded(thread.model.name, "its reply ended in the middle.")


def _keep_partial(thread: AgentThread, partial: _PartialReply) -> None:
    """Keep what the model had said when it was interrupted.

    Nothing else of the reply: its calls were never made, and providers refuse thoughts that lead to nothing. The
    journal has what arrived already, as a reply without an end, which is what it is.
    """
    text = partial.take_text()
    if text.strip():
        thread.messages.append(ModelMessage((TextBlock(text),), thread.model.name))
