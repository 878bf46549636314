"""The servers of a host as lines of text: all of them, or one in full."""

from collections.abc import Iterator
from time import time

from mooring.actions.list import target
from mooring.core.config import Broken, ServerConfig
from mooring.core.status import (
    Connected,
    Connecting,
    Disabled,
    Failed,
    Idle,
    NeedsAuth,
    Status,
    Unapproved,
)
from mooring.display.text import argument, command_line, held_back, held_ways, safe
from mooring.host.host import Host
from mooring.servers.log import LogEntry
from mooring.servers.server import Server

NONE = """No MCP servers found.

Add servers via `.mcp.json`, `.copilot/mcp-config.json`, `.github/mcp-config.json`, or `.opencode/opencode.json`.
`mooring --demo` brings one to try."""

LOG = 5
"""So many of the last lines that a server wrote are shown with it."""


def listed(host: Host) -> Iterator[str]:
    """Every server: a sign, its name, how it stands, and what it is."""
    servers, standing = host.servers, host.status()
    if not standing:
        yield NONE
        return
    yield "MCP Servers"
    yield ""
    for name, status in standing.items():
        config = _config(host, name)
        kind = f" ({config.transport})" if config is not None and config.transport else ""
        yield f"  {sign(status)} {safe(name)}{kind} · {stands(name, status, servers.get(name), _tools(host, name))}"
        if isinstance(config, ServerConfig):
            yield f"    {what(config)}"
    yield ""
    yield "Use `/mcp enable <name>` or `/mcp disable <name>` to toggle."
    yield "`/mcp <name>` shows one in full, `/mcp reload [<name>]` begins anew."


def details(host: Host, name: str, log: list[LogEntry]) -> Iterator[str]:
    """One server: how it stands, where it comes from, its tools, and what it wrote last. Raises: UnknownServer."""
    status, server, config = host.status()[name], host.servers.get(name), _config(host, name)
    yield f"{sign(status)} {safe(name)} · {stands(name, status, server, _tools(host, name))}"
    if isinstance(config, ServerConfig):
        yield f"  {config.transport}: {what(config)}"
    if config is not None:
        yield f"  from {safe(config.origin.tool)}: {safe(config.origin.path or 'the command line')}"
    if server is not None:
        if hello := _hello(server):
            yield f"  is {hello}"
        tools = [safe(entry.tool) for entry in host.tools if entry.server == server.name]
        yield f"  tools: {', '.join(tools) or 'none that are known'}"
        if (held := host.held().get(server.name)) is not None:
            yield f"  {held_back(len(held.names))}; {held_ways(server.name)}"
    if log:
        yield "  it wrote last:"
        yield from (f"    {entry.time[11:19]} {safe(entry.level)} {safe(entry.text)}" for entry in log[-LOG:])


def sign(status: Status) -> str:
    match status:
        case Connected():
            return "●"
        case Connecting():
            return "◌"
        case Idle():
            return "◷"
        case NeedsAuth():
            return "!"
        case Unapproved():
            return "?"
        case Disabled():
            return "○"
        case Failed():
            return "✗"


def stands(name: str, status: Status, server: Server | None, tools: int) -> str:
    """How a server stands, in words, with what to do about it."""
    match status:
        case Connected():
            return f"connected · {counted(tools, 'tool')}"
        case Connecting(attempt=attempt, installing=installing, error=error):
            again = f" · try {attempt}, {safe(error or '')}" if attempt > 1 else ""
            return f"{'installing' if installing else 'connecting'}{again}"
        case Idle():
            known = server is not None and server.offer is not None
            return f"{counted(tools, 'tool') if known else 'not asked yet'} · connects on first use"
        case NeedsAuth(error):
            return f"needs login · {safe(error)}"
        case Unapproved():
            return f"waits for approval · `mooring mcp approve {argument(name)}` shows what it would start"
        case Disabled(by):
            return f"disabled ({safe(by)})"
        case Failed(error, stopped):
            return f"failed{' and given up' if stopped else ''} · {safe(error)}"


def what(config: ServerConfig) -> str:
    command, args, url = target(config)
    return safe(url) if url is not None else command_line((command or "", *args))


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _config(host: Host, name: str) -> ServerConfig | Broken | None:
    """What is configured under a name, also where it may not be started."""
    server, refused = host.servers.get(name), host.refused.get(name)
    return server.config if server is not None else refused.config if refused is not None else None


def _tools(host: Host, name: str) -> int:
    server = host.servers.get(name)
    return 0 if server is None else sum(entry.server == server.name for entry in host.tools)


def _hello(server: Server) -> str:
    if server.offer is None:
        return ""
    info, age = server.offer.hello.server_info, max(0.0, time() - server.offer.at)
    seen = "" if server.is_connected else f", seen {age / 3600:.0f} h ago" if age > 3600 else ", seen lately"
    return f"{safe(info.name)} {safe(info.version)}{seen}"
