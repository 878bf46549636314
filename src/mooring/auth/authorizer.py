"""Adds a stored login to the requests of one connection, and keeps it fresh while the connection lives."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import time
from typing import TYPE_CHECKING, TypeAlias

from mooring.auth.logins import LoginRecord, Logins, LoginTarget, StoredLogin
from mooring.core.text.secret import list_secrets
from mooring.errors import ConfigError, ConnectError, LoginFailed
from mooring.wire.http.challenge import Challenge
from mooring.wire.http.network import Network

if TYPE_CHECKING:
    from mooring.auth.oauth.jwt import Prover
    from mooring.auth.oauth.token import Token

# What is imported inside functions here is needed by few servers, and every server behind a URL gets an authorizer.
_PROOF_HEADER = "DPoP"
_NONCE_HEADER = "dpop-nonce"

FindLogin: TypeAlias = Callable[[Logins, LoginTarget], Awaitable[StoredLogin | None]]
"""Finds the login that is stored for a server. Raises: NotApproved if the server may not have it; as the store."""


class LoginAuthorizer:
    """The login of one connection. Made with what is stored; what is stored later is found when a request is refused.

    Any number of requests may be refused at the same moment: one refresh serves them all.
    """

    def __init__(
        self,
        target: LoginTarget,
        logins: Logins,
        network: Network,
        find: FindLogin,
        on_secrets: Callable[[tuple[str, ...]], None] = lambda secrets: None,
    ) -> None:
        """`find` is the only way to what is stored.

        `on_secrets` is called with what must not be shown from now on, whoever repeats it.
        """
        self.in_use = False
        self._find = find
        self._on_secrets = on_secrets
        self._target = target
        self._logins = logins
        self._network = network
        self._record: LoginRecord | None = None
        self._token: Token | None = None
        self._prover: Prover | None = None
        self._key = ""
        self._renewing: asyncio.Task[bool] | None = None

    async def load(self) -> None:
        """Take up what is stored. Raises: NotApproved, FileError, StoreUnavailable."""
        stored = await self._find(self._logins, self._target)
        self._record = stored.record if stored else None
        await self._adopt(stored.token if stored else None)

    async def authorize(self, method: str, url: str) -> Mapping[str, str]:
        """The headers with the token in them. Raises: ConnectError if it has ended and cannot be refreshed now."""
        token = self._token
        if token is not None and token.is_stale(time()):
            await self._refresh_ahead(token)
            token = self._token
        if token is None:
            return {}
        headers = {"Authorization": f"{token.type} {token.access}"}
        if self._prover is not None:
            headers[_PROOF_HEADER] = self._prover.prove(method, url, time(), token.access)
        return headers

    def note(self, url: str, headers: Mapping[str, str]) -> None:
        """Keep the nonce that the next proof needs."""
        if self._prover is not None:
            self._prover.store_nonce(url, headers.get(_NONCE_HEADER, ""))

    async def renew(self, sent: Mapping[str, str], challenge: Challenge) -> bool:
        """Whether a refused request is worth sending again: with a nonce, or with a newer token."""
        if challenge["error"] == "use_dpop_nonce" and self._prover is not None:
            return True
        refused = sent.get("Authorization", "").partition(" ")[2]
        if self._token is not None and self._token.access != refused:
            return True
        try:
            # More rights take a person, who has to agree to them. They may have done so in another window.
            if challenge["error"] == "insufficient_scope":
                await self.load()
                return self._token is not None and self._token.access != refused
            return await self._renew_once()
        except (LoginFailed, ConfigError):
            # The refusal itself says what the person has to do.
            return False

    async def _refresh_ahead(self, token: "Token") -> None:
        try:
            await self._renew_once()
        except (LoginFailed, ConfigError) as error:
            # A token that still holds is used; the next request tries again.
            if token.is_expired(time()):
                reason = error.reason if isinstance(error, LoginFailed) else str(error).rstrip(".")
                raise ConnectError(self._target.server, f"its login could not be refreshed: {reason}") from None

    async def _renew_once(self) -> bool:
        """Get a newer token, once for all requests that need one; whether there is one."""
        if self._renewing is None or self._renewing.done():
            self._renewing = self._logins.start_refresh(self._renew())
            # Retrieved here, so that asyncio does not complain where every request that waited was cancelled.
            self._renewing.add_done_callback(lambda task: task.cancelled() or task.exception())
        # Shielded: one request that is given up must not take the refresh from the others, nor lose its result.
        return await asyncio.shield(self._renewing)

    async def _renew(self) -> bool:
        before = self._token
        await self.load()
        if self._token is None or self._record is None:
            return False
        if before is None or before.access != self._token.access:
            # A login, or another process, has stored a newer one.
            return True
        fresh = await self._fetch_token(self._token, self._record)
        await self._adopt(fresh)
        return fresh is not None

    async def _fetch_token(self, stale: "Token", record: LoginRecord) -> "Token | None":
        from mooring.auth.fetch import Fetcher
        from mooring.auth.login import log_in_unattended, refresh_login

        target = self._target
        fetcher = Fetcher(target.url, self._network, target.network)
        if target.is_unattended:
            return await log_in_unattended(target, self._logins, fetcher)
        return await refresh_login(self._logins, record, stale, fetcher, target.options.private_key)

    async def _adopt(self, token: "Token | None") -> None:
        """Use this token from now on."""
        key = "" if token is None else token.key
        # The same key keeps its prover, which knows the server's nonce.
        if key != self._key:
            # In a thread: loading what signs would hold up everybody else.
            self._prover = await asyncio.to_thread(_make_prover, key) if key else None
            self._key = key
        self._token = token
        self.in_use = token is not None
        self._on_secrets(() if token is None else list_secrets(filter(None, (token.access, token.refresh))))


def _make_prover(key: str) -> "Prover":
    from mooring.auth.oauth.jwt import Prover, SigningKey

    return Prover(SigningKey(key))
