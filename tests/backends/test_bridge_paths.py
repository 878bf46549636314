"""Each server at a path of its own, for an agent's program: what it sees there, and what it never sees."""

import asyncio
import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from bridging import Person, connect, make_server, open_host, read_history, talking, try_call

import mooring
from mooring.core.conversation.question import Form, Sampling, Yes
from mooring.core.conversation.verdict import CommandPermissions
from mooring.core.protocol.era import EraName
from mooring.core.protocol.limits import Timeout
from mooring.core.protocol.result import Progress
from mooring.errors import HttpError, NeedsLogin
from mooring.serve.http.checks import ListenAddress
from mooring.verbs.use.serve import ServeTerms, serve_on_http
from mooring.wire.session.client import Client
from support import DEMO, Home

ERAS = ("handshake", "stateless")
OTHER = {**DEMO, "env": {"OTHER": "1"}}
"""Another server: two names of one definition would be one."""
BOX = str(Path(__file__).parents[1] / "serve" / "server.py")


def tool_names(session: Any) -> set[str]:
    return {tool.name for tool in session.tools.items}


async def wait_until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 - it is told to another client, which says so to nobody
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_is_alone_at_its_path_under_its_own_names(home: Home, era: EraName) -> None:
    servers = {"one": make_server("one"), "two": make_server("two")}
    async with open_host(home, servers) as host, talking(host) as talk:
        for server in servers:
            async with talk.connect(server, era=era) as session:
                assert tool_names(session) == {"add", "whoami", "form", "write"}
                assert (await session.call_tool("whoami", {"nonce": "n"})).text == f"{server} n"


async def test_names_that_no_agent_takes_become_others_and_lead_back(home: Home) -> None:
    names = ("my box", "my.box", "MY_BOX", "a__b", "__", "x" * 90, "x" * 91, "häfen")
    async with open_host(home, {name: make_server(name) for name in names}) as host, talking(host) as talk:
        endpoints = {endpoint.server: endpoint for endpoint in talk.bridge.list_endpoints()}
        assert set(endpoints) == set(names)
        shown = [endpoint.name for endpoint in endpoints.values()]
        assert len({name.lower() for name in shown}) == len(names)
        assert all(name.replace("-", "").replace("_", "").isascii() and "__" not in name for name in shown)
        assert all(len(name) <= 45 for name in shown)
        for server, endpoint in endpoints.items():
            assert talk.bridge.find_server(endpoint.name) == talk.bridge.find_server(endpoint.name.upper()) == server
            async with connect(endpoint) as session:
                assert (await session.call_tool("whoami", {})).text == f"{server} "
        assert talk.bridge.find_server("nobody") is None


async def test_a_tool_is_found_as_an_agent_writes_it(home: Home) -> None:
    server = make_server()
    for name in ("read.file", "a b", "a_b"):

        def tool() -> None:
            """Does nothing."""

        tool.__name__ = name
        server.tool(tool)
    async with open_host(home, {"box": server}) as host, talking(host) as talk:
        await host.ready()
        assert talk.bridge.find_tool("box", "read_file") == "read.file"
        assert talk.bridge.find_tool("box", "add") == "add"
        assert talk.bridge.find_tool("box", "a_b") == "a_b"
        # Either could be meant: nobody guesses which.
        assert talk.bridge.find_tool("box", "a-b") == "a-b"


async def test_without_the_token_of_the_conversation_nothing_is_told(home: Home) -> None:
    async with open_host(home, {"box": make_server()}) as host, talking(host) as talk, talking(host) as other:
        endpoint = talk.find("box")
        elsewhere = endpoint.url.replace("/servers/box", "/servers/none")
        wrong = [{}, {"Authorization": "Bearer x"}, dict(other.find("box").headers)]
        async with aiohttp.ClientSession() as http:
            for headers in wrong:
                for url in (endpoint.url, elsewhere):
                    async with http.post(url, json={}, headers=headers) as answer:
                        assert answer.status == 401
            for path in ("/servers/none", "/servers/", "/servers/box/", "/servers/../mcp", "/mcp"):
                url = endpoint.url.replace("/servers/box", path)
                async with http.post(url, json={}, headers=endpoint.headers) as answer:
                    assert answer.status == 404, path
        assert endpoint.headers["Authorization"] not in repr(endpoint) + repr(talk.bridge)
        with pytest.raises((NeedsLogin, HttpError)):
            async with mooring.connect(endpoint.url):
                pass


