"""Drives mooring through its door: `mooring.open`, in a home in which nothing is known of any server."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

from common import Call, Command, Library, as_config, children, serve

import mooring
from mooring.core.definitions.paths import Workspace, here
from mooring.host.host import Host


@asynccontextmanager
async def opened(servers: Mapping[str, Any]) -> AsyncIterator[Host]:
    with TemporaryDirectory() as home:
        request = Workspace(here({"HOME": home, "PATH": os.environ["PATH"]}), home)
        async with mooring.open(request=request, policy="allow", servers=servers) as host:
            assert await host.ready() == {}
            yield host


@asynccontextmanager
async def session(server: Command) -> AsyncIterator[Call]:
    async with opened(as_config([server])) as host:
        yield partial(host.call, "server0.echo")


@asynccontextmanager
async def listed(servers: list[Command]) -> AsyncIterator[int]:
    entries = as_config(servers)
    for name, entry in entries.items():
        entry["env"] = {"NAME": name}  # the very same thing under two names would be started once
    async with opened(entries) as host:
        yield len(host.tools)


if __name__ == "__main__":
    serve(Library(session, listed, helpers=children))  # the guard alone: servers are its children
