"""HTTP to one origin, within budgets: whatever goes wrong comes out as one of our own errors."""

import socket
import ssl
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import inf
from os import strerror
from time import time

import aiohttp
from aiohttp import AddrInfoType, BytesPayload, ClientResponse
from msgspec import DecodeError
from multidict import CIMultiDict
from yarl import URL

from mooring.core.limits import Limits
from mooring.core.raw import read
from mooring.errors import ConnectError, HttpError, NeedsLogin, ProtocolError, ServerDied, ServerError, TooLarge
from mooring.wire.http.challenge import parse
from mooring.wire.http.cookies import Cookies
from mooring.wire.http.inflate import Bomb, Inflate, Unknown
from mooring.wire.http.network import Address, checked

EVENTS = "text/event-stream"
JSON = "application/json"

_REDIRECTS = (301, 302, 303, 307, 308)
_HOPS = 5
_UNDONE = frozenset({400, 401, 402, 403, 404, 405, 406, 407, 411, 413, 414, 415, 421, 426, 428, 429, 431})
"""Whoever answers so has done nothing."""
_READ = 64 * 1024
_WORDS = 64 * 1024
_SHOWN = 200
_ENCODINGS = "gzip, deflate"


class Web:
    """Requests to one server, over connections that are kept. Made inside a running loop."""

    def __init__(
        self,
        address: Address,
        headers: Mapping[str, str],
        *,
        server: str,
        limits: Limits,
        tls: ssl.SSLContext | None = None,
        proxy: str | None = None,
        program: str = "mooring",
    ) -> None:
        self.url = URL(address.url)
        self.limits = limits
        self._server = server
        self._proxy = proxy
        defaults = _defaults(program, headers)
        self._cookies = Cookies(defaults.get("Cookie", ""))
        # aiohttp says its defaults to a proxy too, which is not to know what is meant for the server.
        self._unsaid = None if proxy is None else defaults
        self._to_proxy = {"User-Agent": program}
        self._client = aiohttp.ClientSession(
            connector=_connector(address, tls),
            headers=defaults if proxy is None else None,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=limits.connect),
            auto_decompress=False,
            max_line_size=limits.header,
            max_field_size=limits.header,
            max_headers=limits.headers,
        )

    async def ask(
        self, method: str, headers: Mapping[str, str], body: bytes | None = None, url: URL | None = None
    ) -> ClientResponse:
        """The head of an answer; its body is yet to come. Redirects are followed inside the origin, no further.

        Raises: ConnectError, ServerDied, ProtocolError, HttpError.
        """
        url = url or self.url
        for _ in range(_HOPS):
            response = await self._ask_once(method, url, headers, body)
            if response.status not in _REDIRECTS:
                return response
            response.close()
            url = self._redirected(response, method, url)
        raise HttpError(self._server, response.status, "it redirects without end")

    def body(self, response: ClientResponse, limit: float | None = None) -> "Body":
        """What follows the head, decompressed."""
        return Body(response, self._server, self.limits, self.limits.line if limit is None else limit)

    async def whole(self, response: ClientResponse) -> bytes:
        """All that follows the head. Raises: TooLarge, ServerDied, ProtocolError."""
        try:
            length = response.content_length
            if length is not None and length > self.limits.line:
                raise TooLarge(self._server, self.limits.line)
            body = self.body(response)
            whole = await body.read()
            if response.content.at_eof():
                return whole
            pieces = [whole]
            while piece := await body.read():
                pieces.append(piece)
            return b"".join(pieces)
        finally:
            leave(response)

    async def beginning(self, response: ClientResponse) -> bytes:
        """The first words of what follows the head of a refusal, whatever they are."""
        pieces: list[bytes] = []
        body = self.body(response, 16 * _WORDS)
        try:
            while sum(map(len, pieces)) < _WORDS and (piece := await body.read()):
                pieces.append(piece)
        except ServerError:
            pass
        finally:
            leave(response)
        return b"".join(pieces)

    def refusal(self, response: ClientResponse, words: bytes) -> ServerError:
        """What a status that is no answer means."""
        status = response.status
        challenge = parse(response.headers.getall("WWW-Authenticate", ()))
        if status == 401 or (status == 403 and challenge["error"] == "insufficient_scope"):
            return NeedsLogin(
                self._server,
                status,
                scheme=challenge.scheme,
                resource_metadata=challenge["resource_metadata"],
                scope=challenge["scope"],
                error=challenge["error"],
                description=challenge["error_description"],
            )
        return HttpError(
            self._server,
            status,
            _gist(response, words),
            may_have_run=status not in _UNDONE,
            retry_after=_retry_after(response.headers.get("Retry-After", "")),
        )

    async def close(self) -> None:
        await self._client.close()

    async def _ask_once(self, method: str, url: URL, headers: Mapping[str, str], body: bytes | None) -> ClientResponse:
        data = None if body is None else BytesPayload(body, content_type=JSON)
        if self._cookies:
            headers = {**headers, "Cookie": self._cookies.header(url)}
        try:
            response = await self._client.request(
                method,
                url,
                headers=headers if self._unsaid is None else _merged(self._unsaid, headers),
                data=data,
                allow_redirects=False,
                proxy=self._proxy,
                proxy_headers=self._to_proxy,
            )
        except (
            aiohttp.ClientConnectorError,
            aiohttp.ConnectionTimeoutError,
            aiohttp.ClientProxyConnectionError,
        ) as error:
            raise ConnectError(self._server, _words_of(error)) from error
        except aiohttp.ClientHttpProxyError as error:
            raise ConnectError(self._server, _refusal_of_proxy(error.status)) from error
        except aiohttp.ClientResponseError as error:
            reason = f"its answer is no HTTP, or its head is over the budget: {_first_line(error.message)}"
            raise ProtocolError(self._server, reason) from error
        except (aiohttp.ClientError, OSError) as error:
            raise self._died(method, error) from error
        if "Set-Cookie" in response.headers:
            self._cookies.take(response.headers.getall("Set-Cookie"), url)
        return response

    def _died(self, method: str, error: BaseException) -> ServerDied:
        return ServerDied(self._server, f"a {method}", may_have_run=method == "POST", cause=_words_of(error))

    def _redirected(self, response: ClientResponse, method: str, url: URL) -> URL:
        location = response.headers.get("Location", "")
        try:
            target = url.join(URL(location)).with_fragment(None)
        except ValueError as error:
            raise HttpError(self._server, response.status, "it redirects to no URL") from error
        shown = target.with_user(None).with_query(None)
        if target.origin() != url.origin():
            reason = f"it redirects to another origin, {shown}, which was not followed; use that URL if it is meant"
            raise HttpError(self._server, response.status, reason)
        if method != "GET" and response.status not in (307, 308):
            raise HttpError(self._server, response.status, f"it redirects a {method} to {shown}; use that URL")
        return target


