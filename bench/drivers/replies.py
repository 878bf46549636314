"""Drives the models of `mooring chat` alone: one reply after another; with `--bare`, aiohttp reads and forgets them."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp

from mooring import settings
from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    PersonMessage,
    ResultsMessage,
    TextBlock,
)
from mooring.agents.model import Model, ModelRequest, ReplyFinished
from mooring.backends.api.choose import choose_model
from mooring.core.conversation.call import ToolDefinition, ToolName
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.content import Text

ECHO = ToolDefinition(
    ToolName("echo"), "Says it again.", {"type": "object", "properties": {"text": {"type": "string"}}}
)
MODELS = {
    "anthropic": "anthropic:claude-sonnet-5-5",
    "openai": "openai:gpt-6.1-sol",
    "openai-chat": "openai-chat:gpt-4o",
    "google": "google:gemini-3.8-flash",
}
WARM_UP = 5


def make_history(messages: int) -> tuple[Message, ...]:
    """A conversation of so many messages: half of the turns have a call."""
    history: list[Message] = []
    for number in range(messages // 4):
        call = CallBlock(f"call_{number}", "echo", '{"text": "Is the line made fast?"}')
        result = CallResult(call.id, "echo", (Text(text="Is the line made fast? " * 4),))
        history += [
            PersonMessage((Text(text=f"And line {number}?"),)),
            ModelMessage((TextBlock("I look at it."), call), "elsewhere:model"),
            ResultsMessage((result,)),
            ModelMessage((TextBlock("It is made fast to the bollard. " * 4),), "elsewhere:model"),
        ]
    return (*history, PersonMessage((Text(text="Hi"),)))


async def ask(model: Model, request: ModelRequest) -> None:
    async for event in model.reply(request):
        last = event
    assert isinstance(last, ReplyFinished)


async def measure(once: Callable[[], Awaitable[None]], times: int) -> float:
    """The CPU of one of so many, in milliseconds."""
    for _ in range(WARM_UP):
        await once()
    began = time.process_time()
    for _ in range(times):
        await once()
    return (time.process_time() - began) / times * 1e3


async def measure_models(job: dict[str, Any]) -> dict[str, float]:
    request = ModelRequest("Be brief.", make_history(job["messages"]), (ECHO,))
    took: dict[str, float] = {}
    with TemporaryDirectory() as home:
        where = Paths(home, {"HOME": home, "PATH": os.environ["PATH"], **job["env"]})
        for kind in job["kinds"]:
            model = await choose_model(MODELS[kind], where, settings.load(where, None))
            took[kind] = await measure(lambda model=model: ask(model, request), job["times"])
            await model.close()
    return took


async def measure_bare(job: dict[str, Any]) -> dict[str, float]:
    url = job["env"]["ANTHROPIC_BASE_URL"] + "/v1/messages"

    async with aiohttp.ClientSession() as session:

        async def once() -> None:
            async with session.post(url, json={"model": "m", "messages": [], "stream": True}) as response:
                async for _ in response.content.iter_any():
                    pass

        return {"anthropic": await measure(once, job["times"])}


def main(words: Sequence[str]) -> None:
    do = measure_bare if "--bare" in words else measure_models
    for line in sys.stdin:
        print(json.dumps(asyncio.run(do(json.loads(line)))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
