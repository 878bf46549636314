"""What every driver in Python shares: a job comes in as a line of JSON, its figures go out as another.

A driver runs alone in a process with the library that it drives. Times are of this process only: the server's are not
counted, and neither is anything before the job.
"""

import asyncio
import gc
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, NamedTuple

Command = list[str]
Url = str
Call = Callable[[dict[str, Any]], Awaitable[Any]]
Figures = dict[str, float]
Job = Callable[..., Coroutine[Any, Any, Figures]]

PAYLOAD = {"text": "x" * 100}
WARM_UP = 300


class Library(NamedTuple):
    """How one library is used."""

    session: Callable[[Command | Url], AbstractAsyncContextManager[Call]]
    """A kept session with one server, which is started or behind a URL; in it, what calls `echo`."""
    listed: Callable[[list[Command]], AbstractAsyncContextManager[int]]
    """All servers up, the library's own way; in it, how many tools are known."""
    helpers: Callable[[], list[int]] = list
    """Processes other than the servers that the library keeps, counted as its memory."""


def serve(library: Library) -> None:
    """Do the jobs of a client of servers."""
    answer_jobs(
        {
            "sequential": partial(sequential, library),
            "flight": partial(flight, library),
            "listed": partial(listed, library),
        }
    )


def answer_jobs(jobs: Mapping[str, Job]) -> None:
    """Do one job after another until there are no more."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints is no answer
    for line in sys.stdin:
        job = json.loads(line)
        gc.collect()
        answers.write(json.dumps(asyncio.run(jobs[job.pop("job")](**job))) + "\n")


async def sequential(library: Library, server: Command | Url, seconds: float) -> Figures:
    """One call after another."""
    async with library.session(server) as call:
        calls = await _calls_in(seconds, call)
        began = cpu()
        times = [await _timed(call) for _ in range(calls)]
        return {"cpu": (cpu() - began) / calls * 1e6, "p50": statistics.median(times) * 1e6}


async def flight(library: Library, server: Command | Url, seconds: float, workers: int) -> Figures:
    """So many calls under way at every moment."""
    async with library.session(server) as call:
        each = await _calls_each(seconds, call, workers)
        began, started = cpu(), time.perf_counter()
        await asyncio.gather(*[_work(call, each) for _ in range(workers)])
        took, spent = time.perf_counter() - started, cpu() - began
        return {"cpu": spent / (each * workers) * 1e6, "rate": each * workers / took}


async def listed(library: Library, servers: list[Command], tools: int) -> Figures:
    """From nothing to every tool of every server known, and back."""
    began, started = cpu(), time.perf_counter()
    async with library.listed(servers) as found:
        took, spent, memory = time.perf_counter() - started, cpu() - began, memory_of(library)
        assert found == tools, f"expected {tools} tools, found {found}"
        started = time.perf_counter()
    closed = time.perf_counter() - started
    return {"wall": took * 1e3, "cpu": spent * 1e3, "close": closed * 1e3, "memory": memory}


async def _calls_in(seconds: float, call: Call) -> int:
    """About how many calls can be made in that time, after some that are not counted."""
    started = time.perf_counter()
    for _ in range(WARM_UP):
        await call(PAYLOAD)
    return max(WARM_UP, int(seconds * WARM_UP / (time.perf_counter() - started)))


async def _calls_each(seconds: float, call: Call, workers: int) -> int:
    """The same for each of so many that call at once."""
    first = max(3, WARM_UP // workers)
    for _ in range(2):
        started = time.perf_counter()
        await asyncio.gather(*[_work(call, first) for _ in range(workers)])
    return max(first, int(seconds * first / (time.perf_counter() - started)))


async def _timed(call: Call) -> float:
    started = time.perf_counter()
    await call(PAYLOAD)
    return time.perf_counter() - started


async def _work(call: Call, calls: int) -> None:
    for _ in range(calls):
        await call(PAYLOAD)


def cpu() -> float:
    """Seconds of CPU that this process has taken, in its own code and in the kernel's."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def memory_of(library: Library) -> float:
    """Megabytes that this process and its helpers hold in memory."""
    return sum(map(_resident, [os.getpid(), *library.helpers()]))


def children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return [int(word) for word in file.read().split()]


def _resident(pid: int) -> float:
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def as_config(servers: list[Command]) -> dict[str, dict[str, Any]]:
    """The servers in the shape that configuration files have."""
    return {f"server{n}": {"command": argv[0], "args": argv[1:]} for n, argv in enumerate(servers)}
