"""A person's own server takes neither code nor settings from the project it starts in; and how that is explained.

The server itself still finds itself in the project where that is possible: npm and Python leave the folder
out, and anything else that takes code from its folder starts in an empty one. A project's own server isn't changed:
approving it means approving the project's code.
"""

import os
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Stdio
from mooring.core.definitions.paths import Paths, is_below
from mooring.core.definitions.template import Expanded, Template
from mooring.errors import FileError, Unresolved
from mooring.servers.launch.environment import Launch
from mooring.servers.launch.fetch import resolve_path
from mooring.servers.launch.placeholders import fill_without_fetching
from mooring.servers.launch.runners import FolderRun, NpxRun, PythonRun, UvxRun, find_runner


def isolate(launch: Launch, approved: Approved, where: Paths) -> Launch:
    """The same launch, without what its launcher would take from the project.

    Raises:
        Unresolved: only the project has the package that `npx` is to run, or our folder can't be used.
    """
    if not may_take_from_project(approved, launch.argv, launch.cwd):
        return launch
    try:
        match find_runner(launch.argv):
            case NpxRun(unfetched):
                return _isolate_npx(launch, unfetched, approved, where)
            case PythonRun() as run:
                return replace(launch, argv=_isolate_python(launch, run))
            case UvxRun() as run:
                return replace(launch, argv=_isolate_uvx(launch, run, where))
            case FolderRun():
                return _move_away(launch, approved, where)
            case None:
                return launch
    except FileError as error:
        raise Unresolved(approved.name, error.path, error.reason) from None


def may_take_from_project(approved: Approved, argv: Sequence[str], cwd: str) -> bool:
    """Whether it is a person's own server that starts inside the project.

    A command that was typed does what it does at a shell's prompt, and one that names a program inside the project
    means the project's code.
    """
    if not approved.own or approved.config.origin.typed:
        return False
    # A folder that doesn't exist stays as it is: the start itself says that best.
    starts_inside = os.path.isdir(cwd) and _is_really_inside(cwd, approved.folder)
    names_program_inside = os.path.isabs(argv[0]) and is_below(os.path.normpath(argv[0]), approved.folder)
    return starts_inside and not names_program_inside


def find_refused_package(packages: Iterable[str], path: str, cwd: str) -> tuple[str, str] | None:
    """A package that only the project has, and the folder that has it.

    From another folder npm would download whatever the registry has under that name.
    """
    for package in packages:
        for folder in files.repository_folders(cwd):
            modules = os.path.join(folder, "node_modules")
            candidates = (os.path.join(modules, ".bin", package), os.path.join(modules, package))
            if any(map(os.path.lexists, candidates)) and files.which(package, path, "/") is None:
                return package, modules
    return None


def describe_refused_package(package: str, modules: str) -> str:
    """Why a package is not run, to be read after `args`."""
    return f"name {package}, which is in {modules}, and your own servers don't run a project's packages"


def suggest_package(package: str, modules: str) -> str:
    """What to write instead of a package that is refused."""
    return f"add -y to download it from your registry, or make {modules}/.bin/{package} the command"


def _is_really_inside(path: str, folder: str) -> bool:
    # Nearly always the very same: to follow the links of both costs more than the rest of a start's preparation.
    return path == folder or is_below(os.path.realpath(path), os.path.realpath(folder))


# --- npm ----------------------------------------------------------------------------------------------------

_PACKAGE = b'{"private": true}\n'
# npm gives a package's program to this instead of to sh. Only what npx starts begins in our own folder; the scripts of
# packages that it installs run in theirs, and stay there.
_SHELL = b"""#!/bin/sh
unset npm_config_script_shell
if [ . -ef "${0%/*}" ]; then
  cd "$MOORING_START_FOLDER" || exit
  export INIT_CWD="$MOORING_START_FOLDER"
  unset OLDPWD npm_config_local_prefix npm_package_json
fi
unset MOORING_START_FOLDER
exec /bin/sh "$@"
"""


