"""A server behind a URL, on a loopback port: each of its answers can be replaced, to make it wrong in any way."""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from aiohttp import web
from msgspec import DecodeError
from msgspec.json import decode, encode

from mooring.testing.issuer import Issuer, LoopbackServer
from mooring.testing.memory import Refused

Respond: TypeAlias = Callable[["ReceivedRequest"], Any]
"""Answers a request with a result, an HTTP response, or an awaitable of either; may raise `Refused`."""


class ReceivedRequest:
    """One request as the server received it; `message` is empty if the body held none."""

    def __init__(self, request: web.BaseRequest, message: dict[str, Any]) -> None:
        self.request = request
        self.message = message
        self.headers = request.headers
        peer = request.transport.get_extra_info("peername") if request.transport is not None else None
        self.connection: object = peer
        """Which connection it came over."""

    @property
    def method(self) -> str:
        """The method of the message, `reply` for an answer, or the HTTP method if there is no message."""
        if not self.message:
            return self.request.method
        return str(self.message.get("method") or "reply")

    @property
    def params(self) -> dict[str, Any]:
        found = self.message.get("params")
        return found if isinstance(found, dict) else {}

    def result(self, result: Any) -> bytes:
        """The answer with this result, encoded."""
        return encode({"jsonrpc": "2.0", "id": self.message.get("id"), "result": result})

    async def stream(self, headers: Mapping[str, str] | None = None) -> web.StreamResponse:
        """Start to answer with an event stream."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **(headers or {})})
        await response.prepare(self.request)
        return response

    def abort(self) -> None:
        """Reset the connection."""
        if self.request.transport is not None:
            self.request.transport.abort()


class Site(LoopbackServer):
    """Answers like a server of the handshake era or of the stateless era; `heard` holds its requests, in order.

    Its tool `echo` returns its argument `text`. Replace entries of `answers` to change what it does.
    """

    def __init__(
        self,
        *,
        stateless: bool = False,
        session: str = "",
        path: str = "/mcp",
        socket: str = "",
        issuer: Issuer | None = None,
    ) -> None:
        """With an `issuer`, it takes no request without a token of that issuer."""
        super().__init__(socket)
        self.issuer = issuer
        self.resource: dict[str, Any] = {}
        """What it says about its tokens; change it to make it say something else."""
        self.heard: list[ReceivedRequest] = []
        self.stateless = stateless
        self.session = session
        self.path = path
        self.tools: list[dict[str, Any]] = [{"name": "echo", "inputSchema": {"type": "object"}}]
        self.capabilities: dict[str, Any] = {"tools": {}}
        self.answers: dict[str, Respond] = {
            "tools/list": lambda heard: {"tools": self.tools},
            "tools/call": lambda heard: said(heard.params["arguments"].get("text", "")),
            "GET": lambda heard: web.Response(status=405),
            "DELETE": lambda heard: web.Response(status=200),
        }
        if stateless:
            self.answers["server/discover"] = self.discover
        else:
            self.answers["initialize"] = self.initialize

    @property
    def url(self) -> str:
        return f"unix://{self._socket}#{self.path}" if self._socket else f"{self.origin}{self.path}"

    def said(self, method: str) -> list[ReceivedRequest]:
        """The requests of one method, in order."""
        return [heard for heard in self.heard if heard.method == method]

    def initialize(self, heard: ReceivedRequest) -> web.Response:
        result = {
            "protocolVersion": heard.params["protocolVersion"],
            "capabilities": self.capabilities,
            "serverInfo": {"name": "site", "version": "1"},
        }
        headers = {"Mcp-Session-Id": self.session} if self.session else {}
        return web.Response(body=heard.result(result), content_type="application/json", headers=headers)

    def discover(self, heard: ReceivedRequest) -> dict[str, Any]:
        return {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": self.capabilities,
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "site", "version": "1"}},
        }

    async def _receive(self, request: web.BaseRequest) -> web.StreamResponse:
        heard = ReceivedRequest(request, await _read_message(request))
        self.heard.append(heard)
        with suppress(asyncio.CancelledError, ConnectionError):
            return await self._answer(heard)
        return web.Response(status=500)

    async def _answer(self, heard: ReceivedRequest) -> web.StreamResponse:
        if self.issuer is not None and (refusal := self._check_token(heard, self.issuer)):
            return refusal
        if heard.request.path != self.path:
            return web.Response(status=404)
        is_notification = bool(heard.message) and "id" not in heard.message
        if is_notification or heard.method == "reply":
            return web.Response(status=202)
        if (respond := self.answers.get(heard.method)) is None:
            return self._refuse(heard, Refused(-32601, f"Method not found: {heard.method}"))
        try:
            answer = respond(heard)
            if inspect.isawaitable(answer):
                answer = await answer
        except Refused as refused:
            return self._refuse(heard, refused)
        if isinstance(answer, web.StreamResponse):
            return answer
        return web.Response(body=heard.result(answer), content_type="application/json")

    def _check_token(self, heard: ReceivedRequest, issuer: Issuer) -> web.Response | None:
        """The answer to whoever has no token, or asks where to get one; `None` for everyone else."""
        document = f"/.well-known/oauth-protected-resource{self.path}"
        if heard.request.path == document:
            usual = {"resource": self.url, "authorization_servers": [issuer.url]}
            return web.json_response({**usual, **self.resource})
        scheme, _, token = heard.headers.get("Authorization", "").partition(" ")
        if scheme == "Bearer" and issuer.is_valid(token, self.url):
            return None
        error = ', error="invalid_token"' if token else ""
        challenge = f'Bearer resource_metadata="{self.origin}{document}"{error}'
        return web.Response(status=401, headers={"WWW-Authenticate": challenge})

    def _refuse(self, heard: ReceivedRequest, refused: Refused) -> web.Response:
        # Only the stateless era has HTTP statuses for JSON-RPC errors.
        status = 200
        if self.stateless:
            status = 404 if refused.error["code"] == -32601 else 400
        body = encode({"jsonrpc": "2.0", "id": heard.message.get("id"), "error": refused.error})
        return web.Response(body=body, content_type="application/json", status=status)


def said(text: str) -> dict[str, Any]:
    """The result of a tool that returns this text."""
    return {"resultType": "complete", "content": [{"type": "text", "text": text}]}


def event(data: bytes, key: str = "", retry: int | None = None) -> bytes:
    """One event of an event stream."""
    fields = ""
    if key:
        fields += f"id: {key}\n"
    if retry is not None:
        fields += f"retry: {retry}\n"
    return fields.encode() + b"data: " + data + b"\n\n"


async def _read_message(request: web.BaseRequest) -> dict[str, Any]:
    body = await request.read()
    try:
        found = decode(body) if body else {}
    except DecodeError:
        return {}
    return found if isinstance(found, dict) else {}
