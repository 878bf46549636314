"""`log in` and `log out` at one server: the flow, the person, and the store put together."""

import asyncio
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from mooring.auth.drive import LOGIN_SECONDS, drive_login, drive_unattended
from mooring.auth.fetch import Fetcher
from mooring.auth.logins import Logins
from mooring.auth.oauth.flow import log_in
from mooring.auth.oauth.jwt import load_signing
from mooring.auth.oauth.plan import LoginPlan
from mooring.auth.oauth.token import Token
from mooring.auth.renewal import LogoutResult, remove_login
from mooring.auth.target import LoginTarget
from mooring.core.conversation.question import Ask
from mooring.wire.http.challenge import Challenge
from mooring.wire.http.network import Network


class LoginResult(Struct, frozen=True):
    """What a login came to. Nothing in it is secret."""

    server: str
    issuer: str
    scopes: tuple[str, ...] = ()
    expires_at: float | None = None
    refreshes: bool = False
    """Whether it is renewed by itself."""
    notes: tuple[str, ...] = ()


async def log_in_at(
    target: LoginTarget,
    logins: Logins,
    ask: Ask,
    network: Network,
    *,
    challenge: Challenge | None = None,
    scopes: Sequence[str] = (),
    client_metadata_url: str = "",
    without_browser: bool = False,
    seconds: float = LOGIN_SECONDS,
) -> LoginResult:
    """Log in at a server and store its token. What was stored before stays in place until the new one is there.

    `challenge` is what the server said when it refused a request; `scopes` are asked for beside those of the login so
    far.

    Raises: LoginFailed; LoginTimedOut; Denied if the person says no; FileError, StoreUnavailable.
    """
    plan = await _make_plan(target, logins, tuple(scopes))
    plan = replace(plan, challenge=challenge, client_metadata_url=client_metadata_url, without_browser=without_browser)
    notes: list[str] = []
    if plan.may_sign:
        await asyncio.to_thread(load_signing)
    fetcher = Fetcher(target.url, network, target.network)
    token = await drive_login(log_in(plan), plan, fetcher, logins.find_client, ask, notes, seconds)
    await logins.keep(target.url, target.options.client_id, token)
    refreshes = bool(token.refresh) or target.is_unattended
    return LoginResult(target.server, token.issuer, token.scopes, token.expires_at, refreshes, tuple(notes))


async def log_in_unattended(target: LoginTarget, logins: Logins, fetcher: Fetcher) -> Token:
    """A new token for a login that needs no person, from the same issuer as before. Raises: LoginFailed."""
    plan = await _make_plan(target, logins, ())
    if plan.may_sign:
        await asyncio.to_thread(load_signing)
    token = await drive_unattended(log_in(plan), fetcher)
    await logins.keep(target.url, target.options.client_id, token)
    return token


async def log_out_at(target: LoginTarget, logins: Logins, network: Network) -> LogoutResult:
    """Revoke a server's token and remove it. Raises: FileError, StoreUnavailable."""
    options = target.options
    fetcher = Fetcher(target.url, network, target.network)
    return await remove_login(logins, target.url, options.client_id, fetcher, options.private_key)


async def _make_plan(target: LoginTarget, logins: Logins, scopes: tuple[str, ...]) -> LoginPlan:
    stored = await logins.find_login(target.url, target.options.client_id)
    token = stored.token if stored else None
    return LoginPlan(
        target.server,
        target.url,
        target.options,
        scopes=scopes,
        # More rights keep the old ones; a plain login asks for what the server wants now.
        held=token.scopes if token and scopes else (),
        former_issuer=stored.record.issuer if stored else "",
        clock=logins.clock,
    )
