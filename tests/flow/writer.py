"""Opens a host, learns what a server offers that nobody has seen yet, and closes: again and again, until it is killed.

Its arguments are a home, a name and how many tools the server has. It prints the number of each round that it has
ended; with a fourth argument it never ends the first.
"""

import asyncio
import sys
from itertools import count
from pathlib import Path
from typing import Any

import mooring
from mooring.core.definitions.paths import Workspace, here

SERVER = str(Path(__file__).parents[1] / "soak/server.py")


def servers(who: str, number: int, tools: int) -> dict[str, Any]:
    """The definition of one round, which no other has."""
    return {
        "server": {"command": sys.executable, "args": ["-S", SERVER, str(tools)], "env": {"ROUND": f"{who} {number}"}}
    }


def request(home: str) -> Workspace:
    return Workspace(here({"HOME": home, "PATH": "/usr/bin:/bin"}), home)


async def main(home: str, who: str, tools: str, *stays: str) -> None:
    for number in count():
        async with mooring.open(request=request(home), servers=servers(who, number, int(tools))) as host:
            assert await host.ready() == {}
            if stays:
                await asyncio.Event().wait()
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
