"""How long a call is waited for: silence, a server that is being brought back, and calls that can be left alone."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from test_host import until

import mooring
from mooring import Limits, Timeout
from mooring.errors import TimedOut
from support import Actor, Home

SHORT = Limits(call=Timeout(idle=0.4, total=30))
PROGRAM = """
import asyncio, json, sys, mooring

async def main():
    async with mooring.open(servers=json.loads(sys.argv[1]), policy="allow") as host:
        await host.ready()
        for seconds in map(float, sys.argv[2:]):
            try:
                print((await host.call("actor.nap", {"seconds": seconds}, timeout=3)).text, flush=True)
            except mooring.MooringError as error:
                print(error, flush=True)

asyncio.run(main())
"""


@pytest.fixture
def actor(tmp_path: Path) -> Actor:
    return Actor(tmp_path / "actor.json")


def host(home: Home, servers: Any, limits: Limits | None = SHORT) -> mooring.Host:
    return mooring.open(request=home.request(), servers=servers, policy="allow", limits=limits)


async def test_a_silent_call_that_can_be_left_alone_is_left_alone_and_not_ended(home: Home, actor: Actor) -> None:
    home.write("home/.config/mooring/settings.json", {"backgroundAfter": 0.8})
    async with host(home, {"actor": actor.entry}) as opened:
        await opened.ready()
        async with opened.conversation() as tools:
            outcome = await tools.call("mcp__actor__nap", {"seconds": 1.5}, id="nap")
            assert (outcome.continues, outcome.is_error) == ("nap", False)
            await until(lambda: tools.outcome("nap") is not None)
            ended = tools.outcome("nap")
            assert ended is not None
            assert (ended.text, ended.is_error) == ("nap", False)
        with pytest.raises(TimedOut, match=r"within 0\.4 s"):
            await opened.call("actor.nap", {"seconds": 5})


async def test_a_silent_call_that_is_waited_for_to_its_end_is_ended(home: Home, actor: Actor) -> None:
    home.write("home/.config/mooring/settings.json", {"backgroundAfter": 0})
    async with host(home, {"actor": actor.entry}) as opened:
        await opened.ready()
        async with opened.conversation() as tools:
            outcome = await tools.call("mcp__actor__nap", {"seconds": 5})
            assert outcome.text.startswith("MCP error: ")
            assert "within 0.4 s" in outcome.text


@pytest.mark.parametrize(("more", "limits"), [({"timeout": 500}, None), ({}, Limits(call=Timeout(idle=60, total=0.5)))])
async def test_what_a_definition_says_and_the_time_for_all_of_a_call_hold_in_the_background(
    home: Home, actor: Actor, more: dict[str, int], limits: Limits | None
) -> None:
    home.write("home/.config/mooring/settings.json", {"backgroundAfter": 0.1})
    async with host(home, {"actor": {**actor.entry, **more}}, limits) as opened:
        await opened.ready()
        async with opened.conversation() as tools:
            assert (await tools.call("mcp__actor__nap", {"seconds": 60}, id="nap")).continues
            await until(lambda: tools.outcome("nap") is not None)
            ended = tools.outcome("nap")
            assert ended is not None
            assert "within 0.5 s" in ended.text


async def test_a_call_waits_for_a_server_that_is_brought_back_until_its_own_deadline(home: Home, actor: Actor) -> None:
    async with host(home, {"actor": actor.entry}, Limits()) as opened:
        process = int((await opened.call("actor.whoami")).text)
        known = opened.tools
        actor.tell(late=60)
        os.kill(process, signal.SIGKILL)
        await until(lambda: not opened.servers["actor"].is_connected)
        began = time.monotonic()
        with pytest.raises(TimedOut, match=r"did not connect within 1 s. Its last failure: "):
            await opened.call("actor.whoami", timeout=1.0)
        assert 0.9 < time.monotonic() - began < 30
        assert opened.tools == known


def test_the_time_in_which_a_program_was_stopped_does_not_count_against_its_call(home: Home, actor: Actor) -> None:
    command = [sys.executable, "-c", PROGRAM, json.dumps({"actor": actor.entry}), "5", "9"]
    with subprocess.Popen(command, cwd=home.cwd, env=home.env, stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 100
        while not actor.done("naps"):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGSTOP)
        time.sleep(4)  # longer than the call may take in all
        process.send_signal(signal.SIGCONT)
        out, _ = process.communicate(timeout=100)
    # The server slept on while its client was stopped. The second call has no such excuse.
    first, second = out.splitlines()
    assert first == "nap"
    assert "within 3 s" in second
