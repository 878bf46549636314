"""`mooring sessions`: prints the conversations of a folder, or one of them in full, and removes them."""

from collections.abc import Iterator, Sequence
from textwrap import indent

import msgspec

from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    OpaqueBlock,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.sessions.replay import TranscriptEntry
from mooring.agents.sessions.store import SessionSummary, SubAgentTranscript
from mooring.cli.base import Globals, print_columns, print_json, say
from mooring.core.conversation.outcome import Part
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.content import Text
from mooring.display.text import count_noun, describe_base64_size, safe, safe_text, short_path
from mooring.display.times import format_local
from mooring.verbs.agent.sessions import describe_cost, list_sessions, name_speaker, show_session


def run_show(options: Globals, id: str | None, is_all: bool, lines: int) -> None:
    request = options.workspace()
    if id is not None:
        transcript = show_session(request.where, id)
        if options.json:
            # As JSON first: parts of a message may hold JSON that is kept as it came.
            print_json(msgspec.json.decode(msgspec.json.encode(transcript)))
        else:
            say(_describe_session(transcript.session))
            _print_messages(transcript.messages, transcript.sub_agents, options.verbose, "")
        return
    sessions = list_sessions(request.where, None if is_all else request.cwd, lines)
    if options.json:
        print_json({"sessions": sessions})
    elif sessions:
        head = ("ID", "LAST USED", "TURNS", "COST", "MODEL", *(["FOLDER"] if is_all else []), "FIRST WORDS")
        print_columns([head, *(_make_cells(each, request.where, is_all) for each in sessions)])
    elif not options.quiet:
        say("No conversations are stored." if is_all else _NONE_HERE, err=True)


_NONE_HERE = "No conversations of this folder are stored. To list those of all folders: mooring sessions --all"


def _make_cells(session: SessionSummary, where: Paths, is_all: bool) -> tuple[str, ...]:
    used = f"{format_local(session.used)}, open" if session.open_in is not None else format_local(session.used)
    folder = (short_path(session.folder, where.home),) if is_all else ()
    cost = describe_cost(session.cost)
    return session.id, used, str(session.turns), cost, safe(session.answerer) or "-", *folder, safe(session.title)


MARGIN = "  "
"""How far what a sub-agent said stands in."""
SHOWN_LINES = 10
"""How many lines of a result are shown unless all are asked for."""


def _print_messages(
    messages: Sequence[TranscriptEntry], sub_agents: Sequence[SubAgentTranscript], is_full: bool, margin: str
) -> None:
    """Print what was said, and what each sub-agent said where it began.

    In full, with everything that the model thought and all of every result.
    """
    waiting = list(sub_agents)
    for entry in messages:
        while waiting and waiting[0].began <= entry.at:
            _print_sub_agent(waiting.pop(0), is_full, margin)
        lines = list(_list_lines(entry.message, is_full))
        if lines:
            say()
            speaker = name_speaker(entry.message, "Task" if margin else "You")
            say(f"{margin}{speaker}, {format_local(entry.at)}{', cut off' if entry.is_cut else ''}", "title")
            say(indent("\n".join(lines), margin))
    # Whoever they worked for never got their answers.
    for sub_agent in waiting:
        _print_sub_agent(sub_agent, is_full, margin)


def _print_sub_agent(sub_agent: SubAgentTranscript, is_full: bool, margin: str) -> None:
    inner = f"{margin}{MARGIN}"
    say()
    say(f"{inner}Sub-agent {safe(sub_agent.agent)}, {format_local(sub_agent.began)}", "title")
    _print_messages(sub_agent.messages, sub_agent.sub_agents, is_full, inner)


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
        case OpaqueBlock():
            return  # only its provider understands it


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
