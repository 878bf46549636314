"""Over HTTP, a call that breaks costs itself: the others on the server, and the session, go on."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from test_host import opened, until

from mooring.core.conversation.status import Connected
from mooring.errors import ServerDied, ServerError
from mooring.testing.site import ReceivedRequest, Site, said
from support import Home


async def end_stream(request: ReceivedRequest) -> web.StreamResponse:
    """A stream that ends without the answer."""
    stream = await request.stream()
    await stream.write_eof()
    return stream


BREAKS: dict[str, Callable[[ReceivedRequest], Any]] = {
    "reset": lambda request: request.abort(),
    "unanswered": end_stream,
}


class Workshop:
    """A site whose calls wait until they are let go, unless they ask to be broken."""

    def __init__(self, site: Site, how: str = "reset") -> None:
        self.release = asyncio.Event()
        self._how = how
        site.session = "one"
        site.answers["tools/call"] = self._answer

    async def _answer(self, request: ReceivedRequest) -> Any:
        text = request.params["arguments"]["text"]
        if text == "break":
            broken = BREAKS[self._how](request)
            return await broken if asyncio.iscoroutine(broken) else broken
        if text != "quick":
            await self.release.wait()
        return said(text)


def servers(site: Site) -> dict[str, Any]:
    return {"web": {"type": "http", "url": site.url}}


@pytest.mark.parametrize("how", BREAKS)
@pytest.mark.parametrize(("slow", "broken"), [(8, 1), (40, 7)])
async def test_the_calls_beside_a_broken_one_are_answered_each_with_its_own(
    home: Home, how: str, slow: int, broken: int
) -> None:
    async with Site() as site, opened(home, servers=servers(site)) as host:
        workshop = Workshop(site, how)
        await host.call("web.echo", {"text": "quick"})
        waiting = [asyncio.ensure_future(host.call("web.echo", {"text": f"slow {n}"})) for n in range(slow)]
        await until(lambda: len(site.said("tools/call")) == slow + 1)
        for _ in range(broken):
            with pytest.raises(ServerDied) as caught:
                await host.call("web.echo", {"text": "break"})
            assert caught.value.may_have_run
        assert isinstance(host.status()["web"], Connected)
        assert (await host.call("web.echo", {"text": "quick"})).text == "quick"
        workshop.release.set()
        assert [outcome.text for outcome in await asyncio.gather(*waiting)] == [f"slow {n}" for n in range(slow)]
        assert len(site.said("initialize")) == 1
        assert site.said("DELETE") == []


async def test_a_call_that_only_reads_is_made_once_more_and_another_is_not(home: Home) -> None:
    async with Site() as site:
        site.tools = [
            {"name": "echo", "inputSchema": {"type": "object"}},
            {"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
        ]
        async with opened(home, servers=servers(site)) as host:
            await host.call("web.echo", {"text": "hi"})
            plain = site.answers["tools/call"]

            def break_once(request: ReceivedRequest) -> None:
                site.answers["tools/call"] = plain
                request.abort()

            site.answers["tools/call"] = break_once
            assert (await host.call("web.look", {"text": "seen"})).text == "seen"
            site.answers["tools/call"] = break_once
            with pytest.raises(ServerDied, match="may have run"):
                await host.call("web.echo", {"text": "hi"})
            assert len(site.said("initialize")) == 1


async def test_calls_in_flight_are_answered_while_the_address_takes_no_more_connections(home: Home) -> None:
    async with Site() as site, opened(home, servers=servers(site)) as host:
        workshop = Workshop(site)
        await host.call("web.echo", {"text": "quick"})
        waiting = [asyncio.ensure_future(host.call("web.echo", {"text": f"slow {n}"})) for n in range(8)]
        await until(lambda: len(site.said("tools/call")) == 9)
        port = _stop_listening(site)
        with pytest.raises(ServerError):
            await asyncio.gather(*(host.call("web.echo", {"text": "quick"}, timeout=0.5) for _ in range(3)))
        workshop.release.set()
        assert [outcome.text for outcome in await asyncio.gather(*waiting)] == [f"slow {n}" for n in range(8)]
        await _listen_again(site, port)
        assert (await host.call("web.echo", {"text": "quick"}, timeout=10)).text == "quick"


async def test_a_server_that_is_back_after_two_seconds_is_back_for_the_calls_that_wait(home: Home) -> None:
    async with Site() as site, opened(home, servers=servers(site)) as host:
        await host.call("web.echo", {"text": "hi"})
        port = _stop_listening(site)
        _hang_up(site)
        await asyncio.sleep(0.1)  # the client notices that the connections it kept are closed
        began = time.monotonic()
        waiting = [asyncio.ensure_future(host.call("web.echo", {"text": str(n)}, timeout=60)) for n in range(5)]
        await asyncio.sleep(2)
        await _listen_again(site, port)
        assert [outcome.text for outcome in await asyncio.gather(*waiting)] == ["0", "1", "2", "3", "4"]
        assert time.monotonic() - began < 30


def _stop_listening(site: Site) -> int:
    """Take no more connections; those that exist go on."""
    assert site._runner is not None
    port = int(site._runner.addresses[0][1])
    for listening in site._runner.sites:
        listening._server.close()
    return port


def _hang_up(site: Site) -> None:
    assert site._runner is not None
    assert site._runner.server is not None
    for connection in site._runner.server.connections:
        connection.force_close()


async def _listen_again(site: Site, port: int) -> None:
    assert site._runner is not None
    await web.TCPSite(site._runner, "127.0.0.1", port, reuse_address=True).start()
