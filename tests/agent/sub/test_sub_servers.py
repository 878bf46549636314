"""Servers that an agent's own file defines: connected while the agent works, and for nobody else."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.models import Call, FakeModel, ModelRequest, Say

import mooring
from agent.doors import ask_command, follow, open_host, pick, program
from agent.sub.test_sub_agents import WORKER, start
from backends.asking import MODELS, until
from mooring import AgentDefinition, AgentOrigin
from mooring.core.conversation.event import QuestionAsked
from mooring.core.conversation.question import Answer, ApplyRules, Approval, No, Permission, Question, Yes
from support import DEMO, Actor, Home, run_beside

COUNT = Call("mcp__own__count")


def counter(actor: Actor, *, path: str = "", scope: Any = "user", name: str = "own") -> AgentDefinition:
    origin = AgentOrigin(scope, path=path)
    return AgentDefinition(name="counter", prompt="You count.", servers={name: actor.entry}, origin=origin)


def delegate(*names: str) -> Any:
    """Start these one after another, then look at what tools are left."""

    def respond(request: ModelRequest) -> Any:
        if request.first_user_text != "Delegate":
            return Say(f"I got {request.results[0].text}") if request.results else COUNT
        made = len(request.all_results)
        return start(f"Count {made}", names[made]) if made < len(names) else Say("Done.")

    return respond


async def test_the_servers_of_a_users_agent_live_as_long_as_it_works_and_nobody_else_has_them(
    home: Home, tmp_path: Path
) -> None:
    actor = Actor(tmp_path / "actor.json", instructions="Count on me.")
    agents = [counter(actor), WORKER]
    async with (
        FakeModel(delegate("counter", "worker")) as fake,
        open_host(home, fake) as host,
        mooring.agent(host, MODELS["anthropic"], policy="allow", agents=agents) as agent,
    ):
        assert (await agent.run("Delegate")).text == "Done."
        assert "own" not in host.servers
    assert len(actor.done("starts")) == 1
    by_task = {request.first_user_text: request for request in fake.requests}
    assert "mcp__own__count" in by_task["Count 0"].tool_names
    assert "Count on me." in by_task["Count 0"].system
    assert by_task["Count 0"].results[0].text == "count"
    for task in ("Delegate", "Count 1"):
        assert not any(name.startswith("mcp__own") for name in by_task[task].tool_names)
        assert "Count on me." not in by_task[task].system
    assert by_task["Count 1"].results[0].is_error


async def test_eight_agents_of_one_kind_share_one_process_and_it_ends_with_the_last(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")

    async def respond(request: ModelRequest) -> Any:
        if request.first_user_text == "Delegate":
            return Say("Done.") if request.results else [start(f"Count {number}", "counter") for number in range(8)]
        if not request.results:
            return COUNT
        # All of them are there before the first one ends.
        await until(lambda: len(actor.done("answers")) == 8)
        return Say("Counted.")

    async with (
        FakeModel(respond) as fake,
        open_host(home, fake) as host,
        mooring.agent(host, MODELS["anthropic"], policy="allow", agents=[counter(actor)]) as agent,
    ):
        await agent.run("Delegate")
        assert "own" not in host.servers
    assert len(actor.done("answers")) == 8
    assert len(actor.done("starts")) == 1


@pytest.mark.parametrize("answer", [Yes(), No()])
async def test_the_servers_of_a_repositorys_agent_wait_for_one_answer_of_the_person(
    answer: Answer, home: Home, tmp_path: Path
) -> None:
    actor = Actor(tmp_path / "actor.json")
    path = str(home.write("project/.claude/agents/counter.md", "---\nname: counter\n---\nYou count."))
    asked: list[Question] = []

    async def ask(question: Question) -> Answer:
        asked.append(question)
        await asyncio.sleep(0)
        return answer if isinstance(question, Approval) else mooring.Allow("session")

    definition = counter(actor, path=path, scope="project")
    script = delegate("counter", "counter")
    async with FakeModel(script) as fake, program(home, fake, ask=ask, agents=[definition]) as agent:
        events = await follow(agent, "Delegate")
    approvals = [question for question in asked if isinstance(question, Approval)]
    assert [question.server for question in approvals] == ["own"]
    assert str(tmp_path / "actor.json") in json.dumps(approvals[0].rows)
    assert [event.question for event in pick(events, QuestionAsked)] == asked
    results = [result.text for result in fake.requests[-1].all_results]
    if isinstance(answer, Yes):
        assert len(actor.done("answers")) == 2
        assert results == ["I got count"] * 2
    else:
        assert actor.done("starts") == []
        assert all("The server own of the agent counter was left out" in result for result in results)


@pytest.mark.parametrize("answer", [Yes(), No()])
async def test_the_approval_of_a_repositorys_agent_asks_about_the_persons_rules_too(
    answer: Answer, home: Home, tmp_path: Path
) -> None:
    actor = Actor(tmp_path / "actor.json")
    path = str(home.write("project/.claude/agents/counter.md", "---\nname: counter\n---\nYou count."))
    home.write("home/.config/mooring/settings.json", {"permissions": [{"tool": "own.*", "action": "allow"}]})
    asked: list[Question] = []

    async def ask(question: Question) -> Answer:
        asked.append(question)
        return answer if isinstance(question, ApplyRules) else Yes()

    definition = counter(actor, path=path, scope="project")
    async with FakeModel(delegate("counter")) as fake, program(home, fake, ask=ask, agents=[definition]) as agent:
        await follow(agent, "Delegate")
    about_own = [question for question in asked if question.server == "own"]
    expected = [Approval, ApplyRules] if isinstance(answer, Yes) else [Approval, ApplyRules, Permission]
    assert [type(question) for question in about_own] == expected
    assert actor.done("answers") == ["count"]


def test_without_somebody_to_ask_a_repositorys_servers_are_left_out_with_a_sentence(home: Home, tmp_path: Path) -> None:
    mine, theirs = Actor(tmp_path / "mine.json"), Actor(tmp_path / "theirs.json")
    home.write("home/.claude/agents/mine.md", _write_agent("mine", mine))
    home.write("project/.claude/agents/theirs.md", _write_agent("theirs", theirs))
    script = {
        "Delegate": [[start("Mine", "mine"), start("Theirs", "theirs")], Say("Done.")],
        "Mine": [COUNT, Say("counted")],
        "Theirs": [COUNT, Say("not counted")],
    }
    with FakeModel(script) as fake:
        done = ask_command(home, fake, "-p", "Delegate", "--allow", "mcp__*")
    assert done.code == 0, done.err
    assert mine.done("answers") == ["count"]
    assert theirs.done("starts") == []
    first, second = fake.requests[-1].results
    assert first.text == "counted"
    assert "to look and decide: mooring mcp approve --agent theirs own" in second.text
    for actor in (mine, theirs):
        assert all(not Path(f"/proc/{pid}").exists() for pid in actor.done("starts"))


def test_the_servers_of_a_repositorys_agent_are_approved_by_the_name_of_the_agent(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "theirs.json")
    home.write("project/.claude/agents/theirs.md", _write_agent("theirs", actor))
    home.write("project/.claude/agents/others.md", _write_agent("others", Actor(tmp_path / "others.json")))
    unknown = run_beside(home, "mcp", "approve", "own")
    assert (unknown.code, "No server is called 'own'" in unknown.err) == (2, True)
    asked = run_beside(home, "mcp", "approve", "--agent", "theirs", "own")
    assert asked.code == 4
    assert str(tmp_path / "theirs.json") in asked.err
    digest = asked.err.rpartition("mooring mcp approve --agent theirs --digest ")[2].split()[0]
    # What was shown of one agent's server says nothing about another's of the same name.
    assert run_beside(home, "mcp", "approve", "--agent", "others", "--digest", digest, "own").code == 4
    assert run_beside(home, "mcp", "approve", "--agent", "theirs", "--digest", digest, "own").out == "approved: own\n"
    script = {
        "Delegate": [[start("Theirs", "theirs"), start("Others", "others")], Say("Done.")],
        "Theirs": [COUNT, Say("counted")],
        "Others": [COUNT, Say("not counted")],
    }
    with FakeModel(script) as fake:
        assert ask_command(home, fake, "-p", "Delegate", "--allow", "mcp__*").code == 0
    assert actor.done("answers") == ["count"]
    assert "mooring mcp approve --agent others own" in fake.requests[-1].results[1].text
    reset = run_beside(home, "mcp", "reset", "--agent", "theirs", "own")
    assert reset.out == "own is undecided: it does not start until you approve it.\n"
    assert run_beside(home, "mcp", "reject", "--agent", "theirs", "own").out == "rejected: own\n"
    none = run_beside(home, "mcp", "approve", "--agent", "explore", "--all")
    assert (none.code, "The agent explore has no servers of its own." in none.err) == (2, True)


def test_whoever_starts_an_agent_is_told_which_servers_of_its_own_it_goes_without(home: Home, tmp_path: Path) -> None:
    home.write("project/.claude/agents/theirs.md", _write_agent("theirs", Actor(tmp_path / "theirs.json")))
    with FakeModel([Say("Hello.")]) as fake:
        done = ask_command(home, fake, "-p", "Hello", "--agent", "theirs")
    assert (done.code, done.out) == (0, "Hello.\n")
    assert done.err.startswith("Warning: The server own of the agent theirs was left out: ")
    assert done.err.endswith("; to look and decide: mooring mcp approve --agent theirs own\n")
    assert "mooring mcp approve --agent theirs own." in fake.requests[0].system


def test_a_server_of_an_agent_that_only_starts_slowly_is_not_said_to_be_left_out(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "mine.json")
    slowly = ["-c", 'sleep 3; exec "$0" "$@"', actor.entry["command"], *actor.entry["args"]]
    home.write(
        "home/.claude/agents/mine.md", _write_agent("mine", actor, {**actor.entry, "command": "sh", "args": slowly})
    )
    with FakeModel([Say("Hello.")]) as fake:
        done = ask_command(home, fake, "-p", "Hello", "--agent", "mine")
    assert (done.code, done.err) == (0, "")
    assert "left out" not in fake.requests[0].system


def _write_agent(name: str, actor: Actor, entry: Any = None) -> str:
    servers = json.dumps({"own": entry or actor.entry})
    return f"---\nname: {name}\ndescription: Counts.\nmcpServers: {servers}\n---\nYou count."


async def test_a_server_whose_name_is_taken_is_left_out_and_the_configured_one_stays(
    home: Home, tmp_path: Path
) -> None:
    actor = Actor(tmp_path / "actor.json")
    definition = counter(actor, name="demo")
    script = {
        "Delegate": [start("Echo", "counter"), Say("Done.")],
        "Echo": [Call("mcp__demo__echo", {"text": "hi"}), Say("echoed")],
    }
    servers = {"demo": DEMO}
    async with FakeModel(script) as fake, open_host(home, fake, servers) as host:
        async with mooring.agent(host, MODELS["anthropic"], policy="allow", agents=[definition]) as agent:
            await agent.run("Delegate")
        assert "demo" in host.servers
    assert actor.done("starts") == []
    assert "another server of that name is configured" in fake.requests[-1].results[0].text
