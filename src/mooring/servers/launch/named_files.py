"""The files that a project's definition and its arguments name: where they lead, and what they set.

The digest of a definition covers the text `.env`, not the file. So an approval is bound to two more things: where a
path inside the project leads if a link takes it out of there, and the variables of an `envFile` that decide what a
program loads. What else the files hold may change as it likes.

A question shows the whole command, but `-v ~/.ssh:/x` is easily overlooked in it, so each path gets a line of its own.
What the program does with it isn't known: it may be a folder inside a container. An approval is bound to the text of
the command anyway. If a link leads a path of the project out of there, it is bound to where that is, too.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from mooring.core.definitions.config import ServerConfig, Stdio
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.template import Expanded, Template
from mooring.servers.launch.act import ENV_FILE_CONTENT, describe_act
from mooring.servers.launch.environment import is_search_path, may_replace_program
from mooring.servers.launch.fetch import read_value_file, resolve_path, value_file_folder
from mooring.servers.launch.placeholders import fill_without_fetching
from mooring.servers.launch.shell import CommandFailed


class NamedFile(Struct, frozen=True):
    """A file that a start would read, or that an argument names."""

    written: str
    path: str
    """With links resolved."""
    foreign: bool
    """It is inside the project; all other files are the person's own."""
    escapes: bool
    """Its path is inside the project, but a link in it leads out of there."""
    steering: Mapping[str, str] = {}
    """The variables in it that change what a program loads."""


def find_named_files(config: ServerConfig, folder: str, where: Paths) -> tuple[NamedFile, ...]:
    """The files whose paths are known before the start; `folder` is the project's."""
    return tuple(_iterate_files(config, folder, where))


def bind_files(named: Iterable[NamedFile]) -> str:
    """A digest of what an approval is bound to in these files; empty if there is nothing."""
    bound = [(file.written, file.path, file.steering) for file in named if file.escapes or file.steering]
    if not bound:
        return ""
    from hashlib import sha256  # lazy: hardly any definition gets here

    return sha256(json.dumps(bound, sort_keys=True).encode()).hexdigest()


def describe_bound(named: Iterable[NamedFile]) -> str:
    """What in these files an approval is bound to, in words; no value is repeated."""
    described: list[str] = []
    for file in named:
        if file.steering:
            described.append(f"{file.written} sets {', '.join(file.steering)}")
        if file.escapes:
            described.append(f"{file.written} leads to {file.path}")
    return "; ".join(described)


def _iterate_files(config: ServerConfig, folder: str, where: Paths) -> Iterator[NamedFile]:
    for use in describe_act(config, own=False):
        if use.kind == "file" and use.slot != ENV_FILE_CONTENT:
            path = resolve_path(use.what, value_file_folder(config, folder), where.home)
            yield locate_file(use.what, path, folder)
    env_file = config.connection.env_file if isinstance(config.connection, Stdio) else None
    if env_file is None:
        return
    filled = fill_without_fetching(env_file, where, folder)
    if isinstance(filled, Expanded) and filled.text:
        path = resolve_path(filled.text, folder, where.home)
        yield locate_file(env_file.text, path, folder, _find_steering(path))


def locate_file(written: str, path: str, folder: str, steering: Mapping[str, str] | None = None) -> NamedFile:
    """The file at a path, with where its links lead; `folder` is the project's."""
    real, project = os.path.realpath(path), os.path.realpath(folder)
    # By where each folder on the way leads, since the project itself may have been reached by a link.
    folders = map(os.path.realpath, _list_parents(os.path.normpath(path)))
    foreign = project in _list_parents(real)
    return NamedFile(written, real, foreign, project in folders and not foreign, steering or {})


def _list_parents(path: str) -> Iterator[str]:
    """The folders that a path goes through, innermost first."""
    while (parent := os.path.dirname(path)) != path:
        yield parent
        path = parent


def _find_steering(path: str) -> dict[str, str]:
    text = read_value_file(path)
    if isinstance(text, CommandFailed):
        return {}
    variables = parse_dotenv(text)
    # No PATH: a start never takes one from such a file.
    names = [name for name in variables if may_replace_program(name) and not is_search_path(name)]
    return {name: variables[name] for name in names}


# Possessive quantifiers keep this linear, whatever the file holds. What is optional at the start is atomic, `(?>…)`:
# with `(…)?+`, Python 3.11.0 to 3.11.4 took the name `exported` for `ed`.
_LINE = r"""(?msx)^[ \t]*+(?>(?:export[ \t]++)?)(?P<name>[A-Za-z_][\w.-]*+)[ \t]*+=[ \t]*+
    (?:'(?P<single>[^']*+)'|"(?P<double>(?:\\.|[^"\\])*+)"|(?P<plain>[^\r\n]*+))"""
_COMMENT = r"(?:^|[ \t]++)\#.*"
_ESCAPE = r"(?s)\\(.)"
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


