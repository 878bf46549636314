"""What a person says during a turn of the real Claude Code: read in it, or taken back, and never said by itself."""

import asyncio

import pytest
from claude_talk import last_words, talk
from tests.backends.program_talk import ending_of, pick
from tests.models import Call, FakeModel, Hold, ModelRequest, Reply, Say

from mooring.core.conversation.event import InputAdded, TextPiece, ToolFinished, ToolStarted, TurnDone
from mooring.core.conversation.turn import TurnInput
from support import DEMO, Home

pytestmark = pytest.mark.timeout(200)


def whole(request: ModelRequest) -> str:
    return "\n".join(message.text for message in request.messages)


async def asked(fake: FakeModel, times: int = 1) -> None:
    while len(fake.requests) < times:  # noqa: ASYNC110 - the model is another program
        await asyncio.sleep(0.05)


async def test_a_message_during_a_call_is_read_with_its_result(home: Home) -> None:
    home.configure(demo=DEMO)

    def reply(request: ModelRequest) -> Reply:
        return Say("Blue.") if request.results else Call("mcp__demo__slow", {"seconds": 2})

    with FakeModel(reply, skip_asides=True) as fake:
        async with talk(home, fake, policy="allow") as conversation:
            turn = asyncio.ensure_future(conversation.say("Paint it red"))
            await conversation.wait_for(ToolStarted)
            receipt = conversation.backend.add(TurnInput("No, blue"))
            await turn
            assert await receipt
            assert [event.text for event in pick(conversation.events, InputAdded)] == ["No, blue"]
            kinds = [
                type(event)
                for event in conversation.events
                if isinstance(event, ToolFinished | InputAdded | TextPiece | TurnDone)
            ]
            assert kinds[:3] == [ToolFinished, InputAdded, TextPiece]
            assert kinds.count(TurnDone) == 1
            assert "No, blue" in whole(fake.requests[1])
            assert len(fake.requests) == 2


async def test_a_message_during_the_last_reply_makes_the_turn_go_on_and_all_of_it_is_counted(home: Home) -> None:
    def reply(request: ModelRequest) -> Reply:
        is_first = last_words(request) == "First"
        return [Say("So far. "), Hold("first"), Say("End.")] if is_first else Say("And that.")

    with FakeModel(reply, skip_asides=True) as fake:
        async with talk(home, fake) as conversation:
            turn = asyncio.ensure_future(conversation.say("First"))
            await asked(fake)
            receipt = conversation.backend.add(TurnInput("And that too"))
            assert receipt is not None
            fake.release("first")
            await turn
            assert await receipt
            [done] = pick(conversation.events, TurnDone)
            assert (done.reason, done.text, done.replies) == ("finished", "And that.", 2)
            assert last_words(fake.requests[1]) == "And that too"
            alone = done.cost
            await conversation.say("Another")
            another = ending_of(conversation.events).cost
            assert alone is not None
            assert another is not None
            assert alone > another > 0, "the cost of both replies"
            assert len(fake.requests) == 3


async def test_a_message_that_is_taken_back_is_not_read(home: Home) -> None:
    def reply(request: ModelRequest) -> Reply:
        return [Say("So far. "), Hold("first"), Say("End.")] if len(request.messages) < 3 else Say("Fine.")

    with FakeModel(reply, skip_asides=True) as fake:
        async with talk(home, fake) as conversation:
            turn = asyncio.ensure_future(conversation.say("First"))
            await asked(fake)
            receipt = conversation.backend.add(TurnInput("Never mind"))
            assert receipt is not None
            assert receipt.cancel()
            while conversation.backend._session._added.has_unread:  # noqa: ASYNC110 - until the program has withdrawn it
                await asyncio.sleep(0.05)
            fake.release("first")
            await turn
            await conversation.say("Second")
            assert pick(conversation.events, InputAdded) == []
            assert not any("Never mind" in whole(request) for request in fake.requests)
            assert len(fake.requests) == 2


async def test_a_turn_that_is_stopped_says_nothing_of_what_was_added_by_itself(home: Home) -> None:
    def reply(request: ModelRequest) -> Reply:
        return [Say("So far. "), Hold("first")] if len(request.messages) < 3 else Say("Fine.")

    with FakeModel(reply, skip_asides=True) as fake:
        async with talk(home, fake) as conversation:
            turn = asyncio.ensure_future(conversation.say("First"))
            await asked(fake)
            receipt = conversation.backend.add(TurnInput("And in blue"))
            assert receipt is not None
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
            assert await receipt is False
            assert ending_of(conversation.events).reason == "interrupted"
            fake.release("first")
            await conversation.say("Second")
            assert not any("And in blue" in whole(request) for request in fake.requests)
            assert last_words(fake.requests[-1]).endswith("Second")
            late = conversation.backend.add(TurnInput("Too late"))
            assert late is not None
            assert await late is False
