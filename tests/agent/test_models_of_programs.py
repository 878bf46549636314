"""A model that a program brings itself: all that it needs are public names, and what it doesn't know of is left out."""

import subprocess
import sys
from collections.abc import AsyncGenerator
from typing import Any, Literal

import mooring
from support import DEMO, Home

WRITTEN_BEFORE = """
import asyncio, json, sys
import mooring

class Echo:
    name, schemas, takes, window = "mine:echo", None, frozenset(), None

    async def reply(self, request):
        first = request.messages[0].parts[0].text
        assert request.system and [tool.name for tool in request.tools if tool.name == "mcp__demo__add"]
        match request.messages[-1]:
            case mooring.PersonMessage():
                yield mooring.ReplyThinking("Hm.")
                thought = mooring.ThinkingBlock("Hm.", {"signature": "s"})
                yield mooring.BlockFinished(thought)
                blocks = (thought, mooring.CallBlock("1", "mcp__demo__add", json.dumps({"a": 2, "b": 40})))
                message, stop = mooring.ModelMessage(blocks, self.name), "calls"
            case mooring.ResultsMessage(results):
                assert request.messages[1].blocks[0].opaque == {"signature": "s"}
                text = mooring.TextBlock(f"{first} {results[0].parts[0].text}")
                yield mooring.ReplyText(text.text)
                message, stop = mooring.ModelMessage((text,), self.name), "finished"
        yield mooring.ReplyFinished(message, mooring.TokenUsage(10, 5), None, stop)

    async def close(self):
        raise AssertionError("it is the program's own")

async def main():
    servers = {"demo": {"command": sys.executable, "args": ["-I", "-m", "mooring.demo"]}}
    async with mooring.open(servers=servers, policy="allow") as host, mooring.agent(host, Echo()) as agent:
        await host.ready()
        done = await agent.run("Sum:")
        print(done.text, done.reason, done.usage.total, done.cost)

asyncio.run(main())
"""
"""As a program could be written before Mooring spoke to providers itself; it ran on the code of then, too."""


def test_a_model_that_was_written_before_still_works(home: Home) -> None:
    command = [sys.executable, "-c", WRITTEN_BEFORE]
    done = subprocess.run(command, cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=100, check=False)
    assert (done.stdout, done.stderr) == ('Sum: {"sum": 42} finished 30 None\n', "")


class Sealing:
    """Replies with a block that only itself understands, and pauses once."""

    name = "mine:sealing"
    schemas = None
    takes: frozenset[Literal["image", "audio"]] = frozenset()
    window = None

    def __init__(self) -> None:
        self.requests: list[mooring.ModelRequest] = []

    async def reply(self, request: mooring.ModelRequest) -> AsyncGenerator[mooring.ReplyEvent, None]:
        self.requests.append(request)
        sealed = mooring.OpaqueBlock({"sealed": [1, {"a": "é"}]})
        blocks = (mooring.TextBlock("Before."), sealed, mooring.TextBlock("After."))
        for block in blocks:
            yield mooring.BlockFinished(block)
        stop: Any = "paused" if len(self.requests) == 1 else "finished"
        yield mooring.ReplyFinished(mooring.ModelMessage(blocks, self.name), None, stop=stop)

    async def close(self) -> None:
        pass


async def test_a_block_that_nobody_else_knows_stays_in_its_place_and_a_paused_reply_goes_on(home: Home) -> None:
    model = Sealing()
    async with (
        mooring.open(request=home.request(), servers={"demo": DEMO}) as host,
        mooring.agent(host, model) as agent,
    ):
        await agent.run("Hi")
        await agent.run("And?")
    first, rest, last = model.requests
    assert len(first.messages) == 1
    assert len(rest.messages) == 2
    for message in (rest.messages[1], last.messages[1], last.messages[2]):
        assert isinstance(message, mooring.ModelMessage)
        assert message.blocks[1] == mooring.OpaqueBlock({"sealed": [1, {"a": "é"}]})
