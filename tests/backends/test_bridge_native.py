"""Servers in full, for an agent that starts and reaches them itself: exactly what Mooring would start and reach."""

import asyncio
from math import inf
from typing import Any

import pytest
from aiohttp import web
from bridging import Person, Talk, make_server, open_host, talking

from mooring.backends.bridge.native import NativeAddress, NativeProgram, NativeServer
from mooring.core.conversation.question import Allow, Answer, MissingValue, Question, Yes
from mooring.testing import Issuer, Site, log_in
from mooring.testing.site import ReceivedRequest, event
from support import DEMO, Home

OWN = "home/.config/mooring/mcp.json"


async def find_native(talk: Talk) -> dict[str, NativeServer]:
    given, left_out = await talk.bridge.list_native()
    assert left_out == []
    return {server.server: server for server in given}


async def find_left_out(talk: Talk) -> dict[str, str]:
    given, left_out = await talk.bridge.list_native()
    assert given == []
    return {each.name: each.error for each in left_out}


async def test_a_program_is_given_as_mooring_would_start_it(home: Home) -> None:
    env = {"TOKEN": "${GITHUB_TOKEN}", "PLAIN": "x", "MADE": "!printf made"}
    entry = {**DEMO, "env": env, "cwd": str(home.home), "timeout": 7000}
    home.write(OWN, {"mcpServers": {"my box": entry}})
    async with open_host(home) as host, talking(host, way="native") as talk:
        server = (await find_native(talk))["my box"]
        program = server.connection
        assert isinstance(program, NativeProgram)
        assert (server.name, server.timeout, server.tools) == ("my_box", 7.0, None)
        assert [program.command, *program.args] == [DEMO["command"], *DEMO["args"]]
        assert program.cwd == str(home.home)
        given = {name: program.env[name] for name in env}
        assert given == {"TOKEN": "canary-environment", "PLAIN": "x", "MADE": "made"}
        # What looks like a secret in the person's environment is not for every server.
        assert "GITHUB_TOKEN" not in program.env
        assert "canary" not in repr(server)


async def test_a_server_of_the_project_is_given_once_it_is_approved(home: Home) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"theirs": DEMO}})

    async def say_yes(question: Question) -> Answer:
        return Yes()

    async with open_host(home, ask=say_yes) as host, talking(host, way="native") as talk:
        assert await find_native(talk) == {}
        assert await host.ask_about_server("theirs")
        program = (await find_native(talk))["theirs"].connection
        assert isinstance(program, NativeProgram)
        # A project's server gets the short list of harmless variables.
        assert set(program.env) <= {"HOME", "PATH"}


@pytest.mark.parametrize(("written", "given"), [("http", "http"), ("sse", "sse"), (None, "http")])
async def test_an_address_is_given_with_its_headers_and_its_transport(
    home: Home, written: str | None, given: str
) -> None:
    entry = {"url": "https://example.org/mcp", "headers": {"X-Key": "${GITHUB_TOKEN}"}}
    home.write(OWN, {"mcpServers": {"web": {"type": written, **entry} if written else entry}})
    async with open_host(home) as host, talking(host, way="native") as talk:
        server = (await find_native(talk))["web"]
        assert server.connection == NativeAddress(
            "https://example.org/mcp", {"X-Key": "canary-environment"}, "sse" if given == "sse" else "http"
        )
        assert "canary" not in repr(server)


class OldSite(Site):
    """A server that speaks the older transport alone, at the address that is configured."""

    async def _answer(self, heard: ReceivedRequest) -> web.StreamResponse:
        if heard.request.method == "GET":
            self.stream = await heard.stream()
            await self.stream.write(b"event: endpoint\ndata: /messages\n\n")
            await asyncio.Event().wait()
        if heard.request.path == self.path:
            return web.Response(status=405)
        answers: dict[str, Any] = {
            "initialize": {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}},
            "tools/list": {"tools": self.tools},
        }
        if heard.method in answers:
            await self.stream.write(b"event: message\n" + event(heard.result(answers[heard.method])))
        return web.Response(status=202)


