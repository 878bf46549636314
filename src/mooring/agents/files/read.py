"""The agent files of a folder, and one of them into a definition. Whatever its header says, it grants nothing."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any, TypeAlias

from msgspec import Struct

from mooring import files
from mooring.agents.definition import AgentDefinition, AgentFormat, AgentOrigin
from mooring.agents.files.selecting import ToolDraft, read_denials, read_permission, read_tools
from mooring.agents.files.tool_words import read_model
from mooring.agents.folders import FolderRow, FoundFolder, WalkBounds, find_folders, walk_files
from mooring.core.definitions.paths import Workspace, is_below
from mooring.core.definitions.problem import Problem, Severity
from mooring.discovery.known_places import list_obeyed
from mooring.errors import FileError, ParseError
from mooring.files.no_follow import read_exact
from mooring.syntax.front_matter import FrontMatter, split_front_matter
from mooring.syntax.parse import decode_text

_TOOLS: Mapping[AgentFormat, str] = {
    "mooring": "mooring",
    "opencode": "opencode",
    "copilot": "copilot-cli",
    "claude": "claude-code",
}
"""The tools whose agents are understood, by their forms; highest first."""


class AgentRow(FolderRow, frozen=True):
    format: AgentFormat
    nested: bool


AgentFolder: TypeAlias = FoundFolder[AgentRow]


def list_agent_folders(workspace: Workspace) -> Iterator[AgentFolder]:
    """The folders that are there, highest first."""
    rows: list[AgentRow] = []
    for format, tool in _TOOLS.items():
        agents = (obeyed for obeyed in list_obeyed(tool) if obeyed.kind == "agents")
        rows += [AgentRow(each.project, each.user, format, each.nested) for each in agents]
    return find_folders(workspace, rows)


def name_by_file(format: AgentFormat, relative: str) -> str:
    """The name of an agent by its file's path below its folder."""
    match format:
        case "opencode":
            return relative.removesuffix(".md")
        case "copilot":
            return relative.removesuffix(".md").removesuffix(".agent")
        case "mooring" | "claude":
            return os.path.basename(relative).removesuffix(".md")


MOST_FILES = 10_000
"""How many agents of one folder are read."""
DEEPEST = 8
"""How many folders an agent may be in."""


class AgentPath(Struct, frozen=True, gc=False):
    """A file that defines an agent, and its path below the folder of agents that it is in."""

    folder: AgentFolder
    path: str
    relative: str


def list_agent_files(folder: AgentFolder) -> Iterator[AgentPath | Problem]:
    """The agent files of a folder in a stable order, and what keeps others from being read."""
    count = 0
    # A link to a folder above would be followed in circles.
    bounds = WalkBounds(DEEPEST if folder.row.nested else 0, MOST_FILES + 1, follows_links=False)
    for found in walk_files(folder.path, bounds, lambda path: _refuse_link(path, folder.fence)):
        if isinstance(found, Problem):
            yield found
            continue
        if not found.endswith(".md"):
            continue
        if count == MOST_FILES:
            yield _say_too_many(folder)
            return
        count += 1
        yield _check(folder, found)


def _check(folder: AgentFolder, relative: str) -> AgentPath | Problem:
    path = f"{folder.path}/{relative}"
    # Only a link can lead anywhere else: the folders on the way are none.
    refused = _refuse_link(path, folder.fence) if os.path.islink(path) else None
    return refused or AgentPath(folder, path, relative)


def _refuse_link(path: str, fence: str | None) -> Problem | None:
    if fence is None or is_below(os.path.realpath(path), fence):
        return None
    return Problem(
        path,
        "It is a link that leads out of the project, so it is not read",
        "put a copy of it in the project",
        level="warning",
    )


def _say_too_many(folder: AgentFolder) -> Problem:
    return Problem(
        folder.path,
        f"Only the first {MOST_FILES:,} agents of the folder are read",
        "remove those that you don't need",
        level="warning",
    )


LARGEST = 256 * 1024
LONGEST_NAME = 100
LONGEST_DESCRIPTION = 2_000
MOST_SERVERS = 50

_TOOL_KEYS: Mapping[str, Callable[[ToolDraft, str, Any], None]] = {
    "tools": read_tools,
    "disallowedTools": read_denials,
    "permission": read_permission,
}
_SERVER_KEYS = ("mcpServers", "mcp-servers")
_TURN_KEYS = ("maxTurns", "steps", "maxSteps")
_TURNS = re.compile(r"[1-9][0-9]{0,5}")
_WITHOUT_EFFECT = ("permissionMode", "hooks")


class ReadAgent(Struct, frozen=True):
    """What a file comes to: an agent unless it is none, and what is wrong with it."""

    definition: AgentDefinition | None
    problems: tuple[Problem, ...] = ()


def read_agent(place: AgentPath) -> ReadAgent:
    """Read a file. Never raises for what it holds."""
    try:
        data = _read_file(place)
        found = split_front_matter(decode_text(data or b""))
    except FileError as error:
        return _refuse(place, error.reason)
    except ParseError as error:
        return _refuse(place, error.reason, error.line)
    if not found.header.data and (
        place.folder.row.format == "claude" or place.relative.casefold().endswith("readme.md")
    ):
        # Claude Code takes such a file for a note that somebody left among the agents.
        return ReadAgent(None)
    return _AgentReader(place, found, sha256(data or b"").hexdigest()).read()


