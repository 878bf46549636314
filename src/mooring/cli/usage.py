"""Says what is missing from the words of a command, or wrong with one of them, for whoever typed them."""

from typing import Any

import click

from mooring.cli.build import Dollars, Seconds
from mooring.tools.arguments.wording import join_words


def describe_missing(error: click.MissingParameter) -> str:
    """Which argument or option has to be given."""
    if error.param is None or error.ctx is None:
        return error.format_message()
    metavar = error.param.make_metavar(error.ctx).removesuffix("...")
    name = metavar if isinstance(error.param, click.Argument) else f"{_name_parameter(error.param)} {metavar}"
    if isinstance(error.param.type, click.Choice):
        return f"Missing {name}: {join_words(error.param.type.choices, ' or ')}."
    return f"Missing {name}."


def describe_bad_value(error: click.BadParameter) -> str:
    """Which values an option or argument takes, and what was typed instead."""
    expected = _describe_expected(error.param.type) if error.param else ""
    if error.param is None or not expected:
        return error.format_message()
    # The error has the value in its message alone, at its beginning.
    typed = error.message.partition(" is not ")[0]
    return f"{_name_parameter(error.param)} must be {expected}, not {typed}."


def _name_parameter(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Argument):
        return parameter.human_readable_name
    return max(parameter.opts, key=len)


def _describe_expected(kind: click.ParamType[Any]) -> str:
    """The values of a type; empty if its own message says it."""
    match kind:
        case click.Choice():
            return join_words(kind.choices, " or ")
        case Seconds():
            return f"a number of seconds{_describe_bound(kind)}"
        case Dollars():
            return "a number of US dollars above 0"
        case click.IntRange():
            return f"a whole number{_describe_bound(kind)}"
        case _ if kind is click.FLOAT:
            return "a number"
        case _:
            return ""


def _describe_bound(kind: click.IntRange | click.FloatRange) -> str:
    if kind.min is None:
        return ""
    return f" above {kind.min:g}" if kind.min_open else f" and at least {kind.min:g}"
