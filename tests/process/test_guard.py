"""No process outlives the host, however the host and its servers behave. Every host is a process of its own."""

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

import mooring.process.guard

pytestmark = pytest.mark.processes

PROMISE = 3.0  # seconds from the end of the host to the end of the last process
PATIENCE = 5 * PROMISE  # what a loaded machine is allowed

PRELUDE = """
import os, signal, sys, time

def ready():
    os.write(1, b"ready")

def ignore():
    for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT:
        signal.signal(number, signal.SIG_IGN)

def release():
    null = os.open(os.devnull, os.O_RDWR)
    for fd in 0, 1, 2:
        os.dup2(null, fd)

def linger():
    while True:
        time.sleep(60)
"""
SERVERS = {
    "polite": "ready(); sys.stdin.read()",
    "stubborn": "ignore(); ready(); linger()",
    "grandchild": """
if not os.fork():
    ignore(); ready(); release(); linger()
sys.stdin.read()
""",
    "setsid grandchild": """
if not os.fork():
    os.setsid(); ignore(); ready(); release(); linger()
sys.stdin.read()
""",
    "orphaned daemon": """
if not os.fork():
    os.setsid()
    if not os.fork():
        ignore(); ready(); release(); linger()
    os._exit(0)
os.wait()
sys.stdin.read()
""",
    "pipe-holding grandchild": """
if not os.fork():
    ignore(); ready(); linger()
sys.stdin.read()
""",
}
ESCAPES = {"setsid grandchild", "orphaned daemon"}  # from the portable guard, which has groups alone

HOST = """
import asyncio, os, sys, time
from mooring.process.programs import Guard

async def answer(child):
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(child.stdout, ready.set)
    await ready.wait()
    loop.remove_reader(child.stdout)
    return os.read(child.stdout, 100)

async def main(way, end, server):
    async with Guard(portable=way == "portable") as guard:
        child = await guard.spawn([sys.executable, "-I", "-S", "-c", server])
        await answer(child)
        if end == "fork" and not os.fork():
            time.sleep(600)
        print(guard.pid, child.pid, flush=True)
        if end != "close":
            await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""

ENDS = {"close": None, "TERM": signal.SIGTERM, "KILL": signal.SIGKILL, "INT": signal.SIGINT, "HUP": signal.SIGHUP}


class Cell(NamedTuple):
    way: str
    server: str
    end: str


WAYS = ("linux", "portable")
CELLS = list(itertools.starmap(Cell, itertools.product(WAYS, SERVERS, ENDS)))
SOME = [
    Cell(way, server, end)
    for way in WAYS
    for server, other in zip(SERVERS, itertools.cycle(["close", "TERM", "INT", "HUP"]), strict=False)
    for end in ("KILL", other)
]
"""Every server with the end that gives no warning, and with one of the others; `make faults` has all of them."""


@pytest.mark.timeout(300)
def test_nothing_is_left_after_the_end_of_the_host() -> None:
    assert leftovers(SOME) == {cell: escaped(cell) for cell in SOME}


def leftovers(cells: Iterable[Cell]) -> dict[Cell, int]:
    """How much every cell leaves behind; they run side by side, since most of their time is waiting."""
    with ThreadPoolExecutor(8) as pool:
        found = {cell: pool.submit(leftover, cell) for cell in cells}
        return {cell: len(left.result()) for cell, left in found.items()}


def escaped(cell: Cell) -> int:
    """The portable way is known to lose exactly what left its group."""
    return int(cell.way == "portable" and cell.server in ESCAPES)


def leftover(cell: Cell) -> list[int]:
    with Host(cell.way, cell.end, SERVERS[cell.server]) as host:
        if number := ENDS[cell.end]:
            host.process.send_signal(number)
        host.process.wait(PATIENCE)
        return host.left(PROMISE if escaped(cell) else PATIENCE)


def test_a_signal_to_the_foreground_group_leaves_the_guard_to_do_its_work() -> None:
    with Host("linux", "wait", SERVERS["stubborn"]) as host:
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            os.kill(host.guard, number)
        os.killpg(host.process.pid, signal.SIGKILL)
        assert host.left(PATIENCE) == []


def test_a_fork_of_the_host_that_holds_the_line_does_not_keep_the_servers_alive() -> None:
    with Host("linux", "fork", SERVERS["stubborn"]) as host:
        host.process.kill()
        assert until(lambda: not alive(host.guard) and not alive(host.child), PATIENCE)


def test_an_orphan_without_session_or_mark_ends_with_the_host() -> None:
    scrubbed = """
if not os.fork():
    os.setsid()
    if not os.fork():
        release(); os.execve("/bin/sleep", ["sleep", "611.25"], {})
    os._exit(0)
os.wait(); ready(); sys.stdin.read()
"""
    with Host("linux", "wait", scrubbed) as host:
        assert until(lambda: scrubbed_sleepers() != [], PATIENCE)
        host.process.kill()
        assert until(lambda: scrubbed_sleepers() == [], PATIENCE)


def scrubbed_sleepers() -> list[int]:
    return [pid for pid in processes() if b"611.25" in read(f"/proc/{pid}/cmdline")]


def test_the_guard_loads_nothing_that_would_make_it_slow_to_start() -> None:
    beside = str(Path(mooring.process.guard.__file__).parent.parent)
    look = f"import sys; sys.path.append({beside!r}); import guard.main, guard.linux; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-I", "-S", "-c", look], stdout=subprocess.PIPE, check=True).stdout
    assert {"guard.loop", "_socket"} <= {*loaded.decode().split()}
    assert not {"mooring", "os", "signal", "socket", "collections", "typing", "enum"} & {*loaded.decode().split()}


def test_an_idle_guard_uses_no_processor() -> None:
    with Host("linux", "wait", SERVERS["polite"]) as host:
        assert until(lambda: state(host.guard) == b"S", PATIENCE), "it has done what it was asked"
        before = ticks(host.guard)
        time.sleep(1)
        assert ticks(host.guard) - before == (0, 0)


def ticks(pid: int) -> "Ticks":
    fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    switches = read(f"/proc/{pid}/status").partition(b"voluntary_ctxt_switches:")[2].split()[0]
    return Ticks(int(fields[11]) + int(fields[12]), int(switches))


class Ticks(NamedTuple):
    processor: int
    wakeups: int

    def __sub__(self, other: "Ticks") -> tuple[int, int]:
        return self.processor - other.processor, self.wakeups - other.wakeups


class Host:
    """A host process with one server that is up, both marked; whatever is left of them is killed at the end."""

    def __init__(self, way: str, end: str, server: str) -> None:
        self.nonce = os.urandom(8).hex()
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOST, way, end, PRELUDE + server],
            env={**os.environ, "MOORING_TEST": self.nonce},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self) -> "Host":
        assert self.process.stdout
        self.guard, self.child = map(int, self.process.stdout.readline().split())
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        for pid in marked(self.nonce):
            with suppress(ProcessLookupError):  # it may end by itself meanwhile, as it should
                os.kill(pid, signal.SIGKILL)

    def left(self, patience: float) -> list[int]:
        until(lambda: not marked(self.nonce), patience)
        return marked(self.nonce)


def marked(nonce: str) -> list[int]:
    return [pid for pid in processes() if f"MOORING_TEST={nonce}".encode() in read(f"/proc/{pid}/environ")]


def processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def alive(pid: int) -> bool:
    return state(pid) not in (b"", b"Z")


def state(pid: int) -> bytes:
    return b"".join(read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[:1])


def read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def until(condition: Callable[[], bool], patience: float) -> bool:
    deadline = time.monotonic() + patience
    while not (met := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return met
