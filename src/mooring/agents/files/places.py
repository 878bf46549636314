"""Where agents are written, and under which name a file in each place is known."""

import os
from collections.abc import Iterator

from msgspec import Struct

from mooring.agents.definition import AgentFormat
from mooring.agents.folders import FolderScope, find_folders
from mooring.core.where import Viewpoint


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
    scope: FolderScope
    format: AgentFormat
    nested: bool
    fence: str | None = None
    """For a project's, its root without links: a link leads no further."""


def list_agent_folders(viewpoint: Viewpoint) -> Iterator[AgentFolder]:
    """The folders that are there, highest first."""
    for found in find_folders(viewpoint, _ROWS):
        yield AgentFolder(found.path, found.scope, found.row.format, found.row.nested, found.fence)


def name_by_file(format: AgentFormat, relative: str) -> str:
    """The name of an agent by its file's path below its folder."""
    match format:
        case "opencode":
            return relative.removesuffix(".md")
        case "copilot":
            return relative.removesuffix(".md").removesuffix(".agent")
        case "mooring" | "claude":
            return os.path.basename(relative).removesuffix(".md")
