"""What differs between two definitions of a name, field by field, with nothing secret in it."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

from mooring.core.definitions.config import Broken, Http, InProcess, ServerConfig, Stdio
from mooring.core.definitions.template import written_text
from mooring.display.text import mask
from mooring.verbs.config.list import split_target


class Difference(Struct, frozen=True):
    """One field in which a definition differs from the one that wins; `None` where one of them lacks it.

    Values are masked as everywhere: two that look the same differ in what is hidden.
    """

    field: str
    """The key, such as `args` or `env.TOKEN`."""
    here: str | tuple[str, ...] | None
    winner: str | tuple[str, ...] | None


def list_differences(winner: ServerConfig | Broken, other: ServerConfig | Broken) -> tuple[Difference, ...]:
    """What another definition would start or reach differently; nothing if one of them cannot be understood."""
    if isinstance(winner, Broken) or isinstance(other, Broken):
        return ()
    wins = {part.field: part for part in _list_parts(winner)}
    has = {part.field: part for part in _list_parts(other)}
    fields = dict.fromkeys([*wins, *has])
    return tuple(
        Difference(field, _shown(has.get(field)), _shown(wins.get(field)))
        for field in fields
        if not _is_same(wins.get(field), has.get(field))
    )


class _Part(NamedTuple):
    """One field of a definition: what it holds, and what of that can be shown."""

    field: str
    value: object
    shown: str | tuple[str, ...]


def _is_same(one: _Part | None, other: _Part | None) -> bool:
    return one is not None and other is not None and one.value == other.value


def _shown(part: _Part | None) -> str | tuple[str, ...] | None:
    return None if part is None else part.shown


def _list_parts(config: ServerConfig) -> Iterator[_Part]:
    command, args, url = split_target(config)
    match config.connection:
        case Stdio() as program:
            yield _Part("command", program.command, command or "")
            yield _Part("args", program.args, args)
            yield from _list_program_parts(program)
        case Http() as remote:
            yield _Part("url", remote.url, url or "")
            yield _Part("type", remote.transport, remote.transport)
            for name, value in remote.headers.items():
                yield _Part(f"headers.{name}", value, mask(value))
            if remote.headers_helper:
                yield _Part("headersHelper", remote.headers_helper, mask(remote.headers_helper))
        case InProcess(server):
            yield _Part("object", id(server), type(server).__qualname__)


def _list_program_parts(program: Stdio) -> Iterator[_Part]:
    for name, value in program.env.items():
        yield _Part(f"env.{name}", value, mask(value))
    if program.pass_env:
        yield _Part("pass_env", program.pass_env, program.pass_env)
    if program.env_file:
        yield _Part("envFile", program.env_file, written_text(program.env_file) or "")
    if program.cwd:
        yield _Part("cwd", program.cwd, written_text(program.cwd) or "")
