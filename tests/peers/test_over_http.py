"""Real servers behind a URL: server-everything both ways, and the SDKs that servers in the world are made with."""

import asyncio
import os
import socket
import subprocess
import time
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest
from fleet import EVERYTHING, OURS, SERVERS, names
from install import python

import mooring
from mooring.core.protocol.content import Text
from mooring.core.protocol.era import EraHint
from mooring.wire.session.remote import open_url

STARTING = 15.0
LONG = "trigger-long-running-operation"


class Served(NamedTuple):
    """A server of ours behind a URL, made with one generation of an SDK."""

    room: str
    script: str
    way: str
    revision: str
    path: str = "/mcp"

    def command(self, port: int) -> list[str]:
        return [python(self.room), str(SERVERS / self.script), self.way, str(port)]


SERVED = (
    Served("mcp-1.6", "sdk_1.py", "sse", "2024-11-05", "/sse"),
    Served("mcp-1.12", "sdk_1.py", "streamable-http", "2025-06-18"),
    Served("mcp-1.30", "sdk_1.py", "streamable-http", "2025-11-25"),
    Served("mcp-1.30", "sdk_1.py", "sse", "2025-11-25", "/sse"),
    Served("mcp-2.3", "sdk_2.py", "streamable-http", "2026-07-28"),
    Served("fastmcp", "fast.py", "http", "2026-07-28"),
)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@asynccontextmanager
async def running(command, port, **env):
    """A server that listens, and is gone afterwards."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env={**os.environ, **env}, **quiet)  # noqa: ASYNC220 - it returns at once
    try:
        until = time.monotonic() + STARTING
        while not listens(port):
            assert process.poll() is None, "it ended"
            assert time.monotonic() < until, "it does not listen"
            await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("served", SERVED, ids=lambda served: f"{served.room}-{served.way}")
async def test_a_server_of_each_generation_is_used_in_full(served):
    port = free_port()
    async with running(served.command(port), port) as origin, mooring.connect(origin + served.path) as session:
        assert session.hello.protocol_version == served.revision
        assert names(session.tools) == OURS
        [now] = (await session.read_resource("tide://now")).contents
        assert now.text == "high"
        filled = await session.get_prompt("explain", {"topic": "tides"})
        assert [message.content for message in filled.messages] == [Text("Explain tides.")]
        assert (await session.call_tool("fail")).is_error
        steps = []
        assert (await session.call_tool("slow", {"steps": 3}, on_progress=steps.append)).text == "3 steps"
        assert [step.progress for step in steps] == [1, 2, 3]
        results = await asyncio.gather(*(session.call_tool("echo", {"text": f"call {i} ⚓"}) for i in range(50)))
        assert [result.text for result in results] == [f"call {i} ⚓" for i in range(50)]
        if served.room != "mcp-1.6":  # which ends its stream when a call is cancelled
            with pytest.raises(mooring.TimedOut):
                await session.call_tool("slow", {"steps": 400}, timeout=mooring.Timeout(0.5, 0.5))
            assert (await session.call_tool("echo", {"text": "still here"})).text == "still here"
        assert session.anomalies.malformed == session.anomalies.unknown == 0


@pytest.mark.parametrize("era", ["handshake", "stateless"])
async def test_the_newest_sdk_is_spoken_to_in_either_era(era):
    newest = SERVED[4]
    port = free_port()
    async with (
        running(newest.command(port), port) as origin,
        await open_url(origin + newest.path, hint=EraHint(era)) as session,
    ):
        assert session.era == era
        assert (await session.call_tool("add", {"a": 40, "b": 2})).structured == {"result": 42}


@pytest.mark.parametrize(("way", "path"), [("streamableHttp", "/mcp"), ("sse", "/sse")])
async def test_everything_that_a_client_can_do_works_behind_a_url(way, path):
    asked, updated = [], []

    async def sample(params):
        asked.append("sample")
        return {"role": "assistant", "model": "m", "content": {"type": "text", "text": "sampled"}}

    async def elicit(params):
        asked.append("elicit")
        return {"action": "accept", "content": {}}

    client = mooring.Client(
        roots=lambda: [mooring.Root("file:///harbour", "harbour")],
        sample=sample,
        elicit=elicit,
        on_update=updated.append,
    )
    port = free_port()
    async with (
        running([*EVERYTHING, way], port, PORT=str(port)) as origin,
        mooring.connect(origin + path, client=client) as session,
    ):
        steps = []
        done = await session.call_tool(LONG, {"duration": 1, "steps": 4}, on_progress=steps.append)
        assert ("completed" in done.text, len(steps)) == (True, 4)
        with pytest.raises(mooring.TimedOut):
            await session.call_tool(LONG, {"duration": 20, "steps": 2}, timeout=mooring.Timeout(0.5, 0.5))
        sampled = await session.call_tool("trigger-sampling-request", {"prompt": "x", "maxTokens": 10})
        assert "sampled" in sampled.text
        assert not (await session.call_tool("trigger-elicitation-request")).is_error
        assert asked == ["sample", "elicit"]
        assert "harbour" in (await session.call_tool("get-roots-list")).text
        [first, *_] = (await session.list_resources()).items
        await session.subscribe(first.uri)
        await session.call_tool("toggle-subscriber-updates")
        while not updated:  # noqa: ASYNC110 - what is waited for happens in the server
            await asyncio.sleep(0.05)
        assert updated[0] == first.uri
        assert len((await session.get_prompt("simple-prompt")).messages) == 1
        ref = {"type": "ref/prompt", "name": "completable-prompt"}
        assert "Engineering" in (await session.complete(ref, "department", "")).values
        odd = session.anomalies
        assert (odd.noise, odd.malformed, odd.unknown) == (0, 0, 0)
