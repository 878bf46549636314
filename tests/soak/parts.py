"""What is done again and again. Each part opens a host by the public door and never ends by itself.

It yields how much it has done since it last did, at moments when the same is open as at every other such moment.
"""

import asyncio
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import chain, count
from pathlib import Path
from subprocess import PIPE
from typing import Any, NamedTuple

from aiohttp import web
from tests.soak import writer
from tests.soak.clock import Clock
from tests.soak.interrupts import interrupts

import mooring
from mooring.auth.store import SecretStore
from mooring.core.conversation.host_event import ToolsChanged, Updated
from mooring.core.definitions.paths import Paths, Workspace, here
from mooring.core.protocol.failure import FAILURE_WINDOW, MAX_FAILURES
from mooring.core.protocol.limits import Limits
from mooring.host.host import Host
from mooring.inventory.overlay import load_overlay
from mooring.permissions import pins, rules, trust
from mooring.permissions.audit import LogReading
from mooring.settings import load as load_settings
from mooring.testing.site import ReceivedRequest, Site, said

DEMO = {"command": sys.executable, "args": ["-I", "-m", "mooring.demo"]}
TEXT = "x" * 100


class Part(NamedTuple):
    name: str
    amount: int
    """How much of it a whole run does."""
    work: Callable[[Workspace], AsyncIterator[int]]


