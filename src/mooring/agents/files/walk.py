"""The agent files of a folder, within bounds. In a repository no link leads out of it."""

import os
from collections.abc import Iterator

from msgspec import Struct

from mooring.agents.files.places import AgentFolder
from mooring.core.problem import Problem
from mooring.core.where import is_below
from mooring.errors import FileError
from mooring.files.listing import list_folder

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
    if not _is_inside(folder.path, folder.fence):
        yield _refuse_link(folder.path)
        return
    found = _walk(folder.path, "", DEEPEST if folder.nested else 0)
    for count, relative in enumerate(found):
        if count == MOST_FILES:
            yield Problem(
                folder.path,
                f"Only the first {MOST_FILES:,} agents of the folder are read",
                "remove those that you don't need",
                level="warning",
            )
            return
        path = f"{folder.path}/{relative}"
        # Only a link can lead anywhere else: the folders on the way are none.
        is_safe = not os.path.islink(path) or _is_inside(path, folder.fence)
        yield AgentPath(folder, path, relative) if is_safe else _refuse_link(path)


def _walk(folder: str, below: str, depth: int) -> Iterator[str]:
    try:
        names = list_folder(f"{folder}/{below}", MOST_FILES + 1)
    except FileError:  # it is gone by now, or nobody may look into it
        return
    for name in names:
        relative = f"{below}{name}"
        if not name.endswith("/"):
            if name.endswith(".md"):
                yield relative
        # A link to a folder above would be followed in circles.
        elif depth and not os.path.islink(f"{folder}/{relative[:-1]}"):
            yield from _walk(folder, relative, depth - 1)


def _is_inside(path: str, fence: str | None) -> bool:
    return fence is None or is_below(os.path.realpath(path), fence)


def _refuse_link(path: str) -> Problem:
    return Problem(
        path,
        "It is a link that leads out of the project, so it is not read",
        "put a copy of it in the project",
        level="warning",
    )
