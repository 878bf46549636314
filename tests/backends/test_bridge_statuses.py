"""The status of servers, in the words that every backend uses, and switching and reconnecting them."""

from typing import Any

import pytest
from aiohttp import web
from bridging import make_server, open_host, talking

from mooring.core.conversation.turn import ServerStatus
from mooring.errors import ConfigError, MooringError
from mooring.testing import Site
from support import DEMO, Home


def by_name(statuses: Any) -> dict[str, ServerStatus]:
    return {status.name: status for status in statuses}


async def test_every_configured_server_has_a_status_in_words_that_all_backends_share(home: Home) -> None:
    async with Site() as site:
        site.answers["initialize"] = lambda heard: web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})
        home.write("project/.mcp.json", {"mcpServers": {"theirs": DEMO}})
        home.configure(
            demo=DEMO,
            off={**DEMO, "disabled": True},
            gone={"command": "/nowhere/to/be/found"},
            web={"type": "http", "url": site.url},
        )
        async with open_host(home) as host, talking(host) as talk:
            before = by_name(await talk.bridge.host_servers.status())
            assert before["demo"].status == before["gone"].status == "pending"
            await host.ready()
            found = by_name(await talk.bridge.host_servers.status())
    assert {name: status.status for name, status in found.items()} == {
        "demo": "connected",
        "off": "disabled",
        "gone": "failed",
        "web": "needs-auth",
        "theirs": "disabled",
    }
    assert "/nowhere" in found["gone"].error
    assert found["demo"].error == ""


async def test_a_server_is_switched_by_whoever_opened_the_host(home: Home) -> None:
    switched: list[tuple[str, bool]] = []

    async def switch(server: str, on: bool) -> None:
        switched.append((server, on))

    async with open_host(home, {"box": make_server()}) as host:
        async with talking(host, switch=switch) as talk:
            await talk.bridge.host_servers.switch("box", False)
        async with talking(host) as talk:
            with pytest.raises(ConfigError, match="box"):
                await talk.bridge.host_servers.switch("box", False)
    assert switched == [("box", False)]


async def test_a_server_that_came_back_is_reconnected_and_one_that_did_not_says_why(home: Home) -> None:
    async with Site() as site:
        servers = {"web": {"type": "http", "url": site.url}, "gone": {"command": "/nowhere/to/be/found"}}
        initialize = site.answers.pop("initialize")
        async with open_host(home, servers) as host, talking(host) as talk:
            await host.ready()
            assert by_name(await talk.bridge.host_servers.status())["web"].status == "failed"
            site.answers["initialize"] = initialize
            await talk.bridge.host_servers.reconnect("web")
            assert by_name(await talk.bridge.host_servers.status())["web"].status == "connected"
            with pytest.raises(MooringError, match="nowhere"):
                await talk.bridge.host_servers.reconnect("gone")
