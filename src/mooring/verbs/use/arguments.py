"""Turns the words of a command line into the arguments of a tool, guided by its schema."""

import json
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from mooring import files
from mooring.core.protocol.tool import Tool
from mooring.core.protocol.units import MIB
from mooring.errors import ConfigError, FileError
from mooring.tools.arguments.form import check
from mooring.tools.arguments.plain import loads
from mooring.tools.arguments.wording import FOR_PEOPLE
from mooring.tools.schema.shape import ALL, Shape, type_of

LIMIT = 16 * MIB
"""The largest file, or text on stdin, that is taken as an argument."""


def parse_arguments(words: Sequence[str], schema: Mapping[str, Any], text: str | None = None) -> dict[str, Any]:
    """The arguments that `k=v` and `k=@file` words and a JSON text spell out; a word overrides the text.

    `k=a k=b` is a list where the schema has one, `k:=1.5` is JSON whatever the schema says, and `a.b=v` is the `b` of
    an object `a`, unless there is a parameter of that very name. A word with a name that the schema doesn't know is
    refused. The JSON text is left to the schema alone, so that anything can be sent.

    Raises:
        ConfigError: a word or the text cannot be understood.
        FileError: a file that is named cannot be read.
    """
    arguments = {} if text is None else _parse_json(text)
    shape = Shape(schema)
    typed = _group_words(words)
    known = shape.properties_at(())
    paths: list[tuple[str, ...]] = []
    for key, values in typed.items():
        path = _find_path(key, known)
        if any(other[: len(path)] == path for other in paths):
            raise ConfigError(f"{'.'.join(path)} is given twice.")
        paths.append(path)
        owner = path[:-1]
        if path[-1] not in shape.properties_at(owner) and not shape.is_open_at(owner):
            raise _make_unknown(path[-1], owner, typed, shape)
        is_json = key.endswith(":") and key not in known
        _put(arguments, path, _parse_raw(path, values) if is_json else _parse_values(path, values, shape))
    return arguments


def _find_path(key: str, known: Container[str]) -> tuple[str, ...]:
    """The parameter that a name means, and what inside it."""
    for name in (key, key.removesuffix(":"), key.removesuffix(":").replace("-", "_")):
        if name in known:
            return (name,)
    key = key.removesuffix(":")
    steps = tuple(key.split("."))
    return steps if len(steps) > 1 and steps[0] in known and all(steps) else (key,)


