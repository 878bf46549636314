"""HTTP for logins: bounded, and never to an address that the MCP server itself could not be at.

A server chooses the URLs that a login goes to. Without care it could have us ask whatever this machine can reach: its
own services, the router, the metadata service of a cloud. So every request of a login goes through here, and addresses
are checked where a connection is made, after names were resolved.
"""

import asyncio
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from mooring.auth.oauth.exchange import LoginReply, LoginRequest, hide_query
from mooring.auth.oauth.metadata import check_url, find_origin, is_loopback
from mooring.errors import LoginFailed
from mooring.wire.http.address import Address
from mooring.wire.http.network import Network, Options
from mooring.wire.http.reach import AddressKind, find_address_kind, look_up_addresses, make_resolver, parse_ip

if TYPE_CHECKING:
    import aiohttp

SECONDS = 30.0
"""For one request, redirects included: less than the lock of a credential is held for."""
MAX_BODY = 1024 * 1024
_HOPS = 3
_REDIRECTS = (301, 302, 303, 307, 308)


class Fetcher:
    """Sends the requests of the logins at one server. Use it as a context manager, in a running loop."""

    def __init__(
        self,
        server_url: str,
        network: Network | None = None,
        options: Options | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._server_url = server_url
        self._seconds = seconds
        self._network = network or Network()
        self._options = options or Options()
        self._reach = _Reach(server_url)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> "Fetcher":
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def send(self, request: LoginRequest) -> LoginReply:
        """The answer to a request. Raises: LoginFailed."""
        import aiohttp  # lazy: half a second, and only logins get here

        try:
            async with asyncio.timeout(self._seconds):
                return await self._follow(request)
        except TimeoutError:
            raise LoginFailed(f"{hide_query(request.url)} did not answer within {self._seconds:g} seconds") from None
        except _Unreachable as error:
            raise LoginFailed(str(error)) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self._translate(request, error) from None

    def _translate(self, request: LoginRequest, error: Exception) -> LoginFailed:
        """Our error for one of aiohttp's, which may have wrapped ours."""
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, _Unreachable):
            cause = cause.__cause__ or getattr(cause, "os_error", None)
        if cause is not None:
            return LoginFailed(str(cause))
        from mooring.wire.http.refusal import describe_error

        return LoginFailed(f"{hide_query(request.url)} could not be reached: {describe_error(error)}")

    async def _follow(self, request: LoginRequest) -> LoginReply:
        url = request.url
        for _ in range(_HOPS):
            reply = await self._send_once(request, url)
            location = reply.headers.get("location", "")
            if reply.status not in _REDIRECTS or not location:
                return reply
            target = urljoin(url, location)
            # A body holds codes and secrets: it goes where it was meant to go, and nowhere else.
            if request.method != "GET" or find_origin(target) != find_origin(url):
                raise LoginFailed(f"{hide_query(url)} redirects to {hide_query(target)[:200]}, which was not followed")
            url = target
        raise LoginFailed(f"{hide_query(request.url)} redirects too often")

    async def _send_once(self, request: LoginRequest, url: str) -> LoginReply:
        check_url(url, self._server_url)
        await self._reach.look_up()
        session = await self._open()
        proxy = self._network.proxy(Address(url), self._options)
        if proxy is not None:
            self._reach.check_name(url)
        async with session.request(
            request.method,
            url,
            data=request.body,
            headers=request.headers,
            allow_redirects=False,
            proxy=proxy,
        ) as answer:
            headers = _join_headers(answer.headers)
            body = b"" if request.head_only else await _read(answer, url)
            if request.head_only:
                answer.close()
            return LoginReply(answer.status, headers, body)

    async def _open(self) -> "aiohttp.ClientSession":
        import aiohttp

        if self._session is None:
            tls = await self._network.tls(self._options)
            connector = aiohttp.TCPConnector(
                ssl=True if tls is None else tls,
                resolver=make_resolver(self._reach.resolve),
                socket_factory=self._make_socket,
                # One request after the other to servers of different people: nothing is kept.
                force_close=True,
            )
            jar = aiohttp.DummyCookieJar()
            # Nothing is decompressed: a few kilobytes could become gigabytes before anybody counts them.
            headers = {"User-Agent": "mooring", "Accept-Encoding": "identity"}
            self._session = aiohttp.ClientSession(
                connector=connector, cookie_jar=jar, headers=headers, auto_decompress=False
            )
        return self._session

    def _make_socket(self, to: Any) -> socket.socket:
        """A socket for one address, at the last moment before it is connected: names cannot change any more."""
        family, kind, protocol, _, address = to
        self._reach.check(str(address[0]))
        return socket.socket(family, kind, protocol)


