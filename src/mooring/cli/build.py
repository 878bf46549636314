"""Builds the commands of the shell from the rows of verbs; an action is loaded when its command is called."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import click

from mooring.cli.base import (
    OK,
    UNHEALTHY,
    Globals,
    HintedUsageError,
    find_width,
    get_globals,
    print_json,
    print_lines,
    tell,
)
from mooring.cli.interrupts import begin_command, run_until_interrupted
from mooring.core.text.suggestions import find_slip, nearest
from mooring.display.text import wrap_words
from mooring.verbs.verb import (
    Flag,
    Option,
    Parameter,
    Row,
    Verb,
    VerbArgument,
    VerbGroup,
    VerbResult,
    find_key,
    find_options,
    list_names,
    load_action,
)

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

ACTIONS: Mapping[str, str] = {
    "chat": "chat:run",
    "mcp list": "mcp.list:run",
    "mcp add": "mcp.write:run_add",
    "mcp add-json": "mcp.write:run_add_json",
    "mcp edit": "mcp.write:run_edit",
    "mcp import": "mcp.write:run_import",
    "mcp export": "mcp.write:run_export",
    "mcp test": "mcp.connect:run_test",
    "mcp reload": "mcp.connect:run_reload",
    "mcp login": "mcp.connect:run_login",
    "mcp logout": "mcp.connect:run_logout",
    "mcp approve": "mcp.approve:run_approve",
    "mcp reject": "mcp.approve:run_reject",
    "mcp pins": "mcp.connect:run_pins",
    "mcp doctor": "mcp.doctor:run",
    "tools": "tools:run",
    "call": "call:run",
    "resources": "items:run_resources",
    "read": "items:run_read",
    "prompts": "items:run_prompts",
    "prompt": "items:run_prompt",
    "watch": "items:run_watch",
    "serve": "serve:run",
    "backends": "backends:run",
    "logs": "logs:run",
    "agents show": "agents:run_show",
    "sessions show": "sessions:run_show",
    "sessions rm": "sessions:run_rm",
    "secret set": "secret:run_set",
    "completion": "completion:run",
}
"""By verb, the module in this folder and the function that does it, where the row names no action."""


def _load(place: str) -> Any:
    module, _, function = place.partition(":")
    return getattr(import_module(f"mooring.cli.{module}"), function)


def _complete(kind: str, ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Any:
    from mooring.cli.completion import complete_word  # only a shell that completes needs it

    return complete_word(kind, ctx, parameter, incomplete)


GLOBALS: tuple[Option | Flag, ...] = (
    Option("--cwd", "Look from this folder instead of the current one.", metavar="DIR"),
    Flag("--no-project", "Leave the project's files out.", key="project"),
    Option("--config", "Also read this file, before all others.", key="configs", metavar="FILE", many=True),
    Flag("--demo", "Use the bundled demo server alone."),
    Flag("--json", "Print data instead of text."),
    Flag("-q --quiet", "Print less."),
    Flag("-v --verbose", "Print more."),
)


def _make_global(given: Option | Flag, *, hidden: bool = False) -> click.Option:
    """An option that every command takes; its value goes into the globals."""
    made = _make_option(given)
    key = find_key(given)
    # Not the name of its value: a command may have one of that name itself.
    made.name, made.expose_value, made.hidden = f"_{key}", False, hidden

    def store(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        # An option that is not given after a command must not undo what was given before it.
        if value not in (None, False, ()):
            setattr(ctx.ensure_object(Globals), key, value if key != "project" else False)

    made.callback = store
    return made


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
        return [*super().get_params(ctx), *(_make_global(given, hidden=True) for given in GLOBALS)]

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
        records = [_make_global(given).get_help_record(ctx) for given in GLOBALS]
        with formatter.section("Everywhere"):
            formatter.write_dl([record or ("", "") for record in records])


class VerbCommand(Command):
    """The command of a row."""

    def __init__(self, verb: Verb, path: str) -> None:
        """`path` is the verb with the names of its groups."""
        options = find_options(verb, "shell")
        shown = [each for each in verb.parameters if isinstance(each, VerbArgument) or each in options]
        super().__init__(verb.name, params=[_make_parameter(each) for each in shown], help=_make_help(verb))
        self._verb = verb
        self._path = path
        self._has_command = any(isinstance(each, VerbArgument) and each.raw for each in verb.parameters)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if self._has_command:
            from mooring.verbs.parse import end_options  # few verbs take a command

            args = end_options(args, self._list_valued(ctx))
        return super().parse_args(ctx, args)

    def _list_valued(self, ctx: click.Context) -> set[str]:
        """The options that take the next word as their value."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option) and not each.is_flag]
        return {name for option in options for name in option.opts}

    def invoke(self, ctx: click.Context) -> object:
        # Loaded before anything runs: an interruption of the action finds all of it there.
        if not self._verb.action:
            return ctx.invoke(_load(ACTIONS[self._path]), get_globals(ctx), **ctx.params)
        action = load_action(self._verb)
        options = get_globals(ctx)
        done = ctx.invoke(action, options.workspace(), **ctx.params)
        result: VerbResult = done if isinstance(done, VerbResult) else run_until_interrupted(done)
        if options.json:
            print_json(result.data)
        else:
            print_lines(options, result.lines)
        for note in result.notes:
            tell(note)
        return OK if result.is_healthy else UNHEALTHY


