"""The one subscription of a connection in the stateless era: kept open, and kept up to date with what is wanted."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from msgspec import Raw

from mooring.core.protocol.server_info import ServerInfo
from mooring.errors import RpcError, ServerError, TimedOut
from mooring.wire.rpc.peer import Peer
from mooring.wire.session import answers
from mooring.wire.session.client import Client, ListName
from mooring.wire.session.dialect import NotificationListener

AddMeta: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Adds what every request must carry to its parameters."""

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

    @property
    def notes(self) -> dict[str, NotificationListener]:
        return {_ACKNOWLEDGED: self._on_acknowledged}

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

    def _on_acknowledged(self, params: Raw) -> None:
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
