"""Words from a command line into the arguments of a tool, by its schema."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mooring import files
from mooring.core.tool import Tool
from mooring.errors import ConfigError, FileError
from mooring.tools.arguments.form import check
from mooring.tools.arguments.written import loads
from mooring.tools.schema.shape import ALL, Shape, type_of

LIMIT = 16 * files.MIB


def arguments(words: Sequence[str], schema: Mapping[str, Any], given: str | None = None) -> dict[str, Any]:
    """What `k=v`, `k=@file` and a JSON text of arguments come to; a word counts before the text.

    Raises:
        ConfigError: a word or the text cannot be understood.
        FileError: a file that is named cannot be read.
    """
    made = _from_json(given) if given is not None else {}
    shape = Shape(schema)
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise ConfigError(f"{word!r} is no argument; write it as name=value, or give all of them with --args.")
        made[key] = _value(key, _read(text), shape.types_at([key]))
    return made


def filled(server: str, tool: Tool, words: Sequence[str], given: str | None = None) -> dict[str, Any]:
    """The arguments of one call; whatever can be found wrong with them is found here, before anything is sent.

    Raises: as `arguments`; BadArguments where they do not fit the tool's schema.
    """
    made = arguments(words, tool.schema, given)
    check(server, tool, made)
    return made


def _from_json(text: str) -> dict[str, Any]:
    try:
        made = loads(text)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ConfigError(f"The arguments are not valid JSON{where}.") from None
    if not isinstance(made, dict):
        raise ConfigError("The arguments should be a JSON object.")
    return made


def _read(text: str) -> str:
    if not text.startswith("@"):
        return text
    data = files.read(text[1:], LIMIT)
    if data is None:
        raise FileError(text[1:], "does not exist")
    try:
        return data.decode()
    except UnicodeDecodeError:
        reason = "is not UTF-8 text"
    raise FileError(text[1:], reason)


def _value(key: str, text: str, wanted: frozenset[str]) -> Any:
    """A text stays one where the schema wants one, and is read as JSON where it wants something else."""
    if wanted <= {"string", "null"}:
        return text
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        value = text
    if wanted == ALL:
        return text if isinstance(value, int | float) and json.dumps(value) != text else value
    if type_of(value) in wanted:
        return value
    if "string" in wanted:
        return text
    named = sorted(wanted - {"integer"} if "number" in wanted else wanted)
    raise ConfigError(f"{key} should be {' or '.join(named)}; {key}=… is something else.")
