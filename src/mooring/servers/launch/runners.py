"""A command line goes in; what comes out says whether its program takes code or settings from the folder it starts in.

`python -m x` runs the `x.py` of its folder, `npx x` the folder's `node_modules/x`, and `bun` whatever the folder's
`bunfig.toml` preloads. Only the words of the command matter here: what a repository contains must not decide
how a command is understood.
"""

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from msgspec import Struct


class NpxRun(Struct, frozen=True):
    """npm runs a package: it looks in the folder's `node_modules`, and reads the folder's `.npmrc`."""

    unfetched: tuple[str, ...] = ()
    """Packages named without a version and without `--yes`: nobody allowed downloading them."""


class PythonRun(Struct, frozen=True):
    """Python runs a module, or code on the command line, and its folder comes first when it imports."""

    at: int
    """The position of the interpreter."""
    module: str
    """The module to run; empty for code."""
    without_folder: tuple[str, ...]
    """The command that does the same without the folder, for every version of Python."""


class UvxRun(Struct, frozen=True):
    """uv runs a tool. Before 0.2.35 it read the folder's `uv.toml`."""

    options_at: int
    """The position at which more options may follow."""
    has_config: bool
    """The command itself says which configuration is read."""
    python: PythonRun | None = None
    """The tool is Python, running a module or code."""


class FolderRun(Struct, frozen=True):
    """Any other program that takes code or settings from the folder it starts in."""

    program: str
    moves: bool = False
    """It goes to another folder first, so it doesn't matter where it starts."""


Runner: TypeAlias = NpxRun | PythonRun | UvxRun | FolderRun


def find_runner(argv: Sequence[str], start: int = 0) -> Runner | None:
    """What the command from that position on is; `None` if it takes nothing from its folder, or only what a path names.

    `./server`, `python server.py` or `npx ./x` name the folder's own files on purpose.
    """
    if start >= len(argv) or _is_relative_program(argv[start]):
        return None
    name = _program_name(argv[start])
    if name in _WRAPPERS:
        return _look_behind_wrapper(argv, start)
    if name in _SHELLS:
        return _look_into_shell(argv, start)
    if (read := _READERS.get(name)) is not None:
        return read(argv, start)
    if re.fullmatch(_PYTHON, name):
        return _read_python(argv, start)
    if name in FOLDER_PROGRAMS:
        return _read_folder_program(argv, start)
    return None


# --- words ------------------------------------------------------------------------------------------------------------

_MOVING: Final = frozenset({"-C", "--directory", "--dir", "--cwd", "--prefix"})
_FILES: Final = frozenset({"--project", "--manifest-path", "-f", "--file", "--makefile", "--script", "--with-editable"})
# A value that is taken for the package or script only makes the command look like one that names no file.
_VALUED: Final = _MOVING | _FILES | {
    "-p", "--package", "-c", "--call", "--registry", "--cache", "--userconfig", "--globalconfig", "-w", "--workspace",
    "--loglevel", "--node-options", "--from", "--with", "--with-requirements", "--python", "--index", "-i",
    "--index-url", "--default-index", "--extra-index-url", "--find-links", "--config-file", "--cache-dir", "--color",
    "--extra", "--group", "--only-group", "--env-file", "--refresh-package", "--upgrade-package", "--link-mode",
    "--resolution", "--prerelease", "--exclude-newer", "--index-strategy", "--keyring-provider", "--spec",
    "--pip-args", "--configuration", "--framework",
}  # fmt: skip
_BEFORE_PATH: Final = r"^(?:@?[^@/]+(?:/[^@/]+)?@)?(?:file:)?"
_SCRIPT: Final = r"(?!/|~|@|\w+:).*\.(?:py|js|mjs|cjs|jsx|ts|mts|cts|tsx|rb|go|cs|sh|toml)"


def _program_name(word: str) -> str:
    """`/usr/bin/npx` and `npx@11` are npx; `@scope/npx` is a package of that name, not a program."""
    name = word if word.startswith("@") else os.path.basename(word)
    return name[:1] + name[1:].partition("@")[0]


def _is_relative_program(word: str) -> bool:
    is_path = "/" in word and not word.startswith("@")
    return is_path and not word.startswith(("/", "~"))


def _word_at(argv: Sequence[str], at: int) -> str:
    return argv[at] if at < len(argv) else ""


