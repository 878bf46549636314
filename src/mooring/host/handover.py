"""Servers for another program that starts and reaches them by itself, with their definitions filled in."""

from msgspec.structs import replace

from mooring.errors import ConfigError
from mooring.host.assembly import Assembly
from mooring.servers.attempt import load_login, make_launch_context
from mooring.servers.launch.prepare import Endpoint, Launch, prepare


async def hand_over(parts: Assembly, name: str) -> Launch | Endpoint:
    """How to start or reach a server, exactly as Mooring would. What it lacks is asked for and reported likewise.

    Raises: as `Host.server`; as `prepare`; ConfigError if no other program can do it.
    """
    server = parts.lookup.server(name)
    await server.ask_inputs()
    ready = await prepare(server.approved, make_launch_context(parts.shared))
    for omission in ready.omitted:
        parts.shared.note_lack(name, str(omission))
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
