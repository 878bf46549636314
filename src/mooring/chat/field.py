"""One field of a form: what may be typed into it, in words, and the value of what was typed. Pure."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from typing import Any

from msgspec import Raw, Struct

from mooring.core.protocol.tool import Tool
from mooring.display.lines import TYPE_NAMES
from mooring.display.text import safe, shorten_description
from mooring.tools.arguments.form import ArgumentForm
from mooring.tools.arguments.plain import loads
from mooring.tools.arguments.wording import FOR_PEOPLE
from mooring.tools.schema.bound import SchemaBound, SchemaTooLarge
from mooring.tools.schema.parameters import FieldOption, as_label, describe_inside, list_choices, list_required
from mooring.tools.schema.shape import ALL, Shape, name_types, type_of

_SWITCHES = {
    **dict.fromkeys(("y", "yes", "true", "on"), True),
    **dict.fromkeys(("n", "no", "false", "off"), False),
}
# What the schema of one property may refer to, so it comes along when the property is checked alone.
_SHARED = ("$schema", "$defs", "definitions")
_MOST_DIGITS = 9
LONGEST_DESCRIPTION = 200
MOST_FIELDS = 100
"""How many fields are asked for one by one."""


class TextFormat(Struct, frozen=True):
    """One `format` of JSON Schema."""

    label: str
    """What to type, in words, with its article."""
    example: str
    pattern: str
    parse: Callable[[str], object] = str
    """Raises ValueError for what has the pattern and still doesn't exist, such as a day."""

    def fits(self, text: str) -> bool:
        if re.fullmatch(self.pattern, text) is None:
            return False
        try:
            self.parse(text)
        except ValueError:
            return False
        return True


class FormField(Struct, frozen=True):
    """One property of an object."""

    name: str
    types: frozenset[str]
    required: bool = False
    description: str = ""
    choices: tuple[FieldOption, ...] = ()
    several: bool = False
    """The value is a list of choices, not one of them."""
    default: str | None = None
    """What Enter means, as it would be typed; `default_value` is what it sends."""
    secret: bool = False
    inside: str = ""
    """The keys of the object, or of each object in a list."""
    default_value: Any = None
    format: TextFormat | None = None

    @property
    def numbered(self) -> bool:
        """Whether choices can be picked by their position; not if they are numbers themselves."""
        has_numbers = any(choice.label.isdecimal() for choice in self.choices)
        return bool(self.choices) and not has_numbers

    @property
    def kind(self) -> str:
        """What may be typed, in words."""
        if self.format is not None:
            return f"{self.format.label} such as {self.format.example}"
        if not self.choices:
            return _describe_types(self.types)
        return "some of these" if self.several else "one of these"

    @property
    def prompt(self) -> str:
        """What is shown before the place to type."""
        if self.default is not None:
            enter = f"Enter for {safe(self.default) or 'an empty text'}"
        else:
            enter = "required" if self.required else "Enter skips"
        return f"{safe(self.name)} ({self.kind}, {enter}): "

    @property
    def lines(self) -> Iterator[str]:
        """What to know before typing; the description is the server's own words."""
        if self.description:
            yield f"“{self.description}”"
        if self.inside:
            yield safe(self.inside)
        for number, choice in enumerate(self.choices, 1):
            bullet = number if self.numbered else "·"
            yield f"{bullet}  {safe(choice.label)}"

    def value(self, text: str) -> Any:
        """The value that a text means. A text that means none comes back as it is, for the schema to refuse."""
        if self.several:
            return self._choose_several(text)
        if self.choices:
            return self._choose(text)
        # What looks like a number or JSON is meant as text where only text will do.
        if self.types <= {"string", "null"}:
            return "" if text == '""' else text
        return self._parse(text)

    def find_fault(self, value: Any) -> str:
        """What is wrong with the format of a value; empty if nothing is."""
        if self.format is None or not isinstance(value, str) or self.format.fits(value):
            return ""
        return f"{self.name} must be {self.format.label} such as {self.format.example}, not {value!r}."

    def _choose_several(self, text: str) -> Any:
        parsed = _parse_json(text)
        if isinstance(parsed, list):
            return parsed
        return [self._choose(part.strip()) for part in text.split(",")]

    def _choose(self, text: str) -> Any:
        for choice in self.choices:
            if text in (choice.label, str(choice.value)):
                return choice.value
        position = parse_position(text, len(self.choices))
        if self.numbered and position is not None:
            return self.choices[position].value
        # Case matters only between choices that differ in nothing else.
        folded = text.casefold()
        alike = [choice.value for choice in self.choices if choice.label.casefold() == folded]
        return alike[0] if len(alike) == 1 else text

    def _parse(self, text: str) -> Any:
        parsed = _parse_json(text)
        if parsed is not None and type_of(parsed) in self.types:
            return parsed
        folded = text.casefold()
        if "boolean" in self.types and folded in _SWITCHES:
            return _SWITCHES[folded]
        # Without brackets, commas separate a list; but not in valid JSON, nor where the text itself would do.
        is_list = "array" in self.types and "string" not in self.types
        if is_list and parsed is None:
            return [part.strip() for part in text.split(",")]
        return text


