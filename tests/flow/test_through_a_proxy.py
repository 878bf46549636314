"""The faces with a host that could be in another process: through a proxy that lets plain values pass, and no more."""

import inspect
import io
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from msgspec.structs import replace
from tests.models import Call, FakeModel, Say

import mooring
from backends.asking import MODELS, variables
from backends.bridging import talking
from crossing import AS_THEY_ARE, Crossing, NotPlainError
from mooring.backends.bridge import bridge
from mooring.backends.bridge.bridge import AgentCall, McpTool
from mooring.chat import session as chat_session
from mooring.chat import session_servers
from mooring.chat.plain.chat import chat_in_lines
from mooring.core.conversation.verdict import CommandPermissions
from mooring.host.options import HostOptions
from mooring.verbs.agent import headless
from mooring.verbs.agent import turn as agent_turn
from mooring.verbs.agent.headless import HeadlessAnswer, TypedPrompt, run_headless
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.use import serve
from mooring.verbs.use import test as trial
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import open_host
from mooring.verbs.use.serve import ServeTerms, parse_address, serve_on_http
from support import DEMO, Home

TYPED = """add two numbers
1
2
40
o
/mcp
/mcp demo
/mcp reload demo
/mcp test demo
/mcp disable demo
/mcp enable demo
/mcp reload
/permissions
/tools
/resources
/read demo demo://readme
/prompts
/pins
/quit
"""


DOORS = (
    (session_servers, "follow_first_starts"),
    (headless, "follow_first_starts"),
    (agent_turn, "follow_first_starts"),
    (serve, "open_client"),
    (trial, "try_once"),
    (bridge, "HandedServers"),
)
"""Where a face opens something at a host that is no method of it, because programs have no use for it."""


def _go_through(way: Crossing, door: Any, name: str, *args: Any, **options: Any) -> Any:
    return way.call(door, name, args, options)


@pytest.fixture
def crossing(monkeypatch: pytest.MonkeyPatch) -> Crossing:
    """The way to every host: what opens something at a host does so on the host's side of it."""
    way = Crossing()
    for module, name in DOORS:
        monkeypatch.setattr(module, name, partial(_go_through, way, getattr(module, name), name))
    return way


def test_a_chat_needs_nothing_of_a_host_but_values(
    home: Home, crossing: Crossing, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"demo": DEMO}})

    @asynccontextmanager
    async def open_proxied(options: HostOptions) -> AsyncIterator[Any]:
        async with open_host(crossing.send(options, "HostOptions")) as host:
            yield crossing.wrap(host)

    monkeypatch.setattr(chat_session, "open_host", open_proxied)
    monkeypatch.setattr(sys, "stdin", io.StringIO(TYPED))
    chat_in_lines(home.request(), CommandPermissions())
    shown = capsys.readouterr().out
    assert '{"sum": 42}' in shown
    assert "● demo" in shown
    assert {"Host.conversation", "Conversation.call", "Host.servers", "Host.reload"} <= crossing.crossed.keys()


async def test_a_turn_without_a_person_needs_nothing_of_a_host_but_values(home: Home, crossing: Crossing) -> None:
    add = Call("mcp__demo__add", {"a": 2, "b": 40})
    task = Call("Agent", {"prompt": "Add, too", "description": "adds", "subagent_type": "general-purpose"})
    script = [[Say("Adding. "), add], [Say("Once more. "), task], add, Say("42 again."), Say("It is 42.")]
    answers: list[HeadlessAnswer] = []
    told: list[Any] = []
    async with FakeModel(script) as fake:
        request = home.request(where=replace(home.where, env={**home.env, **variables(fake)}))
        async with mooring.open(request=request, servers={"demo": DEMO}, policy="bypass") as host:
            await run_headless(
                crossing.wrap(host),
                Deadline(60),
                ConversationOptions(model=MODELS["anthropic"]),
                TypedPrompt("What is 2 + 40? See @demo:demo://readme"),
                on_event=lambda event: told.append(crossing.receive(event, "on_event")),
                on_problem=lambda problem: None,
                on_missing=lambda missing: None,
                on_waiting=lambda servers: None,
                on_answer=answers.append,
            )
        assert "A small MCP server" in str(fake.requests[0])
        assert "42" in fake.requests[1].results[0].text
        assert "42 again." in fake.requests[-1].results[-1].text
    assert [answer.text for answer in answers] == ["It is 42."]
    assert {"ToolStarted", "ToolFinished", "TurnDone"} <= {type(event).__name__ for event in told}
    assert {"Conversation.call", "Conversation.definitions"} <= crossing.crossed.keys()
    assert crossing.crossed["Host.conversation"] == 2, "one is part of the other"


async def test_a_client_that_is_served_needs_nothing_of_a_host_but_values(home: Home, crossing: Crossing) -> None:
    terms = ServeTerms(permissions=CommandPermissions(mode="bypass"))

    async def answer(request: dict[str, Any]) -> dict[str, Any]:
        return {"action": "accept", "content": {"answer": "blue"}}

    async with (
        mooring.open(request=home.request(), servers={"demo": DEMO}) as host,
        serve_on_http(crossing.wrap(host), terms, parse_address("127.0.0.1:0"), token=False) as listening,
        mooring.connect(listening.url, client=mooring.Client(elicit=answer)) as session,
    ):
        assert "mcp__demo__add" in {tool.name for tool in session.tools.items}
        result = await session.call_tool("mcp__demo__add", {"a": 2, "b": 40})
        assert "42" in str(result.content)
        asked = await session.call_tool("mcp__demo__ask", {"question": "Which color?"})
        assert "The person answered: blue" in str(asked.content)
        resources = await session.list_resources()
        assert await session.read_resource(resources.items[0].uri)
    assert {"GatewayClient.list_tools", "GatewayClient.call_tool"} <= crossing.crossed.keys()


@pytest.mark.parametrize("way", ["shared", "native"])
async def test_another_agents_program_needs_nothing_of_a_host_but_values(
    home: Home, crossing: Crossing, way: Literal["shared", "native"]
) -> None:
    numbers = {"a": 2, "b": 40}
    async with (
        mooring.open(request=home.request(), servers={"demo": DEMO}) as host,
        talking(crossing.wrap(host), way=way) as talk,
    ):
        await talk.bridge.permit(AgentCall("1", McpTool("demo", "add"), numbers))
        if way == "native":
            [given], left_out = await talk.bridge.list_native()
            assert (given.server, left_out) == ("demo", [])
        else:
            async with talk.connect("demo") as session:
                assert "42" in (await session.call_tool("add", numbers)).text
        assert len(talk.person.asked) == 1
    assert {"HandedServers.names", "Calls.permit"} <= crossing.crossed.keys()


async def test_what_is_no_value_is_refused_by_the_name_of_its_method(home: Home) -> None:
    async with mooring.open(request=home.request(), servers={"demo": DEMO}) as host:
        proxy = Crossing().wrap(host)
        with pytest.raises(NotPlainError, match=r"Host\._runtime"):
            proxy._runtime  # noqa: B018 - looking it up is the test
        with pytest.raises(NotPlainError, match=r"Host\.read\(0\): pathlib"):
            await proxy.read(Path("demo"), "x:y")


def test_every_exception_is_a_member_of_a_host_or_a_conversation() -> None:
    for what in AS_THEY_ARE:
        holder, _, member = what.partition("(")[0].partition(".")
        assert member in dir(getattr(mooring, holder)) or f"self.{member} =" in inspect.getsource(mooring.Conversation)
