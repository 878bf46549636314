"""The files that a project's definition names: where they lead, and what they set that changes what a program loads.

The digest of a definition covers the text `.env`, not the file. So an approval is bound to two more things: where a
path inside the project leads if a link takes it out of there, and the variables of an `envFile` that decide what a
program loads. What else the files hold may change as it likes.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from mooring.core.definitions.config import ServerConfig, Stdio
from mooring.core.definitions.paths import Paths
from mooring.servers.launch.act import ENV_FILE_CONTENT, describe_act
from mooring.servers.launch.expand import Expanded
from mooring.servers.launch.fetch import read_value_file, resolve_path, value_file_folder
from mooring.servers.launch.placeholders import fill_without_fetching
from mooring.servers.launch.shell import CommandFailed
from mooring.servers.launch.target import is_search_path, may_replace_program


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
    for use in describe_act(config, own=False).uses:
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
    return dict(_variables(text.removeprefix("\ufeff")))


def _variables(text: str) -> Iterator[tuple[str, str]]:
    for found in re.finditer(_LINE, text):
        yield found["name"], _value(found)


def _value(found: re.Match[str]) -> str:
    if (single := found["single"]) is not None:
        return str(single)
    if (double := found["double"]) is not None:
        return re.sub(_ESCAPE, lambda escape: _ESCAPED.get(escape[1], escape[1]), double)
    return re.sub(_COMMENT, "", found["plain"]).strip()
