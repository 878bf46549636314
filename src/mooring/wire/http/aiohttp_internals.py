"""All that is used of aiohttp beyond its documentation. `tests/wire/test_aiohttp_internals.py` pins each part of it.

The client's side does without `ClientSession`, which takes twice the CPU of a whole call of 100 bytes. The server's
side is told of its connections.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import aiohttp
from aiohttp import BaseConnector, ClientRequest, StreamReader
from aiohttp.connector import Connection as Connection
from aiohttp.http import HttpProcessingError as HttpProcessingError  # for whoever catches what `exchange` raises
from aiohttp.http import RawResponseMessage
from multidict import CIMultiDict
from yarl import URL

from mooring.core.protocol.limits import Limits

if TYPE_CHECKING:
    from aiohttp import web
AnswerHead: TypeAlias = RawResponseMessage


class Connector:
    """Makes connections to one origin, and keeps them for the next request. Made inside a running loop."""

    def __init__(
        self,
        connector: BaseConnector,
        url: str,
        headers: Mapping[str, str],
        *,
        seconds: float,
        proxy: str | None,
        program: str,
    ) -> None:
        self._connector = connector
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=seconds)
        # What a connection is made for. Only the tunnel through a proxy is ever asked for in its name: the headers for
        # the server, and the token among them, stay inside that tunnel.
        self._pattern = ClientRequest(
            "GET",
            URL(url),
            headers=CIMultiDict(headers),
            loop=asyncio.get_running_loop(),
            proxy=None if proxy is None else URL(proxy),
            proxy_headers={"User-Agent": program},
        )

    @property
    def headers(self) -> CIMultiDict[str]:
        """Those of every request, with what HTTP adds to them."""
        return self._pattern.headers

    async def connect(self) -> Connection:
        """Raises: aiohttp.ClientError, OSError."""
        try:
            return await self._connector.connect(self._pattern, [], self._timeout)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError("it took too long to connect") from error

    def set_idle_limit(self, seconds: float) -> None:
        """Use no connection again that was idle for so long."""
        # aiohttp takes this only when a connector is made, which is before the server has said anything.
        self._connector._keepalive_timeout = seconds

    async def close(self) -> None:
        await self._connector.close()


async def exchange(connection: Connection, request: bytes, limits: Limits) -> tuple[AnswerHead, StreamReader]:
    """Send a request; returns the head of its answer, and where its body comes.

    Raises: aiohttp.ClientError, HttpProcessingError, OSError.
    """
    protocol, transport = connection.protocol, connection.transport
    if protocol is None or transport is None:
        raise aiohttp.ServerDisconnectedError
    protocol.set_response_params(
        read_until_eof=True,
        # Decompressing is up to `Body`, which stops at its budget: a bomb of 300 KB holds 300 MB.
        auto_decompress=False,
        max_line_size=limits.header,
        max_field_size=limits.header,
        max_headers=limits.headers,
    )
    transport.write(request)
    message, content = await protocol.read()
    # A server may say that it is at work (102) or what will follow (103) before it answers.
    while 100 <= message.code < 200:
        message, content = await protocol.read()
    return message, content


def keep_after_body(connection: Connection, content: StreamReader) -> None:
    """Use a connection again once the body of its answer is read."""

    def end() -> None:
        if _has_unsent(connection):
            # The server answered before it had read everything. What is left would stand before the next request.
            discard(connection)
        else:
            connection.release()

    content.on_eof(end)


def discard(connection: Connection) -> None:
    """Close a connection and forget what it has not sent: a server that no longer reads would keep it open."""
    if connection.protocol is not None and _has_unsent(connection):
        connection.protocol.abort()
    connection.close()


def _has_unsent(connection: Connection) -> bool:
    transport = connection.transport
    return transport is not None and transport.get_write_buffer_size() > 0


def make_server(
    handler: Any,
    note_made: Callable[["web.RequestHandler", asyncio.Transport], None],
    note_lost: Callable[["web.RequestHandler"], None],
) -> "web.Server":
    """A server that tells of each connection when it is made and when it is lost."""
    from aiohttp import web  # lazy: most only are clients

    class Server(web.Server):
        def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
            super().connection_made(handler, transport)
            note_made(handler, transport)

        def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
            note_lost(handler)
            super().connection_lost(handler, exc)

    return Server(handler, handler_cancellation=True, auto_decompress=False, access_log=None, lingering_time=0)
