"""HTTP to one origin, with its cookies and within budgets: whatever goes wrong comes out as one of our own errors.

A load balancer needs cookies to find the machine that a session lives on. `Domain` can only narrow where a cookie goes,
never widen it.
"""

import re
import ssl
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from math import inf
from time import time
from typing import Protocol

import aiohttp
from msgspec import Struct
from multidict import CIMultiDict
from yarl import URL

from mooring.core.protocol.limits import Limits
from mooring.core.protocol.request_metadata import check_headers
from mooring.errors import ConnectError, HttpError, ProtocolError, ServerDied, ServerError, TlsError, TooLarge
from mooring.wire.http.address import Address
from mooring.wire.http.aiohttp_internals import HttpProcessingError
from mooring.wire.http.body import ENCODINGS, Body, release
from mooring.wire.http.challenge import Challenge, parse_challenge
from mooring.wire.http.connections import KEPT_FOR, Connections, HttpAnswer
from mooring.wire.http.refusal import describe_error, first_line


class Authorizer(Protocol):
    """The login at one server. Requests go through it only while it is `in_use`, so that no other pays for it."""

    in_use: bool

    async def authorize(self, method: str, url: str) -> Mapping[str, str]:
        """The headers that a request needs. Raises: ServerError if none can be had now."""

    def note(self, url: str, headers: Mapping[str, str]) -> None:
        """Look at what an answer says about the next request."""

    async def renew(self, sent: Mapping[str, str], challenge: Challenge) -> bool:
        """After a request with these headers was refused: whether it is worth sending once more."""


