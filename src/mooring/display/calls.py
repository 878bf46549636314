"""Calls as lines: one that says what was called and how it ended, and the beginning of what came back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring.core.conversation.event import ToolFinished, ToolStarted
from mooring.display.lines import Arguments, Known, find_renderer, include_invocation, name_tool
from mooring.display.text import Verbatim, cut_end, safe

MOST_LINES = 5
"""How many lines of what came back are shown at once."""
LONGEST_LINE = 400
"""How many characters of each."""
_TITLE_CELLS = 60

CallKind: TypeAlias = Literal["read", "search", "plan", "other"]
_KINDS: Mapping[str, CallKind] = {
    "read": "read",
    "view": "read",
    "notebookread": "read",
    "toolresult": "read",
    "grep": "search",
    "glob": "search",
    "ls": "search",
    "list": "search",
    "toolsearch": "search",
    "todowrite": "plan",
    "todoread": "plan",
    "exitplanmode": "plan",
    "sql": "plan",  # Copilot's, whose plan is in the tables of its session
}
"""What an agent's own tools do, by their names in lowercase: Mooring's, and those of other agents' programs."""
_TELLING = [
    "file_path",
    "filePath",
    "notebook_path",
    "path",
    "paths",
    "command",
    "pattern",
    "query",
    "url",
    "uri",
    "description",
    "subagent_type",
    "skill",
    "server",
    "name",
    "id",
]
"""Arguments of such tools that say what a call is about, the most telling first."""


def find_kind(event: ToolStarted | ToolFinished) -> CallKind:
    """What a call did, as far as that decides how it is shown; a server's tool may be named like anything."""
    return "other" if event.server is not None else _KINDS.get(event.name.lower(), "other")


def describe_finished(event: ToolFinished, seconds: float | None, known: Known) -> str:
    """How a call ended, in a line: `✓ 🔌 kit / echo "hi" · 12 ms`."""
    duration = "" if seconds is None else f" · {describe_duration(seconds)}"
    return f"{'✗' if event.outcome.is_error else '✓'} {name_call(event, known)}{duration}"


def name_call(event: ToolStarted | ToolFinished, known: Known) -> str:
    """What was called, and with what, as far as it is short."""
    known = include_invocation(known, event)
    renderer = find_renderer(event.name, known)
    about = _describe_arguments(event.arguments) if event.server is not None else _find_telling(event.arguments)
    return f"{renderer.icon} {name_tool(event.name, known)} {cut_end(about, _TITLE_CELLS)}".rstrip()


def title_call(event: ToolStarted | ToolFinished, known: Known) -> str:
    """What was called, and a title for it: `🔌 kit / echo · hi`, the words that tell of its progress."""
    known = include_invocation(known, event)
    renderer = find_renderer(event.name, known)
    title = renderer.title(event.arguments)
    if event.server is None or title == renderer.fallback_title:
        return name_call(event, known)
    return f"{renderer.icon} {name_tool(event.name, known)} · {title}"


def _describe_arguments(arguments: Arguments) -> str:
    """The only argument's value, or each with its name."""
    if len(arguments) == 1:
        return _write_value(next(iter(arguments.values())))
    return " ".join(f"{safe(name)}={_write_value(value)}" for name, value in arguments.items())


def _write_value(value: Any) -> str:
    # A long text needs no more of it: it is cut anyway.
    shown = value[:LONGEST_LINE] if isinstance(value, str) else value
    return safe(json.dumps(shown, ensure_ascii=False, default=str)[:LONGEST_LINE])


def _find_telling(arguments: Arguments) -> str:
    for name in _TELLING:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return safe(value.strip().partition("\n")[0][:LONGEST_LINE])
    return ""


def describe_duration(seconds: float) -> str:
    """How long something took: `12 ms`, `3.4 s`, `2 min 5 s`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


class OutputStart(Struct, frozen=True):
    """The beginning of what came back."""

    lines: tuple[str, ...]
    is_cut: bool
    left_out: int
    """How many lines are missing; none may be if only the ends of long ones are."""


def cut_output(lines: Sequence[str]) -> OutputStart:
    """The first lines of what came back, long ones cut; blank lines around it are no part of it."""
    kept = list(_strip_blank(lines))
    first = kept[:MOST_LINES]
    shown = tuple(Verbatim(line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…") for line in first)
    return OutputStart(shown, is_cut=len(kept) > MOST_LINES or shown != tuple(first), left_out=len(kept) - len(first))


def _strip_blank(lines: Sequence[str]) -> Iterator[str]:
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if filled:
        yield from lines[filled[0] : filled[-1] + 1]
