"""`mooring tools`: prints tools, with a signature each, one in full with an example to paste, or what they cost."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mooring.cli.adhoc import label_server, make_setup, run_with_host
from mooring.cli.base import NO_SERVERS, OK, UNHEALTHY, Globals, echo, find_width, print_columns, print_json, say
from mooring.cli.ticker import Ticker
from mooring.cli.warn import warn
from mooring.core.protocol.tool import Listing, Pair, Tool
from mooring.display.text import quote_command, safe, safe_text, shorten_description, width, wrap_words
from mooring.errors import ConfigError, ProtocolError, UnknownServer
from mooring.host.host import Host
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.verbs.parse import UsageError
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.naming import split_target
from mooring.verbs.use.opening import Setup
from mooring.verbs.use.tools import ServerTools, ToolListing, describe_server, list_tools

if TYPE_CHECKING:
    from mooring.tools.schema.parameters import Parameter
    from mooring.verbs.use.cost import Cost, Share
    from mooring.verbs.use.tool_help import ToolHelp


def run(
    options: Globals, words: tuple[str, ...], refresh: bool, search: str | None, counting: bool, **server: Any
) -> int:
    if search is not None and counting:
        raise ConfigError("--search and --cost cannot be combined.")
    if search is not None and not search.strip():
        raise UsageError("--search needs words to search for.")
    setup = make_setup(options, server)
    # With --server or --url, what is named is a tool.
    typed = (setup.adhoc_name, *words) if setup.adhoc_name else words
    if len(typed) > _MOST_WORDS:
        raise UsageError(f"Unexpected argument {typed[_MOST_WORDS]!r}: one tool is shown at a time.")
    request = _ToolsRequest(options, setup, server, typed, refresh)
    if not counting:
        return _show(request, search)
    if len(typed) == _MOST_WORDS:
        raise ConfigError("--cost takes a server, not a tool.")
    return _count(request)


_MOST_WORDS = 2


class _ToolsRequest(NamedTuple):
    """What was asked for."""

    options: Globals
    setup: Setup
    server: Mapping[str, Any]
    """The options that name a server."""
    words: tuple[str, ...]
    refresh: bool

    @property
    def name(self) -> str | None:
        return self.words[0] if self.words else None


def _show(request: _ToolsRequest, search: str | None) -> int:
    options, name = request.options, request.name

    async def work(host: Host, deadline: Deadline) -> ToolListing:
        target = _find_target(host, request.words)
        if target is not None:
            from mooring.verbs.use.tool_help import describe_tool  # loaded here: no listing makes up examples

            help = await describe_tool(host, deadline, target, ticker.on_guess, refresh=request.refresh)
            found = describe_server(host, help.entry.server)
            ticker.clear()
            _print_help(request, found, help)
            return found
        found = await list_tools(host, deadline, name, refresh=request.refresh, search=search)
        # Shown before the servers are closed, which may take a moment.
        ticker.clear()
        if options.json:
            _print_data(found)
        else:
            _print_text(found, signatures=name is not None)
            _explain_text(request, found, search)
        return found

    with Ticker(options, label_server(request.server, name or "the servers that are not known yet")) as ticker:
        found = run_with_host(request.setup, work, named=name, start_required=name is None)
    warn(options, failed=found.failed, problems=found.problems, waiting=found.waiting, held=found.held)
    return OK if found.healthy else UNHEALTHY


def _find_target(host: Host, words: tuple[str, ...]) -> str | Pair | None:
    """The tool that is meant; `None` if the words name no tool. Raises: UnknownServer."""
    if not words:
        return None
    target, _ = split_target(host, words[0], words[1:])
    if not isinstance(target, str):
        return target
    try:
        host.find_configured_name(target)
    except UnknownServer:
        return target
    return None


def _print_help(request: _ToolsRequest, found: ToolListing, help: "ToolHelp") -> None:
    example = _spell_example(request.options, help, request.server)
    if not request.options.json:
        _print_tool(help, example)
        return
    servers = [_make_server_data(peer) for peer in found.peers]
    # What a person would read of a tool, as data beside its schema.
    signature = f"{help.entry.server}.{help.signature}"
    more = {"signature": signature, "parameters": help.parameters, "example": example}
    print_json({"tools": [{**_make_tool_data(help.entry), **more}], "servers": servers})


def _count(request: _ToolsRequest) -> int:
    from mooring.verbs.use.cost import count_cost  # loaded here: it brings conversations, which no listing needs

    options, name = request.options, request.name
    with Ticker(options, name or "the servers that are not known yet"):
        found = run_with_host(
            request.setup, lambda host, deadline: count_cost(host, deadline, name, refresh=request.refresh), named=name
        )
    if options.json:
        print_json({key: getattr(found, key) for key in _COST_KEYS})
    else:
        _print_cost(found)
        _explain_cost(options, found)
    warn(options, failed=found.failed)
    return OK


# --- tools as text --------------------------------------------------------------------------------------------------


def _print_text(found: ToolListing, *, signatures: bool) -> None:
    """Print the tools of one server with their parameters, those of all with their servers."""
    if signatures:
        _print_signatures(found.entries)
    else:
        _print_names([(safe(f"{entry.server}.{entry.tool}"), entry.description) for entry in found.entries])


def _explain_text(request: _ToolsRequest, found: ToolListing, search: str | None) -> None:
    """Say on stderr why tools are missing, if some are."""
    is_quiet = request.options.quiet
    if not found.entries and not is_quiet:
        _explain_nothing(found, request.name, search)
    for peer in found.peers:
        server = "" if request.setup.adhoc_name else peer.name
        _explain_gaps(server, peer.listing)
    if found.note and not is_quiet:
        say(found.note, err=True)


def _explain_nothing(found: ToolListing, name: str | None, search: str | None) -> None:
    if search is not None and found.peers:
        say(f"No tool matches {safe(search)}.", err=True)
        return
    # What failed or is held back is reported.
    if found.failed or found.held:
        return
    if name is not None:
        say(f"{safe(found.peers[0].name)} offers no tools.", err=True)
    elif not found.peers:
        say(NO_SERVERS, err=True)
    else:
        say("No server offers any tools.", err=True)


def _explain_gaps(server: str, listing: Listing[Tool]) -> None:
    """Say what is missing from a server's list; an ad hoc server is not named."""
    for rejected in listing.rejected:
        name = f"{server}.{rejected.name}" if server else rejected.name
        say(f"{safe(name)} cannot be used: {safe(rejected.reason)}", err=True)
    if not listing.note:
        return
    if not server:
        say(safe(listing.note), err=True)
    elif listing.items:
        # A configured server whose list is missing altogether is among those that failed.
        say(safe(f"{server}: {listing.note}"), err=True)


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

