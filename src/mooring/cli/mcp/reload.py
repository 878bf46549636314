"""`mooring mcp reload [NAME]`: reconnects servers and prints what changed."""

from mooring.cli.adhoc import make_configured_setup, run_with_host
from mooring.cli.base import OK, UNHEALTHY, Globals, print_columns, print_json, say
from mooring.cli.ticker import Ticker
from mooring.cli.warn import warn
from mooring.display.text import advise_on_held_back, count_noun, describe_held_back, safe
from mooring.verbs.use.reload import ServerChange, reload


def run(options: Globals, name: str | None, timeout: float | None) -> int:
    """Connect again and show which tools are new, gone or changed."""
    setup = make_configured_setup(options, timeout)
    with Ticker(options, name or "the servers"):
        report = run_with_host(setup, lambda host, deadline: reload(host, deadline, name), named=name)
    failed = {change.name: change.error for change in report.changes if change.error is not None}
    if options.json:
        print_json({"servers": report.changes})
    else:
        connected = [change for change in report.changes if change.error is None]
        print_columns([(safe(change.name), _describe_change(change)) for change in connected])
        if not report.changes and not options.quiet:
            say("No server can be started here; see: mooring mcp list", err=True)
    warn(options, failed=failed, problems=report.problems, waiting=report.waiting)
    if not options.quiet:
        for change in report.changes:
            if change.held:
                say(f"{safe(change.name)}: {advise_on_held_back(change.name)}", err=True)
    return UNHEALTHY if failed else OK


def _describe_change(change: ServerChange) -> str:
    count = count_noun(change.tools or 0, "tool")
    held = f"; {describe_held_back(change.held)}" if change.held else ""
    if not change.known:
        return f"{count}, not known before{held}"
    kinds = (("new", change.added), ("gone", change.removed), ("changed", change.changed))
    parts = [f"{len(names)} {word}: {safe(', '.join(names))}" for word, names in kinds if names]
    if not parts:
        # Unchanged since the last list is not unchanged since the approval.
        return f"{count}{held or ', unchanged'}"
    return f"{count}; {'; '.join(parts)}{held}"
