"""The adapter for the Anthropic SDK: its client against an API on loopback, in the loop that a program would write."""

from base64 import b64decode
from collections.abc import Sequence
from typing import Any

from anthropic import AsyncAnthropic
from anthropic.types import Message, MessageParam
from behaviors import Behaviors, Reply, Run, Turn
from tests.models import Call, FakeModel, ModelRequest, Say
from tests.models import Reply as ModelReply

import mooring
from mooring.adapters.anthropic import call_tools, find_waiting, make_tools


class AnthropicRun(Run):
    stops_to_ask = False

    def __init__(self, tools: mooring.Conversation, turns: Sequence[Turn]) -> None:
        super().__init__(tools, turns)
        self._messages: list[MessageParam] = [{"role": "user", "content": "Begin."}]
        self._message: Message | None = None

    def _respond(self, request: ModelRequest) -> ModelReply:
        self.offered.append({tool.name: tool.schema for tool in request.tools})
        turn = self.next_turn()
        return Say(turn) if isinstance(turn, str) else [Call(name, arguments) for name, arguments in turn]

    async def start(self) -> None:
        async with (
            FakeModel(self._respond) as model,
            AsyncAnthropic(base_url=model.anthropic_url, api_key="none", max_retries=0) as client,
        ):
            await self._go(client)

    async def _go(self, client: AsyncAnthropic) -> None:
        while True:
            message = await client.messages.create(
                model="scripted", max_tokens=100, messages=self._messages, tools=make_tools(self.tools)
            )
            self._messages.append({"role": "assistant", "content": message.content})
            if message.stop_reason != "tool_use":
                self.answer = message.content[0].text  # type: ignore[union-attr]
                return
            waiting = find_waiting(self.tools, message) if self.stops_to_ask else []
            if waiting:
                self._message, self.waiting = message, [use.name for use in waiting]
                return
            self._messages.append(await call_tools(self.tools, message))

    async def resume(self, approved: bool) -> None:
        assert self._message is not None
        ids = [use.id for use in find_waiting(self.tools, self._message)] if approved else []
        self._messages.append(await call_tools(self.tools, self._message, approved=ids))
        await self.start()

    @property
    def replies(self) -> list[Reply]:
        contents = [message["content"] for message in self._messages if message["role"] == "user"]
        return [_read(block) for content in contents if not isinstance(content, str) for block in content]


def _read(block: Any) -> Reply:
    assert block["type"] == "tool_result"
    texts = [part["text"] for part in block["content"] if part["type"] == "text"]
    images = [b64decode(part["source"]["data"]) for part in block["content"] if part["type"] == "image"]
    return Reply("\n".join(texts), images, block["is_error"])


class StoppingRun(AnthropicRun):
    stops_to_ask = True


class TestAnthropic(Behaviors):
    run = AnthropicRun
    interruptible = StoppingRun