def _find_target(argv: Sequence[str], start: int) -> int:
    """The position of the first word that is neither an option nor the value of one; the end if there is none."""
    at = start
    while at < len(argv) and argv[at].startswith("-"):
        if argv[at] == "--":
            return at + 1
        at += 2 if argv[at] in _VALUED else 1
    return min(at, len(argv))


def _list_values(words: Sequence[str], options: frozenset[str]) -> list[str]:
    """The values of these options, as `--option value` or `--option=value`."""
    values = [value for option, value in pairwise(words) if option in options]
    for word in words:
        option, is_joined, value = word.partition("=")
        if is_joined and option in options:
            values.append(value)
    return values


def _is_relative_path(text: str) -> bool:
    return not text.startswith(("/", "~", "$"))


def _is_relative_package(spec: str) -> bool:
    """Whether npm would read a package from a path: `./x`, `name@file:../x`, `x.tgz`."""
    if "://" in spec:
        return False
    path = re.sub(_BEFORE_PATH, "", spec, count=1)
    is_archive = path.endswith((".tgz", ".tar.gz", ".tar"))
    is_file = is_archive or path.startswith(".") or "file:" in spec
    return is_file and _is_relative_path(path)


def _is_relative_script(word: str) -> bool:
    return word.startswith(".") or re.fullmatch(_SCRIPT, word) is not None


# --- npm --------------------------------------------------------------------------------------------------------------

_PACKAGE_NAME: Final = r"(?:@[\w.~-]+/)?[\w~-][\w.~-]*"
_NPX_BEHIND_OTHERS: Final = frozenset({"npx", "bunx", "pnpx"})


def _read_npx(argv: Sequence[str], start: int) -> Runner | None:
    return _read_package(argv, start + 1, start + 1)


def _read_npm(argv: Sequence[str], start: int) -> Runner | None:
    verb_at = _find_target(argv, start + 1)
    if _word_at(argv, verb_at) in ("exec", "x"):
        return _read_package(argv, start + 1, verb_at + 1)
    # `npm start` and `npm run x` run what the folder's package.json says.
    return _read_folder_program(argv, start)


def _read_package(argv: Sequence[str], options_at: int, rest_at: int) -> Runner | None:
    target_at = _find_target(argv, rest_at)
    target = argv[target_at : target_at + 1]
    options = argv[options_at:target_at]
    packages = _list_values(options, frozenset({"-p", "--package"})) or list(target)
    folders = _list_values(options, _MOVING)
    if any(map(_is_relative_package, packages)) or any(map(_is_relative_path, folders)):
        return None
    if (nested := _find_nested(argv, target_at)) is not None:
        return nested
    may_fetch = not {"-y", "--yes"}.isdisjoint(options)
    if may_fetch:
        return NpxRun()
    return NpxRun(tuple(filter(re.compile(_PACKAGE_NAME).fullmatch, packages)))


def _find_nested(argv: Sequence[str], target_at: int) -> FolderRun | None:
    """A package that takes code from its folder, such as tsx, or starts a program that does: `uvx mcp-proxy npx x`."""
    found = find_runner(argv, target_at)
    if isinstance(found, FolderRun):
        return found
    if isinstance(found, NpxRun):
        return FolderRun("npx")
    others = _NPX_BEHIND_OTHERS.intersection(argv[target_at + 1 :])
    return FolderRun(min(others)) if others else None


# --- Python -----------------------------------------------------------------------------------------------------------

_PYTHON: Final = r"(?:python|pypy|pythonw)(?:\d+(?:\.\d+)*)?t?"
# A dash alone is a program on stdin, and two of them end the options.
_PYTHON_OPTION: Final = r"-(?!-?\Z)"
_PYTHON_FLAGS: Final = r"(?s)-(?P<flags>[^-WXmcIP]*)(?P<letter>[WXmcIP])(?P<value>.*)"
_VALUED_BY_PYTHON: Final = frozenset({"--check-hash-based-pycs", "-Q"})
_DROP_FOLDER: Final = "import sys; sys.path[:1] == [''] and sys.path.pop(0); "
_RUN_CODE: Final = {
    # What `-m` itself calls, in every version since 2.6.
    "m": f"{_DROP_FOLDER}import runpy; runpy._run_module_as_main(sys.argv.pop(1))",
    "c": f"{_DROP_FOLDER}exec(sys.argv.pop(1))",
}


