"""`reload`: forget what servers offered, connect them anew, and say what is different."""

from collections.abc import Mapping

from msgspec import Struct

from mooring.actions.deadline import Deadline
from mooring.actions.opening import config_errors, connect_servers
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
    changes: tuple[ServerChange, ...]
    problems: tuple[Problem, ...]
    waiting: tuple[str, ...]


async def reload(host: Host, deadline: Deadline, name: str | None = None) -> ReloadReport:
    """Begin anew with one server, or with all.

    Raises:
        UnknownServer, ServerDisabled, NotApproved, ConfigError: the named one cannot be started.
        ServerError: it could be, and failed; without a name, that is in its change.
    """
    chosen = [host.server(name)] if name else host.servers.values()
    servers = {server.name: server for server in chosen}
    before = {each: _tools(server) for each, server in servers.items()}
    for each in servers:
        host.forget(each)
    errors = await connect_servers(host, deadline, [name] if name else None)
    if name and errors:
        raise next(iter(errors.values()))
    held = {each: len(some.names) for each, some in host.held().items()}
    changes = tuple(
        _change(server, before[each], held.get(each, 0), errors.get(each)) for each, server in sorted(servers.items())
    )
    waiting = tuple(each for each, why in errors.items() if isinstance(why, NotApproved))
    return ReloadReport(changes, () if name else config_errors(host), waiting)


def _tools(server: Server) -> Mapping[str, Tool] | None:
    return None if server.offer is None else {tool.name: tool for tool in server.tools}


def _change(server: Server, before: Mapping[str, Tool] | None, held: int, failure: MooringError | None) -> ServerChange:
    now = _tools(server)
    if failure is not None or now is None:
        return ServerChange(
            name=server.name, known=before is not None, error=str(failure or ConfigError("It is not there."))
        )
    was = before or {}
    return ServerChange(
        name=server.name,
        known=before is not None,
        tools=len(now),
        added=tuple(sorted(now.keys() - was.keys())),
        removed=tuple(sorted(was.keys() - now.keys())),
        changed=tuple(sorted(name for name in now.keys() & was.keys() if now[name] != was[name])),
        held=held,
    )
