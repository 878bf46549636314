"""Why arguments don't fit their schema, in one sentence: which parameter, what was expected, what came.

Names, patterns and values may come from a server and end up on a terminal: everything that isn't printable is escaped,
everything long is cut.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any

from mooring.core.text.secret import is_secret_name
from mooring.tools.arguments.plain import Branch, failed_branches, likely_branches
from mooring.tools.arguments.wording import FOR_MODELS, MAX_NAMED, MAX_SHOWN, Wording, join_words, show_name, show_value
from mooring.tools.schema.shape import ALL, Path, Shape, as_map, format_path

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_MISSING = "required"
_UNKNOWN = ("additionalProperties", "unevaluatedProperties")
_RANKS: Mapping[str, int] = {_MISSING: 0, **dict.fromkeys(_UNKNOWN, 1)}
_SIMILARITY = 0.7
_MAX_COMPARED = 120_000
"""How many pairs of characters are compared for likeness: 600 names of 14 characters, or 40 of 55, in 20 ms."""


def explain_mismatch(
    errors: "Sequence[ValidationError]", arguments: Mapping[str, Any], shape: Shape, wording: Wording = FOR_MODELS
) -> tuple[str, Path]:
    """The one thing to fix first, and where it is."""
    error = _find_cause(min(errors, key=_rank))
    path = tuple(error.instance_path)
    if error.kind.name == _MISSING:
        kind_and_place = (error.kind.name, error.instance_path)
        alike = [each for each in errors if (each.kind.name, each.instance_path) == kind_and_place] or [error]
        return _explain_missing(alike, path, _value_at(arguments, path), shape, wording)
    if error.kind.name in _UNKNOWN:
        unknown = str(next(iter(getattr(error.kind, "unexpected", ["?"]))))
        return explain_unknown(unknown, path, _value_at(arguments, path), shape, wording), (*path, unknown)
    name = show_name(format_path(path)) or "all of it"
    expected = _describe_expected(error, wording)
    given = _describe_given(path, error.instance, wording)
    return f"{name} {wording.must} {expected}, not {given}", path


def explain_unknown(name: str, path: Path, given: Any, shape: Shape, wording: Wording) -> str:
    """That the object at `path` takes no parameter of this name, and which one may have been meant."""
    known = list(shape.properties_at(path))
    given_names = as_map(given)
    close = _find_similar(name, [other for other in known if other not in given_names])
    return wording.say_unknown(_show_owner(path), show_name(name), _show_names(close), _show_names(known))


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


# --- parameters that are missing or unknown -----------------------------------------------------------------


def _explain_missing(
    errors: "Sequence[ValidationError]", path: Path, given: Any, shape: Shape, wording: Wording
) -> tuple[str, Path]:
    owner = _show_owner(path)
    missing = [str(error.kind.as_dict()["property"]) for error in errors]
    known = shape.properties_at(path)
    given_names = as_map(given)
    unknown = [name for name in given_names if name not in known]
    # A name that is nearly right is the likeliest mistake, and the easiest to fix.
    for name in missing[:MAX_NAMED]:
        if close := _find_similar(name, unknown):
            return wording.say_misspelled(owner, show_name(name), show_name(close[0])), (*path, name)
    needed = [show_name(name) + _show_types_at(shape, [*path, name], wording) for name in missing]
    named = {*missing, *given_names}
    optional = [] if path else _show_names([name for name in known if name not in named])
    return wording.say_missing(owner, needed, optional), (*path, missing[0])


def _show_names(names: Iterable[str]) -> list[str]:
    return [show_name(name) for name in names]


def _find_similar(name: str, others: Iterable[str]) -> list[str]:
    if len(name) > MAX_SHOWN:
        return []
    by_folded = {_fold(other): other for other in _pick_comparable(name, others)}
    return [by_folded[found] for found in get_close_matches(_fold(name), by_folded, 2, _SIMILARITY)]


def _pick_comparable(name: str, others: Iterable[str]) -> Iterator[str]:
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
    return show_name(format_path(path)) if path else ""


def _show_types_at(shape: Shape, path: Path, wording: Wording) -> str:
    types = shape.types_at(path)
    is_obvious = types == ALL or wording.plain_types.issuperset(types)
    return "" if is_obvious else f" ({show_types(types, wording)})"


# --- what was expected --------------------------------------------------------------------------------------

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


def _describe_expected(error: "ValidationError", wording: Wording) -> str:
    kind = error.kind
    values: Mapping[str, Any] = kind.as_dict()
    match kind.name:
        case "type":
            return show_types(values["types"], wording)
        case "enum":
            options = join_words([show_value(option) for option in values["options"]], " or ")
            return f"one of {options}{_suggest_option(error.instance, values['options'])}"
        case "const":
            return show_value(values["expected_value"])
        case "anyOf" | "oneOf":
            return _describe_alternatives(error, wording)
        case name if name in _BOUNDS:
            # A pattern is the server's own text: shown as a name is, it can't steer a terminal.
            bound = str(next(iter(values.values())))
            return _BOUNDS[name].format(show_name(bound))
        case name:
            return _OTHERS.get(name, f"what the schema's {show_name(name)} asks for")


def _describe_alternatives(error: "ValidationError", wording: Wording) -> str:
    firsts = [next(iter(branch)) for branch in failed_branches(error) if branch]
    if not firsts:
        # `oneOf` without a failed alternative: the value meets more than one.
        return "one of the alternatives alone"
    described = [_describe_expected(first, wording) for first in firsts]
    return join_words(list(dict.fromkeys(described)), " or ")


def show_types(types: Iterable[str], wording: Wording) -> str:
    """The types that are allowed, in words."""
    named = set(types)
    if "number" in named:
        named.discard("integer")
    return " or ".join(text for name, text in wording.types.items() if name in named)


def _suggest_option(value: Any, options: Sequence[Any]) -> str:
    if not isinstance(value, str):
        return ""
    close = _find_similar(value, [option for option in options if isinstance(option, str)])
    return f" (did you mean {show_value(close[0])}?)" if close else ""


# --- what came ----------------------------------------------------------------------------------------------


def _describe_given(path: Path, value: Any, wording: Wording) -> str:
    match value:
        case dict():
            return f"an object with {join_words(_show_names(value))}" if value else "an empty object"
        case list():
            return f"a list of {len(value)}"
        case None | bool():
            return show_value(value)
        case str():
            return wording.show_text(_find_secret_step(path), value)
        case _ if is_secret_name(_find_secret_step(path)):
            return "what was given"
        case _:
            return show_value(value)


def _find_secret_step(path: Path) -> str:
    """The name of the value at `path`; the first that looks like a secret's, if one does."""
    steps = [str(step) for step in path]
    return next(filter(is_secret_name, steps), steps[-1] if steps else "")


def _value_at(arguments: Any, path: Path) -> Any:
    return reduce(getitem, path, arguments)
