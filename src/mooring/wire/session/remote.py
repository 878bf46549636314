"""Opens a session with a server behind a URL: finds out the proxy, the transport and the era of the protocol."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from mooring.core.protocol.era import NO_HINT, EraHint
from mooring.core.protocol.limits import Limits
from mooring.core.protocol.request_metadata import check_headers
from mooring.errors import HttpError, ServerDied, ServerError
from mooring.wire.http.address import Address, parse_address
from mooring.wire.http.network import Network, Options
from mooring.wire.rpc.transport import Transport
from mooring.wire.session.client import Client
from mooring.wire.session.negotiate import negotiate
from mooring.wire.session.session import Session

if TYPE_CHECKING:
    from mooring.wire.http.web import Authorizer, Web

TransportKind: TypeAlias = Literal["auto", "http", "sse"]
"""`auto` is streamable HTTP, and the older HTTP+SSE transport only if the server refuses that."""

_OLDER = (400, 404, 405, 406, 415)
"""What a server of the older transport answers to a POST at the address of its stream.

The protocol names 400, 404 and 405; 406 and 415 refuse a POST of JSON just as well.
"""


async def open_url(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    client: Client | None = None,
    limits: Limits | None = None,
    transport: TransportKind = "auto",
    server: str | None = None,
    options: Options | None = None,
    network: Network | None = None,
    hint: EraHint = NO_HINT,
    authorizer: "Authorizer | None" = None,
) -> Session:
    """Connect to a server behind a URL and list its tools, all within `Limits.connect`.

    `server` is its name in errors; `hint` says which era to try first; `authorizer` adds a login. Pass the
    same `network` for many servers: they then share its TLS contexts.

    Raises: ConfigError, ServerError.
    """
    to = parse_address(url)
    attempt = _Attempt(
        to, check_headers(headers or {}), client or Client(), limits or Limits(), server or to.name, authorizer
    )
    await attempt.prepare(network or Network(), options or Options())
    try:
        match transport:
            case "http":
                return await attempt.http(hint)
            case "sse":
                return await attempt.sse_or_http(hint)
            case "auto":
                return await attempt.http_or_sse(hint)
    except ServerError as error:
        _add_hint(error, to)
        raise


def _add_hint(error: ServerError, to: Address) -> None:
    """Add what is likely to be wrong with the address to an error that does not say so."""
    hint = _find_hint(error, to)
    if hint:
        error.hint = hint
        error.args = (f"{error} {hint}", *error.args[1:])


def _find_hint(error: ServerError, to: Address) -> str:
    if isinstance(error, HttpError) and error.status in _NOT_HERE:
        return f"The server answers, but not at this path; many servers are at {_name_other_paths(to)}."
    # A server that expects TLS takes a plain request for garbage, and most of them just hang up.
    may_expect_tls = to.url.startswith("http:") and not to.socket
    if isinstance(error, ServerDied) and may_expect_tls:
        return "If it expects TLS, write https:// in its URL."
    return ""


def _name_other_paths(to: Address) -> str:
    path = urlsplit(to.url).path.rstrip("/") or "/"
    others = [usual for usual in _USUAL_PATHS if usual != path]
    return " or ".join(others[:2])


_NOT_HERE = (404, 405)
"""What a server answers where it has nothing to talk to."""

_USUAL_PATHS = ("/mcp", "/sse", "/")


_HANDSHAKE_ONLY = EraHint("handshake", refused="stateless")


class _Attempt(Struct, dict=True):
    """One attempt to reach one server, within one deadline."""

    to: Address
    headers: dict[str, str]
    client: Client
    limits: Limits
    server: str
    authorizer: "Authorizer | None"

    def __post_init__(self) -> None:
        self._until = asyncio.get_running_loop().time() + self.limits.connect - self.limits.reserve

    async def prepare(self, network: Network, options: Options) -> None:
        """Find the proxy, make the TLS context and load aiohttp; what takes long runs in a thread."""
        self._proxy = network.proxy(self.to, options)
        self._tls = await network.tls(options) if self.to.secure else None
        await asyncio.to_thread(_load_transports)

    async def http(self, hint: EraHint) -> Session:
        async def start() -> Transport:
            from mooring.wire.http.streamable import HttpTransport

            return HttpTransport(self._web())

        return await self._negotiate("http", start, hint)

    async def sse(self) -> Session:
        async def start() -> Transport:
            from mooring.wire.http.sse import SseTransport

            sse = SseTransport(self._web())
            try:
                await sse.open()
            except BaseException:  # a cancellation included
                sse.close()
                await sse.wait_closed()
                raise
            return sse

        return await self._negotiate("sse", start, _HANDSHAKE_ONLY)

    async def http_or_sse(self, hint: EraHint) -> Session:
        from mooring.wire.http.sse import NoStream

        try:
            return await self.http(hint)
        except HttpError as error:
            if error.status not in _OLDER:
                raise
            refusal = error
        try:
            return await self.sse()
        except NoStream:
            # It supports neither; what it answered to the newer transport is the better explanation.
            raise refusal from None

    async def sse_or_http(self, hint: EraHint) -> Session:
        from mooring.wire.http.sse import NoStream

        try:
            return await self.sse()
        except NoStream as no_stream:
            refusal = no_stream.error
        try:
            session = await self.http(hint)
        except HttpError:
            raise refusal from None
        session.anomalies.remark(f"{self.server} is configured as sse, but speaks streamable HTTP: change its type.")
        return session

    async def _negotiate(
        self, transport: Literal["http", "sse"], start: Callable[[], Awaitable[Transport]], hint: EraHint
    ) -> Session:
        session = await negotiate(
            start, server=self.server, client=self.client, limits=self.limits, hint=hint, until=self._until
        )
        session.transport = transport
        return session

    def _web(self) -> "Web":
        from mooring.wire.http.web import Web

        program = f"{self.client.program.name}/{self.client.program.version}"
        return Web(
            self.to,
            self.headers,
            server=self.server,
            limits=self.limits,
            tls=self._tls,
            proxy=self._proxy,
            program=program,
            authorizer=self.authorizer,
        )


def _load_transports() -> None:
    """Load aiohttp, which takes up to half a second: on the event loop it would hold up every other server."""
    import mooring.wire.http.sse
    import mooring.wire.http.streamable  # noqa: F401 - loading is all that is wanted
