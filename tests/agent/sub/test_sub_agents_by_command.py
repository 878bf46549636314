"""Servers in the hands of sub-agents, as people reach them: `mooring chat -p` and the chat at a terminal."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.models import Call, FakeModel, Hold, ModelRequest, Say

from agent.doors import ask_command, wait_until
from agent.sub.test_sub_agents import start
from backends.asking import MODELS, variables
from chat.terminal import Person
from support import DEMO, Actor, Home
from wire.test_sse import Old

SETTINGS = "home/.config/mooring/settings.json"
AGENT = "general-purpose"
ALLOW = [{"tool": "mcp__*", "action": "allow"}]
CALL_IT, READY = 'because …"): ', "\n> "
at_terminal = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal")


@pytest.fixture
def home(home: Home) -> Home:
    """A home whose servers are waited for, however long a busy machine takes to start them."""
    home.write(SETTINGS, {"permissions": ALLOW})
    return home


def hand_on(*inner: Any) -> dict[str, Any]:
    """The agent hands its task to a sub-agent, which does this."""
    return {"Delegate": [start("Do it", AGENT), Say("Done.")], "Do it": list(inner)}


def test_a_sub_agent_sees_and_uses_the_tools_of_a_stdio_server_without_a_second_process(
    home: Home, tmp_path: Path
) -> None:
    actor = Actor(tmp_path / "actor.json", describe={"count": "Counts up."})
    home.configure(actor=actor.entry)
    script = {
        "Delegate": [[Call("mcp__actor__count"), start("Do it", AGENT)], Call("mcp__actor__count"), Say("Done.")],
        "Do it": [Call("mcp__actor__count"), Say("Counted.")],
    }
    with FakeModel(script) as fake:
        done = ask_command(home, fake, "-p", "Delegate")
    assert (done.code, done.out) == (0, "Done.\n")
    assert actor.done("answers") == ["count"] * 3
    assert len(actor.done("starts")) == 1
    outer, inner = (_first(fake, task) for task in ("Delegate", "Do it"))
    assert inner.tool_names == outer.tool_names
    assert {tool.name: tool.description for tool in inner.tools}["mcp__actor__count"] == "Counts up."
    assert [result.text for result in fake.requests[-1].all_results] == ["count", "Counted.", "count"]


async def test_a_sub_agent_uses_the_tools_of_an_sse_server_over_the_one_connection(home: Home) -> None:
    async with Old() as site:
        home.configure(web={"type": "sse", "url": site.url})
        script = hand_on(Call("mcp__web__echo", {"text": "over sse"}), Say("Echoed."))
        with FakeModel(script) as fake:
            done = await asyncio.to_thread(ask_command, home, fake, "-p", "Delegate")
        assert (done.code, done.out) == (0, "Done.\n")
        assert len(site.streams) == 1
    results = [result.text for request in fake.requests for result in request.results]
    assert results == ["over sse", "Echoed."]


def test_a_rule_that_allows_all_servers_holds_in_a_sub_agent_and_without_one_the_answer_names_what_was_denied(
    home: Home,
) -> None:
    home.configure(demo=DEMO)
    answers = []
    for rules in (ALLOW, []):
        home.write(SETTINGS, {"permissions": rules})
        with FakeModel(hand_on(Call("mcp__demo__echo", {"text": "hi"}), Say("Ok."))) as fake:
            answers.append(ask_command(home, fake, "-p", "Delegate", "--output-format", "json").data)
    allowed, denied = answers
    assert allowed["denied"] == []
    (refused,) = denied["denied"]
    assert (refused["server"], refused["tool"]) == ("demo", "echo")
    assert json.loads(refused["rule"]) == {"tool": "mcp__demo__echo", "action": "allow"}
    assert not denied["isError"]


def test_a_misconfigured_server_is_reported_and_sub_agents_go_on_without_it(home: Home) -> None:
    home.configure(demo=DEMO, broken={"command": "no-such-program"})
    with FakeModel(hand_on(Call("mcp__broken__any"), Call("mcp__demo__echo", {"text": "hi"}), Say("Ok."))) as fake:
        done = ask_command(home, fake, "-p", "Delegate")
    assert (done.code, done.out) == (0, "Done.\n")
    assert "broken" in done.err
    failed, echoed = [request.results[0] for request in fake.requests if request.results][:2]
    assert failed.is_error
    assert echoed.text == "hi"


def test_a_sub_agent_lists_and_reads_resources(home: Home) -> None:
    home.configure(demo=DEMO)

    def respond(request: ModelRequest) -> Any:
        if not request.all_results:
            return Call("ListMcpResources")
        if len(request.all_results) == 1:
            assert "demo://readme" in request.results[0].text
            return Call("ReadMcpResource", {"server": "demo", "uri": "demo://readme"})
        return Say(request.results[0].text)

    with FakeModel({"Delegate": [start("Do it", AGENT), Say("Done.")], "Do it": respond}) as fake:
        assert ask_command(home, fake, "-p", "Delegate").code == 0
    assert "Mooring demo" in fake.requests[-1].results[0].text


OTHER_DEMO = {**DEMO, "env": {"WHICH": "other"}}
READERS = "ListMcpResourcesTool, ReadMcpResourceTool"


def write_reader(home: Home, name: str, header: str) -> None:
    home.write(f"home/.claude/agents/{name}.md", f"---\nname: {name}\ndescription: d\n{header}\n---\nRead.\n")


def list_reached(home: Home, *agents: str, command: tuple[str, ...] = ()) -> set[str]:
    """The servers whose resources the last of these agents is listed; each starts the next one."""
    script: dict[str, Any] = {}
    for task, agent in zip(("Delegate", "Task 1", "Task 2"), agents, strict=False):
        script[task] = [start(f"Task {len(script) + 1}", agent), Say("Done.")]
    script[f"Task {len(agents)}" if agents else "Delegate"] = [Call("ListMcpResources"), Say("Listed.")]
    with FakeModel(script) as fake:
        done = ask_command(home, fake, *command, "-p", "Delegate")
    assert done.code == 0, done.err
    listed = next(result for request in fake.requests for result in request.results if result.text.startswith("["))
    return {resource["server"] for resource in json.loads(listed.text)}


@pytest.mark.parametrize(
    ("header", "reached"),
    [
        (f"tools: {READERS}", {"one", "two"}),
        (f"tools: {READERS}, Read", {"one", "two"}),
        (f"tools: {READERS}, mcp__one__echo", {"one"}),
        (f"tools: {READERS}, mcp__two", {"two"}),
        (f"tools: {READERS}\ndisallowedTools: mcp__two", {"one"}),
        (f"tools: {READERS}\ndisallowedTools: mcp__two__echo", {"one", "two"}),
        ("disallowedTools: mcp__one", {"two"}),
    ],
)
def test_resource_tools_reach_the_servers_that_a_file_names_or_else_every_one(
    home: Home, header: str, reached: set[str]
) -> None:
    home.configure(one=DEMO, two=OTHER_DEMO)
    write_reader(home, "reader", header)
    assert list_reached(home, "reader") == reached
    assert list_reached(home, command=("--agent", "reader")) == reached


@pytest.mark.parametrize("agent", ["explore", "plan"])
def test_the_agents_that_only_read_reach_the_resources_of_every_server(home: Home, agent: str) -> None:
    home.configure(one=DEMO, two=OTHER_DEMO)
    assert list_reached(home, agent) == {"one", "two"}
    # The gate holds as always.
    home.write(SETTINGS, {"permissions": [{"tool": "two.*", "action": "deny"}]})

    def respond(request: ModelRequest) -> Any:
        if not request.all_results:
            return Call("ReadMcpResource", {"server": "two", "uri": "demo://readme"})
        return Say(request.results[0].text)

    with FakeModel({"Delegate": [start("Do it", agent), Say("Done.")], "Do it": respond}) as fake:
        assert ask_command(home, fake, "-p", "Delegate").code == 0
    assert "Mooring demo" not in fake.requests[-1].results[0].text
    assert "two.*" in fake.requests[-1].results[0].text


@pytest.mark.parametrize(
    ("outer", "reached"),
    [
        ("disallowedTools: mcp__two", {"one"}),
        (f"tools: Agent, {READERS}, mcp__one__echo", {"one"}),
        (f"tools: Agent, {READERS}", {"one", "two"}),
    ],
)
def test_no_agent_reaches_a_server_that_the_agent_above_it_does_not(home: Home, outer: str, reached: set[str]) -> None:
    home.configure(one=DEMO, two=OTHER_DEMO)
    write_reader(home, "outer", outer)
    write_reader(home, "reader", f"tools: {READERS}")
    assert list_reached(home, "outer", "reader") == reached


@pytest.mark.processes
@at_terminal
def test_ctrl_c_ends_a_sub_agent_with_its_turn_and_leaves_no_process(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    home.configure(actor=actor.entry)
    script = {
        "Delegate": [[start("Sleep", AGENT), start("Talk", AGENT)], Say("Awake.")],
        "Sleep": [Call("mcp__actor__nap", {"seconds": 60})],
        "Talk": [[Say("Once upon"), Hold("never")]],
    }
    with FakeModel(script) as fake, Person(home, "chat", "-m", MODELS["anthropic"], **variables(fake)) as person:
        person.answers((READY, "Delegate"))
        wait_until(lambda: actor.done("naps") and len(fake.requests) == 3)
        person.presses("\x03")
        person.sees("Stopped.")
        wait_until(lambda: len(fake.abandoned) == 1)
        person.answers((READY, "And?"))
        person.sees("Awake.")
        person.sees(READY)
        person.presses("\x03")
        person.sees("Ctrl+C again leaves")
        person.presses("\x03")
        assert person.ended() == 0
        assert person.left() == []
    assert len(actor.done("starts")) == 1
    assert ["may have run" in result.text for result in fake.requests[-1].all_results] == [True, True]


@pytest.mark.processes
@at_terminal
def test_at_a_terminal_a_question_names_the_sub_agent_and_its_calls_stand_indented_behind_its_name(home: Home) -> None:
    home.write(SETTINGS, {})
    home.configure(demo=DEMO)
    script = {
        "Delegate": [start("Middle", AGENT), Say("All done.")],
        "Middle": [Call("mcp__demo__add", {"a": 2, "b": 40}), start("Bottom", "debugger"), Say("middle")],
        "Bottom": [Say("bottom")],
    }
    with FakeModel(script) as fake, Person(home, "chat", "-m", MODELS["anthropic"], **variables(fake)) as person:
        person.answers((READY, "Delegate"))
        person.sees(f"  {AGENT} · started: task of {AGENT}")
        asked = person.sees(CALL_IT)
        assert "🔌 demo / add" in asked
        assert f"wanted by the sub-agent {AGENT}" in asked
        person.types("o")
        person.sees(f"\n  {AGENT} · ✓ 🔌 demo / add a=2 b=40 · ")
        person.sees("\n    debugger · started: task of debugger")
        # Its own words are for whoever started it, and so is what it said at last.
        assert "bottom" not in person.sees("All done.")
        person.sees(READY)
        person.types("/quit")
        assert person.ended() == 0
        assert "Traceback" not in person.raw
        assert person.left() == []


def _first(fake: FakeModel, task: str) -> ModelRequest:
    return next(request for request in fake.requests if request.first_user_text == task)
