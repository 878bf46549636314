"""The agent files of a folder, within bounds. In a repository no link leads out of it."""

import os
from collections.abc import Iterator

from msgspec import Struct

from mooring.agents.files.places import AgentFolder
from mooring.agents.folders import WalkBounds, walk_files
from mooring.core.definitions.paths import is_below
from mooring.core.definitions.problem import Problem

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
