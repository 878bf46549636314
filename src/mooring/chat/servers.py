"""The servers of a host as lines of text: all of them, or one in full."""

from collections.abc import Iterator, Mapping, Sequence
from time import time

from msgspec import Struct

from mooring.backends.host_servers import describe_status as describe_status_for_agent
from mooring.core.conversation.status import (
    Connected,
    Connecting,
    Disabled,
    Failed,
    Idle,
    KnownServer,
    NeedsAuth,
    NeedsInput,
    RejectedServer,
    Status,
    Unapproved,
)
from mooring.core.conversation.turn import ServerStatus, ServerStatusWord
from mooring.core.definitions.config import Broken, ServerConfig
from mooring.display.status import NOTHING, STATUS_MARKS, STATUS_WORDS, name_transport
from mooring.display.text import Verbatim, count_noun, describe_held_back, quote_argument, quote_command, safe
from mooring.host.host import Host
from mooring.servers.log import LogEntry
from mooring.verbs.config.list import Row, split_target

NONE = """No MCP servers found.

Add servers via `.mcp.json`, `.copilot/mcp-config.json`, `.github/mcp-config.json`, or `.opencode/opencode.json`.
`/mcp add` adds one to your own file, `~/.config/mooring/mcp.json`. `mooring --demo` brings a server to try."""

LOG = 5
"""How many of the last lines that a server wrote are shown with it."""

_HOUR = 3600


class AgentView(Struct, frozen=True):
    """The status of servers as another agent's program has it; nothing if none answers."""

    agent: str
    servers: Sequence[ServerStatus]

    def describe(self, server: str, status_in_host: Status | None = None) -> str:
        """What it says of a server, to be read after what the host says; empty if that is the same, or nothing."""
        found = [each for each in self.servers if each.name == server]
        if not found:
            return ""
        status = found[0]
        if status_in_host is not None and status == describe_status_for_agent(server, status_in_host):
            return ""
        why = f" · {safe(status.error)}" if status.error else ""
        return f" · {self.agent}: {_WORDS_OF_AGENTS.get(status.status, status.status)}{why}"


_WORDS_OF_AGENTS: Mapping[ServerStatusWord, str] = {**STATUS_WORDS, "unknown": "can't tell"}  # type: ignore[dict-item]

NO_AGENT = AgentView("", ())
_NOTHING_KNOWN: Mapping[str, Row] = {}


def list_servers(host: Host, view: AgentView = NO_AGENT, known: Mapping[str, Row] = _NOTHING_KNOWN) -> Iterator[str]:
    """Every server below a heading: a mark, its name, its status, and what it is.

    With what another agent's program says of it, and with what is `known` of those that are not connected.
    """
    servers = host.servers
    for name, status in host.status().items():
        yield from _list_server(host, name, _add_known(status, known.get(name)), servers.get(name), view)
    yield ""
    yield "Use `/mcp enable <name>` or `/mcp disable <name>` to toggle."
    yield "`/mcp <name>` shows one in full, `/mcp reload [<name>]` restarts it or reads the configuration again."
    yield "`/mcp help` lists what else can be done with them."


def _list_server(host: Host, name: str, status: Status, server: KnownServer | None, view: AgentView) -> Iterator[str]:
    config = _find_config(host, name, server)
    # A definition that cannot be used may not even say how its server would be reached.
    kind = "" if config is None else f" ({name_transport(config.transport)})"
    described = describe_status(name, status, server, _count_tools(host, server))
    yield f"  {STATUS_MARKS[status.word]} {safe(name)}{kind} · {described}{view.describe(name, status)}"
    yield Verbatim(f"    {NOTHING if config is None else describe_target(config)}")


def _add_known(status: Status, row: Row | None) -> Status:
    """The status with what happened to the server the last time, as long as it is not connected again."""
    if row is None or not isinstance(status, Idle):
        return status
    match row.status:
        case "needs-auth":
            return NeedsAuth(row.error or "")
        case "failed":
            return Failed(row.error or "")
        case _:
            return status


