"""One small server, made with each generation of the SDKs that servers in the world are made with."""

import asyncio
import time

import pytest
from fleet import GENERATIONS, OURS, names

import mooring
from mooring.core.protocol.content import Text

pytestmark = pytest.mark.parametrize("made", GENERATIONS, ids=lambda made: made.room)
ODD = 'ahoy ⚓ "\n\u2028\x00' * 1000


async def test_a_server_lists_all_that_it_offers_and_gives_what_is_asked_for(made):
    async with mooring.connect(made.command) as session:
        assert session.hello.protocol_version == made.revision
        assert session.hello.server_info.version.startswith(made.version)
        assert names(session.tools) == OURS
        assert session.tools.items[1].schema["required"] == ["a", "b"]
        assert [resource.uri for resource in (await session.list_resources()).items] == ["tide://now"]
        assert [template.uri_template for template in (await session.list_templates()).items] == ["tide://{port}"]
        [prompt] = (await session.list_prompts()).items
        assert (prompt.name, [argument.name for argument in prompt.arguments]) == ("explain", ["topic"])
        [now] = (await session.read_resource("tide://now")).contents
        assert (now.uri, now.text) == ("tide://now", "high")
        [there] = (await session.read_resource("tide://Kiel")).contents
        assert there.text == "low in Kiel"
        filled = await session.get_prompt("explain", {"topic": "tides"})
        assert [(message.role, message.content) for message in filled.messages] == [("user", Text("Explain tides."))]
        with pytest.raises(mooring.RpcError, match="nowhere://"):
            await session.read_resource("nowhere://here")
        assert session.anomalies.noise == session.anomalies.malformed == session.anomalies.unknown == 0


async def test_tools_answer_each_call_its_own_and_say_how_far_they_are_and_that_they_failed(made):
    steps = []
    async with mooring.connect(made.command) as session:
        assert (await session.call_tool("echo", {"text": ODD})).text == ODD
        added = await session.call_tool("add", {"a": 40, "b": 2})
        assert (added.text, added.is_error) == ("42", False)
        assert added.structured == ({"result": 42} if made.revision >= "2025-06-18" else None)
        failed = await session.call_tool("fail")
        assert failed.is_error
        assert "fail" in failed.text
        unfit = await session.call_tool("add", {"a": "many"})
        assert unfit.is_error
        assert "valid integer" in unfit.text
        assert (await session.call_tool("slow", {"steps": 3}, on_progress=steps.append)).text == "3 steps"
        assert [(step.progress, step.total) for step in steps] == [(1, 3), (2, 3), (3, 3)]
        results = await asyncio.gather(*(session.call_tool("echo", {"text": f"call {i}"}) for i in range(100)))
        assert [result.text for result in results] == [f"call {i}" for i in range(100)]


async def test_a_cancelled_call_returns_at_once_and_the_server_stays_usable_or_is_known_to_have_ended(made):
    begun = asyncio.Event()
    async with mooring.connect(made.command) as session:
        call = asyncio.create_task(session.call_tool("slow", {"steps": 400}, on_progress=lambda _: begun.set()))
        await begun.wait()
        start = time.monotonic()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert time.monotonic() - start < 0.5
        assert session.in_flight == 0
        if made.outlives_a_cancel:
            assert (await session.call_tool("echo", {"text": "still here"})).text == "still here"
        else:
            with pytest.raises(mooring.ServerDied, match="ended with exit code 1"):
                await session.call_tool("echo", {"text": "still here"})
