"""Where agents are written, and under which name a file in each place is known."""

import os
from collections.abc import Iterator, Mapping

from msgspec import Struct

from mooring.agents.definition import AgentFormat
from mooring.agents.folders import FolderScope, find_folders
from mooring.core.definitions.paths import Viewpoint
from mooring.discovery.known_places import list_obeyed

_TOOLS: Mapping[AgentFormat, str] = {
    "mooring": "mooring",
    "opencode": "opencode",
    "copilot": "copilot-cli",
    "claude": "claude-code",
}
"""The tools whose agents are understood, by their forms; highest first."""


class _Row(Struct, frozen=True):
    format: AgentFormat
    project: str
    user: str
    nested: bool


def _list_rows() -> Iterator[_Row]:
    for format, tool in _TOOLS.items():
        for obeyed in list_obeyed(tool):
            if obeyed.kind == "agents":
                yield _Row(format, obeyed.project, obeyed.user, obeyed.nested)


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
    for found in find_folders(viewpoint, tuple(_list_rows())):
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
