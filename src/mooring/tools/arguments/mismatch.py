"""Why arguments don't fit their schema, in one sentence: which parameter, what was expected, what came.

Names, patterns and values may come from a server and end up on a terminal: everything that isn't printable is escaped,
everything long is cut.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from mooring.core.secret import is_secret_name
from mooring.tools.arguments.alternatives import Branch, failed_branches, likely_branches
from mooring.tools.schema.shape import ALL, Path, Shape, format_path

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

MAX_NAMED = 12
MAX_SHOWN = 60
_MISSING = "required"
_UNKNOWN = ("additionalProperties", "unevaluatedProperties")
_RANKS: Mapping[str, int] = {_MISSING: 0, **dict.fromkeys(_UNKNOWN, 1)}
_SIMILARITY = 0.7
_MAX_COMPARED = 120_000
"""How many pairs of characters are compared for likeness: 600 names of 14 characters, or 40 of 55, in 20 ms."""


def explain_mismatch(
    errors: "Sequence[ValidationError]", arguments: Mapping[str, Any], shape: Shape
) -> tuple[str, Path]:
    """The one thing to fix first, and where it is."""
    error = _find_cause(min(errors, key=_rank))
    path = tuple(error.instance_path)
    if error.kind.name == _MISSING:
        alike = [each for each in errors if _is_same_kind_and_place(each, error)] or [error]
        return _explain_missing(alike, path, _value_at(arguments, path), shape)
    if error.kind.name in _UNKNOWN:
        return _explain_unknown(error, path, _value_at(arguments, path), shape)
    name = _show_name(format_path(path)) or "all of it"
    return f"{name} should be {_describe_expected(error)}, not {_describe_given(path, error.instance)}", path


def _rank(error: "ValidationError") -> tuple[int, int]:
    """A missing parameter comes first: it may have been given under another name."""
    return _RANKS.get(error.kind.name, len(_RANKS)), len(error.instance_path)


def _find_cause(error: "ValidationError") -> "ValidationError":
    """What the alternative that was most likely meant lacks; the error itself if none stands out."""
    depth = len(error.instance_path)

    def is_within(inner: "ValidationError") -> bool:
        return len(inner.instance_path) > depth or inner.kind.name in (_MISSING, *_UNKNOWN)

    branches = [branch for branch in likely_branches(error) if branch and all(map(is_within, branch))]
    if not branches:
        return error
    likeliest = min(branches, key=_distance)
    return _find_cause(min(likeliest, key=_rank))


def _distance(branch: Branch) -> tuple[bool, int]:
    """How far the value is from an alternative. A wrong constant, such as another `kind`, outweighs everything else."""
    has_wrong_constant = any(inner.kind.name in ("const", "enum") for inner in branch)
    return has_wrong_constant, len(branch)


def _is_same_kind_and_place(one: "ValidationError", other: "ValidationError") -> bool:
    return (one.kind.name, one.instance_path) == (other.kind.name, other.instance_path)


# --- parameters that are missing or unknown -----------------------------------------------------------------


def _explain_missing(errors: "Sequence[ValidationError]", path: Path, given: Any, shape: Shape) -> tuple[str, Path]:
    owner = _show_owner(path)
    missing = [str(error.kind.as_dict()["property"]) for error in errors]
    known = shape.properties_at(path)
    given_names = _list_names(given)
    unknown = [name for name in given_names if name not in known]
    # A name that is nearly right is the likeliest mistake, and the easiest to fix.
    for name in missing[:MAX_NAMED]:
        if close := _find_similar(name, unknown):
            return f"{owner} needs {_show_name(name)}; did you mean that by {_show_name(close[0])}?", (*path, name)
    needed = _join_words(_show_name(name) + _show_types_at(shape, [*path, name]) for name in missing)
    verb = "is" if len(missing) == 1 else "are"
    also = "" if path else _mention_optional(known, {*missing, *given_names})
    return f"{owner} needs {needed}, which {verb} missing{also}", (*path, missing[0])


def _mention_optional(known: Iterable[str], named: set[str]) -> str:
    optional = [name for name in known if name not in named]
    if not optional:
        return ""
    return f"; it also takes {_join_words(map(_show_name, optional))}"


def _explain_unknown(error: "ValidationError", path: Path, given: Any, shape: Shape) -> tuple[str, Path]:
    name = str(next(iter(getattr(error.kind, "unexpected", ["?"]))))
    hint = _suggest_name(name, list(shape.properties_at(path)), _list_names(given))
    return f"{_show_owner(path)} takes no parameter {_show_name(name)}; {hint}", (*path, name)


def _suggest_name(unknown: str, known: list[str], given: list[str]) -> str:
    if not known:
        return "it takes none"
    not_given = [name for name in known if name not in given]
    close = _find_similar(unknown, not_given)
    if close:
        return f"did you mean {_join_words(map(_show_name, close), ' or ')}?"
    return f"it takes {_join_words(map(_show_name, known))}"


def _list_names(given: Any) -> list[str]:
    return list(given) if isinstance(given, Mapping) else []


def _find_similar(name: str, others: Iterable[str]) -> list[str]:
    if len(name) > MAX_SHOWN:
        return []
    by_folded = {_fold(other): other for other in _take_comparable(name, others)}
    return [by_folded[found] for found in get_close_matches(_fold(name), by_folded, 2, _SIMILARITY)]


def _take_comparable(name: str, others: Iterable[str]) -> Iterator[str]:
    """As many as can be compared in time: it takes as long as the two are, multiplied."""
    left = _MAX_COMPARED
    for other in others:
        if len(other) > MAX_SHOWN:
            continue
        left -= len(name) * len(other)
        if left < 0:
            return
        yield other


def _fold(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _show_owner(path: Path) -> str:
    return _show_name(format_path(path)) if path else "it"


def _show_types_at(shape: Shape, path: Path) -> str:
    types = shape.types_at(path)
    return "" if types == ALL else f" ({_show_types(types)})"


# --- what was expected --------------------------------------------------------------------------------------

_TYPES = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_BOUNDS: Mapping[str, str] = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters long",
    "maxLength": "at most {} characters long",
    "minItems": "a list of {} or more",
    "maxItems": "a list of {} or fewer",
    "minProperties": "an object with {} keys or more",
    "maxProperties": "an object with {} keys or fewer",
    "pattern": "a string that matches {}",
}
_OTHERS: Mapping[str, str] = {
    "uniqueItems": "a list that holds nothing twice",
    "contains": "a list that holds what the schema asks for",
    "falseSchema": "left out",
    "propertyNames": "an object with other keys",
}


def _describe_expected(error: "ValidationError") -> str:
    kind = error.kind
    values: Mapping[str, Any] = kind.as_dict()
    match kind.name:
        case "type":
            return _show_types(values["types"])
        case "enum":
            options = _join_words(map(_show_value, values["options"]), " or ")
            return f"one of {options}{_suggest_option(error.instance, values['options'])}"
        case "const":
            return _show_value(values["expected_value"])
        case "anyOf" | "oneOf":
            return _describe_alternatives(error)
        case name if name in _BOUNDS:
            # A pattern is the server's own text: shown as a name is, it can't steer a terminal.
            bound = str(next(iter(values.values())))
            return _BOUNDS[name].format(_show_name(bound))
        case name:
            return _OTHERS.get(name, f"what the schema's {_show_name(name)} asks for")


def _describe_alternatives(error: "ValidationError") -> str:
    firsts = [next(iter(branch)) for branch in failed_branches(error) if branch]
    if not firsts:
        # `oneOf` without a failed alternative: the value meets more than one.
        return "one of the alternatives alone"
    return _join_words(dict.fromkeys(map(_describe_expected, firsts)), " or ")


def _show_types(types: Iterable[str]) -> str:
    named = set(types)
    if "number" in named:
        named.discard("integer")
    return " or ".join(text for name, text in _TYPES.items() if name in named)


def _suggest_option(value: Any, options: Sequence[Any]) -> str:
    if not isinstance(value, str):
        return ""
    close = _find_similar(value, [option for option in options if isinstance(option, str)])
    return f" (did you mean {_show_value(close[0])}?)" if close else ""


# --- what came ----------------------------------------------------------------------------------------------

_JSON_WORDS: Mapping[str, str] = {"None": "null", "True": "true", "False": "false"}


def _describe_given(path: Path, value: Any) -> str:
    match value:
        case dict():
            return f"an object with {_join_words(map(_show_name, value))}" if value else "an empty object"
        case list():
            return f"a list of {len(value)}"
        case None | bool():
            return _show_value(value)
        case _ if any(is_secret_name(str(step)) for step in path):
            return "what was given"
        case str():
            return f"the string {_show_value(value)}"
        case _:
            return _show_value(value)


def _show_value(value: Any) -> str:
    if isinstance(value, str):
        return repr(_cut(value))
    text = repr(value)
    return _JSON_WORDS.get(text) or _cut(text)


def _show_name(name: str) -> str:
    if name.isprintable() and name.strip() == name:
        return _cut(name)
    return repr(_cut(name))


def _join_words(words: Iterable[str], last: str = " and ") -> str:
    shown = list(words)
    if len(shown) > MAX_NAMED:
        shown[MAX_NAMED:] = [f"{len(shown) - MAX_NAMED} more"]
    if len(shown) < 2:
        return "".join(shown)
    return last.join([", ".join(shown[:-1]), shown[-1]])


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"


def _value_at(arguments: Any, path: Path) -> Any:
    here = arguments
    for step in path:
        here = here[step]
    return here
