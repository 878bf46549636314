"""Fetches a document over HTTP: within bounds, and from nowhere that its caller does not allow."""

import asyncio
import socket
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import urljoin

from msgspec import Struct

from mooring.core.protocol.limits import Limits
from mooring.wire.http.address import Address
from mooring.wire.http.network import Network, Options
from mooring.wire.http.reach import NetworkReach, OutOfReach

if TYPE_CHECKING:
    import aiohttp
    from aiohttp.abc import AbstractResolver

FetchProblem: TypeAlias = Literal["slow", "unreachable", "out-of-reach", "redirects", "too-large", "encoding"]
MayFollow: TypeAlias = Callable[[str, str], bool]
"""Whether a redirect from one URL to another is followed. Raises what the caller of `send` is to get."""

_REDIRECTS = (301, 302, 303, 307, 308)


class Fetched(Struct, frozen=True):
    """What a server answered."""

    url: str
    status: int
    headers: Mapping[str, str]
    """By names in any case; one that came twice is here twice."""
    body: bytes = b""
    redirect: str = ""
    """Where it leads, if that was not followed."""


class FetchFailed(Exception):
    """Nothing was fetched: why, and at which URL. The words for it are the caller's."""

    def __init__(self, problem: FetchProblem, url: str, detail: str = "") -> None:
        super().__init__(problem, detail)
        self.problem = problem
        self.url = url
        self.detail = detail


def follow_nothing(url: str, target: str) -> bool:
    return False


class HttpFetcher(Struct, frozen=True):
    """Sends requests, each over a connection of its own, and remembers nothing but the addresses of names."""

    reach: NetworkReach
    network: Network
    options: Options
    seconds: float
    """For one request with its redirects, which are at most `hops`."""
    max_body: int
    hops: int = 1
    inflates: bool = True
    """Whether the server may compress its answer; where not, a compressed one is left as it is."""

    async def send(
        self,
        url: str,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        *,
        head_only: bool = False,
        may_follow: MayFollow = follow_nothing,
    ) -> Fetched:
        """The answer to a request. Raises: FetchFailed; ConfigError for a proxy or a certificate."""
        if "aiohttp" not in sys.modules:
            # In a thread: it takes a third of a second, and few conversations fetch anything.
            await asyncio.to_thread(import_module, "aiohttp")
        import aiohttp

        target = url
        try:
            async with asyncio.timeout(self.seconds):
                for _ in range(self.hops):
                    fetched = await self._send_once(target, method, headers, body, head_only)
                    if not fetched.redirect or not may_follow(target, fetched.redirect):
                        return fetched
                    target = fetched.redirect
        except TimeoutError:
            raise FetchFailed("slow", url) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _translate(error, url) from None
        raise FetchFailed("redirects", url)

    async def _send_once(
        self, url: str, method: str, headers: Mapping[str, str] | None, body: bytes | None, head_only: bool
    ) -> Fetched:
        proxy = self.network.proxy(Address(url), self.options)
        if proxy is not None:
            await self.reach.check_for_proxy(url)
        async with (
            await self._open(url, proxy) as session,
            session.request(method, url, data=body, headers=headers, allow_redirects=False, proxy=proxy) as answer,
        ):
            location = answer.headers.get("Location", "")
            if answer.status in _REDIRECTS and location:
                return Fetched(url, answer.status, answer.headers, redirect=urljoin(url, location))
            content = b"" if head_only else await self._read(answer, url)
            return Fetched(url, answer.status, answer.headers, content)

    async def _open(self, url: str, proxy: str | None) -> "aiohttp.ClientSession":
        import aiohttp

        is_encrypted = url.startswith("https:") or (proxy or "").startswith("https:")
        tls = await self.network.tls(self.options) if is_encrypted else None
        connector = aiohttp.TCPConnector(
            ssl=True if tls is None else tls,
            resolver=_make_resolver(self.reach),
            # The proxy was chosen by the user, wherever it is.
            socket_factory=self._make_socket if proxy is None else None,
            force_close=True,
        )
        # Nothing is decompressed before it is counted: a few kilobytes could become gigabytes.
        encodings = "gzip, deflate" if self.inflates else "identity"
        headers = {"User-Agent": "mooring", "Accept-Encoding": encodings}
        jar = aiohttp.DummyCookieJar()
        return aiohttp.ClientSession(connector=connector, cookie_jar=jar, headers=headers, auto_decompress=False)

    def _make_socket(self, to: Any) -> socket.socket:
        """A socket for one address, at the last moment before it is connected: names cannot change any more."""
        family, kind, protocol, _, address = to
        self.reach.check(str(address[0]))
        return socket.socket(family, kind, protocol)

    async def _read(self, answer: "aiohttp.ClientResponse", url: str) -> bytes:
        from mooring.wire.http.body import DecompressionBomb, Inflate, UnknownEncoding  # loads aiohttp

        encoding = answer.headers.get("Content-Encoding", "").strip().lower()
        is_plain = not self.inflates or encoding in ("", "identity")
        pieces: list[bytes] = []
        size = 0
        try:
            inflate = None if is_plain else Inflate(encoding, self.max_body, Limits().inflation)
            while piece := await answer.content.readany():
                made = piece if inflate is None else inflate.feed(piece)
                pieces.append(made)
                size += len(made)
                if size > self.max_body:
                    raise FetchFailed("too-large", url)
        except DecompressionBomb:
            raise FetchFailed("too-large", url) from None
        except UnknownEncoding:
            raise FetchFailed("encoding", url) from None
        return b"".join(pieces)


def _make_resolver(reach: NetworkReach) -> "AbstractResolver":
    """aiohttp's view of what knows the addresses of names."""
    from aiohttp.abc import AbstractResolver, ResolveResult

    class Resolver(AbstractResolver):
        async def resolve(self, host: str, port: int = 0, family: int = socket.AF_UNSPEC) -> list[ResolveResult]:
            found = [entry for entry in await reach.resolve(host) if family in (socket.AF_UNSPEC, entry[0])]
            if not found:
                raise OSError(f"{host} has no address")
            return [
                ResolveResult(hostname=host, host=address, port=port, family=kind, proto=0, flags=socket.AI_NUMERICHOST)
                for kind, address in found
            ]

        async def close(self) -> None:
            return

    return Resolver()


def _translate(error: Exception, url: str) -> FetchFailed:
    """Our error for one of aiohttp's, which may have wrapped ours."""
    from mooring.wire.http.refusal import describe_error

    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OutOfReach):
        cause = cause.__cause__ or getattr(cause, "os_error", None)
    if cause is not None:
        return FetchFailed("out-of-reach", url, str(cause))
    return FetchFailed("unreachable", url, describe_error(error))
