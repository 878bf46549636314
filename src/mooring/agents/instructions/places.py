"""Where people write down how an agent should work: for all of their projects, and in each folder of one."""

import os
from collections.abc import Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring import files
from mooring.core.where import Viewpoint, Where
from mooring.discovery.format import locate, user_file

InstructionScope: TypeAlias = Literal["user", "project"]

_USER = ("{mooring}/AGENTS.md", "${CLAUDE_CONFIG_DIR:-~/.claude}/CLAUDE.md")
_USER_OTHERWISE = (
    "{xdg}/opencode/AGENTS.md",
    "${CODEX_HOME:-~/.codex}/AGENTS.override.md",
    "${CODEX_HOME:-~/.codex}/AGENTS.md",
)
"""The first of these is read where there is none of the others, as OpenCode reads Claude's: it was written for one
tool, but says what the person wants."""
_FOLDER = (("AGENTS.override.md", "AGENTS.md"), ("CLAUDE.md",), (".claude/CLAUDE.md",), ("CLAUDE.local.md",))
"""In each folder of a project, of each group the first that is there. What Codex, OpenCode and Copilot read comes
before what Claude reads: the later one wins, as it does for Claude."""


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
    for folder in reversed(files.project_folders(viewpoint.cwd)):
        for group in _FOLDER:
            found = _find_first([os.path.join(folder, name) for name in group])
            if found is not None:
                yield InstructionPlace(found, "project", folder)


def _list_user(where: Where) -> Iterator[InstructionPlace]:
    found = list(filter(os.path.lexists, _locate_all(_USER, where)))
    if not found and (other := _find_first(_locate_all(_USER_OTHERWISE, where))) is not None:
        found.append(other)
    for path in found:
        yield InstructionPlace(path, "user")


def _locate_all(paths: tuple[str, ...], where: Where) -> list[str]:
    located = (locate(user_file(path), where) for path in paths)
    return [path for path in located if path is not None]


def _find_first(paths: list[str]) -> str | None:
    return next(filter(os.path.lexists, paths), None)