def parse_position(text: str, count: int) -> int | None:
    """The index of the choice that is picked by a number from 1 to `count`; `None` if the text is no such number."""
    # Python raises an error for a number of thousands of digits.
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        return None
    number = int(text)
    return number - 1 if 0 < number <= count else None


def _parse_json(text: str) -> Any:
    try:
        return loads(text)
    except ValueError:
        return None


def _describe_types(types: frozenset[str]) -> str:
    if types == ALL:
        return "any JSON"
    return " or ".join(name_types(types, TYPE_NAMES)) or "null"


# --- from a schema -------------------------------------------------------------------------------------------------


def read_fields(schema: Mapping[str, Any]) -> list[FormField]:
    """Everything that a form asks for, required fields first; one that is too large is asked for as a whole."""
    shape = Shape(schema)
    names = shape.properties_at(())
    if len(names) > MOST_FIELDS or _is_too_large(schema):
        return [make_whole_field()]
    required = set(list_required(schema))
    made = [_build_field(shape, name, name in required) for name in names]
    return sorted(made, key=lambda field: not field.required)


def make_whole_field() -> FormField:
    """A field for all of a form at once."""
    # An array, since only fields that take no object themselves can be given as a whole.
    return FormField("all of it", frozenset({"array"}), True, "As JSON: {…}")


def _is_too_large(schema: Mapping[str, Any]) -> bool:
    try:
        SchemaBound(schema)
    except SchemaTooLarge:
        return True
    return False


def _build_field(shape: Shape, name: str, required: bool) -> FormField:
    faces = [face for face in shape.schemas_at((name,)) if isinstance(face, Mapping)]
    schema: Mapping[str, Any] = faces[0] if faces else {}
    choices = list_choices(schema)
    choices_of_items = list_choices(schema.get("items"))
    several = not choices and bool(choices_of_items)
    default = schema.get("default")
    description = schema.get("description") or schema.get("title") or ""
    return FormField(
        name,
        shape.types_at((name,)),
        required,
        shorten_description(str(description), LONGEST_DESCRIPTION),
        choices_of_items if several else choices,
        several,
        None if default is None else as_label(default),
        schema.get("format") == "password" or schema.get("writeOnly") is True,
        describe_inside(shape, (name,), lambda inner, path: _describe_types(inner.types_at(path))),
        default,
        None if choices or several else _FORMATS.get(str(schema.get("format"))),
    )


# --- checks --------------------------------------------------------------------------------------------------------


def build_field_form(schema: Mapping[str, Any], name: str) -> ArgumentForm:
    """A form of one property, to check its value as soon as it is typed."""
    properties = Shape(schema).properties_at(())
    shared = {key: schema[key] for key in _SHARED if key in schema}
    return build_form(name, {**shared, "type": "object", "properties": {name: properties.get(name, {})}})


def build_form(name: str, schema: Mapping[str, Any]) -> ArgumentForm:
    """A form that values can be checked against."""
    return ArgumentForm(Tool(name=name, input_schema=Raw(json.dumps(schema).encode())), FOR_PEOPLE)


# --- the formats of a text --------------------------------------------------------------------------------------------

# Python also reads 20260131 and 2026-W05.
_DATE = r"\d{4}-\d\d-\d\d"
# With seconds and a time zone, as RFC 3339 wants it.
_DATE_TIME = rf"{_DATE}[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)"


def _parse_seconds(text: str) -> datetime:
    """A time without its fraction and its zone, which the pattern describes fully."""
    return datetime.fromisoformat(text[:19])


_FORMATS: Mapping[str, TextFormat] = {
    "email": TextFormat("an email address", "ada@example.com", r"[^@\s]+@[^@\s]+"),
    "uri": TextFormat("a URL", "https://example.com/page", r"[A-Za-z][A-Za-z0-9+.-]*:(?!//\Z)\S+"),
    "date": TextFormat("a date", "2026-01-31", _DATE, date.fromisoformat),
    "date-time": TextFormat("a date and time", "2026-01-31T09:30:00Z", _DATE_TIME, _parse_seconds),
}
