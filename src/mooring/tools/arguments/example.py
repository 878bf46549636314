"""Arguments that fit a schema, made up for an example: checked, so that whoever pastes it is not refused."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mooring.core.protocol.tool import Tool
from mooring.errors import BadArguments
from mooring.tools.arguments.form import ArgumentForm
from mooring.tools.schema.parameters import list_choices, list_required
from mooring.tools.schema.shape import UNIONS, Shape, as_list, as_map, is_number, list_texts, resolve_reference

_BOUNDS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
_MOST_TRIES = 60
_MAX_DEPTH = 8
_MOST_VALUES = 200
"""How many values are made up for one example; a schema that needs more gets none."""
_TYPES = ("string", "integer", "number", "boolean", "array", "object")
"""The simplest first: that is what an example shows where several are allowed."""
_FORMATS = {
    "email": "ada@example.com",
    "uri": "https://example.com",
    "url": "https://example.com",
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "hostname": "example.com",
}
# Tried in turn where a text has to match a pattern. To make one up from the pattern would take a reader of patterns.
_SHAPES = (
    "name", "Name", "a", "1", "abc", "ABC", "AB", "EUR", "en", "en-US", "12", "123", "1234", "0.1", "1.0.0", "v1.0.0",
    "a1", "A1", "A-1", "ABC-123", "a-b", "a_b", "a.b", "a/b", "owner/name", "@name", "#1", "#ffffff", "/", "/path",
    "/tmp/file", "./file", "file.txt", "https://example.com", "http://example.com", "ada@example.com", "example.com",
    "2026-01-31", "2026-01", "2026", "12:00", "12:00:00", "2026-01-31T12:00:00Z", "0123456789abcdef", "deadbeef",
    "123e4567-e89b-42d3-a456-426614174000", "+15551234567", "0x1", "192.0.2.1", "$1", "*",
)  # fmt: skip


def make_example(tool: Tool) -> dict[str, Any] | None:
    """The required arguments of a tool with values that fit; `None` if none were found."""
    form = ArgumentForm(tool)
    maker = _ExampleMaker(form.shape)
    known = form.shape.properties_at(())
    arguments = {name: maker.make(name) for name in dict.fromkeys(list_required(form.schema))}
    attempts: dict[str, int] = {}
    for _ in range(_MOST_TRIES):
        wrong = _find_wrong(form, arguments)
        if wrong is None:
            return arguments
        # Where no single parameter is wrong, there may be too few of them.
        name = wrong or next((each for each in known if each not in arguments), "")
        if name not in known:
            return None
        if name in arguments:
            attempts[name] = attempts.get(name, 0) + 1
        arguments[name] = maker.make(name, attempts.get(name, 0))
    return None


def _find_wrong(form: ArgumentForm, arguments: dict[str, Any]) -> str | None:
    """The parameter that is missing or doesn't fit, empty if it is the whole; `None` if all is well."""
    try:
        form.check("", arguments)
    except BadArguments as error:
        # A path into a parameter, such as `when.day` or `files[0]`.
        return error.parameter.partition(".")[0].partition("[")[0]
    return None


