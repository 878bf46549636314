"""What every command shares: the global options, loading when called, printing and completion."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from itertools import chain
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Protocol, TextIO, TypeAlias

import click
import msgspec

from mooring.cli.interrupts import begin_command
from mooring.core.definitions.paths import Viewpoint, here
from mooring.core.text.suggestions import find_slip, nearest
from mooring.display.text import columns, width, wrap_words
from mooring.errors import ConfigError, MooringError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

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


Table: TypeAlias = Mapping[str, tuple[str, str]]
"""By name, where a command lives and its help in one line: everything that is known of it until it is called."""


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

        return load(self.request(), remember=remember)

    def request(self) -> Viewpoint:
        """What to look at: the machine, the folder and the files. Raises: ConfigError."""
        return Viewpoint(here(os.environ), self._find_folder(), self.project, self.demo, self.configs)

    def _find_folder(self) -> str:
        try:
            folder = os.path.abspath(self.cwd or os.curdir)
        except FileNotFoundError:  # the shell's own folder was deleted
            raise ConfigError("The current folder no longer exists; name another with --cwd.") from None
        if not os.path.isdir(folder):
            raise ConfigError(f"{self.cwd} is not a folder; --cwd takes the folder to look from.")
        return folder


def _store(key: str, convert: Callable[[Any], Any] = lambda given: given) -> Callable[..., None]:
    """A callback that puts the value of an option into the globals."""

    def store(ctx: click.Context, _: click.Parameter, given: Any) -> None:
        # An option that is not given after a command must not undo what was given before it.
        if given not in (None, False, ()):
            setattr(ctx.ensure_object(Globals), key, convert(given))

    return store


def _flag(*names: str, key: str, help: str, convert: Callable[[Any], Any] = bool) -> dict[str, Any]:
    return {
        "param_decls": [*names, f"_{key}"],
        "is_flag": True,
        "expose_value": False,
        "callback": _store(key, convert),
        "help": help,
    }


def _option(*names: str, key: str, help: str, metavar: str, many: bool = False) -> dict[str, Any]:
    return {
        "param_decls": [*names, f"_{key}"],
        "metavar": metavar,
        "multiple": many,
        "expose_value": False,
        "callback": _store(key),
        "help": help,
    }


_GLOBALS = (
    _option("--cwd", key="cwd", help="Look from this folder instead of the current one.", metavar="DIR"),
    _flag("--no-project", key="project", help="Leave the project's files out.", convert=lambda _: False),
    _option("--config", key="configs", help="Also read this file, before all others.", metavar="FILE", many=True),
    _flag("--demo", key="demo", help="Use the bundled demo server alone."),
    _flag("--json", key="json", help="Print data instead of text."),
    _flag("-q", "--quiet", key="quiet", help="Print less."),
    _flag("-v", "--verbose", key="verbose", help="Print more."),
)


class HintedUsageError(click.UsageError):
    """Something is wrong with the words of a command; `hint` says what to do."""

    def __init__(self, message: str, hint: str, ctx: click.Context | None = None) -> None:
        super().__init__(f"{message} {hint}", ctx)
        self.hint = hint


class Seconds(click.FloatRange):
    """A number of seconds. click alone takes "nan" and "inf" for numbers, and nothing could wait for these."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds: float = super().convert(value, param, ctx)
        if not isfinite(seconds):
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return seconds


class Dollars(click.ParamType[float]):
    """An amount of money that can be spent."""

    name = "dollars"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            dollars = float(value)
        except ValueError:
            dollars = 0.0
        if not 0 < dollars < inf:
            self.fail(f"{value!r} is not an amount of money.", param, ctx)
        return dollars


SOME_SECONDS = Seconds(min=0, min_open=True)


class _HelpFormatter(click.HelpFormatter):
    """Puts a description below its option where there is no room for it beside."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl(rows, min(col_max, self.width // 3), col_spacing)


class _Context(click.Context):
    formatter_class = _HelpFormatter

    def invoke(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function of a command, or that of a group; everything is loaded and parsed by then."""
        if self.invoked_subcommand is None:
            begin_command()
        return super().invoke(*args, **kwargs)


