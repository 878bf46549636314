"""The stateless era of the protocol (2026-07-28): each request says who makes it and in which revision.

The methods of the handshake era still work: `resources/subscribe` and `resources/unsubscribe` change the one
subscription, `logging/setLevel` changes what each request carries, and `ping` becomes `server/discover`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder
from msgspec.structs import replace

from mooring.core.protocol.era import EraName
from mooring.core.protocol.limits import Timeout
from mooring.core.protocol.raw import ABSENT, PARTS, read_as, read_parts
from mooring.core.protocol.tool import Implementation, Listing, Rejected, ServerInfo, Tool
from mooring.errors import HandshakeError, ProtocolError, RpcError, ServerError, Stage, TimedOut
from mooring.wire.rpc.inbound import FindAnswers, Responder
from mooring.wire.rpc.message import encode
from mooring.wire.rpc.peer import FOREVER, Ask, Peer, Read
from mooring.wire.session import answers
from mooring.wire.session.client import META, TASKS, Client, ListName, asked_as
from mooring.wire.session.dialect import HEADER_MISMATCH, UNSUPPORTED_VERSION, NotificationListener, OnProgress
from mooring.wire.session.handshake import VERSIONS as OLD_VERSIONS
from mooring.wire.session.listing import TOOLS, fetch_all
from mooring.wire.session.tasks import EXTENSION_STATUS, AddMeta, GatherInput, InputRequest, TaskExtension

if TYPE_CHECKING:
    from mooring.wire.session.header_params import HeaderParam


T = TypeVar("T")

VERSIONS: Final = ("2026-07-28",)
"""The revisions of this era, newest first."""

_LEVEL: Final = f"{META}logLevel"
_MAY_NEED_INPUT = ("tools/call", "prompts/get", "resources/read")
"""The only methods that a server may answer with `input_required`."""
_STATE_PAUSE: Final = 0.05
"""The first pause before a request is repeated with nothing new but its state; each next one is twice as long."""
_STATE_PAUSE_CAP: Final = 0.25
_EMPTY = Raw(b"{}")


class NotStateless(Exception):
    """The server's answer gives no sign that it speaks this era."""


class _Discovered(Struct, rename="camel"):
    supported_versions: list[str]
    capabilities: dict[str, Any] = {}
    instructions: str | None = None


class _ResultType(Struct, rename="camel"):
    result_type: str = "complete"


class _InputRequired(Struct, rename="camel"):
    input_requests: dict[str, InputRequest] | None = None
    request_state: Raw = ABSENT


_discovered: Decoder[_Discovered] = Decoder(_Discovered)
_implementation = Decoder(Implementation)
_result_type = Decoder(_ResultType)
_input_required = Decoder(_InputRequired)


class _Rounds(Struct, frozen=True):
    """A request that may take several rounds: how each of them is made, and who answers what the server asks for."""

    ask: Ask
    method: str
    within: Timeout
    until: float
    stage: Stage
    on_progress: OnProgress | None
    gather: GatherInput

    def ask_once(self, params: Any) -> Coroutine[Any, Any, Raw]:
        return self.ask(
            self.method, params, answers.return_raw,
            within=self.within, until=self.until, stage=self.stage, on_progress=self.on_progress,
        )  # fmt: skip


