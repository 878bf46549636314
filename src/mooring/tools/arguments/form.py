"""Arguments checked against their tool's schema before anything is sent, and repaired where there is no doubt.

Arguments that plainly fit a plain schema pass at once. Everything else goes to jsonschema-rs, which is loaded for the
first such schema. Of the libraries compared, it is the only one that is quick to load and to compile, fetches nothing,
and bounds its regular expressions.
"""

import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from mooring.core.tool import Tool
from mooring.errors import BadArguments, ProtocolError
from mooring.tools.arguments.alternatives import failed_branches, likely_branches
from mooring.tools.arguments.plain import PlainSchema, read_plain_schema
from mooring.tools.schema.shape import Path, Shape, format_path

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

Repaired: TypeAlias = tuple[dict[str, Any], tuple[str, ...]]
"""The arguments, and a note on each change."""

BACKTRACKS = 10_000
"""How often a regular expression with look-around or back-references may try again: about half a millisecond."""
REGEX_SIZE = 1024 * 1024
_MAX_ERRORS = 50
_MAX_ROUNDS = 8
"""How often repairing starts over: a text that was read as an object may hold texts of its own."""
_GIVEN_UP = ("BacktrackLimitExceeded", "RegexEngineFailure")


def check(server: str, tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Check `arguments` against the schema of `tool`. Callers that use a tool often keep its `ArgumentForm`.

    Raises: BadArguments.
    """
    ArgumentForm(tool).check(server, arguments)


def repair(tool: Tool, arguments: Mapping[str, Any]) -> Repaired:
    """`arguments` as they were certainly meant, with a note on each change; see `ArgumentForm.repair`."""
    return ArgumentForm(tool).repair(arguments)


class ArgumentForm:
    """The schema of one tool, read once."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    @cached_property
    def unchecked(self) -> str:
        """Why nothing can be checked against the schema; empty if it can."""
        return self._compiled[1]

    def check(self, server: str, arguments: Mapping[str, Any]) -> None:
        """Check that the arguments fit.

        Raises: BadArguments, which names the parameter, what was expected and what came.
        """
        if self._fits_plainly(arguments):
            return
        errors = self._errors(arguments)
        if not errors:
            return
        from mooring.tools.arguments.mismatch import explain_mismatch  # loads difflib, which only an error needs

        reason, path = explain_mismatch(errors, arguments, self.shape)
        stop = "" if reason.endswith("?") else "."
        words = f"{server}.{self.tool.name} was not called: {reason}{stop}"
        raise BadArguments(server, "tools/call", reason, parameter=format_path(path), words=words)

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
        from mooring.tools.arguments.repair import gather_lists, repair_value  # most arguments fit as they are

        made, notes = gather_lists(dict(arguments), self.shape)
        for _ in range(_MAX_ROUNDS):
            found = [repair_value(made, path, self.shape) for path in self._repairable_paths(made)]
            changes = [note for note in found if note]
            if not changes:
                break
            notes += changes
        return made, tuple(notes)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The schema; empty if it cannot be read."""
        try:
            return self.tool.schema
        except ProtocolError:
            return {}

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
        return read_plain_schema(self.schema)

    @cached_property
    def _compiled(self) -> "tuple[Validator | None, str]":
        """The validator, or why there is none. A broken schema stops no call."""
        import jsonschema_rs as library  # see _fits_plainly

        # A pattern like ^(a+)+$ could hold up a call. One that is given up refuses nothing.
        options = library.FancyRegexOptions(backtrack_limit=BACKTRACKS, size_limit=REGEX_SIZE)
        compilers: list[Any] = [library.validator_for]
        if "$schema" not in self.schema:
            # Without `$schema` a schema is of the 2020-12 dialect. Many servers write older ones all the same.
            compilers += [library.Draft7Validator, library.Draft4Validator]
        reason = ""
        for compile_schema in compilers:
            try:
                # Since 2019-09, `format` describes a value but doesn't restrict it.
                return compile_schema(self.schema, pattern_options=options, validate_formats=False, offline=True), ""
            except ValueError as error:  # the library's error for a broken schema is a ValueError
                reason = reason or str(error).partition("\n")[0]
        return None, f"its schema cannot be used: {reason[:200]}"

    def _errors(self, arguments: Mapping[str, Any]) -> "list[ValidationError]":
        validator, _ = self._compiled
        if validator is None:
            return []
        # Most arguments are valid, and saying just that is much cheaper than collecting errors.
        try:
            if validator.is_valid(arguments if isinstance(arguments, dict) else dict(arguments)):
                return []
        except ValueError:
            pass  # the arguments hold Python values that may still turn into JSON
        try:
            found = list(islice(validator.iter_errors(_as_json_values(arguments)), _MAX_ERRORS))
        except ValueError:  # what cannot be written as JSON is refused by the wire, which writes it
            return []
        return [error for error in found if _is_certain(error)]

    def _repairable_paths(self, arguments: dict[str, Any]) -> dict[Path, None]:
        """Where the arguments don't fit, each place once and in order."""
        return {tuple(path): None for error in self._errors(arguments) for path in _paths_of(error)}


def _is_certain(error: "ValidationError") -> bool:
    """Whether the arguments are at fault, rather than a regular expression that was given up."""
    if type(error.kind).__name__ in _GIVEN_UP:
        return False
    return all(_is_certain(inner) for branch in failed_branches(error) for inner in branch)


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


def _as_json_values(arguments: Mapping[str, Any]) -> Any:
    try:
        return msgspec.to_builtins(arguments)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(str(error)) from None
