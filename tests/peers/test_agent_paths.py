"""The path of one server for an agent's program, seen by the official SDK's own client, in either era."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from install import python

import mooring
from mooring.backends.bridge.bridge import AgentCall, AgentEndpoint, McpTool, open_bridge
from mooring.backends.bridge.reporter import AgentReporter
from mooring.conversation.events import EventStream
from mooring.core.conversation.question import Allow, Answer, Question
from mooring.testing import Server

CLIENT = Path(__file__).with_name("agent_client.py")


def make_server() -> Server:
    server = Server("box")

    @server.tool
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    return server


async def run_client(mode: str, endpoint: AgentEndpoint) -> Any:
    words: Sequence[str] = (str(CLIENT), mode, endpoint.url)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(python("mcp-2.3"), *words, stdin=pipe, stdout=pipe, stderr=pipe)
    out, err = await process.communicate(endpoint.headers["Authorization"].encode())
    assert process.returncode == 0, err[-2000:]
    return json.loads(out)


async def use_path(mode: str) -> tuple[Any, int]:
    """What the client saw in two runs, one with a yes given before, and how often the person was asked."""
    asked: list[Question] = []

    async def ask(question: Question) -> Answer:
        asked.append(question)
        return Allow("once")

    reporter = AgentReporter(EventStream("session"), "test")
    async with (
        mooring.open(servers={"my box": make_server()}, ask=ask) as host,
        open_bridge(host, reporter, ask=ask) as bridge,
    ):
        reporter.begin()
        [endpoint] = bridge.list_endpoints()
        await bridge.permit(AgentCall("1", McpTool("my box", "add"), {"a": 1, "b": 2}))
        seen = [await run_client(mode, endpoint) for _ in range(2)]
        assert seen[0] == seen[1]
        return seen[0], len(asked)


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_uses_one_server_and_its_person_is_asked_once_per_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, version: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    seen, questions = asyncio.run(asyncio.wait_for(use_path(mode), 120))
    assert seen["version"] == version
    assert seen["tools"] == ["add"]
    assert seen["text"] == "3"
    assert questions == 2
