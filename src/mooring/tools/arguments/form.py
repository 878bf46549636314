"""Arguments checked against their tool's schema before anything is sent, and repaired where there is no doubt.

Arguments that plainly fit a plain schema pass at once. Everything else goes to jsonschema-rs, which is loaded for the
first such schema. A schema comes from a server: a check against it that might take long isn't made, and whoever made
the call is told.
"""

import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from mooring.core.protocol.tool import Tool
from mooring.errors import BadArguments, ProtocolError
from mooring.tools.arguments.plain import PlainSchema, Unchecked, likely_branches, read_plain_schema
from mooring.tools.arguments.wording import FOR_MODELS, Wording
from mooring.tools.schema.shape import Path, Shape, format_path

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

    from mooring.tools.arguments.validator import BoundedValidator

Repaired: TypeAlias = tuple[dict[str, Any], tuple[str, ...]]
"""The arguments, and a note on each change."""
Errors: TypeAlias = "list[ValidationError] | Unchecked"
"""What is wrong with arguments, or why that could not be found out."""

MAX_BYTES = 64 * 1024
"""The largest schema that is checked against; of 1,500 tools of published servers the largest has 43 KiB."""
_MAX_ROUNDS = 8
"""How often repairing starts over: a text that was read as an object may hold texts of its own."""


def check(server: str, tool: Tool, arguments: Mapping[str, Any], wording: Wording = FOR_MODELS) -> str:
    """Check `arguments` against the schema of `tool`, as `ArgumentForm.check` does; keep the form of a tool used often.

    Raises: BadArguments.
    """
    return ArgumentForm(tool, wording).check(server, arguments)


def repair(tool: Tool, arguments: Mapping[str, Any]) -> Repaired:
    """`arguments` as they were certainly meant, with a note on each change; see `ArgumentForm.repair`."""
    return ArgumentForm(tool).repair(arguments)


