"""`mooring tools`: lists tools, searches them, and counts what they cost a model."""

import sys
from typing import TYPE_CHECKING, Any

import click

from mooring.actions.deadline import Deadline
from mooring.actions.opening import Setup
from mooring.actions.tools import ServerTools, ToolListing, list_tools
from mooring.cli.adhoc import choose_server, is_adhoc, label_server, make_setup, run_with_host, server_options
from mooring.cli.base import (
    OK,
    UNHEALTHY,
    Command,
    Globals,
    complete_server,
    get_globals,
    print_columns,
    print_json,
    summarize,
)
from mooring.cli.ticker import Ticker
from mooring.cli.warn import warn
from mooring.core.tool import Listing, Tool
from mooring.display.text import safe
from mooring.errors import ConfigError, ProtocolError
from mooring.host.host import Host
from mooring.tools.catalog.catalog import CatalogEntry

if TYPE_CHECKING:
    from mooring.actions.cost import Cost, Share


@click.command("tools", cls=Command)
@click.argument("name", metavar="[SERVER]", required=False, shell_complete=complete_server)
@click.option("--refresh", is_flag=True, help="Ask every server again, also those whose tools are known.")
@click.option("--search", metavar="WORDS", help="Those that fit best, the best first.")
@click.option("--cost", "counting", is_flag=True, help="About how many tokens a model reads for them.")
@server_options
@click.pass_context
def command(
    ctx: click.Context, /, name: str | None, refresh: bool, search: str | None, counting: bool, **server: Any
) -> None:
    """The tools of all configured servers, or of one, as `mooring call` takes them.

    What a server offered before is known; only those that were never asked are started.

    \b
    mooring tools github
    mooring tools --search 'open an issue'
    mooring tools --server 'npx -y @modelcontextprotocol/server-everything'
    """
    options = get_globals(ctx)
    if search is not None and counting:
        raise ConfigError("--search and --cost are two questions; ask one of them.")
    if is_adhoc(server) and name is not None:
        raise ConfigError(f"Name one server: {name}, or the one of --server or --url.")
    if counting:
        ctx.exit(_count(options, name, refresh, server))
    ctx.exit(_list(options, name, refresh, server, search))


def _list(options: Globals, name: str | None, refresh: bool, server: dict[str, Any], search: str | None) -> int:
    setup = make_setup(options, server)
    name = choose_server(setup, name)

    async def work(host: Host, deadline: Deadline) -> ToolListing:
        found = await list_tools(host, deadline, name, refresh=refresh, search=search)
        # Shown before the servers are closed, which may take a moment.
        ticker.clear()
        if options.json:
            _print_data(found)
        else:
            _print_text(found, setup)
            _explain_text(options, found, setup, name, search)
        return found

    with Ticker(options, label_server(server, name or "the servers that are not known yet")) as ticker:
        found = run_with_host(setup, work, named=name, start_required=name is None)
    warn(options, failed=found.failed, problems=found.problems, waiting=found.waiting, held=found.held)
    return OK if found.healthy else UNHEALTHY


def _count(options: Globals, name: str | None, refresh: bool, server: dict[str, Any]) -> int:
    from mooring.actions.cost import count_cost  # loaded here: it brings the registry, which no listing needs

    setup = make_setup(options, server)
    name = choose_server(setup, name)
    with Ticker(options, name or "the servers that are not known yet"):
        found = run_with_host(
            setup, lambda host, deadline: count_cost(host, deadline, name, refresh=refresh), named=name
        )
    if options.json:
        _print_cost_data(found)
    else:
        _print_cost(found)
        _explain_cost(options, found)
    warn(options, failed=found.failed)
    return OK


# --- tools as text --------------------------------------------------------------------------------------------------


def _print_text(found: ToolListing, setup: Setup) -> None:
    rows = []
    for entry in found.entries:
        # With --server or --url, `mooring call` takes the tool's name alone.
        name = entry.tool if setup.adhoc_name else f"{entry.server}.{entry.tool}"
        rows.append((safe(name), safe(summarize(entry.definition))))
    print_columns(rows)


