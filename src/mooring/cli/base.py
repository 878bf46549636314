"""What every command shares: the global options, loading when called, printing and completion."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Protocol, TextIO

import click
import msgspec

from mooring.core.definitions.paths import Workspace, here
from mooring.display.text import columns, width, wrap_words
from mooring.errors import ConfigError
from mooring.verbs.verb import LineStyle, Shown, ShownTable

if TYPE_CHECKING:
    from mooring.inventory.load import Inventory

# Exit codes, which other programs rely on. UNHEALTHY is also the code of a tool that says it failed, USAGE also that of
# a wrong configuration.
OK, UNHEALTHY, USAGE, LOGIN, DENIED, TIMEOUT = 0, 1, 2, 3, 4, 5


NO_SERVERS = "No MCP servers are configured here; `mooring mcp list` shows how to add one."


class _Described(Protocol):
    @property
    def title(self) -> str | None: ...
    @property
    def description(self) -> str | None: ...


def _clear_nothing() -> None:
    """Nothing shows progress."""


class Globals(msgspec.Struct):
    """The global options, wherever they were on the command line."""

    cwd: str | None = None
    project: bool = True
    demo: bool = False
    configs: tuple[str, ...] = ()
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    begun: Any = None
    """The guard that was started ahead for the servers of this command."""
    pause_progress: Callable[[], AbstractContextManager[None]] = nullcontext
    """Takes the line that shows progress away while a person is asked something."""
    clear_progress: Callable[[], None] = _clear_nothing
    """Clears the line that shows progress, so that a warning does not end up behind it."""

    def inventory(self, *, remember: bool = True) -> "Inventory":
        """Read the configuration; without `remember`, nothing is written."""
        # Loaded here: it takes a twentieth of the time of a command that reads no files.
        from mooring.inventory.load import load

        return load(self.workspace(), remember=remember)

    def workspace(self) -> Workspace:
        """What to look at: the machine, the folder and the files. Raises: ConfigError."""
        return Workspace(here(os.environ), self._find_folder(), self.project, self.demo, self.configs)

    def _find_folder(self) -> str:
        try:
            folder = os.path.abspath(self.cwd or os.curdir)
        except FileNotFoundError:  # the shell's own folder was deleted
            raise ConfigError("The current folder no longer exists; name another with --cwd.") from None
        if not os.path.isdir(folder):
            raise ConfigError(f"{self.cwd} is not a folder; --cwd takes the folder to look from.")
        return folder


class HintedUsageError(click.UsageError):
    """Something is wrong with the words of a command; `hint` says what to do."""

    def __init__(self, message: str, hint: str, ctx: click.Context | None = None) -> None:
        super().__init__(f"{message} {hint}", ctx)
        self.hint = hint


def get_globals(ctx: click.Context) -> Globals:
    """The global options of this run."""
    found: Globals = ctx.ensure_object(Globals)
    return found


def is_on_terminal() -> bool:
    """Whether there is a person to talk to."""
    return are_terminals(sys.stdin, sys.stdout)


def are_terminals(*streams: TextIO | None) -> bool:
    """Whether each of the streams is open and leads to a terminal."""
    return all(stream is not None and stream.isatty() for stream in streams)


def print_json(value: Any) -> None:
    """Print data on stdout as pure ASCII, so that no text in it can break a terminal or an encoding."""
    import json  # msgspec cannot escape what is not ASCII

    click.echo(json.dumps(msgspec.to_builtins(value), indent=2))


def find_width(*, err: bool = False) -> int | None:
    """The width of the terminal; `None` if it is unknown or the output goes elsewhere: nothing is wrapped or cut."""
    stream = sys.stderr if err else sys.stdout
    return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None


def say(text: str = "", *, err: bool = False, **style: Any) -> None:
    """Print a text for a person; on a terminal, lines that are too long are broken between words."""
    cells = find_width(err=err)
    for line in text.split("\n"):
        for part in wrap_words(line, cells):
            # Without a style there is nothing to reset behind it, either.
            click.echo(click.style(part, **style) if style else part, err=err)


def tell(text: str, **style: Any) -> None:
    """Print a line on stderr; if even that cannot be written, the exit code still says how it ended."""
    with suppress(OSError):
        say(text, err=True, **style)


_STYLES: Mapping[LineStyle, dict[str, Any]] = {
    "plain": {},
    "title": {"bold": True},
    "good": {"fg": "green"},
    "bad": {"fg": "red"},
    "doubtful": {"fg": "yellow"},
    "dim": {"dim": True},
}


def print_lines(options: Globals, lines: Iterable[Shown]) -> None:
    """Print what a verb came to: its result on stdout, and what a person should know about it on stderr."""
    for line in lines:
        if isinstance(line, ShownTable):
            print_columns(line.rows)
        elif line.is_note or (line.is_hint and not options.quiet):
            tell(line.text, **_STYLES[line.style])
        elif line.more:
            say(click.style(line.text, **_STYLES[line.style]) + line.more)
        elif not line.is_hint:
            say(line.text, **_STYLES[line.style])


def print_columns(rows: Sequence[Sequence[str]], *, err: bool = False) -> None:
    """Print rows in aligned columns, and nothing if there are none."""
    if not rows:
        return
    cells = find_width(err=err)
    indents = [_find_last_column(row, cells) for row in columns([(*row[:-1], "|") for row in rows])]
    for line, indent in zip(columns(rows), indents, strict=True):
        for part in wrap_words(line, cells, indent):
            click.echo(part, err=err)


def _find_last_column(line: str, cells: int | None) -> str | None:
    """The blanks before the last column, if there is room for words behind them."""
    start = width(line) - 1
    return " " * start if cells is not None and start <= cells // 2 else None


def summarize(item: _Described) -> str:
    """The first line of what a server says about a tool, resource or prompt."""
    text = item.description or item.title or ""
    return text.strip().partition("\n")[0]