async def test_a_session_of_one_path_is_unknown_at_another(home: Home) -> None:
    servers = {"one": make_server("one"), "two": make_server("two")}
    async with open_host(home, servers) as host, talking(host) as talk, aiohttp.ClientSession() as http:
        one, two = talk.find("one"), talk.find("two")
        session = await begin_session(http, one.url, one.headers)
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whoami"}}
        headers = {**one.headers, "Mcp-Session-Id": session}
        async with http.post(two.url, json=call, headers=headers) as answer:
            assert answer.status == 404
        async with http.delete(two.url, headers=headers) as answer:
            assert answer.status == 404
        async with http.post(one.url, json=call, headers=headers) as answer:
            assert (await answer.json())["result"]["content"][0]["text"] == "one "


async def begin_session(http: aiohttp.ClientSession, url: str, headers: Any) -> str:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    async with http.post(url, json=message, headers=headers) as answer:
        return answer.headers["Mcp-Session-Id"]


@pytest.mark.parametrize("era", ERAS)
async def test_what_a_server_asks_goes_to_the_person_and_never_to_the_agent(home: Home, era: EraName) -> None:
    async def answer(question: Any) -> Any:
        if isinstance(question, Form):
            return Yes({"name": "Ada"})
        if isinstance(question, Sampling):
            return Yes({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Written."}})
        return Yes()

    def refuse(_: Any) -> Any:
        raise AssertionError("the agent was asked")

    agent = Client(elicit=refuse, sample=refuse)
    person, stranger = Person(answer), Person(answer)
    async with (
        open_host(home, {"box": make_server()}) as host,
        talking(host, person) as talk,
        talking(host, stranger),
        talk.connect("box", era=era, client=agent) as session,
    ):
        assert "Ada" in (await session.call_tool("form", {})).text
        assert "Written." in (await session.call_tool("write", {})).text
    assert [type(question).__name__ for question in person.asked] == ["Permission", "Form", "Permission", "Sampling"]
    assert stranger.asked == []


@pytest.mark.parametrize("era", ERAS)
async def test_a_disabled_server_offers_nothing_refuses_calls_and_comes_back(home: Home, era: EraName) -> None:
    changed: list[str] = []
    heard = asyncio.Event()
    home.configure(demo=DEMO, other=OTHER)

    def note(kind: str) -> None:
        changed.append(kind)
        heard.set()

    async with open_host(home) as host, talking(host, policy="allow") as talk:
        changes: list[int] = []
        talk.bridge.on_change(lambda: changes.append(len(talk.bridge.list_endpoints())))
        async with talk.connect("demo", era=era, client=Client(on_change=note)) as session:
            assert (await session.call_tool("echo", {"text": "x"})).text == "x"
            heard.clear()
            home.configure(demo={**DEMO, "disabled": True}, other=OTHER)
            await host.reload()
            await heard.wait()
            assert (await session.list_tools()).items == ()
            assert "disabled" in await try_call(session, "echo", {"text": "x"})
            assert [endpoint.server for endpoint in talk.bridge.list_endpoints()] == ["other"]
            heard.clear()
            home.configure(demo=DEMO, other=OTHER)
            await host.reload()
            await heard.wait()
            assert "echo" in {tool.name for tool in (await session.list_tools()).items}
            assert (await session.call_tool("echo", {"text": "y"})).text == "y"
        await wait_until(lambda: changes == [1, 2])
    assert "tools" in changed


@pytest.mark.parametrize("era", ERAS)
async def test_a_change_of_tools_reaches_the_agents_of_that_server_alone(home: Home, era: EraName) -> None:
    changed: dict[str, list[str]] = {"one": [], "two": []}
    entry = {"command": sys.executable, "args": [BOX, "handshake"]}
    async with (
        open_host(home, {"one": entry, "two": entry | {"env": {"X": "1"}}}) as host,
        talking(host, policy="allow") as talk,
        talk.connect("one", era=era, client=Client(on_change=changed["one"].append)) as one,
        talk.connect("two", era=era, client=Client(on_change=changed["two"].append)) as two,
    ):
        await two.list_tools()
        changed["two"].clear()
        await one.call_tool("grow", {})
        await wait_until(lambda: "tools" in changed["one"])
        assert "grown" in {tool.name for tool in (await one.list_tools()).items}
        assert changed["two"] == []


async def test_an_agent_hears_that_its_call_waits_for_the_person(home: Home) -> None:
    enough = asyncio.Event()
    steps: list[Progress] = []

    async def answer(_: Any) -> Any:
        await enough.wait()
        return Yes()

    def note(step: Progress) -> None:
        steps.append(step)
        if len(steps) == 3:
            enough.set()

    async with (
        open_host(home, {"box": make_server()}) as host,
        talking(host, Person(answer), beat=0.01) as talk,
        talk.connect("box") as session,
    ):
        assert (await session.call_tool("add", {"a": 1, "b": 2}, on_progress=note)).text == "3"
    values = [step.progress for step in steps]
    assert values == sorted(set(values))
    assert values[-1] < 0.001
    assert {step.message for step in steps} == {"Waiting for an answer"}


async def test_a_question_may_take_longer_than_the_server_may(home: Home) -> None:
    async def answer(_: Any) -> Any:
        await asyncio.sleep(0.6)
        return Yes({"name": "Ada"})

    async with (
        open_host(home, {"box": make_server()}, timeout=Timeout(idle=0.2, total=0.4)) as host,
        talking(host, Person(answer)) as talk,
        talk.connect("box") as session,
    ):
        assert (await session.call_tool("add", {"a": 1, "b": 2})).text == "3"
        assert "Ada" in (await session.call_tool("form", {})).text


async def test_calls_of_agents_are_on_record_as_calls_of_the_server(home: Home) -> None:
    async with (
        open_host(home, {"my box": make_server()}) as host,
        talking(host) as talk,
        talk.connect("my box") as session,
    ):
        await session.call_tool("add", {"a": 1, "b": 2})
    [entry] = read_history(home)
    assert (entry.server, entry.tool, entry.outcome) == ("my box", "add", "ok")


async def test_nothing_listens_after_the_conversation_and_its_calls_end(home: Home) -> None:
    started, forever = asyncio.Event(), asyncio.Event()

    async def answer(_: Any) -> Any:
        started.set()
        await forever.wait()

    async with open_host(home, {"box": make_server()}) as host:
        async with talking(host, Person(answer)) as talk, aiohttp.ClientSession() as http:
            endpoint = talk.find("box")
            id = await begin_session(http, endpoint.url, endpoint.headers)
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add"}}
            waiting = asyncio.ensure_future(
                http.post(endpoint.url, json=call, headers={**endpoint.headers, "Mcp-Session-Id": id})
            )
            await started.wait()
        await asyncio.wait({waiting})
        async with aiohttp.ClientSession() as http:
            with pytest.raises(aiohttp.ClientConnectionError):
                await http.post(endpoint.url, json={}, headers=endpoint.headers)
        assert not [task for task in asyncio.all_tasks() if "mooring client" in task.get_name()]


async def test_in_the_native_way_nothing_listens(home: Home) -> None:
    async with open_host(home, {"box": make_server()}) as host, talking(host, way="native") as talk:
        assert talk.bridge.list_endpoints() == []


async def test_a_call_at_a_path_costs_no_more_than_one_of_all_servers(home: Home) -> None:
    terms = ServeTerms("raw", permissions=CommandPermissions(mode="bypass"))
    async with (
        open_host(home, {"box": make_server()}) as host,
        talking(host, policy="allow") as talk,
        serve_on_http(host, terms, ListenAddress("127.0.0.1", 0), token=False) as listening,
        mooring.connect(listening.url) as whole,
        mooring.connect(talk.find("box").url, headers=talk.find("box").headers) as alone,
    ):
        costs: dict[str, list[float]] = {"whole": [], "alone": []}
        gc.disable()
        try:
            for _ in range(8):
                for name, session in (("whole", whole), ("alone", alone)):
                    costs[name].append(await measure(session))
        finally:
            gc.enable()
    assert min(costs["alone"]) < 1.3 * min(costs["whole"])


async def measure(session: Any) -> float:
    began = time.process_time()
    for _ in range(60):
        await session.call_tool("whoami", {})
    return time.process_time() - began