def parse_dotenv(text: str) -> dict[str, str]:
    """Every `NAME=value`, with or without `export`.

    Single quotes keep everything as it is; in double quotes a backslash escapes. Either may span several lines. A `#`
    after a space begins a comment.
    """
    return {found["name"]: _value(found) for found in re.finditer(_LINE, text.removeprefix("\ufeff"))}


def _value(found: re.Match[str]) -> str:
    if (single := found["single"]) is not None:
        return str(single)
    if (double := found["double"]) is not None:
        return re.sub(_ESCAPE, lambda escape: _ESCAPED.get(escape[1], escape[1]), double)
    return re.sub(_COMMENT, "", found["plain"]).strip()


class ArgumentPath(Struct, frozen=True):
    """A path outside the project that an argument names."""

    option: str
    """The option before it, such as `-v`; empty if there is none."""
    file: NamedFile


def find_argument_paths(config: ServerConfig, folder: str, where: Paths) -> tuple[ArgumentPath, ...]:
    """The paths that are known before the start, each once; `folder` is the project's."""
    program = config.connection
    if not isinstance(program, Stdio):
        return ()
    cwd = resolve_path(_fill(program.cwd, where, folder), folder, where.home) if program.cwd else folder
    args = [_fill(arg, where, folder) for arg in program.args]
    found: dict[str, ArgumentPath] = {}
    for option, value in _list_values(args):
        for text in _list_paths(option, value, where.home):
            file = _find_outside(text, cwd, folder, where.home)
            if file is not None:
                found.setdefault(file.written, ArgumentPath(option, file))
    return tuple(found.values())


def _fill(template: Template, where: Paths, folder: str) -> str:
    """What is known of a text now; empty if it has to be fetched, or holds a secret, which nobody is shown."""
    filled = fill_without_fetching(template, where, folder)
    return filled.text if isinstance(filled, Expanded) and not filled.secrets else ""


# --- what may be a path -------------------------------------------------------------------------------------

_OPTION_AND_VALUE = re.compile(r"(-[\w.-]*)=(.*)|(-\w)([@/~.].*)", re.DOTALL)
_SEPARATORS = re.compile(r"""[\s;|&<>()"'`,{}\[\]=]+""")
"""What stands between words in a shell's line, in JSON and in `type=bind,source=…`."""
_HOME_VARIABLE = re.compile(r"\$(?:\{HOME\}|HOME\b)")
_LOCAL_URL = re.compile(r"[A-Za-z][\w+.-]*:(?://(?:localhost)?/*(?=/)|(?=/(?!/)))")
"""The beginning of `file:///x`, `file:/x` or `sqlite:////x`, up to the path."""
_VOLUME_OPTIONS = ("-v", "--volume")
_INSIDE_CONTAINER = re.compile(r"\b(?:target|dst|destination)=[^,]*")


def _list_values(args: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The values among arguments, each with the option that it follows."""
    option = ""
    for arg in args:
        if joined := _OPTION_AND_VALUE.fullmatch(arg):
            yield joined[1] or joined[3], joined[2] or joined[4] or ""
            option = ""
        elif re.fullmatch(r"-[\w.-]*", arg):
            option = arg.removeprefix("--") and arg
        else:
            yield option, arg
            option = ""


def _list_paths(option: str, value: str, home: str) -> Iterator[str]:
    """The texts in a value that may be paths."""
    value = _HOME_VARIABLE.sub("~", value)
    if option == "--mount":
        value = _INSIDE_CONTAINER.sub("", value)
    # A name may have blanks in it.
    if _is_outward(value) and os.path.lexists(resolve_path(value, "/", home)):
        yield value
        return
    for word in _SEPARATORS.split(value):
        yield from _split_word(option, word.removeprefix("@"))


def _split_word(option: str, word: str) -> Iterator[str]:
    from urllib.parse import unquote  # lazy: only a project's programs get here

    if url := _LOCAL_URL.match(word):
        yield unquote(word[url.end() :])
    elif "://" not in word:
        # `-v HERE:THERE:ro`: the rest is inside the container. Elsewhere it is a list of folders.
        parts = word.split(":")
        yield from parts[:1] if option in _VOLUME_OPTIONS else parts


def _is_outward(text: str) -> bool:
    return text.startswith(("/", "~")) or ".." in text.split("/")


# --- where it leads -----------------------------------------------------------------------------------------


def _find_outside(text: str, cwd: str, folder: str, home: str) -> NamedFile | None:
    """The file that a text names; `None` if it names none, or one in the project."""
    path = os.path.expanduser(text) if re.match("~[^/]", text) else resolve_path(text, cwd, home)
    if not text or not (_is_outward(text) or os.path.lexists(path)):
        return None
    try:
        file = locate_file(text, path, folder)
    except ValueError:
        return None  # no path can have such characters, and no program is started with them
    return None if file.foreign or file.path == os.path.realpath(folder) else file
