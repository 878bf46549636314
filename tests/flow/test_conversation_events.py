"""One stream of events for each conversation: in order, whole, and never faster than whoever reads it."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from test_host import until

import mooring
from mooring.conversation.events import MOST_UNREAD
from mooring.core.conversation.event import encode_event, encode_first_version
from support import Home

DEMO = {"demo": {"command": sys.executable, "args": ["-I", "-m", "mooring.demo"]}}
ECHO = ("mcp__demo__echo", {"text": "ahoy"})


@asynccontextmanager
async def opened(home: Home, **options: Any) -> AsyncIterator[mooring.Host]:
    async with mooring.open(request=home.request(), servers=DEMO, **options) as host:
        await host.ready()
        yield host


async def test_a_call_outside_a_turn_is_told_with_whose_it_is_and_where_its_server_comes_from(home: Home) -> None:
    async with opened(home, policy="allow") as host, host.conversation() as one, host.conversation() as other:
        events, others = one.events(), other.events()
        await one.call(*ECHO, id="mine")
        await one.close()
        told = [event async for event in events]
        await other.close()
        assert [event async for event in others] == []
    started, progress, finished = told
    assert isinstance(started, mooring.ToolStarted)
    assert isinstance(progress, mooring.ToolProgress)
    assert isinstance(finished, mooring.ToolFinished)
    assert {(event.session, event.turn, event.parent) for event in told} == {(started.session, 0, None)}
    assert [event.id for event in (started, progress, finished)] == ["mine"] * 3
    assert (started.provider, started.source) == (finished.provider, finished.source) == ("mooring", None)
    assert finished.outcome.text == "ahoy"


async def test_the_source_of_a_tool_is_the_file_that_its_server_is_in(home: Home) -> None:
    path = home.write("home/.cursor/mcp.json", {"mcpServers": DEMO})
    async with mooring.open(request=home.request(), policy="allow") as host:
        await host.ready()
        async with host.conversation() as tools:
            events = tools.events()
            await tools.call(*ECHO)
            started = await anext(events)
    assert isinstance(started, mooring.ToolStarted)
    assert (started.provider, started.source) == ("cursor", str(path))


async def test_a_question_about_a_call_outside_a_turn_is_told_and_answered(home: Home) -> None:
    async def ask(question: mooring.Question) -> mooring.Answer:
        return mooring.No("not now")

    for options in ({"ask": ask}, {}):
        told: list[Any] = []
        async with (
            opened(home, ask=None if options else ask) as host,
            host.conversation(on_event=told.append, **options) as tools,
        ):
            assert (await tools.call(*ECHO)).is_error
        kinds = [type(event).__name__ for event in told]
        assert kinds == ["ToolStarted", "QuestionAsked", "QuestionAnswered", "ToolFinished"], options
        assert (told[2].answer, told[2].reason) == ("no", "not now")


async def test_a_slow_reader_makes_its_own_conversation_wait_and_loses_nothing(home: Home) -> None:
    calls = MOST_UNREAD  # three events each
    async with opened(home, policy="allow") as host, host.conversation() as slow, host.conversation() as free:
        events = slow.events()
        made = 0

        async def call_on() -> None:
            nonlocal made
            for _ in range(calls):
                await slow.call(*ECHO)
                made += 1

        working = asyncio.create_task(call_on())
        await until(lambda: slow.stream.is_full)
        await asyncio.sleep(0.2)
        waiting_at = made
        assert MOST_UNREAD / 3 - 1 <= waiting_at <= MOST_UNREAD / 3 + 1
        for _ in range(50):
            assert not (await free.call(*ECHO)).is_error, "another conversation goes on"
        assert made == waiting_at
        told = [await anext(events) for _ in range(3 * calls)]
        await working
    finished = [event for event in told if isinstance(event, mooring.ToolFinished)]
    assert [event.id for event in finished] == [f"call-{number}" for number in range(1, calls + 1)]


async def test_a_reader_that_nobody_holds_any_more_is_not_waited_for(home: Home) -> None:
    async with opened(home, policy="allow") as host, host.conversation() as tools:
        events = tools.events()
        working = asyncio.create_task(_call_often(tools, MOST_UNREAD))
        await until(lambda: tools.stream.is_full)
        del events
        gc.collect()
        async with asyncio.timeout(30):
            await working


async def _call_often(tools: mooring.Conversation, times: int) -> None:
    for _ in range(times):
        await tools.call(*ECHO)


async def test_the_first_version_has_what_it_had(home: Home) -> None:
    told: list[Any] = []
    async with opened(home, policy="allow") as host, host.conversation(on_event=told.append) as tools:
        tools.stream.begin_turn()
        await tools.call(*ECHO)
    written = [encode_first_version(event) for event in told]
    assert [line is None for line in written] == [False, True, False]
    assert b'"provider"' in encode_event(told[0])
    for line in written:
        assert line is None or (b'"provider"' not in line and b'"source"' not in line)


async def test_the_old_tell_is_told_what_it_was_told_before(home: Home) -> None:
    told: list[Any] = []
    async with opened(home, policy="allow") as host:
        with pytest.warns(DeprecationWarning, match="tell= is now on_event="):
            conversation = host.conversation(tell=told.append)
        async with conversation as tools:
            outcome = await tools.call(*ECHO, id="x")
    with pytest.warns(DeprecationWarning, match=r"mooring\.CallDone is now mooring\.ToolFinished"):
        done = mooring.CallDone
    assert [type(event.state).__name__ for event in told] == ["CallPending", "CallProcessing", "CallDone"]
    assert isinstance(told[-1].state, done)
    assert told[-1].state.outcome == outcome
    assert {event.request.id for event in told} == {"x"}
