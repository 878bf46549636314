"""Where commands and skills are written, and under which names the files in each place are used."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.agents.folders import FolderScope, find_folders
from mooring.core.definitions.paths import Viewpoint
from mooring.discovery.known_places import list_obeyed

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


class _Row(Struct, frozen=True):
    tool: CommandTool
    layout: Layout
    project: str
    user: str


def _list_rows() -> Iterator[_Row]:
    for tool, format, layouts in _TOOLS:
        for obeyed in list_obeyed(format):
            if obeyed.kind in layouts:
                yield _Row(tool, obeyed.kind, obeyed.project, obeyed.user)


class CommandFolder(Struct, frozen=True):
    """A folder that may hold commands or skills."""

    path: str
    scope: FolderScope
    tool: CommandTool
    layout: Layout
    base: str = "/"
    """The folder of the project that it was looked for in."""


def list_folders(viewpoint: Viewpoint) -> Iterator[CommandFolder]:
    """The folders that are there, highest first."""
    for found in find_folders(viewpoint, tuple(_list_rows())):
        yield CommandFolder(found.path, found.scope, found.row.tool, found.row.layout, found.base)


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
