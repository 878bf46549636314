"""Many conversations with one host: each has its own questions, answers and rules, and none waits for another."""

import asyncio
import copy
import json
import pickle
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import pytest
from msgspec import Raw
from test_gatekeeping import Person, log, opened, settings
from test_host import Actor

import mooring
from mooring.core.conversation.call import ToolName
from mooring.core.conversation.event import ToolFinished, ToolProgress, ToolStarted
from mooring.core.conversation.question import Allow, Answer, No, Permission, Question
from mooring.core.conversation.verdict import Rule
from mooring.core.protocol.content import Text
from mooring.core.protocol.result import Result
from mooring.core.protocol.tool import Tool
from support import DEMO, Home

USERS = 50


@pytest.fixture
def actor(home: Home, tmp_path: Path) -> Actor:
    actor = Actor(tmp_path / "actor.json")
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"actor": actor.entry}})
    return actor


class SlowPerson:
    """Thinks for a while before each answer, which is the person's own."""

    def __init__(self, number: int, seconds: float) -> None:
        self.asked = 0
        self._answer: Answer = Allow("once") if number % 2 else No(f"user {number} does not want that")
        self._seconds = seconds

    async def __call__(self, question: Question) -> Answer:
        assert isinstance(question, Permission)
        self.asked += 1
        await asyncio.sleep(self._seconds)
        return self._answer


async def test_fifty_users_get_their_own_answers_and_none_waits_for_another(home: Home, actor: Actor) -> None:
    people = [SlowPerson(number, 0.5) for number in range(USERS)]
    async with opened(home) as host:
        await host.ready()

        async def serve(person: SlowPerson) -> mooring.Outcome:
            async with host.conversation(ask=person) as tools:
                return await tools.call("mcp__actor__count")

        began = asyncio.get_running_loop().time()
        outcomes = await asyncio.gather(*map(serve, people))
        took = asyncio.get_running_loop().time() - began
    assert [person.asked for person in people] == [1] * USERS
    for number, outcome in enumerate(outcomes):
        assert outcome.is_error == (number % 2 == 0)
        assert (f"user {number} does not" in outcome.text) == outcome.is_error
    assert len(actor.done("counts")) == USERS // 2
    assert took < USERS * 0.5 / 2, "one after another they would take 25 s"


async def test_a_yes_for_the_session_of_one_conversation_lets_no_other_through(home: Home, actor: Actor) -> None:
    one, other = Person(Allow("session")), Person(No("not me"))
    async with opened(home, ask=Person(No("not the program either"))) as host:
        await host.ready()
        async with host.conversation(ask=one) as mine, host.conversation(ask=other) as theirs:
            for _ in range(3):
                assert not (await mine.call("mcp__actor__count")).is_error
            assert (await theirs.call("mcp__actor__count")).is_error
            with pytest.raises(mooring.Denied, match="not the program either"):
                await host.call("actor.count")
        assert len(one.asked) == 1
        async with host.conversation(ask=other) as later:
            assert (await later.call("mcp__actor__count")).is_error, "a new conversation begins without answers"
    assert len(actor.done("counts")) == 3


async def test_a_question_that_nobody_answers_holds_up_its_own_conversation_alone(home: Home, actor: Actor) -> None:
    async def never(question: Question) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    async with opened(home) as host:
        await host.ready()
        async with host.conversation(ask=never) as stuck, host.conversation(ask=Person(Allow("once"))) as free:
            waiting = asyncio.create_task(stuck.call("mcp__actor__count"))
            async with asyncio.timeout(100):
                assert not (await free.call("mcp__actor__count")).is_error
            assert not waiting.done()
            await stuck.close()
            async with asyncio.timeout(100):
                assert (await waiting).is_error
            assert not (await free.call("mcp__actor__count")).is_error
    assert len(actor.done("counts")) == 2