_COST_KEYS = ("servers", "own", "tokens", "deferred", "budget", "context", "defers")
"""What of it is data."""


def _print_cost(cost: "Cost") -> None:
    print_columns(
        [
            ("SERVER", "TOOLS", "TOKENS"),
            *(_make_cost_row(safe(share.name), share) for share in cost.servers),
            _make_cost_row("mooring's own", cost.own),
            ("in all", f"{cost.tools:,}", f"{cost.tokens:,}"),
        ]
    )


def _make_cost_row(name: str, share: "Share") -> tuple[str, ...]:
    return name, f"{share.tools:,}", f"{share.tokens:,}"


def _explain_cost(options: Globals, cost: "Cost") -> None:
    if options.quiet:
        return
    room = f"Up to {cost.budget:,} of {cost.context:,} tokens may go to the tools of servers"
    if cost.defers:
        say(f"{room}. These need more, so a model is shown {cost.deferred:,} tokens and searches the rest.", err=True)
    else:
        say(f"{room}, so a model is shown all of them.", err=True)
    say("Estimates: bytes / 4.", err=True)


INDENT = "  "
_NARROWEST = 30
"""Cells that a description needs beside a name; where there are fewer, it goes below."""


def _print_signatures(entries: Iterable[CatalogEntry]) -> None:
    """Print a signature for each tool, with a line of description."""
    # Loaded here: a listing of all servers shows no parameters.
    from mooring.tools.schema.parameters import list_parameters, write_signature

    cells = find_width()
    for entry in entries:
        try:
            signature = write_signature(entry.tool, list_parameters(entry.schema))
        except ProtocolError:
            signature = f"{entry.tool}(…)"
        for line in wrap_words(safe(signature), cells, INDENT * 2):
            echo(line)
        description = _shorten(entry.description, cells, len(INDENT))
        if description:
            echo(f"{INDENT}{description}")