def _explain_text(options: Globals, found: ToolListing, setup: Setup, name: str | None, search: str | None) -> None:
    """Say on stderr why tools are missing, if some are."""
    is_empty = not found.entries and not found.failed
    if is_empty and not options.quiet:
        _explain_nothing(found, name, search)
    for peer in found.peers:
        server = "" if setup.adhoc_name else peer.name
        _explain_gaps(server, peer.listing)
    if found.note and not options.quiet:
        click.echo(found.note, err=True)


def _explain_nothing(found: ToolListing, name: str | None, search: str | None) -> None:
    # A program that asks about all servers understands an empty list.
    if name is None and not sys.stderr.isatty():
        return
    if search is not None:
        click.echo("No tool that is known fits.", err=True)
    elif name is not None:
        click.echo(f"{safe(found.peers[0].name)} offers no tools.", err=True)
    else:
        click.echo("No server offers any tools.", err=True)


def _explain_gaps(server: str, listing: Listing[Tool]) -> None:
    """Say what is missing from a server's list; an ad hoc server is not named."""
    for rejected in listing.rejected:
        name = f"{server}.{rejected.name}" if server else rejected.name
        click.echo(f"{safe(name)} cannot be used: {safe(rejected.reason)}", err=True)
    if not listing.note:
        return
    if not server:
        click.echo(safe(listing.note), err=True)
    elif listing.items:
        # A configured server whose list is missing altogether is among those that failed.
        click.echo(safe(f"{server}: {listing.note}"), err=True)


# --- tools as data --------------------------------------------------------------------------------------------------


def _print_data(found: ToolListing) -> None:
    """Print every tool whose schema can be read; the others are counted with those that cannot be used."""
    servers = {peer.name: _make_server_data(peer) for peer in found.peers}
    tools = []
    for entry in found.entries:
        try:
            tools.append(_make_tool_data(entry))
        except ProtocolError as error:
            # Schemas are parsed when they are first looked at, which is here.
            server = servers[entry.server]
            server["tools"] -= 1
            server["rejected"].append({"tool": entry.tool, "reason": str(error)})
    print_json({"tools": tools, "servers": list(servers.values())})


def _make_server_data(peer: ServerTools) -> dict[str, Any]:
    return {
        "name": peer.name,
        "status": peer.status,
        "error": peer.error,
        "serverInfo": peer.server_info,
        "tools": peer.tools,
        "rejected": [{"tool": rejected.name, "reason": rejected.reason} for rejected in peer.listing.rejected],
        "note": peer.listing.note or None,
    }


def _make_tool_data(entry: CatalogEntry) -> dict[str, object]:
    tool = entry.definition
    return {
        "name": entry.name,
        "server": entry.server,
        "tool": tool.name,
        "description": tool.description,
        "inputSchema": tool.schema,
        "annotations": tool.annotations,
    }


# --- what they cost -------------------------------------------------------------------------------------------------


def _print_cost(cost: "Cost") -> None:
    print_columns(
        [
            ("SERVER", "TOOLS", "TOKENS", "DEFERRED"),
            *(_make_cost_row(safe(share.name), share) for share in cost.servers),
            _make_cost_row("mooring's own", cost.own),
            ("in all", f"{cost.tools:,}", f"{cost.tokens:,}", f"{cost.deferred:,}"),
        ]
    )


def _make_cost_row(name: str, share: "Share") -> tuple[str, ...]:
    return name, f"{share.tools:,}", f"{share.tokens:,}", f"{share.deferred:,}"


def _explain_cost(options: Globals, cost: "Cost") -> None:
    if options.quiet:
        return
    how = "they have to be searched for" if cost.defers else "all are shown"
    room = f"{cost.budget:,} of {cost.context:,} tokens for the tools of servers"
    click.echo(f"Estimates: bytes / 4. With {room}, {how}.", err=True)


def _print_cost_data(cost: "Cost") -> None:
    print_json(
        {
            "servers": cost.servers,
            "own": cost.own,
            "tokens": cost.tokens,
            "deferred": cost.deferred,
            "budget": cost.budget,
            "context": cost.context,
            "defers": cost.defers,
        }
    )
