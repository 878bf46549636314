"""`mooring serve --http` for tests: a real process, and clients that speak HTTP to it by hand."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from client import ALL, META

from support import Home
from warm import AsyncWarmProcess, can_be_warm, start_warm_with_loop

SECONDS = 30.0
Json = dict[str, Any]


class WebServer:
    """One running server."""

    def __init__(
        self,
        url: str,
        said: list[str],
        http: aiohttp.ClientSession,
        process: asyncio.subprocess.Process | AsyncWarmProcess | None = None,
    ) -> None:
        self.process, self.url, self.said, self.http = process, url, said, http
        self.token = next((line.rpartition(" ")[2] for line in said if "Bearer" in line), None)

    @property
    def pid(self) -> int:
        assert self.process is not None, "it runs in a process of its own"
        return self.process.pid

    async def post(
        self, message: Json | bytes, headers: Mapping[str, str] | None = None, **more: Any
    ) -> aiohttp.ClientResponse:
        body = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        own = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.token:
            own["Authorization"] = f"Bearer {self.token}"
        return await self.http.post(self.url, data=body, headers={**own, **(headers or {})}, **more)

    async def session(self, capabilities: Json | None = None) -> "WebSession":
        """A new client of the handshake era."""
        info = {"name": "t", "version": "1"}
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": ALL if capabilities is None else capabilities,
            "clientInfo": info,
        }
        async with await self.post({"id": 0, "method": "initialize", "params": params}) as answer:
            assert answer.status == 200, await answer.text()
            found = WebSession(self, answer.headers["Mcp-Session-Id"])
        async with await found.post({"method": "notifications/initialized"}) as answer:
            assert answer.status == 202
        return found

    async def stateless(self, method: str, params: Json | None = None, capabilities: Json | None = None) -> Json:
        async with await self.open_stateless(method, params, capabilities) as answer:
            return await read_answer(answer)

    async def open_stateless(
        self, method: str, params: Json | None = None, capabilities: Json | None = None
    ) -> aiohttp.ClientResponse:
        declared = ALL if capabilities is None else capabilities
        meta = {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": declared}
        given = params or {}
        carried = {**given, "_meta": {**given.get("_meta", {}), **meta}}
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
        if subject := given.get("name") or given.get("uri") or given.get("taskId"):
            headers["Mcp-Name"] = subject
        return await self.post({"id": 1, "method": method, "params": carried}, headers)


class WebSession:
    """One client of the handshake era. Its ids are its own, and may be those of any other."""

    def __init__(self, server: WebServer, id: str) -> None:
        self.server, self.id = server, id
        self._last = 0

    @property
    def headers(self) -> dict[str, str]:
        own = {"Mcp-Session-Id": self.id, "MCP-Protocol-Version": "2025-11-25"}
        if self.server.token:
            own["Authorization"] = f"Bearer {self.server.token}"
        return own

    async def post(self, message: Json) -> aiohttp.ClientResponse:
        return await self.server.post(message, self.headers)

    async def open(self, method: str, params: Json | None = None) -> aiohttp.ClientResponse:
        self._last += 1
        return await self.post({"id": self._last, "method": method, "params": params or {}})

    async def request(self, method: str, params: Json | None = None) -> Json:
        async with await self.open(method, params) as answer:
            return await read_answer(answer)

    async def call(self, tool: str, **arguments: Any) -> Json:
        return await self.request("tools/call", {"name": tool, "arguments": arguments})

    async def listen(self) -> aiohttp.ClientResponse:
        return await self.server.http.get(self.server.url, headers={**self.headers, "Accept": "text/event-stream"})

    async def end(self) -> int:
        async with self.server.http.delete(self.server.url, headers=self.headers) as answer:
            return answer.status


async def events(answer: aiohttp.ClientResponse) -> AsyncIterator[Json]:
    """The messages of a stream."""
    async for line in answer.content:
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


async def read_answer(answer: aiohttp.ClientResponse) -> Json:
    """The message that answers a request, whatever comes before it."""
    if answer.content_type == "application/json":
        found: Json = await answer.json()
        return found
    async for message in events(answer):
        if "method" not in message:
            return message
    raise AssertionError("the stream ended without an answer")


def text(result: Any) -> Any:
    """The text of a result that is one text."""
    return result["content"][0]["text"]


async def ask_in_session(session: WebSession, name: str, tool: str = "ask") -> str:
    """Call a tool that asks in the middle of its work, and answer with a name; returns what it made of that."""
    async with await session.open("tools/call", {"name": tool}) as answer:
        async for message in events(answer):
            if message.get("method") == "elicitation/create":
                reply = {"id": message["id"], "result": {"action": "accept", "content": {"name": name}}}
                async with await session.post(reply):
                    continue
            if "result" in message:
                return str(text(message["result"]))
    raise AssertionError("the stream ended without an answer")


async def ask_in_rounds(server: WebServer, name: str, tool: str = "round") -> str:
    """Call a tool that answers with a question, and again with a name; returns what it made of that."""
    asked = (await server.stateless("tools/call", {"name": tool}))["result"]
    responses = {key: {"action": "accept", "content": {"name": name}} for key in asked["inputRequests"]}
    more = {"requestState": asked["requestState"], "inputResponses": responses}
    return str(text((await server.stateless("tools/call", {"name": tool, **more}))["result"]))


@asynccontextmanager
async def serving(
    home: Home, *words: str, env: Mapping[str, str] | None = None, ulimit: str = "", real: bool = False
) -> AsyncIterator[WebServer]:
    """`mooring serve --http` on a free port, ended at the end; `ulimit` holds for it, such as `-n 1024`.

    The process is a warm one, unless it has such a limit or shall be `real`.
    """
    served = ["serve", "--http", "127.0.0.1:0", *words]
    environment = {**home.env, **(env or {})}
    if real or ulimit or not can_be_warm(environment):
        process = await _start_real(served, home, environment, ulimit)
    else:
        process = await start_warm_with_loop(served, cwd=home.cwd, env=environment)
    assert process.stderr is not None
    said: list[str] = []
    # Its last line says what to send, or that nothing has to be.
    while not said or not said[-1].startswith(("This is shown", "Warning", "Clients have to send the token")):
        line = (await asyncio.wait_for(process.stderr.readline(), SECONDS)).decode().strip()
        assert line, said
        said.append(line)
    url = next(line.rpartition(" ")[2] for line in said if line.startswith("Serving"))
    try:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
            server = WebServer(url, said, http, process)
            if server.token is None and "--no-token" not in words:
                server.token = (home.home / ".local/state/mooring/serve-token").read_text().strip()
            yield server
    finally:
        if process.returncode is None:
            os.kill(process.pid, signal.SIGTERM)
        await asyncio.wait_for(process.wait(), SECONDS)
        process._transport.close()  # type: ignore[union-attr]  # asyncio leaves it open otherwise


async def _start_real(words: list[str], home: Home, env: Mapping[str, str], ulimit: str) -> asyncio.subprocess.Process:
    limit = f"ulimit {ulimit}" if ulimit else ":"
    return await asyncio.create_subprocess_exec(
        "sh", "-c", f'{limit} && exec "$0" "$@"', sys.executable, "-m", "mooring", *words,
        cwd=home.cwd, env=env, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
