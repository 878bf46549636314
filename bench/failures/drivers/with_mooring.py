"""Mooring: one host for all servers. A server that is late has ten seconds; the others are used meanwhile."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from common import Connected, Servers, main

import mooring


@asynccontextmanager
async def connect(servers: Servers) -> AsyncIterator[Connected]:
    async with mooring.open(servers=servers, policy="allow", remember=False) as host:
        errors = await host.ready(timeout=10)

        async def call(server: str, tool: str, arguments: dict[str, object]) -> str:
            return (await host.call(f"{server}.{tool}", arguments)).text

        yield Connected(len(host.tools), call, {name: str(error) for name, error in errors.items()})


if __name__ == "__main__":
    main(connect)
