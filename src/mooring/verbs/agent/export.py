"""A stored conversation as a Markdown file: what was said, each call with its result, and what sub-agents did."""

import os
import re
from collections.abc import Iterator

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
    join_texts,
)
from mooring.agents.sessions.store import SessionSummary
from mooring.core.definitions.paths import Workspace
from mooring.display.text import count_noun, safe, safe_text
from mooring.display.times import format_local
from mooring.errors import ConfigError
from mooring.files.writing import create
from mooring.verbs.agent.sessions import describe_cost, show_session
from mooring.verbs.agent.transcript import SessionTranscript, SubAgentBegins, TranscriptMessage, walk_transcript

_DEEPEST_HEADING = 6


def export_session(workspace: Workspace, id: str, file: str) -> str:
    """Write a conversation to a new file, relative to the working folder; its name. Without one, the id names it.

    Raises: ConfigError if the file exists, or its folder doesn't; FileError.
    """
    name = file or f"conversation-{id}.md"
    path = os.path.join(workspace.cwd, _expand_home(workspace, name))
    if not os.path.isdir(os.path.dirname(path)):
        raise ConfigError(f"{os.path.dirname(name)} is not a folder.", "Name a file in one that exists.")
    if os.path.isdir(path):
        raise ConfigError(f"{name} is a folder.", "Name a file in it.")
    if os.path.lexists(path):
        raise ConfigError(f"{name} exists already.", "Nothing was written: choose another name.")
    text = write_markdown(show_session(workspace.where, id))
    create(path, [text.encode(errors="replace")])
    return name


def _expand_home(workspace: Workspace, file: str) -> str:
    return os.path.join(workspace.where.home, file[2:]) if file.startswith("~/") else file


def write_markdown(transcript: SessionTranscript) -> str:
    """A conversation as Markdown; nothing that was said in it can look like a heading of ours, or steer a terminal."""
    session = transcript.session
    sections = [f"# {safe(session.title) or 'A conversation'}", "\n".join(_list_facts(session))]
    sections += _list_sections(transcript)
    return "\n\n".join(sections) + "\n"


def _list_facts(session: SessionSummary) -> Iterator[str]:
    yield f"- Conversation {session.id} in {safe(session.folder)}"
    yield f"- With {safe(session.answerer)}, {count_noun(session.turns, 'turn')}, cost {describe_cost(session.cost)}"
    yield f"- {format_local(session.created)} to {format_local(session.used)}"
    if session.continues is not None:
        yield f"- Continues {session.continues}"


def _list_sections(transcript: SessionTranscript) -> Iterator[str]:
    for step in walk_transcript(transcript):
        # A sub-agent has a heading of its own above those of what it said.
        level = 2 + 2 * step.depth
        match step:
            case SubAgentBegins(heading=heading):
                yield _write_heading(level - 1, heading)
            case TranscriptMessage(heading=heading, message=message):
                body = list(_list_parts(message))
                if body:
                    yield _write_heading(level, heading)
                    yield from body


def _write_heading(level: int, text: str) -> str:
    return f"{'#' * min(level, _DEEPEST_HEADING)} {text}"


def _list_parts(message: Message | PersonCommand) -> Iterator[str]:
    match message:
        case PersonMessage(parts):
            yield _write_prose(join_texts(parts))
        case PersonCommand(command, output):
            yield _write_fence("\n".join(filter(None, (f"$ {command}", output, message.failure))))
        case ModelMessage(blocks):
            for block in blocks:
                yield from _list_block(block)
        case ResultsMessage(results):
            for result in results:
                yield from _list_result(result)
        case SummaryMessage(text):
            yield _write_prose(text)


def _list_block(block: ReplyBlock) -> Iterator[str]:
    match block:
        case TextBlock(text):
            if text.strip():
                yield _write_prose(text)
        case ThinkingBlock() | OpaqueBlock():
            return  # nobody was told
        case CallBlock(name=name, arguments=arguments):
            yield f"Calls {_write_code(name)}:"
            yield _write_fence(arguments, "json")


def _list_result(result: CallResult) -> Iterator[str]:
    yield f"{_write_code(result.name)} {'failed' if result.is_error else 'returned'}:"
    yield _write_fence(join_texts(result.parts))


def _write_prose(text: str) -> str:
    """What somebody said, which may be Markdown itself; its headings are no sections of the conversation."""
    lines = []
    fence = ""
    for line in safe_text(text).strip().split("\n"):
        mark = re.match(r" {0,3}(```+|~~~+)", line)
        if mark is not None and not fence:
            fence = mark[1]
        elif mark is not None and mark[1].startswith(fence):
            fence = ""
        lines.append(line if fence else re.sub(r"^( {0,3})(#{1,6}(?:\s|$))", r"\1\\\2", line))
    # A block of code that was cut off must not take in what follows.
    return "\n".join([*lines, fence] if fence else lines)


def _write_fence(text: str, language: str = "") -> str:
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{safe_text(text).rstrip()}\n{fence}"


def _write_code(name: str) -> str:
    return f"`{safe(name).replace('`', '')}`"