_REDIRECTS = (301, 302, 303, 307, 308)
_KEEPS_METHOD = (307, 308)
_HOPS = 5
_REFUSED = (401, 403)
"""With these, a server says that a request needs a login, or another one."""
_WORDS = 64 * 1024
"""So much of a refusal is read: enough for any reason it gives."""
_KEPT_AT_MOST = 60.0


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
        authorizer: Authorizer | None = None,
    ) -> None:
        self.url = URL(address.url)
        self.limits = limits
        self.server = server
        defaults = _make_defaults(program, headers)
        self._cookies = Cookies(defaults.get("Cookie", ""))
        self._connections = Connections(address, defaults, limits=limits, tls=tls, proxy=proxy, program=program)
        self._keep_alive = ""
        self._authorizer = authorizer

    async def request(
        self,
        method: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        url: URL | None = None,
        *,
        private: bool = False,
    ) -> HttpAnswer:
        """Send a request; returns the head of the answer, its body yet to come.

        Redirects are followed inside the origin, never out of it. A `private` request has headers of its own: cookies
        that the server answers it with are not kept, because they would go out with the requests of others.

        Raises: ConnectError, ServerDied, ProtocolError, HttpError.
        """
        url = url or self.url
        authorizer = self._authorizer
        if private and _sends_login(headers):
            # Whoever made this call said who they are.
            authorizer = None
        for _ in range(_HOPS):
            if authorizer is None:
                response = await self._request_once(method, url, headers, body, private)
            else:
                response = await self._request_authorized(authorizer, method, url, headers, body, private)
            if response.status not in _REDIRECTS:
                return response
            response.close()
            url = self._find_target(response, method, url)
        raise HttpError(self.server, response.status, "it redirects endlessly")

    def open_body(self, response: HttpAnswer, limit: float | None = None) -> Body:
        """What follows the head, decompressed; at most a line's budget unless `limit` says otherwise."""
        return Body(response, self.server, self.limits, self.limits.line if limit is None else limit)

    async def read_all(self, response: HttpAnswer) -> bytes:
        """All that follows the head. Raises: TooLarge, ServerDied, ProtocolError."""
        try:
            length = response.content_length
            if length is not None and length > self.limits.line:
                raise TooLarge(self.server, self.limits.line)
            body = self.open_body(response)
            whole = await body.read()
            # Nearly always true: then there is nothing to wait for or to join.
            if response.content.at_eof():
                return whole
            pieces = [whole]
            while piece := await body.read():
                pieces.append(piece)
            return b"".join(pieces)
        finally:
            release(response)

    async def read_beginning(self, response: HttpAnswer) -> bytes:
        """The first words of what follows the head of a refusal, whatever they are."""
        pieces: list[bytes] = []
        size = 0
        body = self.open_body(response, 16 * _WORDS)
        try:
            while size < _WORDS and (piece := await body.read()):
                pieces.append(piece)
                size += len(piece)
        except ServerError:
            pass  # the status already says what matters
        finally:
            release(response)
        return b"".join(pieces)

    async def close(self) -> None:
        await self._connections.close()

    async def _request_authorized(
        self,
        authorizer: Authorizer,
        method: str,
        url: URL,
        headers: Mapping[str, str],
        body: bytes | None,
        private: bool,
    ) -> HttpAnswer:
        """Send a request with the login in it; if it is refused, once more if the login could be renewed."""
        # Most servers need no login, and their requests are not to pay for one.
        has_login = authorizer.in_use
        sent = await authorizer.authorize(method, str(url)) if has_login else {}
        response = await self._request_once(method, url, {**headers, **sent}, body, private)
        if has_login:
            authorizer.note(str(url), response.headers)
        if response.status not in _REFUSED:
            return response
        challenge = parse_challenge(response.headers.getall("WWW-Authenticate", ()))
        if not await authorizer.renew(sent, challenge):
            return response
        response.close()
        renewed = await authorizer.authorize(method, str(url))
        return await self._request_once(method, url, {**headers, **renewed}, body, private)

    async def _request_once(
        self, method: str, url: URL, headers: Mapping[str, str], body: bytes | None, private: bool
    ) -> HttpAnswer:
        if self._cookies:
            headers = {**headers, "Cookie": self._cookies.header(url)}
        try:
            response = await self._connections.send(method, url, headers, body)
        except (aiohttp.ClientError, HttpProcessingError, OSError) as error:
            raise self._translate(method, error) from error
        if "Set-Cookie" in response.headers and not private:
            self._cookies.take(response.headers.getall("Set-Cookie"), url)
        if (keep_alive := response.headers.get("Keep-Alive", "")) != self._keep_alive:
            self._keep_alive = keep_alive
            self._connections.set_idle_limit(_parse_keep_alive(keep_alive))
        return response

    def _translate(self, method: str, error: Exception) -> ServerError:
        """Our error for one of aiohttp's. The order matters: each is a special case of a later one."""
        match error:
            case aiohttp.ClientConnectorSSLError() | aiohttp.ClientConnectorCertificateError():
                return TlsError(self.server, describe_error(error))
            case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError() | aiohttp.ClientHttpProxyError():
                return ConnectError(self.server, describe_error(error))
            case aiohttp.ClientResponseError() | HttpProcessingError():
                reason = f"its answer is not valid HTTP, or its headers are too large: {first_line(error.message)}"
                return ProtocolError(self.server, reason)
            case _:
                # A POST may have arrived before the connection broke.
                may_have_run = method == "POST"
                cause = describe_error(error)
                return ServerDied(self.server, f"a {method}", may_have_run=may_have_run, cause=cause)

    def _find_target(self, response: HttpAnswer, method: str, url: URL) -> URL:
        """Where a redirect leads. Raises: HttpError where it must not be followed."""
        location = response.headers.get("Location", "")
        try:
            target = url.join(URL(location)).with_fragment(None)
            leaves_origin = target.origin() != url.origin()  # raises for `mailto:` and the like
        except (ValueError, TypeError) as error:
            raise HttpError(self.server, response.status, "it redirects to something that is not a URL") from error
        shown = target.with_user(None).with_query(None)
        # The headers were meant for this origin: a token must not follow to another.
        if leaves_origin:
            reason = (
                f"it redirects to another origin, {shown}, which was not followed; use that URL if it is the right one"
            )
            raise HttpError(self.server, response.status, reason)
        # With the other statuses, HTTP lets a client make a GET of it, without its body.
        if method != "GET" and response.status not in _KEEPS_METHOD:
            raise HttpError(self.server, response.status, f"it redirects a {method} to {shown}; use that URL")
        return target


def _sends_login(headers: Mapping[str, str]) -> bool:
    return any(name.lower() == "authorization" for name in headers)


