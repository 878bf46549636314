"""One `ask` for everything: a program that opens a host gets the same questions as the chat and the commands."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

import mooring
from mooring.core.conversation.question import Allow, Answer, Approval, ChangedTools, MissingValue, No, Question, Yes
from mooring.core.conversation.status import Idle, NeedsInput
from mooring.host.host import Host
from support import DEMO, Actor, Home, live_server

ASKER = {"command": sys.executable, "args": ["-S", str(Path(__file__).parents[1] / "cli" / "asker.py")]}


class Person:
    """Gives one answer to each question of a kind, and remembers all of them."""

    def __init__(self, **answers: Answer) -> None:
        self.answers = answers
        self.asked: list[Question] = []

    async def __call__(self, question: Question) -> Answer:
        self.asked.append(question)
        await asyncio.sleep(0.05)  # nobody answers at once
        return self.answers.get(type(question).__name__, No())


def opened(home: Home, ask: Person | None, **more: Any) -> Host:
    return mooring.open(request=home.request(), ask=ask, policy="allow", **more)


def propose(home: Home, **servers: Any) -> None:
    home.write("project/.mcp.json", {"mcpServers": servers})


# --- servers of the project -------------------------------------------------------------------------------------------


async def test_a_projects_server_is_asked_about_when_it_is_called_and_not_before(home: Home) -> None:
    propose(home, linear=DEMO)
    person = Person(Approval=Yes())
    async with opened(home, person) as host:
        await host.ready()
        assert person.asked == []
        assert (await host.call("linear.add", {"a": 1, "b": 1})).structured == {"sum": 2}
    [question] = person.asked
    assert isinstance(question, Approval)
    assert question.server == "linear"
    assert dict(question.rows)["runs"].endswith("-I -m mooring.demo")
    assert any("not checked" in text for _, text in question.rows)
    async with opened(home, None) as host:
        await host.call("linear.add", {"a": 1, "b": 1})


@pytest.mark.parametrize("answer", [No(), Allow("always")])
async def test_nothing_but_a_yes_approves_a_server(home: Home, tmp_path: Path, answer: Answer) -> None:
    actor = Actor(tmp_path / "actor.json")
    propose(home, linear=actor.entry)
    async with opened(home, Person(Approval=answer)) as host:
        for use in (host.call("linear.whoami"), host.find("linear.whoami"), host.resources("linear")):
            with pytest.raises(mooring.NotApproved):
                await use
    assert actor.done("starts") == []


async def test_without_anybody_to_ask_a_projects_server_is_refused(home: Home) -> None:
    propose(home, linear=DEMO)
    async with opened(home, None) as host:
        with pytest.raises(mooring.NotApproved, match="mooring mcp approve linear"):
            await host.call("linear.add", {"a": 1, "b": 1})


@pytest.mark.parametrize("answer", [Yes(), No()])
async def test_calls_at_the_same_time_share_one_question(home: Home, answer: Answer) -> None:
    propose(home, linear=DEMO)
    person = Person(Approval=answer)
    async with opened(home, person) as host:
        calls = (host.call("linear.add", {"a": 1, "b": 1}) for _ in range(5))
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert len(person.asked) == 1
    assert {isinstance(outcome, mooring.NotApproved) for outcome in outcomes} == {isinstance(answer, No)}


async def test_what_is_approved_is_what_was_shown(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")

    class Slow(Person):
        async def __call__(self, question: Question) -> Answer:
            propose(home, linear=actor.entry)  # the file changes while the question is open
            return await super().__call__(question)

    propose(home, linear=DEMO)
    person = Slow(Approval=Yes())
    async with opened(home, person) as host:
        await host.call("linear.whoami")
    first, second = person.asked
    assert isinstance(first, Approval)
    assert isinstance(second, Approval)
    assert "mooring.demo" in dict(first.rows)["runs"]
    assert "actor.py" in dict(second.rows)["runs"], "the definition that took its place was asked about on its own"


# --- tools that changed -----------------------------------------------------------------------------------------------


async def change_tools(home: Home, tmp_path: Path) -> Actor:
    actor = Actor(tmp_path / "actor.json", tools=["x"], describe={"x": "Harmless."})
    home.configure(actor=actor.entry)
    async with opened(home, None) as host:
        await host.call("actor.x")
    actor.tell(tools=["x"], describe={"x": "Different."})
    return actor


async def test_a_tool_that_changed_is_shown_and_called_once_it_is_approved(home: Home, tmp_path: Path) -> None:
    await change_tools(home, tmp_path)
    person = Person(ChangedTools=Yes())
    async with opened(home, person) as host:
        await host.ready(servers=["actor"], refresh=True)
        await host.call("actor.x")
        await host.call("actor.x")
    [question] = person.asked
    assert isinstance(question, ChangedTools)
    [tool] = question.tools
    assert (tool.tool, tool.kind) == ("x", "changed")
    assert "+description: Different." in tool.diff


@pytest.mark.parametrize("answer", [No(), Allow("always")])
async def test_nothing_but_a_yes_approves_a_tool(home: Home, tmp_path: Path, answer: Answer) -> None:
    actor = await change_tools(home, tmp_path)
    async with opened(home, Person(ChangedTools=answer)) as host:
        await host.ready(servers=["actor"], refresh=True)
        with pytest.raises(mooring.HeldBack):
            await host.call("actor.x")
    assert len(actor.done("answers")) <= 1, "only the call before the change was answered"


# --- inputs -----------------------------------------------------------------------------------------------------------


def need_token(home: Home) -> None:
    entry = {"type": "stdio", **ASKER, "env": {"TOKEN": "${input:tok}"}}
    inputs = [{"type": "promptString", "id": "tok", "password": True}]
    home.write("home/.config/Code/User/mcp.json", {"inputs": inputs, "servers": {"vault": entry}})


async def test_an_input_is_asked_for_when_its_server_is_used_and_not_before(home: Home) -> None:
    need_token(home)
    person = Person(MissingValue=Yes("hush"))
    async with opened(home, person) as host:
        errors = await host.ready()
        assert isinstance(errors["vault"], mooring.InputMissing)
        assert await host.resources() == []
        assert (person.asked, host.status()["vault"]) == ([], NeedsInput(("tok",)))
        result = await host.call("vault.token")
        assert result.content[0].text == "backwards: hsuh"  # type: ignore[union-attr]
        assert person.asked == [MissingValue("vault", "tok", secret=True)]
        await live_server(host, "vault").restart()
        assert host.status()["vault"] == Idle(), "it was answered"
        await host.call("vault.token")
        assert len(person.asked) == 1


async def test_many_starts_that_lack_an_input_suspend_nothing(home: Home) -> None:
    need_token(home)
    async with opened(home, None) as host:
        for _ in range(10):
            with pytest.raises(mooring.InputMissing):
                await host.call("vault.token")
        assert host.status()["vault"] == NeedsInput(("tok",))