def server(tools: int = 3, **more: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-S", str(Path(__file__).parent / "server.py"), str(tools)], **more}


async def calls(request: Workspace) -> AsyncIterator[int]:
    """One after another, and a hundred at a time."""
    async with mooring.open(request=request, policy="allow", servers={"demo": DEMO}) as host:
        while True:
            for _ in range(200):
                await echo(host)
            for _ in range(8):
                await asyncio.gather(*(echo(host) for _ in range(100)))
            yield 1000


async def echo(host: Host) -> None:
    assert (await host.call("demo.echo", {"text": TEXT})).text == TEXT


async def kills(request: Workspace) -> AsyncIterator[int]:
    """Servers killed between two calls and under a call; now and then somebody says to forgive them."""
    names = [f"server{number}" for number in range(4)]
    async with mooring.open(
        request=request, policy="allow", servers={name: server(env={"NAME": name}) for name in names}
    ) as host:
        for cycle in count():
            await asyncio.gather(*(killed_twice(host, name) for name in names))
            if cycle % 2:  # more than five in half a minute, and a server is left alone
                await asyncio.gather(*(host.reload(name) for name in names))
                await asyncio.gather(*(pid(host, name) for name in names))
            yield 2 * len(names)


async def killed_twice(host: Host, name: str) -> None:
    first = await pid(host, name)
    os.kill(first, signal.SIGKILL)
    second = await pid_after(host, name)
    hanging = asyncio.create_task(host.call(f"{name}.hang"))
    await pid(host, name)  # by then it has the other call, too
    os.kill(second, signal.SIGKILL)
    assert await failed(hanging), "a call that no server answered does not say that it may have run"
    assert len({first, second, await pid(host, name)}) == 3


async def pid(host: Host, name: str) -> int:
    return int((await host.call(f"{name}.pid")).text)


async def pid_after(host: Host, name: str) -> int:
    """The process after a kill; a call that was written before that was noticed fails, and says so."""
    call = asyncio.create_task(pid(host, name))
    return await pid(host, name) if await failed(call) else call.result()


async def failed(call: "asyncio.Task[Any]") -> bool:
    """Whether a call that may have run failed because its server died."""
    try:
        await call
    except mooring.ServerDied as error:
        return error.may_have_run
    return False


async def breaks(request: Workspace) -> AsyncIterator[int]:
    """Calls over HTTP of which some break, at random and in every way: no healthy one is lost or crossed with another."""
    chance = random.Random(7)
    async with Site(session="one") as site:
        site.answers["tools/call"] = answer_or_break
        async with mooring.open(
            request=request, policy="allow", servers={"web": {"type": "http", "url": site.url}}
        ) as host:
            await host.ready()
            site.heard.clear()
            for number in count():
                ways = [chance.choice(BREAKS) if chance.random() < 0.1 else "" for _ in range(40)]
                await asyncio.gather(*(broken_or_answered(host, f"{number} {n}", way) for n, way in enumerate(ways)))
                assert not site.said("initialize"), "a broken call cost the session"
                site.heard.clear()
                yield len(ways)


BREAKS = ("reset", "unanswered", "half an event", "no MCP")


async def answer_or_break(request: ReceivedRequest) -> Any:
    arguments = request.params["arguments"]
    await asyncio.sleep(0.005)
    match arguments["way"]:
        case "reset":
            return request.abort()
        case "unanswered" | "half an event" as way:
            stream = await request.stream()
            if way == "half an event":
                await stream.write(b'data: {"jsonrpc":')
            return stream
        case "no MCP":
            return web.Response(text="<html>")
    return said(arguments["text"])


async def broken_or_answered(host: Host, text: str, way: str) -> None:
    call = host.call("web.echo", {"text": text, "way": way})
    if not way:
        assert (await call).text == text
        return
    try:
        await call
    except mooring.ServerError:
        return
    raise AssertionError(f"a call that ended in {way} has an answer")


async def guards(request: Workspace) -> AsyncIterator[int]:
    """The guard killed again and again, not faster than it is let: every server is back each time."""
    names = [f"server{number}" for number in range(4)]
    async with mooring.open(
        request=request, policy="allow", servers={name: server(env={"NAME": name}) for name in names}
    ) as host:
        pids = await asyncio.gather(*(pid(host, name) for name in names))
        while True:
            os.kill(find_parent(pids[0]), signal.SIGKILL)
            await asyncio.to_thread(wait_until_gone, pids)
            pids = await asyncio.gather(*(pid_after(host, name) for name in names))
            yield 1
            await asyncio.sleep(FAILURE_WINDOW / MAX_FAILURES)


def wait_until_gone(pids: Iterable[int]) -> None:
    while any(Path(f"/proc/{old}").exists() for old in pids):
        time.sleep(0.01)


def find_parent(child: int) -> int:
    """The guard is the parent of every server."""
    return int(Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[1])


async def changes(request: Workspace) -> AsyncIterator[int]:
    """Lists that change without a pause: every one is told of, also to somebody who never looks."""
    limits = Limits(change_interval=0.0)
    async with mooring.open(request=request, policy="allow", servers={"server": server(20)}, limits=limits) as host:
        await host.ready()
        listeners = host.events(), host.events()
        for generation in count(1):
            assert (await host.call("server.change", {"times": 4})).text == str(generation)
            await told(listeners[0], f"generation_{generation}")
            assert len(host.tools) == 24
            yield 4


async def told(events: AsyncIterator[Any], tool: str) -> None:
    async for event in events:
        if isinstance(event, ToolsChanged) and tool in event.added:
            return


async def reloads(request: Workspace) -> AsyncIterator[int]:
    """Servers that come, go, change and stay, given by a program to one host and written into a file for another."""
    file = Path(request.where.config) / "mcp.json"
    file.parent.mkdir(parents=True)
    write(file, 0)
    async with (
        mooring.open(request=request, policy="allow", servers=turn(0)) as given,
        mooring.open(request=request, policy="allow") as read,
    ):
        hosts = (given, read)
        steady = [await pid(host, "steady") for host in hosts]
        for number in count(1):
            write(file, number)
            await given.apply(turn(number))
            await read.reload()
            for host in hosts:
                assert sorted(host.servers) == sorted(turn(number)), host.problems
            if number % 10 == 0:
                assert [await pid(host, "steady") for host in hosts] == steady
                await asyncio.gather(*(pid(host, "turning") for host in hosts if host.tools))
            yield 2


def turn(number: int) -> dict[str, Any]:
    servers = {
        "steady": server(),
        "turning": server(env={"TURN": str(number)}),
        "filtered": server(4, blockedTools=["hang"] if number % 2 else []),
        "asleep": server(5, env={"TURN": str(number // 100)}),
    }
    if number % 3:
        servers["visiting"] = server(6, env={"TURN": str(number)})
    return servers


def write(file: Path, number: int) -> None:
    file.write_text(json.dumps({"mcpServers": turn(number)}))


async def polling(request: Workspace) -> AsyncIterator[int]:
    """Tools and resources looked at, minute after minute of a clock that runs fast; a change in each minute is told."""
    clock = Clock()
    async with mooring.open(request=request, policy="allow", servers={"demo": DEMO}, sleep=clock.sleep) as host:
        events = host.events()
        await host.poll("demo", tool="add", arguments={"a": 1, "b": 2}, interval=1.0)
        await host.poll("demo", uri="demo://nothing", interval=60.0)
        polled = await host.poll("demo", uri="demo://notes")
        listened = await host.subscribe("demo", "demo://notes")
        await clock.pass_by(30, 3)
        for minute in count():
            await host.call("demo.note", {"text": str(minute % 10)})
            await clock.pass_by(60, 3)
            await updated(events, {polled.id, listened.id})
            yield 60


async def updated(events: AsyncIterator[Any], watches: set[str]) -> None:
    """Wait until each of these has told of a change."""
    while watches:
        event = await anext(events)
        assert not isinstance(event, Updated) or event.error is None or event.target == "demo://nothing", event
        watches = watches - ({event.watch} if isinstance(event, Updated) else set())


async def writers(request: Workspace) -> AsyncIterator[int]:
    """Eight processes that write to the same records, each killed at a random moment: nothing that was told is lost."""
    chance = random.Random(18)
    while True:
        with tempfile.TemporaryDirectory() as folder:
            delays = [chance.uniform(0.0, 0.5) for _ in range(8)]
            env = {"HOME": folder, "PATH": os.environ["PATH"], "PYTHON_KEYRING_BACKEND": NO_KEYRING}
            told = await asyncio.gather(*(write_until_killed(env, str(n), delay) for n, delay in enumerate(delays)))
            await check_records(here(env), frozenset(chain.from_iterable(told)))
        yield len(delays)


NO_KEYRING = "keyring.backends.fail.Keyring"


async def write_until_killed(env: dict[str, str], worker: str, delay: float) -> list[str]:
    """The names that a process says it has written, before it is killed in the middle of its work."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.soak.writer", worker, env={**env, "PYTHONPATH": os.getcwd()}, stdout=PIPE
    )
    assert process.stdout is not None
    first = await process.stdout.readline()
    await asyncio.sleep(delay)
    process.kill()
    rest = await process.stdout.read()
    await process.wait()
    return (first + rest).decode().split()


async def check_records(where: Paths, told: frozenset[str]) -> None:
    project_rules, damage = rules.load_project_rules(where, writer.PROJECT)
    approvals, other_damage = trust.load(where)
    overlay, more_damage = load_overlay(where)
    pin, no_pins = pins.load(where, writer.KEY)
    assert (damage, other_damage, more_damage, no_pins) == (None, None, None, None)
    assert overlay is not None
    assert pin is not None
    store, reading = SecretStore(where), LogReading(where)
    found = {
        "rules.json": {rule.tool.removeprefix("mcp__demo__") for rule in project_rules.rules},
        "settings.json": {
            rule["tool"].removeprefix("mcp__demo__") for rule in load_settings(where, None)["permissions"]
        },
        "overlay.json": set(overlay.user),
        "approvals.json": {decision.name for decision in approvals.decisions},
        "pins": set(pin.tools),
        "secrets": {each.name for each in await store.list("secret")},
        "audit.jsonl": {entry.tool for entry in reading},
    }
    assert {name: told - names for name, names in found.items()} == dict.fromkeys(found, frozenset())
    for name in told:
        assert await store.get("secret", name) == f"value of {name}"
    assert reading.skipped <= 8, "a kill may cut one line short, and no more"


PARTS = (
    Part("calls", 1_000_000, calls),
    Part("kills", 2_000, kills),
    Part("calls that may break", 40_000, breaks),
    Part("killed guards", 10, guards),
    Part("changed lists", 20_000, changes),
    Part("reloads", 5_000, reloads),
    Part("interrupts", 5_000, interrupts),
    Part("killed writers", 800, writers),
    Part("seconds of polling", 24 * 3600, polling),
)