def _read_python(argv: Sequence[str], start: int) -> PythonRun | None:
    at = start + 1
    while at < len(argv) and re.match(_PYTHON_OPTION, argv[at]):
        word = argv[at]
        found = re.fullmatch(_PYTHON_FLAGS, word)
        if found is None:
            at += 2 if word in _VALUED_BY_PYTHON else 1
            continue
        if found["letter"] in ("I", "P"):
            return None  # it leaves its folder out already
        if found["letter"] in _RUN_CODE:
            return _make_python_run(argv, start, at, found)
        at += 1 if found["value"] else 2
    return None


def _make_python_run(argv: Sequence[str], start: int, at: int, found: re.Match[str]) -> PythonRun:
    # `-mx` and `-m x` are the same.
    following = list(argv[at + 1 :])
    if found["value"]:
        following.insert(0, found["value"])
    flags = [f"-{found['flags']}"] if found["flags"] else []
    letter = found["letter"]
    module = following[0] if letter == "m" and following else ""
    without_folder = (*argv[:at], *flags, "-c", _RUN_CODE[letter], *following)
    return PythonRun(start, module, without_folder)


# --- uv ---------------------------------------------------------------------------------------------------------------


def _read_uv(argv: Sequence[str], start: int) -> Runner | None:
    verb_at = _find_target(argv, start + 1)
    if list(argv[verb_at : verb_at + 2]) == ["tool", "run"]:
        return _read_uvx(argv, verb_at + 1)
    if list(argv[verb_at : verb_at + 1]) != ["run"]:
        return None
    target_at = _find_target(argv, verb_at + 1)
    projects = _list_values(argv[start:target_at], frozenset({"--project"}))
    if projects and not any(map(_is_relative_path, projects)):
        # Its settings come from there, and it stays in its folder.
        return find_runner(argv, target_at)
    return _read_folder_program(argv, start)


def _read_uvx(argv: Sequence[str], start: int) -> Runner | None:
    """`uvx x`, or `uv tool run x` from its last word on."""
    target_at = _find_target(argv, start + 1)
    if (nested := _find_nested(argv, target_at)) is not None:
        return nested
    python = find_runner(argv, target_at)
    has_config = not {"--config-file", "--no-config", "--isolated"}.isdisjoint(argv[:target_at])
    return UvxRun(start + 1, has_config, python if isinstance(python, PythonRun) else None)


# --- every other program ----------------------------------------------------------------------------------------------

FOLDER_PROGRAMS: Final = frozenset(
    {
        "bun", "bunx", "pnpm", "pnpx", "yarn", "yarnpkg", "deno", "tsx", "ts-node", "ts-node-esm", "nodemon",
        "vite-node", "nx", "turbo", "py", "pipx", "poetry", "pdm", "hatch", "rye", "pipenv", "pixi", "nox", "tox",
        "invoke", "inv", "make", "gmake", "just", "task", "rake", "bundle", "rails", "cargo", "go", "dotnet", "dnx",
        "mvn", "gradle", "jbang", "sbt", "scala-cli", "lein", "clojure", "clj", "bb", "mix", "swift", "stack", "cabal",
        "bazel", "mage", "composer", "R", "Rscript", "nix", "nix-shell", "docker-compose", "podman-compose",
    }
)  # fmt: skip
_PACKAGES_ONLY: Final = frozenset({"bunx", "pnpx", "dnx", "x", "dlx"})
_VERBS: Final = frozenset({"run", "run-script", "x", "dlx", "exec", "start", "tool", "compose"})


def _read_folder_program(argv: Sequence[str], start: int) -> FolderRun | None:
    target_at = _find_target(argv, start + 1)
    program = _program_name(argv[start])
    verbs = {program}
    while target_at < len(argv) and argv[target_at] in _VERBS:
        verbs.add(argv[target_at])
        target_at = _find_target(argv, target_at + 1)
    options = argv[start:target_at]
    target = _word_at(argv, target_at)
    if target.endswith(".dll"):
        return None  # a program that was built already, which dotnet runs without looking around
    is_package = not verbs.isdisjoint(_PACKAGES_ONLY)
    is_relative = _is_relative_package if is_package else _is_relative_script
    paths = _list_values(options, _MOVING | _FILES)
    if is_relative(target) or any(map(_is_relative_path, paths)):
        return None
    return FolderRun(program, moves=bool(_list_values(options, _MOVING)))


