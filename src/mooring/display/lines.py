"""Calls, events and questions as plain lines, for any face: what others wrote in them is shown, never obeyed."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from mooring.core.conversation.event import Todo, ToolFinished, ToolProgress, ToolStarted, TurnDone, WatchChanged
from mooring.core.conversation.host_event import (
    HostEvent,
    ListChanged,
    Logged,
    Reloaded,
    StatusChanged,
    ToolsChanged,
    Troubled,
    Updated,
)
from mooring.core.conversation.outcome import Excerpt, Outcome, Part
from mooring.core.conversation.question import (
    ApplyRules,
    Approval,
    CarryOutPlan,
    ChangedIssuer,
    ChangedTools,
    ChangeFile,
    ChooseAnswerer,
    ContinueTurn,
    Form,
    KeepAnswerer,
    KeepServer,
    Login,
    MissingValue,
    Permission,
    Question,
    RemoveServer,
    RepeatedCall,
    Sampling,
    ServerDetail,
    UndoTurn,
    Visit,
    WriteServer,
)
from mooring.core.conversation.status import status_error, status_word
from mooring.core.definitions.approved import TakenName
from mooring.core.definitions.paths import is_below
from mooring.core.protocol.content import Audio, Image, Text
from mooring.core.protocol.result import Progress
from mooring.core.protocol.tool import Hints
from mooring.display.status import STATUS_WORDS
from mooring.display.text import (
    Verbatim,
    columns,
    count_noun,
    describe_base64_size,
    describe_held_back,
    exact_text,
    mark_server,
    problem_line,
    problem_without_place,
    quote_argument,
    quote_server,
    safe,
    safe_text,
    shorten_description,
)

PLUG = "🔌"
_MOST_CHOICES = 8
"""How many values of a field are named where the form is announced; all of them are when it is asked for."""
LONGEST_TITLE = 60
"""An argument of so many characters is too long for a title."""

Arguments: TypeAlias = Mapping[str, Any]
Known: TypeAlias = Mapping[str, tuple[str, str]]
"""The server and the raw name behind each name that is known: `Conversation.pairs`."""

TYPE_NAMES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "yes or no",
    "array": "list",
    "object": "JSON object",
    "null": "null",
}
"""The types of a schema, as forms name them."""

# The first `__` behind the prefix ends the server's name: `mcp__old__do__it` is `do__it` of `old`.
_FOREIGN = re.compile(r"^mcp__(.+?)__(.+)$", re.DOTALL)


class Panel(Struct, frozen=True):
    """What can be opened to see all of a call."""

    title: str
    lines: tuple[str, ...]


class Renderer(Struct, frozen=True):
    """How calls of some tools are shown: what was asked for, and what came back."""

    icon: str
    heading: str
    fallback_title: str
    title_key: str | None = None
    """The argument that makes the title; the first one if none is named."""

    def title(self, arguments: Arguments) -> str:
        """One line that says what is asked for."""
        key = self.title_key or next(iter(arguments), "")
        value = arguments.get(key)
        if isinstance(value, str) and 0 < len(value) < LONGEST_TITLE:
            return safe(value)
        return self.fallback_title

    def render(self, arguments: Arguments, output: Any = None) -> Panel:
        """All of it; `output` is an `Outcome`, a text or data, `None` as long as there is none."""
        lines = ["Input:", *_format_json(arguments)]
        if output is not None:
            lines += ["", "Output:", *_format_output(output)]
        return Panel(self.heading, tuple(lines))


MCP = Renderer(PLUG, "MCP Tool Result", "MCP tool call")
DEFAULT = Renderer("⚙", "Tool Result", "tool call")
SPECIAL: Mapping[str, Renderer] = {
    "ListMcpResources": Renderer("📚", "Resources", "resources of all servers", "server"),
    "ReadMcpResource": Renderer("📖", "Resource", "a resource", "uri"),
    "SubscribeMcpResource": Renderer("👁", "Subscription", "a resource", "uri"),
    "UnsubscribeMcpResource": Renderer("👁", "Subscription", "a resource", "uri"),
    "SubscribePolling": Renderer("👁", "Polling", "a tool or resource", "toolName"),
    "UnsubscribePolling": Renderer("👁", "Polling", "a tool or resource", "target"),
    "ToolSearch": Renderer("🔎", "Tools", "tools", "query"),
    "ToolResult": Renderer("📄", "Tool Result", "a result", "id"),
}
"""Mooring's own tools, by name."""


