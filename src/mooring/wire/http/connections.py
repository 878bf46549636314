"""Connections to one server over HTTP: made when they are needed, and kept for the next request.

aiohttp makes them and reads what comes back. Its `ClientSession` is left out: for a call of 100 bytes it takes twice
the CPU of all that is done here. What is used of aiohttp's client beyond its documentation is here alone, pinned
by `tests/wire/test_aiohttp_internals.py`.
"""

import asyncio
import socket
import ssl
from collections.abc import Mapping

import aiohttp
from aiohttp import AddrInfoType, ClientRequest, StreamReader
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError as HttpProcessingError  # for whoever catches what `send` raises
from aiohttp.http import RawResponseMessage
from multidict import CIMultiDict
from yarl import URL

from mooring.core.protocol.limits import Limits
from mooring.wire.http.address import Address
from mooring.wire.http.post import JSON

KEPT_FOR = 4.0
"""Seconds after which an idle connection is not used again: uvicorn and Node close theirs after 5, and a call that is
sent at that moment is lost without anybody knowing whether it ran."""

_READ = 64 * 1024
_UNKNOWN = "application/octet-stream"


class HttpAnswer:
    """The head of an answer, its body yet to come."""

    def __init__(self, method: str, message: RawResponseMessage, content: StreamReader, connection: Connection) -> None:
        self.method = method
        self.status = message.code
        self.reason = message.reason
        self.headers = message.headers
        self.content = content
        self._connection = connection
        content.on_eof(self._end)

    @property
    def content_type(self) -> str:
        """The type of the body, in small letters and without its parameters."""
        kind, _, _ = self.headers.get("Content-Type", "").partition(";")
        return kind.strip().lower() or _UNKNOWN

    @property
    def content_length(self) -> int | None:
        """How many bytes the body has, if that is known beforehand."""
        length = self.headers.get("Content-Length", "")
        return int(length) if length.isascii() and length.isdigit() else None

    def close(self) -> None:
        """Be done with it, whatever is still to come. Does nothing where the body was read to its end."""
        _discard(self._connection)

    def _end(self) -> None:
        if _has_unsent(self._connection):
            # The server answered before it had read everything. What is left would stand before the next request.
            _discard(self._connection)
        else:
            self._connection.release()


class Connections:
    """Sends requests to one origin. Made inside a running loop."""

    def __init__(
        self,
        address: Address,
        headers: Mapping[str, str],
        *,
        limits: Limits,
        tls: ssl.SSLContext | None,
        proxy: str | None,
        program: str,
    ) -> None:
        self._limits = limits
        self._connector = _make_connector(address, tls)
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=limits.connect)
        # What a connection is made for. Only the tunnel through a proxy is ever asked for in its name: the headers for
        # the server, and the token among them, stay inside that tunnel.
        self._pattern = ClientRequest(
            "GET",
            URL(address.url),
            headers=CIMultiDict(headers),
            loop=asyncio.get_running_loop(),
            proxy=None if proxy is None else URL(proxy),
            proxy_headers={"User-Agent": program},
        )
        self._is_relayed = proxy is not None and not address.secure

    async def send(self, method: str, url: URL, headers: Mapping[str, str], body: bytes | None) -> HttpAnswer:
        """Send a request; returns the head of its answer. Raises: what aiohttp raises, and OSError."""
        connection = await self._connect()
        try:
            head = self._make_head(method, url, headers, body)
            message, content = await self._exchange(connection, head + (body or b""))
        except BaseException:
            _discard(connection)
            raise
        return HttpAnswer(method, message, content, connection)

    def set_idle_limit(self, seconds: float) -> None:
        """Use no connection again that was idle for so long."""
        # aiohttp takes this only when a connector is made, which is before the server has said anything.
        self._connector._keepalive_timeout = seconds

    async def close(self) -> None:
        await self._connector.close()

    async def _connect(self) -> Connection:
        try:
            return await self._connector.connect(self._pattern, [], self._timeout)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError("it took too long to connect") from error

    async def _exchange(self, connection: Connection, request: bytes) -> tuple[RawResponseMessage, StreamReader]:
        protocol, transport = connection.protocol, connection.transport
        if protocol is None or transport is None:
            raise aiohttp.ServerDisconnectedError
        protocol.set_response_params(
            read_until_eof=True,
            # Decompressing is up to `Body`, which stops at its budget: a bomb of 300 KB holds 300 MB.
            auto_decompress=False,
            max_line_size=self._limits.header,
            max_field_size=self._limits.header,
            max_headers=self._limits.headers,
        )
        transport.write(request)
        message, content = await protocol.read()
        # A server may say that it is at work (102) or what will follow (103) before it answers.
        while 100 <= message.code < 200:
            message, content = await protocol.read()
        return message, content

    def _make_head(self, method: str, url: URL, headers: Mapping[str, str], body: bytes | None) -> bytes:
        all_headers = self._pattern.headers.copy()
        all_headers.update(headers)
        if body is not None:
            all_headers["Content-Type"] = JSON
            all_headers["Content-Length"] = str(len(body))
        # A proxy that passes requests on in the open is told where to.
        target = str(url.with_user(None)) if self._is_relayed else url.raw_path_qs
        lines = [f"{method} {target} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in all_headers.items()]
        head = "\r\n".join(lines)
        # Every value was checked where it came from; one that got past that would make two headers of one.
        if head.count("\n") != len(all_headers) or head.count("\r") != len(all_headers):
            raise ValueError("a header holds a line break")
        return f"{head}\r\n\r\n".encode()


def _discard(connection: Connection) -> None:
    """Close a connection and forget what it has not sent: a server that no longer reads would keep it open."""
    if connection.protocol is not None and _has_unsent(connection):
        connection.protocol.abort()
    connection.close()


def _has_unsent(connection: Connection) -> bool:
    transport = connection.transport
    return transport is not None and transport.get_write_buffer_size() > 0


def _make_connector(address: Address, tls: ssl.SSLContext | None) -> aiohttp.BaseConnector:
    # Without a limit: how many requests are under way is decided above, and an answer to a server must never wait for
    # a connection.
    if address.socket:
        return aiohttp.UnixConnector(address.socket, limit=0, keepalive_timeout=KEPT_FOR)
    # `True` is the context that aiohttp makes when it is imported, with the system's authorities. A second one costs a
    # tenth of a second.
    context = True if tls is None else tls
    return aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_FOR, ssl=context, socket_factory=_make_socket)


class _Socket(socket.socket):
    """Reads at most 64 KiB at once: asyncio's buffer of 256 KiB is mapped, cleared and unmapped for every answer."""

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        return super().recv(min(size, _READ), flags)


def _make_socket(to: AddrInfoType) -> socket.socket:
    family, kind, protocol, _, _ = to
    return _Socket(family, kind, protocol)
