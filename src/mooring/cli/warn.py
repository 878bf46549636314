"""Warns on stderr about what is missing from an answer: one line for each kind of trouble, with -v for each thing."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from mooring.cli.base import Globals, say
from mooring.core.definitions.problem import Problem
from mooring.display.text import (
    advise_on_held_back,
    count_noun,
    describe_held_back,
    name_server,
    problem_line,
    safe,
    shorten_paths,
)

CONFIG_ERROR = "Warning: MCP config error:"
STARTUP_ERROR = "Warning: MCP startup error:"
DOCTOR = "run: mooring mcp doctor"


def warn(
    options: Globals,
    *,
    failed: Mapping[str, str],
    problems: Iterable[Problem] = (),
    waiting: Iterable[str] = (),
    held: Mapping[str, int] | None = None,
) -> None:
    """Name the servers that are unavailable, the tools that are held back, and what is wrong with the configuration."""
    if options.quiet:
        return
    home = options.workspace().where.home
    print_warnings(
        options,
        CONFIG_ERROR,
        [problem_line(problem, home) for problem in problems],
        lambda count: f"{count_noun(count, 'problem')} in configuration files; {DOCTOR}",
    )
    print_warnings(
        options,
        STARTUP_ERROR,
        [safe(shorten_paths(name_server(name, error), home)) for name, error in failed.items()],
        lambda count: f"{count_noun(count, 'server')} are unavailable; {DOCTOR}",
    )
    for name, count in (held or {}).items():
        say(f"{safe(name)} has {describe_held_back(count)}; {advise_on_held_back(name)}", err=True)
    names = ", ".join(map(safe, waiting))
    if names:
        say(f"The project's files define {names}. To look and decide: mooring mcp approve --all", err=True)


def print_warnings(options: Globals, start: str, lines: Sequence[str], summarize: Callable[[int], str]) -> None:
    """Print one warning as it is, several as one line that says how many, and with -v each of them."""
    if options.quiet:
        return
    if len(lines) > 1 and not options.verbose:
        lines = [summarize(len(lines))]
    if lines:
        options.clear_progress()
    for line in lines:
        say(f"{start} {line}", err=True)
