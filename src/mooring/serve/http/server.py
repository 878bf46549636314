"""The HTTP server: one address for all clients, of either era. What is served may differ from path to path."""

import asyncio
from base64 import b64decode
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from aiohttp import StreamReader, web
from msgspec import UNSET, DecodeError, Raw
from msgspec.json import Decoder

from mooring.core.protocol.failure import Ending
from mooring.core.protocol.limits import Limits
from mooring.core.protocol.raw import read_parts
from mooring.errors import RpcError
from mooring.serve.caller import ServeOptions
from mooring.serve.http.checks import PATH, SERVER_PATHS, AccessChecks, AccessToken, ListenAddress, RequestRefused
from mooring.serve.http.connections import ClientConnections
from mooring.serve.http.outgoing import NO_HEADERS, UNREAD, Outgoing, Spills, UnreadBudget, send_answer, send_stream
from mooring.serve.http.sessions import ServedSessions
from mooring.serve.methods import CLIENT, Params, read_params
from mooring.serve.stateless import LISTEN, VERSIONS, StatelessClients, check_meta
from mooring.wire.http.post import JSON
from mooring.wire.rpc.inbound import BUSY, Responder
from mooring.wire.rpc.message import METHOD_NOT_FOUND, Fault, Frame, Message, Refusal, Response, encode
from mooring.wire.rpc.peer import Peer
from mooring.wire.rpc.transport import Transport
from mooring.wire.session.dialect import HEADER_MISMATCH, MISSING_CAPABILITY, McpDialect

T = TypeVar("T", bytes, bytearray)

SESSION: Final = "Mcp-Session-Id"
VERSION: Final = "MCP-Protocol-Version"
BODY_SECONDS: Final = 30.0
ENDING: Final = Fault(BUSY, "Mooring ended before the request was answered. The request may have run.")

_BASE64_START: Final = "=?base64?"
_BASE64_END: Final = "?="

_frames = Decoder(list[Frame])
_frame = Decoder(Frame)


class ServedPath:
    """All clients of one path. A session of one path is unknown at every other."""

    def __init__(self, options: ServeOptions, spills: Spills) -> None:
        self.options = options
        self.sessions = ServedSessions(options, spills)
        self.stateless = StatelessClients(options)
        self.budget = UnreadBudget(spills)
        """Of all clients of the stateless era: nothing says which requests are of the same one."""
        self.exchanges: set[StatelessExchange] = set()

    def refuse_rest(self, fault: Fault) -> None:
        """Answer every request that is not answered yet."""
        self.sessions.refuse_rest(fault)
        for exchange in self.exchanges:
            exchange.refuse(fault)

    async def close(self) -> None:
        await self.sessions.close()
        await self.stateless.close()


