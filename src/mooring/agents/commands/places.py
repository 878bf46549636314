"""Where commands and skills are written, and under which names the files in each place are used."""

import os
from collections.abc import Iterator
from itertools import product
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring import files
from mooring.core.where import Viewpoint
from mooring.discovery.format import locate, user_file

CommandScope: TypeAlias = Literal["project", "user"]
CommandTool: TypeAlias = Literal["mooring", "opencode", "copilot", "claude", "shared"]
Layout: TypeAlias = Literal["skills", "commands", "paths", "prompts"]
"""A folder per skill, files whose folders are named with a colon, the same with a slash, or `*.prompt.md`."""


class _Row(Struct, frozen=True):
    tool: CommandTool
    layout: Layout
    project: str
    user: str


# Highest first. OpenCode reads both of its folders' names.
_ROWS = (
    _Row("mooring", "skills", ".mooring/skills", "{mooring}/skills"),
    _Row("mooring", "commands", ".mooring/commands", "{mooring}/commands"),
    _Row("opencode", "skills", ".opencode/skills", "{xdg}/opencode/skills"),
    _Row("opencode", "skills", ".opencode/skill", "{xdg}/opencode/skill"),
    _Row("opencode", "paths", ".opencode/commands", "{xdg}/opencode/commands"),
    _Row("opencode", "paths", ".opencode/command", "{xdg}/opencode/command"),
    _Row("copilot", "skills", ".github/skills", "${COPILOT_HOME:-~/.copilot}/skills"),
    _Row("copilot", "prompts", ".github/prompts", ""),
    _Row("claude", "skills", ".claude/skills", "${CLAUDE_CONFIG_DIR:-~/.claude}/skills"),
    _Row("claude", "commands", ".claude/commands", "${CLAUDE_CONFIG_DIR:-~/.claude}/commands"),
    _Row("shared", "skills", ".agents/skills", "~/.agents/skills"),
)


class CommandFolder(Struct, frozen=True):
    """A folder that may hold commands or skills."""

    path: str
    scope: CommandScope
    tool: CommandTool
    layout: Layout
    base: str = "/"
    """The folder of the project that it was looked for in."""


def list_folders(viewpoint: Viewpoint) -> Iterator[CommandFolder]:
    """The folders that are there, highest first: the project's, nearer ones before farther ones, then the person's."""
    located = [(row, locate(user_file(row.user), viewpoint.where) if row.user else None) for row in _ROWS]
    own = {os.path.realpath(path) for _, path in located if path is not None}
    if viewpoint.project:
        above = files.project_folders(viewpoint.cwd)
        for row, base in product(_ROWS, above):
            path = os.path.join(base, row.project)
            # Whoever works in their home folder has their own files there, not those of a project.
            if os.path.isdir(path) and os.path.realpath(path) not in own:
                yield CommandFolder(path, "project", row.tool, row.layout, base)
    for row, found in located:
        if found is not None and os.path.isdir(found):
            yield CommandFolder(found, "user", row.tool, row.layout)


def name_command(layout: Layout, relative: str) -> str | None:
    """The name under which a file is used, by its path in its folder; `None` if it is no command."""
    folder, _, file = relative.rpartition("/")
    match layout:
        case "skills":
            return folder if file == "SKILL.md" and folder and "/" not in folder else None
        case "commands":
            return relative.removesuffix(".md").replace("/", ":") if file.endswith(".md") else None
        case "paths":
            return relative.removesuffix(".md") if file.endswith(".md") else None
        case "prompts":
            return file.removesuffix(".prompt.md") if file.endswith(".prompt.md") else None
