"""Servers for another agent's program, which takes part in one conversation: served to it, or started by it."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from mooring.core.conversation.question import Ask
from mooring.core.conversation.verdict import Rule
from mooring.errors import ConfigError
from mooring.host.gateway_server import GatewayServer, Preapprovals
from mooring.host.host import Host
from mooring.host.options import Policy, check_rules, find_mode
from mooring.host.runtime import HostRuntime
from mooring.serve.upstream import ClientSide
from mooring.servers.attempt import load_login, make_launch_context
from mooring.servers.launch.prepare import Endpoint, Launch, prepare


class HandedServers:
    """The servers of a host as another agent's program has them, with the permissions of its conversation."""

    def __init__(self, host: Host, ask: Ask, policy: Policy | None, rules: Iterable[Rule]) -> None:
        """`ask`, `policy` and `rules` are as in `Host.conversation`. Raises: ConfigError if an option is invalid."""
        self._runtime = host._runtime
        permissions = self._runtime.permissions.begin(ask, find_mode(policy), check_rules(rules))
        self.requests = self._runtime.make_requests(permissions, ask)
        """What the conversation asks of servers: everything passes its gate."""
        self.audit = self._runtime.permissions.audit
        self.preapprovals = Preapprovals()
        """What was decided about calls that the agent is about to make."""

    @property
    def names(self) -> Sequence[str]:
        """The approved, enabled servers."""
        return self._runtime.lookup.own_names

    def serve(self, client: ClientSide, server: str) -> GatewayServer:
        """One server, served to the agent's program alone."""
        return GatewayServer(self._runtime, client, self.requests, server, self.preapprovals)

    async def hand_over(self, name: str) -> Launch | Endpoint:
        """How to start or reach a server, exactly as Mooring would. What it lacks is asked for and reported likewise.

        Raises: as `Host.server`; as `prepare`; ConfigError if no other program can do it.
        """
        runtime = self._runtime
        server = runtime.lookup.server(name)
        await server.ask_inputs()
        ready = await prepare(server.approved, make_launch_context(runtime.shared))
        for omission in ready.omitted:
            runtime.shared.report_lack(name, str(omission))
        return ready if isinstance(ready, Launch) else await _add_login(runtime, name, ready)


async def _add_login(runtime: HostRuntime, name: str, endpoint: Endpoint) -> Endpoint:
    if endpoint.url.startswith("unix:"):
        raise ConfigError(f"{name} is behind a socket, which only Mooring can reach.")
    authorizer = await load_login(endpoint, name, runtime.shared)
    if authorizer is None or not authorizer.in_use:
        return endpoint
    headers = await authorizer.authorize("POST", endpoint.url)
    if "DPoP" in headers:
        # Each request needs another proof, made with a key that stays here.
        raise ConfigError(f"{name} has a login that only Mooring can use.")
    return replace(endpoint, headers={**endpoint.headers, **headers})
