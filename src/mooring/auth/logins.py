"""The logins that are stored: a server's URL goes in, and its token comes out; or that of a login named by its id.

A token belongs to an issuer, a resource and a client, and is stored under these three. What leads from a server's URL
to them is stored too, so that a definition with another URL finds no token.
"""

import asyncio
import re
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from hashlib import sha256
from time import time
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from mooring.auth.oauth.options import LoginOptions
from mooring.auth.store import Placement, SecretStore
from mooring.core.definitions.template import SECRET_NAME
from mooring.wire.http.network import Options

if TYPE_CHECKING:
    from mooring.auth.oauth.client import OAuthClient
    from mooring.auth.oauth.token import Token


T = TypeVar("T")

FINISH_SECONDS = 5.0
"""How long the end of a program is held up by a refresh that is under way."""


class LoginRecord(Struct, frozen=True):
    """Which token belongs to a server."""

    issuer: str
    resource: str
    client_id: str

    @property
    def token_name(self) -> str:
        """Under which name the token is stored: it belongs to these three, and is sent nowhere else."""
        return f"token {self.issuer} {self.resource} {self.client_id}"


class StoredLogin(Struct, frozen=True):
    """What is stored for a server: whom its token is from, and the token unless it was dropped."""

    record: LoginRecord
    token: "Token | None"


class Logins:
    """What is stored about logins, in the person's store of secrets. Each method may raise what the store raises."""

    def __init__(self, store: SecretStore) -> None:
        self._store = store
        self._refreshes: set[asyncio.Task[Any]] = set()

    async def find_record(self, url: str, client_id: str = "") -> LoginRecord | None:
        """Who gave a server's token; `client_id` is the client that its definition names."""
        return await self._read(_name_login(url, client_id), LoginRecord)

    async def find_token(self, record: LoginRecord) -> "Token | None":
        """The token that a record leads to."""
        # Lazy, as everything about tokens: most servers have none, and every one of them is looked up.
        from mooring.auth.oauth.token import Token

        token = await self._read(record.token_name, Token)
        # What is sent must be what was stored for this server: whoever mixed up names gets nothing.
        is_same = token is not None and (token.issuer, token.resource) == (record.issuer, record.resource)
        return token if is_same else None

    async def find_login(self, url: str, client_id: str) -> StoredLogin | None:
        """The record of a server's login and its token."""
        record = await self.find_record(url, client_id)
        return StoredLogin(record, await self.find_token(record)) if record else None

    async def find_client(self, issuer: str) -> "OAuthClient | None":
        """The client that was registered with an issuer."""
        from mooring.auth.oauth.client import OAuthClient

        client = await self._read(_name_client(issuer), OAuthClient)
        return client if client is not None and client.issuer == issuer else None

    def start_refresh(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Refresh a token in a task that nobody who waits for it can cancel, and that `finish` waits for."""
        task = asyncio.get_running_loop().create_task(work)
        self._refreshes.add(task)
        task.add_done_callback(self._refreshes.discard)
        return task

    async def finish(self) -> None:
        """Wait for the refreshes that are under way, though not for long.

        An issuer that rotates has used up the old token by the time its answer is on the way. Whoever ends before the
        new one is stored is left with a token that costs the login the next time it is shown.
        """
        if self._refreshes:
            await asyncio.wait(tuple(self._refreshes), timeout=FINISH_SECONDS)

    async def keep(self, url: str, client_id: str, token: "Token") -> None:
        """Store what came of a login that a person asked for."""
        record = LoginRecord(token.issuer, token.resource, token.client.id)
        # A refresh that is under way elsewhere must not put its result over this one.
        async with self.locked(record):
            await self.write_token(record, token, "preferred")
        if token.client.redirect_uri:
            await self._write(_name_client(token.issuer), token.client, "preferred")
        # Last: from now on it is found.
        await self._write(_name_login(url, client_id), record, "preferred")

    def locked(self, record: LoginRecord) -> AbstractAsyncContextManager[None]:
        """Let nobody else change the token meanwhile, in this process or another."""
        return self._store.locked("oauth", record.token_name)

    async def write_token(self, record: LoginRecord, token: "Token", placement: Placement = "recorded") -> None:
        """Put a token in place of the one that is there; under the lock."""
        await self._write(record.token_name, token, placement)

    async def drop_token(self, record: LoginRecord) -> None:
        """Forget a token; under the lock."""
        await self._store.delete("oauth", record.token_name)

    async def drop_record(self, url: str, client_id: str) -> None:
        """Forget which token belongs to a server."""
        await self._store.delete("oauth", _name_login(url, client_id))

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


def _name_login(url: str, client_id: str) -> str:
    # A digest, since names are listed, and a URL may have a key in its query.
    digest = sha256(f"{url} {client_id}".encode()).hexdigest()[:32]
    host = url.partition("://")[2].partition("/")[0].rpartition("@")[2].partition("?")[0]
    return f"login {host} {digest}"


def _name_client(issuer: str) -> str:
    return f"client {issuer}"


class LoginTarget(Struct, frozen=True):
    """Where somebody logs in: a server and what its definition says about it."""

    server: str
    url: str
    options: LoginOptions = LoginOptions()
    network: Options = Options()

    @property
    def is_unattended(self) -> bool:
        """Whether its tokens need no person: they are had again whenever they end."""
        options = self.options
        return bool(options.assertion or options.id_token) or options.grant == "client_credentials"

    def __repr__(self) -> str:
        return f"<LoginTarget {self.server!r}>"


class FoundLogin(Struct, frozen=True):
    """A login that is stored; `token` is `None` if it may not go to that server, or has ended."""

    token: str | None

    def __repr__(self) -> str:
        return "FoundLogin(…)"


class _StoredLogin(Struct, frozen=True):
    """What a login left in the store, as far as it matters here."""

    access: str
    type: str = "Bearer"
    resource: str = ""
    expires_at: float | None = None

    def may_go_to(self, url: str | None) -> bool:
        """Whether it was issued for that address, and still holds."""
        # A token of another type is worth nothing without a proof for each request.
        has_expired = self.expires_at is not None and time() >= self.expires_at
        if self.type != "Bearer" or has_expired:
            return False
        if not self.resource or url is None:
            return True
        return _origin(self.resource) == _origin(url)

    def __repr__(self) -> str:
        return "_StoredLogin(…)"


async def find_login_token(store: SecretStore, credential_id: str, url: str | None) -> FoundLogin | None:
    """The login under that id; `None` if there is none.

    Its token goes only to the origin that it was issued for: whoever writes a definition could otherwise have it sent
    to an address of their own. `url` is the server's address, `None` for a program. What the store keeps under keys of
    its own is no login by an id: those keys have blanks in them, which no id may have.

    Raises: as the store.
    """
    if not re.fullmatch(SECRET_NAME, credential_id):
        return FoundLogin(None)
    stored = await store.get("oauth", credential_id)
    if stored is None:
        return None
    try:
        login = msgspec.json.decode(stored, type=_StoredLogin)
    except msgspec.DecodeError:
        return FoundLogin(None)
    return FoundLogin(login.access if login.may_go_to(url) else None)


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.rpartition("@")[2].lower()
