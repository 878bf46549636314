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
    PersonCommand,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.sessions.store import SessionSummary
from mooring.cli.base import Globals, print_columns, print_json, say
from mooring.core.conversation.outcome import Part
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.content import Text
from mooring.display.text import count_noun, describe_base64_size, safe, safe_text, short_path
from mooring.display.times import format_local
from mooring.verbs.agent.sessions import describe_cost, list_sessions, show_session
from mooring.verbs.agent.transcript import SessionTranscript, SubAgentBegins, TranscriptMessage, walk_transcript


def run_show(options: Globals, id: str | None, is_all: bool, lines: int) -> None:
    request = options.workspace()
    if id is not None:
        transcript = show_session(request.where, id)
        if options.json:
            # As JSON first: parts of a message may hold JSON that is kept as it came.
            print_json(msgspec.json.decode(msgspec.json.encode(transcript)))
        else:
            say(_describe_session(transcript.session))
            _print_transcript(transcript, options.verbose)
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


def _print_transcript(transcript: SessionTranscript, is_full: bool) -> None:
    """Print what was said, in full with everything that the model thought and all of every result."""
    for step in walk_transcript(transcript):
        margin = MARGIN * step.depth
        match step:
            case SubAgentBegins(heading=heading):
                say()
                say(f"{margin}{heading}", "title")
            case TranscriptMessage(heading=heading, message=message):
                lines = list(_list_lines(message, is_full))
                if lines:
                    say()
                    say(f"{margin}{heading}", "title")
                    say(indent("\n".join(lines), margin))


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


def _list_lines(message: Message | PersonCommand, is_full: bool) -> Iterator[str]:
    match message:
        case PersonMessage(parts):
            yield from map(_show_part, parts)
        case PersonCommand(command, output):
            yield safe_text(f"$ {command}")
            yield from _shorten_lines(safe_text(output).split("\n") if output else [], is_full)
            yield from filter(None, [message.failure])
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
    yield from (f"  {line}" for line in _shorten_lines(lines, is_full))


def _shorten_lines(lines: Sequence[str], is_full: bool) -> Iterator[str]:
    shown = lines if is_full else lines[:SHOWN_LINES]
    yield from shown
    left_out = len(lines) - len(shown)
    if left_out:
        yield f"… {count_noun(left_out, 'more line')}; -v shows all"


def _show_part(part: Part) -> str:
    if isinstance(part, Text):
        return safe_text(part.text)
    return safe(f"[{part.mime_type}, {describe_base64_size(part.data)}]")
