"""Where people write down how an agent should work: for all of their projects, and in each folder of one."""

import os
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.core.definitions.paths import Viewpoint, Where
from mooring.discovery.format import Obeyed, locate, user_file
from mooring.discovery.known_places import list_obeyed
from mooring.settings import find_project_folders

InstructionScope: TypeAlias = Literal["user", "project"]

_USER = ("mooring", "claude-code")
_USER_OTHERWISE = ("opencode", "codex")
"""The first file of these is read where there is none of the others, as OpenCode reads Claude's: it was written for one
tool, but says what the person wants."""
_PROJECT_FIRST = ("codex",)
_PROJECT_EACH = ("claude-code",)
"""In each folder of a project, the first file of the former and all of the latter. What Codex, OpenCode and Copilot
read comes before what Claude reads: the later one wins, as it does for Claude."""


class InstructionPlace(Struct, frozen=True):
    """A file that is there."""

    path: str
    scope: InstructionScope
    base: str = ""
    """The folder of the project that it was looked for in."""


def list_places(viewpoint: Viewpoint) -> Iterator[InstructionPlace]:
    """The files that are there, the most general first: the person's, then those from the project's root down."""
    yield from _list_user(viewpoint.where)
    if not viewpoint.project:
        return
    for folder in reversed(find_project_folders(viewpoint.where, viewpoint.cwd)):
        either = _list_there(os.path.join(folder, row.project) for row in _list_rows(_PROJECT_FIRST) if row.project)
        each = _list_there(os.path.join(folder, row.project) for row in _list_rows(_PROJECT_EACH) if row.project)
        for path in (*either[:1], *each):
            yield InstructionPlace(path, "project", folder)


def _list_user(where: Where) -> Iterator[InstructionPlace]:
    found = _list_there(_locate_all(_USER, where)) or _list_there(_locate_all(_USER_OTHERWISE, where))[:1]
    for path in found:
        yield InstructionPlace(path, "user")


def _locate_all(tools: tuple[str, ...], where: Where) -> Iterator[str]:
    located = (locate(user_file(row.user), where) for row in _list_rows(tools) if row.user)
    return (path for path in located if path is not None)


def _list_rows(tools: tuple[str, ...]) -> Iterator[Obeyed]:
    for tool in tools:
        yield from (row for row in list_obeyed(tool) if row.kind == "instructions")


def _list_there(paths: Iterable[str]) -> list[str]:
    return list(filter(os.path.lexists, paths))
