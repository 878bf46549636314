"""Connections to one server over HTTP: made when they are needed, and kept for the next request."""

import socket
import ssl
from collections.abc import Mapping

import aiohttp
from aiohttp import AddrInfoType, StreamReader
from yarl import URL

from mooring.core.protocol.limits import Limits
from mooring.wire.http.address import Address
from mooring.wire.http.aiohttp_internals import AnswerHead, Connection, Connector, discard, exchange, keep_after_body
from mooring.wire.http.post import JSON

KEPT_FOR = 4.0
"""Seconds after which an idle connection is not used again: uvicorn and Node close theirs after 5, and a call that is
sent at that moment is lost without anybody knowing whether it ran."""

_READ = 64 * 1024
_UNKNOWN = "application/octet-stream"


class HttpAnswer:
    """The head of an answer, its body yet to come."""

    def __init__(self, method: str, message: AnswerHead, content: StreamReader, connection: Connection) -> None:
        self.method = method
        self.status = message.code
        self.reason = message.reason
        self.headers = message.headers
        self.content = content
        self._connection = connection
        keep_after_body(connection, content)

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
        discard(self._connection)


class Connections(Connector):
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
        connector = _make_connector(address, tls)
        super().__init__(connector, address.url, headers, seconds=limits.connect, proxy=proxy, program=program)
        self._is_relayed = proxy is not None and not address.secure

    async def send(self, method: str, url: URL, headers: Mapping[str, str], body: bytes | None) -> HttpAnswer:
        """Send a request; returns the head of its answer. Raises: what aiohttp raises, and OSError."""
        connection = await self.connect()
        try:
            head = self._make_head(method, url, headers, body)
            message, content = await exchange(connection, head + (body or b""), self._limits)
        except BaseException:
            discard(connection)
            raise
        return HttpAnswer(method, message, content, connection)

    def _make_head(self, method: str, url: URL, headers: Mapping[str, str], body: bytes | None) -> bytes:
        all_headers = self.headers.copy()
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
