"""Arguments that travel in the head of an HTTP request as well as in its body, where a tool's schema asks for it."""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import DecodeError, Raw, Struct

from mooring.core.raw import read

_KEY: Final = "x-mcp-header"
_PLAIN = r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?|"
_SENTINEL = r"(?s)=\?base64\?.*\?="
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_TYPES = ("string", "integer", "boolean")
_SAFE = 2**53 - 1
_DATA = ("const", "default", "enum", "examples")
"""Keywords whose values are data, not schemas."""
_MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
"""Keywords whose values hold schemas by name: a name is never an annotation."""


class Mirror(Struct, frozen=True):
    """One argument, by its path, and the header that repeats it."""

    path: tuple[str, ...]
    name: str

    def header(self, arguments: Any) -> dict[str, str]:
        """The header for these arguments; none where the argument is missing or null."""
        for step in self.path:
            arguments = arguments.get(step) if isinstance(arguments, Mapping) else None
        match arguments:
            case bool():
                return {self.name: "true" if arguments else "false"}
            case int():
                return {self.name: str(arguments)}
            case float() if arguments.is_integer() and abs(arguments) <= _SAFE:
                return {self.name: str(int(arguments))}
            case str():
                return {self.name: header_value(arguments)}
            case _:
                return {}


class Flaw(Exception):
    """A tool's schema asks for what cannot be done; the words say what."""


def header_value(text: str) -> str:
    """The text as the value of a header: as it is where that is safe, else in Base64, marked as such."""
    if re.fullmatch(_PLAIN, text) and not re.fullmatch(_SENTINEL, text):
        return text
    return f"=?base64?{b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


def mirrors(schema: Raw) -> tuple[Mirror, ...]:
    """The arguments that a tool's schema wants repeated. Raises: Flaw where it must not want that."""
    text = bytes(schema)
    if _KEY.encode() not in text and b"\\u" not in text:
        return ()
    try:
        found = list(_annotated(read(schema), ()))
    except DecodeError as error:
        raise Flaw(f"its schema cannot be read: {error}") from error
    except RecursionError:
        raise Flaw("its schema is nested too deeply") from None
    made = [_mirror(path, annotated) for path, annotated in found]
    names = [mirror.name.lower() for mirror in made]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise Flaw(f"two of its arguments want the header {twice[0]}")
    return tuple(made)


def _annotated(schema: Any, path: tuple[str, ...] | None) -> Iterator[tuple[tuple[str, ...] | None, dict[str, Any]]]:
    """Every schema with an annotation; the path is `None` where no chain of properties leads to it."""
    if isinstance(schema, list):
        for each in schema:
            yield from _annotated(each, None)
    if not isinstance(schema, dict):
        return
    if _KEY in schema:
        yield path, schema
    for keyword, value in schema.items():
        if keyword in _MAPS and isinstance(value, dict):
            for name, each in value.items():
                chained = keyword == "properties" and path is not None
                yield from _annotated(each, (*path, name) if chained and path is not None else None)
        elif keyword not in _DATA and keyword != _KEY:
            yield from _annotated(value, None)


def _mirror(path: tuple[str, ...] | None, schema: dict[str, Any]) -> Mirror:
    name, kind = schema[_KEY], schema.get("type")
    if not path:
        raise Flaw(f"{_KEY} stands where no chain of properties leads")
    where = ".".join(path)
    if not isinstance(name, str) or not re.fullmatch(_TOKEN, name):
        raise Flaw(f"the {_KEY} of its argument {where} cannot be part of a header's name")
    if kind not in _TYPES:
        raise Flaw(f"its argument {where} has an {_KEY} but is no string, integer or boolean")
    return Mirror(path, f"Mcp-Param-{name}")
