"""One command or skill, as its file says it, and its text filled in with arguments."""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring.agents.folders import FolderRow, FolderScope, FoundFolder, find_folders
from mooring.core.definitions.paths import Workspace
from mooring.discovery.known_places import list_obeyed
from mooring.errors import ConfigError, FileError, ParseError
from mooring.files.no_follow import read_exact
from mooring.syntax.front_matter import FrontMatter, split_front_matter
from mooring.syntax.parse import decode_text

CommandTool: TypeAlias = Literal["mooring", "opencode", "copilot", "claude", "shared"]
Layout: TypeAlias = Literal["skills", "commands", "paths", "prompts"]
"""A folder per skill, files whose folders are named with a colon, the same with a slash, or `*.prompt.md`."""


_TOOLS: tuple[tuple[CommandTool, str, tuple[Layout, ...]], ...] = (
    ("mooring", "mooring", ("skills", "commands")),
    ("opencode", "opencode", ("skills", "paths")),
    ("copilot", "copilot-cli", ("skills", "prompts")),
    ("claude", "claude-code", ("skills", "commands")),
    ("shared", "shared", ("skills",)),
)
"""The tools whose commands are understood, and of which kinds; highest first."""


class CommandRow(FolderRow, frozen=True):
    tool: CommandTool
    layout: Layout


CommandFolder: TypeAlias = FoundFolder[CommandRow]


def list_folders(workspace: Workspace) -> Iterator[CommandFolder]:
    """The folders that are there, highest first."""
    rows: list[CommandRow] = []
    for tool, format, layouts in _TOOLS:
        for obeyed in list_obeyed(format):
            if obeyed.kind in layouts:
                rows.append(CommandRow(obeyed.project, obeyed.user, tool, obeyed.kind))
    return find_folders(workspace, rows)


def name_command(layout: Layout, relative: str) -> str | None:
    """The name under which a file is used, by its path in its folder; `None` if it is no command."""
    match layout:
        case "skills":
            return _name_skill(relative)
        case "commands":
            return _cut_ending(relative.replace("/", ":"), ".md")
        case "paths":
            return _cut_ending(relative, ".md")
        case "prompts":
            return _cut_ending(relative.rpartition("/")[2], ".prompt.md")


def _name_skill(relative: str) -> str | None:
    """A skill is named by its folder, which is in no other."""
    folder, _, file = relative.rpartition("/")
    is_skill = file == "SKILL.md" and folder and "/" not in folder
    return folder if is_skill else None


def _cut_ending(name: str, ending: str) -> str | None:
    return name.removesuffix(ending) if name.endswith(ending) else None


LARGEST = 256 * 1024
LONGEST_NAME = 100
LONGEST_LINE = 1_500
"""How many characters of a description are kept."""


class WrittenCommand(Struct, frozen=True, kw_only=True):
    """A text that a person sends by its name. Whatever its header says, it grants nothing and chooses no model."""

    name: str
    """As its folder has it; the name to type may be longer, if another command has this one."""
    scope: FolderScope
    tool: CommandTool
    path: str
    """As a person would look for it."""
    digest: str = ""
    """Of what its file says; a skill's other files are not part of it."""
    folder: str = ""
    """For a skill, where its other files are, without links."""
    description: str = ""
    hint: str = ""
    """Which arguments it takes, in words."""
    body: str
    is_for_model: bool = False
    """It is a skill that a model may use by itself."""
    is_for_person: bool = True

    @property
    def is_skill(self) -> bool:
        return bool(self.folder)


def read_command(folder: CommandFolder, name: str, path: str, real: str) -> WrittenCommand:
    """Read a command's file. Raises: FileError, ParseError."""
    data = read_exact(real, LARGEST)
    if data is None:
        raise FileError(path, "does not exist")
    found = split_front_matter(decode_text(data))
    is_skill = folder.row.layout == "skills"
    header = found.header.data
    return WrittenCommand(
        name=_find_name(folder, header, name),
        scope=folder.scope,
        tool=folder.row.tool,
        path=path,
        digest=sha256(data).hexdigest(),
        folder=os.path.dirname(real) if is_skill else "",
        description=_find_description(found),
        hint=_read_line(header.get("argument-hint")),
        body=found.body.strip(),
        is_for_model=is_skill and header.get("disable-model-invocation") is not True,
        is_for_person=header.get("user-invocable") is not False,
    )


def check_name(name: str) -> None:
    """Refuse a name that nobody can type, or that a terminal should not be shown. Raises: ParseError."""
    if len(name) > LONGEST_NAME or not name.isprintable() or " " in name:
        raise ParseError("has a name that cannot be typed as a command")


def _find_name(folder: CommandFolder, header: Any, name: str) -> str:
    """The name by the file; the header of a prompt file may give another."""
    if folder.row.layout == "prompts" and isinstance(header.get("name"), str):
        name = header["name"]
    check_name(name)
    return name


def _find_description(found: FrontMatter) -> str:
    described = _read_line(found.header.data.get("description"))
    if described:
        return described
    first = next((line for line in found.body.splitlines() if line.strip()), "")
    return _read_line(first.strip().lstrip("#"))


def _read_line(value: Any) -> str:
    if isinstance(value, list):  # `argument-hint: [file]` is a list to YAML
        value = " ".join(f"[{each}]" for each in value)
    return " ".join(str(value).split())[:LONGEST_LINE] if isinstance(value, str | int | float) else ""


# One pass over the text as it was written: what is filled in is never looked through again, so that no argument and no
# output can hold a command.
_SHELL = re.compile(r"!`([^`\n]+)`")
_FIELD = re.compile(r"\$ARGUMENTS\[(\d{1,2})\]|\$(ARGUMENTS)\b|\$([1-9]\d?)\b|\$\{input:([\w-]+)(?::[^{}\n]*)?\}")


class ShellPiece(Struct, frozen=True):
    """A command line whose output belongs in the text."""

    command: str


class CommandArguments:
    """What was typed behind a command's name."""

    def __init__(self, typed: str) -> None:
        self.typed = typed.strip()
        self._words = _split(self.typed)
        self._pairs = dict(word.split("=", 1) for word in self._words if "=" in word)

    def fill(self, text: str) -> str:
        """A text with the arguments in place of their fields. Raises: ConfigError if one is missing."""
        return _FIELD.sub(self._fill_one, text)

    def _fill_one(self, field: re.Match[str]) -> str:
        from_zero, all, from_one, named = field.groups()
        if all:
            return self.typed
        if named is not None:
            return self._find_named(named)
        position = int(from_zero) if from_zero is not None else int(from_one) - 1
        return self._words[position] if position < len(self._words) else ""

    def _find_named(self, name: str) -> str:
        if name in self._pairs:
            return self._pairs[name]
        if self.typed and not self._pairs:
            return self.typed
        raise ConfigError(f"The command needs {name}: write {name}=… behind its name.")


def split_pieces(body: str) -> Sequence[str | ShellPiece]:
    """The text in its order, and the command lines between."""
    pieces: list[str | ShellPiece] = []
    end = 0
    for found in _SHELL.finditer(body):
        pieces += [body[end : found.start()], ShellPiece(found[1].strip())]
        end = found.end()
    return [*pieces, body[end:]]


def has_fields(body: str) -> bool:
    """Whether a text says where its arguments belong."""
    return _FIELD.search(body) is not None


def _split(typed: str) -> list[str]:
    try:
        return shlex.split(typed)
    except ValueError:  # an apostrophe
        return typed.split()
