"""Calls, events and questions as plain lines, for any face: what others wrote in them is shown, never obeyed."""

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from mooring.core.call import CallChanged, CallProcessing, ConversationEvent, WatchNews, WatchUpdate, name_state
from mooring.core.content import Audio, Image, Text
from mooring.core.event import Event, ListChanged, Logged, Reloaded, StatusChanged, ToolsChanged, Troubled, Updated
from mooring.core.outcome import Outcome, Part
from mooring.core.question import Form, MissingValue, Permission, Question, Sampling, Visit
from mooring.core.status import status_error, status_word
from mooring.core.tool import Hints
from mooring.display.text import problem_line, safe, safe_text

PLUG = "🔌"
LONGEST_TITLE = 60
"""An argument of so many characters is no title any more."""

Arguments: TypeAlias = Mapping[str, Any]
Known: TypeAlias = Mapping[str, tuple[str, str]]
"""The server and the raw name behind each name that is known: `Registry.pairs`."""

_FOREIGN = re.compile(r"^mcp__(.+?)__(.+)$", re.DOTALL)


class Panel(Struct, frozen=True):
    """What can be opened to see all of a call."""

    title: str
    lines: tuple[str, ...]
    expandable: bool = True


class Renderer(Protocol):
    """How calls of some tools are shown."""

    @property
    def icon(self) -> str: ...

    def title(self, arguments: Arguments) -> str:
        """One line on what is asked for."""

    def render(self, arguments: Arguments, output: Any = None) -> Panel:
        """All of it; `output` is an `Outcome`, a text or data, `None` where there is none yet."""


class _Plain(Struct, frozen=True):
    """What was asked for, and what came of it."""

    icon: str
    heading: str
    otherwise: str
    key: str | None = None
    """The argument that makes the title; the first, where none is named."""

    def title(self, arguments: Arguments) -> str:
        value = arguments.get(self.key) if self.key else next(iter(arguments.values()), None)
        return safe(value) if isinstance(value, str) and 0 < len(value) < LONGEST_TITLE else self.otherwise

    def render(self, arguments: Arguments, output: Any = None) -> Panel:
        lines = ["Input:", *_json(arguments)]
        if output is not None:
            lines += ["", "Output:", *_output(output)]
        return Panel(self.heading, tuple(lines))


MCP: Renderer = _Plain(PLUG, "MCP Tool Result", "MCP tool call")
DEFAULT: Renderer = _Plain("⚙", "Tool Result", "tool call")
SPECIAL: Mapping[str, Renderer] = {
    "ListMcpResources": _Plain("📚", "Resources", "resources of all servers", "server"),
    "ReadMcpResource": _Plain("📖", "Resource", "a resource", "uri"),
    "SubscribeMcpResource": _Plain("👁", "Subscription", "a resource", "uri"),
    "UnsubscribeMcpResource": _Plain("👁", "Subscription", "a resource", "uri"),
    "SubscribePolling": _Plain("👁", "Polling", "a tool or resource", "toolName"),
    "UnsubscribePolling": _Plain("👁", "Polling", "a tool or resource", "target"),
    "ToolSearch": _Plain("🔎", "Tools", "tools", "query"),
    "ToolResult": _Plain("📄", "Tool Result", "a result", "id"),
}


def renderer(name: str, known: Known, special: Mapping[str, Renderer] = SPECIAL) -> Renderer:
    """How a call of this name is shown: in a way of its own, as a server's tool, or as anything else."""
    if name in special:
        return special[name]
    return MCP if name in known or split(name) is not None else DEFAULT


def split(name: str) -> tuple[str, str] | None:
    """The server and the tool that a name nobody knows seems to mean: for showing, never for calling."""
    found = _FOREIGN.match(name)
    return (found[1], found[2]) if found else None


def label(name: str, known: Known) -> str:
    """`server / tool` for the tool of a server, the name for anything else."""
    pair = known.get(name) or split(name)
    return safe(" / ".join(pair) if pair else name)


# --- what happens --------------------------------------------------------------------------------------------------


def happening(happened: ConversationEvent, known: Known) -> tuple[str, ...]:
    """What happened to the tools of a conversation."""
    match happened:
        case CallChanged(request, state):
            shown = renderer(request.name, known)
            name = label(request.name, {**known, **_pair(request.server, request.tool, request.name)})
            return (f"{shown.icon} {name} · {shown.title(request.arguments)} · {name_state(state)}{_step(state)}",)
        case WatchNews(updates):
            return tuple(map(_update, updates))


