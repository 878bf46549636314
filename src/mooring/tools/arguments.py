"""Arguments held to the schema of their tool before anything is sent, and mended where there is no doubt how.

Most schemas are a flat list of plainly typed parameters; arguments that plainly fit one are let through here. For all
else there is jsonschema-rs, which is loaded when the first such schema is met. It fetches nothing, and its regular
expressions are bounded.
"""

import json
import math
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from mooring.core.tool import Tool
from mooring.errors import BadArguments, ProtocolError
from mooring.tools.shape import ALL, Path, Shape, type_of

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

Repaired: TypeAlias = tuple[dict[str, Any], tuple[str, ...]]

BACKTRACKS = 10_000
"""So often may a regular expression with look-around or back-references try again: half a millisecond here."""
REGEX_SIZE = 1024 * 1024
_MOST_ERRORS = 50
_ROUNDS = 8


def check(server: str, tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Hold `arguments` to the schema of `tool`; whoever calls a tool often keeps its `Form`.

    Raises: BadArguments.
    """
    Form(tool).check(server, arguments)


def repair(tool: Tool, arguments: Mapping[str, Any]) -> Repaired:
    """`arguments` as they were certainly meant, with a note on each change; see `Form.repair`."""
    return Form(tool).repair(arguments)


class Form:
    """The schema of one tool, read once."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    @cached_property
    def unchecked(self) -> str:
        """Why nothing can be held to the schema, empty where it can."""
        return self._compiled[1]

    def check(self, server: str, arguments: Mapping[str, Any]) -> None:
        """Say what does not fit.

        Raises: BadArguments.
        """
        if self._fits_plainly(arguments):
            return
        if errors := self._errors(arguments):
            from mooring.tools.misfit import misfit  # only on the way to an error

            reason, path = misfit(errors, arguments, self.shape)
            words = f"{server}.{self.tool.name} was not called: {reason}{'' if reason.endswith('?') else '.'}"
            raise BadArguments(server, "tools/call", reason, parameter=dotted(path), words=words)

    def repair(self, arguments: Mapping[str, Any]) -> Repaired:
        """`arguments` as they were certainly meant, with a note on each change; those that fit stay as they are.

        A text is read as JSON where no text is allowed and what it holds is; one value becomes a list of one where
        only a list of such values is allowed, unless it is a text that may be several; `ids[0]`, `ids[1]` become
        `ids`; an empty value that is not allowed is left out where the parameter may be.
        """
        if self._fits_plainly(arguments):
            return dict(arguments), ()
        made, notes = _gathered(dict(arguments), self.shape)
        for _ in range(_ROUNDS):
            at_fault = {tuple(path): None for error in self._errors(made) for path in _faults(error)}
            said = [note for path in at_fault if (note := _mend(made, path, self.shape))]
            if not said:
                break
            notes += said
        return made, tuple(notes)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The schema, empty where it cannot be read."""
        try:
            return self.tool.schema
        except ProtocolError:
            return {}

    @cached_property
    def shape(self) -> Shape:
        """What the schema says on its face."""
        return Shape(self.schema)

    def _fits_plainly(self, arguments: Mapping[str, Any]) -> bool:
        """Spares a program of one call the 7 to 10 ms of loading the library; once loaded, that is the faster."""
        return "jsonschema_rs" not in sys.modules and self._plain is not None and self._plain.fits(arguments)

    @cached_property
    def _plain(self) -> "_Plain | None":
        return _plainly(self.schema)

    @cached_property
    def _compiled(self) -> "tuple[Validator | None, str]":
        import jsonschema_rs as library  # loaded for the schemas that need it

        options = library.FancyRegexOptions(backtrack_limit=BACKTRACKS, size_limit=REGEX_SIZE)
        # A schema that names no dialect is of 2020-12; but the shapes of older ones are common, and cost little to try.
        older = () if "$schema" in self.schema else (library.Draft7Validator, library.Draft4Validator)
        reason = ""
        for made in (library.validator_for, *older):
            try:
                return made(self.schema, pattern_options=options, validate_formats=False, offline=True), ""
            except ValueError as error:  # what it raises for a broken schema is one
                reason = reason or str(error).partition("\n")[0]
        return None, f"its schema cannot be used: {reason[:200]}"

    def _errors(self, arguments: Mapping[str, Any]) -> "list[ValidationError]":
        validator, _ = self._compiled
        if validator is None:
            return []
        try:
            if validator.is_valid(arguments if isinstance(arguments, dict) else dict(arguments)):
                return []
        except ValueError:
            pass  # not what JSON has by itself, but it may become that
        try:
            found = list(islice(validator.iter_errors(_plain_data(arguments)), _MOST_ERRORS))
        except ValueError:  # what cannot be written as JSON is refused where it is written
            return []
        return [error for error in found if _certain(error)]


def dotted(path: Path) -> str:
    """A path as a person would write it: `filter.ids[0]`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def loads(text: str) -> Any:
    """JSON, and no more than that: what is no number or too large for one would reach the server as null.

    Raises: ValueError, RecursionError.
    """
    return json.loads(text, parse_constant=_refuse, parse_float=_finite)


# --- what plainly fits --------------------------------------------------------------------------------------


_SAYS_NOTHING = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format", "$schema"}
    | {"$comment", "$defs", "definitions"}
)
_PYTHON = {
    "string": frozenset({str}),
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "boolean": frozenset({bool}),
    "null": frozenset({type(None)}),
}