def find_renderer(name: str, known: Known) -> Renderer:
    """How a call of this name is shown: in a special way, as a server's tool, or as anything else."""
    if name in SPECIAL:
        return SPECIAL[name]
    is_servers_tool = name in known or split_foreign_name(name) is not None
    return MCP if is_servers_tool else DEFAULT


def split_foreign_name(name: str) -> tuple[str, str] | None:
    """The server and the tool that an unknown name seems to mean: for showing, never for calling."""
    found = _FOREIGN.match(name)
    return (found[1], found[2]) if found else None


def name_tool(name: str, known: Known) -> str:
    """`server / tool` for the tool of a server, the name for anything else."""
    pair = known.get(name) or split_foreign_name(name)
    return safe(" / ".join(pair) if pair else name)


def include_invocation(known: Known, invocation: ToolStarted | ToolProgress | ToolFinished) -> Known:
    """The known names with that of an invocation, which holds its server and raw name itself."""
    if invocation.server is None:
        return known
    return {**known, invocation.name: (invocation.server, invocation.tool)}


# --- what happens --------------------------------------------------------------------------------------------------


def describe_tool_progress(event: ToolProgress, arguments: Arguments, known: Known) -> str:
    """How far a call is that was made with these arguments."""
    renderer = find_renderer(event.name, known)
    name = name_tool(event.name, include_invocation(known, event))
    progress = "" if event.progress is None else _describe_progress(event.progress)
    background = " in the background" if event.background else ""
    title = renderer.title(arguments)
    # A title that would say nothing only takes the room of how far it is.
    about = "" if title == renderer.fallback_title else f" · {title}"
    return f"{renderer.icon} {name}{about} · processing{progress}{background}"


def _describe_progress(progress: Progress) -> str:
    total = "" if progress.total is None else f"/{progress.total:g}"
    message = f" {safe(progress.message)}" if progress.message else ""
    return f" {progress.progress:g}{total}{message}"


_STEP_MARKS = {"pending": "☐", "in_progress": "▶", "completed": "☑"}


def describe_step(step: Todo) -> str:
    """One step of a plan, with a mark that says how far it is."""
    return f"{_STEP_MARKS[step.status]} {safe(step.content)}"


def describe_watch(event: WatchChanged) -> str:
    """What something that is watched has become."""
    first_line = event.outcome.text[:LONGEST_TITLE].partition("\n")[0]
    ended = " is no longer watched" if event.ended else ""
    return f"{safe(event.server)}: {safe(event.target)}{ended} · {safe(first_line)}"


def describe_event(event: HostEvent) -> str:
    """What changed about servers, in a line."""
    match event:
        case StatusChanged(server, status):
            return f"{safe(server)}: {STATUS_WORDS[status_word(status)]}{_append_reason(status_error(status))}"
        case ToolsChanged():
            return _describe_tools_changed(event)
        case ListChanged(server, what):
            return f"{safe(server)}: its {what} changed"
        case Updated():
            return _describe_updated(event)
        case Logged(server, level, text):
            return f"{safe(server)} {safe(level)}: {safe(text)}"
        case Reloaded():
            return _describe_reloaded(event)
        case Troubled(problem):
            # Without a path it is not about a file, and `problem_line` would blame the command line.
            return problem_line(problem) if problem.path else problem_without_place(problem)


def _describe_tools_changed(event: ToolsChanged) -> str:
    kinds = ((event.added, "new tool", ""), (event.removed, "tool", " removed"), (event.changed, "tool", " changed"))
    shown = [f"{count_noun(len(tools), noun)}{change}" for tools, noun, change in kinds if tools]
    return f"{safe(event.server)}: {', '.join(shown)}"


def _describe_updated(event: Updated) -> str:
    if event.ended:
        change = "is no longer watched"
    elif event.error:
        change = "cannot be read"
    else:
        change = "changed"
    return f"{safe(event.server)}: {safe(event.target)} {change}{_append_reason(event.error)}"


def _describe_reloaded(event: Reloaded) -> str:
    changes = []
    for change, names in (("added", event.added), ("removed", event.removed), ("changed", event.replaced)):
        changes += [f"{safe(name)} {change}" for name in names]
    details = f": {', '.join(changes)}" if changes else ""
    line = f"configuration changed{details}"
    if not event.problems:
        return line
    return f"{line}; {count_noun(len(event.problems), 'problem')}: mooring mcp doctor"