class _ExampleMaker:
    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._made = 0
        self._attempt = 0

    def make(self, name: str, attempt: int = 0) -> Any:
        """A value for a parameter; another one for each further attempt."""
        self._made, self._attempt = 0, attempt
        schemas = self._shape.schemas_at((name,))
        return self._make(schemas[0] if schemas else {}, name.upper(), 0)

    def _make(self, schema: Any, name: str, depth: int) -> Any:
        self._made += 1
        if self._made > _MOST_VALUES or depth > _MAX_DEPTH:
            return None
        if not isinstance(schema, Mapping):
            return name
        whole = self._resolve(schema)
        stated = _list_stated(whole)
        if stated:
            return stated[self._attempt % len(stated)]
        match self._choose_type(whole):
            case "string":
                return self._make_text(whole, name)
            case "number" | "integer":
                return next((number for number in _list_numbers(whole) if _is_within(number, whole)), 1)
            case "boolean":
                return True
            case "array":
                return self._make_list(whole, name, depth)
            case "object":
                return self._make_object(whole, depth)
            case _:
                return None

    def _resolve(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """A schema with what its references, its parts and its first fitting alternative say."""
        whole = dict(schema)
        for _ in range(_MAX_DEPTH):
            further = self._pick_further(whole)
            if further is None:
                return whole
            required = [*as_list(whole.get("required")), *as_list(further.get("required"))]
            properties = {**as_map(further.get("properties")), **as_map(whole.get("properties"))}
            whole = {**further, **whole, "required": required, "properties": properties}
        return whole

    def _pick_further(self, whole: dict[str, Any]) -> Mapping[str, Any] | None:
        """Take out of a schema what it refers to next; `None` if it stands alone."""
        ref = whole.pop("$ref", None)
        if isinstance(ref, str):
            return as_map(resolve_reference(self._shape.root, ref))
        parts = as_list(whole.get("allOf"))
        if parts:
            whole["allOf"] = parts[1:]
            return as_map(parts[0])
        for key in UNIONS:
            branches = [branch for branch in as_list(whole.get(key)) if self._shape.types(branch) != {"null"}]
            if branches and not list_choices(whole):
                del whole[key]
                return as_map(branches[self._attempt % len(branches)])
        return None

    def _choose_type(self, schema: Mapping[str, Any]) -> str:
        types = self._shape.types(schema)
        if "properties" in schema and schema["properties"] and "object" in types:
            return "object"
        return next((name for name in _TYPES if name in types), "")

    def _make_text(self, schema: Mapping[str, Any], name: str) -> str:
        if "pattern" in schema:
            return _SHAPES[self._attempt % len(_SHAPES)]
        text = _FORMATS.get(str(schema.get("format")), name) or "TEXT"
        least, most = schema.get("minLength"), schema.get("maxLength")
        if isinstance(least, int) and len(text) < least <= _MOST_VALUES:
            text = text * (least // len(text) + 1)
        return text[:most] if isinstance(most, int) and most > 0 else text

    def _make_list(self, schema: Mapping[str, Any], name: str, depth: int) -> list[Any]:
        least = schema.get("minItems")
        # A list shows what its items are, unless it is in something else, which may be in it again.
        usual = 1 if depth == 0 else 0
        count = max(usual, least) if isinstance(least, int) else usual
        prefix = as_list(schema.get("prefixItems"))
        items = schema.get("items")
        schemas = [prefix[index] if index < len(prefix) else items for index in range(min(count, _MOST_VALUES))]
        made = [self._make({} if each is None else each, name, depth + 1) for each in schemas]
        if schema.get("uniqueItems") is True:
            return _make_unique(made)
        return made

    def _make_object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties = as_map(schema.get("properties"))
        required = dict.fromkeys(list_texts(schema.get("required")))
        return {name: self._make(properties.get(name, {}), name.upper(), depth + 1) for name in required}


def _list_stated(schema: Mapping[str, Any]) -> Sequence[Any]:
    """The values that a schema itself gives as examples, as its default or as all there are."""
    if "const" in schema:
        return [schema["const"]]
    examples = as_list(schema.get("examples"))
    choices = [choice.value for choice in list_choices(schema)]
    default = [schema["default"]] if schema.get("default") is not None else []
    return [*examples, *default, *choices]


def _list_numbers(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Small numbers, then those at the limits and between them."""
    bounds = [schema[key] for key in _BOUNDS if is_number(schema.get(key))]
    step = schema.get("multipleOf")
    yield from (1, 0)
    for bound in bounds:
        yield from (bound, bound + 1, bound - 1)
        if is_number(step) and step:
            yield (bound // step + 1) * step
    if is_number(step):
        yield step
    if len(bounds) > 1:
        yield (min(bounds) + max(bounds)) / 2


_KEEPS: Mapping[str, Callable[[Any, Any], bool]] = {
    "minimum": lambda number, bound: number >= bound,
    "maximum": lambda number, bound: number <= bound,
    "exclusiveMinimum": lambda number, bound: number > bound,
    "exclusiveMaximum": lambda number, bound: number < bound,
    "multipleOf": lambda number, bound: bound == 0 or number % bound == 0,
}


def _is_within(number: Any, schema: Mapping[str, Any]) -> bool:
    stated = [key for key in _KEEPS if is_number(schema.get(key))]
    return all(_KEEPS[key](number, schema[key]) for key in stated)


def _make_unique(values: list[Any]) -> list[Any]:
    return [f"{value}{index}" if index and isinstance(value, str) else value for index, value in enumerate(values)]