class _Unreachable(OSError):
    """An address that this login must not go to."""


class _Reach:
    """Which addresses may be contacted: those of the whole world, and those that the MCP server's own are like."""

    def __init__(self, server_url: str) -> None:
        self._host = urlsplit(server_url).hostname or ""
        self._is_loopback = is_loopback(server_url)
        self._allowed: frozenset[AddressKind] | None = None
        self._addresses: dict[str, list[tuple[int, str]]] = {}

    async def look_up(self) -> None:
        """Find out, once for the whole login, where the server itself is."""
        if self._allowed is None:
            self._allowed = await self._find_allowed()

    async def _find_allowed(self) -> frozenset[AddressKind]:
        if self._is_loopback:
            return frozenset({"global", "loopback"})
        try:
            found = await self.resolve(self._host)
        except OSError:
            # A proxy may know the name; without one, the request fails by itself.
            return frozenset({"global"})
        kinds = {find_address_kind(parse_ip(address)) for _, address in found}
        # With addresses of two kinds, somebody is playing with names. And a name that leads to this machine does not
        # make its server one of this machine: whoever owns the name could choose that.
        is_plain = len(kinds) == 1 and "loopback" not in kinds
        return frozenset({"global", *kinds}) if is_plain else frozenset({"global"})

    async def resolve(self, host: str) -> list[tuple[int, str]]:
        """The addresses of a name: the same for the whole login, so that nobody can change them in between.

        Raises: OSError.
        """
        if host not in self._addresses:
            self._addresses[host] = await look_up_addresses(host)
        return self._addresses[host]

    def check(self, address: str) -> None:
        """Raises: OSError if the address is out of bounds; ValueError if it is none."""
        found = parse_ip(address)
        if find_address_kind(found) not in (self._allowed or ()):
            raise _Unreachable(
                f"the login leads to {found}, an address inside a private network or on this machine, "
                f"where {self._host} itself is not; it was not contacted"
            )

    def check_name(self, url: str) -> None:
        """The same for a request that a proxy makes, as far as the URL itself tells. Raises: OSError."""
        host = urlsplit(url).hostname or ""
        try:
            self.check(host)
        except ValueError:
            if is_loopback(url) and not self._is_loopback:
                raise _Unreachable(f"the login leads to {host}, which is this machine") from None


def _join_headers(headers: Any) -> Mapping[str, str]:
    """The headers, each once: several `WWW-Authenticate` make one, as HTTP allows."""
    joined: dict[str, str] = {}
    for name, value in headers.items():
        key = name.lower()
        joined[key] = f"{joined[key]}, {value}" if key in joined else value
    return joined


async def _read(answer: "aiohttp.ClientResponse", url: str) -> bytes:
    body = await answer.content.read(MAX_BODY + 1)
    pieces = [body]
    size = len(body)
    while body and size <= MAX_BODY:
        body = await answer.content.read(MAX_BODY + 1 - size)
        pieces.append(body)
        size += len(body)
    if size > MAX_BODY:
        answer.close()
        raise LoginFailed(f"{hide_query(url)} answered with more than {MAX_BODY // 1024:,} KiB")
    return b"".join(pieces)