def _print_names(rows: Sequence[tuple[str, str]]) -> None:
    """Print names with a line of description beside each, or below it in a narrow terminal."""
    cells = find_width()
    column = max((width(name) for name, _ in rows), default=0)
    is_narrow = cells is not None and cells - column - len(INDENT) < _NARROWEST
    for name, text in rows:
        if is_narrow:
            echo(name)
            echo(f"{INDENT}{_shorten(text, cells, len(INDENT))}".rstrip())
        else:
            padding = " " * (column - width(name) + len(INDENT))
            echo(f"{name}{padding}{_shorten(text, cells, column + len(INDENT))}".rstrip())


def _print_tool(help: "ToolHelp", command: str | None) -> None:
    """Print all that a person has to know to call a tool; `command` is the example."""
    cells = find_width()
    entry = help.entry
    for line in wrap_words(safe(f"{entry.server}.{help.signature}"), cells, INDENT * 2):
        echo(line)
    if entry.description:
        echo()
        _print_wrapped(entry.description, cells, INDENT)
    if help.parameters:
        echo("\nParameters:")
    for parameter in help.parameters:
        _print_parameter(parameter, cells)
    if command is not None:
        echo(f"\nExample:\n{INDENT}{command}")


def _spell_example(options: Globals, help: "ToolHelp", server: Mapping[str, Any]) -> str | None:
    """The example as a command to paste; `None` if there is none that a shell would read as it is meant."""
    if help.example is None:
        return None
    entry = help.entry
    words = ["mooring", "call", *_spell_globals(options), *_spell_target(entry, server), *help.example]
    # Characters that a terminal must not get are shown as escapes, which mean something else.
    return quote_command(words) if all(word == safe(word) for word in words) else None


def _spell_globals(options: Globals) -> Iterator[str]:
    if options.demo:
        yield "--demo"
    if not options.project:
        yield "--no-project"
    if options.cwd is not None:
        yield from ("--cwd", options.cwd)
    for path in options.configs:
        yield from ("--config", path)


def _spell_target(entry: CatalogEntry, server: Mapping[str, Any]) -> list[str]:
    for option in ("server", "url"):
        if server[option]:
            return [f"--{option}", server[option], entry.tool]
    return [f"{entry.server}.{entry.tool}"]


def _print_parameter(parameter: "Parameter", cells: int | None) -> None:
    kinds = [parameter.type, "required" if parameter.required else "optional"]
    if parameter.default is not None:
        kinds.append(f"default {parameter.default}")
    kinds += parameter.limits
    for line in wrap_words(f"{INDENT}{safe(parameter.name)}: {safe(', '.join(kinds))}", cells, INDENT * 3):
        echo(line)
    _print_wrapped(parameter.description, cells, INDENT * 3)
    # A signature shows only the first of many values.
    if "…" in parameter.type:
        _print_wrapped(f"one of {', '.join(parameter.choices)}", cells, INDENT * 3)
    _print_wrapped(parameter.inside, cells, INDENT * 3)


def _print_wrapped(text: str, cells: int | None, indent: str) -> None:
    for line in safe_text(text).strip().splitlines():
        for part in wrap_words(f"{indent}{line.rstrip()}", cells, indent):
            echo(part.rstrip())


def _shorten(text: str, cells: int | None, used: int) -> str:
    line = text.strip().partition("\n")[0].strip()
    return safe(line) if cells is None else shorten_description(line, max(cells - used - len(" …"), 1))
