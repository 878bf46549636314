"""What every command shares: global options, accepted before and after its name, and loading when called."""

import os
import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import click
import msgspec

from mooring.core.where import Viewpoint, here
from mooring.errors import ConfigError, MooringError

if TYPE_CHECKING:
    from mooring.inventory.load import Inventory

OK, UNHEALTHY, USAGE, LOGIN, DENIED, TIMEOUT, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

Table: TypeAlias = Mapping[str, tuple[str, str]]
"""A command's name, where it lives, and its help in one line: all that is known of it until it is called."""


class Globals(msgspec.Struct):
    """The global options, wherever they stood on the command line."""

    cwd: str | None = None
    project: bool = True
    demo: bool = False
    configs: tuple[str, ...] = ()
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    begun: Any = None
    """A guard that was started ahead for the servers of this command."""

    def inventory(self, *, remember: bool = True) -> "Inventory":
        from mooring.inventory.load import load  # a twentieth of the time of a command that reads no files

        return load(self.request(), remember=remember)

    def request(self) -> Viewpoint:
        return Viewpoint(here(os.environ), self._folder(), self.project, self.demo, self.configs)

    def _folder(self) -> str:
        try:
            folder = os.path.abspath(self.cwd or os.curdir)
        except FileNotFoundError:
            raise ConfigError("The folder you stand in no longer exists; name another with --cwd.") from None
        if not os.path.isdir(folder):
            raise ConfigError(f"{self.cwd} is not a folder; --cwd takes the folder to look from.")
        return folder


def _set(key: str, value: Callable[[Any], Any] = lambda given: given) -> Callable[..., None]:
    def callback(ctx: click.Context, _: click.Parameter, given: Any) -> None:
        if given is not None and given not in (False, ()):
            setattr(ctx.ensure_object(Globals), key, value(given))

    return callback


def _flag(*names: str, key: str, help: str, value: Callable[[Any], Any] = bool) -> dict[str, Any]:
    return {
        "param_decls": [*names, f"_{key}"],
        "is_flag": True,
        "expose_value": False,
        "callback": _set(key, value),
        "help": help,
    }


def _option(*names: str, key: str, help: str, metavar: str, many: bool = False) -> dict[str, Any]:
    return {
        "param_decls": [*names, f"_{key}"],
        "metavar": metavar,
        "multiple": many,
        "expose_value": False,
        "callback": _set(key),
        "help": help,
    }


_GLOBALS = (
    _option("--cwd", key="cwd", help="Look from this folder instead of the one you stand in.", metavar="DIR"),
    _flag("--no-project", key="project", help="Leave the project's files out.", value=lambda _: False),
    _option("--config", key="configs", help="Also read this file, before all others.", metavar="FILE", many=True),
    _flag("--demo", key="demo", help="Add the bundled demo server."),
    _flag("--json", key="json", help="Print data instead of text."),
    _flag("-q", "--quiet", key="quiet", help="Say less."),
    _flag("-v", "--verbose", key="verbose", help="Say more."),
)


class Command(click.Command):
    """A command that takes the global options after its name as well."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), *(click.Option(**given, hidden=True) for given in _GLOBALS)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        with formatter.section("Everywhere"):
            formatter.write_dl([_described(click.Option(**given), ctx) for given in _GLOBALS])


def _described(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    return option.get_help_record(ctx) or ("", "")


class LazyGroup(Command, click.Group):
    """A group that knows its commands by a table and loads one when it is called."""

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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help) for name, (_, help) in self.table.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            known = ", ".join(self.table)
            ctx.fail(f"There is no command {args[0]!r} here. The commands are: {known}.")
        return super().resolve_command(ctx, args)


def current(ctx: click.Context) -> Globals:
    found: Globals = ctx.ensure_object(Globals)
    return found


def on_a_terminal() -> bool:
    """Whether there is somebody to talk to."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def print_json(value: Any) -> None:
    """Data on stdout: pure ASCII, so that no text in it can break a terminal or an encoding."""
    import json  # msgspec writes no escapes

    click.echo(json.dumps(msgspec.to_builtins(value), indent=2))


# A completed name lands on the person's command line: one that a shell would read as more than a word is left out.
_A_WORD = r"[\w.:@/+-]+"


def complete_tool(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """`server.tool`, as far as it is known without asking, for a shell."""
    from mooring.actions.complete import complete_tools

    try:
        options = current(ctx)
        found = complete_tools(options.inventory(remember=False), options.request().where, incomplete)
    except MooringError:
        return []
    return [name for name in found if re.fullmatch(_A_WORD, name)]


def complete_first_server(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The same where the server is the first of several words."""
    return [] if ctx.params.get(parameter.name or "") else complete_server(ctx, parameter, incomplete)


def complete_server(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The names of configured servers, for a shell."""
    try:
        names = [choice.name for choice in current(ctx).inventory(remember=False).choices]
    except MooringError:
        return []
    return [name for name in names if name.casefold().startswith(incomplete.casefold()) and re.fullmatch(_A_WORD, name)]
