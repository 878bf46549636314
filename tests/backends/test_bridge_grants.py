"""One question per call: a yes at an agent's request covers one call at its server's path, and no other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from bridging import Person, Talk, make_server, open_host, read_history, talking, try_call

from mooring.backends.bridge.bridge import AgentCall, McpTool
from mooring.core.conversation.event import DeniedCall, ToolFinished, TurnDone
from mooring.core.conversation.question import Allow, Answer, No, Permission, Question, RepeatedCall
from mooring.core.conversation.verdict import Rule
from mooring.core.protocol.era import EraName
from mooring.errors import Denied
from mooring.wire.session.session import Session
from support import DEMO, Home, run_beside

ADD = McpTool("box", "add")
ONE = {"a": 1, "b": 2}


@asynccontextmanager
async def working(
    home: Home, person: Person | None = None, era: EraName = "handshake", **options: Any
) -> AsyncIterator[tuple[Talk, Session]]:
    async with (
        open_host(home, {"box": make_server()}) as host,
        talking(host, person, **options) as talk,
        talk.connect("box", era=era) as session,
    ):
        yield talk, session


@pytest.mark.parametrize("era", ["handshake", "stateless"])
async def test_a_yes_covers_one_call(home: Home, era: EraName) -> None:
    async with working(home, era=era) as (talk, session):
        await talk.bridge.permit(AgentCall("1", ADD, ONE))
        assert len(talk.person.asked) == 1
        assert await try_call(session, "add", ONE) == "3"
        assert len(talk.person.asked) == 1
        assert await try_call(session, "add", ONE) == "3"
        assert len(talk.person.asked) == 2
    history = read_history(home)
    assert [(entry.tool, entry.outcome, entry.why) for entry in history] == [("add", "ok", "you allowed it once")] * 2


async def test_the_same_arguments_are_the_same_however_they_are_written(home: Home) -> None:
    async with working(home) as (talk, session):
        await talk.bridge.permit(AgentCall("1", ADD, {"b": 2.0, "a": 1}))
        assert await try_call(session, "add", ONE) == "3"
        assert len(talk.person.asked) == 1


@pytest.mark.parametrize("other", [{"a": 1, "b": 3}, {"a": 1}, {"a": True, "b": 2}, {"a": 1, "b": 2, "c": None}])
async def test_a_yes_covers_no_other_arguments(home: Home, other: dict[str, Any]) -> None:
    async with working(home) as (talk, session):
        await talk.bridge.permit(AgentCall("1", ADD, ONE))
        await try_call(session, "add", other)
        assert [question.arguments for question in list_permissions(talk.person)] == [ONE, other]
        assert await try_call(session, "add", ONE) == "3"
        assert len(talk.person.asked) == 2


async def test_a_yes_covers_no_other_tool_server_or_conversation(home: Home) -> None:
    mine, theirs = Person(), Person()
    servers = {"box": make_server(), "bax": make_server("bax")}
    async with (
        open_host(home, servers) as host,
        talking(host, mine) as talk,
        talking(host, theirs) as other,
        talk.connect("bax") as another_server,
        other.connect("box") as another_conversation,
    ):
        await talk.bridge.permit(AgentCall("1", ADD, ONE))
        await another_server.call_tool("add", ONE)
        assert [(question.server, question.tool) for question in list_permissions(mine)] == [
            ("box", "add"),
            ("bax", "add"),
        ]
        await another_conversation.call_tool("add", ONE)
        assert len(theirs.asked) == 1
        async with talk.connect("box") as session:
            await session.call_tool("add", ONE)
        assert len(mine.asked) == 2


async def test_ten_equal_calls_need_ten_yeses_at_once_or_one_after_the_other(home: Home) -> None:
    async with working(home) as (talk, session):
        permits = [talk.bridge.permit(AgentCall(str(number), ADD, ONE)) for number in range(10)]
        await asyncio.gather(*permits)
        # From the fifth on, the question says that they repeat the ones before; that is not another question.
        asked = list_permissions(talk.person)
        assert len(talk.person.asked) == len(asked) == 10
        assert [question.times for question in asked][:5] == [0, 0, 0, 0, 5]
        assert await asyncio.gather(*(try_call(session, "add", ONE) for _ in range(10))) == ["3"] * 10
        assert len(talk.person.asked) == 10
        await try_call(session, "add", ONE)
        assert len(talk.person.asked) == 11


async def test_a_hundred_calls_that_cross_each_get_their_own_yes(home: Home) -> None:
    async def decide(question: Question) -> Answer:
        await asyncio.sleep(0)
        assert isinstance(question, Permission)
        return Allow("once") if question.arguments["a"] % 2 else No("Odd ones only.")

    async with working(home, Person(decide)) as (talk, session):

        async def work(number: int) -> str:
            arguments = {"a": number, "b": 0}
            # An agent that calls whatever it is told.
            with suppress(Denied):
                await talk.bridge.permit(AgentCall(str(number), ADD, arguments))
            return await try_call(session, "add", arguments)

        results = await asyncio.gather(*map(work, range(100)))
        assert len(talk.person.asked) == 100
        assert [result for result in results if result.isdigit()] == [str(number) for number in range(1, 100, 2)]
        assert all("Odd ones only." in result for result in results[::2])


@pytest.mark.parametrize("era", ["handshake", "stateless"])
async def test_a_call_that_comes_after_a_no_is_refused_in_the_same_words_without_a_question(
    home: Home, era: EraName
) -> None:
    async with working(home, Person(No("Not today.")), era) as (talk, session):
        with pytest.raises(Denied) as denied:
            await talk.bridge.permit(AgentCall("1", ADD, ONE))
        for _ in range(3):
            assert denied.value.for_model in await try_call(session, "add", ONE)
        assert len(talk.person.asked) == 1
        await try_call(session, "add", {"a": 5, "b": 5})
        assert len(talk.person.asked) == 2
        talk.person.answer = Allow("once")
        await talk.bridge.permit(AgentCall("2", ADD, ONE))
        assert await try_call(session, "add", ONE) == "3"
        assert len(talk.person.asked) == 3


async def test_nothing_that_was_decided_outlives_its_turn(home: Home) -> None:
    async with working(home) as (talk, session):
        await talk.bridge.permit(AgentCall("1", ADD, ONE))
        talk.person.answer = No()
        with pytest.raises(Denied):
            await talk.bridge.permit(AgentCall("2", ADD, {"a": 7, "b": 0}))
        talk.end_turn()
        talk.begin_turn()
        talk.person.answer = Allow("once")
        assert await try_call(session, "add", ONE) == "3"
        assert await try_call(session, "add", {"a": 7, "b": 0}) == "7"
        assert len(talk.person.asked) == 4


async def test_a_yes_for_the_session_is_asked_for_once(home: Home) -> None:
    async with working(home, Person(Allow("session"))) as (talk, session):
        await talk.bridge.permit(AgentCall("1", ADD, ONE))
        for number in range(5):
            assert await try_call(session, "add", {"a": number, "b": 1}) == str(number + 1)
        assert len(talk.person.asked) == 1


async def test_rules_and_modes_decide_before_the_person_is_asked(home: Home) -> None:
    rules = (Rule("box.add", "deny", "a=9"), Rule("box.add", "allow"))
    async with working(home, rules=rules) as (talk, session):
        await talk.bridge.permit(AgentCall("1", ADD, ONE))
        assert await try_call(session, "add", ONE) == "3"
        with pytest.raises(Denied):
            await talk.bridge.permit(AgentCall("2", ADD, {"a": 9, "b": 0}))
        assert "not called" in await try_call(session, "add", {"a": 9, "b": 0})
        assert talk.person.asked == []


async def test_a_tool_that_is_denied_meanwhile_is_not_called_in_spite_of_the_yes(home: Home) -> None:
    home.configure(box=DEMO)
    async with open_host(home) as host, talking(host) as talk, talk.connect("box") as session:
        await talk.bridge.permit(AgentCall("1", ADD, ONE))
        home.write("home/.config/mooring/settings.json", {"permissions": [{"tool": "box.add", "action": "deny"}]})
        await host.reload()
        assert "your settings say: deny box.add" in await try_call(session, "add", ONE)


async def test_a_refused_call_ends_as_denied_with_the_rule_that_would_allow_it(home: Home) -> None:
    async def nobody(_: Question) -> Answer:
        return No(nobody=True)

    async with working(home, Person(nobody)) as (talk, _):
        reporter = talk.bridge.reporter
        reporter.start_tool("1", "mcp__box__add", "box", "add", ONE)
        with pytest.raises(Denied):
            await talk.bridge.permit(AgentCall("1", ADD, ONE))
        reporter.finish_tool("1", success=False, text="denied")
        talk.end_turn()
        [finished] = [event for event in talk.events if isinstance(event, ToolFinished)]
        done = talk.events[-1]
    assert finished.denied
    assert not finished.success
    assert isinstance(done, TurnDone)
    [denied] = done.denied
    assert isinstance(denied, DeniedCall)
    assert (denied.server, denied.tool) == ("box", "add")
    assert "mcp__box__add" in denied.rule
    assert [entry.outcome for entry in read_history(home)] == ["denied"]


async def test_a_permitted_call_of_an_agent_in_the_native_way_is_on_record_with_its_end(home: Home) -> None:
    async with open_host(home, {"box": make_server()}) as host, talking(host, way="native") as talk:
        reporter = talk.bridge.reporter
        for id, success in (("1", True), ("2", False)):
            reporter.start_tool(id, "box-add", "box", "add", ONE)
            await talk.bridge.permit(AgentCall(id, ADD, ONE))
            reporter.finish_tool(id, success=success)
        await talk.bridge.permit(AgentCall("3", ADD, ONE))
        talk.end_turn()
    assert [(entry.server, entry.outcome) for entry in read_history(home)] == [
        ("box", "ok"),
        ("box", "is_error"),
        ("box", "error"),
    ]


def list_permissions(person: Person) -> list[Permission]:
    return [question for question in person.asked if isinstance(question, Permission)]


async def test_a_refusal_without_words_is_still_a_refusal(home: Home) -> None:
    async with working(home, Person(No())) as (talk, _):
        refusal = await talk.bridge.find_refusal(AgentCall("1", ADD, ONE))
        assert refusal is not None
    async with working(home, Person(Allow())) as (talk, _):
        assert await talk.bridge.find_refusal(AgentCall("1", ADD, ONE)) is None


async def test_the_fifth_identical_call_in_a_row_is_asked_about_and_a_no_refuses_it(home: Home) -> None:
    async def answer(question: Question) -> Answer:
        return No() if isinstance(question, RepeatedCall) else Allow("session")

    async with working(home, Person(answer)) as (talk, _):
        talk.begin_turn()
        for number in range(4):
            await talk.bridge.permit(AgentCall(str(number), ADD, ONE))
        with pytest.raises(Denied, match="called 4 times in a row"):
            await talk.bridge.permit(AgentCall("4", ADD, ONE))
        assert talk.person.asked[-1] == RepeatedCall("box", "add", ONE, 5)
        await talk.bridge.permit(AgentCall("5", ADD, {"a": 5, "b": 5}))
        assert talk.bridge.reporter.stopped_by is None
        talk.end_turn()


async def test_where_no_one_can_be_asked_the_fifth_identical_call_ends_the_turn(home: Home) -> None:
    allowed = [Rule("box.add", "allow")]
    async with working(home, Person(No(nobody=True)), rules=allowed) as (talk, _):
        talk.begin_turn()
        for number in range(4):
            await talk.bridge.permit(AgentCall(str(number), ADD, ONE))
        with pytest.raises(Denied):
            await talk.bridge.permit(AgentCall("4", ADD, ONE))
        assert talk.bridge.reporter.stopped_by == "repeated"
        talk.end_turn()
    assert [event.reason for event in talk.events if isinstance(event, TurnDone)] == ["repeated"]


# --- the person's rules and a project's server ----------------------------------------------------------------------


@pytest.mark.parametrize("words", [["--apply-rules"], []])
async def test_a_rule_that_was_applied_to_a_projects_server_spares_the_question_of_an_agents_program(
    home: Home, words: list[str]
) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"box": DEMO}})
    home.write("home/.config/mooring/settings.json", {"permissions": [{"tool": "box.add", "action": "allow"}]})
    assert (await asyncio.to_thread(run_beside, home, "mcp", "approve", "--yes", *words, "box")).code == 0
    async with open_host(home) as host:
        await host.ready()
        async with talking(host) as talk, talk.connect("box") as session:
            await talk.bridge.permit(AgentCall("1", ADD, ONE))
            assert "3" in await try_call(session, "add", ONE)
            assert len(talk.person.asked) == (0 if words else 1)
            await try_call(session, "echo", {"text": "x"})
            assert [question.tool for question in talk.person.asked if isinstance(question, Permission)][-1:] == [
                "echo"
            ]