def _append_reason(reason: str | None) -> str:
    return f" · {safe(reason)}" if reason else ""


# --- what is asked -------------------------------------------------------------------------------------------------


def describe_question(question: Question) -> tuple[str, ...]:
    """What a person is asked, and all they need to answer it."""
    match question:
        case Sampling(server, request):
            words = map(Verbatim, quote_server(server, "\n".join(_format_json(request))).split("\n"))
            return (f"{safe(server)} wants a model to write something:", *words)
        case Form(server, message, schema):
            return (f"{safe(server)} asks:", *quote_server(server, message).split("\n"), *_list_fields(server, schema))
        case Visit(server, message, url):
            heading = f"{safe(server)} asks you to open an address:"
            return (heading, *quote_server(server, message).split("\n"), safe(url))
        case MissingValue():
            return _describe_missing_value(question)
        case Permission():
            return _describe_permission(question)
        case RepeatedCall(times=times, arguments=arguments):
            why = f"asked about because it is call {times} in a row with the same input"
            return (*_name_call(question), "Input:", *_format_json(arguments), why)
        case ContinueTurn(requests):
            return (f"The model was asked {count_noun(requests, 'time')} in this turn and has not finished.",)
        case CarryOutPlan(plan):
            from mooring.display.markdown import MarkdownLines  # few questions show any

            return ("The plan:", *map(MarkdownLines().read, plan.split("\n")))
        case Approval(server, rows):
            return (f"{safe(server)}, asked for by this project", *columns([(f"  {row[0]}", row[1]) for row in rows]))
        case ApplyRules():
            return _describe_rules(question)
        case ChangedTools():
            return tuple(_describe_changed_tools(question))
        case KeepServer(server, path, failed):
            state = "could not be connected" if failed else "works"
            return (f"{safe(server)} was added to {safe(path)} and {state}.",)
        case ServerDetail(label=label, notes=notes, options=options):
            numbered = [f"  {number}  {safe(option)}" for number, option in enumerate(options, 1)]
            return (safe(label), *map(safe, notes), *numbered)
        case WriteServer(server, path, text, notes):
            added = [Verbatim(f"  {line}") for line in _split_exactly(text)]
            return (f"{safe(server)} will be added to {safe(path)}:", *added, *map(safe, notes))
        case RemoveServer(server, path):
            return (f"{safe(server)} will be removed from {safe(path)}.",)
        case ChangeFile(path, servers, diff, notes):
            count = count_noun(len(servers), "server")
            return (f"{count} will be written to {safe(path)}:", *_split_exactly(diff), *map(safe, notes))
        case UndoTurn():
            return tuple(_describe_undo(question))
        case Login():
            return _describe_login(question)
        case ChangedIssuer(server, issuer, former):
            was_at = f"So far its logins were at {safe(former)}."
            doubt = "If you did not expect this, ask its maker before you agree."
            return (f"{safe(server)} wants you to log in somewhere else now:", f"  {safe(issuer)}", f"{was_at} {doubt}")
        case ChooseAnswerer(options):
            offers = [(f"  {number}  {safe(name)}", safe(why)) for number, (name, why) in enumerate(options, 1)]
            return ("No one is chosen to answer yet. These could:", *columns(offers))
        case KeepAnswerer(answerer, path):
            return (
                f"{safe(answerer)} answers in this chat. To keep that for all chats, it is written to {safe(path)}.",
            )


def _describe_rules(question: ApplyRules) -> tuple[str, ...]:
    heading, rules = f"{safe(question.server)}, approved for this project", [safe(rule) for rule in question.rules]
    if len(rules) == 1:
        return heading, f"Your rule `{rules[0]}` would let its tools run without asking."
    return heading, "Your rules would let its tools run without asking:", *(f"  {rule}" for rule in rules)


def _name_call(question: Permission | RepeatedCall) -> Iterator[str]:
    name = question.tool if question.server is None else f"{question.server} / {question.tool}"
    icon = PLUG if question.server is not None else find_renderer(question.tool, {}).icon
    yield f"{icon} {safe(name)}"
    if question.agent:
        yield f"wanted by the sub-agent {safe(question.agent)}"


