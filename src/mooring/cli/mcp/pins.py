"""`mooring mcp pins`: prints which tools were approved and which are held back."""

import click

from mooring.cli.adhoc import make_configured_setup, run_with_host
from mooring.cli.base import Globals, print_json, say
from mooring.core.conversation.question import ChangedTools
from mooring.display.lines import describe_question
from mooring.display.text import quote_argument, safe
from mooring.host.host import Host
from mooring.verbs.config.pins import PinnedServer, approve_tools, describe_pin, list_pinned
from mooring.verbs.use.deadline import Deadline


def run(options: Globals, server: str | None, agreed: bool, off: bool | None, refresh: bool) -> None:
    """Which tools are held back because they are not what was approved."""
    if server is None and (agreed or off is not None):
        raise click.UsageError("Name the server that you mean; `mooring mcp pins` shows them all.")
    if agreed and off is not None:
        raise click.UsageError("Choose one of --approve, --off and --on.")
    where = options.workspace().where

    async def work(host: Host, _: Deadline) -> tuple[PinnedServer, ...]:
        if refresh:
            await host.ready(servers=[server] if server else None, refresh=True)
        if server is not None and off is not None:
            host.switch_pinning(host.find_name(server), off=off)
        rows = list_pinned(host, where, server)
        if server is None:
            return rows
        if rows[0].held and not refresh:
            # What is decided about has to be what the server lists now; if it cannot be reached, what it listed last.
            await host.ready(servers=[server], refresh=True)
            rows = list_pinned(host, where, server)
        if not agreed:
            may_ask = off is None and not options.json and rows[0].held
            return list_pinned(host, where, server) if may_ask and await host.ask_about_tools(server) else rows
        # What is being approved is shown first; stdout gets the rows as they are afterwards.
        _print_rows(rows, err=True)
        approved = approve_tools(host, server)
        say(f"Approved: {safe(', '.join(approved)) or 'nothing was held back'}.", err=True)
        return list_pinned(host, where, server)

    rows = run_with_host(make_configured_setup(options, None), work, named=server or "")
    if options.json:
        print_json({"servers": rows})
    else:
        _print_rows(rows)


def _print_rows(rows: tuple[PinnedServer, ...], err: bool = False) -> None:
    if not rows:
        say("No tools are pinned yet: that happens with a server's first allowed call.", err=True)
    for row in rows:
        _print_row(row, err)


def _print_row(row: PinnedServer, err: bool) -> None:
    say(f"{safe(row.server)}: {_describe_state(row)}", err=err)
    if row.problem:
        say(f"  {row.problem}", err=err, fg="yellow")
    if not row.held:
        return
    for line in describe_question(ChangedTools(row.server, row.held))[1:]:
        say(line, err=err)
    what = "models be told this" if all(tool.kind == "instructions" for tool in row.held) else "them be called"
    say(f"  To let {what}: mooring mcp pins --approve {quote_argument(row.server)}", err=err)


def _describe_state(row: PinnedServer) -> str:
    return f"{describe_pin(row)} (--on pins its tools again)" if row.off else describe_pin(row)
