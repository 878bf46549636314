"""Servers for another agent's program, which takes part in one conversation: served to it, or started by it."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from mooring.core.conversation.question import Ask
from mooring.core.conversation.verdict import Rule
from mooring.errors import ConfigError
from mooring.host.assembly import Assembly
from mooring.host.host import Host
from mooring.host.options import Policy, check_rules, find_mode
from mooring.host.served_server import Permits, ServedServer
from mooring.serve.upstream import ClientSide
from mooring.servers.attempt import load_login, make_launch_context
from mooring.servers.launch.prepare import Endpoint, Launch, prepare


class HandedServers:
    """The servers of a host as another agent's program has them, with the permissions of its conversation."""

    def __init__(self, host: Host, ask: Ask, policy: Policy | None, rules: Iterable[Rule]) -> None:
        """`ask`, `policy` and `rules` are as in `Host.conversation`. Raises: ConfigError if an option is invalid."""
        self._parts = host._parts
        permissions = self._parts.permissions.begin(ask, find_mode(policy), check_rules(rules))
        self.requests = self._parts.make_requests(permissions, ask)
        """What the conversation asks of servers: everything passes its gate."""
        self.audit = self._parts.permissions.audit

    @property
    def names(self) -> Sequence[str]:
        """The approved, enabled servers."""
        return self._parts.lookup.own_names

    def serve(self, client: ClientSide, server: str, permits: Permits) -> ServedServer:
        """One server, served to the agent's program alone."""
        return ServedServer(self._parts, client, self.requests, server, permits)

    async def hand_over(self, name: str) -> Launch | Endpoint:
        """How to start or reach a server, exactly as Mooring would. What it lacks is asked for and reported likewise.

        Raises: as `Host.server`; as `prepare`; ConfigError if no other program can do it.
        """
        parts = self._parts
        server = parts.lookup.server(name)
        await server.ask_inputs()
        ready = await prepare(server.approved, make_launch_context(parts.shared))
        for omission in ready.omitted:
            parts.shared.report_lack(name, str(omission))
        return ready if isinstance(ready, Launch) else await _add_login(parts, name, ready)


async def _add_login(parts: Assembly, name: str, endpoint: Endpoint) -> Endpoint:
    if endpoint.url.startswith("unix:"):
        raise ConfigError(f"{name} is behind a socket, which only Mooring can reach.")
    authorizer = await load_login(endpoint, name, parts.shared)
    if authorizer is None or not authorizer.in_use:
        return endpoint
    headers = await authorizer.authorize("POST", endpoint.url)
    if "DPoP" in headers:
        # Each request needs another proof, made with a key that stays here.
        raise ConfigError(f"{name} has a login that only Mooring can use.")
    return replace(endpoint, headers={**endpoint.headers, **headers})