def _make_defaults(program: str, headers: Mapping[str, str]) -> CIMultiDict[str]:
    """The headers of every request, from the definition; how the body is encoded is for us alone to say."""
    defaults = CIMultiDict({"User-Agent": program})
    defaults.update(check_headers(headers))
    defaults["Accept-Encoding"] = ENCODINGS
    defaults.popall("Content-Type", None)
    return defaults


def _parse_keep_alive(value: str) -> float:
    """How long to keep an idle connection: a second less than the server says that it does, for the way there."""
    found = re.search(r"(?i)\btimeout=(\d{1,6})\b", value)
    if found is None:
        return KEPT_FOR
    return max(0.0, min(float(found[1]) - 1, _KEPT_AT_MOST))


MOST = 50
ROOM = 8 * 1024
"""Names and values of all of them together: about what a server takes in one header field."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e, \"]*")
"""Wider than RFC 6265 by comma, space and quote; without whatever could be read as another cookie or header."""


class Cookie(Struct, frozen=True):
    """One cookie, and how long and where it is given back."""

    name: str
    value: str
    path: str
    until: float

    def __len__(self) -> int:
        return len(self.name) + len(self.value)

    def goes_to(self, path: str, now: float) -> bool:
        """Whether it is given back to this path, which must be its own or below it."""
        if now >= self.until:
            return False
        folder = self.path if self.path.endswith("/") else f"{self.path}/"
        return path == self.path or path.startswith(folder)


class Cookies:
    """The cookies of one origin, beside `own`, which is what the person put into a Cookie header."""

    def __init__(self, own: str = "") -> None:
        self._own = own
        self._kept: dict[tuple[str, str], Cookie] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, fields: Iterable[str], url: URL) -> None:
        """Keep what an answer's `Set-Cookie` fields say. The oldest make room; what cannot be kept is skipped."""
        for field in fields:
            cookie = _parse_cookie(field, url)
            if cookie is not None:
                self._store(cookie)
        while len(self._kept) > MOST or sum(map(len, self._kept.values())) > ROOM:
            oldest = next(iter(self._kept))
            del self._kept[oldest]

    def header(self, url: URL) -> str:
        """The value of the Cookie header for this URL, the longest path first, as RFC 6265 (5.4) has it."""
        now = time()
        found = [cookie for cookie in self._kept.values() if cookie.goes_to(url.raw_path, now)]
        found.sort(key=lambda cookie: -len(cookie.path))
        pairs = [f"{cookie.name}={cookie.value}" for cookie in found]
        if self._own:
            pairs.insert(0, self._own)
        return "; ".join(pairs)

    def _store(self, cookie: Cookie) -> None:
        key = cookie.name, cookie.path
        # Also where the new one is not kept: a cookie that is over is how a server deletes one.
        self._kept.pop(key, None)
        if cookie.until > time() and len(cookie) <= ROOM:
            self._kept[key] = cookie


def _parse_cookie(field: str, url: URL) -> Cookie | None:
    pair, *rest = field.split(";")
    name, equals, value = (part.strip(" \t") for part in pair.partition("="))
    if not equals or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        return None
    attributes = dict(map(_parse_attribute, rest))
    if not _may_be_set(attributes, url):
        return None
    path = attributes.get("path", "")
    if not path.startswith("/"):
        path = url.raw_path.rpartition("/")[0] or "/"
    return Cookie(name, value, path, _expiry(attributes))


def _parse_attribute(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name.strip().lower(), value.strip()


def _may_be_set(attributes: dict[str, str], url: URL) -> bool:
    if "secure" in attributes and url.scheme != "https":
        return False
    host, domain = url.raw_host or "", attributes.get("domain", "").lower().removeprefix(".")
    return not domain or host == domain or host.endswith(f".{domain}")


def _expiry(attributes: dict[str, str]) -> float:
    """When it is over; an attribute that makes no sense is ignored. `Max-Age` wins over `Expires` (RFC 6265, 5.3)."""
    age = attributes.get("max-age", "")
    if re.fullmatch(r"-?\d{1,12}", age):
        return time() + int(age)
    try:
        return parsedate_to_datetime(attributes["expires"]).timestamp()
    except (KeyError, ValueError, OverflowError):
        return inf
