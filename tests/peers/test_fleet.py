"""Fifty configured servers of twelve kinds from the registries, of which five hang, five end at once, five are slow."""

import asyncio
import json
import os
import shlex
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fleet import EVERYTHING, FILESYSTEM, GENERATIONS, GIT, MEMORY, OURS, THINKING, TIME, TOOLS
from install import mooring as mooring_command
from processes import marked

import mooring
from mooring.core.definitions.paths import Workspace, here
from mooring.core.protocol.limits import Limits
from mooring.errors import ServerDied, TimedOut

NODE = {"everything": EVERYTHING, "filesystem": [*FILESYSTEM, "."], "memory": MEMORY, "thinking": THINKING}
PYTHON = {"git": GIT, "time": TIME, **{made.room: made.command for made in GENERATIONS}}
LIMITS = Limits(connect=25)
"""Two cores start forty servers in about ten seconds."""
ROUNDS = 7


def good() -> Iterator[tuple[str, list[str]]]:
    """Thirty-five: six of each kind on Node, one of each in Python and three more."""
    yield from ((f"{kind}-{number}", command) for kind, command in NODE.items() for number in range(6))
    yield from PYTHON.items()
    yield from ((f"time-{number}", TIME) for number in range(3))


GOOD = dict(good())
SLOW = {f"slow-{number}": ["sh", "-c", f"sleep 2; exec {shlex.join(THINKING)}"] for number in range(5)}
HANGING = {f"hanging-{number}": ["sleep", "600"] for number in range(5)}
ENDING = {f"ending-{number}": ["sh", "-c", "echo no chart aboard >&2; exit 7"] for number in range(5)}
ALL = {**GOOD, **SLOW, **HANGING, **ENDING}


class Harbour:
    """One home, whose configuration is now with and now without the servers that are no good."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def request(self, commands: dict[str, list[str]]) -> Workspace:
        config = self._folder / f"config-{len(commands)}"
        file = config / "mooring/mcp.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        servers = {name: self._entry(name, command) for name, command in commands.items()}
        file.write_text(json.dumps({"mcpServers": servers}))
        home = {"HOME": str(self._folder), "XDG_CONFIG_HOME": str(config)}
        others = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        return Workspace(here({**others, **home}), str(self._folder))

    def tools(self, commands: dict[str, list[str]]) -> "subprocess.CompletedProcess[str]":
        """What the command says of them, in a process of its own."""
        env = dict(self.request(commands).where.env)
        return subprocess.run(
            [mooring_command(), "-v", "tools", "--json"],
            cwd=self._folder,
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )

    def _entry(self, name: str, command: list[str]) -> dict[str, Any]:
        """Each another one: the same under two names would be started once."""
        env = {"BERTH": name, "MEMORY_FILE_PATH": str(self._folder / f"{name}.jsonl")}
        return {"command": command[0], "args": command[1:], "env": env}


def known(host: mooring.Host) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for entry in host.tools:
        found.setdefault(entry.server, set()).add(entry.tool)
    return found


def expected(name: str) -> set[str]:
    kind = name.partition("-")[0]
    return set(TOOLS["thinking" if kind == "slow" else kind] if kind in (*TOOLS, "slow") else OURS)


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Harbour:
    return Harbour(tmp_path_factory.mktemp("harbour"))


def test_the_fleet_is_fifty_servers_of_at_least_six_kinds() -> None:
    assert (len(GOOD), len(SLOW), len(HANGING), len(ENDING)) == (35, 5, 5, 5)
    assert len({tuple(command) for command in GOOD.values()}) >= 12


@pytest.mark.timeout(20)
def test_whoever_waits_a_moment_only_gets_what_is_there_and_hears_of_all_the_others(harbour: Harbour) -> None:
    async def run() -> None:
        async with mooring.open(request=harbour.request(ALL), policy="allow", limits=LIMITS) as host:
            began = time.monotonic()
            errors = await host.ready(timeout=0.25)
            assert time.monotonic() - began < 1.25
            assert errors.keys() | known(host).keys() == ALL.keys()
            assert all(isinstance(errors[name], TimedOut) for name in (*SLOW, *HANGING))

    asyncio.run(run())


@pytest.mark.timeout(120)
def test_cold_the_good_ones_come_and_the_others_are_named_and_warm_it_is_as_if_there_were_no_others(
    harbour: Harbour, nonce: str
) -> None:
    asyncio.run(cold(harbour))
    asyncio.run(warm(harbour, nonce))


@pytest.mark.timeout(300)
def test_the_command_names_the_others_and_waits_for_none_of_them_a_second_time(tmp_path: Path) -> None:
    harbour = Harbour(tmp_path)
    cold = harbour.tools(ALL)
    assert {tool["server"] for tool in json.loads(cold.stdout)["tools"]} == {*GOOD, *SLOW}
    assert named(cold.stderr) == {*HANGING, *ENDING}
    times: dict[int, list[float]] = {len(ALL): [], len(GOOD): []}
    for _ in range(ROUNDS):
        for commands in (ALL, GOOD):
            began = time.perf_counter()
            warm = harbour.tools(commands)
            times[len(commands)].append(time.perf_counter() - began)
            assert named(warm.stderr) == ({*HANGING, *ENDING} if commands is ALL else set())
    with_them, without = min(times[len(ALL)]), min(times[len(GOOD)])
    assert with_them <= max(1.5 * without, without + 0.1), times


def named(warnings: str) -> set[str]:
    """The servers that a command says are not there."""
    begun = [line.removeprefix("Warning: MCP startup error: ") for line in warnings.splitlines()]
    return {line.partition(":")[0].split()[0] for line in begun}


async def cold(harbour: Harbour) -> None:
    async with mooring.open(request=harbour.request(ALL), policy="allow", limits=LIMITS) as host:
        errors = await host.ready()
        assert errors.keys() == {*HANGING, *ENDING}
        assert {type(errors[name]) for name in HANGING} == {TimedOut}
        assert {type(errors[name]) for name in ENDING} == {ServerDied}
        assert all("no chart aboard" in str(errors[name]) and name in str(errors[name]) for name in ENDING)
        found = known(host)
        assert found.keys() == {*GOOD, *SLOW}
        assert {name: expected(name) - found[name] for name in found if expected(name) - found[name]} == {}


async def warm(harbour: Harbour, nonce: str) -> None:
    """Tools are known at once, by nobody being started, and the servers that are no good cost next to nothing."""
    times: dict[int, list[float]] = {len(ALL): [], len(GOOD): []}
    requests = {len(ALL): harbour.request(ALL), len(GOOD): harbour.request(GOOD)}
    for _ in range(ROUNDS):
        for size, request in requests.items():
            began = time.perf_counter()
            async with mooring.open(request=request, policy="allow") as host:
                found = known(host)
                times[size].append(time.perf_counter() - began)
                assert found.keys() == ({*GOOD, *SLOW} if size == len(ALL) else {*GOOD})
                assert marked(nonce) == []
    with_them, without = min(times[len(ALL)]), min(times[len(GOOD)])
    assert with_them <= max(1.5 * without, without + 0.005), times
