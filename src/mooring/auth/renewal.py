"""What becomes of a stored token: it is refreshed by whoever comes first, or given back."""

from msgspec import Struct

from mooring.auth.drive import drive_unattended
from mooring.auth.fetch import Fetcher
from mooring.auth.logins import LoginRecord, Logins
from mooring.auth.oauth.flow import refresh, revoke
from mooring.auth.oauth.token import Token
from mooring.errors import GrantRefused, LoginFailed

_OVER = ("invalid_grant", "invalid_client", "unauthorized_client")
"""With these, an issuer says that the token will never be refreshed again."""


class LogoutResult(Struct, frozen=True):
    """What became of a logout: whose token it was, empty if there was none; and why it could not be revoked."""

    issuer: str = ""
    revoked: bool = False
    problem: str = ""


async def refresh_login(
    logins: Logins, record: LoginRecord, stale: Token, fetcher: Fetcher, private_key: str = ""
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
        if is_newer and not current.is_stale(logins.clock()):
            return current
        if not current.refresh:
            return current if is_newer else None
        return await _refresh_locked(logins, record, current, fetcher, private_key)


async def remove_login(
    logins: Logins, url: str, client_id: str, fetcher: Fetcher, private_key: str = ""
) -> LogoutResult:
    """Give a server's token back to its issuer, and forget it. Raises: FileError, StoreUnavailable."""
    record = await logins.find_record(url, client_id)
    if record is None:
        return LogoutResult()
    async with logins.locked(record):
        token = await logins.find_token(record)
        problem = "" if token is None else await _revoke(logins, token, fetcher, private_key)
        await logins.drop_token(record)
    await logins.drop_record(url, client_id)
    return LogoutResult(record.issuer, revoked=token is not None and not problem, problem=problem)


async def _refresh_locked(
    logins: Logins, record: LoginRecord, current: Token, fetcher: Fetcher, private_key: str
) -> Token | None:
    try:
        fresh = await drive_unattended(refresh(current, private_key, logins.clock), fetcher)
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
        taken = await drive_unattended(revoke(token, private_key, logins.clock), fetcher)
    except LoginFailed as error:
        return error.reason
    return "" if taken else f"{token.issuer} did not revoke it"
