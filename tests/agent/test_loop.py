"""An agent: the model is asked, its calls are made, and every turn leaves a history that the next can go on with."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from scripted import ScriptedModel, call, results_of

import mooring
from mooring.agents.history import Journal, ModelMessage, PersonMessage, ResultsMessage, SummaryMessage, ThinkingBlock
from mooring.core.conversation.event import (
    ConversationEvent,
    HistoryCompacted,
    QuestionAnswered,
    QuestionAsked,
    TextPiece,
    ThinkingPiece,
    TokensUsed,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnDone,
    TurnFailed,
    TurnStarted,
    encode_event,
)
from mooring.core.conversation.question import Allow, Answer, No, Permission, Question
from mooring.core.protocol.limits import TurnLimits
from mooring.errors import ContextOverflow, ModelError, ModelOverloaded
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.agent.thread import AgentRole
from mooring.verbs.agent.turn import open_agent
from support import DEMO, Home

SERVERS = {"demo": DEMO}


@asynccontextmanager
async def agent_on(
    home: Home, model: ScriptedModel, policy: Any = "allow", *, past: Any = None, journal: Any = None, **options: Any
) -> AsyncIterator[mooring.Agent]:
    async with mooring.open(request=home.request(), servers=SERVERS) as host:
        await host.ready()
        role = AgentRole(past=past, journal=journal)
        async with open_agent(host, model, ConversationOptions(policy=policy, **options), role) as agent:
            yield agent


async def events_of(agent: mooring.Agent, said: str) -> list[ConversationEvent]:
    return [event async for event in agent.turn(said)]


def kinds(events: list[ConversationEvent]) -> list[type]:
    return [type(event) for event in events]


def pick(events: list[ConversationEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


async def test_a_turn_is_told_from_its_start_to_its_end(home: Home) -> None:
    model = ScriptedModel(
        [ThinkingBlock("hm"), "Let me add. ", call("mcp__demo__add", {"a": 2, "b": 40}, "c1")],
        lambda request: [f"It is {results_of(request)[0]}."],
    )
    async with agent_on(home, model) as agent:
        events = await events_of(agent, "What is 2 + 40?")
        assert kinds(events) == [
            TurnStarted, ThinkingPiece, TextPiece, TextPiece, TokensUsed, ToolStarted, ToolProgress, ToolFinished,
            TextPiece, TextPiece, TokensUsed, TurnDone,
        ]  # fmt: skip
        started, finished = pick(events, ToolStarted)[0], pick(events, ToolFinished)[0]
        assert (started.id, started.server, started.tool) == ("c1", "demo", "add")
        assert (finished.id, finished.success, finished.error) == ("c1", True, "")
        done = events[-1]
        assert isinstance(done, TurnDone)
        assert "42" in done.text
        assert (done.reason, done.replies, done.usage.input_tokens, done.cost) == ("finished", 2, 20, 1.0)
        assert {(event.session, event.turn, event.parent) for event in events} == {(agent.session, 1, None)}
        assert [type(message) for message in agent.history] == [
            PersonMessage, ModelMessage, ResultsMessage, ModelMessage,
        ]  # fmt: skip
    assert model.closed == 0, "it is the program's own"
    for event in events:
        assert encode_event(event).startswith(b'{"type":"')


async def test_what_the_model_is_sent_holds_the_tools_and_what_servers_say(home: Home) -> None:
    model = ScriptedModel(["ahoy"])
    async with agent_on(home, model, instructions="Speak like a sailor.") as agent:
        done = await agent.run("Hello")
    assert done.text == "ahoy"
    request = model.requests[0]
    assert "Speak like a sailor." in request.system
    assert "server-instructions" in request.system
    assert "mcp__demo__add" in [tool.name for tool in request.tools]


async def test_independent_calls_run_at_once_and_their_results_keep_the_order(home: Home) -> None:
    running, most = 0, 0

    @mooring.tool(read_only=True)
    async def wait(name: str) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(5 if name == "first" else 1):
            await asyncio.sleep(0.01)
        running -= 1
        return name

    calls = [call("wait", {"name": name}, name) for name in ("first", "second", "third")]
    model = ScriptedModel([*calls], lambda request: [" ".join(results_of(request))])
    async with agent_on(home, model, tools=(wait,)) as agent:
        events = await events_of(agent, "Wait three times")
    assert most == 3
    assert events[-1].text == "first second third"  # type: ignore[union-attr]
    assert [event.id for event in pick(events, ToolFinished)][-1] == "first"


async def test_tools_of_its_own_that_change_something_run_one_after_another(home: Home) -> None:
    running, most, order = 0, 0, []

    @mooring.tool
    async def write(name: str) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01 if name == "b" else 0.03)
        running -= 1
        order.append(name)
        return name

    model = ScriptedModel([call("write", {"name": name}, name) for name in "abc"], ["done"])
    async with agent_on(home, model, tools=(write,)) as agent:
        await agent.run("Write")
    assert (most, order) == (1, ["a", "b", "c"])


@pytest.mark.parametrize("broken", ['{"a": 2, "b"', "[1, 2]", "nonsense"])
async def test_malformed_arguments_fail_that_call_and_the_model_goes_on(home: Home, broken: str) -> None:
    model = ScriptedModel([call("mcp__demo__add", broken, "c1")], lambda request: [results_of(request)[0]])
    async with agent_on(home, model) as agent:
        events = await events_of(agent, "Add")
    (finished,) = pick(events, ToolFinished)
    assert not finished.success
    assert finished.error
    assert events[-1].reason == "finished"  # type: ignore[union-attr]


async def test_what_nobody_can_be_asked_about_is_denied_with_the_rule_that_would_allow_it(home: Home) -> None:
    model = ScriptedModel([call("mcp__demo__echo", {"text": "x"}, "c1")], ["I could not."])
    async with agent_on(home, model, policy=None) as agent:
        events = await events_of(agent, "Echo x")
    (finished,) = pick(events, ToolFinished)
    assert finished.denied
    done = events[-1]
    assert isinstance(done, TurnDone)
    assert done.reason == "finished"
    (denied,) = done.denied
    assert (denied.server, denied.tool) == ("demo", "echo")
    assert denied.rule == '{"tool": "mcp__demo__echo", "action": "allow"}'


async def test_questions_and_answers_are_told_and_reach_only_their_own_conversation(home: Home) -> None:
    asked: dict[str, list[Question]] = {"one": [], "two": []}

    def answer(name: str, reply: Answer) -> Callable[[Question], Any]:
        async def ask(question: Question) -> Answer:
            asked[name].append(question)
            return reply

        return ask

    def model() -> ScriptedModel:
        return ScriptedModel([call("mcp__demo__echo", {"text": "x"}, "c1")], lambda request: [results_of(request)[0]])

    async with mooring.open(request=home.request(), servers=SERVERS) as host:
        await host.ready()
        async with (
            open_agent(host, model(), ConversationOptions(ask=answer("one", Allow()))) as first,
            open_agent(host, model(), ConversationOptions(ask=answer("two", No("not today")))) as second,
        ):
            one, two = await asyncio.gather(events_of(first, "go"), events_of(second, "go"))
    assert one[-1].text == "x"  # type: ignore[union-attr]
    assert "not today" in two[-1].text  # type: ignore[union-attr]
    assert [len(asked["one"]), len(asked["two"])] == [1, 1]
    assert isinstance(asked["one"][0], Permission)
    assert [event.answer for event in pick(one, QuestionAnswered)] == ["allow"]
    assert [event.answer for event in pick(two, QuestionAnswered)] == ["no"]
    assert len(pick(one, QuestionAsked)) == 1
    assert {event.session for event in one}.isdisjoint({event.session for event in two})


async def test_an_interrupted_reply_keeps_what_was_said_and_the_next_turn_goes_on(home: Home) -> None:
    never = asyncio.Event()
    model = ScriptedModel([ThinkingBlock("hm"), "I think", call("mcp__demo__add", "{}", "c1"), never], ["Again."])
    async with agent_on(home, model) as agent:
        speaking = asyncio.Event()

        async def listen() -> None:
            async for event in agent.turn("Go"):
                if isinstance(event, TextPiece):
                    speaking.set()

        turn = asyncio.create_task(listen())
        await speaking.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert model.dropped == 1
        assert [type(message) for message in agent.history] == [PersonMessage, ModelMessage]
        assert agent.history[1].text == "I think"  # type: ignore[union-attr]
        done = await agent.run("Once more")
    assert done.text == "Again."
    assert done.turn == 2


async def test_an_interrupted_call_ends_the_call_and_never_the_server(home: Home) -> None:
    model = ScriptedModel(
        [call("mcp__demo__slow", {"seconds": 60}, "c1"), call("mcp__demo__echo", {"text": "quick"}, "c2")],
        lambda request: ["Still here."],
        [call("mcp__demo__echo", {"text": "same"}, "c3")],
        lambda request: [results_of(request)[0]],
    )
    async with mooring.open(request=home.request(), servers=SERVERS) as host:
        await host.ready()
        before = host.servers["demo"].status
        async with open_agent(host, model, ConversationOptions(policy="allow")) as agent:
            seen: list[ConversationEvent] = []
            async with aclosing(agent.turn("Go slowly")) as events:
                async for event in events:
                    seen.append(event)
                    if isinstance(event, ToolFinished):
                        break
            (results,) = [message for message in agent.history if isinstance(message, ResultsMessage)]
            texts = [result.parts[0].text for result in results.results]  # type: ignore[union-attr]
            assert texts == ["The call was interrupted; it may have run.", "quick"]
            assert (await agent.run("And now?")).text == "Still here."
            assert (await agent.run("Echo")).text == "same"
        assert host.servers["demo"].status == before


async def test_an_overloaded_model_is_asked_again_and_what_it_said_before_is_void(home: Home) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    model = ScriptedModel(
        ["Half a", ModelOverloaded("scripted:one", "overloaded.", 7.0)],
        [ModelOverloaded("scripted:one", "overloaded.")],
        [ModelOverloaded("scripted:one", "overloaded.")],
        ["Whole."],
    )
    async with agent_on(home, model) as agent:
        agent.backend.thread.sleep = sleep
        events = await events_of(agent, "Go")
        assert [type(message) for message in agent.history] == [PersonMessage, ModelMessage]
    assert waits[0] == 7.0
    assert 1.0 < waits[1] < 3.0 < waits[2] * 1.4
    assert [event.retry_in for event in pick(events, TurnFailed)] == waits
    assert events[-1].text == "Whole."  # type: ignore[union-attr]


async def test_a_model_that_stays_overloaded_fails_the_turn_after_a_bounded_time(home: Home) -> None:
    model = ScriptedModel(*[[ModelOverloaded("scripted:one", "overloaded.")] for _ in range(6)], ["Back."])

    async def sleep(seconds: float) -> None:
        assert seconds <= 60

    async with agent_on(home, model) as agent:
        agent.backend.thread.sleep = sleep
        events = await events_of(agent, "Go")
        assert events[-1].reason == "failed"  # type: ignore[union-attr]
        assert pick(events, TurnFailed)[-1].retry_in is None
        assert (await agent.run("Again")).text == "Back."


@pytest.mark.parametrize(("asked_for", "words"), [(301.0, "6 minutes"), (3600.0, "60 minutes"), (86400.0, "24 hours")])
async def test_a_model_that_asks_for_more_than_five_minutes_ends_the_turn_with_how_long(
    asked_for: float, words: str, home: Home
) -> None:
    model = ScriptedModel(
        [ModelOverloaded("scripted:one", "overloaded", 300.0)],
        [ModelOverloaded("scripted:one", "overloaded", asked_for)],
        ["Back."],
    )
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with agent_on(home, model) as agent:
        agent.backend.thread.sleep = sleep
        events = await events_of(agent, "Go")
        assert waits == [300.0]
        assert events[-1].reason == "failed"  # type: ignore[union-attr]
        assert pick(events, TurnFailed)[-1].error == f"scripted:one: overloaded. It asks to wait {words}."
        assert (await agent.run("Again")).text == "Back."


async def test_run_raises_what_the_model_failed_with(home: Home) -> None:
    async with agent_on(home, ScriptedModel([ModelError("scripted:one", "no such model.")])) as agent:
        with pytest.raises(ModelError, match=r"^scripted:one: no such model\.$"):
            await agent.run("Go")


async def test_a_turn_ends_at_the_most_replies_and_says_so(home: Home) -> None:
    model = ScriptedModel(*[[call("mcp__demo__echo", {"text": "x"}, f"c{n}")] for n in range(9)])
    async with agent_on(home, model, limits=TurnLimits(max_turns=3)) as agent:
        done = await agent.run("Forever")
        assert (done.reason, done.replies) == ("max-turns", 3)
        assert isinstance(agent.history[-1], ResultsMessage)


async def test_a_second_turn_at_the_same_time_is_refused(home: Home) -> None:
    never = asyncio.Event()
    async with agent_on(home, ScriptedModel([never], ["x"])) as agent:
        first = asyncio.create_task(agent.run("One"))
        await asyncio.sleep(0.05)
        with pytest.raises(mooring.ConfigError, match="Wait for its end"):
            await agent.run("Two")
        first.cancel()
        await asyncio.wait({first})
        assert (await agent.run("Three")).text == "x"


async def test_what_continues_in_the_background_is_told_to_the_model_when_it_ends(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {"backgroundAfter": 0.05})
    model = ScriptedModel(
        [call("mcp__demo__slow", {"seconds": 0.3}, "c1")], ["It goes on."], lambda request: [str(request.messages[-1])]
    )
    async with agent_on(home, model) as agent:
        events = await events_of(agent, "Go")
        (finished,) = pick(events, ToolFinished)
        assert finished.outcome.continues == "c1"
        for _ in range(100):
            if agent.conversation.outcome("c1") is not None:
                break
            await asyncio.sleep(0.05)
        await agent.run("And?")
    (news,) = [m for m in model.requests[-1].messages if isinstance(m, PersonMessage) and m.synthetic]
    assert "c1" in news.parts[0].text  # type: ignore[union-attr]


# --- a window that is full --------------------------------------------------------------------------------------------


async def test_a_full_window_becomes_a_summary_and_the_persons_words_stay(home: Home) -> None:
    model = ScriptedModel(["a" * 4_000], ["b" * 6_000], ["The summary."], ["Fine."], window=2_800)
    kept: list[tuple[Any, ...]] = []

    class KeptSummaries(Journal):
        def compact(self, messages: tuple[Any, ...]) -> None:
            kept.append(messages)

    async with agent_on(home, model, journal=KeptSummaries(), allow=()) as agent:
        agent.backend.thread.system = lambda: ""
        await agent.run("My name is Ada.")
        await agent.run("I like ships.")
        events = await events_of(agent, "What do I like?")
        (compacted,) = pick(events, HistoryCompacted)
        assert compacted.summary == "The summary."
        assert compacted.tokens_after < compacted.tokens_before
        assert events[-1].text == "Fine."  # type: ignore[union-attr]
        summary, *_ = agent.history
        assert isinstance(summary, SummaryMessage)
        assert "My name is Ada." in summary.text
        assert kept[0][0] == summary
        assert isinstance(agent.history[-2], PersonMessage)


async def test_an_overflow_is_answered_once_with_a_shorter_history(home: Home) -> None:
    overflow = ContextOverflow("scripted:one", "too long.")
    model = ScriptedModel(["first"], [overflow], ["Summary."], ["Second."], [overflow], ["Summary."], [overflow])
    async with agent_on(home, model) as agent:
        await agent.run("One")
        assert (await agent.run("Two")).text == "Second."
        with pytest.raises(ModelError, match="too long"):
            await agent.run("Three")
        assert agent.history


async def test_calls_stay_with_their_results_however_often_the_history_is_shortened(home: Home) -> None:
    def reply(number: int) -> Callable[[Any], list[Any]]:
        return lambda request: (
            ["Summary."]
            if not request.tools
            else [call("mcp__demo__echo", {"text": f"{number}{'y' * 2_000}"}, f"c{number}")]
        )

    model = ScriptedModel(*[reply(number) for number in range(200)], window=6_000)
    async with agent_on(home, model, limits=TurnLimits(max_turns=100), deny=("ToolSearch",)) as agent:
        agent.backend.thread.system = lambda: ""
        done = await agent.run("Echo a hundred times")
        assert done.reason == "max-turns"
    for request in model.requests:
        check_history(request.messages)
    assert max(len(str(request.messages)) for request in model.requests) < 120_000


def check_history(messages: tuple[Any, ...]) -> None:
    """Every call has its result right behind it, and every result a call."""
    for before, message in zip((None, *messages), (*messages, None), strict=True):
        calls = [each.id for each in before.calls] if isinstance(before, ModelMessage) else []
        results = [each.id for each in message.results] if isinstance(message, ResultsMessage) else []
        assert calls == results


async def test_a_call_of_the_program_beside_a_turn_is_told_as_it_ends_and_not_with_the_turn(home: Home) -> None:
    async with agent_on(home, ScriptedModel(["Hello."])) as agent:
        events = agent.conversation.events()
        beside = asyncio.create_task(agent.conversation.call("mcp__demo__slow", {"seconds": 0.5}, id="mine"))
        assert (await agent.run("Hi")).text == "Hello."
        assert not beside.done()
        assert not (await beside).is_error
        await agent.conversation.close()
        told = [event async for event in events]
    (finished,) = pick(told, ToolFinished)
    assert (finished.id, finished.success, finished.canceled, finished.turn) == ("mine", True, False, 0)
