"""Prints all that was said in a session: who said it and when, with calls and results."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from textwrap import indent

from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.sessions.store import SessionSummary, SubAgentTranscript
from mooring.agents.sessions.transcript import TranscriptEntry
from mooring.cli.base import say
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Text
from mooring.display.text import count_noun, describe_base64_size, safe, safe_text
from mooring.verbs.agent.sessions import SessionTranscript

MARGIN = "  "
"""How far what a sub-agent said stands in."""
SHOWN_LINES = 10
"""How many lines of a result are shown unless all are asked for."""


def print_transcript(transcript: SessionTranscript, *, is_full: bool) -> None:
    """Print a session; in full, with everything that the model thought and all of every result."""
    say(_describe_session(transcript.session))
    _print_messages(transcript.messages, transcript.sub_agents, is_full, "")


def _print_messages(
    messages: Sequence[TranscriptEntry], sub_agents: Sequence[SubAgentTranscript], is_full: bool, margin: str
) -> None:
    """Print what was said, and what each sub-agent said where it began."""
    waiting = list(sub_agents)
    for entry in messages:
        while waiting and waiting[0].began <= entry.at:
            _print_sub_agent(waiting.pop(0), is_full, margin)
        lines = list(_list_lines(entry.message, is_full))
        if lines:
            say()
            say(f"{margin}{_make_heading(entry, 'Task' if margin else 'You')}", bold=True)
            say(indent("\n".join(lines), margin))
    # Whoever they worked for never got their answers.
    for sub_agent in waiting:
        _print_sub_agent(sub_agent, is_full, margin)


def _print_sub_agent(sub_agent: SubAgentTranscript, is_full: bool, margin: str) -> None:
    inner = f"{margin}{MARGIN}"
    say()
    say(f"{inner}Sub-agent {safe(sub_agent.agent)}, {format_local(sub_agent.began)}", bold=True)
    _print_messages(sub_agent.messages, sub_agent.sub_agents, is_full, inner)


def format_local(moment: datetime) -> str:
    """A time on the person's own clock."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


def describe_cost(cost: float | None) -> str:
    """A price, if it is known."""
    return "unknown" if cost is None else f"${cost:.2f}"


def _describe_session(session: SessionSummary) -> str:
    facts = [
        f"{session.id} in {safe(session.folder)}",
        safe(session.model),
        f"with {safe(session.backend)}" if session.backend != "api" else "",
        count_noun(session.turns, "turn"),
        f"cost {describe_cost(session.cost)}",
        f"continues {session.continues}" if session.continues is not None else "",
        f"open in process {session.open_in}" if session.open_in is not None else "",
    ]
    return ", ".join(filter(None, facts))


def _make_heading(entry: TranscriptEntry, person: str) -> str:
    cut = ", cut off" if entry.is_cut else ""
    return f"{_name_speaker(entry.message, person)}, {format_local(entry.at)}{cut}"


def _name_speaker(message: Message, person: str) -> str:
    match message:
        case PersonMessage(synthetic=True):
            return "Mooring"
        case PersonMessage():
            return person
        case ModelMessage(model=model):
            # Another agent's program need not say which model answers.
            return safe(model) or "Agent"
        case ResultsMessage():
            return "Results"
        case SummaryMessage():
            return "Summary of what was said before"


def _list_lines(message: Message, is_full: bool) -> Iterator[str]:
    match message:
        case PersonMessage(parts):
            yield from map(_show_part, parts)
        case ModelMessage(blocks):
            for block in blocks:
                yield from _show_block(block, is_full)
        case ResultsMessage(results):
            for result in results:
                yield from _show_result(result, is_full)
        case SummaryMessage(text):
            yield safe_text(text)


def _show_block(block: ReplyBlock, is_full: bool) -> Iterator[str]:
    match block:
        case TextBlock(text):
            yield safe_text(text)
        case ThinkingBlock(text):
            if is_full:
                yield f"(thought) {safe_text(text)}"
        case CallBlock(name=name, arguments=arguments):
            yield f"→ {safe(name)} {safe(arguments)}"


def _show_result(result: CallResult, is_full: bool) -> Iterator[str]:
    failed = " failed" if result.is_error else ""
    yield f"← {safe(result.name)}{failed}"
    lines = "\n".join(map(_show_part, result.parts)).split("\n")
    shown = lines if is_full else lines[:SHOWN_LINES]
    yield from (f"  {line}" for line in shown)
    left_out = len(lines) - len(shown)
    if left_out:
        yield f"  … {count_noun(left_out, 'more line')}; -v shows all"


def _show_part(part: Part) -> str:
    if isinstance(part, Text):
        return safe_text(part.text)
    return safe(f"[{part.mime_type}, {describe_base64_size(part.data)}]")
