"""The requests of a login: bounded, never elsewhere, and never where the server itself could not be."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from mooring.auth.fetch import Fetcher
from mooring.auth.oauth.exchange import LoginRequest, get_json, post_form
from mooring.errors import LoginFailed
from mooring.wire.http.network import Network, Options


@asynccontextmanager
async def serve(answer: Any) -> AsyncIterator[str]:
    """A server on loopback; the address of its root."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        made = answer(request)
        return await made if asyncio.iscoroutine(made) else made

    runner = web.ServerRunner(web.Server(handle), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_a_document_is_fetched_with_its_headers_in_small_letters() -> None:
    def answer(request: web.BaseRequest) -> web.Response:
        assert "Cookie" not in request.headers
        headers = [("WWW-Authenticate", "Basic"), ("WWW-Authenticate", "Bearer x=1"), ("Set-Cookie", "a=b")]
        response = web.Response(text="{}")
        for name, value in headers:
            response.headers.add(name, value)
        return response

    async with serve(answer) as url:
        fetcher = Fetcher(url)
        for _ in range(2):
            reply = await fetcher.send(get_json(url))
        assert (reply.status, reply.body) == (200, b"{}")
        assert reply.headers["www-authenticate"] == "Basic, Bearer x=1"


async def test_an_answer_without_end_is_cut_off() -> None:
    async def pour(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b"x" * 65536)
        except ConnectionError:
            return response

    async with serve(pour) as url:
        fetcher = Fetcher(url)
        with pytest.raises(LoginFailed, match="answered with more than 1,024 KiB"):
            await fetcher.send(get_json(url))
        head = await fetcher.send(LoginRequest("POST", url, {}, b"{}", head_only=True))
        assert (head.status, head.body) == (200, b"")


async def test_a_compressed_bomb_is_not_opened() -> None:
    bomb = gzip.compress(b"{}" + b" " * 50_000_000)
    headers = {"Content-Encoding": "gzip"}
    async with serve(lambda request: web.Response(body=bomb, headers=headers)) as url:
        fetcher = Fetcher(url)
        assert len((await fetcher.send(get_json(url))).body) == len(bomb)


async def test_an_answer_that_does_not_come_ends_the_login() -> None:
    async def wait(request: web.BaseRequest) -> web.Response:
        await asyncio.sleep(30)
        return web.Response()

    async with serve(wait) as url:
        fetcher = Fetcher(url, seconds=0.2)
        with pytest.raises(LoginFailed, match=r"did not answer within 0.2 seconds"):
            await fetcher.send(get_json(url))


async def test_a_redirect_is_followed_inside_the_origin_and_only_for_documents() -> None:
    def answer(request: web.BaseRequest) -> web.Response:
        if request.path == "/there":
            return web.Response(text="{}")
        return web.Response(status=307, headers={"Location": "/there"})

    async with serve(answer) as url:
        fetcher = Fetcher(url)
        assert (await fetcher.send(get_json(f"{url}/here"))).status == 200
        with pytest.raises(LoginFailed, match="which was not followed"):
            await fetcher.send(post_form(f"{url}/here", {"code": "canary"}))


async def test_a_redirect_to_another_origin_is_not_followed() -> None:
    hits: list[str] = []

    def count(request: web.BaseRequest) -> web.Response:
        hits.append(request.path)
        return web.Response()

    async with serve(count) as other:
        headers = {"Location": f"{other}/taken?token=canary"}
        async with serve(lambda request: web.Response(status=302, headers=headers)) as url:
            fetcher = Fetcher(url)
            with pytest.raises(LoginFailed, match="redirects to") as caught:
                await fetcher.send(get_json(url))
    assert "canary" not in str(caught.value)
    assert hits == []


async def test_redirects_in_a_circle_end() -> None:
    answer = web.Response
    async with serve(lambda request: answer(status=302, headers={"Location": "/again"})) as url:
        fetcher = Fetcher(url)
        with pytest.raises(LoginFailed, match="redirects too often"):
            await fetcher.send(get_json(url))


async def test_nobody_at_an_address_is_one_sentence() -> None:
    async with serve(lambda request: web.Response()) as url:
        pass
    fetcher = Fetcher(url)
    with pytest.raises(LoginFailed, match="could not be reached: Connection refused"):
        await fetcher.send(get_json(f"{url}?secret=canary"))


async def test_a_server_outside_is_not_let_in() -> None:
    hits: list[str] = []

    def count(request: web.BaseRequest) -> web.Response:
        hits.append(request.path)
        return web.Response()

    async with serve(count) as url:
        fetcher = Fetcher("https://93.184.216.34/mcp")
        port = url.rpartition(":")[2]
        for host in ("127.0.0.1", "[::ffff:127.0.0.1]", "localhost", "0.0.0.0"):
            with pytest.raises(LoginFailed, match=r"it was not contacted|could not be reached"):
                await fetcher.send(get_json(f"https://{host}:{port}/"))
        for host in ("10.0.0.1", "169.254.169.254", "[fd00::1]", "192.168.0.1"):
            with pytest.raises(LoginFailed, match="it was not contacted"):
                await fetcher.send(get_json(f"https://{host}:{port}/"))
    assert hits == []


async def test_a_server_inside_a_network_may_have_its_issuer_there_but_not_on_this_machine() -> None:
    fetcher = Fetcher("https://10.1.2.3/mcp")
    await fetcher._reach.look_up()
    fetcher._reach.check("10.9.9.9")
    fetcher._reach.check("93.184.216.34")
    for address in ("127.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1"):
        with pytest.raises(OSError, match="it was not contacted"):
            fetcher._reach.check(address)


async def test_a_server_on_this_machine_leads_to_no_private_network() -> None:
    fetcher = Fetcher("http://127.0.0.1:8000/mcp")
    for host in ("10.0.0.1", "192.168.0.1", "169.254.169.254", "[fd00::1]"):
        with pytest.raises(LoginFailed, match="it was not contacted"):
            await fetcher.send(get_json(f"https://{host}/"))


async def test_a_proxy_may_be_on_this_machine_and_is_not_asked_for_an_address_inside() -> None:
    heard: list[str] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append((await reader.readuntil(b"\r\n\r\n")).decode().split(" HTTP")[0])
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as proxy:
        port = proxy.sockets[0].getsockname()[1]
        options = Options(proxy=f"http://127.0.0.1:{port}")
        fetcher = Fetcher("https://93.184.216.34/mcp", Network({}), options)
        with pytest.raises(LoginFailed, match="could not be reached"):
            await fetcher.send(get_json("https://issuer.example/x"))
        # Not every system knows this name, which is asked for on this machine alone.
        with pytest.raises(LoginFailed, match=r"it was not contacted|could not be reached: "):
            await fetcher.send(get_json("https://x.localhost/"))
        for host in ("127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254", "[fd00::1]"):
            with pytest.raises(LoginFailed, match="it was not contacted"):
                await fetcher.send(get_json(f"https://{host}/"))
    assert heard == ["CONNECT issuer.example:443"]
