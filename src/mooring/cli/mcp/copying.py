"""`mooring mcp import` and `mooring mcp export`: copy servers between tools, after a look at the change."""

import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

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
from mooring.core.conversation.question import Ask
from mooring.core.protocol.units import MIB
from mooring.discovery.targets import list_writers
from mooring.display.text import safe_text
from mooring.errors import ConfigError
from mooring.verbs.config.copy_servers import Copied, CopyOptions, SkipKind, SkippedServer, describe_copied
from mooring.verbs.config.export_servers import export_servers
from mooring.verbs.config.import_servers import STDIN, ImportSource, import_servers, list_tools

F = TypeVar("F", bound=Callable[..., Any])

_CODES: dict[SkipKind, int] = {"unapproved": DENIED, "refused": USAGE, "broken": UNHEALTHY}
"""The exit code if a named server was skipped for this reason; the first of these wins, the other reasons are none."""


def complete_writer(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete a tool whose files are written."""
    return [tool for tool in list_writers() if tool.startswith(incomplete)]


def complete_source(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a tool whose files are read; what is none of them is a file."""
    tools = [CompletionItem(tool) for tool in list_tools() if tool.startswith(incomplete)]
    return tools or [CompletionItem(incomplete, type="file")]


def _copy_options(command: F) -> F:
    for option in (
        click.option(
            "-y", "--yes", is_flag=True, help="Write without a look at the change; needed where nobody can be asked."
        ),
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

    References such as ${TOKEN} stay references, and ${input:x} becomes a stored secret. A server whose copy would lack
    anything is skipped. A project's server needs your approval first.
    """
    text = _read_stdin() if source == STDIN else b""
    chosen = ImportSource(source, text)
    # Whoever names a file means all that is in it; a tool has many servers, and some of them are a project's.
    is_file_named = bool(source) and source not in list_tools() and not names
    _run(
        ctx,
        None if is_file_named else names,
        options,
        lambda copy, ask, request: import_servers(request, chosen, names, copy, ask),
    )


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

    References such as ${TOKEN} are written as the tool writes them. A server that it cannot express is skipped.
    """
    _run(ctx, names, options, lambda copy, ask, request: export_servers(request, tool, names, copy, ask))


def _read_stdin() -> bytes:
    text = sys.stdin.buffer.read(MIB + 1)
    if len(text) > MIB:
        raise ConfigError("The standard input is longer than 1 MiB.")
    return text


def _run(
    ctx: click.Context, named: tuple[str, ...] | None, words: Any, copy: Callable[..., Coroutine[Any, Any, Copied]]
) -> None:
    """Copy, report it, and exit; `named` are the servers that the exit code is about, `None` for all of them."""
    options = get_globals(ctx)
    ask: Ask | None = find_asker(options) if is_on_terminal() else None
    # Nobody has seen the change, and nobody said that it need not be seen.
    is_unseen = ask is None and not words["yes"] and not words["dry_run"]
    dry_run = words["dry_run"] or is_unseen
    chosen = CopyOptions(words["scope"], words["may_replace"], dry_run, confirm=not words["yes"])
    copied = run_until_interrupted(copy(chosen, ask, options.request()))
    if options.json:
        print_json(_make_data(copied, chosen))
    else:
        _report(options, copied, chosen)
    if is_unseen and copied.planned:
        tell("Nobody could be asked about the change. Add -y to write it.")
        ctx.exit(USAGE)
    ctx.exit(DENIED if copied.declined else _choose_code(copied, named))


def _choose_code(copied: Copied, named: tuple[str, ...] | None) -> int:
    """The exit code for the servers that were named; what else was skipped is reported, and is no failure."""
    kinds = {each.kind for each in _list_skipped(copied, named)}
    for kind, code in _CODES.items():
        if kind in kinds:
            return code
    return UNHEALTHY if copied.unread else OK


def _list_skipped(copied: Copied, named: tuple[str, ...] | None) -> list[SkippedServer]:
    """Those that were skipped of the servers that were named; all of them if none were."""
    if named is None:
        return list(copied.skipped)
    wanted = {name.casefold() for name in named}
    return [each for each in copied.skipped if each.name.casefold() in wanted]


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
        "stored": copied.stored,
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
