"""A form filled in at the terminal, one field after another, each held to its schema as it is typed."""

from collections.abc import Mapping
from typing import Any

from mooring.chat.field import FormField, build_field_form, build_form, read_fields
from mooring.chat.plain.terminal import Terminal
from mooring.display.text import safe
from mooring.errors import BadArguments
from mooring.tools.arguments.written import loads

REST = "."
"""Leaves out all that is left of the optional ones."""


class FormDialog:
    """One form under way."""

    def __init__(self, terminal: Terminal, owner: str, name: str, schema: Mapping[str, Any]) -> None:
        self._terminal, self._owner = terminal, owner
        self._schema, self._whole = schema, build_form(name, schema)
        self._fields = read_fields(schema)
        self._made: dict[str, Any] = {}

    async def done(self) -> dict[str, Any]:
        """The values, which fit. Raises: Interrupted, Ended."""
        optional = [field for field in self._fields if not field.required]
        if len(optional) > 1:
            self._hint(f"Enter skips one, {REST} the rest of them; JSON works too.")
        waiting = list(self._fields)
        while True:
            await self._ask_all(waiting)
            wrong = self._misfit()
            if wrong is None:
                return self._made
            waiting = [field for field in self._fields if field.name == wrong] or [await self._in_full()]

    async def _ask_all(self, waiting: list[FormField]) -> None:
        for field in waiting:
            for line in field.lines:
                self._hint(line)
            if not await self._asked(field):
                return

    async def _asked(self, field: FormField) -> bool:
        """Whether there is more to ask for."""
        while True:
            text = (await self._terminal.line(f"  {field.prompt}", secret=field.secret)).strip()
            if not text and field.required and field.default is not None:
                text = field.default
            if text.startswith("{") and "object" not in field.types and self._taken(text):
                return False
            if text == REST and not field.required:
                return False
            if not text:
                if not field.required:
                    return True
                empty = ' (an empty text is "")' if "string" in field.types else ""
                self._hint(f"{safe(field.name)} is required{empty}; Ctrl+C leaves.")
                continue
            if self._fits(field, field.value(text)):
                return True

    def _fits(self, field: FormField, value: Any) -> bool:
        try:
            build_field_form(self._schema, field.name).check(self._owner, {field.name: value})
        except BadArguments as error:
            self._wrong(error)
            return False
        self._made[field.name] = value
        return True

    def _taken(self, text: str) -> bool:
        """All of it at once, as JSON."""
        try:
            given = loads(text)
        except (ValueError, RecursionError):
            return False
        if isinstance(given, dict):
            self._made |= given
        return isinstance(given, dict)

    def _misfit(self) -> str | None:
        """The field that is wrong, empty where it is the whole; `None` where nothing is."""
        try:
            self._whole.check(self._owner, self._made)
        except BadArguments as error:
            self._wrong(error)
            name = error.parameter.partition(".")[0].partition("[")[0]
            self._made.pop(name, None)
            return name
        return None

    async def _in_full(self) -> FormField:
        """What is wrong is no single field: all of it has to be written."""
        self._made.clear()
        return FormField("all of it", frozenset({"array"}), True, "As JSON: {…}")

    def _wrong(self, error: BadArguments) -> None:
        self._terminal.say(self._terminal.style(f"  {safe(error.reason)}", "yellow"))

    def _hint(self, text: str) -> None:
        self._terminal.say(self._terminal.style(f"  {text}", "dim"))