async def test_the_transport_that_last_connected_is_given_also_by_the_next_program(home: Home) -> None:
    async with OldSite() as site:
        home.write(OWN, {"mcpServers": {"web": {"url": site.url}}})
        async with open_host(home) as host, talking(host, way="native") as talk:
            before = (await find_native(talk))["web"].connection
            assert await host.ready() == {}
            after = (await find_native(talk))["web"].connection
        async with open_host(home) as host, talking(host, way="native") as talk:
            remembered = (await find_native(talk))["web"].connection
    found = [each.transport for each in (before, after, remembered) if isinstance(each, NativeAddress)]
    assert found == ["http", "sse", "sse"]


async def test_a_login_is_given_with_the_address(home: Home) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        home.configure(web={"type": "http", "url": site.url})
        async with open_host(home, ask=log_in) as host, talking(host, way="native") as talk:
            await host.login("web")
            address = (await find_native(talk))["web"].connection
        assert isinstance(address, NativeAddress)
        scheme, _, token = address.headers["Authorization"].partition(" ")
        assert scheme == "Bearer"
        assert issuer.is_valid(token, site.url)


async def test_what_only_mooring_can_reach_is_left_out_with_the_reason(home: Home) -> None:
    servers = {"object": make_server(), "socket": {"type": "http", "url": "unix:///tmp/none.sock"}}
    async with open_host(home, servers) as host, talking(host, way="native") as talk:
        left_out = await find_left_out(talk)
    assert "object" in left_out["object"]
    assert "socket" in left_out["socket"]


async def test_a_server_that_lacks_a_value_is_left_out_with_what_it_lacks(home: Home) -> None:
    home.write(OWN, {"mcpServers": {"blank": {"command": "${NOWHERE:-}"}}})
    async with open_host(home) as host, talking(host, way="native") as talk:
        assert "command" in (await find_left_out(talk))["blank"]


async def test_a_value_that_only_the_person_has_is_asked_for(home: Home) -> None:
    document = {
        "servers": {"demo": {**DEMO, "env": {"WORD": "${input:word}"}}},
        "inputs": [{"id": "word", "type": "promptString", "description": "A word"}],
    }
    person = Person(Yes("hello"))
    async with open_host(home, document, ask=person.ask) as host, talking(host, way="native") as talk:
        program = (await find_native(talk))["demo"].connection
    assert isinstance(program, NativeProgram)
    assert program.env["WORD"] == "hello"
    assert person.asked == [MissingValue("demo", "word", "A word")]


async def test_filters_become_the_names_of_the_tools_that_they_leave(home: Home) -> None:
    home.write(OWN, {"mcpServers": {"demo": {**DEMO, "allowedTools": ["a*", "echo"], "blockedTools": ["a?k*"]}}})
    async with open_host(home) as host, talking(host, Person(Allow("once")), way="native") as talk:
        tools = (await find_native(talk))["demo"].tools
        assert tools is not None
        assert set(tools) == set(host.tools_by_server["demo"])
        assert {"add", "echo"} <= set(tools)


async def test_a_filter_that_cannot_be_applied_leaves_the_server_out(home: Home) -> None:
    home.write(OWN, {"mcpServers": {"gone": {"command": "/nowhere/to/be/found", "allowedTools": ["a"]}}})
    async with open_host(home) as host, talking(host, way="native") as talk:
        assert "does not exist" in (await find_left_out(talk))["gone"]


async def test_no_limit_in_the_file_is_no_limit_for_the_agent(home: Home) -> None:
    home.write(OWN, {"mcpServers": {"demo": {**DEMO, "timeout": 0}}})
    async with open_host(home) as host, talking(host, way="native") as talk:
        assert (await find_native(talk))["demo"].timeout == inf


async def test_a_disabled_server_is_not_given(home: Home) -> None:
    home.write(OWN, {"mcpServers": {"on": DEMO, "off": {**DEMO, "disabled": True}}})
    async with open_host(home) as host, talking(host, way="native") as talk:
        assert set(await find_native(talk)) == {"on"}
