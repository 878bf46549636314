"""The era without sessions (2026-07-28): every request says by itself who asks, and in which revision.

The methods of the era before are understood here too: `resources/subscribe` and `resources/unsubscribe` change what
is listened for, `logging/setLevel` what is asked of every request, and `ping` asks who is there.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from math import inf
from typing import Any, Final, TypeVar

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder
from msgspec.structs import replace

from mooring.core.hello import EraName, Hello, Implementation
from mooring.core.limits import Timeout
from mooring.core.raw import ABSENT, read_as
from mooring.core.tool import Listing, Rejected, Tool
from mooring.errors import HandshakeError, ProtocolError, RpcError, ServerError, Stage, TimedOut
from mooring.wire.rpc.inbound import Answer
from mooring.wire.rpc.message import HEADER_MISMATCH, UNSUPPORTED_VERSION, encode
from mooring.wire.rpc.mirror import Flaw, mirrors
from mooring.wire.rpc.notes import Note
from mooring.wire.rpc.outbound import OnProgress
from mooring.wire.rpc.peer import FOREVER, Ask, Peer, Read
from mooring.wire.session import answers
from mooring.wire.session.client import Client
from mooring.wire.session.handshake import VERSIONS as OLD_VERSIONS
from mooring.wire.session.listen import Listening
from mooring.wire.session.listing import TOOLS, fetch_all
from mooring.wire.session.task_extension import EXTENSION, STATUS, TaskExtension

T = TypeVar("T")

VERSIONS: Final = ("2026-07-28",)
"""The revisions this era has, newest first."""

_META: Final = "io.modelcontextprotocol/"
_LEVEL: Final = f"{_META}logLevel"
_ROUNDS_OF = ("tools/call", "prompts/get", "resources/read")
_STATE_PAUSE: Final = 0.05
_STATE_PAUSE_CAP: Final = 0.25
_NOTHING = Raw(b"{}")


class NotModern(Exception):
    """The server gives no sign that it belongs to this era."""


class _Discovered(Struct, rename="camel"):
    supported_versions: list[str]
    capabilities: dict[str, Any] = {}
    server_info: Any = None
    instructions: str | None = None
    meta: Any = None


class _Kind(Struct, rename="camel"):
    result_type: str = "complete"


class _Input(Struct):
    method: str
    params: Raw = _NOTHING


class _InputRequired(Struct, rename="camel"):
    input_requests: dict[str, _Input] | None = None
    request_state: Raw = ABSENT


_discovered: Decoder[_Discovered] = Decoder(_Discovered)
_meta = Decoder(dict[str, Raw])
_implementation = Decoder(Implementation)
_kind = Decoder(_Kind)
_input_required = Decoder(_InputRequired)


class Stateless:
    """One connection of this era. `notes` must be among those of the peer it is opened on."""

    name: EraName = "stateless"

    def __init__(self, client: Client) -> None:
        self._answers: dict[str, Answer] = client.answers()
        self._meta = _client_meta(client)
        self._polling = TaskExtension()
        self._listening = Listening(client, self.stamped)
        self._own: dict[str, Callable[[Mapping[str, Any]], Awaitable[None]]] = {
            "resources/subscribe": lambda params: self._listening.add(params["uri"]),
            "resources/unsubscribe": lambda params: self._listening.remove(params["uri"]),
            "logging/setLevel": self._set_level,
        }

    @property
    def notes(self) -> dict[str, Note]:
        """What this era itself listens for."""
        return {STATUS: self._polling.told, **self._listening.notes}

    async def open(self, peer: Peer, until: float) -> Hello:
        """Find out what the server is. Raises: NotModern, HandshakeError, and what `Peer.request` raises."""
        self._peer = peer
        try:
            raw = await self._discover(until)
        except RpcError as error:
            raw = await self._discover_again(error, until)
        hello = _hello(raw)
        self._listening.begin(peer, hello)
        return hello

    def asking(self, peer: Peer) -> Ask:
        return self._ask

    def admitted(self, tools: Listing[Tool]) -> Listing[Tool]:
        """Without those that want arguments repeated in a way that cannot be."""
        if self._peer.mirrors is None:
            return tools
        self._peer.mirrors.clear()
        kept: list[Tool] = []
        rejected = list(tools.rejected)
        for tool in tools.items:
            try:
                if found := mirrors(tool.input_schema):
                    self._peer.mirrors[tool.name] = found
                kept.append(tool)
            except Flaw as flaw:
                rejected.append(Rejected(tool.name, str(flaw)))
        return replace(tools, items=tuple(kept), rejected=tuple(rejected))

    def stamped(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The same parameters, with all that a request must say of itself."""
        return {**params, "_meta": {**params.get("_meta", {}), **self._meta}}

    async def _discover(self, until: float) -> Raw:
        params = self.stamped({})
        return await self._peer.request("server/discover", params, answers.unread, until=until, stage="handshake")

    async def _discover_again(self, error: RpcError, until: float) -> Raw:
        """A server that names the revisions it knows has a say in which; any other error is no sign of this era."""
        known = error.data.get("supported") if isinstance(error.data, dict) else None
        if error.code != UNSUPPORTED_VERSION or not isinstance(known, list):
            raise NotModern from error
        if any(version in known for version in VERSIONS):
            try:
                return await self._discover(until)
            except RpcError as again:
                raise NotModern from again
        if any(version in known for version in OLD_VERSIONS):
            raise NotModern from error
        named = ", ".join(str(version)[:20] for version in known[:10])
        reason = f"it speaks only MCP {named}, none of which is known here; update one of the two"
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
    ) -> T:
        if own := self._own.get(method):
            await own(params)
            return read(self._peer.server, about, _NOTHING)
        if method == "ping":
            method = "server/discover"
        began = asyncio.get_running_loop().time()
        if within.total is not None:
            until = min(until, began + within.total)
        raw = await self._once(method, params, Timeout(within.idle, None), until, stage, on_progress)
        if _kind_of(raw) != "complete":
            raw = await self._rounds(method, params, raw, Timeout(within.idle, None), until, stage, on_progress)
        return read(self._peer.server, about, raw)

    async def _once(
        self, method: str, params: Any, within: Timeout, until: float, stage: Stage, on_progress: OnProgress | None
    ) -> Raw:
        ask = self._peer.request
        try:
            return await ask(
                method, self.stamped(params), answers.unread,
                within=within, until=until, stage=stage, on_progress=on_progress,
            )  # fmt: skip
        except RpcError as error:
            if error.code != HEADER_MISMATCH or method != "tools/call" or self._peer.mirrors is None:
                raise
        # The tool may have changed what it wants repeated; the call was refused before it ran.
        await self._relist(until)
        return await ask(
            method, self.stamped(params), answers.unread,
            within=within, until=until, stage=stage, on_progress=on_progress,
        )  # fmt: skip

    async def _relist(self, until: float) -> None:
        async def fetch(method: str, params: dict[str, Any]) -> Raw:
            return await self._peer.request(method, self.stamped(params), answers.unread, until=until, stage="list")

        self.admitted(await fetch_all(TOOLS, fetch, self._peer.server, self._peer.limits))

    async def _rounds(
        self,
        method: str,
        params: Any,
        raw: Raw,
        within: Timeout,
        until: float,
        stage: Stage,
        on_progress: OnProgress | None,
    ) -> Raw:
        """Give the server what it asks for until it answers."""
        pause = _STATE_PAUSE
        for _ in range(self._peer.limits.rounds):
            match _kind_of(raw):
                case "complete":
                    return raw
                case "task" if method == "tools/call":
                    return await self._polling.finish(self._peer, raw, self.stamped, self._input, within, until)
                case "input_required" if method in _ROUNDS_OF:
                    asked = _shaped(self._peer.server, _input_required, raw)
                case other:
                    reason = f"its answer to {method} is of a kind that is not known here: {other[:50]!r}"
                    raise ProtocolError(self._peer.server, reason, stage=stage)
            more: dict[str, Any] = {} if asked.request_state is ABSENT else {"requestState": asked.request_state}
            if asked.input_requests:
                pause = _STATE_PAUSE
                more["inputResponses"] = await self._input(asked.input_requests, method, until)
            else:
                await asyncio.sleep(pause)
                pause = min(pause * 2, _STATE_PAUSE_CAP)
            raw = await self._once(method, {**params, **more}, within, until, stage, on_progress)
        if _kind_of(raw) == "complete":
            return raw
        reason = f"it asked for more {self._peer.limits.rounds} times before it answered {method}"
        raise ProtocolError(self._peer.server, reason, stage=stage)

    async def _input(self, requests: Mapping[str, _Input], method: str, until: float) -> dict[str, Any]:
        """What the server asks this side for, one after the other: a person may have to answer."""
        if len(requests) > self._peer.limits.inbound:
            raise ProtocolError(self._peer.server, f"it asked for {len(requests)} things at once")
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout_at(None if until == inf else until):
                return {key: await self._answer(request) for key, request in requests.items()}
        except TimeoutError as error:
            raise TimedOut(self._peer.server, method, until - began, may_have_run=True) from error

    async def _answer(self, request: _Input) -> Any:
        server, method = self._peer.server, request.method
        if (answer := self._answers.get(method)) is None:
            raise ProtocolError(server, f"it asked for {method[:100]}, which was not offered")
        try:
            return await answer(request.params)
        except RpcError as error:
            words = f"{server} asked for {method}, which was refused here: {error.message}."
            raise ServerError(server, words, may_have_run=True) from error

    async def _set_level(self, params: Mapping[str, Any]) -> None:
        self._meta[_LEVEL] = params["level"]


