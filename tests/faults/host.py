"""Faults seen through a host: what one of them costs the calls and servers beside it."""

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from tests.faults.table import NONCE, Meter, Row, bound, fails

import mooring
from mooring.core.definitions.paths import Workspace, here
from mooring.host.host import Host
from mooring.testing.site import ReceivedRequest, Site, event, said

ACTOR = str(Path(__file__).parents[1] / "flow" / "actor.py")
MIB = 1024 * 1024


@asynccontextmanager
async def opened(meter: Meter, servers: dict[str, Any] | None = None, **options: Any) -> AsyncIterator[Host]:
    """A host in a home of its own, with what is configured there or these servers."""
    with tempfile.TemporaryDirectory() as folder:
        request = Workspace(here({**os.environ, "HOME": folder, NONCE: meter.nonce}), folder)
        async with mooring.open(request=request, policy="allow", servers=servers, **options) as host:
            meter.start()
            yield host


def actor(folder: str, **script: Any) -> dict[str, Any]:
    path = Path(folder, "actor.json")
    path.write_text(json.dumps(script))
    return {"command": sys.executable, "args": ["-S", ACTOR, str(path)]}


class Slow:
    """A site whose calls wait until they are let go, unless their text says to answer or to break at once."""

    def __init__(self, site: Site) -> None:
        self.go = asyncio.Event()
        site.session = "one"
        site.answers["tools/call"] = self._answer

    async def _answer(self, request: ReceivedRequest) -> Any:
        text = request.params["arguments"]["text"]
        if text == "reset":
            return request.abort()
        if text == "unanswered":
            return await request.stream()
        if text != "quick":
            await self.go.wait()
        return said(text)


async def broken_call(meter: Meter) -> str:
    async with Site() as site, opened(meter, {"web": {"url": site.url}}) as host:
        slow = Slow(site)
        await host.call("web.echo", {"text": "quick"})
        waiting = [asyncio.ensure_future(host.call("web.echo", {"text": str(n)})) for n in range(40)]
        for n in range(8):
            await fails(host.call("web.echo", {"text": ("reset", "unanswered")[n % 2]}), mooring.ServerDied)
        slow.go.set()
        answers = [outcome.text for outcome in await asyncio.gather(*waiting)]
        assert answers == [str(n) for n in range(40)]
        assert len(site.said("initialize")) == 1
        assert not site.said("DELETE")
        return "40 of 40 beside 8 broken calls answered, in the same session"


async def unreachable(meter: Meter) -> str:
    async with Site() as site, opened(meter, {"web": {"url": site.url}}) as host:
        await host.call("web.echo", {"text": "hi"})
        assert site._runner is not None
        port = int(site._runner.addresses[0][1])
        for listening in site._runner.sites:
            listening._server.close()
        for connection in site._runner.server.connections:
            connection.force_close()
        await asyncio.sleep(0.1)
        meter.start()
        waiting = [asyncio.ensure_future(host.call("web.echo", {"text": str(n)}, timeout=10)) for n in range(5)]
        await asyncio.sleep(2)
        await web.TCPSite(site._runner, "127.0.0.1", port, reuse_address=True).start()
        assert [outcome.text for outcome in await asyncio.gather(*waiting)] == list("01234")
        bound("answered after", meter.seconds, 8)
        return f"5 of 5 calls that waited answered after {meter.seconds:.1f} s"


async def large_event(meter: Meter) -> str:
    async def stream(request: ReceivedRequest) -> web.StreamResponse:
        response = await request.stream()
        await response.write(event(request.result(said("x" * 15 * MIB))))
        return response

    async with Site() as site, opened(meter, {"web": {"url": site.url}}) as host:
        site.answers["tools/call"] = stream
        assert len((await host.call("web.echo", {})).text) == 15 * MIB
        return f"15 MiB in one event in {meter.seconds:.1f} s"


async def guard_killed(meter: Meter) -> str:
    with tempfile.TemporaryDirectory() as folder:
        servers = {"one": actor(folder), "two": {**actor(folder), "env": {"N": "2"}}}
        async with opened(meter, servers) as host:
            for _ in range(4):
                pid = int((await host.call("one.whoami")).text)
                await host.call("two.whoami")
                os.kill(_parent(pid), signal.SIGKILL)
                for name in servers:
                    await _eventually(host, f"{name}.whoami")
            return "4 times in a row: both servers are back for the next call"


async def _eventually(host: Host, tool: str) -> None:
    """Call a tool; a call that was written before the loss was noticed may have run, and says so."""
    try:
        await host.call(tool)
    except mooring.ServerDied as error:
        if not error.may_have_run:
            raise
        await host.call(tool)


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def forgotten(meter: Meter) -> str:
    with tempfile.TemporaryDirectory() as folder:
        async with opened(meter, {"one": actor(folder)}) as host:
            await host.ready()
            host.forget("one")
            await host.call("one.whoami")
            assert host.tools
            return f"its {len(host.tools)} tools stay, and can be called"


def _configure(folder: str, description: str) -> None:
    entry = actor(folder, describe={"whoami": description})
    Path(folder, ".mcp.json").write_text(json.dumps({"mcpServers": {"shell": entry}}))


async def moved_words(meter: Meter) -> str:
    with tempfile.TemporaryDirectory() as folder:
        words = ["ls", "cat", "pwd"]
        for turn in range(3):
            words.append(words.pop(0))
            _configure(folder, f"Runs a command.\nAllowed commands: {', '.join(words)}")
            request = Workspace(here({**os.environ, "HOME": folder, NONCE: meter.nonce}), folder)
            async with mooring.open(request=request, policy="allow") as host:
                await host.ready(refresh=True)
                await host.call("shell.whoami")
                assert not host.held(), turn
        return "called after each of 3 starts, nothing held back"


ROWS = (
    Row("F20", "calls that break beside others", "cost themselves alone", broken_call),
    Row("F20", "an address that is back after 2 s", "waiting calls answered", unreachable),
    Row("F21", "an event of 15 MiB", "read, as over stdio", large_event),
    Row("F2", "the guard killed again and again", "every server back", guard_killed),
    Row("F2", "forgotten while connected", "its tools stay", forgotten),
    Row("A4", "the same words in another order", "no change, not held back", moved_words),
)
