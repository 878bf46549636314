"""Calls each of many servers once, one after another, through one host: first_use.py SERVER SERVERS TOOLS."""

import asyncio
import os
import sys
from tempfile import TemporaryDirectory

import mooring
from mooring.core.definitions.paths import Workspace, here


async def main(server: str, servers: int, tools: str) -> None:
    entries = {f"server-{number}": {"command": server, "args": [tools, "0", str(number)]} for number in range(servers)}
    with TemporaryDirectory() as home:
        request = Workspace(here({"HOME": home, "PATH": os.environ["PATH"]}), home)
        async with mooring.open(request=request, policy="allow", servers=entries) as host:
            for name in entries:
                await host.call(f"{name}.echo", {"text": "hello"})
            assert len(host.tools) == servers * int(tools)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
