"""One document over HTTP: whoever fetches says which addresses may be contacted, and how much may come."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

import pytest

from mooring.wire.http.fetch import FetchFailed, HttpFetcher
from mooring.wire.http.network import Network, Options
from mooring.wire.http.reach import ANYWHERE, AddressKind, NetworkReach


class Listener:
    """Answers every request with the same bytes, and remembers the first line of each."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.heard: list[str] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append((await reader.readuntil(b"\r\n\r\n")).decode().split(" HTTP")[0])
        writer.write(self.answer)
        writer.close()


@asynccontextmanager
async def listening(body: bytes = b"here", head: str = "200 OK") -> AsyncIterator[Listener]:
    listener = Listener(f"HTTP/1.1 {head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    async with await asyncio.start_server(listener.serve, "127.0.0.1", 0) as server:
        listener.port = server.sockets[0].getsockname()[1]
        yield listener


def make_fetcher(allowed: Collection[AddressKind], proxy: str = "", max_body: int = 100, **more: bool) -> HttpFetcher:
    reach = NetworkReach(allowed, lambda address: f"not to {address}")
    return HttpFetcher(reach, Network({}), Options(proxy=proxy), seconds=10, max_body=max_body, **more)


async def test_only_the_addresses_of_the_policy_are_contacted() -> None:
    async with listening() as listener:
        for allowed in ({"loopback"}, ANYWHERE):
            assert (await make_fetcher(allowed).send(listener.url)).body == b"here"
        heard = len(listener.heard)
        for url in (listener.url, listener.url.replace("127.0.0.1", "localhost")):
            with pytest.raises(FetchFailed) as caught:
                await make_fetcher({"global"}).send(url)
            assert caught.value.problem == "out-of-reach"
        with pytest.raises(FetchFailed) as caught:
            await make_fetcher({"loopback"}).send("http://10.0.0.1/")
        assert (caught.value.problem, caught.value.detail) == ("out-of-reach", "not to 10.0.0.1")
        assert len(listener.heard) == heard


async def test_a_name_keeps_the_addresses_that_it_had_first(monkeypatch: pytest.MonkeyPatch) -> None:
    reach = NetworkReach({"loopback"})
    first = await reach.resolve("localhost")

    async def lie(*_: object, **__: object) -> object:
        raise AssertionError("resolved again")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", lie)
    assert await reach.resolve("localhost") == first
    with pytest.raises(AssertionError):
        await reach.resolve("other.localhost")


async def test_a_proxy_may_be_anywhere_and_is_asked_only_for_what_the_policy_allows() -> None:
    async with listening() as proxy:
        fetcher = make_fetcher({"global"}, proxy=proxy.url)
        # No system knows this name: the proxy may.
        assert (await fetcher.send("http://far.invalid/x")).body == b"here"
        for host in ("localhost", "127.0.0.1", "10.0.0.1"):
            with pytest.raises(FetchFailed) as caught:
                await fetcher.send(f"http://{host}/")
            assert caught.value.problem == "out-of-reach"
        assert proxy.heard == ["GET http://far.invalid/x"]


async def test_what_is_too_large_or_compressed_unasked_is_not_returned() -> None:
    async with listening(b"x" * 101) as listener:
        with pytest.raises(FetchFailed) as caught:
            await make_fetcher({"loopback"}).send(listener.url)
        assert caught.value.problem == "too-large"
    async with listening(b"x", "200 OK\r\nContent-Encoding: br") as listener:
        with pytest.raises(FetchFailed) as caught:
            await make_fetcher({"loopback"}).send(listener.url)
        assert caught.value.problem == "encoding"
    packed = gzip.compress(b"x" * 90)
    async with listening(packed, "200 OK\r\nContent-Encoding: gzip") as listener:
        assert (await make_fetcher({"loopback"}).send(listener.url)).body == b"x" * 90
        assert (await make_fetcher({"loopback"}, inflates=False).send(listener.url)).body == packed


async def test_a_redirect_is_followed_only_if_the_caller_says_so() -> None:
    async with listening(b"", "302 Found\r\nLocation: /next") as listener:
        fetched = await make_fetcher({"loopback"}).send(listener.url)
        assert (fetched.status, fetched.redirect) == (302, f"{listener.url}next")
        assert listener.heard == ["GET /"]
        with pytest.raises(FetchFailed) as caught:
            await make_fetcher({"loopback"}).send(listener.url, may_follow=lambda url, target: True)
        assert caught.value.problem == "redirects"