def describe_end(done: TurnDone) -> str:
    """Why a turn ended before the model had finished; empty if it had, or if that was told already."""
    match done.reason:
        case "finished" if done.stop:
            return f"The reply ended for a reason that Mooring doesn't know: {safe(done.stop)}."
        case "finished" | "failed":
            return ""
        case "interrupted":
            return "The turn was interrupted."
        case "max-turns":
            asked = count_noun(done.replies, "time")
            return f"The model was asked {asked}, the most in one turn (--max-turns), and had not finished."
        case "max-cost":
            cost = "" if done.cost is None else f" cost ${done.cost:.4f}, which"
            return f"The turn{cost} is as much as it may cost (--max-cost), and had not finished."
        case "token-budget":
            return f"The turn took {done.usage.total:,} tokens, its budget (--token-budget), and had not finished."
        case "repeated":
            return "The model wanted to make the same call again and again; the last one was not made."
        case "length":
            return "The reply was cut off at the longest that the model may write. Calls in it were not made."


def describe_taken_name(taken: TakenName, *, approved: bool = False) -> str:
    """Whose an agent, a command or a skill is that the project named like another, and how to reach that one.

    With the command that has it said no more, or withdraws that.
    """
    slash = "" if taken.kind == "agent" else "/"
    name, other = safe(f"{slash}{taken.name}"), safe(f"{slash}{taken.instead_of}")
    # Quoted: the project chose it, and it must not read like a part of the sentence.
    is_inside = is_below(taken.path, taken.project)
    file = quote_argument(os.path.relpath(taken.path, taken.project) if is_inside else taken.path)
    changed = ", changed since you approved it" if taken.is_changed else ""
    owner = "Mooring's" if taken.instead_of.startswith("builtin:") else "yours"
    verb = "Approved; to be told again: mooring agents reset" if approved else "To stop this: mooring agents approve"
    return (
        f"{name} is this project's {taken.kind} ({file}{changed}), not {owner}, which is {other}. "
        f"{verb} {quote_argument(taken.name)}"
    )


LONGEST_UNDO = 60
"""How many lines of a file's diff are shown before it is undone: the person saw them when they were made."""
MOST_UNDO = 10
"""How many files are named again below their diffs."""


def _describe_undo(question: UndoTurn) -> Iterator[str]:
    yield f"Undo this turn: {shorten_description(question.said)}"
    acts: list[str] = []
    for file in question.files:
        lines = _split_exactly(file.diff)
        acts.append(f"this {'removes' if '+++ /dev/null' in lines[:2] else 'restores'} {safe(file.path)}")
        yield from lines[:LONGEST_UNDO]
        if len(lines) > LONGEST_UNDO:
            yield f"… {count_noun(len(lines) - LONGEST_UNDO, 'more line')} of {safe(file.path)}"
    # Again below the diffs: these may be longer than the screen.
    yield from acts[:MOST_UNDO]
    if len(acts) > MOST_UNDO:
        yield f"… and {count_noun(len(acts) - MOST_UNDO, 'more file')}"
    if not acts:
        yield "No file changes."
    yield from map(safe, question.notes)


def _describe_login(question: Login) -> tuple[str, ...]:
    lines = [f"Log in to {safe(question.server)} at {safe(question.issuer)}:", f"  {safe(question.url)}"]
    if question.scopes:
        lines.append(f"It asks for: {safe(', '.join(question.scopes))}")
    if question.code:
        lines.append(f"Enter this code there, on any device: {safe(question.code)}")
    return tuple(lines)


def _describe_changed_tools(question: ChangedTools) -> Iterator[str]:
    instructions = [tool for tool in question.tools if tool.kind == "instructions"]
    count = len(question.tools) - len(instructions)
    yield f"{safe(question.server)}: {describe_held_back(count, instructions=bool(instructions))}"
    for tool in question.tools:
        match tool.kind:
            case "changed":
                yield f"  {safe(tool.tool)} is changed since you approved it:"
            case "new":
                yield f"  {safe(tool.tool)} is new since you approved its server:"
            case "instructions":
                yield "  What it tells models about its use has changed:"
        yield from (f"    {safe(line)}" for line in tool.diff.splitlines())


def _describe_missing_value(question: MissingValue) -> tuple[str, ...]:
    description = exact_text(question.description).split("\n")
    lines = [f"{safe(question.server)} needs a value for {safe(question.id)}", *description]
    if question.options:
        lines.append(f"one of: {safe(', '.join(question.options))}")
    return tuple(lines)