class HttpServer:
    """All clients over HTTP, used with `async with`. They share the servers behind it, and nothing else."""

    def __init__(
        self,
        address: ListenAddress,
        token: AccessToken | None,
        options: ServeOptions | None = None,
        warn: Callable[[str], object] = lambda words: None,
    ) -> None:
        """`options` is for what is served at `/mcp`, if anything is; `serve_server` adds other paths.

        `warn` is told what whoever runs this has to do something about.
        """
        self.address = address
        self._token = token
        self._options = options
        self._warn = warn
        self._paths: dict[str, ServedPath] = {}
        self._spills = Spills()
        self._is_draining = False
        self._checks: AccessChecks
        self._connections: ClientConnections

    async def __aenter__(self) -> "HttpServer":
        """Start to listen; `address` has the port, also if it was left to the system. Raises: OSError."""
        if self._options is not None:
            self._paths[PATH] = ServedPath(self._options, self._spills)
        self._connections = ClientConnections(self._handle, self._warn)
        port = await self._connections.listen(self.address.host, self.address.port)
        # Nobody is connected yet: that takes a turn of the loop.
        self.address = ListenAddress(self.address.host, port)
        self._checks = AccessChecks(self.address, self._token)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._refuse_rest()
        await asyncio.gather(*(served.close() for served in self._paths.values()))
        await self._connections.close()

    async def drain(self, seconds: float, hurry: Coroutine[Any, Any, object]) -> None:
        """Accept nothing more, and wait for the requests that are being answered, until `hurry` ends or time is up.

        What is not answered by then is answered with an error that says so.
        """
        self._is_draining = True
        await self._connections.stop_listening()
        waits = {asyncio.ensure_future(self._connections.wait_idle()), asyncio.ensure_future(hurry)}
        _, pending = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for each in pending:
            each.cancel()
        self._refuse_rest()

    def _refuse_rest(self) -> None:
        for served in self._paths.values():
            served.refuse_rest(ENDING)

    def serve_server(self, name: str, options: ServeOptions) -> str:
        """Serve one more path, for a server of that name, which needs no quoting; returns its address.

        It stays until this is closed: whoever uses it may come back.
        """
        path = f"{SERVER_PATHS}{name}"
        self._paths[path] = ServedPath(options, self._spills)
        return self.address.make_url(path)

    # --- requests -------------------------------------------------------------------------------------------------

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            self._checks.check(request)
            served = self._paths.get(request.rel_url.raw_path)
            if served is None:
                raise RequestRefused(404, "There is nothing here.")
            match request.method:
                case "POST":
                    self._connections.begin_request(request.protocol, waits=True)
                    return await self._post(request, served)
                case "GET":
                    return await self._follow(request, served)
                case _:
                    return await self._delete(request, served)
        except RequestRefused as refusal:
            # What is left of the body is not read: the connection ends instead.
            return _refuse(refusal)
        finally:
            self._connections.end_request(request.protocol)

    async def _post(self, request: web.BaseRequest, served: ServedPath) -> web.StreamResponse:
        body = await self._read_body(request, served.options.limits.line)
        frames = _read_frames(body)
        first = frames[0]
        try:
            params = read_params(first.params) if first.method is not None else Params()
        except RpcError as error:
            if first.id is UNSET:
                raise RequestRefused(400, error.message) from error
            return _answer_error(first, error, 400)
        if self._is_draining and first.method is not None and first.id is not UNSET:
            return _answer_error(first, RpcError(CLIENT, BUSY, "Mooring is ending. The request was not run."), 503)
        version = request.headers.get(VERSION, "")
        if first.method is not None and (params.stateless_version is not None or version in VERSIONS):
            return await self._post_stateless(request, served, first, params, body)
        return await self._post_in_session(request, served.sessions, frames, body)

    async def _post_stateless(
        self, request: web.BaseRequest, served: ServedPath, frame: Frame, params: Params, body: bytes
    ) -> web.StreamResponse:
        if frame.id is UNSET:
            return web.Response(status=202)
        try:
            check_meta_and_headers(request, frame, params)
        except RpcError as error:
            return _answer_error(frame, error, 400)
        if frame.method == "ping":
            # The peer answers a ping by itself, but there is none in this era.
            return _answer_error(frame, RpcError(CLIENT, METHOD_NOT_FOUND, "Method not found: ping"), 404)
        exchange = StatelessExchange(served.stateless, served.options.limits, served.budget, frame, params)
        served.exchanges.add(exchange)
        if frame.method == LISTEN:
            # It stands as long as both sides are there: nobody waits for the answer.
            self._connections.end_request(request.protocol)
        try:
            way = exchange.begin(body)
            return await send_answer(request, way, self._connections.streams, lambda: exchange.status)
        finally:
            served.exchanges.discard(exchange)
            # Whoever hung up takes the request back.
            await exchange.take_back()

    async def _post_in_session(
        self, request: web.BaseRequest, sessions: ServedSessions, frames: Sequence[Frame], body: bytes
    ) -> web.StreamResponse:
        is_new = frames[0].method == "initialize" and SESSION not in request.headers
        session = sessions.open() if is_new else sessions.find(request.headers.get(SESSION))
        keys = [frame.id for frame in frames if frame.method is not None and frame.id is not UNSET]
        way = session.transport.receive(frames, body, keys)
        if not keys:
            return web.Response(status=202)
        session.waiting += 1
        headers = {SESSION: session.id} if is_new else NO_HEADERS
        try:
            return await send_answer(request, way, self._connections.streams, headers=headers)
        finally:
            session.waiting -= 1
            session.transport.forget(way)

    async def _follow(self, request: web.BaseRequest, served: ServedPath) -> web.StreamResponse:
        """Stream what belongs to no request of a session."""
        if request.headers.get(VERSION) in VERSIONS:
            raise RequestRefused(405, "There is no stream of its own in this revision.", Allow="POST")
        if self._is_draining:
            raise RequestRefused(503, "Mooring is ending.")
        session = served.sessions.find(request.headers.get(SESSION))
        self._connections.begin_request(request.protocol, waits=False)
        way = session.transport.claim_common()
        session.streams += 1
        try:
            return await send_stream(request, way, self._connections.streams)
        finally:
            session.streams -= 1
            # What comes while there is no stream is not sent on the next one.
            way.drop()

    async def _delete(self, request: web.BaseRequest, served: ServedPath) -> web.StreamResponse:
        await served.sessions.end(served.sessions.find(request.headers.get(SESSION)))
        return web.Response(status=204)

    async def _read_body(self, request: web.BaseRequest, limit: int) -> bytes:
        """The body, within its limits. Raises: RequestRefused."""
        # A page in a browser may send other types to any address, without asking first.
        if request.headers.get("Content-Type") != JSON and request.content_type != JSON:
            raise RequestRefused(415, f"Send {JSON}.")
        if request.headers.get("Content-Encoding", "identity") != "identity":
            raise RequestRefused(415, "Send the body uncompressed.")
        content = request.content
        if content.is_eof():
            # It came with the headers, as most do: no timer for these.
            return _check_size(content.read_nowait(-1), limit)
        if (request.content_length or 0) > limit:
            raise RequestRefused(413, f"The body is larger than {limit:,} bytes.")
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await _read_pieces(content, limit)
        except TimeoutError:
            raise RequestRefused(408, f"The body did not arrive within {BODY_SECONDS:g} s.") from None