def describe_server(host: Host, name: str, log: list[LogEntry], view: AgentView = NO_AGENT) -> Iterator[str]:
    """One server: its status, where it comes from, its tools, and what it wrote last. Raises: UnknownServer."""
    status = host.status()[name]
    server = host.servers.get(name)
    described = describe_status(name, status, server, _count_tools(host, server))
    yield f"{STATUS_MARKS[status.word]} {safe(name)} · {described}{view.describe(name, status)}"
    yield from _describe_definition(_find_config(host, name, server))
    if server is not None:
        yield from _describe_offer(host, server)
    if log:
        yield "  it wrote last:"
    for entry in log[-LOG:]:
        time_of_day = entry.time[11:19]
        yield f"    {time_of_day} {safe(entry.level)} {safe(entry.text)}"


def _describe_definition(config: ServerConfig | Broken | None) -> Iterator[str]:
    if config is None:
        return
    if isinstance(config, ServerConfig):
        yield f"  {name_transport(config.transport)}: {describe_target(config)}"
    yield f"  from {safe(config.origin.tool)}: {safe(config.origin.path or 'the command line')}"


def _describe_offer(host: Host, server: KnownServer) -> Iterator[str]:
    hello = _describe_hello(server)
    if hello:
        yield f"  is {hello}"
    tools = map(safe, host.tools_by_server.get(server.name, ()))
    yield f"  tools: {', '.join(tools) or 'none that are known'}"
    held = host.held().get(server.name)
    if held is not None:
        what = describe_held_back(len(held.names), instructions=held.instructions is not None)
        yield f"  {what}; `/pins {quote_argument(server.name)}` shows them"


def describe_status(name: str, status: Status, server: KnownServer | None, tools: int) -> str:
    """The status of a server in words, with what to do about it."""
    match status:
        case Connected():
            return f"connected · {count_noun(tools, 'tool')}"
        case Connecting():
            word = "connecting · its program is installed first" if status.installing else "connecting"
            return word if status.attempt == 1 else f"{word} · try {status.attempt}, {safe(status.error or '')}"
        case Idle():
            # The tools of a server that isn't connected come from its last visit, if there was one.
            is_known = server is not None and server.offer is not None
            offer = count_noun(tools, "tool") if is_known else "not asked yet"
            return f"idle · {offer} · connects on first use"
        case NeedsAuth(error):
            return f"needs login · {safe(error)}"
        case NeedsInput(inputs):
            names = safe(", ".join(inputs))
            return f"needs input ({names}) · asked for when you use it; `/mcp reload {quote_argument(name)}` asks now"
        case RejectedServer():
            return f"rejected · `/approve {quote_argument(name)}` shows it again"
        case Unapproved():
            return f"unapproved · `/approve {quote_argument(name)}` shows what it would start"
        case Disabled(by):
            return f"disabled ({safe(by)}) · `/mcp enable {safe(name)}` turns it on for this session"
        case Failed(error, stopped):
            failed = "failed and given up" if stopped else "failed"
            return f"{failed} · {safe(error)}"


def describe_target(config: ServerConfig | Broken) -> str:
    """The command or the address of a server."""
    command, args, url = split_target(config)
    if url is not None:
        return safe(url)
    return quote_command((command, *args)) if command else NOTHING


def _find_config(host: Host, name: str, server: KnownServer | None) -> ServerConfig | Broken | None:
    """What is configured under a name, even if it may not be started."""
    if server is not None:
        return server.config
    refused = host.refused.get(name)
    return None if refused is None else refused.config


def _count_tools(host: Host, server: KnownServer | None) -> int:
    # A server that goes by two names has its tools under one of them.
    if server is None:
        return 0
    return len(host.tools_by_server.get(server.name, ()))


def _describe_hello(server: KnownServer) -> str:
    """What a server calls itself, and when it last did."""
    if server.offer is None:
        return ""
    info = server.offer.hello.server_info
    # The clock may have been set back since.
    age = max(0.0, time() - server.offer.at)
    if server.is_connected:
        seen = ""
    elif age > _HOUR:
        seen = f", seen {age / _HOUR:.0f} h ago"
    else:
        seen = ", seen lately"
    return f"{safe(info.name)} {safe(info.version)}{seen}"