class Body:
    """What follows the head of an answer, piece by piece, decompressed; never more than `limit` bytes."""

    def __init__(self, response: ClientResponse, server: str, limits: Limits, limit: float) -> None:
        self._response = response
        self._server = server
        self._limits = limits
        self._limit = limit
        self._came = 0
        encoding = response.headers.get("Content-Encoding", "").strip().lower()
        self._encoding = "" if encoding == "identity" else encoding
        self._inflate: Inflate | None = None

    async def read(self) -> bytes:
        """The next piece, empty at the end. Raises: TooLarge, ServerDied, ProtocolError."""
        while True:
            piece = await self._piece()
            if not self._encoding:
                break
            made = self._inflated(piece)
            if made or not piece:
                return made
        self._came += len(piece)
        if self._came > self._limit:
            raise self._too_large()
        return piece

    async def _piece(self) -> bytes:
        try:
            return await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            what = f"a {self._response.method}"
            raise ServerDied(self._server, what, may_have_run=True, cause=_words_of(error)) from error

    def _inflated(self, piece: bytes) -> bytes:
        try:
            if self._inflate is None:
                self._inflate = Inflate(self._encoding, self._limit, self._limits.inflation)
            return self._inflate.feed(piece)
        except Bomb:
            raise self._too_large() from None
        except Unknown as error:
            self._response.close()
            raise ProtocolError(self._server, f"its answer is compressed in a way not asked for: {error}") from error

    def _too_large(self) -> TooLarge:
        self._response.close()
        limit = self._limits.line if self._limit == inf else self._limit
        return TooLarge(self._server, int(limit))


def leave(response: ClientResponse) -> None:
    """Have done with an answer: its connection is kept if it was read to its end, else closed."""
    if not response.content.at_eof():
        response.close()


def _defaults(program: str, headers: Mapping[str, str]) -> CIMultiDict[str]:
    """What every request says; what is sent is for us alone to describe."""
    defaults = CIMultiDict({"User-Agent": program})
    defaults.update(checked(headers))
    defaults["Accept-Encoding"] = _ENCODINGS
    defaults.popall("Content-Type", None)
    return defaults


def _connector(address: Address, tls: ssl.SSLContext | None) -> aiohttp.BaseConnector:
    # How many are under way at once is decided above: what answers a server must never wait for a connection.
    if address.socket:
        return aiohttp.UnixConnector(address.socket, limit=0)
    # aiohttp makes a context with the system's authorities when it is imported: the one for whoever wants no other.
    return aiohttp.TCPConnector(limit=0, ssl=True if tls is None else tls, socket_factory=_socket)


class _Socket(socket.socket):
    """Reads no more at once than the heap has room for: the loop's 256 KiB are mapped and cleared for every answer."""

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        return super().recv(min(size, _READ), flags)


def _socket(to: AddrInfoType) -> socket.socket:
    family, kind, protocol, _, _ = to
    return _Socket(family, kind, protocol)


def _merged(defaults: CIMultiDict[str], headers: Mapping[str, str]) -> CIMultiDict[str]:
    merged = defaults.copy()
    merged.update(headers)
    return merged


def _refusal_of_proxy(status: int) -> str:
    if status == 407:
        return "its proxy wants to know who asks; name the proxy as http://USER:PASSWORD@HOST:PORT"
    return f"its proxy answered with HTTP status {status}"


def _retry_after(value: str) -> float | None:
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return None


def _gist(response: ClientResponse, words: bytes) -> str:
    """What a refusal says, in few words."""
    kind = response.content_type
    if kind == JSON and (said := _said(words)):
        return _first_line(said)
    if kind == "text/plain" and (said := _first_line(words.decode("utf-8", "replace"))):
        return said
    return response.reason or "no reason given"


def _said(words: bytes) -> str:
    try:
        found = read(words)
    except DecodeError:
        return ""
    for _ in range(2):
        if isinstance(found, dict):
            found = found.get("error_description") or found.get("message") or found.get("error") or found.get("detail")
    return found if isinstance(found, str) else ""


def _words_of(error: BaseException) -> str:
    """What went wrong, as the system says it."""
    cause = getattr(error, "os_error", None) or error
    if isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError | socket.gaierror) and cause.errno:
        return strerror(cause.errno)
    return _first_line(getattr(cause, "strerror", None) or str(cause) or type(cause).__name__)


def _first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0][:_SHOWN].rstrip(".") if lines else ""
