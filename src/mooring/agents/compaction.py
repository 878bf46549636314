"""Making room: what was said long ago becomes a summary, so that a conversation can go on past a model's window.

The model is sent less, nothing is deleted: the journal keeps every message.
"""

from collections.abc import Iterable, Sequence
from contextlib import aclosing

from msgspec.structs import replace

from mooring.agents.context import FULL_SHARE, measure_message, measure_request
from mooring.agents.history import (
    CallResult,
    Message,
    ModelMessage,
    PersonMessage,
    ResultsMessage,
    SummaryMessage,
    join_texts,
    shorten_result,
)
from mooring.agents.limits import check_limits
from mooring.agents.model import ModelRequest, ReplyFinished
from mooring.agents.thread import AgentThread
from mooring.core.conversation.event import Todo
from mooring.core.protocol.content import Text
from mooring.core.protocol.units import BYTES_PER_TOKEN
from mooring.errors import ContextOverflow, ModelError

KEPT_SHARE = 0.25
"""How much of the window, or of the history where the window is unknown, is kept as it is."""
VERBATIM_SHARE = 0.25
"""How much of it the person's own words may take. The oldest are left out if they take more."""
MOST_SHORTENINGS = 6
"""How often the history is halved for a model that has no room even to summarize it."""

_SUMMARIZE = """\
This conversation is about to be continued by somebody who has not seen it. Write down, briefly and without any \
comment, everything they need: what was asked for, what was found out (names, paths, figures), what was done and how \
it ended, what is left to do, and what was decided. Do not call any tool."""
_PREFACE = "What happened in this conversation before, as a summary:"
_SAID_BEFORE = "What the person said until then, word for word:"
_PLAN = "The plan as it stands:"
_UNSUMMARIZED = "(It could not be summarized.)"


def is_nearly_full(thread: AgentThread, system: str) -> bool:
    """Whether the next request would fill most of the model's window; false if nobody knows how large that is."""
    window = thread.model.window
    return window is not None and measure_request(thread, system) > window * FULL_SHARE


async def compact(thread: AgentThread, system: str, *, must: bool = False) -> bool:
    """Put a summary in place of what was said, except for the last of it and the person's own words.

    False if there is nothing to put a summary in place of. With `must`, the results of the last calls are cut then,
    which the model has not seen yet; false if that is no help either.

    Raises: LimitReached if the model may not be asked for a summary any more.
    """
    before = measure_request(thread, system)
    window = thread.model.window or before
    if must:
        # The provider refused what is there, so that its window is smaller than anybody told us, as with a proxy that
        # has a limit of its own. Less of the history has to be kept, however small we take it to be.
        window = min(window, sum(map(measure_message, thread.messages)))
    tail_start = _find_tail(thread.messages, round(window * KEPT_SHARE))
    head, tail = thread.messages[:tail_start], thread.messages[tail_start:]
    summary = ""
    if head:
        summary = await _summarize(thread, head)
        tail = [_make_summary(head, summary, thread.plan, round(window * VERBATIM_SHARE)), *tail]
    elif must:
        tail = _shorten_results(tail)
    if tail == thread.messages:
        return False
    _replace_history(thread, tail)
    thread.reporter.compact(summary, before, measure_request(thread, system))
    return True


async def summarize_history(thread: AgentThread, focus: str = "") -> bool:
    """Put a summary in place of everything but the last message, as the user asks for; false if there is no more.

    `focus` says what the summary is to keep above all.

    Raises: ModelError if the model can't summarize it; then the history stays as it is.
    """
    tail_start = _find_tail(thread.messages, 0)
    head, tail = thread.messages[:tail_start], thread.messages[tail_start:]
    if all(isinstance(message, SummaryMessage) for message in head):
        return False
    summary = await _try_to_summarize(thread, head, focus)
    if not summary:
        raise ModelError(thread.model.name, "it did not summarize the conversation, which stays as it is.")
    window = thread.model.window or sum(map(measure_message, thread.messages))
    _replace_history(thread, [_make_summary(head, summary, thread.plan, round(window * VERBATIM_SHARE)), *tail])
    return True


def _replace_history(thread: AgentThread, messages: list[Message]) -> None:
    thread.journal.compact(tuple(messages))
    thread.messages = messages
    thread.context_tokens = thread.counted_messages = 0


