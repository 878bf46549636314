"""The help of a command, from its row."""

from collections.abc import Iterable, Iterator, Sequence

from mooring.cli.base import find_width
from mooring.cli.command_line import GLOBALS, HELP, ROOT, VERSION
from mooring.display.text import wrap_words
from mooring.verbs.verb import (
    Flag,
    Option,
    Row,
    Verb,
    VerbArgument,
    find_arguments,
    find_options,
    list_names,
    spell_value,
)

_WIDEST = 80
_WIDEST_NAMES = 30
INDENT = "  "


def make_help(path: Sequence[str], row: Row) -> str:
    """All that is to know about a command."""
    cells = min(find_width() or _WIDEST, _WIDEST)
    sections = [_format_text(row, cells), _format_table("Options", map(describe_option, list_own_options(row)), cells)]
    if not isinstance(row, Verb):
        sections.append(_format_table("Commands", [(each.name, each.summary) for each in row.load()], cells))
    sections.append(_format_table("Everywhere", map(describe_option, GLOBALS), cells))
    return "\n\n".join(["\n".join(wrap_words(f"Usage: {make_usage(path, row)}", cells)), *sections])


def make_usage(path: Sequence[str], row: Row) -> str:
    """How a command is typed, in one line."""
    if isinstance(row, Verb):
        words = [_spell_argument(argument) for argument in find_arguments(row)]
    else:
        words = ["[COMMAND]" if row is ROOT else "COMMAND", "[ARGS]..."]
    return " ".join(["mooring", *path, "[OPTIONS]", *filter(None, words)])


def list_own_options(row: Row) -> list[Option | Flag]:
    """The options of a command, without those that every command has."""
    if isinstance(row, Verb):
        return [*find_options(row, "shell"), HELP]
    return [VERSION, HELP] if row is ROOT else [HELP]


def describe_option(option: Option | Flag) -> tuple[str, str]:
    """How an option is typed, and what it does."""
    names = ", ".join(list_names(option))
    if isinstance(option, Flag):
        return f"{names} / {option.off}" if option.off else names, option.help
    value = f"[{'|'.join(option.choices)}]" if option.choices else spell_value(option)
    note = "  [required]" if option.required else ""
    if isinstance(option.default, int):
        note = f"  [default: {option.default}]"
    return f"{names} {value}", f"{option.help}{note}"


def _spell_argument(argument: VerbArgument) -> str:
    shown = spell_value(argument)
    # Several words are a usage of their own, which says what can be left out.
    is_usage = " " in shown and not argument.raw
    if not shown or is_usage:
        return shown
    if argument.choices and argument.metavar is None:
        shown = "|".join(argument.choices)
    if not argument.required:
        shown = f"[{shown}]"
    return f"{shown}..." if argument.many and not argument.raw else shown


def _format_text(row: Row, cells: int) -> str:
    paragraphs = [
        line for text in row.help.split("\n\n") for line in ("", *wrap_words(f"{INDENT}{text}", cells, INDENT))
    ]
    # Examples are kept as they are written, as far as there is room.
    examples = row.examples if isinstance(row, Verb) else ()
    lines = [line for example in examples for line in wrap_words(f"{INDENT}{example}", find_width())]
    return "\n".join([*paragraphs, *([""] if lines else []), *lines]).removeprefix("\n")


def _format_table(title: str, rows: Iterable[tuple[str, str]], cells: int) -> str:
    shown = list(rows)
    # A description is below its option where there is no room for it beside.
    most = min(_WIDEST_NAMES, cells // 3)
    column = min(max(len(names) for names, _ in shown), most) + 2 * len(INDENT)
    lines = [line for names, text in shown for line in _format_row(names, text, column, cells)]
    return "\n".join([f"{title}:", *lines])


def _format_row(names: str, text: str, column: int, cells: int) -> Iterator[str]:
    below = " " * column
    begin = f"{INDENT}{names}"
    if len(begin) + len(INDENT) <= column:
        yield from wrap_words(f"{begin:<{column}}{text}", cells, below)
    else:
        yield begin
        yield from wrap_words(f"{below}{text}", cells, below)