class _Field(NamedTuple):
    types: frozenset[type]
    values: frozenset[str] | None = None
    items: "_Field | None" = None

    def fits(self, value: Any) -> bool:
        if type(value) not in self.types:
            return False
        if self.items is not None and type(value) is list:
            return all(map(self.items.fits, value))
        return self.values is None or value in self.values


_UNSURE = _Field(frozenset())
"""Nothing certainly fits: where it is given, the library has to look."""


class _Plain(NamedTuple):
    fields: Mapping[str, _Field | None]
    required: frozenset[str]
    open: bool

    def fits(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the arguments certainly fit; where not, it is for the library to say."""
        fields = self.fields
        for name, value in arguments.items():
            if name in fields:
                field = fields[name]
                if field is not None and not field.fits(value):
                    return False
            elif not self.open:
                return False
        return self.required <= arguments.keys()


def _plainly(schema: Mapping[str, Any]) -> _Plain | None:
    if schema.keys() - _SAYS_NOTHING - {"type", "properties", "required", "additionalProperties"}:
        return None
    properties, required = schema.get("properties", {}), schema.get("required", [])
    rest = schema.get("additionalProperties", True)
    if schema.get("type", "object") != "object" or not isinstance(properties, dict) or not isinstance(rest, bool):
        return None
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return None
    fields: dict[str, _Field | None] = {}
    for name, held_to in properties.items():
        anything = held_to is True or (isinstance(held_to, dict) and not held_to.keys() - _SAYS_NOTHING)
        fields[name] = None if anything else _field(held_to) or _UNSURE
    return _Plain(fields, frozenset(required), rest)


def _field(schema: Any) -> _Field | None:
    if not isinstance(schema, dict) or schema.keys() - _SAYS_NOTHING - {"type", "enum", "items"}:
        return None
    stated, values = schema.get("type"), schema.get("enum")
    if stated == "array" and values is None:
        items = _field(schema["items"]) if "items" in schema else None
        return None if items is None and "items" in schema else _Field(frozenset({list}), None, items)
    named = [stated] if isinstance(stated, str) else stated
    if "items" in schema or not isinstance(named, list) or not all(name in _PYTHON for name in named):
        return None
    types = frozenset().union(*(_PYTHON[name] for name in named))
    if values is None:
        return _Field(types)
    texts = isinstance(values, list) and all(isinstance(value, str) for value in values)
    return _Field(frozenset({str}), frozenset(values)) if texts and str in types else None


# --- what the library found ---------------------------------------------------------------------------------


def _certain(error: "ValidationError") -> bool:
    """Whether it is the arguments that are at fault, and not a regular expression that was given up."""
    kind = error.kind
    if type(kind).__name__ in ("BacktrackLimitExceeded", "RegexEngineFailure"):
        return False
    return all(_certain(inner) for branch in _branches(error) for inner in branch)


def _branches(error: "ValidationError") -> "list[list[ValidationError]]":
    context: list[list[ValidationError]] = getattr(error.kind, "context", [])
    return context


def likely(error: "ValidationError") -> "list[list[ValidationError]]":
    """Of the alternatives that were not met, those that are for such a value at all."""

    def apt(branch: "list[ValidationError]") -> bool:
        return not any(inner.kind.name == "type" and inner.instance_path == error.instance_path for inner in branch)

    return [branch for branch in _branches(error) if apt(branch)]


def _faults(error: "ValidationError") -> Iterable[Path]:
    """Where mending may help: at the error, at what should not be there, and within the only likely alternative."""
    path = tuple(error.instance_path)
    yield path
    yield from ((*path, name) for name in getattr(error.kind, "unexpected", ()))
    if len(found := likely(error)) == 1:
        for inner in found[0]:
            yield from _faults(inner)


def _plain_data(arguments: Mapping[str, Any]) -> Any:
    try:
        return msgspec.to_builtins(arguments)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(str(error)) from None


# --- mending ------------------------------------------------------------------------------------------------

_INDEXED = r"(?P<name>[^\[\]]+)\[(?P<index>\d{1,4})\]"
_EMPTY: tuple[Any, ...] = ("", None, {}, [])


def _gathered(arguments: dict[str, Any], shape: Shape) -> tuple[dict[str, Any], list[str]]:
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


def _mend(arguments: dict[str, Any], path: Path, shape: Shape) -> str:
    """Mend the value at `path` in place, copying what holds it; a note, or nothing where there is doubt."""
    if not path:
        return ""
    try:
        holder = _copied(arguments, path[:-1])
        value = holder[path[-1]]
    except (KeyError, IndexError, TypeError):
        return ""
    allowed, where = shape.types_at(path), dotted(path)
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
    return f"{dotted(path)}: an empty value was left out"


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


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)