def check_meta_and_headers(request: web.BaseRequest, frame: Frame, params: Params) -> None:
    """Raises: RpcError if a stateless request lacks something, or its headers say something else than its body."""
    version = params.stateless_version
    if isinstance(version, str) and request.headers.get(VERSION) != version:
        raise RpcError(CLIENT, HEADER_MISMATCH, f"Header mismatch: {VERSION} is not what the body says")
    check_meta(params)
    _check_header(request, "Mcp-Method", frame.method or "")
    if subject := params.name or params.uri or params.task_id:
        _check_header(request, "Mcp-Name", subject)


def _check_header(request: web.BaseRequest, name: str, said: str) -> None:
    given = request.headers.get(name)
    if given is None or _decode_header(given) != said:
        raise RpcError(CLIENT, HEADER_MISMATCH, f"Header mismatch: {name} is not what the body says")


def _decode_header(given: str) -> str | None:
    """The value of a header; what does not fit into one is sent in Base64, between two marks."""
    if not (given.startswith(_BASE64_START) and given.endswith(_BASE64_END)):
        return given
    try:
        return b64decode(given[len(_BASE64_START) : -len(_BASE64_END)], validate=True).decode()
    except ValueError:
        return None


async def _read_pieces(content: StreamReader, limit: int) -> bytes:
    body = bytearray()
    async for piece in content.iter_any():
        body += piece
        _check_size(body, limit)
    return bytes(body)


def _check_size(body: T, limit: int) -> T:
    if len(body) > limit:
        raise RequestRefused(413, f"The body is larger than {limit:,} bytes.")
    return body


def _read_frames(body: bytes) -> list[Frame]:
    """The messages of a body; a batch has several. Raises: RequestRefused."""
    try:
        frames = read_parts(_frames, body) if body.lstrip()[:1] == b"[" else [read_parts(_frame, body)]
    except DecodeError:
        frames = []
    if not frames:
        raise RequestRefused(400, "The body is not a message of JSON-RPC.")
    return frames


def _refuse(refusal: RequestRefused) -> web.Response:
    body = encode({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": str(refusal)}})
    headers = {**refusal.headers, "Connection": "close"}
    response = web.Response(body=body, status=refusal.status, content_type=JSON, headers=headers)
    response.force_close()
    return response


def _answer_error(frame: Frame, error: RpcError, status: int) -> web.Response:
    body = encode(Refusal(frame.id, Fault(error.code, error.message, error.data)))
    return web.Response(body=body, status=status, content_type=JSON)


STATUSES: Final = {METHOD_NOT_FOUND: 404, MISSING_CAPABILITY: 400}
"""Errors with a status of their own; with any other, the request as such was fine."""


class StatelessExchange(Transport):
    """Answers one request, and is the way back of what belongs to it."""

    def __init__(
        self, clients: StatelessClients, limits: Limits, budget: UnreadBudget, frame: Frame, params: Params
    ) -> None:
        self.status = 200
        self._way = Outgoing(budget)
        self._frame = frame
        method = frame.method or ""
        answers: dict[str, Responder] = {method: partial(self._answer, clients, method, params)}
        self._peer = Peer(self, server=CLIENT, limits=limits, answers=answers, dialect=McpDialect())

    def begin(self, body: bytes) -> Outgoing:
        """Take the request; returns the way of its answer."""
        self._peer.receive_frames([self._frame], body)
        return self._way

    async def take_back(self) -> None:
        """Work on the request no more, if it is not answered yet."""
        self._peer.end(Ending("it hung up"))
        await self._peer.close()
        self._way.drop()

    def refuse(self, fault: Fault) -> None:
        """Answer the request, if it is not answered yet. A subscription ends by itself, with a result."""
        if self._frame.method != LISTEN and not self._way.is_finished:
            self.send(Refusal(self._frame.id, fault))

    def send(self, message: Message) -> None:
        if isinstance(message, Refusal):
            self.status = STATUSES.get(message.error.code, 200)
        line = encode(message)
        if not isinstance(message, Response | Refusal):
            self._way.put_note(line)
            return
        if not self._way.put(line):
            self._way.put_anyway(encode(Refusal(message.id, UNREAD)))
        self._way.finish()

    def close(self) -> None:
        self._way.finish()

    async def _answer(self, clients: StatelessClients, method: str, params: Params, _: Raw) -> Any:
        return await clients.answer(method, params, self._peer.notify)