async def test_a_conversation_has_its_own_rules_and_policy_but_a_deny_holds_in_all_of_them(
    home: Home, actor: Actor
) -> None:
    settings(home, {"tool": "actor.whoami", "action": "deny"})
    async with opened(home) as host:
        await host.ready()
        rules = [Rule("actor.count", "allow")]
        async with (
            host.conversation(policy="allow") as loose,
            host.conversation(rules=rules) as some,
            host.conversation() as none,
        ):
            assert not (await loose.call("mcp__actor__count")).is_error
            assert not (await some.call("mcp__actor__count")).is_error
            assert (await none.call("mcp__actor__count")).is_error
            assert (await some.call("mcp__actor__fragile")).is_error
            for tools in (loose, some, none):
                assert "deny actor.whoami" in (await tools.call("mcp__actor__whoami")).text
            # A deny that comes later holds for conversations that have begun, and their own terms stay.
            settings(home, {"tool": "actor.count", "action": "deny"})
            await host.reload()
            assert (await loose.call("mcp__actor__count")).is_error
            assert (await some.call("mcp__actor__count")).is_error
            assert not (await loose.call("mcp__actor__whoami")).is_error


class Interrupted(Exception):
    """What a framework raises to end a run."""


async def interrupt(question: Question) -> Answer:
    raise Interrupted


async def test_a_run_that_ask_interrupts_is_resumed_with_the_answer(home: Home, actor: Actor) -> None:
    settings(home, {"tool": "actor.whoami", "action": "deny"})
    async with opened(home) as host:
        await host.ready()
        async with host.conversation(ask=interrupt) as tools:
            with pytest.raises(Interrupted):
                await tools.call("mcp__actor__count")
            assert actor.done("counts") == []
            assert not (await tools.call("mcp__actor__count", approved=True)).is_error
            with pytest.raises(Interrupted):
                await tools.call("mcp__actor__count")
            assert "deny actor.whoami" in (await tools.call("mcp__actor__whoami", approved=True)).text
    assert len(actor.done("counts")) == 1
    assert [line["outcome"] for line in log(home) if line["tool"] == "count"] == ["ok"]


async def test_an_approval_from_elsewhere_reads_an_unlisted_resource_but_never_a_denied_one(
    home: Home, actor: Actor
) -> None:
    where = {"server": "actor", "uri": "actor://elsewhere"}
    async with opened(home) as host:
        await host.ready()
        async with host.conversation(ask=interrupt) as tools:
            with pytest.raises(Interrupted):
                await tools.call("ReadMcpResource", where)
            await tools.call("ReadMcpResource", where, approved=True)
            assert actor.done("reads") == ["actor://elsewhere"]
            settings(home, {"tool": "actor.*", "action": "deny"})
            await host.reload()
            assert (await tools.call("ReadMcpResource", where, approved=True)).is_error
    assert actor.done("reads") == ["actor://elsewhere"]


class AgentTool:
    """A tool of the program's own."""

    server = None
    origin = "the program"
    name = ToolName("remember")
    definition = Tool(name="remember", input_schema=Raw(b'{"type":"object"}'), description="Remembers.")

    def __init__(self, error: Exception | None = None) -> None:
        self.calls = 0
        self._error = error

    async def call(self, arguments: Mapping[str, Any], on_start: Any, on_progress: Any) -> Result:
        on_start()
        self.calls += 1
        if self._error is not None:
            raise self._error
        return Result((Text("remembered"),))


async def test_a_tool_of_the_program_passes_the_gate_and_the_log_and_its_failure_is_an_outcome(
    home: Home, actor: Actor
) -> None:
    good, bad = AgentTool(), AgentTool(ValueError("no room"))
    async with opened(home) as host:
        async with host.conversation(more=[good]) as tools:
            assert (await tools.call("remember")).text == "remembered"
        async with host.conversation(more=[good], rules=[Rule("remember", "deny")]) as tools:
            assert "deny remember" in (await tools.call("remember")).text
        async with host.conversation(more=[bad]) as tools:
            outcome = await tools.call("remember")
        assert (outcome.is_error, outcome.text) == (True, "Error: remember failed: ValueError: no room")
    assert (good.calls, bad.calls) == (1, 1)
    assert [line["outcome"] for line in log(home)] == ["ok", "denied", "is_error"]


async def test_a_closed_conversation_calls_nothing_and_says_so(home: Home, actor: Actor) -> None:
    async with opened(home, policy="allow") as host:
        await host.ready()
        async with host.conversation() as tools:
            pass
        with pytest.raises(mooring.ConfigError, match="the conversation is closed"):
            await tools.call("mcp__actor__count")
    assert actor.done("counts") == []


