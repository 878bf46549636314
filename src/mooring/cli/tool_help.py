"""Prints tools for a person: a signature each, or one in full with an example to paste."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from mooring.cli.base import Globals, find_width
from mooring.display.text import quote_command, safe, safe_text, shorten_description, width, wrap_words
from mooring.errors import ProtocolError
from mooring.tools.catalog.catalog import CatalogEntry

if TYPE_CHECKING:
    from mooring.tools.schema.parameters import Parameter
    from mooring.verbs.use.tool_help import ToolHelp

INDENT = "  "
_NARROWEST = 30
"""Cells that a description needs beside a name; where there are fewer, it goes below."""


def print_signatures(entries: Iterable[CatalogEntry]) -> None:
    """Print a signature for each tool, with a line of description."""
    # Loaded here: a listing of all servers shows no parameters.
    from mooring.tools.schema.parameters import list_parameters, write_signature

    cells = find_width()
    for entry in entries:
        try:
            signature = write_signature(entry.tool, list_parameters(entry.schema))
        except ProtocolError:
            signature = f"{entry.tool}(…)"
        for line in wrap_words(safe(signature), cells, INDENT * 2):
            click.echo(line)
        description = _shorten(entry.description, cells, len(INDENT))
        if description:
            click.echo(f"{INDENT}{description}")


def print_names(rows: Sequence[tuple[str, str]]) -> None:
    """Print names with a line of description beside each, or below it in a narrow terminal."""
    cells = find_width()
    column = max((width(name) for name, _ in rows), default=0)
    is_narrow = cells is not None and cells - column - len(INDENT) < _NARROWEST
    for name, text in rows:
        if is_narrow:
            click.echo(name)
            click.echo(f"{INDENT}{_shorten(text, cells, len(INDENT))}".rstrip())
        else:
            padding = " " * (column - width(name) + len(INDENT))
            click.echo(f"{name}{padding}{_shorten(text, cells, column + len(INDENT))}".rstrip())


def print_help(help: "ToolHelp", command: str | None) -> None:
    """Print all that a person has to know to call a tool; `command` is the example."""
    cells = find_width()
    entry = help.entry
    for line in wrap_words(safe(f"{entry.server}.{help.signature}"), cells, INDENT * 2):
        click.echo(line)
    if entry.description:
        click.echo()
        _print_wrapped(entry.description, cells, INDENT)
    if help.parameters:
        click.echo("\nParameters:")
    for parameter in help.parameters:
        _print_parameter(parameter, cells)
    if command is not None:
        click.echo(f"\nExample:\n{INDENT}{command}")


def make_help_data(help: "ToolHelp", command: str | None) -> dict[str, Any]:
    """What a person would read of a tool, as data beside its schema."""
    return {"signature": f"{help.entry.server}.{help.signature}", "parameters": help.parameters, "example": command}


def spell_example(options: Globals, help: "ToolHelp", server: Mapping[str, Any]) -> str | None:
    """The example as a command to paste; `None` if there is none that a shell would read as it is meant."""
    if help.example is None:
        return None
    entry = help.entry
    words = ["mooring", "call", *_spell_globals(options), *_spell_target(entry, server), *help.example]
    # Characters that a terminal must not get are shown as escapes, which mean something else.
    return quote_command(words) if all(word == safe(word) for word in words) else None


def _spell_globals(options: Globals) -> Iterator[str]:
    if options.demo:
        yield "--demo"
    if not options.project:
        yield "--no-project"
    if options.cwd is not None:
        yield from ("--cwd", options.cwd)
    for path in options.configs:
        yield from ("--config", path)


def _spell_target(entry: CatalogEntry, server: Mapping[str, Any]) -> list[str]:
    for option in ("server", "url"):
        if server[option]:
            return [f"--{option}", server[option], entry.tool]
    return [f"{entry.server}.{entry.tool}"]


def _print_parameter(parameter: "Parameter", cells: int | None) -> None:
    kinds = [parameter.type, "required" if parameter.required else "optional"]
    if parameter.default is not None:
        kinds.append(f"default {parameter.default}")
    kinds += parameter.limits
    for line in wrap_words(f"{INDENT}{safe(parameter.name)}: {safe(', '.join(kinds))}", cells, INDENT * 3):
        click.echo(line)
    _print_wrapped(parameter.description, cells, INDENT * 3)
    # A signature shows only the first of many values.
    if "…" in parameter.type:
        _print_wrapped(f"one of {', '.join(parameter.choices)}", cells, INDENT * 3)
    _print_wrapped(parameter.inside, cells, INDENT * 3)


def _print_wrapped(text: str, cells: int | None, indent: str) -> None:
    for line in safe_text(text).strip().splitlines():
        for part in wrap_words(f"{indent}{line.rstrip()}", cells, indent):
            click.echo(part.rstrip())


def _shorten(text: str, cells: int | None, used: int) -> str:
    line = text.strip().partition("\n")[0].strip()
    return safe(line) if cells is None else shorten_description(line, max(cells - used - len(" …"), 1))
