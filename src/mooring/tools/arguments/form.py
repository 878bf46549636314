"""Arguments held to the schema of their tool before anything is sent, and mended where there is no doubt how.

Arguments that plainly fit a plain schema are let through. For all else there is jsonschema-rs, which is loaded when the
first such schema is met. It fetches nothing, and its regular expressions are bounded.
"""

import sys
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from mooring.core.tool import Tool
from mooring.errors import BadArguments, ProtocolError
from mooring.tools.arguments.plain import PlainSchema, read_plain_schema
from mooring.tools.schema.shape import Path, Shape, format_path

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

Repaired: TypeAlias = tuple[dict[str, Any], tuple[str, ...]]

BACKTRACKS = 10_000
"""So often may a regular expression with look-around or back-references try again: half a millisecond here."""
REGEX_SIZE = 1024 * 1024
_MOST_ERRORS = 50
_ROUNDS = 8


def check(server: str, tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Hold `arguments` to the schema of `tool`; whoever calls a tool often keeps its `ArgumentForm`.

    Raises: BadArguments.
    """
    ArgumentForm(tool).check(server, arguments)


def repair(tool: Tool, arguments: Mapping[str, Any]) -> Repaired:
    """`arguments` as they were certainly meant, with a note on each change; see `Form.repair`."""
    return ArgumentForm(tool).repair(arguments)


class ArgumentForm:
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
            from mooring.tools.arguments.mismatch import explain_mismatch  # only on the way to an error

            reason, path = explain_mismatch(errors, arguments, self.shape)
            words = f"{server}.{self.tool.name} was not called: {reason}{'' if reason.endswith('?') else '.'}"
            raise BadArguments(server, "tools/call", reason, parameter=format_path(path), words=words)

    def repair(self, arguments: Mapping[str, Any]) -> Repaired:
        """`arguments` as they were certainly meant, with a note on each change; those that fit stay as they are.

        A text is read as JSON where no text is allowed and what it holds is; one value becomes a list of one where
        only a list of such values is allowed, unless it is a text that may be several; `ids[0]`, `ids[1]` become
        `ids`; an empty value that is not allowed is left out where the parameter may be.
        """
        if self._fits_plainly(arguments):
            return dict(arguments), ()
        from mooring.tools.arguments.repair import (  # only where something does not plainly fit
            gather_lists,
            repair_value,
        )

        made, notes = gather_lists(dict(arguments), self.shape)
        for _ in range(_ROUNDS):
            at_fault = {tuple(path): None for error in self._errors(made) for path in _faults(error)}
            said = [note for path in at_fault if (note := repair_value(made, path, self.shape))]
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
    def _plain(self) -> PlainSchema | None:
        return read_plain_schema(self.schema)

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
