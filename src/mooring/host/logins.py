"""Logs people in and out of the servers of a host."""

from collections.abc import Sequence
from time import time

from mooring.auth.login import LoginResult, LogoutResult, log_in_at, log_out_at
from mooring.core.conversation.question import Answer, Ask, No, Question
from mooring.core.protocol.failure import Failure
from mooring.errors import NeedsLogin, NotApproved, ServerError
from mooring.servers.server import Server
from mooring.servers.shared import ServerContext
from mooring.wire.http.challenge import Challenge


async def log_in(
    server: Server,
    shared: ServerContext,
    *,
    scopes: Sequence[str],
    client_metadata_url: str,
    browser: bool,
    seconds: float,
    ask: Ask | None = None,
) -> LoginResult:
    """Log in at a server, which uses the new token from then on; `ask` sends the person to the page.

    Raises: as `Host.login`.
    """
    target = await server.find_login()
    before = await shared.logins.find_record(target.url, target.options.client_id)
    result = await log_in_at(
        target,
        shared.logins,
        ask or shared.ask or _refuse,
        shared.network,
        challenge=await _find_challenge(server),
        scopes=scopes,
        client_metadata_url=client_metadata_url,
        without_browser=not browser,
        seconds=seconds,
    )
    # A connection with a login finds the new token by itself, and keeps its calls and its session. One without may be
    # offered more from now on.
    if before is None or not server.is_connected:
        await server.restart()
    return result


async def _find_challenge(server: Server) -> Challenge | None:
    """What the server says to a request that it refuses: known from the last attempt, or found out by another."""
    error = server.error
    if not isinstance(error, NeedsLogin) and not server.is_connected:
        try:
            await server.session()
        except (ServerError, NotApproved) as failure:
            error = failure
    if not isinstance(error, NeedsLogin):
        return None
    params = {"resource_metadata": error.resource_metadata, "scope": error.scope, "error": error.error}
    return Challenge(error.scheme, params)


async def log_out(server: Server, shared: ServerContext) -> LogoutResult:
    """Revoke and remove a server's token; its connection is closed. Raises: as `Host.logout`."""
    removal = await log_out_at(await server.find_login(), shared.logins, shared.network)
    shared.login_secrets.pop(server.name, None)
    await server.restart()
    if removal.issuer:
        # Otherwise a list would call it idle until somebody uses it and fails.
        shared.owner.store_failure(server.approved, _make_logout_failure(server.name))
    return removal


def _make_logout_failure(server: str) -> Failure:
    error = NeedsLogin(server, 401)
    error.suggest_login()
    # Not slow: it is tried again whenever it is used, as it may have tools for everybody.
    return Failure(server=server, at=time(), error=str(error), slow=False, login=True, stage="auth")


async def _refuse(question: Question) -> Answer:
    """Nobody is there to log in."""
    return No("nobody can be asked")
