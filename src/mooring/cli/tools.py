"""`mooring tools`."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from mooring.actions.deadline import Deadline
from mooring.actions.opening import Setup
from mooring.actions.tools import ToolListing, list_tools
from mooring.cli.adhoc import is_adhoc, label_server, make_setup, run_with_host, server_options
from mooring.cli.base import OK, UNHEALTHY, Command, Globals, complete_server, get_globals, print_json
from mooring.cli.ticker import Ticker
from mooring.cli.warn import warn
from mooring.core.tool import Listing, Tool
from mooring.display.text import columns, safe
from mooring.errors import ConfigError, ProtocolError
from mooring.host.host import Host

if TYPE_CHECKING:
    from mooring.actions.cost import Cost


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
    name = name or setup.adhoc_name or None

    async def work(host: Host, deadline: Deadline) -> ToolListing:
        found = await list_tools(host, deadline, name, refresh=refresh, search=search)
        ticker.clear()
        _show(options, found, setup, name, search)
        return found

    with Ticker(options, label_server(server, name or "the servers that are not known yet")) as ticker:
        found = run_with_host(setup, work, named=name or "", start_required=name is None)
    warn(options, failed=found.failed, problems=found.problems, waiting=found.waiting, held=found.held)
    return OK if found.healthy else UNHEALTHY


def _show(options: Globals, found: ToolListing, setup: Setup, name: str | None, search: str | None) -> None:
    """Print before the servers are closed, which may take them a moment."""
    if options.json:
        peers = [_peer(p.name, p.status, p.error, p.server_info, p.tools, p.listing) for p in found.peers]
        _print_data([(entry.name, entry.server, entry.definition) for entry in found.entries], peers)
        return
    # Where the options name the one server, `mooring call` takes the tool's name alone.
    shown = "{tool}" if setup.adhoc_name else "{server}.{tool}"
    _print_tools([(shown.format(server=entry.server, tool=entry.tool), entry.definition) for entry in found.entries])
    if not found.entries and not found.failed:
        _tell_nothing(options, found, name, search)
    for peer in found.peers:
        _tell_lack("" if setup.adhoc_name else f"{peer.name}.", peer.listing)
    if found.note and not options.quiet:
        click.echo(found.note, err=True)


def _tell_nothing(options: Globals, found: ToolListing, name: str | None, search: str | None) -> None:
    if options.quiet or not (name or sys.stderr.isatty()):
        return
    if search is not None:
        click.echo("No tool that is known fits.", err=True)
    elif name:
        click.echo(f"{safe(found.peers[0].name)} offers no tools.", err=True)
    else:
        click.echo("No server offers any tools.", err=True)


def _count(options: Globals, name: str | None, refresh: bool, server: dict[str, Any]) -> int:
    from mooring.actions.cost import count_cost  # loads the registry

    setup = make_setup(options, server)
    name = name or setup.adhoc_name or None
    with Ticker(options, name or "the servers that are not known yet"):
        found = run_with_host(
            setup, lambda host, deadline: count_cost(host, deadline, name, refresh=refresh), named=name or ""
        )
    if options.json:
        shares = {"servers": found.servers, "own": found.own, "tokens": found.tokens, "deferred": found.deferred}
        print_json({**shares, "budget": found.budget, "context": found.context, "defers": found.defers})
    else:
        _print_cost(found)
        how = "they have to be searched for" if found.defers else "all are shown"
        room = f"{found.budget:,} of {found.context:,} tokens for the tools of servers"
        if not options.quiet:
            click.echo(f"Estimates: bytes / 4. With {room}, {how}.", err=True)
    warn(options, failed=found.failed)
    return OK


# --- as text ------------------------------------------------------------------------------------------------


def _print_tools(tools: Sequence[tuple[str, Tool]]) -> None:
    for line in columns([(safe(name), safe(_summary(tool))) for name, tool in tools]) if tools else ():
        click.echo(line)


def _print_cost(found: "Cost") -> None:
    count = sum(share.tools for share in (*found.servers, found.own))
    shares = [(safe(share.name), share.tools, share.tokens, share.deferred) for share in found.servers]
    own = ("mooring's own", found.own.tools, found.own.tokens, found.own.deferred)
    rows = [*shares, own, ("in all", count, found.tokens, found.deferred)]
    cells = [("SERVER", "TOOLS", "TOKENS", "DEFERRED"), *((row[0], *(f"{n:,}" for n in row[1:])) for row in rows)]
    for line in columns(cells):
        click.echo(line)


def _summary(tool: Tool) -> str:
    first, _, _ = (tool.description or tool.title or "").strip().partition("\n")
    return first


def _tell_lack(prefix: str, listing: Listing[Tool]) -> None:
    """What is missing from a list that came; one that did not come at all is told elsewhere."""
    for rejected in listing.rejected:
        click.echo(f"{safe(prefix + rejected.name)} cannot be used: {safe(rejected.reason)}", err=True)
    if listing.note and (listing.items or not prefix):
        click.echo(safe(prefix.rstrip(".") + (": " if prefix else "") + listing.note), err=True)


# --- as data ------------------------------------------------------------------------------------------------


def _print_data(tools: Iterable[tuple[str, str, Tool]], peers: list[dict[str, Any]]) -> None:
    """Every tool whose schema can be read; the others are counted with those that cannot be used."""
    by_name = {peer["name"]: peer for peer in peers}
    listed = []
    for name, server, tool in tools:
        try:
            listed.append(_tool(name, server, tool))
        except ProtocolError as error:
            by_name[server]["tools"] -= 1
            by_name[server]["rejected"].append({"tool": tool.name, "reason": str(error)})
    print_json({"tools": listed, "servers": peers})


def _peer(
    name: str, status: str, error: str | None, info: object, tools: int | None, listing: Listing[Tool]
) -> dict[str, Any]:
    rejected = [{"tool": other.name, "reason": other.reason} for other in listing.rejected]
    told = {"name": name, "status": status, "error": error, "serverInfo": info, "tools": tools}
    return {**told, "rejected": rejected, "note": listing.note or None}


def _tool(name: str, server: str, tool: Tool) -> dict[str, object]:
    return {
        "name": name,
        "server": server,
        "tool": tool.name,
        "description": tool.description,
        "inputSchema": tool.schema,
        "annotations": tool.annotations,
    }
