"""A session with a server behind a URL: the way there, the transport and the era are all found out here."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec.structs import replace

from mooring.core.hello import EraName
from mooring.core.limits import Limits
from mooring.errors import HttpError
from mooring.wire.http.network import Address, Network, Options, address, checked
from mooring.wire.rpc.transport import Transport
from mooring.wire.session.client import Client
from mooring.wire.session.negotiate import negotiate
from mooring.wire.session.session import Session

if TYPE_CHECKING:
    from mooring.wire.http.web import Web

Kind: TypeAlias = Literal["auto", "http", "sse"]
"""`auto` is streamable HTTP, and the older SSE only where a server refuses that."""

_OLDER = (400, 404, 405, 406, 415)
"""What a server answers to a POST that it has no place for."""


async def open_url(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    client: Client | None = None,
    limits: Limits | None = None,
    transport: Kind = "auto",
    server: str | None = None,
    options: Options | None = None,
    network: Network | None = None,
    known: EraName | None = None,
) -> Session:
    """Connect to a server behind a URL and list its tools, all within `Limits.connect`.

    `server` is what to call it in errors; `known` the era it was found to be of before. Whoever opens many gives
    all of them one `network`.

    Raises: ConfigError, ServerError.
    """
    to = address(url)
    way = _Way(to, checked(headers or {}), client or Client(), limits or Limits(), server or to.name)
    await way.prepare(network or Network(), options or Options())
    match transport:
        case "http":
            return await way.http(known)
        case "sse":
            return await way.sse_or_http(known)
        case "auto":
            return await way.http_or_sse(known)


class _Way:
    """One attempt to reach one server, with the time that is left for it."""

    def __init__(self, to: Address, headers: dict[str, str], client: Client, limits: Limits, server: str) -> None:
        self._to = to
        self._headers = headers
        self._client = client
        self._limits = limits
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._until = self._loop.time() + limits.connect

    async def prepare(self, network: Network, options: Options) -> None:
        """What takes a while is done beside the event loop."""
        self._proxy = network.proxy(self._to, options)
        self._tls = await network.tls(options) if self._to.secure else None
        await asyncio.to_thread(_load)

    async def http(self, known: EraName | None) -> Session:
        async def start() -> Transport:
            from mooring.wire.http.streamable import HttpTransport

            return HttpTransport(self._web(), server=self._server, limits=self._limits)

        return await self._negotiate(start, known)

    async def sse(self) -> Session:
        async def start() -> Transport:
            from mooring.wire.http.sse import SseTransport

            sse = SseTransport(self._web(), server=self._server, limits=self._limits)
            opened = False
            try:
                await sse.open()
                opened = True
            finally:
                if not opened:
                    sse.close()
                    await sse.gone()
            return sse

        return await self._negotiate(start, "handshake")

    async def http_or_sse(self, known: EraName | None) -> Session:
        from mooring.wire.http.sse import NoStream

        try:
            return await self.http(known)
        except HttpError as error:
            if error.status not in _OLDER:
                raise
            refused = error
        try:
            return await self.sse()
        except NoStream:
            # What it said to the newer way is the better explanation.
            raise refused from None

    async def sse_or_http(self, known: EraName | None) -> Session:
        from mooring.wire.http.sse import NoStream

        try:
            return await self.sse()
        except NoStream as none:
            refused = none.error
        try:
            session = await self.http(known)
        except HttpError:
            raise refused from None
        session.oddities.remark(f"{self._server} is configured as sse, but speaks streamable HTTP: change its type.")
        return session

    async def _negotiate(self, start: Callable[[], Awaitable[Transport]], known: EraName | None) -> Session:
        left = max(0.001, self._until - self._loop.time())
        limits = replace(self._limits, connect=left)
        return await negotiate(start, server=self._server, client=self._client, limits=limits, known=known)

    def _web(self) -> "Web":
        from mooring.wire.http.web import Web

        program = f"{self._client.program.name}/{self._client.program.version}"
        return Web(
            self._to,
            self._headers,
            server=self._server,
            limits=self._limits,
            tls=self._tls,
            proxy=self._proxy,
            program=program,
        )


def _load() -> None:
    pass
