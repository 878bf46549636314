"""Attacks of a server on those that use it: schemas that take forever, and processes that outlive everything."""

import json
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.attacks.table import Attack, Tally, Victim
from tests.bombs import Bomb, bombs
from tests.process.escapes import KILLERS, LEAVERS, STOPPERS, EscapeHost, wait_until
from tests.process.test_guard import SOME, Cell, escaped, leftover

from mooring.tools.schema.adapt import PROVIDERS

HOSTILE = str(Path(__file__).parent.with_name("hostile.py"))
STALL = 0.05
GROWTH = 100.0
"""Megabytes that all of them together may take."""
ADAPTING = 3.0
"""Seconds that all schemas of the server may take to be adapted to a provider, and to be read again."""

PROGRAM = """
import asyncio, json, sys, time
import mooring
from tests.faults.table import rss

FOLDER = sys.argv[1]
SERVERS = {
    "evil": {"command": sys.executable, "args": ["-S", sys.argv[2], f"{FOLDER}/tools.json"]},
    "polite": {"command": sys.executable, "args": ["-m", "mooring.testing"]},
}

async def main():
    import jsonschema_rs
    bombs = json.load(open(f"{FOLDER}/arguments.json"))
    found = {}
    async with mooring.open(servers=SERVERS, policy="allow") as host:
        await host.ready()
        async with host.conversation(budget=None) as tools:
            for name, arguments in bombs.items():
                before = time.process_time(), rss()
                outcome = await tools.call(f"mcp__evil__{name}", arguments)
                beside = await tools.call("mcp__polite__echo", {"text": "x"})
                cost = time.process_time() - before[0], (rss() - before[1]) / 1e6
                found[name] = [*cost, outcome.text[:200], list(outcome.notes), beside.text]
        for provider in ("anthropic", "openai", "openai-strict", "gemini", "ollama"):
            began = time.process_time()
            async with host.conversation(provider=provider, budget=None) as tools:
                size = sum(len(json.dumps(each.as_dict())) for each in tools.definitions)
            found[provider] = [time.process_time() - began, size / 1e6]
    print(json.dumps(found))

asyncio.run(main())
"""
"""Each call is measured in processor time, with one to another server right after it; the arguments are small."""


def attack_with_schemas(folder: Path, tally: Tally) -> None:
    """Through a host, as a model would call them: every bomb at ten times its size that a server can send."""
    victim = Victim(folder)
    made = {f"t{number}": (name, bomb) for number, (name, bomb) in enumerate(bombs(10).items())}
    _write_bombs(folder, made)
    words = [sys.executable, "-c", PROGRAM, str(folder), HOSTILE]
    env = {**victim.env, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(words, env=env, cwd=victim.project, capture_output=True, text=True, timeout=120)
    found = json.loads(done.stdout) if done.returncode == 0 else {}
    for tool, (name, _) in made.items():
        seconds, growth, _, _, beside = found.get(tool, (999.0, 999.0, "", [], ""))
        # A call itself takes some milliseconds of the processor, and two of them were made.
        tally.count(f"{name}: {seconds:.2f} s, {growth:.0f} MB", seconds > STALL + 0.02 or beside != "x")
        tally.count(f"{name}: memory grew by {growth:.0f} MB", growth > GROWTH)
    for provider in PROVIDERS:
        seconds, size = found.get(provider, (999.0, 999.0))
        tally.count(f"{provider}: {seconds:.2f} s, {size:.1f} MB of definitions", seconds > ADAPTING or size > GROWTH)


def _write_bombs(folder: Path, made: dict[str, tuple[str, Bomb]]) -> None:
    tools = []
    arguments = {}
    for tool, (_, bomb) in made.items():
        tools.append({"name": tool, "inputSchema": bomb.schema})
        arguments[tool] = _shorten(bomb.arguments)
    (folder / "tools.json").write_text(json.dumps(tools))
    (folder / "arguments.json").write_text(json.dumps(arguments))


def _shorten(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a model would send: to carry a megabyte takes time by itself, whatever the schema."""
    text = json.dumps(arguments)
    return json.loads(text) if len(text) < 20_000 else {"k": "0110100111" * 300, "l": [1] * 3000}


def attack_the_command(folder: Path, tally: Tally) -> None:
    """The same through `mooring call`, where the person is told that nothing was checked, or why it cannot be called."""
    victim = Victim(folder)
    names = ("allOf doubled, invalid", "oneOf doubled, invalid", "required", "chain", "items nested")
    made = {f"t{number}": (name, bombs()[name]) for number, name in enumerate(names)}
    _write_bombs(folder, made)
    server = f"{sys.executable} -S {HOSTILE} {folder}/tools.json"
    for tool, (name, bomb) in made.items():
        text = json.dumps(_shorten(bomb.arguments))
        try:
            done = victim.run("call", "--server", server, tool, "--args", text, seconds=10)
        except subprocess.TimeoutExpired:
            tally.count(f"{name}: more than 10 s", True)
            continue
        if name == "items nested":
            was_told = done.returncode == 2 and f"{tool!r} cannot be used: it is nested too deeply" in done.stderr
        else:
            was_told = "were not checked" in done.stderr and done.stdout.strip() == f"called {tool}"
        tally.count(f"{name}: {done.returncode}, {done.stderr[:200]}", not was_told)


def attack_the_guard(folder: Path, tally: Tally) -> None:
    """Daemons that shed everything and have the guard killed or stopped, beside a second host of the same user."""
    del folder
    with EscapeHost(LEAVER) as neighbor:
        wait_until(lambda: len(neighbor.servers) == 2)
        tries = [(name, server, "") for name, server in KILLERS.items()]
        tries += [(name, server, "kill") for name, server in STOPPERS.items()]
        tries += [(name, server, "") for name, server in LEAVERS.items()]
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(_escape, tries))
        for (name, _, _), (left, bystanders) in zip(tries, results, strict=True):
            tally.count(f"{name}: {left} left", left > 0)
            tally.count(f"{name}: the program's own children were ended", bystanders != 2)
        tally.count("the servers of another host were ended", len(neighbor.servers) != 2)


LEAVER = 'daemonize("stay()"); ready(); stay()'


def _escape(attempt: tuple[str, str, str]) -> tuple[int, int]:
    _, server, way = attempt
    with EscapeHost(server) as host:
        if way == "kill":
            wait_until(lambda: _is_stopped(host.guard))
            host.process.kill()
        wait_until(lambda: not host.servers)
        return len(host.servers), len(host.bystanders)


def _is_stopped(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return True


def attack_the_end(folder: Path, tally: Tally) -> None:
    """Servers that ignore signals, leave a grandchild or become daemons, with every end of the host."""
    del folder
    cells = [cell for cell in SOME if cell.way == "linux"] + [
        Cell("linux", server, end)
        for server in ("setsid grandchild", "orphaned daemon")
        for end in ("TERM", "INT", "HUP")
    ]
    cells = list(dict.fromkeys(cells))
    with ThreadPoolExecutor(6) as pool:
        left = list(pool.map(leftover, cells))
    for cell, pids in zip(cells, left, strict=True):
        tally.count(f"{cell.server}, {cell.end}: {len(pids)} left", len(pids) > escaped(cell))


ATTACKS = (
    Attack("A28", "schemas that never end, through a host", attack_with_schemas),
    Attack("A28", "schemas that never end, through the command", attack_the_command),
    Attack("A31", "servers that kill or stop the guard", attack_the_guard),
    Attack("A31", "servers that outlive the host", attack_the_end),
)