# --- what is kept -----------------------------------------------------------------------------------------------------


def _find_tail(messages: Sequence[Message], tokens: int) -> int:
    """Where the part begins that is kept as it is: the last of the conversation, as far as it fits.

    Never between calls and their results, and never nothing at all: the last message is what the model has to answer.
    """
    start = len(messages)
    taken = 0
    for index in range(len(messages) - 1, -1, -1):
        taken += measure_message(messages[index])
        if taken > tokens and start < len(messages):
            break
        if not isinstance(messages[index], ResultsMessage):
            start = index
    return start


def _make_summary(head: Sequence[Message], summary: str, plan: Sequence[Todo], verbatim_tokens: int) -> Message:
    sections = [f"{_PREFACE}\n\n{summary}"]
    said = _list_said(head, verbatim_tokens)
    if said:
        sections.append("\n\n".join([_SAID_BEFORE, *said]))
    if plan:
        steps = [f"- [{step.status}] {step.content}" for step in plan]
        sections.append("\n".join([_PLAN, *steps]))
    return SummaryMessage("\n\n".join(sections))


def _list_said(head: Sequence[Message], tokens: int) -> list[str]:
    """The person's own words, the last of them if there are too many."""
    said: list[str] = []
    for message in reversed(head):
        words = _find_own_words(message)
        tokens -= len(words.encode()) // BYTES_PER_TOKEN
        if tokens < 0:
            said.append("(What was said before that is left out.)")
            break
        if words:
            said.append(words)
    return said[::-1]


def _find_own_words(message: Message) -> str:
    match message:
        case PersonMessage(parts, synthetic=False):
            return f"> {join_texts(parts)}"
        case SummaryMessage(text):
            # An earlier summary holds the words from before it.
            return text.partition(_SAID_BEFORE)[2].partition(_PLAN)[0].strip()
        case PersonMessage() | ModelMessage() | ResultsMessage():
            return ""


# --- the summary ------------------------------------------------------------------------------------------------------


async def _summarize(thread: AgentThread, head: Sequence[Message]) -> str:
    """What the model makes of the earlier part. Without a model that can, the person's own words have to do."""
    try:
        return await _try_to_summarize(thread, head) or _UNSUMMARIZED
    except ModelError:
        return _UNSUMMARIZED


async def _try_to_summarize(thread: AgentThread, head: Sequence[Message], focus: str = "") -> str:
    """The model's summary; empty if it has no room even for a part, or says nothing. Raises: ModelError."""
    messages = _shorten_results(head)
    for _ in range(MOST_SHORTENINGS):
        try:
            return await _ask_for_summary(thread, messages, focus)
        except ContextOverflow:
            messages = _drop_oldest_half(messages)
    return ""


async def _ask_for_summary(thread: AgentThread, messages: Sequence[Message], focus: str) -> str:
    await check_limits(thread)
    words = f"{_SUMMARIZE} Above all, keep this: {focus}" if focus else _SUMMARIZE
    asked = PersonMessage((Text(words),), synthetic=True)
    request = ModelRequest("", (*messages, asked))
    async with aclosing(thread.model.reply(request)) as events:
        async for event in events:
            if isinstance(event, ReplyFinished):
                model = event.message.model
                thread.journal.record_usage(model, event.usage, event.cost)
                thread.reporter.use(model, event.usage, event.cost, thread.model.window)
                return event.message.text.strip()
    return ""


def _drop_oldest_half(messages: Sequence[Message]) -> list[Message]:
    half = list(messages[len(messages) // 2 :])
    # Results without their calls are refused by every provider.
    while half and isinstance(half[0], ResultsMessage):
        half.pop(0)
    return half


def _shorten_results(messages: Iterable[Message]) -> list[Message]:
    return [_shorten_message(message) if isinstance(message, ResultsMessage) else message for message in messages]


def _shorten_message(message: ResultsMessage) -> ResultsMessage:
    return ResultsMessage(tuple(map(_shorten_result, message.results)))


def _shorten_result(result: CallResult) -> CallResult:
    text = join_texts(result.parts)
    shortened = shorten_result(text)
    if shortened == text and len(result.parts) == 1:
        return result
    return replace(result, parts=(Text(shortened),))
