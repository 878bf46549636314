"""Arguments that travel in the headers of an HTTP request as well as in its body, where a tool's schema asks for it.

The schema says so with `x-mcp-header`, which is new in the revision 2026-07-28.
"""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final, TypeAlias

from msgspec import DecodeError, Raw, Struct

from mooring.core.raw import read

ArgumentPath: TypeAlias = tuple[str, ...]

_KEY: Final = "x-mcp-header"
_PLAIN = r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?|"
"""A value that arrives as it was sent: printable ASCII without spaces at its ends, or nothing."""
_SENTINEL = r"(?s)=\?base64\?.*\?="
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_TYPES = ("string", "integer", "boolean")
_SAFE = 2**53 - 1
"""Beyond this, a double is no longer the integer that was written."""
_DATA = ("const", "default", "enum", "examples")
"""Keywords whose values are data, not schemas."""
_MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
"""Keywords whose values hold schemas by name: a name is never an annotation."""


class Mirror(Struct, frozen=True):
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


def find_mirrors(schema: Raw) -> tuple[Mirror, ...]:
    """The arguments that a tool's schema wants repeated. Raises: Flaw where it asks for what cannot be done."""
    text = bytes(schema)
    # Nearly every schema ends here, unread. An escape may hide the key, so those with one are read.
    if _KEY.encode() not in text and b"\\u" not in text:
        return ()
    try:
        found = list(_find_annotated(read(schema), ()))
    except DecodeError as error:
        raise Flaw(f"its schema cannot be read: {error}") from error
    except RecursionError:
        raise Flaw("its schema is nested too deeply") from None
    mirrors = tuple(_make_mirror(path, annotated) for path, annotated in found)
    _refuse_doubles(mirrors)
    return mirrors


def header_value(text: str) -> str:
    """The text as the value of a header: unchanged where that is safe, else in Base64 between markers."""
    if re.fullmatch(_PLAIN, text) and not re.fullmatch(_SENTINEL, text):
        return text
    return f"=?base64?{b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


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


def _find_annotated(schema: Any, path: ArgumentPath | None) -> Iterator[tuple[ArgumentPath | None, dict[str, Any]]]:
    """Every schema with an annotation; the path is `None` where no chain of properties leads to it."""
    if isinstance(schema, list):
        for each in schema:
            yield from _find_annotated(each, None)
    if not isinstance(schema, dict):
        return
    if _KEY in schema:
        yield path, schema
    for keyword, value in schema.items():
        if keyword in _MAPS and isinstance(value, dict):
            # Only a chain of `properties` says where the argument is: under `patternProperties`, `$defs` or a
            # condition, one schema may stand for many arguments or for none.
            yield from _find_in_map(value, path if keyword == "properties" else None)
        elif keyword not in _DATA and keyword != _KEY:
            yield from _find_annotated(value, None)


def _find_in_map(
    schemas: dict[str, Any], parent: ArgumentPath | None
) -> Iterator[tuple[ArgumentPath | None, dict[str, Any]]]:
    for name, schema in schemas.items():
        path = None if parent is None else (*parent, name)
        yield from _find_annotated(schema, path)


def _make_mirror(path: ArgumentPath | None, schema: dict[str, Any]) -> Mirror:
    if not path:
        raise Flaw(f"{_KEY} stands where no chain of properties leads")
    argument = ".".join(path)
    name = schema[_KEY]
    if not isinstance(name, str) or not re.fullmatch(_TOKEN, name):
        raise Flaw(f"the {_KEY} of its argument {argument} cannot be part of a header's name")
    if schema.get("type") not in _TYPES:
        raise Flaw(f"its argument {argument} has an {_KEY} but is no string, integer or boolean")
    return Mirror(path, f"Mcp-Param-{name}")


def _refuse_doubles(mirrors: tuple[Mirror, ...]) -> None:
    # Names of headers don't differ by case. Of several doubles the first in the alphabet is named.
    names = sorted(mirror.name.lower() for mirror in mirrors)
    for name, following in pairwise(names):
        if name == following:
            raise Flaw(f"two of its arguments want the header {name}")
