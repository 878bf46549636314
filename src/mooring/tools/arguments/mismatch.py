"""What does not fit a schema, as one sentence: which parameter, what was expected, what came."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from mooring.core.secret import is_secret_name
from mooring.tools.arguments.form import likely
from mooring.tools.schema.shape import ALL, Path, Shape, format_path

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

MOST_NAMED = 12
LONGEST = 60
_UNKNOWN = ("additionalProperties", "unevaluatedProperties")


def explain_mismatch(
    errors: "Sequence[ValidationError]", arguments: Mapping[str, Any], shape: Shape
) -> tuple[str, Path]:
    """The one thing to mend first, and where it is."""
    error = _innermost(min(errors, key=_weight))
    path = tuple(error.instance_path)
    if error.kind.name == "required":
        return _missing([each for each in errors if _same(each, error)] or [error], path, _at(arguments, path), shape)
    if error.kind.name in _UNKNOWN:
        return _unknown(error, path, _at(arguments, path), shape)
    return (
        f"{_name(format_path(path)) or 'all of it'} should be {_expected(error)}, not {_came(path, error.instance)}",
        path,
    )


def _weight(error: "ValidationError") -> tuple[int, int]:
    """What is missing first: it may stand there under another name."""
    rank = 0 if error.kind.name == "required" else 1 if error.kind.name in _UNKNOWN else 2
    return rank, len(error.instance_path)


def _innermost(error: "ValidationError") -> "ValidationError":
    """Of alternatives, what the one that was most likely meant lacks; the error itself where none stands out."""

    def within(inner: "ValidationError") -> bool:
        return len(inner.instance_path) > len(error.instance_path) or inner.kind.name in ("required", *_UNKNOWN)

    def far(branch: "list[ValidationError]") -> tuple[bool, int]:
        return any(inner.kind.name in ("const", "enum") for inner in branch), len(branch)

    branches = [branch for branch in likely(error) if branch and all(map(within, branch))]
    if not branches:
        return error
    likeliest: list[ValidationError] = min(branches, key=far)
    return _innermost(min(likeliest, key=_weight))


def _same(one: "ValidationError", other: "ValidationError") -> bool:
    return one.kind.name == other.kind.name and one.instance_path == other.instance_path


# --- names --------------------------------------------------------------------------------------------------


def _missing(errors: "Sequence[ValidationError]", path: Path, given: Any, shape: Shape) -> tuple[str, Path]:
    missing = [str(error.kind.as_dict()["property"]) for error in errors]
    known = shape.properties_at(path)
    strange = [name for name in given if name not in known] if isinstance(given, Mapping) else []
    for name in missing:
        if close := _near(name, strange):
            return f"{_owner(path)} needs {_name(name)}; did you mean that by {_name(close[0])}?", (*path, name)
    wanted = _listed(f"{_name(name)}{_kind(shape, [*path, name])}" for name in missing)
    optional = [name for name in known if name not in missing and not (isinstance(given, Mapping) and name in given)]
    also = f"; it also takes {_listed(map(_name, optional))}" if optional and not path else ""
    return f"{_owner(path)} needs {wanted}, which {'is' if len(missing) == 1 else 'are'} missing{also}", (
        *path,
        missing[0],
    )


def _unknown(error: "ValidationError", path: Path, given: Any, shape: Shape) -> tuple[str, Path]:
    name = str(next(iter(getattr(error.kind, "unexpected", ["?"]))))
    known = [each for each in shape.properties_at(path) if not (isinstance(given, Mapping) and each in given)]
    if close := _near(name, known):
        hint = f"did you mean {_listed(map(_name, close), ' or ')}?"
    else:
        known = list(shape.properties_at(path))
        hint = f"it takes {_listed(map(_name, known))}" if known else "it takes none"
    return f"{_owner(path)} takes no parameter {_name(name)}; {hint}", (*path, name)


def _near(name: str, others: Collection[str]) -> list[str]:
    plain = {_folded(other): other for other in others}
    return [plain[found] for found in get_close_matches(_folded(name), plain, 2, 0.7)]


def _folded(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _owner(path: Path) -> str:
    return _name(format_path(path)) if path else "it"


def _kind(shape: Shape, path: Path) -> str:
    types = shape.types_at(path)
    return f" ({_types(types)})" if types != ALL else ""


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


def _expected(error: "ValidationError") -> str:
    kind = error.kind
    values: Mapping[str, Any] = kind.as_dict()
    match kind.name:
        case "type":
            return _types(values["types"])
        case "enum":
            close = _close(error.instance, values["options"])
            return f"one of {_listed(map(_shown, values['options']), ' or ')}{close}"
        case "const":
            return _shown(values["expected_value"])
        case "anyOf" | "oneOf":
            return _either(error)
        case name if name in _BOUNDS:
            return _BOUNDS[name].format(_name(str(next(iter(values.values())))))
        case name:
            return _OTHERS.get(name, f"what the schema's {_name(name)} asks for")


def _either(error: "ValidationError") -> str:
    branches: Iterable[Iterable[ValidationError]] = getattr(error.kind, "context", [])
    said = [_expected(inner) for branch in branches for inner in list(branch)[:1]]
    return _listed(dict.fromkeys(said), " or ") if said else "one of the alternatives alone"


def _types(types: Iterable[str]) -> str:
    named = set(types)
    return " or ".join(
        text for name, text in _TYPES.items() if name in named - ({"integer"} if "number" in named else set())
    )


def _close(value: Any, options: Sequence[Any]) -> str:
    near = _near(value, [each for each in options if isinstance(each, str)]) if isinstance(value, str) else []
    return f" (did you mean {_shown(near[0])}?)" if near else ""


# --- what came ----------------------------------------------------------------------------------------------


def _came(path: Path, value: Any) -> str:
    match value:
        case dict():
            return f"an object with {_listed(map(_name, value))}" if value else "an empty object"
        case list():
            return f"a list of {len(value)}"
        case None | bool():
            return _shown(value)
        case _ if any(isinstance(step, str) and is_secret_name(step) for step in path):
            return "what was given"
        case str():
            return f"the string {_shown(value)}"
        case _:
            return _shown(value)


def _shown(value: Any) -> str:
    words: Mapping[Any, str] = {None: "null", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return words[value]
    return repr(_cut(value)) if isinstance(value, str) else _cut(repr(value))


def _name(name: str) -> str:
    return _cut(name) if name.isprintable() and name.strip() == name else repr(_cut(name))


def _listed(names: Iterable[str], last: str = " and ") -> str:
    every = list(names)
    shown = every[:MOST_NAMED] + ([f"{len(every) - MOST_NAMED} more"] if len(every) > MOST_NAMED else [])
    return last.join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _at(arguments: Any, path: Path) -> Any:
    here = arguments
    for step in path:
        here = here[step]
    return here
