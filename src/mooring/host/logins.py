"""Logs people in and out of the servers of a host."""

from collections.abc import Sequence

from mooring.auth.login import LoginResult, log_in_at, log_out_at
from mooring.auth.logins import LogoutResult
from mooring.core.question import Answer, No, Question
from mooring.servers.server import Server
from mooring.servers.shared import Shared


async def log_in(
    server: Server, shared: Shared, *, scopes: Sequence[str], client_metadata_url: str, browser: bool, seconds: float
) -> LoginResult:
    """Log in at a server, which uses the new token from then on. Raises: as `Host.login`."""
    target = await server.find_login()
    result = await log_in_at(
        target,
        shared.logins,
        shared.ask or _refuse,
        shared.network,
        scopes=scopes,
        client_metadata_url=client_metadata_url,
        without_browser=not browser,
        seconds=seconds,
    )
    # A live connection finds the new token by itself, and keeps its calls.
    if not server.is_connected:
        await server.restart()
    return result


async def log_out(server: Server, shared: Shared) -> LogoutResult:
    """Revoke and remove a server's token; its connection is closed. Raises: as `Host.logout`."""
    removal = await log_out_at(await server.find_login(), shared.logins, shared.network)
    shared.login_secrets.pop(server.name, None)
    await server.restart()
    return removal


async def _refuse(question: Question) -> Answer:
    """Nobody is there to log in."""
    return No("nobody can be asked")
