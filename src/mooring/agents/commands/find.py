"""All commands and skills that count in a folder, each under a name of its own; and which a model is told of."""

import asyncio
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from mooring.agents.commands.command_file import CommandFolder, WrittenCommand, list_folders, name_command, read_command
from mooring.agents.folders import Reach, UnchangedFiles, WalkBounds, make_reach, stamp_file, walk_files
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.skill import FoundSkills
from mooring.display.text import count_noun, write_marked
from mooring.errors import FileError, ParseError

MOST_FILES = 1_000
"""How many commands of one folder are used."""
DEEPEST = 4
"""How many folders a command may be in."""
_MOST_ENTRIES = 5_000

_SCOPES = ("user", "project", "builtin")
BUILT_IN = frozenset(
    {
        "?", "agent", "agents", "approve", "backend", "call", "compact", "context", "cost", "demo", "drop",
        "effort", "exit", "export", "h", "help", "keys", "mcp", "mode", "model", "new", "permissions", "pins", "prompt",
        "prompts", "q", "quit", "read", "reject", "resource", "resources", "resume", "rewind", "servers", "sessions",
        "show", "theme", "tools", "undo",
    }
)  # fmt: skip
"""What a chat understands by itself. No file takes one of these names."""


class FoundCommands(Struct, frozen=True):
    """The commands of one folder, by every name that can be typed for them."""

    by_name: Mapping[str, WrittenCommand] = {}
    names: Mapping[str, str] = {}
    """The shortest name of each command, by its path."""
    problems: tuple[Problem, ...] = ()
    taken: Mapping[str, WrittenCommand] = {}
    """The person's own command that a name would mean if no file of the project had taken it."""

    @property
    def commands(self) -> Iterator[tuple[str, WrittenCommand]]:
        """Each command that a person can use, with its shortest name, highest first."""
        for name in self.names.values():
            if self.by_name[name].is_for_person:
                yield name, self.by_name[name]

    @property
    def skills(self) -> Iterator[tuple[str, WrittenCommand]]:
        """Each skill that a model may use by itself, likewise."""
        for name in self.names.values():
            if self.by_name[name].is_for_model:
                yield name, self.by_name[name]


class CommandFiles:
    """Looks for commands again and again; a file that has not changed is not read again."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._unchanged = UnchangedFiles[WrittenCommand | Problem]()

    def find(self) -> FoundCommands:
        """What there is now. Looks at the disk; never raises."""
        self._unchanged.begin()
        problems: list[Problem] = []
        commands: list[WrittenCommand] = []
        for place in self._list_files():
            found = place if isinstance(place, Problem) else self._read_place(place)
            if isinstance(found, Problem):
                problems.append(found)
            elif found is not None:
                commands.append(found)
        return _name_all(commands, problems)

    def _list_files(self) -> "Iterator[_CommandPath | Problem]":
        reach = make_reach(self.workspace)
        for folder in list_folders(self.workspace):
            yield from _walk_folder(folder, reach)

    def _read_place(self, place: "_CommandPath") -> WrittenCommand | Problem | None:
        stamp = stamp_file(place.real)
        if stamp is None:  # it is gone by now
            return None
        return self._unchanged.read(place.path, stamp, lambda: _read_or_complain(place))


class _CommandPath(Struct, frozen=True):
    folder: CommandFolder
    name: str
    path: str
    real: str


def _walk_folder(folder: CommandFolder, reach: Reach) -> "Iterator[_CommandPath | Problem]":
    """Go through one folder. In a repository's, a link leads no further than the repository."""
    fence = reach.project if folder.scope == "project" else None

    def refuse(path: str, what: str = "folder") -> Problem | None:
        refusal = reach.find_link_refusal(folder.base, path, fence)
        return _complain(path, f"leads to a {what} that {refusal}") if refusal else None

    count = 0
    for found in walk_files(folder.path, WalkBounds(DEEPEST, _MOST_ENTRIES, follows_links=True), refuse):
        if isinstance(found, Problem):
            yield found
            continue
        command = name_command(folder.row.layout, found)
        if command is None:
            continue
        if count == MOST_FILES:
            hint = "remove those that you don't need"
            yield Problem(folder.path, f"Only the first {MOST_FILES:,} commands are used", hint)
            return
        count += 1
        path = os.path.join(folder.path, found)
        yield refuse(path, "file") or _CommandPath(folder, command, path, os.path.realpath(path))


def _read_or_complain(place: _CommandPath) -> WrittenCommand | Problem:
    try:
        return read_command(place.folder, place.name, place.path, place.real)
    except ParseError as error:
        return _complain(place.path, error.reason, error.line)
    except FileError as error:
        return _complain(place.path, error.reason)


def _complain(path: str, reason: str, line: int | None = None) -> Problem:
    return Problem(path, f"The file {reason}; it is no command", "fix or remove it", line=line, level="warning")


