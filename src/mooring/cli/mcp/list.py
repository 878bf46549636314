"""`mooring mcp list`."""

import sys
from collections.abc import Iterator
from os import get_terminal_size

import click

from mooring.actions.list import Row, ServerListing, list_servers
from mooring.cli.base import OK, UNHEALTHY, Command, Globals, get_globals, print_json
from mooring.display.text import columns, cut, problem_line, quote_argument, safe, short_path, width

_COLORS = {"connected": "green", "idle": "green", "pending": "cyan", "unapproved": "yellow", "failed": "red"}
_MARKS = {"connected": "●", "idle": "●", "pending": "◌", "unapproved": "?", "failed": "✗", "needs-auth": "?"}

LONGEST_NAME = 40

NOTHING = """No MCP servers are configured here.
  Try the bundled one:   mooring --demo
  Add one of your own to ~/.mcp.json: {"mcpServers": {"NAME": {"command": "…", "args": ["…"]}}}"""


@click.command("list", cls=Command)
@click.option("--all", "everything", is_flag=True, help="Also show shadowed definitions.")
@click.option("--check", is_flag=True, help="Connect to every server; exits 1 if one is not there.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), metavar="S", help="With --check: seconds for all.")
@click.pass_context
def command(ctx: click.Context, everything: bool, check: bool, timeout: float | None) -> None:
    """Every server, where it comes from, and what is wrong. Nothing is started without --check."""
    options = get_globals(ctx)
    listing = list_servers(options.inventory(), all=everything)
    if check:
        ctx.exit(_show_checked(options, listing, timeout))
    print_listing(options, listing)


def show_listing(options: Globals) -> None:
    """Print the list, as text or data."""
    print_listing(options, list_servers(options.inventory()))


def print_listing(options: Globals, listing: ServerListing) -> None:
    """Rows on stdout, what a person should know besides on stderr."""
    if options.json:
        print_json(as_json(listing))
        return
    home = options.request().where.home
    _print_rows(listing, home)
    if not options.quiet:
        for line in notes(listing, home):
            click.echo(line, err=True)


def _show_checked(options: Globals, listing: ServerListing, timeout: float | None) -> int:
    """Connect to every server and print what became of it; the exit code says whether all are healthy."""
    # Loaded here because a plain listing must not pay for the host: these take five times as long as the rest.
    from mooring.actions.check import check, is_healthy
    from mooring.cli.adhoc import make_configured_setup, run_with_host
    from mooring.cli.ticker import Ticker
    from mooring.cli.warn import warn

    with Ticker(options, "the servers") as ticker:
        live = run_with_host(
            make_configured_setup(options, timeout),
            lambda host, deadline: check(host, listing, deadline, ticker.on_pending),
        )
    print_listing(options, live)
    known = {row.name: row.error for row in listing.servers}
    failed = {row.name: row.error for row in live.servers if row.error and row.error != known[row.name]}
    warn(options, failed=failed)
    return OK if is_healthy(live) else UNHEALTHY


def as_json(listing: ServerListing) -> dict[str, object]:
    keys = ("path", "server", "line", "message", "hint")
    problems = [{key: getattr(problem, key) or None for key in keys} for problem in listing.problems]
    return {"version": listing.version, "servers": listing.servers, "problems": problems}


def _print_rows(listing: ServerListing, home: str) -> None:
    if not listing.servers:
        click.echo(NOTHING)
        return
    header = ("", "NAME", "STATUS", "TYPE", "TOOLS", "FROM")
    lines = columns(_fitted([header, *(_cells(row, home) for row in listing.servers)]))
    click.echo(click.style(lines[0], dim=True))
    for row, line in zip(listing.servers, lines[1:], strict=True):
        status = "shadowed" if row.shadowed_by else row.status
        click.echo(click.style(line, fg=_COLORS.get(status), dim=status in ("disabled", "shadowed")))


def _fitted(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The same rows in the width of the terminal, if there is one: long names and paths lose their middles."""
    if not sys.stdout.isatty():
        return rows
    whole = get_terminal_size()[0] or 80
    named = [(row[0], cut(row[1], min(LONGEST_NAME, whole // 3)), *row[2:]) for row in rows]
    taken = max(width(line) - width(row[-1]) for row, line in zip(named, columns(named), strict=True))
    return [(*row[:-1], cut(row[-1], whole - taken)) for row in named]


def _cells(row: Row, home: str) -> tuple[str, ...]:
    mark = "·" if row.shadowed_by else _MARKS.get(row.status, "○")
    path = short_path(row.source.path, home) if row.source.path else "command line"
    origin = f"{row.source.tool}, {row.source.scope}: {path}"
    status = "shadowed" if row.shadowed_by else row.status
    tools = "–" if row.tools is None else str(row.tools)
    return mark, safe(row.name), status, row.transport or "–", tools, origin


def notes(listing: ServerListing, home: str) -> Iterator[str]:
    """What a person should know below the list: proposals, approvals to give, problems."""
    for row in listing.servers:
        if row.proposed and row.proposed.source.path:
            path = short_path(row.proposed.source.path, home)
            command = f"mooring mcp approve {quote_argument(row.name)}"
            yield f"\n{path} would put its own {safe(row.name)} in place of yours: {command}"
    if listing.waiting:
        names = ", ".join(map(safe, listing.waiting))
        yield f"\nThe project's files define {names}. To look and decide: mooring mcp approve --all"
    if listing.problems:
        yield "\nProblems:"
        yield from (f"  {problem_line(problem, home)}" for problem in listing.problems)
