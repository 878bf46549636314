"""No client at all: plain subprocesses, pipes and a selector, the handshake and the list in the fewest steps.

The floor that starting many servers is measured by: nothing is guarded, bounded or checked.
"""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from common import Call, Command, Library, serve

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bare", "version": "0"},
}


class Server:
    """A process and the conversation with it."""

    def __init__(self, command: Command) -> None:
        self._loop = asyncio.get_running_loop()
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._out, False)
        self._loop.add_reader(self._out, self._read)
        self._start = b""
        self._waiting: dict[int, asyncio.Future[dict]] = {}

    async def list(self) -> int:
        await self._ask("initialize", HELLO)
        self._say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return len((await self._ask("tools/list", {}))["tools"])

    async def call(self, arguments: dict) -> dict:
        return await self._ask("tools/call", {"name": "echo", "arguments": arguments})

    def close(self) -> None:
        self._loop.remove_reader(self._out)
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _ask(self, method: str, params: dict) -> asyncio.Future[dict]:
        number = len(self._waiting) + 1
        self._waiting[number] = self._loop.create_future()
        self._say({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return self._waiting[number]

    def _say(self, message: dict) -> None:
        os.write(self._in, json.dumps(message).encode() + b"\n")

    def _read(self) -> None:
        *lines, self._start = (self._start + os.read(self._out, 65536)).split(b"\n")
        for line in lines:
            answer = json.loads(line)
            self._waiting[answer["id"]].set_result(answer["result"])


@asynccontextmanager
async def session(server: Command) -> AsyncIterator[Call]:
    one = Server(server)
    await one.list()
    yield one.call
    one.close()


@asynccontextmanager
async def listed(servers: list[Command]) -> AsyncIterator[int]:
    started = [Server(server) for server in servers]
    yield sum(await asyncio.gather(*[server.list() for server in started]))
    for server in started:
        server.close()


if __name__ == "__main__":
    serve(Library(session, listed))
