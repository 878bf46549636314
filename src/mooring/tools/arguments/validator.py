"""jsonschema-rs, used within bounds: it cannot be interrupted, so a check that might take long isn't made at all.

Of the libraries compared, it is the only one that is quick to load and to compile, fetches nothing, and bounds its
regular expressions.
"""

from collections.abc import Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import msgspec

from mooring.tools.arguments.plain import Unchecked, failed_branches
from mooring.tools.schema.bound import MAX_ERROR_COST, SchemaBound, SchemaTooLarge

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

BACKTRACKS = 1000
"""How often a regular expression with look-around or back-references may try again: about 50 microseconds."""
REGEX_SIZE = 1024 * 1024
_MAX_ERRORS = 50
_GIVEN_UP = ("BacktrackLimitExceeded", "RegexEngineFailure")


class BoundedValidator:
    """A compiled schema.

    Raises:
        Unchecked: the schema is broken, or too large.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        try:
            self._bound = SchemaBound(schema)
        except SchemaTooLarge as error:
            raise Unchecked(f"its schema is too large to check them in time ({error})") from None
        self._validator = _compile(schema)

    def list_errors(self, arguments: Mapping[str, Any]) -> "list[ValidationError]":
        """What is wrong with the arguments; not all of it if there is much.

        Raises:
            Unchecked: they are too large for this schema.
        """
        values = arguments if isinstance(arguments, dict) else dict(arguments)
        if not self._bound.may_check(values):
            raise Unchecked("they are too large to check them against its schema in time")
        # Most arguments are valid, and saying just that is much cheaper than collecting errors.
        try:
            if self._validator.is_valid(values):
                return []
        except ValueError:
            pass  # the arguments hold Python values that may still turn into JSON
        try:
            found = self._collect_errors(_as_json_values(values))
        except ValueError:  # what cannot be written as JSON is refused by the wire, which writes it
            return []
        return [error for error in found if _is_certain(error)]

    def _collect_errors(self, values: Any) -> "list[ValidationError]":
        """As many errors as the library finds in time: it collects all of them, each with a copy of what it is about.

        20,000 missing properties of an object that holds a list of 3,000 took 3.8 GB.
        """
        cost = self._bound.estimate_errors(values)
        if cost is not None and cost.every <= MAX_ERROR_COST:
            return list(islice(self._validator.iter_errors(values), _MAX_ERRORS))
        if cost is None or cost.first > MAX_ERROR_COST:
            raise Unchecked("they don't fit its schema, but saying where would take too long")
        return self._find_first_error(values)

    def _find_first_error(self, values: Any) -> "list[ValidationError]":
        import jsonschema_rs as library  # loaded by now

        try:
            self._validator.validate(values)
        except library.ValidationError as error:
            return [error]
        return []


def _compile(schema: dict[str, Any]) -> "Validator":
    import jsonschema_rs as library  # takes 7 to 10 ms to load, and many schemas are checked without it

    # A pattern like ^(a+)+$ could hold up a call. One that is given up refuses nothing.
    options = library.FancyRegexOptions(backtrack_limit=BACKTRACKS, size_limit=REGEX_SIZE)
    compilers: list[Any] = [library.validator_for]
    if "$schema" not in schema:
        # Without `$schema` a schema is of the 2020-12 dialect. Many servers write older ones all the same.
        compilers += [library.Draft7Validator, library.Draft4Validator]
    reason = ""
    for compile_schema in compilers:
        try:
            # Since 2019-09, `format` describes a value but doesn't restrict it.
            compiled: Validator = compile_schema(schema, pattern_options=options, validate_formats=False, offline=True)
        except ValueError as error:  # the library's error for a broken schema is a ValueError
            reason = reason or str(error).partition("\n")[0]
        else:
            return compiled
    raise Unchecked(f"its schema cannot be used: {reason[:200]}")


def _is_certain(error: "ValidationError") -> bool:
    """Whether the arguments are at fault, rather than a regular expression that was given up."""
    if type(error.kind).__name__ in _GIVEN_UP:
        return False
    return all(map(_is_certain, chain.from_iterable(failed_branches(error))))


def _as_json_values(arguments: Mapping[str, Any]) -> Any:
    try:
        return msgspec.to_builtins(arguments)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(str(error)) from None