def _read_containers(argv: Sequence[str], start: int) -> FolderRun | None:
    """`docker compose` reads the folder's compose.yaml; `docker run` takes nothing from it."""
    verb_at = _find_target(argv, start + 1)
    if _word_at(argv, verb_at) != "compose":
        return None
    return _read_folder_program(argv, start)


_NODE_LOADS: Final = frozenset({"-r", "--require", "--import", "--loader", "--experimental-loader"})
_NODE_CODE: Final = frozenset({"-e", "--eval", "-p", "--print", "-pe"})
_NODE_PATH: Final = r"[./~]|(?:node|data|file):"
_NODE_SCRIPTS: Final = {"npx-cli.js": _read_npx, "npx": _read_npx, "npm-cli.js": _read_npm, "npm": _read_npm}


def _read_node(argv: Sequence[str], start: int) -> Runner | None:
    """Node takes from its folder only what has a bare name: `-r dotenv/config`, or `require("x")` in `-e`."""
    at = start + 1
    while _word_at(argv, at).startswith("-"):
        at += 2 if argv[at] in _NODE_LOADS else 1
    options = argv[start:at]
    has_code = not _NODE_CODE.isdisjoint(options)
    loaded = _list_values(options, _NODE_LOADS)
    if has_code or not all(map(re.compile(_NODE_PATH).match, loaded)):
        return FolderRun("node")
    folder, script = os.path.split(_word_at(argv, at))
    read = _NODE_SCRIPTS.get(script)
    if read is None or not os.path.isabs(folder):
        return None
    return read(argv, at)


_READERS: Final[Mapping[str, Callable[[Sequence[str], int], Runner | None]]] = {
    "npx": _read_npx,
    "npm": _read_npm,
    "node": _read_node,
    "uvx": _read_uvx,
    "uv": _read_uv,
    "docker": _read_containers,
    "podman": _read_containers,
}


# --- programs that start another one ----------------------------------------------------------------------------------

_WRAPPERS: Final = frozenset(
    {
        "env", "nice", "ionice", "nohup", "timeout", "stdbuf", "setsid", "time", "sudo", "doas", "caffeinate", "arch",
        "op", "doppler", "infisical", "aws-vault", "chamber", "mise", "asdf", "fnm", "volta", "pyenv", "direnv",
        "dotenvx", "xvfb-run",
    }
)  # fmt: skip
_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish"})
_BEFORE_COMMAND: Final = r"\w+=.*|exec|command|then|do|else|if|while|!|time|\$"


def _look_behind_wrapper(argv: Sequence[str], start: int) -> Runner | None:
    for at in range(start + 1, len(argv)):
        is_line = argv[at - 1] in ("-S", "--split-string")
        found = _read_line(argv[at]) if is_line else find_runner(argv, at)
        if found is not None:
            return found
    return None


def _look_into_shell(argv: Sequence[str], start: int) -> Runner | None:
    for at in range(start + 1, len(argv) - 1):
        if re.fullmatch(r"-[a-zA-Z]*c|--command", argv[at]):
            return _read_line(argv[at + 1])
    return None


def _read_line(line: str) -> Runner | None:
    """The words inside a line can't be changed, so that only a folder of its own helps a module of Python's."""
    found: Runner | None = None
    for piece in re.split(r"[;&|(){}\n`]+", line):
        words = _split_words(piece)
        enters = _word_at(words, 0) in ("cd", "pushd", ".", "source")
        if enters and any(map(_is_relative_path, words[1:2])):
            return None
        match find_runner(words):
            case NpxRun() as npx:
                found = found or npx
            case FolderRun() as program:
                found = program
            case PythonRun() | UvxRun(python=PythonRun()):
                found = FolderRun("python")
            case UvxRun() | None:
                pass
    return found


def _split_words(piece: str) -> list[str]:
    try:
        words = shlex.split(piece)
    except ValueError:
        words = piece.split()  # a quote that another piece closes
    while words and re.fullmatch(_BEFORE_COMMAND, words[0]):
        del words[0]
    return words
