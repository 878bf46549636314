"""`log in` and `log out` at one server, and what becomes of a stored token: it is refreshed, or given back."""

import asyncio
from collections.abc import Sequence
from time import time

from msgspec import Struct
from msgspec.structs import replace

from mooring.auth.drive import LOGIN_SECONDS, drive_login, drive_unattended
from mooring.auth.fetch import Fetcher
from mooring.auth.logins import LoginRecord, Logins, LoginTarget
from mooring.auth.oauth.flow import LoginPlan, log_in, refresh, revoke
from mooring.auth.oauth.jwt import load_signing
from mooring.auth.oauth.token import Token
from mooring.core.conversation.question import Ask
from mooring.errors import GrantRefused, LoginFailed
from mooring.wire.http.challenge import Challenge
from mooring.wire.http.network import Network


class LogoutResult(Struct, frozen=True):
    """What became of a logout: whose token it was, empty if there was none; and why it could not be revoked."""

    issuer: str = ""
    revoked: bool = False
    problem: str = ""


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
    """Give a server's token back to its issuer, and forget it. Raises: FileError, StoreUnavailable."""
    options = target.options
    record = await logins.find_record(target.url, options.client_id)
    if record is None:
        return LogoutResult()
    fetcher = Fetcher(target.url, network, target.network)
    async with logins.locked(record):
        token = await logins.find_token(record)
        problem = "" if token is None else await _revoke(logins, token, fetcher, options.private_key)
        await logins.drop_token(record)
    await logins.drop_record(target.url, options.client_id)
    return LogoutResult(record.issuer, revoked=token is not None and not problem, problem=problem)


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
    )


_OVER = ("invalid_grant", "invalid_client", "unauthorized_client")
"""With these, an issuer says that the token will never be refreshed again."""


async def refresh_login(
    logins: Logins, record: LoginRecord, stale: Token, fetcher: Fetcher, private_key: str
) -> Token | None:
    """A token in place of a stale one, refreshed once by whoever comes first; `None` if there will be none.

    Raises: LoginFailed if the issuer cannot be reached now; FileError, StoreUnavailable.
    """
    async with logins.locked(record):
        # Read again: a refresh token that is shown twice makes some issuers revoke the whole family (Notion,
        # LangSmith), and another process may have shown this one while we waited for the lock.
        current = await logins.find_token(record)
        if current is None:
            return None
        is_newer = current.access != stale.access
        if is_newer and not current.is_stale(time()):
            return current
        if not current.refresh:
            return current if is_newer else None
        return await _refresh_locked(logins, record, current, fetcher, private_key)


async def _refresh_locked(
    logins: Logins, record: LoginRecord, current: Token, fetcher: Fetcher, private_key: str
) -> Token | None:
    try:
        fresh = await drive_unattended(refresh(current, private_key), fetcher)
    except GrantRefused as refused:
        if refused.error not in _OVER:
            raise
        await _drop_refused(logins, record, current)
        return None
    await logins.write_token(record, fresh)
    return fresh


async def _drop_refused(logins: Logins, record: LoginRecord, sent: Token) -> None:
    """Remove the token that was refused, unless a login has put another in its place (vercel/ai#20674)."""
    stored = await logins.find_token(record)
    if stored is not None and stored.refresh == sent.refresh:
        await logins.drop_token(record)


async def _revoke(logins: Logins, token: Token, fetcher: Fetcher, private_key: str) -> str:
    """Why a token could not be given back; empty if it was."""
    if not token.revocation:
        return f"{token.issuer} has no way to revoke it"
    try:
        taken = await drive_unattended(revoke(token, private_key), fetcher)
    except LoginFailed as error:
        return error.reason
    return "" if taken else f"{token.issuer} did not revoke it"
