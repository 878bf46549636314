"""Drives mooring: a session of `mooring.connect`, and many servers under one guard.

With `--begun` the guard is started before each job, as a host does while it imports; else within it.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from common import Call, Command, Library, Url, children, serve

import mooring
from mooring.core.definitions.paths import here
from mooring.servers.start_program import dial
from mooring.servers.launch.environment import Launch, make_launch
from mooring.process.guard.boot import GuardProcess, start_guard
from mooring.process.programs import Guard
from mooring.wire.session.session import Session

STARTS = 32
"""How many servers are started at a time."""


@asynccontextmanager
async def session(server: Command | Url) -> AsyncIterator[Call]:
    async with mooring.connect(server) as one:
        yield partial(one.call_tool, "echo")


@asynccontextmanager
async def listed(servers: list[Command], begun: GuardProcess | None = None) -> AsyncIterator[int]:
    """A task for each server, as a host has."""
    slots, over = asyncio.Semaphore(STARTS), asyncio.Event()
    async with Guard(begun) as guard, asyncio.TaskGroup() as tasks:
        where = here(os.environ)
        found = [asyncio.get_running_loop().create_future() for _ in servers]
        for server, ready in zip(servers, found, strict=True):
            start = make_launch(server, where, os.getcwd(), own=True)
            tasks.create_task(_keep(start, guard, slots, ready, over))
        yield sum([len((await ready).tools.items) for ready in found])
        over.set()


async def _keep(
    start: Launch, guard: Guard, slots: asyncio.Semaphore, ready: asyncio.Future[Session], over: asyncio.Event
) -> None:
    await slots.acquire()
    async with dial(start, guard, server="bench") as one:
        slots.release()
        ready.set_result(one)
        await over.wait()


class Ahead:
    """A guard that is up before it is asked for."""

    def __init__(self) -> None:
        self._next = start_guard()

    @asynccontextmanager
    async def listed(self, servers: list[Command]) -> AsyncIterator[int]:
        async with listed(servers, self._next) as tools:
            yield tools
        self._next = start_guard()


if __name__ == "__main__":
    up = Ahead().listed if "--begun" in sys.argv else listed
    serve(Library(session, up, helpers=children))  # the guard alone: servers are its children
