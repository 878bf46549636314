"""The adapter for FastMCP, through its client; what a model would do with it, the test does."""

import asyncio
from base64 import b64decode
from collections.abc import Sequence
from typing import Any

from behaviors import ECHO, Behaviors, Call, Reply, Run, Turn
from fastmcp import Client
from fastmcp.client.client import CallToolResult
from fastmcp.client.elicitation import ElicitResult

import mooring
from mooring.adapters.fastmcp import MooringTransport, elicit


class FastMCPRun(Run):
    def __init__(self, tools: mooring.Conversation, turns: Sequence[Turn]) -> None:
        super().__init__(tools, turns)
        self._replies: list[Reply] = []
        self._asked = asyncio.Event()
        self._decision = asyncio.get_running_loop().create_future()

    async def start(self) -> None:
        """Until the end, or until the client is asked."""
        running = self._running = asyncio.create_task(self._go())
        asked = asyncio.create_task(self._asked.wait())
        try:
            await asyncio.wait([running, asked], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            running.cancel()
            await asyncio.wait([running])
            raise
        finally:
            asked.cancel()
        if running.done():
            running.result()

    async def resume(self, approved: bool) -> None:
        self._decision.set_result(approved)
        await self._running

    async def _elicit(self, message: str, kind: Any, params: Any, context: Any) -> ElicitResult[Any]:
        self.waiting = ["mcp__" + message.split()[1].replace(".", "__")]
        self._asked.set()
        return ElicitResult(action="accept" if await self._decision else "decline")

    async def _go(self) -> None:
        async with Client(MooringTransport(self.tools), elicitation_handler=self._elicit) as client:
            while True:
                self.offered.append({tool.name: tool.input_schema for tool in await client.list_tools()})
                turn = self.next_turn()
                if isinstance(turn, str):
                    self.answer = turn
                    return
                results = await asyncio.gather(*(self._call(client, call) for call in turn))
                self._replies += map(_read, results)

    async def _call(self, client: Client[Any], call: Call) -> CallToolResult:
        name, arguments = call
        return await client.call_tool(name, arguments, raise_on_error=False)

    @property
    def replies(self) -> list[Reply]:
        return self._replies


def _read(result: CallToolResult) -> Reply:
    texts = [block.text for block in result.content if block.type == "text"]
    images = [b64decode(block.data) for block in result.content if block.type == "image"]
    return Reply("\n".join(texts), images, result.is_error)


class TestFastMCP(Behaviors):
    run = FastMCPRun
    ask = staticmethod(elicit)

    async def test_a_client_that_cannot_be_asked_gets_an_error_that_says_so(self) -> None:
        async with (
            self.host() as host,
            host.conversation(ask=elicit) as tools,
            Client(MooringTransport(tools)) as client,
        ):
            result = await client.call_tool(*ECHO, raise_on_error=False)
        assert result.is_error
        assert "nobody could be asked" in _read(result).text

    async def test_structured_content_is_kept(self) -> None:
        async with (
            self.host(policy="allow") as host,
            host.conversation() as tools,
            Client(MooringTransport(tools)) as client,
        ):
            result = await client.call_tool("mcp__demo__add", {"a": 2, "b": 40})
        assert result.structured_content == {"sum": 42}