async def test_a_listener_that_raises_costs_no_call(home: Home, actor: Actor) -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))

    def tell(event: object) -> None:
        assert isinstance(event, ToolStarted | ToolProgress | ToolFinished)
        raise RuntimeError("the screen is gone")

    async with opened(home, policy="allow") as host:
        await host.ready()
        async with host.conversation(on_event=tell) as tools:
            assert not (await tools.call("mcp__actor__count")).is_error
    assert len(actor.done("counts")) == 1
    assert {str(context["exception"]) for context in complaints} == {"the screen is gone"}


async def count_steps_to_begin(home: Home, script: Path, tools: int) -> int:
    """How many lines and calls it takes to begin two more conversations over that many tools, behind the first."""
    many = Actor(script, tools=[f"tool_{number}" for number in range(tools)])
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"many": many.entry}})
    steps = 0

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal steps
        steps += 1
        return count

    async with opened(home) as host:
        await host.ready()
        assert len(host.tools) >= tools
        host.conversation(rules=[Rule("many.whoami", "allow")])  # the first has more to do, for all of them
        before = sys.gettrace()
        sys.settrace(count)
        try:
            for number in range(2):
                host.conversation(ask=SlowPerson(number, 0), rules=[Rule("many.whoami", "allow")])
        finally:
            sys.settrace(before)
    return steps


async def test_a_conversation_over_five_hundred_tools_begins_with_no_more_work_than_one_over_five(
    tmp_path: Path,
) -> None:
    few, many = [
        await count_steps_to_begin(Home(tmp_path / f"home-{tools}"), tmp_path / f"{tools}.json", tools)
        for tools in (5, 500)
    ]
    # A single step for each tool would be a thousand more.
    assert many < few + 500
    # Some 1,300 steps each, which is a tenth of a millisecond.
    assert few < 2 * 2_600


async def test_what_one_conversation_found_is_not_shown_to_another(home: Home, tmp_path: Path) -> None:
    words = "reads the weather of tomorrow " * 40
    names = [f"weather_{number}" for number in range(100)]
    many = Actor(tmp_path / "many.json", tools=names, describe=dict.fromkeys(names, words))
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"many": many.entry}})
    async with opened(home, policy="allow") as host:
        await host.ready()
        async with host.conversation(budget=5000) as one, host.conversation(budget=5000) as other:
            assert not (await one.call("ToolSearch", {"query": "weather"})).is_error
            assert one.loaded
            assert other.loaded == ()
            assert len(one.definitions) == len(other.definitions) + len(one.loaded)


async def test_in_plan_mode_a_tool_of_the_program_is_called_only_if_it_says_that_it_only_reads(
    home: Home, actor: Actor
) -> None:
    @mooring.tool
    def write_note(text: str) -> str:
        return f"wrote {text}"

    @mooring.tool(read_only=True)
    def count_letters(text: str) -> int:
        return len(text)

    async with opened(home, policy="plan") as host, host.conversation(more=[write_note, count_letters]) as tools:
        assert (await tools.call("count_letters", {"text": "abc"})).text == "3"
        refused = await tools.call("write_note", {"text": "abc"})
        assert "in plan mode" in refused.text
        assert (await tools.call("count_letters", {"txt": "abc"})).is_error


async def test_outcomes_and_definitions_are_valid_json_and_survive_being_copied(home: Home) -> None:
    home.configure(demo=DEMO)
    async with opened(home, policy="allow") as host:
        await host.ready()
        async with host.conversation() as tools:
            definition = next(one for one in tools.definitions if one.tool == "add")
            outcomes = [
                await tools.call("mcp__demo__add", {"a": 2, "b": 40}),
                await tools.call("mcp__demo__add", {"a": "x"}),
                await tools.call("mcp__demo__picture"),
            ]
    assert (definition.server, definition.name) == ("demo", "mcp__demo__add")
    added, refused, drawn = outcomes
    assert added.structured is not None
    assert added.result is not None
    assert added.result.structured == added.structured
    assert (refused.is_error, refused.result) == (True, None)
    assert [part["type"] for part in drawn.as_dict()["parts"]].count("image") == 1
    for value in (definition, *outcomes):
        for same in (value, pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
            assert same == value
            assert json.loads(msgspec.json.encode(same))
            assert same.as_dict() == value.as_dict()
            assert json.loads(json.dumps(same.as_dict())) == value.as_dict()
