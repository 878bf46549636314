"""What the person says during a turn: the model reads it before its next reply, once, or it is yet to be said."""

import asyncio
from collections.abc import Callable
from typing import Any

from scripted import ScriptedModel, Step, call, results_of
from test_loop import agent_on, events_of, pick

import mooring
from mooring.agents.history import (
    Journal,
    Message,
    ModelMessage,
    PersonMessage,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
    join_texts,
)
from mooring.agents.model import ModelRequest
from mooring.agents.sessions.store import SessionStore
from mooring.core.conversation.event import ConversationEvent, InputAdded, TextPiece, ToolFinished, TurnDone
from mooring.core.protocol.content import Image, Text
from mooring.errors import ContextOverflow, ModelOverloaded
from support import Home


def said(message: Message) -> str:
    assert isinstance(message, PersonMessage)
    return join_texts(message.parts)


def announce(is_asked: asyncio.Event, *steps: Step) -> Callable[[ModelRequest], list[Step]]:
    """A reply that says when it was asked for."""

    def answer(_: ModelRequest) -> list[Step]:
        is_asked.set()
        return list(steps)

    return answer


class Order(Journal):
    """Notes what is written down, and how often it was waited for by then."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.settled: list[int] = []

    def add_message(self, message: Message) -> None:
        self.messages.append(message)

    async def settle(self) -> None:
        self.settled.append(len(self.messages))


async def test_a_message_during_a_call_is_read_behind_its_result_and_is_on_record_before_it_is_sent(home: Home) -> None:
    is_calling, may_end = asyncio.Event(), asyncio.Event()

    @mooring.tool(read_only=True)
    async def wait() -> str:
        is_calling.set()
        await may_end.wait()
        return "waited"

    journal = Order()
    written: list[int] = []

    def answer(request: ModelRequest) -> list[Any]:
        written.append(journal.settled[-1])
        return ["Blue it is."]

    model = ScriptedModel([call("wait", {}, "c1")], answer)
    async with agent_on(home, model, tools=(wait,), journal=journal) as agent:
        turn = asyncio.create_task(events_of(agent, "Paint it red"))
        await is_calling.wait()
        receipt = agent.add("No, blue")
        assert not receipt.done()
        may_end.set()
        events = await turn
        assert await receipt
    assert [type(each) for each in agent.history] == [
        PersonMessage, ModelMessage, ResultsMessage, PersonMessage, ModelMessage,
    ]  # fmt: skip
    assert said(model.requests[1].messages[-1]) == "No, blue"
    assert written == [4], "written down before it was sent"
    kinds = [type(event) for event in events if isinstance(event, ToolFinished | InputAdded | TextPiece)]
    assert kinds[:3] == [ToolFinished, InputAdded, TextPiece]
    assert pick(events, InputAdded)[0].text == "No, blue"
    assert [event.turn for event in pick(events, TurnDone)] == [1]


async def test_a_message_during_the_last_reply_makes_the_turn_go_on(home: Home) -> None:
    is_asked, may_end = asyncio.Event(), asyncio.Event()
    model = ScriptedModel(announce(is_asked, "Done, ", may_end, "I think."), ["And that too."])
    async with agent_on(home, model) as agent:
        turn = asyncio.create_task(agent.run("Do this"))
        await is_asked.wait()
        receipt = agent.add("And that")
        may_end.set()
        done = await turn
        assert await receipt
    assert (done.text, done.reason, done.replies) == ("And that too.", "finished", 2)


async def test_a_message_taken_back_is_not_read_and_the_others_keep_their_order(home: Home) -> None:
    is_asked, may_end = asyncio.Event(), asyncio.Event()
    model = ScriptedModel(announce(is_asked, may_end, "One."), ["Two."])
    async with agent_on(home, model) as agent:
        turn = asyncio.create_task(agent.run("Go"))
        await is_asked.wait()
        receipts = [agent.add(each) for each in ("first", "not this", "last")]
        assert receipts[1].cancel()
        may_end.set()
        await turn
        assert [await receipts[0], await receipts[2]] == [True, True]
        assert not receipts[0].cancel(), "it was read"
    assert [said(each) for each in model.requests[1].messages if isinstance(each, PersonMessage)] == [
        "Go", "first", "last",
    ]  # fmt: skip


async def test_a_message_of_a_turn_that_is_stopped_is_yet_to_be_said(home: Home) -> None:
    is_asked = asyncio.Event()
    model = ScriptedModel(announce(is_asked, asyncio.Event()), ["Later."])
    async with agent_on(home, model) as agent:
        turn = asyncio.create_task(agent.run_turn("Go"))
        await is_asked.wait()
        receipt = agent.add("Too late")
        turn.cancel()
        await asyncio.wait({turn})
        assert await receipt is False
        assert [said(each) for each in agent.history] == ["Go"]
        assert await agent.add("No turn is under way") is False


async def test_a_message_while_a_provider_is_waited_for_is_read_with_the_next_try(home: Home) -> None:
    model = ScriptedModel([ModelOverloaded("scripted:one", "busy", 0.01)], ["Both."])
    async with agent_on(home, model) as agent:
        thread = agent.backend.thread
        receipts = []

        async def sleep(_: float) -> None:
            receipts.append(agent.add("And this"))

        thread.sleep = sleep
        await agent.run("Do that")
        assert await receipts[0]
    assert [said(each) for each in model.requests[1].messages] == ["Do that", "And this"]


async def test_a_message_with_an_image_is_read_whole_and_belongs_to_the_turn(home: Home) -> None:
    is_asked, may_end = asyncio.Event(), asyncio.Event()
    model = ScriptedModel(announce(is_asked, "Hm", may_end), ["A cat."])
    image = Image(data="AAAA", mime_type="image/png")
    async with agent_on(home, model) as agent:
        turn = asyncio.create_task(agent.run("Look"))
        await is_asked.wait()
        agent.add(mooring.TurnInput("At this", (image,)))
        may_end.set()
        await turn
        added = agent.history[-2]
    assert added == PersonMessage((Text("At this"), image), in_turn=True)


async def test_results_are_never_parted_from_their_calls(home: Home) -> None:
    model = ScriptedModel(
        [call("mcp__demo__add", {"a": 1, "b": 2}, "c1"), call("mcp__demo__add", {"a": 3, "b": 4}, "c2")],
        lambda request: [str(len(request.messages))],
    )
    async with agent_on(home, model) as agent:

        def interject(event: ConversationEvent) -> None:
            if isinstance(event, ToolFinished):
                agent.add("now")

        agent.conversation.stream.add_listener(interject)
        await agent.run("Add")
        kinds = [type(each) for each in agent.history]
    assert kinds == [PersonMessage, ModelMessage, ResultsMessage, PersonMessage, PersonMessage, ModelMessage]
    assert len(results_of(ModelRequest("", tuple(agent.history[:3])))) == 2


async def test_a_message_while_the_history_is_summarized_is_read_with_what_is_left_of_it(home: Home) -> None:
    is_asked, may_end = asyncio.Event(), asyncio.Event()
    model = ScriptedModel(
        ["One."],
        [ContextOverflow("scripted:one", "too long")],
        announce(is_asked, may_end, "They said hello."),
        ["Both."],
    )
    async with agent_on(home, model) as agent:
        await agent.run("Hello")
        turn = asyncio.create_task(agent.run("Do that"))
        await is_asked.wait()
        receipt = agent.add("And this")
        may_end.set()
        await turn
        assert await receipt
    sent = model.requests[-1].messages
    assert isinstance(sent[0], SummaryMessage)
    assert [said(each) for each in sent[1:]] == ["Do that", "And this"]
    assert agent.history[-1] == ModelMessage((TextBlock("Both."),), model.name)


async def test_a_message_while_a_sub_agent_works_is_read_by_the_one_that_the_person_talks_to(home: Home) -> None:
    is_asked, may_end = asyncio.Event(), asyncio.Event()
    model = ScriptedModel(
        [call("Agent", {"subagent_type": "helper", "prompt": "Look", "description": "Look"}, "c1")],
        announce(is_asked, may_end, "Looked."),
        ["Both."],
    )
    helper = mooring.AgentDefinition(name="helper", description="Helps.", prompt="You help.")
    async with agent_on(home, model, agents=(helper,)) as agent:
        turn = asyncio.create_task(agent.run("Have it looked at"))
        await is_asked.wait()
        receipt = agent.add("Quickly")
        may_end.set()
        await turn
        assert await receipt
    assert [said(each) for each in model.requests[1].messages] == ["Look"]
    assert said(model.requests[2].messages[-1]) == "Quickly"


async def test_a_turn_with_more_said_in_it_is_one_turn_on_record(home: Home) -> None:
    store = SessionStore(home.where)
    cwd = str(home.cwd)
    journal = store.begin(cwd, model="scripted:one")
    is_asked, may_end = asyncio.Event(), asyncio.Event()
    model = ScriptedModel(announce(is_asked, may_end, "One."), ["Two."])
    async with agent_on(home, model, journal=journal) as agent:
        turn = asyncio.create_task(agent.run("First"))
        await is_asked.wait()
        agent.add("More")
        may_end.set()
        await turn
        last = await journal.find_last_turn()
    assert last is not None
    assert (last.said, last.before) == ("First", ())
    (session,) = store.list(cwd)
    assert (session.turns, session.title) == (1, "First")
    journal.close()
    resumed = store.resume(session.id)
    assert resumed.messages == agent.history
    resumed.journal.close()
