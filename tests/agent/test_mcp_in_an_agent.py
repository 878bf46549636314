"""What an agent has to do with MCP, one test for each point: servers, tools, permissions, failures and resources."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.models import Call, FakeModel, Hold, ModelRequest, Say

from agent.doors import follow, pick, program
from backends.asking import MODELS, variables
from chat.terminal import Person
from mooring.core.conversation.event import QuestionAsked, ToolFinished
from mooring.core.conversation.question import Allow, Answer, Permission, Question
from support import DEMO, Actor, Cli, Home
from wire.test_sse import Old

SETTINGS = "home/.config/mooring/settings.json"


@pytest.fixture
def empty_stdin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with open("/dev/null") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        yield


async def test_tools_of_a_stdio_server_are_found_sent_to_the_model_and_called(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json", instructions="Count carefully.", describe={"count": "Counts up."})
    script = [Call("mcp__actor__count"), Say("Counted.")]
    async with (
        FakeModel(script) as fake,
        program(home, fake, servers={"actor": actor.entry}, policy="allow") as agent,
    ):
        events = await follow(agent, "Count")
    offered = {tool.name: tool for tool in fake.requests[0].tools}
    assert offered["mcp__actor__count"].description == "Counts up."
    assert offered["mcp__actor__count"].schema == {"type": "object", "properties": {}}
    assert "Count carefully." in fake.requests[0].system
    assert actor.done("answers") == ["count"]
    assert fake.requests[1].results[0].text == "count"
    assert [event.success for event in pick(events, ToolFinished)] == [True]


async def test_tools_of_an_sse_server_are_found_and_called(home: Home) -> None:
    script = [Call("mcp__web__echo", {"text": "over sse"}), Say("Done.")]
    async with Old() as site, FakeModel(script) as fake:
        servers = {"web": {"type": "sse", "url": site.url}}
        async with program(home, fake, servers=servers, policy="allow") as agent:
            assert (await agent.run("Echo")).text == "Done."
    assert "mcp__web__echo" in fake.requests[0].tool_names
    assert fake.requests[1].results[0].text == "over sse"


async def test_the_person_is_asked_before_a_call_that_no_rule_allows(home: Home) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> Answer:
        asked.append(question)
        return Allow()

    script = [Call("mcp__demo__echo", {"text": "hi"}), Say("Done.")]
    async with FakeModel(script) as fake, program(home, fake, ask=ask) as agent:
        events = await follow(agent, "Echo")
    (question,) = asked
    assert isinstance(question, Permission)
    assert (question.server, question.tool, question.arguments) == ("demo", "echo", {"text": "hi"})
    assert [event.question for event in pick(events, QuestionAsked)] == asked
    assert fake.requests[1].results[0].text == "hi"


@pytest.mark.parametrize("rule", ["mcp__*", "mcp__demo__*", "mcp__demo__echo", "demo.*"])
async def test_a_rule_that_allows_a_tool_lets_it_be_called_unasked(rule: str, home: Home) -> None:
    home.write(SETTINGS, {"permissions": [{"tool": rule, "action": "allow"}]})

    async def ask(question: Question) -> Answer:
        raise AssertionError(question)

    script = [Call("mcp__demo__echo", {"text": "hi"}), Say("Done.")]
    async with FakeModel(script) as fake, program(home, fake, ask=ask) as agent:
        await agent.run("Echo")
    assert fake.requests[1].results[0].text == "hi"


@pytest.mark.usefixtures("empty_stdin")
def test_servers_that_are_misconfigured_are_reported_and_the_rest_works(
    home: Home, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.configure(demo=DEMO, broken={"command": "no-such-program"}, odd={"args": []}, worse="text")
    script = [Call("mcp__demo__echo", {"text": "hi"}), Say("Done.")]
    with FakeModel(script) as fake:
        for name, value in variables(fake).items():
            monkeypatch.setenv(name, value)
        done = cli("-v", "chat", "-m", MODELS["anthropic"], "-p", "Echo", "--allow", "mcp__*")
    assert (done.code, done.out) == (0, "Done.\n")
    assert "Warning: MCP startup error: broken" in done.err
    assert "Warning: MCP config error:" in done.err
    assert "odd" in done.err
    assert "worse" in done.err
    assert fake.requests[1].results[0].text == "hi"


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal")
def test_the_servers_are_gone_after_ctrl_c(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    home.configure(actor=actor.entry)
    with FakeModel([[Say("Well,\n"), Hold("never")]]) as fake:
        with Person(home, "chat", "-m", MODELS["anthropic"], **variables(fake)) as person:
            person.answers(("\n> ", "Go"))
            person.sees("Well,")
            assert actor.done("starts")
            for seen in ("Stopped.", "Ctrl+C again leaves"):
                person.presses("\x03")
                person.sees(seen)
            person.presses("\x03")
            assert person.ended() == 0
            assert person.left() == []
        assert len(fake.abandoned) == 1


async def test_resources_are_listed_and_read_by_the_model(home: Home) -> None:
    def respond(request: ModelRequest) -> Any:
        if not request.all_results:
            return Call("ListMcpResources")
        if len(request.all_results) == 1:
            uris = [resource["uri"] for resource in json.loads(request.results[0].text)]
            return Call("ReadMcpResource", {"server": "demo", "uri": uris[uris.index("demo://readme")]})
        return Say(request.results[0].text)

    async with FakeModel(respond) as fake, program(home, fake, policy="allow") as agent:
        done = await agent.run("What does the readme say?")
    assert {"ListMcpResources", "ReadMcpResource"} <= set(fake.requests[0].tool_names)
    assert "Mooring demo" in done.text
