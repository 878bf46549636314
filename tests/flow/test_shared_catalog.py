"""One catalog and several processes, some of which are killed: what was learned is known, and nothing is an error."""

import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import writer
from tests.soak.meter import NONCE, Meter

import mooring

TOOLS = 300
NAMES = {"pid", "hang", "change", "generation_0", *(f"tool_{n}" for n in range(TOOLS))}
KILLS = 8
"""So many writers are killed in the middle of a write."""


class Writer:
    """A process that writes to the catalog of a home, round after round."""

    def __init__(self, home: Path, who: str, *stays: str) -> None:
        self.who = who
        words = [sys.executable, writer.__file__, str(home), who, str(TOOLS), *stays]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def begun(self) -> None:
        """Wait for the end of its first round."""
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "0\n", self.words()

    def send(self, number: int) -> None:
        os.kill(self._process.pid, number)

    def is_running(self) -> bool:
        return self._process.poll() is None

    def killed(self) -> int:
        """End it; how many rounds it has ended."""
        self._process.kill()
        out, self._words = self._process.communicate()
        return 1 + out.count("\n")

    def words(self) -> str:
        return self._words


@pytest.fixture
def meter(monkeypatch: pytest.MonkeyPatch) -> Iterator[Meter]:
    """Counts what the processes of a test leave behind."""
    nonce = os.urandom(8).hex()
    monkeypatch.setenv(NONCE, nonce)
    meter = Meter(nonce)
    yield meter
    until = time.monotonic() + 100
    while meter.marked() and time.monotonic() < until:
        time.sleep(0.02)
    assert meter.marked() == []


@pytest.mark.processes
def test_what_others_wrote_is_known_though_writers_were_killed_in_the_middle_of_it(
    tmp_path: Path, meter: Meter
) -> None:
    chance = random.Random(3)
    survivor = Writer(tmp_path, "survivor")
    survivor.begun()
    ended = {}
    for number in range(KILLS):
        victim = Writer(tmp_path, f"victim {number}")
        victim.begun()
        # Not to wait for anything: to be somewhere in a write that nobody chose.
        time.sleep(chance.random() * 0.02)
        ended[victim.who] = victim.killed()
    time.sleep(0.5)
    assert survivor.is_running()
    ended["survivor"] = survivor.killed()
    assert survivor.words() == ""
    assert ended["survivor"] > 1
    for who, rounds in ended.items():
        for turn in {0, rounds - 1}:
            asyncio.run(whole(tmp_path, who, turn))


async def whole(home: Path, who: str, turn: int) -> None:
    """What was offered in that round is known at once, right, and can be called."""
    async with mooring.open(
        request=writer.request(str(home)), policy="allow", servers=writer.servers(who, turn, TOOLS)
    ) as host:
        assert {entry.tool for entry in host.tools} == NAMES, (who, turn)
        assert await host.ready() == {}
        assert not host.servers["server"].is_connected
        assert int((await host.call("server.pid")).text)


@pytest.mark.processes
def test_what_was_learned_is_on_disk_soon_though_its_host_is_never_closed(tmp_path: Path, meter: Meter) -> None:
    stays = Writer(tmp_path, "stays", "for ever")
    until = time.monotonic() + 100
    while not asyncio.run(known(tmp_path, "stays")):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert stays.is_running()
    stays.killed()
    asyncio.run(whole(tmp_path, "stays", 0))


async def known(home: Path, who: str) -> bool:
    async with mooring.open(
        request=writer.request(str(home)), policy="allow", servers=writer.servers(who, 0, TOOLS)
    ) as host:
        return bool(host.tools)
