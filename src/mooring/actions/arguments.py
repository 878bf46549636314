"""Turns the words of a command line into the arguments of a tool, guided by its schema."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mooring import files
from mooring.core.tool import Tool
from mooring.core.units import MIB
from mooring.errors import ConfigError, FileError
from mooring.tools.arguments.form import check
from mooring.tools.arguments.written import loads
from mooring.tools.schema.shape import ALL, Shape, type_of

LIMIT = 16 * MIB
"""The largest file, or text on stdin, that is taken as an argument."""


def parse_arguments(words: Sequence[str], schema: Mapping[str, Any], text: str | None = None) -> dict[str, Any]:
    """The arguments that `k=v` and `k=@file` words and a JSON text spell out; a word overrides the text.

    Raises:
        ConfigError: a word or the text cannot be understood.
        FileError: a file that is named cannot be read.
    """
    arguments = {} if text is None else _parse_json(text)
    shape = Shape(schema)
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise ConfigError(f"{word!r} is no argument; write it as name=value, or give all of them with --args.")
        arguments[key] = _parse_value(key, _read_value(value), shape.types_at([key]))
    return arguments


def build_arguments(
    server: str, tool: Tool, words: Sequence[str], text: str | None = None, *, warn: Callable[[str], None]
) -> dict[str, Any]:
    """Parse the arguments of one call and check them against the tool's schema, before anything is sent.

    If they cannot be checked, `warn` is told why, and they are sent as they are.

    Raises: as `parse_arguments`; BadArguments where they do not fit the schema.
    """
    arguments = parse_arguments(words, tool.schema, text)
    if note := check(server, tool, arguments):
        warn(note)
    return arguments


def _parse_json(text: str) -> dict[str, Any]:
    try:
        arguments = loads(text)
    except json.JSONDecodeError as error:
        place = f" (line {error.lineno}, column {error.colno})"
        raise ConfigError(f"The arguments are not valid JSON{place}.") from None
    except (ValueError, RecursionError):
        # Nested too deeply, or a number that no JSON has: the parser knows no place.
        raise ConfigError("The arguments are not valid JSON.") from None
    if not isinstance(arguments, dict):
        raise ConfigError("The arguments should be a JSON object.")
    return arguments


def _read_value(text: str) -> str:
    """The text itself, or for `@file` what is in the file."""
    if not text.startswith("@"):
        return text
    path = text[1:]
    data = files.read(path, LIMIT)
    if data is None:
        raise FileError(path, "does not exist")
    try:
        return data.decode()
    except UnicodeDecodeError:
        # Raised below, outside of this block: in its context, the decoding error would keep the whole file.
        reason = "is not UTF-8 text"
    raise FileError(path, reason)


def _parse_value(key: str, text: str, wanted: frozenset[str]) -> Any:
    """The text as it is where the schema wants a string, and read as JSON where it wants something else."""
    if wanted <= {"string", "null"}:
        return text
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        value = text
    if wanted == ALL:
        return _keep_spelling(text, value)
    if type_of(value) in wanted:
        return value
    if "string" in wanted:
        return text
    # A number may be an integer: to name both would only confuse.
    named = wanted - {"integer"} if "number" in wanted else wanted
    raise ConfigError(f"{key} should be {' or '.join(sorted(named))}; {key}=… is something else.")


def _keep_spelling(text: str, value: Any) -> Any:
    """The value, unless it is a number that JSON would spell differently.

    Without a schema nobody knows whether `1.10` is a number or a version, and as a number it would lose a digit.
    """
    is_number = isinstance(value, int | float)
    if is_number and json.dumps(value) != text:
        return text
    return value
