"""`reload`: forget what servers offered, connect them again, and report what is different."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.conversation.status import KnownServer
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.tool import Tool
from mooring.core.text.glob import NameFilter
from mooring.errors import ConfigError, MooringError
from mooring.host.host import Host
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import connect_server, connect_servers, find_config_errors, find_waiting


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
    # By their own names: an alias leads to the same server, which is reloaded once.
    chosen = [await host.admit(name)] if name else host.servers.values()
    before = {server.name: _known_tools(server) for server in chosen}
    for each in before:
        host.forget(each)
    if name:
        await connect_server(host, deadline, name)
        (change,) = _compare_all(host, before, {})
        # Under the name that was asked for: it may be an alias.
        return ReloadReport((replace(change, name=host.find_name(name)),), (), ())
    errors = await connect_servers(host, deadline)
    return ReloadReport(_compare_all(host, before, errors), find_config_errors(host), find_waiting(host))


def _compare_all(
    host: Host, before: Mapping[str, Mapping[str, Tool] | None], errors: Mapping[str, MooringError]
) -> tuple[ServerChange, ...]:
    held, servers = host.held(), host.servers
    changes = []
    for name in sorted(before):
        held_count = len(held[name].names) if name in held else 0
        changes.append(_compare(name, servers.get(name), before[name], held_count, errors.get(name)))
    return tuple(changes)


def _known_tools(server: KnownServer) -> Mapping[str, Tool] | None:
    """The tools that its definition lets through, by name; `None` if nothing is known of it, unlike no tools."""
    if server.offer is None:
        return None
    offered = NameFilter(server.config.tools_allow, server.config.tools_deny)
    return {tool.name: tool for tool in server.tools if offered.lets_through(tool.name)}


def _compare(
    name: str, server: KnownServer | None, before: Mapping[str, Tool] | None, held: int, failure: MooringError | None
) -> ServerChange:
    is_known = before is not None
    # It may have been taken out of the configuration meanwhile.
    now = None if server is None else _known_tools(server)
    if failure is not None or now is None:
        error = str(failure or ConfigError("It is not there."))
        return ServerChange(name=name, known=is_known, error=error)
    old = before or {}
    return ServerChange(
        name=name,
        known=is_known,
        tools=len(now),
        added=tuple(sorted(now.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - now.keys())),
        changed=tuple(sorted(each for each in now.keys() & old.keys() if now[each] != old[each])),
        held=held,
    )
