"""Which tool the words of a command mean: `SERVER.TOOL`, `SERVER TOOL`, or a name that one known server alone has."""

from collections.abc import Callable, Sequence
from typing import Final

from mooring.core.protocol.tool import Pair
from mooring.core.text.suggestions import nearest
from mooring.errors import AmbiguousTool, ConfigError, HeldBack, UnknownServer, UnknownTool
from mooring.host.host import Host
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.verbs.use.deadline import Deadline

HOUR: Final = 3600.0
"""A list of tools younger than this many seconds is believed when it lacks a tool or an argument."""


def split_target(host: Host, first: str, words: Sequence[str]) -> tuple[str | Pair, tuple[str, ...]]:
    """The tool that the first word or two name, and the words after it."""
    rest = tuple(words)
    # An argument has an equals sign, and `-` stands for what is on stdin.
    if not rest or "=" in rest[0] or rest[0] == "-":
        return first, rest
    try:
        return (host.find_configured_name(first), rest[0]), rest[1:]
    except UnknownServer:
        return first, rest


async def find_tool(
    host: Host, name: str | Pair, deadline: Deadline, on_guess: Callable[[CatalogEntry], None]
) -> CatalogEntry:
    """The tool that a person means; `on_guess` is told of one whose server was not named.

    Raises: as `Host.find`; ConfigError if the name means no tool, or several.
    """
    try:
        return await host.find(name, deadline.seconds_left, trusted=HOUR)
    except AmbiguousTool:
        raise
    except (UnknownServer, UnknownTool) as error:
        # A name such as `demo.` has no tool in it.
        is_servers_own = isinstance(error, UnknownTool) and error.server in host.servers and error.tool
        if is_servers_own or not isinstance(name, str):
            raise
        cause = error
    entry = _find_alone(host, name)
    if entry is None:
        raise _explain_unknown(host, name, cause)
    on_guess(entry)
    return entry


def _find_alone(host: Host, tool: str) -> CatalogEntry | None:
    """The tool of that name, if one server alone is known to have it. Raises: ConfigError, HeldBack."""
    found = {entry.server: entry for entry in host.tools if entry.tool == tool}
    # One that is held back counts: it must not be taken for another server's tool of the same name.
    held = [server for server, tools in host.held().items() if tool in tools.names]
    owners = sorted({*found, *held})
    if len(owners) > 1:
        spelled = " or ".join(f"{server}.{tool}" for server in owners)
        raise ConfigError(f"Several servers have a tool {tool!r}.", f"Write {spelled}.")
    if held:
        raise HeldBack(held[0], tool)
    return found[owners[0]] if owners else None


def _explain_unknown(host: Host, name: str, cause: UnknownServer | UnknownTool) -> ConfigError | UnknownServer:
    """Why a name means no tool. Raises: as `Host.find_name` if it is a server that cannot be used."""
    try:
        server = host.find_name(name.rstrip("./"))
    except UnknownServer:
        pass
    else:
        return ConfigError("Missing TOOL;", f"see: mooring tools {server}")
    if isinstance(cause, UnknownServer):
        return cause
    spelled = {entry.tool: f"{entry.server}.{entry.tool}" for entry in host.tools}
    spelled |= {pair: pair for pair in spelled.values()}
    spelled |= {server: server for server in host.servers}
    near = dict.fromkeys(spelled[word] for word in nearest(name, spelled))
    error = UnknownServer(name, list(near), what="server or known tool")
    if not near:
        error.hint = "Write SERVER.TOOL, as `mooring tools` shows them, or name a server with --server or --url."
    return error
