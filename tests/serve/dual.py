"""A server over HTTP that speaks both eras, as those on the official SDKs do; it notes what it hears, and in which.

Its tools: `era` answers with the era of the call, `ask` asks in the middle of its work and so fails in the stateless
era, `round` answers with a question and so fails in the handshake era, `touch` says that a resource changed.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import Any

from aiohttp import web
from client import META, Era

Json = dict[str, Any]
EMPTY = {"type": "object", "properties": {}}
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
QUESTION = {"message": "Who are you?", "requestedSchema": FORM}
OFFERED = {"tools": {}, "resources": {"subscribe": True}, "prompts": {}, "completions": {}}
STATIC = "test://static"


class DualServer:
    """One such server; `eras` are those that it speaks."""

    def __init__(self, *eras: Era) -> None:
        self.eras = eras or ("handshake", "stateless")
        self.url = ""
        self.heard: list[tuple[Era, str]] = []
        """The requests, with their eras."""
        self.sessions: dict[str, asyncio.Queue[Json]] = {}
        """What each session of the handshake era hears besides answers."""
        self.subscribed: set[str] = set()
        self._answers: dict[str, asyncio.Future[Json]] = {}
        self._listening: dict[Any, asyncio.Queue[Json]] = {}

    def count(self, era: Era, method: str) -> int:
        return self.heard.count((era, method))

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "DELETE":
            self.sessions.pop(request.headers.get("Mcp-Session-Id", ""), None)
            return web.Response(status=204)
        if request.method == "GET":
            return await self._follow(request)
        message = await request.json()
        if message.get("method") is None:
            self._answers.pop(message["id"]).set_result(message["result"])
            return web.Response(status=202)
        if message.get("id") is None:
            return web.Response(status=202)
        is_stateless = request.headers.get("MCP-Protocol-Version") == "2026-07-28"
        era: Era = "stateless" if is_stateless else "handshake"
        self.heard.append((era, message["method"]))
        if era not in self.eras:
            return refuse(message, -32601, "Method not found")
        if era == "stateless":
            return await self._answer_stateless(request, message)
        return await self._answer_in_session(request, message)

    # --- the handshake era ------------------------------------------------------------------------------------------

    async def _answer_in_session(self, request: web.Request, message: Json) -> web.StreamResponse:
        method, params = message["method"], message.get("params") or {}
        if method == "initialize":
            key = token_hex()
            self.sessions[key] = asyncio.Queue()
            hello = {"protocolVersion": "2025-11-25", "capabilities": OFFERED, "serverInfo": {"name": "dual"}}
            return reply(message, hello, {"Mcp-Session-Id": key})
        session = request.headers.get("Mcp-Session-Id", "")
        if session not in self.sessions:
            return web.Response(status=404)
        if method == "resources/subscribe":
            self.subscribed.add(session)
            return reply(message, {})
        if method == "resources/unsubscribe":
            self.subscribed.discard(session)
            return reply(message, {})
        if method != "tools/call":
            return reply(message, answer_either(method, params, "handshake"))
        match params["name"]:
            case "ask":
                return await self._ask(request, message)
            case "round":
                return refuse(message, -32603, "an answer cannot be a question here")
            case "touch":
                self._announce()
        return reply(message, text("handshake"))

    async def _ask(self, request: web.Request, message: Json) -> web.StreamResponse:
        """Ask on the stream of the call, and answer the call with what was answered."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        key = token_hex()
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._answers[key] = answer
        await send(response, {"id": key, "method": "elicitation/create", "params": QUESTION})
        await send(response, {"id": message["id"], "result": text(json.dumps(await answer, sort_keys=True))})
        return response

    async def _follow(self, request: web.Request) -> web.StreamResponse:
        session = self.sessions.get(request.headers.get("Mcp-Session-Id", ""))
        if session is None:
            return web.Response(status=405)
        return await stream(request, session)

    # --- the stateless era ------------------------------------------------------------------------------------------

    async def _answer_stateless(self, request: web.Request, message: Json) -> web.StreamResponse:
        method, params = message["method"], message.get("params") or {}
        if method == "server/discover":
            return reply(message, complete({"supportedVersions": ["2026-07-28"], "capabilities": OFFERED}))
        if method == "subscriptions/listen":
            queue: asyncio.Queue[Json] = asyncio.Queue()
            self._listening[message["id"]] = queue
            mark = {f"{META}subscriptionId": message["id"]}
            acknowledged = {"notifications": params["notifications"], "_meta": mark}
            queue.put_nowait({"method": "notifications/subscriptions/acknowledged", "params": acknowledged})
            try:
                return await stream(request, queue)
            finally:
                self._listening.pop(message["id"], None)
        if method != "tools/call":
            return reply(message, complete(answer_either(method, params, "stateless")))
        match params["name"]:
            case "ask":
                return refuse(message, -32603, "no way to ask in the middle")
            case "round" if params.get("requestState") != "so far":
                asked = {"form": {"method": "elicitation/create", "params": QUESTION}}
                result = {"resultType": "input_required", "inputRequests": asked, "requestState": "so far"}
                return reply(message, result)
            case "round":
                return reply(message, complete(text(json.dumps(params["inputResponses"]["form"], sort_keys=True))))
            case "touch":
                self._announce()
        return reply(message, complete(text("stateless")))

    def _announce(self) -> None:
        for session in self.subscribed & self.sessions.keys():
            self.sessions[session].put_nowait({"method": "notifications/resources/updated", "params": {"uri": STATIC}})
        for key, queue in self._listening.items():
            params = {"uri": STATIC, "_meta": {f"{META}subscriptionId": key}}
            queue.put_nowait({"method": "notifications/resources/updated", "params": params})


def answer_either(method: str, params: Json, era: Era) -> Json:
    """The answer to what both eras have, with the era in it where it can be."""
    match method:
        case "tools/list":
            return {"tools": [{"name": name, "inputSchema": EMPTY} for name in ("era", "ask", "round", "touch")]}
        case "resources/list":
            return {"resources": [{"uri": STATIC, "name": "static"}]}
        case "resources/templates/list":
            return {"resourceTemplates": []}
        case "resources/read":
            return {"contents": [{"uri": params["uri"], "text": era}]}
        case "prompts/list":
            return {"prompts": [{"name": "greet", "arguments": [{"name": "who"}]}]}
        case "prompts/get":
            return {"messages": [{"role": "user", "content": {"type": "text", "text": era}}]}
        case "completion/complete":
            return {"completion": {"values": [era]}}
        case _:
            return {}


def text(words: str) -> Json:
    return {"content": [{"type": "text", "text": words}]}


def complete(result: Json) -> Json:
    return {"resultType": "complete", **result}


def reply(message: Json, result: Json, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result}, headers=headers)


def refuse(message: Json, code: int, words: str) -> web.Response:
    error = {"code": code, "message": words}
    return web.json_response({"jsonrpc": "2.0", "id": message["id"], "error": error}, status=400)


async def stream(request: web.Request, queue: "asyncio.Queue[Json]") -> web.StreamResponse:
    """Send what comes, until the client hangs up."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    while True:
        await send(response, await queue.get())


async def send(response: web.StreamResponse, message: Json) -> None:
    await response.write(b"data: " + json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n\n")


@asynccontextmanager
async def run_dual(*eras: Era) -> AsyncIterator[DualServer]:
    """Such a server on a free port of this machine."""
    server = DualServer(*eras)
    runner = web.ServerRunner(web.Server(server.handle, handler_cancellation=True), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    server.url = f"http://127.0.0.1:{port}/mcp"
    try:
        yield server
    finally:
        await runner.cleanup()
