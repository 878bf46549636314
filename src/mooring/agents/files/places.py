"""Where agents are written, and under which name a file in each place is known."""

import os
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from mooring import files
from mooring.agents.definition import AgentFormat
from mooring.core.where import Viewpoint
from mooring.discovery.format import locate, user_file


class _Row(Struct, frozen=True):
    format: AgentFormat
    project: str
    user: str
    nested: bool = True
    """Whether agents in folders below count."""


# Highest first. OpenCode reads both of its folders' names.
_ROWS = (
    _Row("mooring", ".mooring/agents", "{mooring}/agents"),
    _Row("opencode", ".opencode/agents", "{xdg}/opencode/agents"),
    _Row("opencode", ".opencode/agent", "{xdg}/opencode/agent"),
    _Row("copilot", ".github/agents", "${COPILOT_HOME:-~/.copilot}/agents", nested=False),
    _Row("claude", ".claude/agents", "${CLAUDE_CONFIG_DIR:-~/.claude}/agents"),
)


class AgentFolder(Struct, frozen=True, gc=False):
    """A folder that holds agent files."""

    path: str
    scope: Literal["project", "user"]
    format: AgentFormat
    nested: bool
    fence: str | None = None
    """For a project's, its root without links: a link leads no further."""


def list_agent_folders(viewpoint: Viewpoint) -> Iterator[AgentFolder]:
    """The folders that are there, highest first: the project's, nearer ones before farther ones, then the person's."""
    located = [(row, locate(user_file(row.user), viewpoint.where)) for row in _ROWS]
    if viewpoint.project:
        own = {os.path.realpath(path) for _, path in located if path is not None}
        yield from _list_project_folders(viewpoint, own)
    for row, path in located:
        if path is not None and os.path.isdir(path):
            yield AgentFolder(path, "user", row.format, row.nested)


def _list_project_folders(viewpoint: Viewpoint, own: set[str]) -> Iterator[AgentFolder]:
    above = files.project_folders(viewpoint.cwd)
    fence = os.path.realpath(above[-1])
    for row in _ROWS:
        for folder in above:
            path = os.path.join(folder, row.project)
            # Whoever works in their home folder has their own files there, not those of a project.
            if os.path.isdir(path) and os.path.realpath(path) not in own:
                yield AgentFolder(path, "project", row.format, row.nested, fence)


def name_by_file(format: AgentFormat, relative: str) -> str:
    """The name of an agent by its file's path below its folder."""
    match format:
        case "opencode":
            return relative.removesuffix(".md")
        case "copilot":
            return relative.removesuffix(".md").removesuffix(".agent")
        case "mooring" | "claude":
            return os.path.basename(relative).removesuffix(".md")
