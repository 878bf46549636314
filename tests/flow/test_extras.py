"""What a program sends with one call besides its arguments: keys of `_meta`, and HTTP headers."""

import asyncio
import random
from typing import Any

import pytest
from aiohttp import web
from test_gatekeeping import opened

import mooring
from mooring.testing.site import ReceivedRequest, Site, event, said
from support import DEMO, Home

CALLS = 40


def web_server(site: Site, **more: Any) -> dict[str, Any]:
    return {
        "web": {"type": "http", "url": site.url, "headers": {"X-Team": "blue", "Authorization": "Bearer all"}, **more}
    }


def who(user: str) -> dict[str, str]:
    return {"authorization": f"Bearer token-of-{user}", "X-User": user}


async def whoami(heard: ReceivedRequest) -> dict[str, Any]:
    """Says whose request it is, after a pause in which others come in."""
    await asyncio.sleep(random.random() / 50)
    return said(f"{heard.headers.get('X-User', 'nobody')} {heard.headers['Authorization']} {heard.headers['X-Team']}")


@pytest.mark.parametrize("stateless", [False, True])
async def test_two_users_at_once_send_their_own_headers_and_none_are_crossed(home: Home, stateless: bool) -> None:
    async with Site(stateless=stateless, session="" if stateless else "abc") as site:
        site.answers["tools/call"] = whoami
        async with opened(home, servers=web_server(site), policy="allow") as host:
            await host.ready()

            async def serve(user: str) -> set[str]:
                async with host.conversation() as tools:
                    calls = [tools.call("mcp__web__echo", headers=who(user)) for _ in range(CALLS)]
                    return {outcome.text for outcome in await asyncio.gather(*calls)}

            async def serve_all() -> set[str]:
                return {(await host.call("web.echo")).text for _ in range(CALLS)}

            ann, bob, everybody = await asyncio.gather(serve("ann"), serve("bob"), serve_all())
            direct = await host.call("web.echo", headers=who("cleo"))
        assert ann == {"ann Bearer token-of-ann blue"}
        assert bob == {"bob Bearer token-of-bob blue"}
        assert everybody == {"nobody Bearer all blue"}
        assert direct.text == "cleo Bearer token-of-cleo blue"
        others = [heard for heard in site.heard if heard.method != "tools/call"]
        assert others
        assert [heard.method for heard in others if "X-User" in heard.headers] == []


async def test_keys_of_meta_reach_the_server_beside_ours(home: Home) -> None:
    trace = {"traceparent": "00-1-2-01", "com.example/tenant": {"id": 7}}
    async with Site(stateless=True) as site:
        async with opened(home, servers=web_server(site), policy="allow") as host:
            await host.ready()
            await host.call("web.echo", {"text": "a"}, meta=trace, on_progress=print)
            async with host.conversation() as tools:
                await tools.call("web.echo", {"text": "b"}, meta=trace)
            await host.call("web.echo", {"text": "c"})
        first, second, third = (heard.params["_meta"] for heard in site.said("tools/call"))
    assert first["progressToken"]
    for meta in (first, second):
        assert {key: meta[key] for key in trace} == trace
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert not trace.keys() & third.keys()


async def test_meta_reaches_a_server_over_pipes_and_headers_are_one_clear_error(home: Home) -> None:
    async with opened(home, servers={"demo": DEMO}, policy="allow") as host:
        await host.ready()
        result = await host.call("demo.echo", {"text": "ahoy"}, meta={"traceparent": "1"})
        assert result.text == "ahoy"
        words = "demo is not reached over HTTP: leave out `headers` when you call its tools."
        with pytest.raises(mooring.ConfigError) as caught:
            await host.call("demo.echo", {"text": "ahoy"}, headers={"X-User": "ann"})
        assert str(caught.value) == words
        async with host.conversation() as tools:
            outcome = await tools.call("mcp__demo__echo", {"text": "ahoy"}, headers={"X-User": "ann"})
            assert outcome.text == f"Error: {words}"
            # A tool that belongs to no server has no use for them.
            assert not (await tools.call("ListMcpResources", headers={"X-User": "ann"}, meta={"a": 1})).is_error