def _client_meta(client: Client) -> dict[str, Any]:
    capabilities = {name: value for name, value in client.capabilities.items() if name != "roots"}
    if client.roots is not None:
        capabilities["roots"] = {}
    capabilities["extensions"] = {EXTENSION: {}}
    program = {"name": client.program.name, "version": client.program.version}
    meta = {
        f"{_META}protocolVersion": VERSIONS[0],
        f"{_META}clientInfo": Raw(encode(program)),
        f"{_META}clientCapabilities": Raw(encode(capabilities)),
    }
    return meta if client.on_log is None else {**meta, _LEVEL: "info"}


def _hello(raw: Raw) -> Hello:
    try:
        found = read_as(_discovered, raw)
    except DecodeError as error:
        raise NotModern from error
    version = next((version for version in VERSIONS if version in found.supported_versions), None)
    if version is None:
        raise NotModern
    return Hello(version, found.capabilities, _server_info(raw), found.instructions)


def _server_info(raw: Raw) -> Implementation:
    """Who the server says it is: for show only, so that any nonsense will do."""
    try:
        parts = read_as(_meta, raw)
        inner = read_as(_meta, parts["_meta"]) if "_meta" in parts else {}
        said = inner.get(f"{_META}serverInfo") or parts.get("serverInfo", _NOTHING)
        return read_as(_implementation, said)
    except DecodeError:
        return Implementation()


def _kind_of(raw: Raw) -> str:
    try:
        return _kind.decode(raw).result_type
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return "complete"


def _shaped(server: str, decoder: Decoder[T], raw: Raw) -> T:
    try:
        return read_as(decoder, raw)
    except DecodeError as error:
        raise ProtocolError(server, f"what it asks for makes no sense: {error}") from error
