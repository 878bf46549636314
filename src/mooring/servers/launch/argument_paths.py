"""The files and folders outside the project that the arguments of a project's program name, as far as can be seen.

A question shows the whole command, but `-v ~/.ssh:/x` is easily overlooked in it, so each path gets a line of its own.
What the program does with it isn't known: it may be a folder inside a container. An approval is bound to the text of
the command anyway. If a link leads a path of the project out of there, it is bound to where that is, too.
"""

import os
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from mooring.core.definitions.config import ServerConfig, Stdio
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.template import Template
from mooring.servers.launch.expand import Expanded
from mooring.servers.launch.fetch import resolve_path
from mooring.servers.launch.named_files import NamedFile, locate_file
from mooring.servers.launch.placeholders import fill_without_fetching


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
