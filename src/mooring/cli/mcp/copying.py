"""`mooring mcp import` and `mooring mcp export`: copy servers between tools, after a look at the change."""

import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from mooring.actions.copy_servers import Copied, CopyOptions, SkipKind, describe_copied
from mooring.actions.export_servers import export_servers
from mooring.actions.import_servers import STDIN, ImportSource, import_servers, list_tools
from mooring.cli.base import (
    DENIED,
    OK,
    UNHEALTHY,
    USAGE,
    Command,
    Globals,
    complete_server,
    get_globals,
    is_on_terminal,
    print_json,
    say,
)
from mooring.cli.failure import tell
from mooring.cli.interrupts import run_until_interrupted
from mooring.cli.mcp.list import make_problem_data
from mooring.cli.question import find_asker
from mooring.core.question import Ask
from mooring.core.units import MIB
from mooring.discovery.targets import list_writers
from mooring.display.text import safe_text
from mooring.errors import ConfigError

F = TypeVar("F", bound=Callable[..., Any])

_CODES: dict[SkipKind, int] = {"unapproved": DENIED, "refused": USAGE, "broken": UNHEALTHY}
"""The exit code if a server was skipped for this reason; the first of these wins, and the other reasons are none."""


def complete_writer(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete a tool whose files are written."""
    return [tool for tool in list_writers() if tool.startswith(incomplete)]


def complete_source(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a tool whose files are read; what is none of them is a file."""
    tools = [CompletionItem(tool) for tool in list_tools() if tool.startswith(incomplete)]
    return tools or [CompletionItem(incomplete, type="file")]


def _copy_options(command: F) -> F:
    for option in (
        click.option("-y", "--yes", is_flag=True, help="Write without a look at the change."),
        click.option("--dry-run", is_flag=True, help="Only show what would change."),
        click.option("--replace", "may_replace", is_flag=True, help="Replace other definitions of the same names."),
        click.option(
            "-s",
            "--scope",
            type=click.Choice(["user", "project"]),
            default="user",
            help="Your own file (the default), or the project's.",
        ),
    ):
        command = option(command)
    return command


@click.command("import", cls=Command)
@click.argument("names", nargs=-1, metavar="[NAME…]", shell_complete=complete_server)
@click.option(
    "--from",
    "source",
    default="",
    metavar="TOOL|FILE",
    shell_complete=complete_source,
    help="A tool, a file in any tool's format, or - for what is piped in.",
)
@_copy_options
@click.pass_context
def import_command(ctx: click.Context, /, names: tuple[str, ...], source: str, **options: Any) -> None:
    """Copy servers of other tools into Mooring's own file.

    \b
    mooring mcp import                        # everything that it lacks
    mooring mcp import github --from cursor
    mooring mcp import --from ./servers.json  # in the format of any tool

    References such as ${TOKEN} stay references. A project's server needs your approval first.
    """
    text = _read_stdin() if source == STDIN else b""
    _run(ctx, options, lambda copy, ask, request: import_servers(request, ImportSource(source, text), names, copy, ask))


@click.command("export", cls=Command)
@click.argument("names", nargs=-1, metavar="[NAME…]", shell_complete=complete_server)
@click.option(
    "--to",
    "tool",
    required=True,
    metavar="TOOL",
    shell_complete=complete_writer,
    help="The tool whose file is written.",
)
@_copy_options
@click.pass_context
def export_command(ctx: click.Context, /, names: tuple[str, ...], tool: str, **options: Any) -> None:
    """Copy servers into another tool's own file, in its own format.

    \b
    mooring mcp export --to cursor            # every server that is enabled
    mooring mcp export github --to codex -s project

    References such as ${TOKEN} are written as the tool writes them. What it cannot express is reported.
    """
    _run(ctx, options, lambda copy, ask, request: export_servers(request, tool, names, copy, ask))


def _read_stdin() -> bytes:
    text = sys.stdin.buffer.read(MIB + 1)
    if len(text) > MIB:
        raise ConfigError("The standard input is longer than 1 MiB.")
    return text


def _run(ctx: click.Context, words: Any, copy: Callable[..., Coroutine[Any, Any, Copied]]) -> None:
    options = get_globals(ctx)
    chosen = CopyOptions(words["scope"], words["may_replace"], words["dry_run"], confirm=not words["yes"])
    ask: Ask | None = find_asker(options) if is_on_terminal() else None
    copied = run_until_interrupted(copy(chosen, ask, options.request()))
    if options.json:
        print_json(_make_data(copied, chosen))
    else:
        _report(options, copied, chosen)
    ctx.exit(DENIED if copied.declined else _choose_code(copied))


def _choose_code(copied: Copied) -> int:
    kinds = {each.kind for each in copied.skipped}
    fallback = UNHEALTHY if copied.unread else OK
    return next((code for kind, code in _CODES.items() if kind in kinds), fallback)


def _make_data(copied: Copied, chosen: CopyOptions) -> dict[str, Any]:
    data = {
        "version": 1,
        "tool": copied.tool,
        "scope": copied.scope,
        "path": copied.path,
        "leadsTo": copied.leads_to,
        "written": copied.written,
        "skipped": copied.skipped,
        "notExpressed": copied.not_expressed,
        "plainSecrets": copied.plain_secrets,
        "fromProject": copied.from_project,
        "approved": copied.approved,
        "unread": [make_problem_data(problem) for problem in copied.unread],
    }
    return {**data, "planned": copied.planned, "diff": copied.diff} if chosen.dry_run else data


def _report(options: Globals, copied: Copied, chosen: CopyOptions) -> None:
    first, *rest = describe_copied(copied, options.request().where.home)
    if chosen.dry_run and copied.diff:
        click.echo(safe_text(copied.diff))
    if copied.written:
        say(first)
    else:
        tell(first)
    for line in rest:
        tell(line)
