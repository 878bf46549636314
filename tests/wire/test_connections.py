"""What goes over a connection byte by byte, against servers that read and write by themselves."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

import pytest
from yarl import URL

from mooring.core.protocol.limits import Limits
from mooring.wire.http.address import Address
from mooring.wire.http.connections import Connections
from mooring.wire.http.web import Web

Serve: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

DONE = b"HTTP/1.1 200 OK\r\nContent-Type: Application/JSON; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}"


@asynccontextmanager
async def listening(serve: Serve) -> AsyncIterator[str]:
    """A server of one's own; yields its `host:port`."""
    async with asyncio.TaskGroup() as serving:

        async def enter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                await serve(reader, writer)

        tasks: list[asyncio.Task[None]] = []
        writers: list[asyncio.StreamWriter] = []

        def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            tasks.append(serving.create_task(enter(reader, writer)))
            writers.append(writer)

        server = await asyncio.start_server(begin, "127.0.0.1", 0)
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        server.close()
        for task in tasks:
            task.cancel()
        for writer in writers:
            writer.transport.abort()
    await asyncio.sleep(0)


@asynccontextmanager
async def reaching(url: str, proxy: str | None = None, **headers: str) -> AsyncIterator[Web]:
    web = Web(Address(url), headers, server="one", limits=Limits(), proxy=proxy)
    try:
        yield web
    finally:
        await web.close()


async def test_what_a_server_says_before_its_answer_is_passed_over() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + DONE)

    async with listening(serve) as at, reaching(f"http://{at}/mcp") as web:
        answer = await web.request("GET", {})
        assert (answer.status, answer.content_type) == (200, "application/json")
        assert await web.read_all(answer) == b"{}"


async def test_a_connection_is_kept_but_not_where_the_server_answered_before_it_had_read_everything() -> None:
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            if length < 100:
                await reader.readexactly(length)
                writer.write(DONE)
                continue
            writer.write(DONE)
            await asyncio.sleep(60)  # it never reads the rest, and keeps the connection

    async with listening(serve) as at, reaching(f"http://{at}/mcp") as web:
        for body in (b"short", b"short", b"long" * 4_000_000, b"short"):
            async with asyncio.timeout(100):
                assert await web.read_all(await web.request("POST", {}, body)) == b"{}"
    assert connections == 2, "the two short ones share one, and so do none with the long one after them"


async def test_a_proxy_is_given_the_whole_url_of_a_plain_address_and_its_own_login() -> None:
    heads: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            heads.append(head.decode())
            writer.write(DONE)

    async with listening(serve) as at:
        url = "http://far.example/mcp?key=1"
        async with reaching(url, proxy=f"http://me:word@{at}", Authorization="Bearer token") as web:
            for _ in range(2):
                assert await web.read_all(await web.request("GET", {"Accept": "text/plain"})) == b"{}"
    for head in heads:
        lines = head.split("\r\n")
        assert lines[0] == f"GET {url} HTTP/1.1"
        assert "Proxy-Authorization: Basic bWU6d29yZA==" in lines
        assert "Authorization: Bearer token" in lines
        assert [line for line in lines if line.startswith("Accept:")] == ["Accept: text/plain"]
    assert len(heads) == 2


@pytest.mark.parametrize("value", ["a\r\nX-Other: b", "a\nX-Other: b", "a\rb"])
async def test_a_header_never_becomes_two(value: str) -> None:
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.read())
        writer.close()

    async with listening(serve) as at:
        url = f"http://{at}/mcp"
        connections = Connections(Address(url), {}, limits=Limits(), tls=None, proxy=None, program="mooring")
        with pytest.raises(ValueError, match="line break"):
            await connections.send("GET", URL(url), {"X-One": value}, None)
        await connections.close()
    assert heads in ([], [b""])