def _put(arguments: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Put a value into the object that it belongs into, which is made where it is missing."""
    container = arguments
    for step in path[:-1]:
        inner = container.setdefault(step, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"{step} is given as a whole, so {'.'.join(path)} cannot be put into it.")
        container = inner
    container[path[-1]] = value


def _group_words(words: Sequence[str]) -> dict[str, list[str]]:
    """What was typed for each name, in order."""
    typed: dict[str, list[str]] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.removesuffix(":"):
            raise ConfigError(f"{word!r} has no name; write it as name=value, or give all of them with --args.")
        typed.setdefault(key, []).append(value)
    return typed


def _make_unknown(key: str, owner: Sequence[str], typed: Mapping[str, Any], shape: Shape) -> ConfigError:
    # Loaded here: it brings difflib, which only an error needs.
    from mooring.tools.arguments.mismatch import explain_unknown

    return ConfigError(FOR_PEOPLE.finish("", explain_unknown(key, owner, typed, shape, FOR_PEOPLE)))


def build_arguments(
    server: str, tool: Tool, words: Sequence[str], text: str | None = None, *, warn: Callable[[str], None]
) -> dict[str, Any]:
    """Parse the arguments of one call and check them against the tool's schema, before anything is sent.

    If they cannot be checked, `warn` is told why, and they are sent as they are.

    Raises: as `parse_arguments`; BadArguments where they do not fit the schema.
    """
    arguments = parse_arguments(words, tool.schema, text)
    if note := check(server, tool, arguments, FOR_PEOPLE):
        warn(note)
    return arguments


def spell_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The words of a command line that mean these arguments."""
    words: list[str] = []
    for key, value in arguments.items():
        words += _spell_value(key, value)
    if all(map(_is_plain, words)) and _means(words, arguments, schema):
        return words
    return ["--args", json.dumps(arguments, ensure_ascii=False)]


def _is_plain(word: str) -> bool:
    """Whether a word is neither an option nor names a file."""
    return not word.startswith("-") and "=@" not in word


def _means(words: Sequence[str], arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    try:
        return parse_arguments(words, schema) == arguments
    except ConfigError:
        return False


def _spell_value(key: str, value: Any) -> list[str]:
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return [f"{key}={item}" for item in value]
    return [f"{key}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"]


def _parse_json(text: str) -> dict[str, Any]:
    try:
        arguments = loads(text)
    except json.JSONDecodeError as error:
        place = f" (line {error.lineno}, column {error.colno})"
        raise ConfigError(f"The arguments are not valid JSON{place}.") from None
    except ValueError:
        # Nested too deeply, or a number that no JSON has: the parser knows no place.
        raise ConfigError("The arguments are not valid JSON.") from None
    if not isinstance(arguments, dict):
        raise ConfigError("The arguments must be a JSON object.")
    return arguments


def _read_value(text: str) -> str:
    """The text itself, or for `@file` what is in the file."""
    if not text.startswith("@"):
        return text
    path = text[1:]
    data = files.read(path, LIMIT)
    if data is None:
        raise FileError(path, "does not exist, so the argument cannot be read from it")
    try:
        return data.decode()
    except UnicodeDecodeError:
        # Raised below, outside of this block: in its context, the decoding error would keep the whole file.
        reason = "is not UTF-8 text"
    raise FileError(path, reason)


# Without `on` and `off`, which are more often the names of modes.
_SWITCHES = {"yes": True, "true": True, "no": False, "false": False}


def _parse_raw(path: Sequence[str], texts: Sequence[str]) -> Any:
    """What was typed as JSON: a value, or a list of those that were typed one by one."""
    name = ".".join(path)
    try:
        values = [loads(_read_value(text)) for text in texts]
    except ValueError:
        raise ConfigError(
            f"{name}:= takes JSON, such as {name}:=1.5 or {name}:=null; for a text write {name}=…"
        ) from None
    return values[0] if len(values) == 1 else values


def _parse_values(path: Sequence[str], texts: Sequence[str], shape: Shape) -> Any:
    """What one name was given: a value, or a list of those that were typed one by one."""
    key = ".".join(path)
    wanted = shape.types_at(path)
    takes_list = "array" in wanted and wanted != ALL
    if len(texts) == 1:
        value = _parse_value(_read_value(texts[0]), wanted)
        if value is not _MISFIT:
            return value
        if not takes_list:
            raise _make_misfit(key, texts[0], wanted)
    elif not takes_list:
        raise ConfigError(f"{key} is given {len(texts)} times, but takes one value.")
    return [_parse_item(path, index, text, shape) for index, text in enumerate(texts)]


def _parse_item(path: Sequence[str], index: int, text: str, shape: Shape) -> Any:
    wanted = shape.types_at([*path, index])
    value = _parse_value(_read_value(text), wanted)
    if value is _MISFIT:
        raise _make_misfit(".".join(path), text, wanted, _PLURALS.get(wanted))
    return value


_MISFIT: Any = object()
"""Stands for a text that means nothing the schema wants."""


def _parse_value(text: str, wanted: frozenset[str]) -> Any:
    """The text as it is where the schema wants a string, and read as JSON where it wants something else."""
    if wanted <= {"string", "null"}:
        return text
    try:
        value = loads(text)
    except ValueError:
        value = text
    if wanted == ALL:
        return _keep_spelling(text, value)
    if type_of(value) in wanted:
        return value
    if "string" in wanted:
        return text
    if "boolean" in wanted:
        return _SWITCHES.get(text.casefold(), _MISFIT)
    return _MISFIT


# A plain item may be typed on its own, but nobody types an object: they need to know that a list is wanted.
_PLURALS = {frozenset({"object"}): "a list of objects", frozenset({"array"}): "a list of lists"}


def _make_misfit(key: str, text: str, wanted: frozenset[str], expected: str | None = None) -> ConfigError:
    from mooring.tools.arguments.mismatch import show_types  # as above

    # What a file holds was not typed here, and may be long or secret.
    given = f"what {text[1:]} holds" if text.startswith("@") else FOR_PEOPLE.show_text(key, text)
    expected = expected or show_types(wanted, FOR_PEOPLE)
    return ConfigError(f"{key} {FOR_PEOPLE.must} {expected}, not {given}.")


def _keep_spelling(text: str, value: Any) -> Any:
    """The value, unless it is a number that JSON would spell differently.

    Without a schema nobody knows whether `1.10` is a number or a version, and as a number it would lose a digit.
    """
    is_number = isinstance(value, int | float)
    if is_number and json.dumps(value) != text:
        return text
    return value
