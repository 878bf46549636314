"""A form filled in at the terminal, one field after another, each checked against its schema as it is typed."""

from collections.abc import Mapping
from typing import Any

from mooring.chat.field import FormField, build_field_form, build_form, make_whole_field, read_fields
from mooring.chat.plain.terminal import Terminal
from mooring.display.text import safe
from mooring.errors import BadArguments
from mooring.tools.arguments.written import loads

REST = "."
"""Skips all the optional fields that are left."""


class FormDialog:
    """Asks for the values of one form. `owner` is the server that wants them."""

    def __init__(self, terminal: Terminal, owner: str, name: str, schema: Mapping[str, Any]) -> None:
        self._terminal = terminal
        self._owner = owner
        self._schema = schema
        self._form = build_form(name, schema)
        self._fields = read_fields(schema)
        self._values: dict[str, Any] = {}

    async def fill(self) -> dict[str, Any]:
        """The values, which fit the schema. Raises: Interrupted, Ended."""
        optional = [field for field in self._fields if not field.required]
        if len(optional) > 1:
            self._hint(f"Enter skips one, {REST} the rest of them; JSON works too.")
        await self._ask_all(self._fields)
        # Values that are fine one by one may not fit together: then what is wrong is asked for again.
        while (wrong := self._find_misfit()) is not None:
            fields = [field for field in self._fields if field.name == wrong]
            await self._ask_all(fields or [self._start_over()])
        return self._values

    async def _ask_all(self, fields: list[FormField]) -> None:
        for field in fields:
            for line in field.lines:
                self._hint(line)
            if not await self._ask(field):
                return

    async def _ask(self, field: FormField) -> bool:
        """Ask until the answer fits or the field is skipped; says whether to go on with the next field."""
        while True:
            text = await self._read(field)
            if self._take_all(field, text):
                return False
            is_skipped = not field.required and text in ("", REST)
            if is_skipped:
                return text != REST
            if not text:
                self._insist(field)
            elif self._take(field, field.value(text)):
                return True

    async def _read(self, field: FormField) -> str:
        typed = await self._terminal.read_line(f"  {field.prompt}", secret=field.secret)
        text = typed.strip()
        # Enter leaves an optional field out, and its server fills in the default.
        if not text and field.required:
            return field.default or ""
        return text

    def _take(self, field: FormField, value: Any) -> bool:
        """Keep the value of a field if it fits."""
        try:
            build_field_form(self._schema, field.name).check(self._owner, {field.name: value})
        except BadArguments as error:
            self._complain(error)
            return False
        self._values[field.name] = value
        return True

    def _take_all(self, field: FormField, text: str) -> bool:
        """Keep all values at once, if they were typed as a JSON object where none is asked for."""
        if not text.startswith("{") or "object" in field.types:
            return False
        try:
            values = loads(text)
        except (ValueError, RecursionError):
            return False
        if not isinstance(values, dict):
            return False
        self._values |= values
        return True

    def _find_misfit(self) -> str | None:
        """The field that is wrong, empty if it is the whole; `None` if all is well."""
        try:
            self._form.check(self._owner, self._values)
        except BadArguments as error:
            self._complain(error)
            # A path into a field, such as `when.day` or `files[0]`.
            name = error.parameter.partition(".")[0].partition("[")[0]
            self._values.pop(name, None)
            return name
        return None

    def _start_over(self) -> FormField:
        """A field for all of the form: no single one is wrong."""
        self._values.clear()
        return make_whole_field()

    def _insist(self, field: FormField) -> None:
        empty = ' (an empty text is "")' if "string" in field.types else ""
        self._hint(f"{safe(field.name)} is required{empty}; Ctrl+C leaves.")

    def _complain(self, error: BadArguments) -> None:
        self._terminal.say(self._terminal.style(f"  {safe(error.reason)}", "yellow"))

    def _hint(self, text: str) -> None:
        self._terminal.say(self._terminal.style(f"  {text}", "dim"))
