"""How large a message may be, and how many requests are under way: the same over every transport, for all or for one."""

import asyncio
import sys
from typing import Any

import pytest
from test_host import opened

from mooring.core.protocol.units import MIB
from mooring.errors import TooLarge
from mooring.testing.site import ReceivedRequest, Site, event, said
from support import Cli, Home

LARGE = 12 * MIB


def make_streaming(site: Site) -> None:
    """Have the site answer calls with an event stream that holds as many characters as they ask for."""

    async def stream(request: ReceivedRequest) -> Any:
        response = await request.stream()
        await response.write(event(request.result(said("x" * request.params["arguments"]["size"]))))
        return response

    site.answers["tools/call"] = stream


def make_plain(site: Site) -> None:
    site.answers["tools/call"] = lambda request: said("x" * request.params["arguments"]["size"])


@pytest.mark.parametrize("prepare", [make_streaming, make_plain])
async def test_a_large_answer_comes_over_a_stream_as_it_does_otherwise(home: Home, prepare: Any) -> None:
    async with Site() as site, opened(home, servers={"web": {"url": site.url}}) as host:
        prepare(site)
        assert len((await host.call("web.echo", {"size": LARGE})).text) == LARGE
        with pytest.raises(TooLarge) as caught:
            await host.call("web.echo", {"size": 17 * MIB})
        assert caught.value.limit == 16 * MIB


@pytest.mark.parametrize("prepare", [make_streaming, make_plain])
async def test_a_servers_entry_wins_over_the_setting(home: Home, prepare: Any) -> None:
    home.write("home/.config/mooring/settings.json", {"maxMessageBytes": MIB})
    async with Site() as site:
        prepare(site)
        servers = {"few": {"url": site.url}, "many": {"url": site.url, "maxMessageBytes": 20 * MIB}}
        async with opened(home, servers=servers) as host:
            assert len((await host.call("many.echo", {"size": 17 * MIB})).text) == 17 * MIB
            with pytest.raises(TooLarge) as caught:
                await host.call("few.echo", {"size": 2 * MIB})
            assert caught.value.limit == MIB


async def test_one_request_at_a_time_is_sent_where_the_entry_says_so_and_all_at_once_elsewhere(home: Home) -> None:
    most = {"few": 0, "many": 0}
    now = {"few": 0, "many": 0}

    def count(name: str) -> Any:
        async def answer(request: ReceivedRequest) -> dict[str, Any]:
            now[name] += 1
            most[name] = max(most[name], now[name])
            await asyncio.sleep(0.02)
            now[name] -= 1
            return said("done")

        return answer

    async with Site() as one, Site() as other:
        one.answers["tools/call"] = count("few")
        other.answers["tools/call"] = count("many")
        servers = {"few": {"url": one.url, "maxInFlight": 1}, "many": {"url": other.url}}
        async with opened(home, servers=servers) as host:
            await asyncio.gather(*(host.call(f"{name}.echo", {}) for name in servers for _ in range(10)))
    assert most == {"few": 1, "many": 10}


def test_the_fields_are_shown_and_bad_ones_are_named(cli: Cli) -> None:
    good = {"command": sys.executable, "maxInFlight": 1, "maxMessageBytes": 32 * MIB, "era": "handshake"}
    bad = {"command": sys.executable, "maxInFlight": 0, "maxMessageBytes": "lots", "era": "latest"}
    cli.home.write("home/.config/mooring/mcp.json", {"mcpServers": {"good": good, "bad": bad}})
    shown = cli("mcp", "get", "good").out
    assert "1 at once" in shown
    assert "up to 32 MiB" in shown
    assert "only the handshake era" in shown
    assert cli("mcp", "get", "good", "--json").data["maxInFlight"] == 1
    warnings = cli("mcp", "doctor").out
    assert "`maxInFlight` should be a whole number from 1" in warnings
    assert "`maxMessageBytes` should be a whole number from 1" in warnings
    assert "`era` should be handshake or stateless" in warnings