def _make_help(verb: Verb) -> str:
    # click keeps the lines of a paragraph as they are if this character stands alone before them.
    examples = "\n".join(["\b", *verb.examples]) if verb.examples else ""
    return f"{verb.help}\n\n{examples}".rstrip()


def _make_parameter(given: Parameter) -> click.Parameter:
    return _make_argument(given) if isinstance(given, VerbArgument) else _make_option(given)


def _make_option(given: Option | Flag) -> click.Option:
    if isinstance(given, Flag):
        names = f"{given.spelling}/{given.off}" if given.off else given.spelling
        default = None if given.off else False
        return click.Option([*names.split(), find_key(given)], is_flag=True, default=default, help=given.help)
    return click.Option(
        [*list_names(given), find_key(given)],
        type=_choose_type(given),
        metavar=given.metavar,
        multiple=given.many,
        required=given.required,
        help=given.help,
        **_choose_default(given),
        **_choose_completion(given),
    )


def _make_argument(given: VerbArgument) -> click.Argument:
    kind = click.Choice(given.choices) if given.choices else None
    return click.Argument(
        [given.key],
        type=click.UNPROCESSED if given.raw else kind,
        nargs=-1 if given.many else 1,
        required=given.required,
        metavar=_spell_argument(given),
        **_choose_default(given),
        **_choose_completion(given),
    )


def _spell_argument(given: VerbArgument) -> str | None:
    """How help shows it; `None` leaves that to click, which makes it of the key."""
    shown = given.metavar
    # Several words are a usage of their own, which says what can be left out.
    is_usage = " " in (shown or "") and not given.raw
    if not shown or is_usage:
        return shown
    if not given.required:
        shown = f"[{shown}]"
    return f"{shown}..." if given.many and not given.raw else shown


def _choose_default(given: VerbArgument | Option) -> dict[str, Any]:
    if given.default is None:
        return {}
    is_number = isinstance(given.default, int)
    return {"default": given.default, "show_default": True} if is_number else {"default": given.default}


def _choose_completion(given: VerbArgument | Option) -> dict[str, Any]:
    return {"shell_complete": partial(_complete, given.complete)} if given.complete else {}


def _choose_type(option: Option) -> click.ParamType[Any] | None:
    if option.choices:
        return click.Choice(option.choices)
    match option.kind:
        case "text":
            return None
        case "integer":
            return click.IntRange(option.least)
        case "number":
            return click.FLOAT
        case "seconds":
            return Seconds(min=option.least or 0, min_open=option.least is None)
        case "dollars":
            return Dollars()