class Stateless:
    """One connection of this era. The peer it is opened on must be given its `notes`."""

    name: EraName = "stateless"

    def __init__(self, client: Client) -> None:
        self._answers: dict[str, Responder] = client.answers()
        self._meta = _client_meta(client)
        self._header_params: dict[str, tuple[HeaderParam, ...]] = {}
        self._tasks = TaskExtension()
        self._subscription = Subscription(client, self.add_meta)
        self._emulated: dict[str, Callable[[Mapping[str, Any]], Awaitable[None]]] = {
            "resources/subscribe": lambda params: self._subscription.add(params["uri"]),
            "resources/unsubscribe": lambda params: self._subscription.remove(params["uri"]),
            "logging/setLevel": self._set_level,
        }

    @property
    def notes(self) -> dict[str, NotificationListener]:
        """The notifications that this era itself listens to."""
        return {EXTENSION_STATUS: self._tasks.on_status, _ACKNOWLEDGED: self._subscription.on_acknowledged}

    async def open(self, peer: Peer, until: float) -> ServerInfo:
        """Discover the server. Raises: NotStateless, HandshakeError, and what `Peer.request` raises."""
        self._peer = peer
        try:
            raw = await self._discover(until)
        except RpcError as error:
            raw = await self._discover_again(error, until)
        hello = _read_hello(raw)
        self._subscription.begin(peer, hello)
        return hello

    def requester(self, peer: Peer) -> Ask:
        return self._ask

    def select_tools(self, tools: Listing[Tool]) -> Listing[Tool]:
        """Reject tools whose `x-mcp-header` annotations are invalid, as the protocol demands of clients over HTTP."""
        if not self._peer.takes_headers:
            return tools  # over pipes there are no headers, and the annotations mean nothing
        from mooring.wire.session.header_params import Flaw, find_header_params  # only HTTP needs it

        self._header_params.clear()
        kept: list[Tool] = []
        rejected = list(tools.rejected)
        for tool in tools.items:
            try:
                if found := find_header_params(tool.input_schema):
                    self._header_params[tool.name] = found
                kept.append(tool)
            except Flaw as flaw:
                rejected.append(Rejected(tool.name, str(flaw)))
        return replace(tools, items=tuple(kept), rejected=tuple(rejected))

    def add_meta(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The same parameters, with the `_meta` that every request of this era must carry."""
        return {**params, "_meta": {**self._meta, **params.get("_meta", {})}}

    async def _discover(self, until: float) -> Raw:
        params = self.add_meta({})
        return await self._peer.request("server/discover", params, answers.return_raw, until=until, stage="handshake")

    async def _discover_again(self, error: RpcError, until: float) -> Raw:
        """If the server names the revisions it supports, use them; any other error is not a sign of this era."""
        supported = error.data.get("supported") if isinstance(error.data, dict) else None
        if error.code != UNSUPPORTED_VERSION or not isinstance(supported, list):
            raise NotStateless from error
        if any(version in supported for version in VERSIONS):
            try:
                return await self._discover(until)
            except RpcError as second:
                raise NotStateless from second
        if any(version in supported for version in OLD_VERSIONS):
            raise NotStateless from error
        named = ", ".join(str(version)[:20] for version in supported[:10])
        reason = f"it speaks only MCP {named}, none of which Mooring supports; update one of the two"
        raise HandshakeError(self._peer.server, reason) from error

    async def _ask(
        self,
        method: str,
        params: Any,
        read: Read[T],
        about: str = "",
        *,
        within: Timeout = FOREVER,
        until: float = inf,
        stage: Stage = "call",
        on_progress: OnProgress | None = None,
        find_answers: FindAnswers | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> T:
        if emulate := self._emulated.get(method):
            await emulate(params)
            return read(self._peer.server, about, _EMPTY)
        if method == "ping":
            method = "server/discover"
        if within.total is not None:
            until = min(until, asyncio.get_running_loop().time() + within.total)
        # The total covers all rounds together, so it becomes a moment; silence is allowed again in each.
        within = Timeout(within.idle, None)
        ask = partial(self._ask_over_http, headers) if self._peer.takes_headers else self._peer.request
        rounds = _Rounds(ask, method, within, until, stage, on_progress, partial(self._gather_input, find_answers))
        raw = await self._once(rounds, params)
        if _type_of(raw) != "complete":
            raw = await self._complete(rounds, params, raw)
        return read(self._peer.server, about, raw)

    async def _once(self, rounds: _Rounds, params: Any) -> Raw:
        try:
            return await rounds.ask_once(self.add_meta(params))
        except RpcError as error:
            if error.code != HEADER_MISMATCH or rounds.method != "tools/call" or not self._peer.takes_headers:
                raise
        # The tool may have changed which arguments it wants as headers. The call was refused before it ran (-32020),
        # so it may be sent again.
        await self._relist(rounds.until)
        return await rounds.ask_once(self.add_meta(params))

    def _ask_over_http(
        self,
        headers: Mapping[str, str] | None,
        method: str,
        params: Any,
        read: Read[T],
        about: str = "",
        **options: Any,
    ) -> Coroutine[Any, Any, T]:
        """Make a request with the caller's headers, and those that repeat the arguments of a call."""
        repeated: dict[str, str] = {}
        if method == "tools/call":
            for param in self._header_params.get(params["name"], ()):
                repeated |= param.header(params.get("arguments"))
        if repeated:
            headers = {**(headers or {}), **repeated}
        return self._peer.request(method, params, read, about, headers=headers, **options)

    async def _relist(self, until: float) -> None:
        async def fetch(method: str, params: dict[str, Any]) -> Raw:
            return await self._peer.request(
                method, self.add_meta(params), answers.return_raw, until=until, stage="list"
            )

        self.select_tools(await fetch_all(TOOLS, fetch, self._peer.server, self._peer.limits))

    async def _complete(self, rounds: _Rounds, params: Any, raw: Raw) -> Raw:
        """Give the server the input it asks for until it answers, in as many rounds as `Limits` allows."""
        method, until, gather = rounds.method, rounds.until, rounds.gather
        pause = _STATE_PAUSE
        for _ in range(self._peer.limits.rounds):
            match _type_of(raw):
                case "complete":
                    return raw
                case "task" if method == "tools/call":
                    return await self._tasks.finish(
                        self._peer, rounds.ask, raw, self.add_meta, gather, rounds.within, until
                    )
                case "input_required" if method in _MAY_NEED_INPUT:
                    asked = _decode(self._peer.server, _input_required, raw)
                case other:
                    reason = f"its answer to {method} is of an unknown kind: {other[:50]!r}"
                    raise ProtocolError(self._peer.server, reason, stage=rounds.stage)
            more: dict[str, Any] = {}
            if asked.request_state is not ABSENT:
                more["requestState"] = asked.request_state  # raw, because it must come back byte for byte
            if asked.input_requests:
                pause = _STATE_PAUSE
                more["inputResponses"] = await gather(asked.input_requests, method, until)
            else:
                # It only wants the state back; without a pause the rounds would be used up immediately.
                await asyncio.sleep(pause)
                pause = min(pause * 2, _STATE_PAUSE_CAP)
            raw = await self._once(rounds, {**params, **more})
        if _type_of(raw) == "complete":
            return raw
        reason = f"it asked for more {self._peer.limits.rounds} times before it answered {method}"
        raise ProtocolError(self._peer.server, reason, stage=rounds.stage)

    async def _gather_input(
        self, find_answers: FindAnswers | None, requests: Mapping[str, InputRequest], method: str, until: float
    ) -> dict[str, Any]:
        """Answer what the server asks of this side, all at the same time: who is asked may want to see all of it."""
        if len(requests) > self._peer.limits.inbound:
            raise ProtocolError(self._peer.server, f"it asked for {len(requests)} things at a time")
        began = asyncio.get_running_loop().time()
        deadline = None if until == inf else until
        own = find_answers() if find_answers is not None else {}
        responders = {**self._answers, **own}
        try:
            async with asyncio.timeout_at(deadline):
                answering = [self._answer(key, request, responders) for key, request in requests.items()]
                return dict(zip(requests, await _gather_all(answering), strict=True))
        except TimeoutError as error:
            raise TimedOut(self._peer.server, method, until - began, may_have_run=True) from error

    async def _answer(self, key: str, request: InputRequest, responders: Mapping[str, Responder]) -> Any:
        server, method = self._peer.server, request.method
        asked_as.set(key)
        if (answer := responders.get(method)) is None:
            raise ProtocolError(server, f"it asked for {method[:100]}, which was not offered")
        try:
            return await answer(request.params)
        except RpcError as error:
            # Input is sent as results only, so a refusal cannot be passed on: the call ends here.
            words = f"{server} asked for {method}, which was refused here: {error.message}."
            raise ServerError(server, words, may_have_run=True) from error

    async def _set_level(self, params: Mapping[str, Any]) -> None:
        self._meta[_LEVEL] = params["level"]


async def _gather_all(answering: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
    """What all of them return; if one fails, nobody is asked for the others any more."""
    tasks = [asyncio.ensure_future(each) for each in answering]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def _client_meta(client: Client) -> dict[str, Any]:
    """What this client says about itself in every request."""
    capabilities = dict(client.capabilities)
    if client.roots is not None:
        capabilities["roots"] = {}  # without `listChanged`: there is no such notification in this era
    capabilities["extensions"] = {TASKS: {}}
    program = {"name": client.program.name, "version": client.program.version}
    # Encoded once: they go with every request.
    meta: dict[str, Any] = {
        f"{META}protocolVersion": VERSIONS[0],
        f"{META}clientInfo": Raw(encode(program)),
        f"{META}clientCapabilities": Raw(encode(capabilities)),
    }
    if client.on_log is not None:
        meta[_LEVEL] = "info"  # naming a level is how log messages are asked for in this era
    return meta


def _read_hello(raw: Raw) -> ServerInfo:
    try:
        found = read_as(_discovered, raw)
    except DecodeError as error:
        raise NotStateless from error
    for version in VERSIONS:
        if version in found.supported_versions:
            return ServerInfo(version, found.capabilities, _server_info(raw), found.instructions)
    raise NotStateless


def _server_info(raw: Raw) -> Implementation:
    """What the server calls itself: only for display, so an unreadable answer is not an error."""
    try:
        parts = read_parts(PARTS, raw)
        meta = read_parts(PARTS, parts.get("_meta", _EMPTY))
        info = meta.get(f"{META}serverInfo") or parts.get("serverInfo", _EMPTY)
        return read_as(_implementation, info)
    except DecodeError:
        return Implementation()


def _type_of(raw: Raw) -> str:
    try:
        return _result_type.decode(raw).result_type
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return "complete"  # the next reader of the answer reports what is wrong with it


def _decode(server: str, decoder: Decoder[T], raw: Raw) -> T:
    try:
        return read_as(decoder, raw)
    except DecodeError as error:
        raise ProtocolError(server, f"its request is invalid: {error}") from error


_ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
_LISTS: tuple[ListName, ...] = ("tools", "resources", "prompts")
_PAUSE: Final = 1.0
"""How many seconds to wait before a broken subscription is opened again; twice as long after each failure."""
_PAUSE_CAP: Final = 60.0
_STEADY: Final = 10.0
"""A subscription that lasted this many seconds has not failed when it ends."""


class Subscription:
    """The subscription of one connection. Nothing is requested until somebody listens for changes."""

    def __init__(self, client: Client, add_meta: AddMeta) -> None:
        self._client = client
        self._add_meta = add_meta
        self._lists: tuple[ListName, ...] = ()
        self._uris: dict[str, None] = {}
        self._acknowledgement: asyncio.Future[None] | None = None
        self._stream: asyncio.Task[None] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    def begin(self, peer: Peer, hello: ServerInfo) -> None:
        """Subscribe to changes of the lists that the server offers to report, if the client listens to them."""
        self._peer = peer
        peer.call_at_end(self._end)
        if self._client.on_change is not None:
            self._lists = tuple(name for name in _LISTS if hello.offers(name, "listChanged"))
        if self._lists:
            self._keeper = asyncio.get_running_loop().create_task(self._hold_open())

    def _end(self) -> None:
        for task in (self._keeper, self._stream):
            if task is not None:
                task.cancel()

    async def add(self, uri: str) -> None:
        """Subscribe to changes of a resource too. Raises: what `Peer.request` raises."""
        if uri in self._uris:
            return
        self._uris[uri] = None
        try:
            await self._replace()
        except ServerError:
            self._uris.pop(uri, None)
            raise

    async def remove(self, uri: str) -> None:
        if uri in self._uris:
            del self._uris[uri]
            await self._replace()

    @property
    def _is_wanted(self) -> bool:
        return bool(self._lists or self._uris)

    async def _replace(self) -> None:
        """Open a subscription to what is wanted now, and then end the old one, so that no change falls between."""
        async with self._lock:
            old = self._stream
            self._stream = await self._open() if self._is_wanted else None
            if old is not None:
                old.cancel()
                # Its cancellation goes out before anything else is sent.
                await asyncio.wait({old})
        if self._is_wanted and (self._keeper is None or self._keeper.done()):
            self._keeper = asyncio.get_running_loop().create_task(self._hold_open())

    async def _open(self) -> "asyncio.Task[None]":
        """Open a subscription and wait until the server acknowledges it."""
        loop = asyncio.get_running_loop()
        self._acknowledgement = loop.create_future()
        stream = loop.create_task(self._listen())
        seconds = self._peer.limits.call.idle
        try:
            await asyncio.wait({stream, self._acknowledgement}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            stream.cancel()
            raise
        if stream.done():
            await stream
        elif not self._acknowledgement.done():
            stream.cancel()
            raise TimedOut(self._peer.server, "subscriptions/listen", seconds or 0)
        return stream

    async def _listen(self) -> None:
        """Hold the subscription: its request is answered only when it ends."""
        wanted: dict[str, Any] = {f"{name}ListChanged": True for name in self._lists}
        if self._uris:
            wanted["resourceSubscriptions"] = list(self._uris)
        params = self._add_meta({"notifications": wanted})
        await self._peer.request("subscriptions/listen", params, answers.ignore, standing=True)

    def on_acknowledged(self, params: Raw) -> None:
        if self._acknowledgement is not None and not self._acknowledgement.done():
            self._acknowledgement.set_result(None)

    async def _hold_open(self) -> None:
        """Open the subscription again whenever it ends, and report what may have been missed meanwhile."""
        loop = asyncio.get_running_loop()
        failures = 0
        while self._is_wanted:
            began = loop.time()
            try:
                await self._wait_for_end()
            except RpcError as error:
                # It understood and refused: asking again would change nothing.
                self._peer.remark(f"{self._peer.server} does not report changes: {error.message}")
                return
            except ServerError:
                pass  # it broke; try again below
            if failures == self._peer.limits.resumes:
                self._peer.remark(f"{self._peer.server} kept ending its subscription, so changes may go unnoticed.")
                return
            was_steady = loop.time() - began > _STEADY
            failures = 0 if was_steady else failures + 1
            pause = _PAUSE * 2 ** max(0, failures - 1)
            await asyncio.sleep(min(pause, _PAUSE_CAP))
            self._report_missed()

    async def _wait_for_end(self) -> None:
        """Open the subscription if need be, and wait until it has ended. Raises: what ended it."""
        if self._stream is None or self._stream.done():
            await self._replace()
        while (stream := self._stream) is not None:
            await asyncio.wait({stream})
            was_replaced = stream is not self._stream
            if not was_replaced:
                await stream
                return

    def _report_missed(self) -> None:
        """Report everything as changed: nobody knows what did while no subscription was open."""
        if self._client.on_change is not None:
            for name in self._lists:
                self._client.on_change(name)
        if self._client.on_update is not None:
            for uri in self._uris:
                self._client.on_update(uri)
