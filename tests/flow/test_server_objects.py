"""Servers that a program passes in, in every shape: whole files, entries, values, and objects that are servers."""

import asyncio
import os
from typing import Any

import pytest

import mooring
import mooring.testing
from support import DEMO, Home


def make_server(name: str = "own", **options: Any) -> mooring.testing.Server:
    server = mooring.testing.Server(name, **options)

    @server.tool
    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    return server


def open_host(home: Home, servers: Any, **options: Any) -> mooring.Host:
    return mooring.open(request=home.request(), servers=servers, **options)


async def test_a_whole_file_is_taken_as_what_it_holds(home: Home) -> None:
    for document in (
        {"mcpServers": {"demo": DEMO}},
        {"servers": {"demo": {"type": "stdio", **DEMO}}, "inputs": []},
        {"demo": DEMO},
    ):
        async with open_host(home, document, policy="allow") as host:
            assert host.problems == ()
            assert (await host.call("demo.echo", {"text": "x"})).text == "x"


async def test_a_server_may_be_called_servers(home: Home) -> None:
    async with open_host(home, {"servers": DEMO, "mcpServers": DEMO}) as host:
        assert sorted(host.status()) == ["mcpServers", "servers"]


async def test_inputs_of_a_whole_file_are_asked_for(home: Home) -> None:
    document = {
        "servers": {"demo": {**DEMO, "env": {"WORD": "${input:word}"}}},
        "inputs": [{"id": "word", "type": "promptString", "description": "A word"}],
    }
    asked: list[mooring.Question] = []

    async def ask(question: mooring.Question) -> mooring.Answer:
        asked.append(question)
        return mooring.Yes("hello")

    async with open_host(home, document, ask=ask) as host:
        assert await host.ready(servers=["demo"]) == {}
    assert asked == [mooring.MissingValue("demo", "word", "A word")]


async def test_an_object_passes_the_same_gate_and_log_as_a_program(home: Home) -> None:
    server = make_server()
    asked: list[mooring.Question] = []

    async def ask(question: mooring.Question) -> mooring.Answer:
        asked.append(question)
        return mooring.Allow() if len(asked) == 1 else mooring.No()

    async with open_host(home, {"own": server, "demo": DEMO}, ask=ask) as host:
        assert await host.ready() == {}
        assert isinstance(host.status()["own"], mooring.Connected)
        assert all(isinstance(tool, mooring.Tool) for tool in host.tools)
        assert (await host.call("own.add", {"a": 2, "b": 40})).text == "42"
        with pytest.raises(mooring.Denied):
            await host.call("own.add", {"a": 2, "b": 41})
        async with host.conversation(policy="allow", rules=[mooring.Rule("own.add", "deny")]) as tools:
            assert (await tools.call("mcp__own__add", {"a": 1, "b": 1})).is_error
    assert [type(question) for question in asked] == [mooring.Permission, mooring.Permission]
    calls = [message for message in server.received if message.get("method") == "tools/call"]
    assert len(calls) == 1
    log = "".join(path.read_text() for path in home.home.rglob("audit*.jsonl"))
    assert log.count('"add"') == 3


async def test_objects_are_named_by_the_program_or_by_themselves(home: Home) -> None:
    one, other = make_server("one"), make_server("other")
    for servers, names in [(one, ["one"]), ([one, other], ["one", "other"]), ({"a": one, "b": other}, ["a", "b"])]:
        async with open_host(home, servers, policy="allow") as host:
            assert await host.ready() == {}
            assert sorted(host.servers) == names
            assert [tool.server for tool in host.tools] == names


async def test_a_value_may_be_mixed_with_objects_and_entries(home: Home) -> None:
    home.write("home/.mcp.json", {"mcpServers": {"kept": DEMO}})
    config = next(choice.definition.config for choice in home.inventory().choices)
    async with open_host(home, {"value": config, "entry": {**DEMO, "timeout": 5}, "own": make_server()}) as host:
        assert sorted(host.servers) == ["entry", "own", "value"]


