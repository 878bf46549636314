"""Warns on stderr about what is missing from an answer, a line for each thing."""

from collections.abc import Iterable, Mapping

import click

from mooring.cli.base import Globals
from mooring.core.problem import Problem
from mooring.display.text import advise_on_held_back, describe_held_back, problem_line, safe


def warn(
    options: Globals,
    *,
    failed: Mapping[str, str],
    problems: Iterable[Problem] = (),
    waiting: Iterable[str] = (),
    held: Mapping[str, int] | None = None,
) -> None:
    """Name the servers that are unavailable, the tools that are held back, and what is wrong with the configuration."""
    home = options.request().where.home
    for problem in problems:
        click.echo(f"Warning: MCP config error: {problem_line(problem, home)}", err=True)
    for name, error in failed.items():
        click.echo(f"Warning: MCP startup error: {safe(_add_name(name, error))}", err=True)
    for name, count in (held or {}).items():
        click.echo(f"{safe(name)} has {describe_held_back(count)}; {advise_on_held_back(name)}", err=True)
    names = ", ".join(map(safe, waiting))
    if names and not options.quiet:
        click.echo(f"The project's files define {names}. To look and decide: mooring mcp approve --all", err=True)


def _add_name(name: str, error: str) -> str:
    """Most errors begin with the server's name; the others get it in front."""
    return error if error.startswith(name) else f"{name}: {error}"
