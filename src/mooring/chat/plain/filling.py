"""A form filled in at the terminal, one field after another, each checked against its schema as it is typed."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec.structs import replace

from mooring.chat.field import FormField, build_field_form, build_form, make_whole_field, read_fields
from mooring.chat.plain.dialog import DialogTerminal, Interrupted
from mooring.display.text import safe
from mooring.errors import BadArguments
from mooring.tools.arguments.plain import loads

REST = "."
"""Takes the defaults of all the optional fields that are left, and skips those that have none."""


class FormDialog:
    """Asks for the values of one form. `owner` is the server that wants them.

    `mark` stands before each line that the server wrote, if it asks by itself.
    """

    def __init__(
        self, terminal: DialogTerminal, owner: str, name: str, schema: Mapping[str, Any], mark: str = " "
    ) -> None:
        self._terminal = terminal
        self._mark = mark
        self._owner = owner
        self._schema = schema
        self._form = build_form(name, schema)
        self._values: dict[str, Any] = {}
        self._typed: dict[str, str] = {}
        """What the values were typed as."""
        self._fields = [self._drop_bad_default(field) for field in read_fields(schema)]

    async def fill(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The values, which fit the schema. Raises: Interrupted, Ended.

        With values that are given, only required ones that are missing are asked for.
        """
        fields = self._fields
        if given is not None:
            self._values |= given
            fields = [field for field in fields if field.required and field.name not in given]
        optional = [field for field in fields if not field.required]
        if len(optional) > 1:
            self._hint(f"Enter takes a default or skips, {REST} does so for the rest; JSON works too.")
        if len(fields) > 1:
            self._hint("Ctrl+C goes one field back, Ctrl+D leaves.")
        await self._ask_all(fields)
        # Values that are fine one by one may not fit together: then what is wrong is asked for again.
        while (wrong := self._find_misfit()) is not None:
            fields = [field for field in self._fields if field.name == wrong]
            await self._ask_all(fields or [self._start_over()])
        return self._values

    @property
    def takes_one_text(self) -> bool:
        """Whether the form is a single field for any text, which may be seen as it is typed."""
        if len(self._fields) != 1:
            return False
        (field,) = self._fields
        return field.types <= {"string", "null"} and not field.choices and not field.secret

    async def fill_with(self, text: str) -> dict[str, Any]:
        """The same for a form that takes one text, and got this one. Raises: Interrupted, Ended."""
        (field,) = self._fields
        fits = self._fill_all(field, text) or self._fill(field, field.value(text))
        return await self.fill(self._values if fits else None)

    async def _ask_all(self, fields: list[FormField]) -> None:
        """Ask for one after another. Ctrl+C goes back to the one before; in the first it leaves the form."""
        position = 0
        while position < len(fields):
            field = self._offer_typed(fields[position])
            for line in field.lines:
                self._hint(f"{self._mark} {line}" if self._mark.strip() else line)
            try:
                settled = await self._ask(field)
            except Interrupted:
                if position == 0:
                    raise
                position -= 1
                continue
            match settled:
                case "all":
                    return
                case "rest":
                    self._fill_defaults([self._offer_typed(left) for left in fields[position:]])
                    return
                case "one":
                    position += 1

    def _offer_typed(self, field: FormField) -> FormField:
        """The field with what was typed into it before, so that Enter keeps it."""
        if field.name not in self._typed or field.name not in self._values:
            return field
        shown = "what you typed" if field.secret else self._typed[field.name]
        return replace(field, default=shown, default_value=self._values[field.name])

    async def _ask(self, field: FormField) -> Literal["one", "rest", "all"]:
        """Ask until the answer fits or the field is skipped; says how much of the form that settled."""
        while True:
            typed = await self._terminal.read_line(f"{self._mark} {field.prompt}", secret=field.secret)
            text = typed.strip()
            if self._fill_all(field, text):
                return "all"
            if text == REST and not field.required:
                return "rest"
            may_be_empty = not field.required or field.default is not None
            if not text and may_be_empty:
                self._fill_defaults([field])
                return "one"
            if not text:
                empty = ' (an empty text is "")' if "string" in field.types else ""
                self._hint(f"{safe(field.name)} is required{empty}; Ctrl+D leaves.")
            elif self._fill(field, field.value(text)):
                self._typed[field.name] = text
                return "one"

    def _fill_defaults(self, fields: list[FormField]) -> None:
        """Keep the defaults: the person saw them, so they are sent, and not left to the server."""
        for field in fields:
            if field.default is not None:
                self._values[field.name] = field.default_value

    def _fill(self, field: FormField, value: Any) -> bool:
        """Keep the value of a field if it fits."""
        fault = self._find_fault(field, value)
        if fault:
            self._terminal.warn(f"  {safe(fault)}")
            return False
        self._values[field.name] = value
        return True

    def _find_fault(self, field: FormField, value: Any) -> str:
        try:
            build_field_form(self._schema, field.name).check(self._owner, {field.name: value})
        except BadArguments as error:
            return error.reason
        return field.find_fault(value)

    def _drop_bad_default(self, field: FormField) -> FormField:
        # A default that its own schema refuses could never be sent.
        if field.default is None or not self._find_fault(field, field.default_value):
            return field
        return replace(field, default=None)

    def _fill_all(self, field: FormField, text: str) -> bool:
        """Keep all values at once, if they were typed as a JSON object where none is asked for."""
        if not text.startswith("{") or "object" in field.types:
            return False
        try:
            values = loads(text)
        except ValueError:
            return False
        if not isinstance(values, dict):
            return False
        self._values |= values
        return True

    def _find_misfit(self) -> str | None:
        """The field that is wrong, empty if it is the whole; `None` if all is well."""
        for field in self._fields:
            fault = field.find_fault(self._values.get(field.name))
            if fault:
                self._terminal.warn(f"  {safe(fault)}")
                del self._values[field.name]
                return field.name
        try:
            self._form.check(self._owner, self._values)
        except BadArguments as error:
            self._terminal.warn(f"  {safe(error.reason)}")
            # A path into a field, such as `when.day` or `files[0]`.
            name = error.parameter.partition(".")[0].partition("[")[0]
            self._values.pop(name, None)
            return name
        return None

    def _start_over(self) -> FormField:
        """A field for all of the form: no single one is wrong."""
        self._values.clear()
        return make_whole_field()

    def _hint(self, text: str) -> None:
        self._terminal.notice(f"  {text}")
