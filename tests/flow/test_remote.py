"""Servers behind addresses, through the host: reached, lost, found again, and refused with the right word."""

import asyncio
import time
from typing import Any

import pytest
from aiohttp import web
from test_host import Listener, opened, until

import mooring
from mooring.core.conversation.host_event import ToolsChanged
from mooring.core.conversation.status import Connected, Failed, NeedsAuth, status_word
from mooring.errors import ConnectError, HttpError, NeedsLogin
from mooring.testing.site import Site
from support import Home


def web_server(site: Site, **more: Any) -> dict[str, Any]:
    return {"web": {"type": "http", "url": site.url, **more}}


async def test_a_server_behind_an_address_is_called_and_its_session_ended(home: Home) -> None:
    async with Site(session="abc") as site:
        async with opened(home, servers=web_server(site)) as host:
            assert (await host.call("web.echo", {"text": "hi"})).text == "hi"
            assert isinstance(host.status()["web"], Connected)
        assert site.said("DELETE")


async def test_headers_are_filled_in_from_the_environment(home: Home) -> None:
    async with Site() as site:
        servers = web_server(site, headers={"Authorization": "Bearer ${GITHUB_TOKEN}"})
        async with opened(home, servers=servers) as host:
            await host.call("web.echo", {"text": "hi"})
        assert site.heard[-1].headers["Authorization"] == "Bearer canary-environment"


async def test_a_login_that_is_wanted_is_a_status_of_its_own_and_is_not_tried_again(home: Home) -> None:
    async with Site() as site:
        site.answers["initialize"] = lambda heard: web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})
        async with opened(home, servers=web_server(site, lifecycle="eager")) as host:
            with pytest.raises(NeedsLogin):
                await host.call("web.echo", {"text": "hi"})
            assert isinstance(host.status()["web"], NeedsAuth)
            assert status_word(host.status()["web"]) == "needs-auth"
            heard = len(site.heard)
            await asyncio.sleep(0.3)
            assert len(site.heard) == heard


async def test_a_server_that_is_not_there_fails_at_once_and_not_after_the_ladder(home: Home) -> None:
    async with Site() as site:
        servers = web_server(site)
    async with opened(home, servers=servers) as host:
        began = time.monotonic()
        with pytest.raises(ConnectError):
            await host.call("web.echo", {"text": "hi"})
        assert time.monotonic() - began < 5
        assert isinstance(host.status()["web"], Failed)


async def test_a_server_that_was_restarted_is_reached_again_by_the_next_call(home: Home) -> None:
    async with Site(session="one") as site:
        port = int(site.origin.rpartition(":")[2])
        async with opened(home, servers=web_server(site)) as host:
            await host.call("web.echo", {"text": "hi"})
            await site.__aexit__(None, None, None)
            with pytest.raises(mooring.ServerError):
                await host.call("web.echo", {"text": "hi"}, timeout=1.2)
            runner = web.ServerRunner(web.Server(site._receive))
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", port).start()
            try:
                assert (await host.call("web.echo", {"text": "back"}, timeout=10)).text == "back"
            finally:
                await runner.cleanup()


async def test_a_server_that_forgot_the_session_is_greeted_anew_and_its_tools_are_listed_again(home: Home) -> None:
    async with Site(session="one") as site, opened(home, servers=web_server(site)) as host:
        await host.call("web.echo", {"text": "hi"})
        listener = Listener(host)
        call = site.answers["tools/call"]
        site.session = "two"
        site.tools = [*site.tools, {"name": "fresh", "inputSchema": {"type": "object"}}]
        site.answers["tools/call"] = lambda heard: (
            call(heard) if heard.headers.get("Mcp-Session-Id") == "two" else web.Response(status=404)
        )
        assert (await host.call("web.echo", {"text": "again"})).text == "again"
        await until(lambda: bool(listener.of(ToolsChanged)))
        assert listener.of(ToolsChanged)[0].added == ("fresh",)


async def test_what_a_server_says_of_being_busy_is_told(home: Home) -> None:
    async with Site() as site, opened(home, servers=web_server(site)) as host:
        await host.call("web.echo", {"text": "hi"})
        site.answers["tools/call"] = lambda heard: web.Response(status=503, headers={"Retry-After": "7"})
        with pytest.raises(HttpError, match="wait 7 s"):
            await host.call("web.echo", {"text": "hi"})


@pytest.mark.parametrize(("ttl", "asked"), [(0, 1), (1, 2), (60_000, 1)])
async def test_a_list_without_any_time_to_live_is_believed_for_a_while_and_a_time_is_kept(
    home: Home, ttl: int, asked: int
) -> None:
    async with Site(stateless=True) as site:
        site.answers["tools/list"] = lambda heard: {
            "resultType": "complete",
            "tools": [{"name": "echo", "inputSchema": {"type": "object"}}],
            "ttlMs": ttl,
            "cacheScope": "public",
        }
        for _ in range(2):
            async with opened(home, servers=web_server(site)) as host:
                assert await host.ready() == {}
                assert [entry.tool for entry in host.tools] == ["echo"]
        assert len(site.said("tools/list")) == asked


async def test_the_era_is_remembered_so_that_it_is_asked_for_once(home: Home) -> None:
    async with Site() as site:
        for _ in range(2):
            async with opened(home, servers=web_server(site)) as host:
                await host.call("web.echo", {"text": "hi"})
        assert len(site.said("server/discover")) == 1
        assert len(site.said("initialize")) == 2
