"""What other programs run on their own as soon as a file says so: hooks, tasks, scripts of packages, repositories."""

import json
import os
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from mooring.core.protocol.nesting import is_too_deep

_FOLDERS = {
    ".githooks": "git may run what is in it",
    ".husky": "git runs what is in it",
    ".devcontainer": "editors run what it says",
    ".vscode": "editors run what it says",
}
_NAMES = {
    ".envrc": "shells run it",
    ".pre-commit-config.yaml": "git runs what it says",
    ".pre-commit-config.yml": "git runs what it says",
    "lefthook.yml": "git runs what it says",
    "lefthook.yaml": "git runs what it says",
}
_PACKAGE = "package.json"
_SCRIPTS = ("preinstall", "install", "postinstall", "prepare")
_REPOSITORY = frozenset({"head", "objects", "refs"})
"""A folder that holds these is a repository to git, which then runs what its configuration says."""


class ExecutedFile(Struct, frozen=True):
    """Why a change of a file is asked about, and what a rule has to name to allow it."""

    why: str
    name: str


def find_executed(project: str, real: str, before: bytes | None, after: bytes | None) -> ExecutedFile | None:
    """What a change of a file inside a project has other programs run; `None` if nothing is known.

    `after` is `None` if it is not known what the file will say.
    """
    # Some file systems ignore case, and dots at the end of a name.
    parts = [part.rstrip(". ") for part in os.path.relpath(real, project).casefold().split("/")]
    for folder in _FOLDERS.keys() & set(parts):
        return ExecutedFile(f"{_FOLDERS[folder]} without asking", folder)
    name = parts[-1]
    if name in _NAMES:
        return ExecutedFile(f"{_NAMES[name]} without asking", name)
    if name == _PACKAGE and (after is None or _read_scripts(before) != _read_scripts(after)):
        return ExecutedFile("installing the package would run its scripts", name)
    return _find_repository(project, real)


def _read_scripts(data: bytes | None) -> Any:
    """What is run when a package is installed; the text itself if it cannot be told."""
    if data is None:
        return {}
    try:
        found = None if is_too_deep(data) else json.loads(data)
    except ValueError:
        return data
    scripts = found.get("scripts") if isinstance(found, dict) else None
    if not isinstance(scripts, dict):
        return {} if scripts is None and isinstance(found, dict) else data
    return {name: scripts[name] for name in _SCRIPTS if name in scripts}


def _find_repository(project: str, real: str) -> ExecutedFile | None:
    """A folder that is a repository without a `.git`, or would become one."""
    for folder, name in _list_folders(project, real):
        present = {each for each in ("HEAD", "objects", "refs") if os.path.lexists(os.path.join(folder, each))}
        if {name.casefold(), *(each.casefold() for each in present)} >= _REPOSITORY:
            return ExecutedFile("git would take its folder for a repository, and run what it says", name)
    return None


def _list_folders(project: str, real: str) -> Iterator[tuple[str, str]]:
    """Each folder of the project that a file is in, and what of it is on the way to the file."""
    while len(real) > len(project):
        folder, name = os.path.split(real)
        yield folder, name
        real = folder
