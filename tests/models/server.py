"""The fake model itself: a server on loopback that speaks the APIs of all providers and follows one script."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self

import msgspec
from aiohttp import web
from tests.models import anthropic_messages, gemini_content, openai_chat, openai_responses
from tests.models.answer import Answer, Content, Interruption, make_answer
from tests.models.anthropic_rules import AnthropicRules
from tests.models.asides import is_aside
from tests.models.listening import listen
from tests.models.openai_rules import ResponsesRules, list_broken_in_chat
from tests.models.record import Json, ModelRequest
from tests.models.script import Drop, Fail, Hold, Overflow, Part, Player, Say, Script, ScriptError, Stall
from tests.models.wire import Wire

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
LARGEST_REQUEST = 256 * 1024 * 1024
UNREADABLE = (KeyError, TypeError, AttributeError, msgspec.MsgspecError)
UNFORESEEN = 400
"""The status where the script has no reply: one that no client repeats."""


class FakeModel:
    """A model on loopback: `async with FakeModel(script) as model`, then point a client to `model.anthropic_url`.

    `with` does the same in a thread of its own, for tests that block. Leaving either raises `ScriptError` if the script
    had no reply for a request, so that no client can hide it.
    """

    def __init__(
        self,
        script: Script,
        *,
        models: Sequence[str] = ("scripted",),
        key: str | None = None,
        window: int | None = None,
        skip_asides: bool = False,
        has_rules: bool = True,
        on_request: Callable[[ModelRequest], None] | None = None,
        port: int = 0,
    ) -> None:
        """A `key` is the only one accepted; a request of more tokens than `window` overflows, whatever the script says.

        A request that Anthropic or OpenAI would refuse is a problem, as one that the script has no reply for; not without `has_rules`.

        `skip_asides` is for programs of others, which aren't held to Anthropic's rules: what they ask for beside the conversation, such as a title for it, is
        answered and kept apart.
        """
        self.requests: list[ModelRequest] = []
        """Those that the script replied to, in the order in which they came."""
        self.asides: list[ModelRequest] = []
        """Those beside the conversation, where they are skipped; they take no reply from the script."""
        self.abandoned: list[ModelRequest] = []
        """Those whose client left before the reply was complete."""
        self.strays: list[str] = []
        """Requests to addresses that are not there."""
        self._player = Player(script)
        self._rules = ResponsesRules()
        self._anthropic_rules = AnthropicRules()
        self._models, self._key, self._window, self._port = models, key, window, port
        self._skip_asides, self._has_rules, self._on_request = skip_asides, has_rules, on_request
        self._number = 0
        self._problems: list[str] = []
        self._holds: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._runner: web.AppRunner | None = None
        self._listener: asyncio.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    anthropic_url = url
    gemini_url = url

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def open_connections(self) -> int:
        """How many clients are connected."""
        assert self._runner is not None
        assert self._runner.server is not None
        return len(self._runner.server.connections)

    @property
    def unplayed(self) -> int:
        """How many replies of the script were not asked for."""
        return self._player.unplayed

    def release(self, name: str) -> None:
        """Let replies go on that hold under this name, now and later."""
        assert self._loop is not None, "the model is not running"
        self._loop.call_soon_threadsafe(self._holds[name].set)

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._runner = web.AppRunner(_make_app(self._routes()), handler_cancellation=True, shutdown_timeout=0)
        await self._runner.setup()
        assert self._runner.server is not None
        self._listener = await listen(self._runner.server, self._port)
        self._port = self._listener.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        assert self._listener is not None
        self._listener.close()
        await self._runner.cleanup()
        # What failed inside the block is most often a consequence; both are worth reading.
        if self._problems:
            raise ScriptError("; ".join(self._problems)) from error

    def __enter__(self) -> Self:
        loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=loop.run_forever, name="fake model")
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.__aenter__(), loop).result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._loop is not None
        assert self._thread is not None
        try:
            asyncio.run_coroutine_threadsafe(self.__aexit__(kind, error, trace), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _routes(self) -> list[web.RouteDef]:
        """By the end of a path: clients differ in what they put in front of it."""
        return [
            web.post("/{head:(.*/)?}messages/count_tokens", self._count(anthropic_messages.WIRE)),
            web.post("/{head:(.*/)?}messages", self._reply(anthropic_messages.WIRE)),
            web.post("/{head:(.*/)?}chat/completions", self._reply(openai_chat.WIRE)),
            web.post("/{head:(.*/)?}responses/input_tokens", self._count(openai_responses.WIRE)),
            web.post("/{head:(.*/)?}responses", self._reply(openai_responses.WIRE)),
            web.post("/{head:(.*/)?}models/{model:[^/:]+}:countTokens", self._count(gemini_content.WIRE)),
            web.post("/{head:(.*/)?}models/{model:[^/:]+}:generateContent", self._reply(gemini_content.WIRE)),
            web.post("/{head:(.*/)?}models/{model:[^/:]+}:streamGenerateContent", self._reply(gemini_content.WIRE)),
            web.get("/{head:(.*/)?}models", self._list_models),
            web.get("/{head:(.*/)?}models/{model:[^/:]+}", self._get_model),
            web.route("*", "/{rest:.*}", self._stray),
        ]

    def _reply(self, wire: Wire) -> Handler:
        async def reply(request: web.Request) -> web.StreamResponse:
            self._number += 1
            number = self._number
            try:
                asked = await _read(request, wire)
            except UNREADABLE as error:
                return self._refuse(wire, number, f"a request could not be read: {error!r}")
            if self._on_request is not None:
                self._on_request(asked)
            try:
                return await self._send(request, wire, asked, number)
            except (asyncio.CancelledError, ConnectionError):
                self.abandoned.append(asked)
                raise

        return reply

    def _count(self, wire: Wire) -> Handler:
        async def count(request: web.Request) -> web.StreamResponse:
            asked = await _read(request, wire)
            return web.json_response(wire.write_count(asked.tokens))

        return count

    async def _send(self, request: web.Request, wire: Wire, asked: ModelRequest, number: int) -> web.StreamResponse:
        parts = await self._choose_parts(asked)
        first = parts[0] if parts else Say("")
        if isinstance(first, Overflow):
            first = wire.overflow(first)
        if isinstance(first, Fail):
            return _write_failure(wire, first, number)
        answer = make_answer(number, asked, parts)
        if wire is openai_responses.WIRE:
            self._rules.remember(wire.write(answer)["output"])
        if wire is anthropic_messages.WIRE:
            self._anthropic_rules.remember(wire.write(answer)["content"])
        if asked.stream:
            return await self._send_stream(request, wire, answer)
        return await self._send_whole(request, wire, answer)

    async def _choose_parts(self, asked: ModelRequest) -> Sequence[Part]:
        if self._key is not None and asked.key != self._key:
            return [Fail(401, message="The API key is not valid (scripted).")]
        if self._skip_asides and is_aside(asked):
            self.asides.append(asked)
            return [Say("A title")]
        self.requests.append(asked)
        if broken := self._list_broken_rules(asked):
            return [self._note_problem("; ".join(broken))]
        if self._window is not None and asked.tokens > self._window:
            return [Overflow(asked.tokens, self._window)]
        try:
            return await self._player.find_reply(asked)
        except ScriptError as error:
            return [self._note_problem(str(error))]

    def _list_broken_rules(self, asked: ModelRequest) -> list[str]:
        """Why the real API would refuse a request."""
        match asked.api:
            case "anthropic" if self._has_rules and not self._skip_asides:
                return list(self._anthropic_rules.list_broken(asked.body))
            case "openai-responses" if self._has_rules:
                return list(self._rules.list_broken(asked.body))
            case "openai-chat" if self._has_rules:
                return list(list_broken_in_chat(asked.body))
            case _:
                return []

    def _refuse(self, wire: Wire, number: int, problem: str) -> web.Response:
        return _write_failure(wire, self._note_problem(problem), number)

    def _note_problem(self, problem: str) -> Fail:
        """What the client is told; leaving the model tells the test."""
        self._problems.append(problem)
        return Fail(UNFORESEEN, message=f"Fake model: {problem}.")

    async def _send_whole(self, request: web.Request, wire: Wire, answer: Answer) -> web.StreamResponse:
        for part in answer.parts:
            if isinstance(part, Fail):
                return _write_failure(wire, part, answer.number)
            if isinstance(part, Drop):
                return _cut(request)
            await self._wait(part)
        return web.json_response(wire.write(answer), headers=_headers(answer.number))

    async def _send_stream(self, request: web.Request, wire: Wire, answer: Answer) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **_headers(answer.number)})
        await response.prepare(request)
        for frame in wire.stream(answer):
            match frame:
                case bytes():
                    await response.write(frame)
                case Fail():
                    await response.write(wire.stream_error(frame, answer.number))
                    break
                case Drop():
                    _cut(request)
                    return response
                case Stall() | Hold():
                    await self._wait(frame)
        await response.write_eof()
        return response

    async def _wait(self, part: Content | Interruption) -> None:
        if isinstance(part, Stall):
            await asyncio.sleep(part.seconds)
        elif isinstance(part, Hold):
            await self._holds[part.name].wait()

    async def _list_models(self, request: web.Request) -> web.Response:
        models = [_describe_model(name) for name in self._models]
        # One list that each provider's library finds its own fields in.
        return web.json_response({
            "object": "list", "data": models, "models": models,
            "has_more": False, "first_id": self._models[0], "last_id": self._models[-1],
        })  # fmt: skip

    async def _get_model(self, request: web.Request) -> web.Response:
        return web.json_response(_describe_model(request.match_info["model"]))

    async def _stray(self, request: web.Request) -> web.Response:
        self.strays.append(f"{request.method} {request.path}")
        error = {"type": "not_found_error", "message": f"{request.path} is not there", "code": 404}
        return web.json_response({"type": "error", "error": error}, status=404)


def _make_app(routes: Sequence[web.RouteDef]) -> web.Application:
    app = web.Application(client_max_size=LARGEST_REQUEST)
    app.add_routes(routes)
    return app


async def _read(request: web.Request, wire: Wire) -> ModelRequest:
    body = msgspec.json.decode(await request.read())
    asked = wire.read(body, request.path_qs)
    headers = {name.lower(): value for name, value in request.headers.items()}
    return msgspec.structs.replace(asked, headers=headers, key=_find_key(request))


def _find_key(request: web.Request) -> str:
    bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
    named = request.headers.get("x-api-key") or request.headers.get("x-goog-api-key")
    return named or bearer or request.query.get("key", "")


def _write_failure(wire: Wire, failure: Fail, number: int) -> web.Response:
    headers = _headers(number)
    if failure.retry_after is not None and wire.retry_header:
        headers["retry-after"] = f"{failure.retry_after:g}"
    return web.json_response(wire.write_error(failure, number), status=failure.status, headers=headers)


def _cut(request: web.Request) -> web.Response:
    """Close the connection under the reply, after what was written."""
    assert request.transport is not None
    request.transport.close()
    return web.Response()


def _headers(number: int) -> dict[str, str]:
    return {"request-id": f"req_{number}", "x-request-id": f"req_{number}"}


def _describe_model(name: str) -> Json:
    return {
        "id": name, "object": "model", "created": 1, "owned_by": "tests",
        "type": "model", "display_name": name, "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": "active", "max_input_tokens": 200_000, "max_tokens": 64_000,
        "name": f"models/{name}", "displayName": name, "inputTokenLimit": 200_000, "outputTokenLimit": 64_000,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    }  # fmt: skip
