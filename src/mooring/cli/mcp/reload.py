"""`mooring mcp reload [NAME]`."""

import click

from mooring.actions.reload import ServerChange, reload
from mooring.cli.adhoc import make_configured_setup, run_with_host, timeout_option
from mooring.cli.base import UNHEALTHY, Command, complete_server, get_globals, print_json
from mooring.cli.ticker import Ticker
from mooring.cli.warn import warn
from mooring.display.text import columns, safe


@click.command("reload", cls=Command)
@click.argument("name", metavar="[SERVER]", required=False, shell_complete=complete_server)
@timeout_option
@click.pass_context
def command(ctx: click.Context, name: str | None, timeout: float | None) -> None:
    """Read the configuration again, forget what was known of a server, or of all, and connect anew.

    Exits 1 if one of them is not there.
    """
    options = get_globals(ctx)
    with Ticker(options, name or "the servers"):
        done = run_with_host(
            make_configured_setup(options, timeout),
            lambda host, deadline: reload(host, deadline, name),
            named=name or "",
        )
    failed = {change.name: change.error for change in done.changes if change.error is not None}
    if options.json:
        print_json({"servers": done.changes})
    else:
        there = [change for change in done.changes if change.error is None]
        for line in columns([(safe(change.name), _words(change)) for change in there]) if there else ():
            click.echo(line)
    held = {change.name: change.held for change in done.changes if change.held}
    warn(options, failed=failed, problems=done.problems, waiting=done.waiting, held=held)
    ctx.exit(UNHEALTHY if failed else 0)


def _words(change: ServerChange) -> str:
    count = f"{change.tools} tool{'' if change.tools == 1 else 's'}"
    if not change.known:
        return f"{count}, not known before"
    parts = (("came", change.added), ("went", change.removed), ("changed", change.changed))
    said = [f"{word}: {safe(', '.join(names))}" for word, names in parts if names]
    return f"{count}; {'; '.join(said)}" if said else f"{count}, as before"