async def test_an_object_that_dies_is_connected_again(home: Home) -> None:
    server = make_server()
    async with open_host(home, server, policy="allow") as host:
        await host.ready()
        events = host.events()
        server.die()
        async for event in events:
            if isinstance(event, mooring.StatusChanged) and not isinstance(event.status, mooring.Connected):
                break
        assert (await host.call("own.add", {"a": 1, "b": 1})).text == "2"


async def test_an_object_stays_connected_when_others_change(home: Home) -> None:
    server = make_server()
    async with open_host(home, {"own": server}, policy="allow") as host:
        await host.ready()
        await host.apply({"own": server, "demo": DEMO})
        await host.call("own.add", {"a": 1, "b": 1})
        await host.apply({"demo": DEMO})
        assert list(host.servers) == ["demo"]
    assert [message["method"] for message in server.received].count("initialize") == 1


async def test_nothing_of_an_object_is_remembered_for_the_next_program(home: Home) -> None:
    async with open_host(home, {"own": make_server(), "demo": DEMO}) as host:
        await host.ready()
    assert len(os.listdir(f"{home.where.cache}/catalog")) == 1  # the program's


async def test_a_session_with_an_object_needs_no_host() -> None:
    async with mooring.connect(make_server()) as session:
        assert all(isinstance(tool, mooring.ListedTool) for tool in session.tools.items)
        assert (await session.call_tool("add", {"a": 1, "b": 2})).text == "3"
    with pytest.raises(mooring.ConfigError, match="not a value of type object"):
        async with mooring.connect(object()):
            pass


@pytest.mark.parametrize(
    ("servers", "words"),
    [
        ({"x": object()}, "The server 'x' is given as a value of type object"),
        ([object()], "as ServerConfig values, or as server objects"),
        (object(), "as ServerConfig values, or as server objects"),
    ],
)
def test_what_is_no_server_is_refused_in_a_sentence(home: Home, servers: Any, words: str) -> None:
    with pytest.raises(mooring.ConfigError, match=words):
        open_host(home, servers)


def test_two_objects_of_one_name_are_refused(home: Home) -> None:
    with pytest.raises(mooring.ConfigError, match="Two servers are called 'own'"):
        open_host(home, [make_server(), make_server()])


async def test_a_tool_of_an_object_that_never_answers_is_cancelled(home: Home) -> None:
    server = make_server()
    began, ended = asyncio.Event(), asyncio.Event()

    @server.tool
    async def hang() -> str:
        """Never answers."""
        began.set()
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()
        return ""

    async with open_host(home, server, policy="allow") as host:
        with pytest.raises(mooring.TimedOut):
            await host.call("own.hang", timeout=0.2)
        await asyncio.wait_for(ended.wait(), 100)
    assert began.is_set()


async def test_loading_in_one_step_takes_the_rules_the_policy_and_a_person(home: Home) -> None:
    asked: list[mooring.Question] = []

    async def ask(question: mooring.Question) -> mooring.Answer:
        asked.append(question)
        return mooring.No("not now")

    request = home.request()
    servers = {"own": make_server(), "gone": {"command": "/nowhere"}}
    async with mooring.discover_and_load(servers=servers, policy="allow", request=request, timeout=20) as loaded:
        assert (list(loaded.errors), [tool.name for tool in loaded.tools]) == (["gone"], ["mcp__own__add"])
        assert repr(loaded) == "<Loaded, tools: 1, errors: 1>"
        assert (await loaded.host.call(loaded.tools[0], {"a": 1, "b": 1})).text == "2"
    rules = [mooring.Rule("own.add", "deny")]
    async with mooring.discover_and_load(servers=make_server(), policy="allow", rules=rules, request=request) as loaded:
        with pytest.raises(mooring.Denied):
            await loaded.host.call("own.add", {"a": 1, "b": 1})
    async with mooring.discover_and_load(servers=make_server(), ask=ask, request=request) as loaded:
        with pytest.raises(mooring.Denied, match="not now"):
            await loaded.host.call("own.add", {"a": 1, "b": 1})
    assert len(asked) == 1
