"""Tools that run as tasks, on servers that others made: the experiment of 2025-11-25 and the extension of 2026-07-28.

The first is in the official SDK for Python and in server-everything, of which `test_everything` has more. The second is
in fastmcp alone: the official SDKs have its types, and `@modelcontextprotocol/ext-tasks` the client's half of it.
"""

import asyncio
import time
from typing import NamedTuple

import pytest
from fleet import SERVERS
from install import python

import mooring
from mooring.core.protocol.limits import Timeout


class Made(NamedTuple):
    room: str
    script: str
    revision: str

    @property
    def command(self) -> list[str]:
        return [python(self.room), str(SERVERS / self.script)]


KINDS = (
    Made("mcp-1.30", "tasks_2025.py", "2025-11-25"),
    Made("fastmcp", "tasks_2026.py", "2026-07-28"),
)
pytestmark = pytest.mark.parametrize("made", KINDS, ids=lambda made: made.revision)


async def test_a_tool_that_must_or_may_be_a_task_is_called_like_any_other(made: Made) -> None:
    async with mooring.connect(made.command) as session:
        assert session.hello.protocol_version == made.revision
        calls = [session.call_tool(name, {"text": f"{n}"}) for n in range(3) for name in ("must", "may", "echo")]
        results = await asyncio.gather(*calls)
        assert [result.text for result in results] == [
            "must 0", "may 0", "0", "must 1", "may 1", "1", "must 2", "may 2", "2",
        ]  # fmt: skip
        assert session.in_flight == 0


async def test_a_task_that_fails_is_a_result_that_says_why(made: Made) -> None:
    async with mooring.connect(made.command) as session:
        result = await session.call_tool("fail")
    assert result.is_error
    assert "as it must" in result.text


async def test_a_task_that_needs_a_person_asks_in_between(made: Made) -> None:
    asked: list[str] = []

    async def elicit(params):
        asked.append(params["message"])
        return {"action": "accept", "content": {"value": "high"}}

    async with mooring.connect(made.command, client=mooring.Client(elicit=elicit)) as session:
        assert (await session.call_tool("ask")).text == "accept: high"
    assert asked == ["How high is the water?"]


async def test_a_task_that_takes_too_long_or_is_given_up_leaves_the_server_usable(made: Made) -> None:
    async with mooring.connect(made.command) as session:
        with pytest.raises(mooring.TimedOut):
            await session.call_tool("long", timeout=Timeout(None, 0.7))
        call = asyncio.create_task(session.call_tool("long"))
        await asyncio.sleep(0.3)
        began = time.monotonic()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert time.monotonic() - began < 0.5
        assert (await session.call_tool("echo", {"text": "still here"})).text == "still here"
        assert session.in_flight == 0
