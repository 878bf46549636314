"""What a person should know about how their own server starts, if that differs from its definition."""

import os
from collections.abc import Sequence

from msgspec import Struct

from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Stdio
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.template import Template
from mooring.servers.launch.expand import Expanded
from mooring.servers.launch.fetch import resolve_path
from mooring.servers.launch.isolate import (
    describe_refused_package,
    find_refused_package,
    may_take_from_project,
    suggest_package,
)
from mooring.servers.launch.placeholders import fill_without_fetching
from mooring.servers.launch.runners import FolderRun, NpxRun, PythonRun, UvxRun, find_runner


class StartNote(Struct, frozen=True):
    """How a server starts differently from what its definition suggests, and what to write instead."""

    what: str
    fix: str
    stops: bool = False


def explain_isolation(approved: Approved, where: Paths, path: str) -> StartNote | None:
    """What `isolate` would change; nothing is started, run or asked for to find out.

    `path` is the search path for definitions without a PATH of their own.
    """
    stdio = approved.config.connection
    if not isinstance(stdio, Stdio):
        return None
    argv = _fill((stdio.command, *stdio.args), approved, where)
    cwd = _fill((stdio.cwd,), approved, where) if stdio.cwd else [""]
    if argv is None or cwd is None:
        return None  # only its start can find out
    folder = resolve_path(cwd[0], approved.folder, where.home) if cwd[0] else approved.folder
    if not may_take_from_project(approved, argv, folder):
        return None
    return _explain(argv, folder, path)


def _explain(argv: Sequence[str], folder: str, path: str) -> StartNote | None:
    match find_runner(argv):
        case NpxRun(unfetched):
            refused = find_refused_package(unfetched, path, folder)
            return _explain_refused(*refused) if refused else None
        case PythonRun(module=module):
            return _explain_module(module, folder)
        case FolderRun(program, moves=False):
            return _explain_empty_folder(program)
        case UvxRun() | FolderRun() | None:
            return None


def _fill(templates: Sequence[Template], approved: Approved, where: Paths) -> list[str] | None:
    """The texts of the templates, unless one of them has to be fetched or has no value."""
    texts: list[str] = []
    for template in templates:
        filled = fill_without_fetching(template, where, approved.folder)
        if not isinstance(filled, Expanded):
            return None
        texts.append(filled.text)
    return texts


def _explain_refused(package: str, modules: str) -> StartNote:
    return StartNote(
        f"Its args {describe_refused_package(package, modules)}", suggest_package(package, modules), stops=True
    )


def _explain_module(module: str, folder: str) -> StartNote | None:
    name = module.partition(".")[0]
    if not name:
        return None
    planted = list(filter(os.path.lexists, (f"{folder}/{name}.py", f"{folder}/{name}")))
    if not planted:
        return None
    what = f"It runs the installed module {name}, not {planted[0]}"
    return StartNote(what, f"to run the project's, write the path of its file instead of -m {module}")


def _explain_empty_folder(program: str) -> StartNote:
    what = f"It starts in an empty folder, because {program} takes code or settings from the folder it starts in"
    return StartNote(
        what, "to start it elsewhere, set its cwd to a folder outside the project; a project's files need ./"
    )
