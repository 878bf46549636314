"""Arguments repaired where there is no doubt what was meant, with a note on each change; see `ArgumentForm.repair`."""

import re
from typing import Any

from mooring.tools.arguments.plain import loads
from mooring.tools.schema.shape import ALL, Path, Shape, format_path, type_of

_INDEXED = r"(?P<name>[^\[\]]+)\[(?P<index>\d{1,4})\]"
_SEVERAL_IN_ONE = r"[,;|\s]"
"""Characters that may separate several values in one text."""
_UNREADABLE = object()


def gather_lists(arguments: dict[str, Any], shape: Shape) -> tuple[dict[str, Any], list[str]]:
    """Put lists together that came as separate parameters, such as `ids[0]` and `ids[1]`."""
    notes = []
    for name, keys in _indexed_keys(arguments, shape).items():
        indices = range(len(keys))
        types = shape.types_at([name])
        # A gap leaves it open what was meant.
        is_complete = sorted(keys) == list(indices)
        takes_list = "array" in types and types != ALL
        if is_complete and takes_list:
            arguments[name] = [arguments.pop(keys[index]) for index in indices]
            notes.append(f"{name}[0] to {name}[{len(keys) - 1}] were read as the list {name}")
    return arguments, notes


def _indexed_keys(arguments: dict[str, Any], shape: Shape) -> dict[str, dict[int, str]]:
    """The keys that look like items of a known parameter, by its name and their index."""
    if not any(key.endswith("]") for key in arguments):
        return {}  # nearly always, and the properties take longer to find than everything else
    known = shape.properties_at(())
    found: dict[str, dict[int, str]] = {}
    for key in arguments:
        match = re.fullmatch(_INDEXED, key)
        if match is None or key in known:
            continue
        name = match["name"]
        if name in known and name not in arguments:
            found.setdefault(name, {})[int(match["index"])] = key
    return found


def repair_value(arguments: dict[str, Any], path: Path, shape: Shape) -> str:
    """Repair the value at `path` in place, copying what holds it; a note, or an empty text if there is doubt."""
    if not path:
        return ""
    try:
        holder = _copy_down_to(arguments, path[:-1])
        value = holder[path[-1]]
    except (KeyError, IndexError, TypeError):
        return ""
    allowed = shape.types_at(path)
    if isinstance(value, str):
        read = _read_as(value, allowed)
        if read is not _UNREADABLE:
            holder[path[-1]] = read
            return f"{format_path(path)}: a text was read as {_WITH_ARTICLE[type_of(read)]}"
    if _is_empty(value):
        return _leave_out(holder, path, shape)
    if allowed <= {"array", "null"} and _is_single_item(value, shape.types_at([*path, 0])):
        holder[path[-1]] = [value]
        return f"{format_path(path)}: one value was read as a list of one"
    return ""


def _read_as(text: str, allowed: frozenset[str]) -> Any:
    """The JSON in a text, if a text isn't allowed and that JSON is."""
    if "string" in allowed:
        return _UNREADABLE
    json = text.lower() if text in ("True", "False") else text  # as Python writes them
    try:
        value = loads(json)
    except ValueError:
        return _UNREADABLE
    return value if type_of(value) in allowed else _UNREADABLE


def _is_empty(value: Any) -> bool:
    return value is None or (type(value) in (str, dict, list) and not value)


def _leave_out(holder: Any, path: Path, shape: Shape) -> str:
    name = path[-1]
    if not isinstance(name, str) or name in shape.required_at(path[:-1]):
        return ""
    del holder[name]
    return f"{format_path(path)}: an empty value was left out"


def _is_single_item(value: Any, item_types: frozenset[str]) -> bool:
    """Whether a value is certainly one item of the list that was expected."""
    is_known_item = item_types != ALL and type_of(value) in item_types
    if not is_known_item or isinstance(value, list):
        return False
    return not isinstance(value, str) or re.search(_SEVERAL_IN_ONE, value) is None


def _copy_down_to(arguments: dict[str, Any], path: Path) -> Any:
    """What is at `path`, with each container on the way replaced by a copy: the caller's data stays as it is."""
    here: Any = arguments
    for step in path:
        here[step] = here[step].copy()
        here = here[step]
    return here


_WITH_ARTICLE = {
    "null": "null",
    "boolean": "a boolean",
    "integer": "a number",
    "number": "a number",
    "array": "a list",
    "object": "an object",
    "string": "a text",
}
