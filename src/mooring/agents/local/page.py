"""One page of the web, fetched within bounds, from nowhere that its address did not say."""

import asyncio
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from msgspec import Struct

from mooring.core.protocol.limits import Limits
from mooring.errors import ConfigError
from mooring.wire.http.address import Address
from mooring.wire.http.body import DecompressionBomb, Inflate, UnknownEncoding
from mooring.wire.http.network import Network, Options
from mooring.wire.http.reach import (
    AddressKind,
    FoundAddresses,
    find_address_kind,
    look_up_addresses,
    make_resolver,
    parse_ip,
)

if TYPE_CHECKING:
    import aiohttp

SECONDS = 30.0
MAX_BODY = 5 * 1024 * 1024
_HOPS = 5
_PORTS = {"http": 80, "https": 443}
_REDIRECTS = (301, 302, 303, 307, 308)
_HEADERS = {
    "User-Agent": "mooring",
    "Accept": "text/html, text/plain, application/json;q=0.9, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}


class WebAddress(Struct, frozen=True):
    """An address that somebody wants to be read: its host, and where that leads as far as the text itself tells."""

    url: str
    host: str
    kind: AddressKind | None
    """`None` for a name, whose addresses are not known yet."""
    scheme: str = "https"
    port: int | None = None
    """`None` for that of its scheme."""

    @property
    def place(self) -> str:
        """The host, with the port if it is not that of the scheme."""
        if self.port is None:
            return self.host
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        """What an answer is about: the scheme, the host and the port."""
        return f"{self.scheme}://{self.place}"

    @property
    def is_inside(self) -> bool:
        """Whether it names a private network, or this machine."""
        return self.kind not in (None, "global")


class FetchedPage(Struct, frozen=True):
    """What a server answered."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    redirect: str = ""
    """Where it leads, if that is another origin: such an address is a decision of its own."""


def parse_web_address(url: str) -> WebAddress:
    """Read an address. Raises: ConfigError if it is none that may be fetched."""
    try:
        parts = urlsplit(url.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        raise ConfigError("WebFetch: that is not an address.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError("WebFetch: the address must begin with http:// or https:// and name a host.")
    if parts.username or parts.password or "@" in parts.netloc:
        raise ConfigError("WebFetch: an address with a password in it is not fetched.")
    url, host = parts._replace(fragment="").geturl(), host.lower()
    own_port = None if port == _PORTS[parts.scheme] else port
    return WebAddress(url, host, _find_kind(host), parts.scheme, own_port)


def _find_kind(host: str) -> AddressKind | None:
    if host == "localhost" or host.endswith(".localhost"):
        return "loopback"
    if host.endswith((".local", ".internal", ".lan", ".home.arpa")):
        return "private"
    try:
        return find_address_kind(parse_ip(host))
    except ValueError:
        return None


class PageFetcher:
    """Fetches pages for one conversation."""

    def __init__(self, network: Network, options: Options | None = None) -> None:
        self._network = network
        self._options = options or Options()

    async def fetch(self, address: WebAddress) -> FetchedPage:
        """What is at an address. Raises: ConfigError, with the reason."""
        import aiohttp  # lazy: a third of a second, and few conversations fetch anything

        try:
            async with asyncio.timeout(SECONDS):
                return await self._follow(address)
        except TimeoutError:
            raise ConfigError(f"WebFetch: {address.host} did not answer within {SECONDS:g} s.") from None
        except _OutOfReach as error:
            raise ConfigError(f"WebFetch: {error}") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise ConfigError(f"WebFetch: {_explain(error, address.host)}") from None

    async def _follow(self, address: WebAddress) -> FetchedPage:
        reach = _Reach(address)
        async with await self._open(reach) as session:
            url = address.url
            for _ in range(_HOPS):
                page = await self._fetch_once(session, url, reach)
                location = page.headers.get("location", "")
                if page.status not in _REDIRECTS or not location:
                    return page
                target = urljoin(url, location)
                if parse_web_address(target).origin != address.origin:
                    return FetchedPage(page.url, page.status, page.headers, b"", target)
                url = target
        raise ConfigError(f"WebFetch: {address.host} redirects too often.")

    async def _fetch_once(self, session: "aiohttp.ClientSession", url: str, reach: "_Reach") -> FetchedPage:
        proxy = self._network.proxy(Address(url), self._options)
        reach.is_proxied = False
        if proxy is not None:
            await reach.check_for_proxy()
        async with session.get(url, allow_redirects=False, proxy=proxy) as answer:
            headers = {name.lower(): value for name, value in answer.headers.items()}
            if answer.status in _REDIRECTS:
                return FetchedPage(url, answer.status, headers, b"")
            return FetchedPage(url, answer.status, headers, await _read_body(answer))

    async def _open(self, reach: "_Reach") -> "aiohttp.ClientSession":
        import aiohttp

        tls = await self._network.tls(self._options)
        connector = aiohttp.TCPConnector(
            ssl=True if tls is None else tls,
            resolver=make_resolver(reach.resolve),
            socket_factory=reach.make_socket,
            force_close=True,
        )
        # Nothing is remembered from one page to the next, and nothing is decompressed before it is counted.
        jar = aiohttp.DummyCookieJar()
        return aiohttp.ClientSession(connector=connector, cookie_jar=jar, headers=_HEADERS, auto_decompress=False)


class _OutOfReach(OSError):
    """An address that this fetch must not go to."""


class _Reach:
    """Which addresses one fetch may contact: those of the whole world, and of the network that its address names."""

    def __init__(self, address: WebAddress) -> None:
        self.address = address
        self._found: dict[str, FoundAddresses] = {}
        self.is_proxied = False
        """Whether the connection that is made next is one to a proxy, which the person chose."""

    async def resolve(self, host: str) -> FoundAddresses:
        if host not in self._found:
            self._found[host] = await look_up_addresses(host)
        return self._found[host]

    def make_socket(self, to: Any) -> socket.socket:
        """A socket for one address, at the last moment before it is connected: names cannot change any more."""
        family, kind, protocol, _, address = to
        self._check(str(address[0]))
        return socket.socket(family, kind, protocol)

    async def check_for_proxy(self) -> None:
        """The same where a proxy makes the connection: as far as this machine can tell where the name leads."""
        try:
            found = await look_up_addresses(self.address.host)
        except OSError:
            # The proxy may know the name; what it can reach is for whoever runs it to say.
            found = []
        for _, address in found:
            self._check(address)
        self.is_proxied = True

    def _check(self, address: str) -> None:
        kind = find_address_kind(parse_ip(address))
        if self.is_proxied or kind == "global":
            return
        # A name can be made to lead anywhere by whoever owns it; an address that says it is inside was agreed to.
        if kind != self.address.kind:
            raise _OutOfReach(
                f"{self.address.host} leads to {address}, inside a private network or on this machine; "
                "it was not contacted. Use that address itself if you mean it."
            )


async def _read_body(answer: "aiohttp.ClientResponse") -> bytes:
    """All of an answer, decompressed. Raises: ConfigError if that is too much, or cannot be read."""
    encoding = answer.headers.get("Content-Encoding", "").strip().lower()
    pieces: list[bytes] = []
    size = 0
    try:
        inflate = None if encoding in ("", "identity") else Inflate(encoding, MAX_BODY, Limits().inflation)
        while piece := await answer.content.readany():
            made = piece if inflate is None else inflate.feed(piece)
            pieces.append(made)
            size += len(made)
            if size > MAX_BODY:
                raise DecompressionBomb
    except DecompressionBomb:
        raise ConfigError(f"WebFetch: the page is larger than {MAX_BODY // 1024 // 1024} MiB.") from None
    except UnknownEncoding:
        raise ConfigError("WebFetch: the page is compressed in a way that was not asked for.") from None
    return b"".join(pieces)


def _explain(error: Exception, host: str) -> str:
    """The reason in one sentence; our own refusal may be wrapped in one of aiohttp's errors."""
    from mooring.wire.http.refusal import describe_error

    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, _OutOfReach):
        cause = cause.__cause__ or getattr(cause, "os_error", None)
    return str(cause) if cause is not None else f"{host} could not be reached: {describe_error(error)}"
