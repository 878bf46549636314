"""The address that a browser comes back to: one answer, and nothing for anybody else."""

import asyncio
from random import Random

import pytest

from mooring.auth.drive import Callback
from mooring.errors import LoginFailed


async def send(callback: Callback, request: bytes) -> bytes:
    """What the listener answers; empty if it just hangs up."""
    port = int(callback.redirect_uri.split(":")[2].partition("/")[0])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    try:
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def ask(callback: Callback, path: str = "/callback?code=1&state=2", host: str = "", method: str = "GET") -> bytes:
    host = host or callback.redirect_uri.split("/")[2]
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


async def test_the_answer_of_the_browser_is_handed_over_and_nothing_listens_any_more() -> None:
    async with Callback() as callback:
        assert callback.redirect_uri.startswith("http://127.0.0.1:")
        page = await send(callback, ask(callback))
        assert page.startswith(b"HTTP/1.1 200 ")
        assert b"You can close this window" in page
        assert await callback.wait() == "code=1&state=2"
        with pytest.raises(ConnectionRefusedError):
            await send(callback, ask(callback))


async def test_a_second_answer_is_refused() -> None:
    async with Callback() as callback:
        await send(callback, ask(callback))
        assert (await send(callback, ask(callback, "/callback?code=2"))).startswith(b"HTTP/1.1 400 ")
        assert await callback.wait() == "code=1&state=2"


async def test_the_page_repeats_nothing_and_passes_nothing_on() -> None:
    async with Callback() as callback:
        page = await send(callback, ask(callback, "/callback?code=canary&error=<script>"))
        assert b"canary" not in page
        assert b"<script>" not in page
        assert b"Referrer-Policy: no-referrer" in page
        assert b"Cache-Control: no-store" in page


@pytest.mark.parametrize(
    ("path", "host", "method"),
    [
        ("/", "", "GET"), ("/favicon.ico", "", "GET"), ("/callback", "", "GET"), ("/callback?state=2", "", "GET"),
        ("/callback/?code=1", "", "GET"), ("/callback?code=1", "evil.example", "GET"), ("/callback?code=1", "", "POST"),
        ("/callback?code=1", "evil.example:80", "GET"), ("//callback?code=1", "", "GET"), ("*", "", "OPTIONS"),
        ("http://127.0.0.1/callback?code=1", "", "GET"), ("/callback%3Fcode=1", "", "GET"), ("/callback?xcode=1", "", "GET"),
    ],
)  # fmt: skip
async def test_whatever_else_comes_is_refused_and_the_wait_goes_on(path: str, host: str, method: str) -> None:
    async with Callback() as callback:
        assert not (await send(callback, ask(callback, path, host, method))).startswith(b"HTTP/1.1 200")
        await send(callback, ask(callback))
        assert await callback.wait() == "code=1&state=2"


async def test_a_thousand_broken_requests_leave_it_waiting_for_the_right_one() -> None:
    chance = Random(17)
    async with Callback() as callback:
        right = ask(callback)
        for _ in range(50):
            broken = []
            for _ in range(20):
                cut = chance.randrange(len(right) - 4)
                broken.append(right[:cut] + chance.randbytes(3) + b"\r\n\r\n")
            pages = await asyncio.gather(*(send(callback, each) for each in broken))
            if any(page.startswith(b"HTTP/1.1 200") for page in pages):
                # A cut behind the state is still a browser's answer: the check of the answer itself refuses it.
                assert not (await callback.wait()).endswith("state=2")
                return
        await send(callback, right)
        assert await callback.wait() == "code=1&state=2"


async def test_whoever_says_nothing_does_not_keep_the_browser_out() -> None:
    async with Callback() as callback:
        port = int(callback.redirect_uri.split(":")[2].partition("/")[0])
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
        await send(callback, ask(callback))
        assert await callback.wait() == "code=1&state=2"
        for _, writer in silent:
            writer.close()


async def test_a_port_that_is_taken_is_named() -> None:
    async with Callback() as taken:
        port = int(taken.redirect_uri.split(":")[2].partition("/")[0])
        with pytest.raises(LoginFailed, match=f"port {port}, where the browser is to come back to, cannot be used"):
            async with Callback(port=port):
                pass


async def test_a_redirect_that_the_definition_names_is_used_as_it_is() -> None:
    async with Callback() as free:
        port = int(free.redirect_uri.split(":")[2].partition("/")[0])
    async with Callback(f"http://localhost:{port}/oauth/done") as callback:
        assert callback.redirect_uri == f"http://localhost:{port}/oauth/done"
        await send(callback, ask(callback, "/oauth/done?error=x"))
        assert await callback.wait() == "error=x"
