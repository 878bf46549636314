"""`reload`: forget what servers offered, connect them again, and report what is different."""

from collections.abc import Mapping

from msgspec import Struct

from mooring.actions.deadline import Deadline
from mooring.actions.opening import connect_servers, find_config_errors
from mooring.core.problem import Problem
from mooring.core.tool import Tool
from mooring.errors import ConfigError, MooringError, NotApproved
from mooring.host.host import Host
from mooring.servers.server import Server


class ServerChange(Struct, frozen=True, kw_only=True):
    """What is different about one server; names of tools, sorted."""

    name: str
    known: bool
    """Whether anything was known of it before."""
    tools: int | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    held: int = 0
    """How many of its tools are held back, because they are not what was approved."""
    error: str | None = None


class ReloadReport(Struct, frozen=True):
    """What changed by server, and what is wrong with the configuration."""

    changes: tuple[ServerChange, ...]
    problems: tuple[Problem, ...]
    waiting: tuple[str, ...]
    """The project's servers that nobody has approved."""


async def reload(host: Host, deadline: Deadline, name: str | None = None) -> ReloadReport:
    """Forget and reconnect one server, or all.

    Raises:
        UnknownServer, ServerDisabled, NotApproved, ConfigError: the named one cannot be started.
        ServerError: it could be, and failed; without a name, that is in its change.
    """
    if name:
        return await _reload_one(host, deadline, name)
    # By their own names: an alias leads to the same server, which is reloaded once.
    servers = {server.name: server for server in host.servers.values()}
    changes, errors = await _reconnect(host, deadline, servers)
    waiting = tuple(each for each, error in errors.items() if isinstance(error, NotApproved))
    return ReloadReport(changes, find_config_errors(host), waiting)


async def _reload_one(host: Host, deadline: Deadline, name: str) -> ReloadReport:
    server = host.server(name)
    changes, errors = await _reconnect(host, deadline, {server.name: server}, name)
    if errors:
        raise next(iter(errors.values()))
    return ReloadReport(changes, (), ())


async def _reconnect(
    host: Host, deadline: Deadline, servers: Mapping[str, Server], name: str | None = None
) -> tuple[tuple[ServerChange, ...], dict[str, MooringError]]:
    """What changed about these servers, and what failed, by name."""
    before = {each: _known_tools(server) for each, server in servers.items()}
    for each in servers:
        host.forget(each)
    errors = await connect_servers(host, deadline, [name] if name else None)
    held = host.held()
    changes = []
    for each, server in sorted(servers.items()):
        held_count = len(held[each].names) if each in held else 0
        changes.append(_compare(server, before[each], held_count, errors.get(each)))
    return tuple(changes), errors


def _known_tools(server: Server) -> Mapping[str, Tool] | None:
    """Its tools by name; `None` if nothing is known of it, which is not the same as a server without tools."""
    if server.offer is None:
        return None
    return {tool.name: tool for tool in server.tools}


def _compare(
    server: Server, before: Mapping[str, Tool] | None, held: int, failure: MooringError | None
) -> ServerChange:
    is_known = before is not None
    now = _known_tools(server)
    if failure is not None or now is None:
        error = str(failure or ConfigError("It is not there."))
        return ServerChange(name=server.name, known=is_known, error=error)
    old = before or {}
    return ServerChange(
        name=server.name,
        known=is_known,
        tools=len(now),
        added=tuple(sorted(now.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - now.keys())),
        changed=tuple(sorted(name for name in now.keys() & old.keys() if now[name] != old[name])),
        held=held,
    )