@pytest.mark.parametrize(
    ("extras", "words"),
    [
        ({"meta": {"progressToken": 1}}, "progressToken is set by the protocol. Leave it out of `meta`."),
        ({"meta": {"io.modelcontextprotocol/protocolVersion": "1"}}, "io.modelcontextprotocol/protocolVersion is set"),
        ({"headers": {"mcp-session-id": "x"}}, "The HTTP header mcp-session-id is set by the protocol."),
        ({"headers": {"Content-Length": "0"}}, "The HTTP header Content-Length is set by the protocol."),
        ({"headers": {"Cookie": "a=b"}}, "The HTTP header Cookie is set by the protocol."),
        ({"headers": {"X-A": "secret\r\nX-B: 2"}}, "The value of the HTTP header X-A contains a line break"),
        ({"headers": {"X A": "1"}}, "'X A' is not a valid name of an HTTP header."),
    ],
)
async def test_what_the_protocol_sets_cannot_be_overridden(home: Home, extras: Any, words: str) -> None:
    async with Site(session="abc") as site, opened(home, servers=web_server(site), policy="allow") as host:
        await host.ready()
        with pytest.raises(mooring.ConfigError) as caught:
            await host.call("web.echo", **extras)
        assert words in str(caught.value)
        assert "secret" not in str(caught.value)
        async with host.conversation() as tools:
            with pytest.raises(mooring.ConfigError):
                await tools.call("mcp__web__echo", **extras)
        assert site.said("tools/call") == []


async def test_a_cookie_that_one_user_is_given_is_not_sent_for_another(home: Home) -> None:
    def log_in(heard: ReceivedRequest) -> web.Response:
        body = heard.result(said(heard.headers.get("Cookie", "no cookie")))
        user = heard.headers.get("X-User", "nobody")
        return web.Response(body=body, content_type="application/json", headers={"Set-Cookie": f"session={user}"})

    async with Site() as site:
        site.answers["tools/call"] = log_in
        async with opened(home, servers=web_server(site), policy="allow") as host:
            assert (await host.call("web.echo", headers=who("ann"))).text == "no cookie"
            assert (await host.call("web.echo", headers=who("bob"))).text == "no cookie"
            assert (await host.call("web.echo")).text == "no cookie"
            assert (await host.call("web.echo")).text == "session=nobody"


async def test_a_stream_that_broke_is_resumed_with_the_headers_of_its_call(home: Home) -> None:
    async def break_off(heard: ReceivedRequest) -> web.StreamResponse:
        response = await heard.stream()
        await response.write(event(b"", key="1", retry=10))
        heard.abort()
        return response

    async def resume(heard: ReceivedRequest) -> web.StreamResponse:
        if "Last-Event-ID" not in heard.headers:
            return web.Response(status=405)
        response = await heard.stream()
        asked = site.said("tools/call")[0]
        await response.write(event(asked.result(said(heard.headers.get("X-User", "nobody"))), key="2"))
        return response

    async with Site(session="abc") as site:
        site.answers |= {"tools/call": break_off, "GET": resume}
        async with opened(home, servers=web_server(site), policy="allow") as host:
            assert (await host.call("web.echo", headers=who("ann"))).text == "ann"


async def test_an_error_does_not_repeat_a_secret_that_was_sent_with_the_call(home: Home) -> None:
    def refuse(heard: ReceivedRequest) -> dict[str, Any]:
        return {**said(f"no access with {heard.headers['Authorization']}"), "isError": True}

    async with Site() as site:
        site.answers["tools/call"] = refuse
        async with (
            opened(home, servers=web_server(site), policy="allow") as host,
            host.conversation(follow=True) as tools,
        ):
            await host.ready()
            outcome = await tools.call("mcp__web__echo", headers=who("ann"))
    assert outcome.is_error
    assert outcome.text == "Error: no access with •••"
    assert "token-of-ann" not in outcome.text
    assert "token-of-ann" not in (home.home / ".local/state/mooring/audit.jsonl").read_text()


async def test_a_server_that_is_connected_by_the_call_is_not_greeted_with_its_headers(home: Home) -> None:
    async with Site(session="abc") as site, opened(home, servers=web_server(site), policy="allow") as host:
        await host.call("web.echo", {"text": "ahoy"}, headers=who("ann"))
        headed = [heard.method for heard in site.heard if "X-User" in heard.headers]
    assert headed == ["tools/call"]
