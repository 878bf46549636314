"""Words from a command line into the arguments of a tool, by its schema."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from mooring import files
from mooring.core.tool import Tool
from mooring.errors import ConfigError, FileError

LIMIT = 16 * files.MIB


def arguments(words: Sequence[str], schema: Mapping[str, Any], given: str | None = None) -> dict[str, Any]:
    """What `k=v`, `k=@file` and a JSON text of arguments come to; a word counts before the text.

    Raises:
        ConfigError: a word or the text cannot be understood.
        FileError: a file that is named cannot be read.
    """
    made = _from_json(given) if given is not None else {}
    properties = schema.get("properties")
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise ConfigError(f"{word!r} is no argument; write it as name=value, or give all of them with --args.")
        known = properties.get(key) if isinstance(properties, Mapping) else None
        made[key] = _value(key, _read(text), known if isinstance(known, Mapping) else {})
    return made


def filled(server: str, tool: Tool, words: Sequence[str], given: str | None = None) -> dict[str, Any]:
    """The arguments of one call; whatever can be found wrong with them is found here, before anything is sent.

    Raises: as `arguments`.
    """
    return arguments(words, tool.schema, given)


def _from_json(text: str) -> dict[str, Any]:
    try:
        made = _loads(text)
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


def _value(key: str, text: str, schema: Mapping[str, Any]) -> Any:
    """A text stays one where the schema wants one, and is read as JSON where it wants something else."""
    wanted = _types(schema)
    if wanted and wanted <= {"string", "null"}:
        return text
    try:
        value = _loads(text)
    except (ValueError, RecursionError):
        value = text
    if not wanted:
        return text if isinstance(value, int | float) and json.dumps(value) != text else value
    if _type(value) in wanted or ("number" in wanted and _type(value) == "integer"):
        return value
    if "string" in wanted:
        return text
    raise ConfigError(f"{key} should be {' or '.join(sorted(wanted))}; {key}=… is something else.")


def _loads(text: str) -> Any:
    """JSON, and no more than that: what is no number or too large for one would reach the server as null."""
    return json.loads(text, parse_constant=_refuse, parse_float=_finite)


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _types(schema: Mapping[str, Any]) -> set[str]:
    """The types a schema allows by its own word, also through `anyOf` and `oneOf`; none known, none checked."""
    stated = schema.get("type")
    found = {stated} if isinstance(stated, str) else {t for t in stated or () if isinstance(t, str)}
    for branch in (*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())):
        if isinstance(branch, Mapping):
            found |= _types(branch)
    return found


def _type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