def _isolate_npx(launch: Launch, unfetched: Sequence[str], approved: Approved, where: Paths) -> Launch:
    """Start npm in a folder of ours; the shell through which it starts the package's program goes to the project."""
    refused = find_refused_package(unfetched, launch.env["PATH"], launch.cwd)
    if refused is not None:
        reason, fix = describe_refused_package(*refused), suggest_package(*refused)
        raise Unresolved(approved.name, "args", reason, fix=fix)
    folder = _make_folder(where, "npm")
    _write_file(f"{folder}/package.json", _PACKAGE)
    _write_file(f"{folder}/shell", _SHELL, 0o700)
    # npm reads these names in any case.
    env = {name: value for name, value in launch.env.items() if name.lower() != "npm_config_script_shell"}
    env["npm_config_script_shell"] = f"{folder}/shell"
    env["MOORING_START_FOLDER"] = launch.cwd
    return replace(launch, env=env, cwd=folder)


# --- Python and uv ------------------------------------------------------------------------------------------


def _isolate_python(launch: Launch, run: PythonRun) -> tuple[str, ...]:
    argv = launch.argv
    # Behind `uv run` or `mise exec`, a name may mean another interpreter than on our PATH.
    program = files.which(argv[0], launch.env["PATH"], launch.cwd) if run.at == 0 else None
    version = re.fullmatch(r"python3\.(\d+)t?", os.path.basename(os.path.realpath(program or "")))
    # Interpreters that this one starts inherit -P, unlike the code. Without the version in its name, an interpreter
    # would have to be started to learn whether it knows -P; a shim of pyenv's may be another one in each folder.
    if version is not None and int(version[1]) >= 11:
        return (argv[0], "-P", *argv[1:])
    return run.without_folder


def _isolate_uvx(launch: Launch, run: UvxRun, where: Paths) -> tuple[str, ...]:
    argv = run.python.without_folder if run.python else launch.argv
    if run.has_config or not launch.env.keys().isdisjoint(("UV_CONFIG_FILE", "UV_NO_CONFIG")):
        return argv
    found = list(filter(os.path.isfile, (f"{where.xdg_config}/uv/uv.toml", f"{where.system}/etc/uv/uv.toml")))
    # uv takes one file instead of all: of a person's and a machine's neither may be lost. Since 0.2.35 it ignores the
    # project's anyway.
    if len(found) > 1:
        return argv
    if found:
        config = found[0]
    else:
        # An empty file, and not --no-config: that would ignore the version of Python that the person chose, too.
        config = f"{_make_folder(where, 'uv')}/uv.toml"
        _write_file(config, b"")
    return (*argv[: run.options_at], "--config-file", config, *argv[run.options_at :])


# --- everything else ----------------------------------------------------------------------------------------


def _move_away(launch: Launch, approved: Approved, where: Paths) -> Launch:
    """Start it in an empty folder. Each server has its own: what one leaves there must not become another's code."""
    from hashlib import sha256  # lazy: few servers get here

    own = sha256(f"{approved.name}\0{approved.folder}".encode()).hexdigest()[:16]
    folder = _make_folder(where, own)
    _write_file(f"{folder}/package.json", _PACKAGE)
    env = {**launch.env, "PWD": folder} if "PWD" in launch.env else launch.env
    return replace(launch, env=env, cwd=folder)


# --- our folders --------------------------------------------------------------------------------------------


def _make_folder(where: Paths, name: str) -> str:
    """A folder that nobody else can write to or move away."""
    folder = f"{where.state}/start/{name}"
    for made in (where.state, os.path.dirname(folder), folder):
        files.make_private_folder(made)
    return folder


def _write_file(path: str, data: bytes, mode: int = 0o600) -> None:
    """Write a file unless it exists. Many hosts may do so at the same time, so it is replaced in one step."""
    needed = os.X_OK if mode & 0o100 else os.R_OK
    is_kept = files.read(path) == data and os.access(path, needed)
    if not is_kept:
        files.write(path, data, mode, durable=False)


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
            if refused is None:
                return None
            what = f"Its args {describe_refused_package(*refused)}"
            return StartNote(what, suggest_package(*refused), stops=True)
        case PythonRun(module=module):
            return _explain_module(module, folder)
        case FolderRun(program, moves=False):
            what = (
                f"It starts in an empty folder, because {program} takes code or settings from the folder it starts in"
            )
            fix = "to start it elsewhere, set its cwd to a folder outside the project; a project's files need ./"
            return StartNote(what, fix)
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


def _explain_module(module: str, folder: str) -> StartNote | None:
    name = module.partition(".")[0]
    planted = list(filter(os.path.lexists, (f"{folder}/{name}.py", f"{folder}/{name}")))
    if not name or not planted:
        return None
    what = f"It runs the installed module {name}, not {planted[0]}"
    return StartNote(what, f"to run the project's, write the path of its file instead of -m {module}")