def _may_have(command: WrittenCommand, name: str) -> bool:
    """Whether a name doesn't say that somebody else's command is meant."""
    scope, colon, _ = name.partition(":")
    return not colon or scope not in _SCOPES or scope == command.scope


def _name_all(commands: list[WrittenCommand], problems: list[Problem]) -> FoundCommands:
    """Give each command its names: the highest gets the short one, the others those that say where they are from."""
    by_name: dict[str, WrittenCommand] = {}
    names: dict[str, str] = {}
    taken: dict[str, WrittenCommand] = {}
    for command in commands:
        possible = [
            command.name,
            f"{command.scope}:{command.name}",
            f"{command.tool}:{command.name}",
            f"{command.scope}:{command.tool}:{command.name}",
        ]
        free = [name for name in possible if name not in by_name and name not in BUILT_IN and _may_have(command, name)]
        lost = [name for name in possible if name in by_name and by_name[name].scope != command.scope]
        taken |= dict.fromkeys((name for name in lost if name not in taken), command)
        by_name |= dict.fromkeys(free, command)
        if free:
            names[command.path] = free[0]
        else:
            message = f"The command /{command.name} cannot be used: others have all of its names"
            problems.append(Problem(command.path, message, "rename its file", level="warning"))
    return FoundCommands(by_name, names, tuple(problems), taken)


class UsedCommand(Struct, frozen=True):
    """A command as it was typed."""

    name: str
    command: WrittenCommand
    typed: str
    """What is behind its name."""
    found: FoundCommands
    """All commands, as they were when it was looked for."""


async def find_used_command(files: CommandFiles, line: str) -> UsedCommand | None:
    """The command that a line begins with; `None` if it is just a line, such as one that begins with a path."""
    word, typed = split_line(line)
    if not word:
        return None
    found = await asyncio.to_thread(files.find)
    command = found.by_name.get(word)
    return UsedCommand(word, command, typed, found) if command is not None and command.is_for_person else None


def split_line(line: str) -> tuple[str, str]:
    """The word behind the slash that a line begins with, and what is behind the word; both empty without a slash."""
    if not line.startswith("/"):
        return "", ""
    word, _, rest = re.sub(r"\s", " ", line[1:], count=1).partition(" ")
    return word, rest.strip()


LONGEST_DESCRIPTION = 500
MOST_OF_ALL = 15_000
"""Characters of all of them together."""
MOST_OF_ONE = 5_000
"""Characters of the skills of one server."""

_PREFACE = (
    "There are skills: texts that say how a kind of task is done here. When a task fits one of the descriptions, read "
    "the skill with the tool Skill first. The descriptions are the skills' own words."
)
_SERVERS_PREFACE = (
    "The MCP servers below offer skills: texts that say how a kind of task is done with their tools. When a task fits "
    "one of the descriptions, read the skill with the tool Skill first. Names and descriptions are the servers' own "
    "words, not the user's."
)


def write_skills(skills: Iterable[tuple[str, WrittenCommand]]) -> str:
    """Their names and descriptions; empty if there are none."""
    lines = [_write_line(f"{name} ({skill.scope})", skill.description) for name, skill in skills]
    kept = _fit_lines(lines, MOST_OF_ALL)
    return "\n\n".join((_PREFACE, *_write_list({}, lines, kept, MOST_OF_ALL))) if kept else ""


def write_server_skills(found: FoundSkills) -> str:
    """The names and descriptions of servers' skills, marked with their server; empty if there are none."""
    sections: list[str] = []
    room = MOST_OF_ALL
    for server, offered in groupby(found.by_name.values(), lambda each: each.server):
        lines = [_write_line(each.name, each.skill.description) for each in offered]
        # A server with many skills must not take the place of all that follow.
        kept = _fit_lines(lines, min(room, MOST_OF_ONE))
        room -= sum(map(len, kept))
        sections += _write_list({"server": server}, lines, kept, MOST_OF_ONE)
    return "\n\n".join((_SERVERS_PREFACE, *sections)) if sections else ""


def _write_line(name: str, description: str) -> str:
    return f"- {name}: {description[:LONGEST_DESCRIPTION]}"


def _fit_lines(lines: Sequence[str], room: int) -> list[str]:
    """The first lines, as far as there is room for them."""
    kept: list[str] = []
    for line in lines:
        room -= len(line)
        if room < 0:
            break
        kept.append(line)
    return kept


def _write_list(attributes: Mapping[str, str], lines: Sequence[str], kept: Sequence[str], most: int) -> Iterator[str]:
    """The lines that are kept, and how many others there are."""
    yield write_marked("skills", attributes, "\n".join(kept), most * 2)
    left_out = len(lines) - len(kept)
    if left_out:
        yield f"({count_noun(left_out, 'more skill')} for which there is no room here.)"