def event(changed: Event) -> str:
    """What changed about servers, in a line."""
    match changed:
        case StatusChanged(server, standing):
            why = status_error(standing)
            return f"{safe(server)}: {status_word(standing)}{_because(why)}"
        case ToolsChanged(server, added, removed, other):
            counts = ((len(added), "new"), (len(removed), "gone"), (len(other), "changed"))
            return f"{safe(server)}: tools {', '.join(f'{count} {what}' for count, what in counts if count)}"
        case ListChanged(server, what):
            return f"{safe(server)}: its {what} changed"
        case Updated(server=server, target=target, error=error, ended=ended):
            says = "is no longer watched" if ended else "cannot be read" if error else "changed"
            return f"{safe(server)}: {safe(target)} {says}{_because(error)}"
        case Logged(server, level, text):
            return f"{safe(server)} {safe(level)}: {safe(text)}"
        case Reloaded(added, removed, replaced, problems):
            signs = (("+", added), ("-", removed), ("~", replaced))
            names = [f"{sign}{safe(name)}" for sign, some in signs for name in some]
            return " ".join(
                ["configuration read again", *names, *([f"· {len(problems)} problems"] if problems else [])]
            )
        case Troubled(problem):
            return problem_line(problem) if problem.path else safe(f"{problem.message}; {problem.hint}")


def question(asked: Question) -> tuple[str, ...]:
    """What a person is asked, and all they need to answer it."""
    match asked:
        case Sampling(server, request):
            return (f"{safe(server)} wants a model to write something:", *_json(request))
        case Form(server, message, schema):
            return (f"{safe(server)} asks:", *_lines(message), *_fields(schema))
        case Visit(server, message, url):
            return (f"{safe(server)} asks you to open an address:", *_lines(message), safe(url))
        case MissingValue(server, id, description):
            options = (f"one of: {safe(', '.join(asked.options))}",) if asked.options else ()
            return (f"{safe(server)} needs a value for {safe(id)}", *_lines(description), *options)
        case Permission():
            return _permission(asked)


def _permission(asked: Permission) -> tuple[str, ...]:
    name = asked.tool if asked.server is None else f"{asked.server} / {asked.tool}"
    return (
        f"{PLUG} {safe(name)}",
        *((f"from {safe(asked.origin)}",) if asked.origin else ()),
        "Input:",
        *_json(asked.arguments),
        *((f"its server says: {', '.join(said)}",) if (said := _hints(asked.hints)) else ()),
        f"asked because {safe(asked.why)}",
        f"a rule that would answer: {safe(asked.rule)}",
    )


def _hints(hints: Hints | None) -> list[str]:
    if hints is None:
        return []
    said = {
        "only reads": hints.read_only_hint,
        "may destroy": hints.destructive_hint,
        "may be repeated": hints.idempotent_hint,
        "reaches outside": hints.open_world_hint,
    }
    return [words for words, yes in said.items() if yes]


def _because(why: str | None) -> str:
    return f" · {safe(why)}" if why else ""


def _fields(schema: Mapping[str, Any]) -> list[str]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    return [f"  {safe(str(name))}: {safe(_about(field))}" for name, field in properties.items()]


def _about(field: Any) -> str:
    return str(field.get("description") or field.get("title") or field.get("type") or "") if field else ""


def _step(state: Any) -> str:
    if not isinstance(state, CallProcessing):
        return ""
    step = state.progress
    total = "" if step is None or step.total is None else f"/{step.total:g}"
    far = "" if step is None else f" {step.progress:g}{total}{f' {safe(step.message)}' if step.message else ''}"
    return f"{far}{' in the background' if state.background else ''}"


def _update(update: WatchUpdate) -> str:
    ended = " is no longer watched" if update.ended else ""
    return f"{safe(update.server)}: {safe(update.target)}{ended} · {safe(_first_line(update.outcome.text))}"


def _first_line(text: str) -> str:
    return text[:LONGEST_TITLE].partition("\n")[0]


def _pair(server: str | None, tool: str, name: str) -> dict[str, tuple[str, str]]:
    return {} if server is None else {name: (server, tool)}


def lines(outcome: Outcome) -> list[str]:
    """What came of a call, and nothing else."""
    return [line for part in outcome.parts for line in _part(part)]


def _output(output: Any) -> list[str]:
    match output:
        case Outcome():
            return lines(output)
        case str():
            return _lines(output)
        case _:
            return _json(output)


def _part(part: Part) -> list[str]:
    match part:
        case Text(text=text):
            return _lines(text)
        case Image(data=data, mime_type=kind):
            return [f"[image {safe(kind)}, {len(data) * 3 // 4:,} bytes]"]
        case Audio(data=data, mime_type=kind):
            return [f"[audio {safe(kind)}, {len(data) * 3 // 4:,} bytes]"]


def _json(value: Any) -> list[str]:
    return _lines(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def _lines(text: str) -> list[str]:
    return safe_text(text).split("\n")
