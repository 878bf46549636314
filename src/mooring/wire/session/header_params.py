"""Arguments that travel in the headers of an HTTP request as well as in its body, where a tool's schema asks for it.

The schema says so with `x-mcp-header`, which is new in the revision 2026-07-28.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final, TypeAlias

from msgspec import DecodeError, Raw, Struct

from mooring.core.protocol.raw import read
from mooring.wire.http.post import PROTOCOL_PREFIX, header_value

ArgumentPath: TypeAlias = tuple[str, ...]
PlacedSchema: TypeAlias = tuple[ArgumentPath | None, dict[str, Any]]
"""A schema and where it is; the path is `None` where no chain of properties leads there."""

_KEY: Final = "x-mcp-header"
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_TYPES = ("string", "integer", "boolean")
_SAFE = 2**53 - 1
"""Beyond this, a double is no longer the integer that was written."""
_DATA = ("const", "default", "enum", "examples")
"""Keywords whose values are data, not schemas."""
_MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
"""Keywords whose values hold schemas by name: a name is never an annotation."""


class HeaderParam(Struct, frozen=True):
    """One argument, by its path, and the header that repeats it."""

    path: ArgumentPath
    name: str

    def header(self, arguments: Any) -> dict[str, str]:
        """The header for these arguments; none where the argument is missing or null."""
        for step in self.path:
            arguments = arguments.get(step) if isinstance(arguments, Mapping) else None
        value = _format_value(arguments)
        return {} if value is None else {self.name: value}


class Flaw(Exception):
    """A tool's schema asks for a header that cannot be sent; the message says which and why."""


def find_header_params(schema: Raw) -> tuple[HeaderParam, ...]:
    """The arguments that a tool's schema wants repeated. Raises: Flaw where it asks for what cannot be done."""
    text = bytes(schema)
    # Nearly every schema ends here, unread. An escape may hide the key, so those with one are read.
    if _KEY.encode() not in text and b"\\u" not in text:
        return ()
    try:
        annotated = _find_annotated(read(schema))
    except DecodeError as error:
        raise Flaw(f"its schema cannot be read: {error}") from error
    params = tuple(_make_header_param(path, inner) for path, inner in annotated)
    _refuse_doubles(params)
    return params


def _format_value(argument: Any) -> str | None:
    match argument:
        case bool():  # before int, which it is too
            return "true" if argument else "false"
        case int():
            return str(argument)
        case float() if argument.is_integer() and abs(argument) <= _SAFE:
            return str(int(argument))
        case str():
            return header_value(argument)
        case _:
            return None


def _find_annotated(schema: Any) -> list[PlacedSchema]:
    """Every schema with an annotation, in the order of the text."""
    found: list[PlacedSchema] = []
    # A stack instead of recursion: how deep a schema goes is up to its server.
    waiting: list[tuple[ArgumentPath | None, Any]] = [((), schema)]
    while waiting:
        path, inner = waiting.pop()
        if isinstance(inner, dict) and _KEY in inner:
            found.append((path, inner))
        waiting += reversed(list(_children(path, inner)))
    return found


def _children(path: ArgumentPath | None, schema: Any) -> Iterator[tuple[ArgumentPath | None, Any]]:
    """Whatever may be a schema inside a schema, with the path to it."""
    match schema:
        case list():
            for each in schema:
                yield None, each
        case dict():
            for keyword, value in schema.items():
                yield from _values_of(path, keyword, value)
        case _:
            pass


def _values_of(path: ArgumentPath | None, keyword: str, value: Any) -> Iterator[tuple[ArgumentPath | None, Any]]:
    if keyword in _MAPS and isinstance(value, dict):
        # Only a chain of `properties` says where the argument is: under `patternProperties`, `$defs` or a condition,
        # one schema may describe many arguments or none.
        parent = path if keyword == "properties" else None
        for name, schema in value.items():
            yield None if parent is None else (*parent, name), schema
    elif keyword not in _DATA and keyword != _KEY:
        yield None, value


def _make_header_param(path: ArgumentPath | None, schema: dict[str, Any]) -> HeaderParam:
    if not path:
        raise Flaw(f"{_KEY} is not reached by a chain of properties")
    argument = ".".join(path)
    name = schema[_KEY]
    if not isinstance(name, str) or not re.fullmatch(_TOKEN, name):
        raise Flaw(f"the {_KEY} of its argument {argument} cannot be part of a header's name")
    if schema.get("type") not in _TYPES:
        raise Flaw(f"its argument {argument} has an {_KEY} but is not a string, integer or boolean")
    return HeaderParam(path, f"{PROTOCOL_PREFIX}Param-{name}")


def _refuse_doubles(params: tuple[HeaderParam, ...]) -> None:
    # Names of headers don't differ by case. Of several doubles the first in the alphabet is named.
    names = sorted(param.name.lower() for param in params)
    for name, following in pairwise(names):
        if name == following:
            raise Flaw(f"two of its arguments use the header {name}")
