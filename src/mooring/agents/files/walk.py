"""The agent files of a folder, within bounds. In a repository no link leads out of it."""

import os
from collections.abc import Iterator, Mapping

from msgspec import Struct

from mooring.agents.definition import AgentFormat
from mooring.agents.folders import FolderScope, WalkBounds, find_folders, walk_files
from mooring.core.definitions.paths import Workspace, is_below
from mooring.core.definitions.problem import Problem
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


def list_agent_folders(workspace: Workspace) -> Iterator[AgentFolder]:
    """The folders that are there, highest first."""
    for found in find_folders(workspace, tuple(_list_rows())):
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
    for found in _walk(folder):
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


def _walk(folder: AgentFolder) -> Iterator[str | Problem]:
    # A link to a folder above would be followed in circles.
    bounds = WalkBounds(DEEPEST if folder.nested else 0, MOST_FILES + 1, follows_links=False)
    return walk_files(folder.path, bounds, lambda path: _refuse_link(path, folder.fence))


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