def _describe_permission(question: Permission) -> tuple[str, ...]:
    lines = [*_name_call(question)]
    if question.origin:
        lines.append(f"from {safe(question.origin)}")
    # All of it, however long: what is cut off is what a person could not have agreed to.
    if question.preview:
        lines += [*_split_exactly(question.preview), *_name_changed(question.preview)]
    else:
        lines += ["Input:", *_format_json(question.arguments)]
    hints = [] if question.server is None else _list_hints(question.hints)
    if hints:
        lines.append(f"its server says: {', '.join(hints)}")
    lines.append(f"asked because {safe(question.why)}")
    if question.times:
        lines.append(f"and it is call {question.times} in a row with the same input")
    lines += _advise_on_permission(question)
    return tuple(lines)


def _name_changed(preview: str) -> Iterator[str]:
    """The file that a diff changes, below it: of a long one, the line that names it has left the screen."""
    # Only the first lines are ours: what a file holds may look like the head of a diff.
    head = preview.split("\n", 2)[:2]
    if len(head) == 2 and head[0].startswith("--- ") and head[1].startswith("+++ "):
        yield f"this changes {safe(head[1].removeprefix('+++ '))}"


def _advise_on_permission(question: Permission) -> Iterator[str]:
    """How to stop being asked, where that is possible, and why it isn't elsewhere."""
    if "reads" in question.scopes and question.server is not None:
        server = safe(question.server)
        yield f"reads: trusts {server} from now on, so that you aren't asked about tools that it says only read"
    if question.limit:
        yield f"not always: {safe(question.limit)}"
    if question.rule:
        yield Verbatim(f"a rule that would answer: {safe(question.rule)}")
    elif question.option:
        answer = "answer always, or " if "always" in question.scopes else ""
        yield f"to stop being asked: {answer}add {safe(question.option)} to the command"


def _list_hints(hints: Hints | None) -> list[str]:
    if hints is None:
        return []
    words = {
        "only reads": hints.read_only_hint,
        "may destroy": hints.destructive_hint,
        "may be repeated": hints.idempotent_hint,
        "reaches outside": hints.open_world_hint,
    }
    return [word for word, is_claimed in words.items() if is_claimed]


def _list_fields(server: str, schema: Mapping[str, Any]) -> list[str]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    mark = mark_server(server)
    return [f"{mark}   {safe(str(name))}: {safe(_describe_field(field))}" for name, field in properties.items()]


def _describe_field(field: Any) -> str:
    # A property may also be `true`, which allows anything and says nothing.
    if not isinstance(field, Mapping):
        return ""
    description = field.get("description") or field.get("title")
    if description:
        return str(description)
    choices = field.get("enum")
    if isinstance(choices, list) and choices:
        more = ", …" if len(choices) > _MOST_CHOICES else ""
        return f"one of {', '.join(map(str, choices[:_MOST_CHOICES]))}{more}"
    kind = str(field.get("type") or "")
    return TYPE_NAMES.get(kind, kind)


# --- what came back ------------------------------------------------------------------------------------------------


def describe_outcome(outcome: Outcome) -> list[str]:
    """What a call returned, and nothing else, in words for a person."""
    if outcome.for_person:
        return _split_lines(outcome.for_person)
    parts = list(outcome.parts)
    lines: list[str] = []
    if outcome.excerpt is not None:
        lines += describe_excerpt(outcome.excerpt)
        parts = [part for part in parts if not isinstance(part, Text)]
    for part in parts:
        lines += _describe_part(part)
    return lines


def describe_excerpt(excerpt: Excerpt) -> list[str]:
    """The two ends of a long text, and how much is missing between them."""
    return [*_split_lines(excerpt.head), f"… {excerpt.left_out} …", *_split_lines(excerpt.tail)]


def _describe_part(part: Part) -> list[str]:
    match part:
        case Text(text=text):
            return _split_lines(text)
        case Image(data=data, mime_type=kind):
            return [f"[image {safe(kind)}, {describe_base64_size(data)}]"]
        case Audio(data=data, mime_type=kind):
            return [f"[audio {safe(kind)}, {describe_base64_size(data)}]"]


def _format_output(output: Any) -> list[str]:
    match output:
        case Outcome():
            return describe_outcome(output)
        case str():
            return _split_lines(output)
        case _:
            return _format_json(output)


def _format_json(value: Any) -> list[str]:
    return _split_exactly(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def _split_lines(text: str) -> list[str]:
    return [Verbatim(line) for line in safe_text(text).split("\n")]


def _split_exactly(text: str) -> list[str]:
    """The lines of something that a person decides about: whatever is not what it seems is shown as an escape."""
    return [Verbatim(line) for line in exact_text(text).split("\n")]
