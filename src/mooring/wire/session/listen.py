"""What a server may say unasked in the era without sessions: one subscription, kept open and kept up to date."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from msgspec import Raw

from mooring.core.hello import Hello
from mooring.errors import RpcError, ServerError, TimedOut
from mooring.wire.rpc.notes import Note
from mooring.wire.rpc.peer import Peer
from mooring.wire.session import answers
from mooring.wire.session.client import Client, List

Stamp: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]

_ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
_LISTS: tuple[List, ...] = ("tools", "resources", "prompts")
_PAUSE: Final = 1.0
_PAUSE_CAP: Final = 60.0
_STEADY: Final = 10.0
"""A subscription that lived so long was no failure."""


class Listening:
    """The subscription of one connection. Nothing is asked for until somebody wants to hear of something."""

    def __init__(self, client: Client, stamp: Stamp) -> None:
        self._client = client
        self._stamp = stamp
        self._lists: tuple[List, ...] = ()
        self._uris: dict[str, None] = {}
        self._agreed: asyncio.Future[None] | None = None
        self._stream: asyncio.Task[None] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    @property
    def notes(self) -> dict[str, Note]:
        return {_ACKNOWLEDGED: self._acknowledged}

    def begin(self, peer: Peer, hello: Hello) -> None:
        """Listen for changes of the lists, where both sides care."""
        self._peer = peer
        peer.at_end(self._end)
        if self._client.on_change is not None:
            self._lists = tuple(name for name in _LISTS if hello.offers(name, "listChanged"))
        if self._lists:
            self._keeper = asyncio.get_running_loop().create_task(self._keep())

    def _end(self) -> None:
        for task in (self._keeper, self._stream):
            if task is not None:
                task.cancel()

    async def add(self, uri: str) -> None:
        """Listen for changes of a resource too. Raises: what `Peer.request` raises."""
        if uri not in self._uris:
            self._uris[uri] = None
            try:
                await self._ask_anew()
            except ServerError:
                self._uris.pop(uri, None)
                raise

    async def remove(self, uri: str) -> None:
        if uri in self._uris:
            del self._uris[uri]
            await self._ask_anew()

    @property
    def _wanted(self) -> bool:
        return bool(self._lists or self._uris)

    async def _ask_anew(self) -> None:
        """One subscription takes the place of another: the old one ends when the new one is agreed on."""
        async with self._turn:
            old, self._stream = self._stream, await self._open() if self._wanted else None
            if old is not None:
                old.cancel()
                await asyncio.wait({old})
        if self._wanted and (self._keeper is None or self._keeper.done()):
            self._keeper = asyncio.get_running_loop().create_task(self._keep())

    async def _open(self) -> "asyncio.Task[None]":
        loop = asyncio.get_running_loop()
        self._agreed = loop.create_future()
        stream = loop.create_task(self._listen())
        seconds = self._peer.limits.call.idle
        try:
            await asyncio.wait({stream, self._agreed}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            stream.cancel()
            raise
        if stream.done():
            await stream
        elif not self._agreed.done():
            stream.cancel()
            raise TimedOut(self._peer.server, "subscriptions/listen", seconds or 0)
        return stream

    async def _listen(self) -> None:
        wanted: dict[str, Any] = {f"{name}ListChanged": True for name in self._lists}
        if self._uris:
            wanted["resourceSubscriptions"] = list(self._uris)
        params = self._stamp({"notifications": wanted})
        await self._peer.request("subscriptions/listen", params, answers.nothing, standing=True)

    def _acknowledged(self, params: Raw) -> None:
        if self._agreed is not None and not self._agreed.done():
            self._agreed.set_result(None)

    async def _keep(self) -> None:
        """Open the subscription again whenever it ends, and say what may have been missed meanwhile."""
        loop = asyncio.get_running_loop()
        failures = 0
        while self._wanted:
            began = loop.time()
            try:
                await self._heard()
            except RpcError as error:
                self._peer.remark(f"{self._peer.server} will not tell of changes: {error.message}")
                return
            except ServerError:
                pass
            if failures == self._peer.limits.resumes:
                self._peer.remark(f"{self._peer.server} kept ending its subscription: changes may go unnoticed.")
                return
            failures = 0 if loop.time() - began > _STEADY else failures + 1
            await asyncio.sleep(min(_PAUSE * 2 ** max(0, failures - 1), _PAUSE_CAP))
            self._missed()

    async def _heard(self) -> None:
        """Wait until the subscription in force has ended, by whichever name it goes by then."""
        if self._stream is None or self._stream.done():
            await self._ask_anew()
        while (stream := self._stream) is not None:
            await asyncio.wait({stream})
            if stream is self._stream:
                await stream
                return

    def _missed(self) -> None:
        if self._client.on_change is not None:
            for name in self._lists:
                self._client.on_change(name)
        if self._client.on_update is not None:
            for uri in self._uris:
                self._client.on_update(uri)
