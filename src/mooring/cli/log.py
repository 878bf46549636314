"""`mooring log`: prints the log of calls."""

from collections import deque
from typing import get_args

import click

from mooring.cli.base import Command, complete_server, get_globals, print_columns, print_json
from mooring.display.text import safe
from mooring.permissions.audit import AuditEntry, CallOutcome, read_log


@click.command("log", cls=Command)
@click.option("-n", "--lines", type=click.IntRange(1), default=50, show_default=True, help="How many, the latest last.")
@click.option("--server", metavar="NAME", help="Only calls of this server.", shell_complete=complete_server)
@click.option("--tool", metavar="TOOL", help="Only calls of this tool, by its own name.")
@click.option("--outcome", type=click.Choice(get_args(CallOutcome)), help="Only calls that ended so.")
@click.option("--since", default="", metavar="TIME", help="Only calls from this time on, such as 2026-07-28T09.")
@click.pass_context
def command(
    ctx: click.Context, lines: int, server: str | None, tool: str | None, outcome: CallOutcome | None, since: str
) -> None:
    """The log of calls: what was called, who or which rule let it, and how it ended.

    Of the arguments it holds the shape alone: keys, numbers, and how long each text was.
    """
    options = get_globals(ctx)
    found = read_log(options.request().where, server=server, tool=tool, outcome=outcome, since=since)
    # The log is read as a stream: only the last lines are ever held.
    entries = list(deque(found, maxlen=lines))
    if options.json:
        print_json({"calls": entries})
    elif entries:
        print_columns([_make_cells(entry) for entry in entries])
    else:
        click.echo("No such calls are on record.", err=True)


_VERDICTS = {"allow": "allowed", "deny": "denied", "ask": "asked"}


def _make_cells(entry: AuditEntry) -> tuple[str, ...]:
    # Mooring's own tools belong to no server.
    name = entry.tool if entry.server is None else f"{entry.server}.{entry.tool}"
    # A call that was denied never ran.
    duration = "" if entry.outcome == "denied" else f"{entry.seconds * 1000:.0f} ms"
    reason = f"({entry.why})" if entry.why else ""
    verdict = _VERDICTS.get(entry.verdict, entry.verdict)
    decision = " ".join(filter(None, (verdict, entry.level, entry.rule, reason)))
    return entry.time, safe(name), entry.outcome.replace("_", " "), duration, safe(decision)
