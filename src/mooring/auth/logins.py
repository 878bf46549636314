"""The logins that are stored: a server's URL goes in, and its token comes out, fresh.

A token belongs to an issuer, a resource and a client, and is stored under these three. What leads from a server's URL
to them is stored too, so that a definition with another URL finds no token.
"""

from collections.abc import Callable
from time import time
from typing import TypeVar

import msgspec
from msgspec import Struct

from mooring.auth.drive import drive_unattended
from mooring.auth.fetch import Fetcher
from mooring.auth.oauth.client import OAuthClient
from mooring.auth.oauth.flow import refresh, revoke
from mooring.auth.oauth.token import Token, name_token
from mooring.auth.store import Placement, SecretStore
from mooring.errors import GrantRefused, LoginFailed

T = TypeVar("T")

_OVER = ("invalid_grant", "invalid_client", "unauthorized_client")
"""With these, an issuer says that the token will never be refreshed again."""


class LoginRecord(Struct, frozen=True):
    """Which token belongs to a server."""

    issuer: str
    resource: str
    client_id: str

    @property
    def token_name(self) -> str:
        return name_token(self.issuer, self.resource, self.client_id)


class Logins:
    """What is stored about logins, in the person's store of secrets."""

    def __init__(self, store: SecretStore, clock: Callable[[], float] = time) -> None:
        self._store = store
        self.clock = clock

    async def find_record(self, url: str, client_id: str = "") -> LoginRecord | None:
        """Who gave a server's token; `client_id` is the client that its definition names."""
        return await self._read(_name_login(url, client_id), LoginRecord)

    async def find_token(self, record: LoginRecord) -> Token | None:
        """The token that a record leads to."""
        token = await self._read(record.token_name, Token)
        # What is sent must be what was stored for this server: whoever mixed up names gets nothing.
        is_same = token is not None and (token.issuer, token.resource) == (record.issuer, record.resource)
        return token if is_same else None

    async def find_client(self, issuer: str) -> OAuthClient | None:
        """The client that was registered with an issuer."""
        client = await self._read(_name_client(issuer), OAuthClient)
        return client if client is not None and client.issuer == issuer else None

    async def keep(self, url: str, client_id: str, token: Token) -> None:
        """Store what came of a login that a person asked for."""
        record = LoginRecord(token.issuer, token.resource, token.client.id)
        await self._write(record.token_name, token, "preferred")
        if token.client.redirect_uri:
            await self._write(_name_client(token.issuer), token.client, "preferred")
        # Last: from now on it is found.
        await self._write(_name_login(url, client_id), record, "preferred")

    async def refresh(self, record: LoginRecord, stale: Token, fetcher: Fetcher, private_key: str = "") -> Token | None:
        """A token in place of a stale one, refreshed once by whoever comes first; `None` if there will be none.

        Raises: LoginFailed if the issuer cannot be reached now; FileError, StoreUnavailable.
        """
        async with self._store.locked("oauth", record.token_name):
            # Read again: a refresh token that is shown twice makes some issuers revoke the whole family (Notion,
            # LangSmith), and another process may have shown this one while we waited for the lock.
            current = await self.find_token(record)
            if current is None or not current.refresh:
                return None if current is None or current.access == stale.access else current
            if current.access != stale.access and not current.is_stale(self.clock()):
                return current
            return await self._refresh_locked(record, current, fetcher, private_key)

    async def _refresh_locked(
        self, record: LoginRecord, current: Token, fetcher: Fetcher, private_key: str
    ) -> Token | None:
        try:
            fresh = await drive_unattended(refresh(current, private_key, self.clock), fetcher)
        except GrantRefused as refused:
            if refused.error not in _OVER:
                raise
            await self._remove_token(record, current)
            return None
        await self._write(record.token_name, fresh, "recorded")
        return fresh

    async def _remove_token(self, record: LoginRecord, sent: Token) -> None:
        """Remove the token that was refused, unless a login has put another in its place (vercel/ai#20674)."""
        stored = await self.find_token(record)
        if stored is not None and stored.refresh == sent.refresh:
            await self._store.delete("oauth", record.token_name)

    async def remove(self, url: str, client_id: str, fetcher: Fetcher, private_key: str = "") -> "LogoutResult":
        """Give a server's token back to its issuer, and forget it."""
        record = await self.find_record(url, client_id)
        if record is None:
            return LogoutResult()
        async with self._store.locked("oauth", record.token_name):
            token = await self.find_token(record)
            problem = "" if token is None else await self._revoke(token, fetcher, private_key)
            await self._store.delete("oauth", record.token_name)
        await self._store.delete("oauth", _name_login(url, client_id))
        return LogoutResult(issuer=record.issuer, revoked=token is not None and not problem, problem=problem)

    async def _revoke(self, token: Token, fetcher: Fetcher, private_key: str) -> str:
        """Why a token could not be given back; empty if it was."""
        try:
            taken = await drive_unattended(revoke(token, private_key, self.clock), fetcher)
        except LoginFailed as error:
            return error.reason
        if taken:
            return ""
        return (
            f"{token.issuer} has no way to revoke it" if not token.revocation else f"{token.issuer} did not revoke it"
        )

    async def _read(self, name: str, kind: type[T]) -> T | None:
        text = await self._store.get("oauth", name)
        if text is None:
            return None
        try:
            return msgspec.json.decode(text, type=kind)
        except msgspec.DecodeError:
            # From another version: a new login writes it anew.
            return None

    async def _write(self, name: str, value: Struct, placement: Placement) -> None:
        await self._store.set("oauth", name, msgspec.json.encode(value).decode(), placement)


class LogoutResult(Struct, frozen=True):
    """What became of a logout: whose token it was, empty if there was none; and why it could not be revoked."""

    issuer: str = ""
    revoked: bool = False
    problem: str = ""


def _name_login(url: str, client_id: str) -> str:
    return f"login {url} {client_id}"


def _name_client(issuer: str) -> str:
    return f"client {issuer}"