def _show_help(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    # A shell that completes a line parses it, too, and wants nothing printed.
    if wanted and not ctx.resilient_parsing:
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


class Command(click.Command):
    """A command that takes the global options after its name as well."""

    context_class = _Context
    _own_help_option: click.Option | None = None

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        # Hidden from click's own list of options, because they get a section of their own below.
        shared = [click.Option(**given, hidden=True) for given in _GLOBALS]
        return [*super().get_params(ctx), *shared]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # The words that are left are looked at here: click's own sentence about them says nothing about what to do.
        has_open_end, ctx.allow_extra_args = ctx.allow_extra_args, True
        left = super().parse_args(ctx, args)
        if left and not has_open_end and not ctx.resilient_parsing:
            raise HintedUsageError(f"{left[0]!r} is one word too many.", f"See: {ctx.command_path} --help", ctx)
        return left

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        # click would look for a translation of its text, and load `locale` for that: 2 ms of each command.
        names = self.get_help_option_names(ctx)
        if self._own_help_option is None and names:
            self._own_help_option = click.Option(
                [*names, "_show_help"],
                is_flag=True,
                expose_value=False,
                is_eager=True,
                help="Show this message and exit.",
                callback=_show_help,
            )
        return self._own_help_option

    def get_help(self, ctx: click.Context) -> str:
        # Examples are kept as they are written: in a narrow terminal they are still too long.
        lines = [wrap_words(line, find_width()) for line in super().get_help(ctx).splitlines()]
        return "\n".join(chain.from_iterable(lines))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        records = [click.Option(**given).get_help_record(ctx) for given in _GLOBALS]
        with formatter.section("Everywhere"):
            formatter.write_dl([record or ("", "") for record in records])


_DECISIONS = ("approve", "reject")
"""A wild guess must not lead anybody to one of these: `remove` comes close to `approve`."""


class LazyGroup(Command, click.Group):
    """A group that knows its commands from a table and loads one when it is called."""

    def __init__(self, *args: Any, table: Table, aliases: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table
        self.aliases = aliases or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = self.aliases.get(cmd_name, cmd_name)
        if name not in self.table:
            return None
        module, _, attribute = self.table[name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    # click would load every command for its line of help.
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help) for name, (_, help) in self.table.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            near = [f"{ctx.command_path} {name}" for name in self._list_similar(ctx, args[0])]
            near = _list_outside(ctx, args[0]) or near
            guess = f"Did you mean {' or '.join(near)}?" if near else f"The commands are: {', '.join(self.table)}."
            raise HintedUsageError(f"There is no command {args[0]!r}.", guess, ctx)
        return super().resolve_command(ctx, args)

    def _list_similar(self, ctx: click.Context, typed: str) -> list[str]:
        """The commands that may have been meant, also those of a group in this one: `mcp list` for `lits`."""
        commands: dict[str, str] = {}
        for group in self._list_groups(ctx):
            aliased = group.aliases.get(typed, typed)
            if aliased in group.table:
                return [f"{group.name} {aliased}"]
            # The first group wins: most people who type `list` mean the servers.
            commands = {verb: f"{group.name} {verb}" for verb in group.table} | commands
        commands |= {name: name for name in self.table}
        slip = find_slip(typed, commands)
        candidates = [slip] if slip else nearest(typed, commands)
        return [commands[word] for word in candidates if word not in _DECISIONS or word[0] == typed[0]]

    def _list_groups(self, ctx: click.Context) -> "Iterator[LazyGroup]":
        for name, (place, _) in self.table.items():
            # Only groups are loaded for this, which are no more than tables.
            inner = self.get_command(ctx, name) if place.endswith(":group") else None
            if isinstance(inner, LazyGroup):
                yield inner


class ShowGroup(LazyGroup):
    """A group whose verb `show` can be left out: `mooring sessions ID`."""

    def __init__(self, *args: Any, list_names: Callable[[click.Context, str], list[str]], **kwargs: Any) -> None:
        """`list_names` completes what can be shown."""
        super().__init__(*args, **kwargs)
        self._list_names = list_names

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        verbs = {*self.table, *self.aliases}
        needs_help = set(args) <= set(ctx.help_option_names) and bool(args)
        # A shell that completes the first word is offered the verbs as well.
        is_completed = ctx.resilient_parsing and not args
        if verbs.isdisjoint(args) and not needs_help and not is_completed:
            args = ["show", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem  # only a shell that completes needs it

        names = [CompletionItem(name) for name in self._list_names(ctx, incomplete)]
        return [*super().shell_complete(ctx, incomplete), *names]


def _list_outside(ctx: click.Context, typed: str) -> list[str]:
    """The command that is meant if it is one of the group around this one: `mooring logs` for `mooring mcp logs`."""
    outside = ctx.parent
    if outside is None or not isinstance(outside.command, LazyGroup) or typed not in outside.command.table:
        return []
    return [f"{outside.command_path} {typed}"]


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


# A completed name lands on the person's command line: one that a shell would read as more than a word is left out.
_ONE_WORD = r"[\w.:@/+-][\w.:@/+=-]*"


def complete_first_server(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a server if it is the first of several words."""
    is_first = not ctx.params.get(parameter.name or "")
    return complete_server(ctx, parameter, incomplete) if is_first else []


def complete_server(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a configured server."""
    try:
        names = [choice.name for choice in get_globals(ctx).inventory(remember=False).choices]
    except MooringError:
        return []
    typed = incomplete.casefold()
    return keep_words(name for name in names if name.casefold().startswith(typed))


def keep_words(names: Iterable[str]) -> list[str]:
    """The names that a shell takes as they are."""
    return [name for name in names if re.fullmatch(_ONE_WORD, name)]
