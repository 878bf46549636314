"""Arguments mended where there is no doubt how, each change with a note; see `arguments.Form.repair`."""

import re
from typing import Any

from mooring.tools.arguments.written import loads
from mooring.tools.schema.shape import ALL, Path, Shape, format_path, type_of

_INDEXED = r"(?P<name>[^\[\]]+)\[(?P<index>\d{1,4})\]"
_EMPTY: tuple[Any, ...] = ("", None, {}, [])


def gather_lists(arguments: dict[str, Any], shape: Shape) -> tuple[dict[str, Any], list[str]]:
    """Lists that were taken apart, `ids[0]` and `ids[1]`, put together again."""
    known, parts = shape.properties_at(()), dict[str, dict[int, str]]()
    for key in arguments:
        found = re.fullmatch(_INDEXED, key)
        if found and key not in known and found["name"] in known and found["name"] not in arguments:
            parts.setdefault(found["name"], {})[int(found["index"])] = key
    notes = []
    for name, keys in parts.items():
        types = shape.types_at([name])
        if sorted(keys) == list(range(len(keys))) and "array" in types and types != ALL:
            arguments[name] = [arguments.pop(keys[index]) for index in range(len(keys))]
            notes.append(f"{name}[0] to {name}[{len(keys) - 1}] were read as the list {name}")
    return arguments, notes


def repair_value(arguments: dict[str, Any], path: Path, shape: Shape) -> str:
    """Mend the value at `path` in place, copying what holds it; a note, or nothing where there is doubt."""
    if not path:
        return ""
    try:
        holder = _copied(arguments, path[:-1])
        value = holder[path[-1]]
    except (KeyError, IndexError, TypeError):
        return ""
    allowed, where = shape.types_at(path), format_path(path)
    if isinstance(value, str) and (read := _read(value, allowed)) is not None:
        holder[path[-1]] = read[0]
        return f"{where}: a text was read as {_A[type_of(read[0])]}"
    if any(value is empty or (value == empty and type(value) is type(empty)) for empty in _EMPTY):
        return _left_out(holder, path, shape)
    if allowed <= {"array", "null"} and _one_of_many(value, shape.types_at([*path, 0])):
        holder[path[-1]] = [value]
        return f"{where}: one value was read as a list of one"
    return ""


def _read(text: str, allowed: frozenset[str]) -> tuple[Any] | None:
    if "string" in allowed:
        return None
    try:
        value = loads(text.lower() if text in ("True", "False") else text)
    except (ValueError, RecursionError):
        return None
    return (value,) if type_of(value) in allowed else None


def _left_out(holder: Any, path: Path, shape: Shape) -> str:
    name = path[-1]
    if not isinstance(name, str) or name in shape.required_at(path[:-1]):
        return ""
    del holder[name]
    return f"{format_path(path)}: an empty value was left out"


def _one_of_many(value: Any, items: frozenset[str]) -> bool:
    if isinstance(value, list) or items == ALL or type_of(value) not in items:
        return False
    return not (isinstance(value, str) and re.search(r"[,;|\s]", value))


def _copied(arguments: dict[str, Any], path: Path) -> Any:
    """What stands at `path`, each step of the way replaced by a copy: the caller's own data stay as they are."""
    here: Any = arguments
    for step in path:
        here[step] = here[step].copy()
        here = here[step]
    return here


_A = {
    "null": "null",
    "boolean": "a boolean",
    "integer": "a number",
    "number": "a number",
    "array": "a list",
    "object": "an object",
    "string": "a text",
}