class ArgumentForm:
    """The schema of one tool, read once."""

    def __init__(self, tool: Tool, wording: Wording = FOR_MODELS, *, must_check: bool = False) -> None:
        """With `must_check`, arguments that cannot be checked are refused: this tool does not check them itself."""
        self.tool = tool
        self._wording = wording
        self._must_check = must_check

    @property
    def unchecked(self) -> str:
        """Why nothing can be checked against the schema; empty if it can."""
        return self._validator if isinstance(self._validator, str) else ""

    def fit(self, server: str, arguments: Mapping[str, Any]) -> Repaired:
        """Repair the arguments, then check them. If they cannot be checked, they are left alone, and a note says so.

        Raises: BadArguments.
        """
        if self._fits_plainly(arguments):
            return dict(arguments), ()
        if self.unchecked:
            return dict(arguments), (self._pass_unchecked(server, self.unchecked),)
        made, notes, errors = self._repair(arguments)
        if isinstance(errors, Unchecked):
            return made, (*notes, self._pass_unchecked(server, str(errors)))
        if errors:
            raise self._make_error(server, errors, made)
        return made, notes

    def check(self, server: str, arguments: Mapping[str, Any]) -> str:
        """Check that the arguments fit; a note for whoever made the call if that could not be checked.

        Raises: BadArguments, which names the parameter, what was expected and what came.
        """
        errors = self._list_errors(arguments)
        if isinstance(errors, Unchecked):
            return self._describe_unchecked(server, str(errors))
        if errors:
            raise self._make_error(server, errors, arguments)
        return ""

    def repair(self, arguments: Mapping[str, Any]) -> Repaired:
        """`arguments` as they were certainly meant, with a note on each change; those that fit stay as they are.

        - A text becomes the JSON it holds if texts aren't allowed and that JSON is.
        - A single value becomes a list of one if only a list of such values is allowed, unless it is a text that may
          stand for several.
        - `ids[0]` and `ids[1]` become the list `ids`.
        - An empty value that isn't allowed is left out if the parameter is optional.
        """
        if self._fits_plainly(arguments):
            return dict(arguments), ()
        made, notes, _ = self._repair(arguments)
        return made, notes

    def _repair(self, arguments: Mapping[str, Any]) -> "tuple[dict[str, Any], tuple[str, ...], Errors]":
        """The repaired arguments, a note on each change, and what is still wrong with them."""
        from mooring.tools.arguments.repair import gather_lists, repair_value  # most arguments fit as they are

        made, notes = gather_lists(dict(arguments), self.shape)
        for _ in range(_MAX_ROUNDS):
            errors = self._list_errors(made)
            if isinstance(errors, Unchecked):
                break
            found = [repair_value(made, path, self.shape) for path in _repairable_paths(errors)]
            changes = [note for note in found if note]
            if not changes:
                break
            notes += changes
        else:
            errors = self._list_errors(made)
        return made, tuple(notes), errors

    def _pass_unchecked(self, server: str, reason: str) -> str:
        """A note on arguments that could not be checked. Raises: BadArguments if they have to be."""
        note = self._describe_unchecked(server, reason)
        if self._must_check:
            words = f"{server}.{self.tool.name} was not called, because its arguments could not be checked: {reason}."
            raise BadArguments(server, "tools/call", note, words=words)
        return note

    def _describe_unchecked(self, server: str, reason: str) -> str:
        return f"The arguments of {server}.{self.tool.name} were not checked: {reason}."

    def _make_error(self, server: str, errors: "list[ValidationError]", arguments: Mapping[str, Any]) -> BadArguments:
        from mooring.tools.arguments.mismatch import explain_mismatch  # loads difflib, which only an error needs

        reason, path = explain_mismatch(errors, arguments, self.shape, self._wording)
        words = self._wording.finish(f"{server}.{self.tool.name}", reason)
        return BadArguments(server, "tools/call", reason, parameter=format_path(path), words=words)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The schema; empty if it cannot be read, or is too large to be worked with in time."""
        if self._is_too_large:
            return {}
        try:
            return self.tool.schema
        except ProtocolError:
            return {}

    @property
    def _is_too_large(self) -> bool:
        return len(bytes(self.tool.input_schema)) > MAX_BYTES

    @cached_property
    def shape(self) -> Shape:
        """Which types and properties the schema states."""
        return Shape(self.schema)

    def _fits_plainly(self, arguments: Mapping[str, Any]) -> bool:
        # Loading the library takes 7 to 10 ms, which a program that makes a single call would notice. Once it is
        # loaded, it is faster than looking here.
        if "jsonschema_rs" in sys.modules or self._plain is None:
            return False
        return self._plain.fits(arguments)

    @cached_property
    def _plain(self) -> PlainSchema | None:
        return None if self._is_too_large else read_plain_schema(self.schema)

    @cached_property
    def _validator(self) -> "BoundedValidator | str":
        """The validator, or why there is none. A broken schema stops no call."""
        if self._is_too_large:
            return f"its schema is larger than {MAX_BYTES // 1024} KiB"
        from mooring.tools.arguments.validator import BoundedValidator  # as with the library, many do without

        try:
            return BoundedValidator(self.schema)
        except Unchecked as error:
            return str(error)

    def _list_errors(self, arguments: Mapping[str, Any]) -> "Errors":
        if self._fits_plainly(arguments):
            return []
        if isinstance(self._validator, str):
            return Unchecked(self._validator)
        try:
            return self._validator.list_errors(arguments)
        except Unchecked as reason:
            return reason


def _repairable_paths(errors: "list[ValidationError]") -> dict[Path, None]:
    """Where the arguments don't fit, each place once and in order."""
    return {tuple(path): None for error in errors for path in _paths_of(error)}


def _paths_of(error: "ValidationError") -> Iterator[Path]:
    """Where a repair may help: at the error, at what shouldn't be there, and within the only likely alternative."""
    path = tuple(error.instance_path)
    yield path
    for name in getattr(error.kind, "unexpected", ()):
        yield (*path, name)
    branches = likely_branches(error)
    if len(branches) == 1:
        for inner in branches[0]:
            yield from _paths_of(inner)
