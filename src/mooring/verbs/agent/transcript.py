"""A stored conversation in the order in which it was had: each message, and each sub-agent where it began."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from mooring.agents.history import (
    Message,
    ModelMessage,
    PersonCommand,
    PersonMessage,
    ResultsMessage,
    SummaryMessage,
)
from mooring.agents.sessions.replay import TranscriptEntry
from mooring.agents.sessions.store import SessionSummary, SubAgentTranscript
from mooring.display.text import safe
from mooring.display.times import format_local


class SessionTranscript(Struct, frozen=True, rename="camel"):
    """A session and all that was said in it."""

    session: SessionSummary
    messages: tuple[TranscriptEntry, ...]
    sub_agents: tuple[SubAgentTranscript, ...] = ()


class TranscriptMessage(Struct, frozen=True):
    """Something that was said or done, and how many sub-agents it is inside of."""

    depth: int
    heading: str
    """Who said it, and when; safe to show."""
    message: Message | PersonCommand


class SubAgentBegins(Struct, frozen=True):
    """A sub-agent begins to work; what it says and does follows, one deeper."""

    depth: int
    heading: str
    """Its name, and when; safe to show."""


TranscriptStep: TypeAlias = TranscriptMessage | SubAgentBegins


def walk_transcript(transcript: SessionTranscript) -> Iterator[TranscriptStep]:
    """All of a conversation, with what each sub-agent said where it began."""
    yield from _walk(transcript.messages, transcript.sub_agents, 0)


def _walk(
    messages: Sequence[TranscriptEntry], sub_agents: Sequence[SubAgentTranscript], depth: int
) -> Iterator[TranscriptStep]:
    waiting = list(sub_agents)
    for entry in messages:
        while waiting and waiting[0].began <= entry.at:
            yield from _walk_sub_agent(waiting.pop(0), depth + 1)
        yield TranscriptMessage(depth, _describe_entry(entry, depth), entry.message)
    # Whoever they worked for never got their answers.
    for sub_agent in waiting:
        yield from _walk_sub_agent(sub_agent, depth + 1)


def _walk_sub_agent(sub_agent: SubAgentTranscript, depth: int) -> Iterator[TranscriptStep]:
    yield SubAgentBegins(depth, f"Sub-agent {safe(sub_agent.agent)}, {format_local(sub_agent.began)}")
    yield from _walk(sub_agent.messages, sub_agent.sub_agents, depth)


def _describe_entry(entry: TranscriptEntry, depth: int) -> str:
    # A sub-agent is given its task by another agent.
    speaker = _name_speaker(entry.message, "Task" if depth else "You")
    return f"{speaker}, {format_local(entry.at)}{', cut off' if entry.is_cut else ''}"


def _name_speaker(message: Message | PersonCommand, person: str) -> str:
    """Who said it: `person` is the word for whoever gave the task."""
    match message:
        case PersonMessage(synthetic=True):
            return "Mooring"
        case PersonMessage():
            return person
        case PersonCommand():
            return f"{person} in the shell"
        case ModelMessage(model=model):
            # Another agent's program need not say which model answers.
            return safe(model) or "Agent"
        case ResultsMessage():
            return "Results"
        case SummaryMessage():
            return "Summary of what was said before"
