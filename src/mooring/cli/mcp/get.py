"""`mooring mcp get NAME`."""

from collections.abc import Iterator

import click

from mooring.actions.get import Details, get_details
from mooring.cli.base import Command, complete_server, get_globals, print_json
from mooring.display.text import columns, quote_command, safe, short_path


@click.command("get", cls=Command)
@click.argument("name", shell_complete=complete_server)
@click.pass_context
def command(ctx: click.Context, name: str) -> None:
    """One server's definition in full. Values of env and headers are masked."""
    options = get_globals(ctx)
    where = options.request().where
    details = get_details(options.inventory(), name, where.env)
    if options.json:
        print_json(details)
        return
    click.echo(click.style(safe(details.server.name), bold=True))
    for line in columns([(f"  {label}", text) for label, text in _lines(details, where.home)]):
        click.echo(line)


def _lines(details: Details, home: str) -> Iterator[tuple[str, str]]:
    row = details.server
    yield "status", f"{row.status} (by {safe(details.disabled_by)})" if details.disabled_by else row.status
    yield "approval", _STANDINGS[details.standing]
    if row.error:
        yield "error", f"it {safe(row.error)}"
    if row.command is not None:
        yield "command", quote_command((row.command, *row.args))
    if row.url is not None:
        yield "url", f"{safe(row.url)} ({row.transport})"
    yield "from", f"{row.source.tool}, {row.source.scope}: {_path(row.source.path, home)}"
    for path in details.merged:
        yield "merged", short_path(path, home)
    if details.key:
        yield "key", safe(" › ".join(map(str, details.key)))
    yield from _connection(details)
    yield from _limits(details)
    for lack in details.missing:
        yield (
            "missing",
            f"{safe(lack.where)}: {safe(lack.variable or 'the variable it names')} is not set; it {lack.effect}",
        )
    for other in details.shadowed:
        yield "shadows", f"{other.tool}, {other.scope}: {_path(other.path, home)}"
    if row.proposed:
        yield "proposed", f"{row.proposed.source.tool}: {_path(row.proposed.source.path, home)} (not approved)"
    if row.aliases:
        yield "aliases", safe(", ".join(row.aliases))


_STANDINGS = {
    "own": "not needed: your own configuration",
    "approved": "approved for this project",
    "rejected": "rejected for this project",
    "changed": "no longer what you decided about; mooring mcp approve shows it",
    "unseen": "not yet given; mooring mcp approve shows what it would start",
}


def _connection(details: Details) -> Iterator[tuple[str, str]]:
    yield from (("env", f"{safe(name)}={safe(value)}") for name, value in details.env.items())
    yield from (("header", f"{safe(name)}: {safe(value)}") for name, value in details.headers.items())
    if details.headers_helper:
        yield "headers", "from a helper command"
    if details.pass_env:
        yield "passes on", safe(", ".join(details.pass_env))
    if details.env_file:
        yield "env file", safe(details.env_file)
    if details.cwd:
        yield "cwd", safe(details.cwd)
    if details.inputs:
        yield "asks for", safe(", ".join(details.inputs))


def _limits(details: Details) -> Iterator[tuple[str, str]]:
    if details.start_timeout:
        yield "start", f"within {details.start_timeout:g} s"
    if details.call_timeout:
        yield "call", f"within {details.call_timeout:g} s"
    if details.tools_allow is not None:
        yield "tools", "only " + (safe(", ".join(details.tools_allow)) or "none")
    if details.tools_deny:
        yield "tools", "not " + safe(", ".join(details.tools_deny))
    if details.auto_approve:
        yield "elsewhere", f"approves {safe(', '.join(details.auto_approve))} unasked; here that grants nothing"
    if details.trusted_by:
        yield "elsewhere", f"{safe(details.trusted_by)} trusts this folder; here that grants nothing"
    if details.oauth:
        yield "oauth", "configured"


def _path(path: str | None, home: str) -> str:
    return short_path(path, home) if path else "command line"