_DECISIONS = ("approve", "reject")
"""A wild guess must not lead anybody to one of these: `remove` comes close to `approve`."""


class VerbsGroup(Command, click.Group):
    """A group of commands that are built from rows, each when it is called."""

    def __init__(self, name: str, rows: Sequence[Row], path: str = "", **kwargs: Any) -> None:
        """`path` is the names of this group and those around it, each with a blank behind it."""
        super().__init__(name, **kwargs)
        self.rows: Mapping[str, Row] = {row.name: row for row in rows}
        self.aliases = {alias: row.name for row in rows if isinstance(row, Verb) for alias in row.aliases}
        self._path = path

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = self.rows.get(self.aliases.get(cmd_name, cmd_name))
        match row:
            case None:
                return None
            case Verb():
                return VerbCommand(row, f"{self._path}{row.name}")
            case VerbGroup():
                return _make_group(row)

    # click would load every command for its line of help.
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(row.name, row.summary) for row in self.rows.values()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            near = [f"{ctx.command_path} {name}" for name in self._list_similar(args[0])]
            near = _list_outside(ctx, args[0]) or near
            guess = f"Did you mean {' or '.join(near)}?" if near else f"The commands are: {', '.join(self.rows)}."
            raise HintedUsageError(f"There is no command {args[0]!r}.", guess, ctx)
        return super().resolve_command(ctx, args)

    def _list_similar(self, typed: str) -> list[str]:
        """The commands that may have been meant, also those of a group in this one: `mcp list` for `lits`."""
        commands: dict[str, str] = {}
        for group in self._list_groups():
            aliased = group.aliases.get(typed, typed)
            if aliased in group.rows:
                return [f"{group.name} {aliased}"]
            # The first group wins: most people who type `list` mean the servers.
            commands = {verb: f"{group.name} {verb}" for verb in group.rows} | commands
        commands |= {name: name for name in self.rows}
        slip = find_slip(typed, commands)
        candidates = [slip] if slip else nearest(typed, commands)
        return [commands[word] for word in candidates if word not in _DECISIONS or word[0] == typed[0]]

    def _list_groups(self) -> "Iterator[VerbsGroup]":
        for row in self.rows.values():
            if isinstance(row, VerbGroup):
                yield _make_group(row)


class _ShowGroup(VerbsGroup):
    """A group whose verb `show` can be left out: `mooring sessions ID`."""

    def __init__(self, *args: Any, shows: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._shows = shows

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        verbs = {*self.rows, *self.aliases}
        needs_help = set(args) <= set(ctx.help_option_names) and bool(args)
        # A shell that completes the first word is offered the verbs as well.
        is_completed = ctx.resilient_parsing and not args
        if verbs.isdisjoint(args) and not needs_help and not is_completed:
            args = ["show", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem  # only a shell that completes needs it

        parameter = click.Argument([self._shows])
        names = [CompletionItem(name) for name in _complete(self._shows, ctx, parameter, incomplete)]
        return [*super().shell_complete(ctx, incomplete), *names]


def _list_outside(ctx: click.Context, typed: str) -> list[str]:
    """The command that is meant if it is one of the group around this one: `mooring logs` for `mooring mcp logs`."""
    outside = ctx.parent
    if outside is None or not isinstance(outside.command, VerbsGroup) or typed not in outside.command.rows:
        return []
    return [f"{outside.command_path} {typed}"]


def _make_group(row: VerbGroup) -> VerbsGroup:
    path = f"{row.name} "
    if row.shows:
        return _ShowGroup(row.name, row.load(), path, help=row.help, shows=row.shows)
    return VerbsGroup(row.name, row.load(), path, help=row.help, no_args_is_help=True)