def _read_file(place: AgentPath) -> bytes | None:
    fence = place.folder.fence
    if fence is None:
        return files.read(place.path, LARGEST)
    real = os.path.realpath(place.path)
    if not is_below(real, fence):
        raise FileError(place.path, "leads out of the project by now")
    # Exactly what was looked at, wherever a link leads a moment later.
    return read_exact(real, LARGEST)


def _refuse(place: AgentPath, reason: str, line: int | None = None) -> ReadAgent:
    problem = Problem(
        place.path, f"The agent's file {reason}", "fix or remove it; until then it is left out", line=line
    )
    return ReadAgent(None, (problem,))


_Complaint: TypeAlias = tuple[str, str, str, Severity]
"""A key, what is wrong with it as the end of a sentence, what to do, and how bad it is."""


class _AgentReader:
    def __init__(self, place: AgentPath, found: FrontMatter, digest: str) -> None:
        self._place = place
        self._digest = digest
        self._header: Mapping[str, Any] = found.header.data
        self._found = found
        self._complaints: list[_Complaint] = []

    def read(self) -> ReadAgent:
        name = self._find_name()
        if str(self._header.get("disable")).casefold() == "true":
            self._complain("disable", "is true: the agent is left out", level="note")
            return ReadAgent(None, self._make_problems())
        if not name.isprintable() or not name.strip() or len(name) > LONGEST_NAME or name.startswith("-"):
            self._complain("name", "cannot be used as a name", "use up to 100 letters, digits and hyphens")
            return ReadAgent(None, self._make_problems())
        return ReadAgent(self._define(name), self._make_problems())

    def _define(self, name: str) -> AgentDefinition:
        folder = self._place.folder
        format = folder.row.format
        draft = self._draft_tools()
        asked = read_model(self._header.get("model"), folder.scope, format)
        if asked.refusal:
            self._complain("model", asked.refusal, "without it, the agent uses the model of the conversation", "note")
        self._report_without_effect()
        return AgentDefinition(
            name=name,
            description=self._read_text("description")[:LONGEST_DESCRIPTION],
            prompt=self._found.body.strip() or self._read_prompt(),
            tools=draft.make_selection(),
            written_tools=draft.written,
            written_denials=tuple(draft.written_denials),
            rules=tuple(draft.rules),
            startable=draft.startable,
            model=asked.model,
            max_turns=self._read_turns(),
            servers=self._read_servers(),
            origin=AgentOrigin(folder.scope, format, self._place.path, self._digest),
        )

    def _find_name(self) -> str:
        format = self._place.folder.row.format
        by_file = name_by_file(format, self._place.relative)
        written = self._header.get("name")
        # For OpenCode and Copilot the file's name counts; Copilot only shows the other one.
        is_named_inside = format in ("mooring", "claude") and isinstance(written, str)
        return written.strip() if is_named_inside and isinstance(written, str) else by_file

    def _read_text(self, key: str) -> str:
        value = self._header.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            self._complain(key, "has to be a text", "put it in quotation marks", "warning")
            return ""
        return " ".join(value.split())

    def _read_prompt(self) -> str:
        """OpenCode's key for the text, where none follows the header."""
        value = self._header.get("prompt")
        if isinstance(value, str) and value.strip().startswith("{file:"):
            self._complain("prompt", "names a file, which is not read", "write the text below the header", "warning")
            return ""
        return value.strip() if isinstance(value, str) else ""

    def _draft_tools(self) -> ToolDraft:
        draft = ToolDraft()
        for key, read in _TOOL_KEYS.items():
            if key in self._header:
                read(draft, key, self._header[key])
        for key, complaint in draft.complaints.items():
            self._complain(key, complaint, "see the page on agents", "warning")
        return draft

    def _report_without_effect(self) -> None:
        written = [key for key in _WITHOUT_EFFECT if self._header.get(key) not in (None, "default")]
        for key in written:
            self._complain(
                key, "has no effect here", "your own rules decide about calls, and files run nothing", "note"
            )

    def _read_turns(self) -> int | None:
        for key in _TURN_KEYS:
            if key not in self._header:
                continue
            value = str(self._header[key])
            if _TURNS.fullmatch(value):
                return int(value)
            self._complain(key, "has to be a number from 1 on", "without it, there is no limit", "warning")
        return None

    def _read_servers(self) -> Mapping[str, Mapping[str, Any]]:
        """The servers that a file defines. Those that it only names are configured elsewhere."""
        found: dict[str, Mapping[str, Any]] = {}
        for key in _SERVER_KEYS:
            for name, entry in _list_servers(self._header.get(key)):
                if isinstance(entry, Mapping) and len(found) < MOST_SERVERS:
                    found[name] = entry
                elif not isinstance(entry, str):
                    self._complain(key, f"has no definition for {name!r}", "write a command or a url", "warning")
        return found

    def _complain(self, key: str, what: str, hint: str = "", level: Severity = "error") -> None:
        self._complaints.append((key, what, hint, level))

    def _make_problems(self) -> tuple[Problem, ...]:
        return tuple(
            Problem(self._place.path, f"`{key}` {what}", hint, line=self._found.header.line([key]), level=level)
            for key, what, hint, level in self._complaints
        )


def _list_servers(written: Any) -> Iterator[tuple[str, Any]]:
    """The servers of a file, each with its definition or, if it is only named, its name again."""
    if isinstance(written, Mapping):
        yield from written.items()
    elif isinstance(written, list):
        for each in written:
            if isinstance(each, Mapping):
                yield from each.items()
            else:
                yield str(each), str(each)
