"""Subscriptions to resources that several conversations share: a server is asked once, and each hears of changes."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from mooring.core.protocol.era import EraName
from mooring.core.protocol.limits import Sleep
from mooring.errors import MooringError
from mooring.servers.server import Server
from mooring.servers.watch import MIN_INTERVAL, is_part_of, keep_trying
from mooring.wire.session.session import Session

OnUpdated: TypeAlias = Callable[[str], None]
"""Takes the address of a resource that changed."""

_Key: TypeAlias = tuple[Server, str, EraName | None]

_ERAS: tuple[EraName | None, ...] = (None, "handshake", "stateless")


class Subscriptions:
    """The subscriptions of one host."""

    def __init__(self, sleep: Sleep = asyncio.sleep) -> None:
        self._sleep = sleep
        self._shared: dict[_Key, _SharedSubscription] = {}

    async def add(
        self, server: Server, uri: str, on_updated: OnUpdated, era: EraName | None = None
    ) -> Callable[[], None]:
        """Report changes of a resource until the returned function is called, to somebody of an era.

        Raises: as `Server.ask`.
        """
        key = (server, uri, era)
        shared = self._shared.get(key)
        if shared is None:
            shared = self._shared[key] = _SharedSubscription(server, uri, self._sleep, era)
        shared.listeners[on_updated] = None
        try:
            await asyncio.shield(shared.begun)
        except BaseException:
            # Also a cancellation: whoever gave up must not keep the server connected.
            self._remove(key, on_updated)
            raise
        return lambda: self._remove(key, on_updated)

    def _remove(self, key: _Key, on_updated: OnUpdated) -> None:
        shared = self._shared.get(key)
        if shared is None:
            return
        shared.listeners.pop(on_updated, None)
        if not shared.listeners:
            del self._shared[key]
            # Clients of both eras share a session where the server has no other: it is told when the last one leaves.
            server, uri, _ = key
            rest = [self._shared.get((server, uri, era)) for era in _ERAS]
            shared.end(is_last=all(other is None or other.session is not shared.session for other in rest))

    def drop(self, server: Server) -> None:
        """End the subscriptions of a server that is gone."""
        for key in [key for key in self._shared if key[0] is server]:
            self._shared.pop(key).end()

    def close(self) -> None:
        for shared in self._shared.values():
            shared.end()
        self._shared.clear()


class _SharedSubscription:
    """One subscription: renewed whenever the server is connected again."""

    def __init__(self, server: Server, uri: str, sleep: Sleep, era: EraName | None) -> None:
        self.listeners: dict[OnUpdated, None] = {}
        self._server = server
        self._uri = uri
        self._sleep = sleep
        self._era = era
        self.session: Session | None = None
        self._release: Callable[[], None] = lambda: None
        """Lets go of the connection that is kept for this."""
        loop = asyncio.get_running_loop()
        self.begun: asyncio.Future[None] = loop.create_future()
        """Done when the server has accepted the subscription, or raises why it did not."""
        self._task = loop.create_task(self._stay_subscribed(), name=f"mooring subscription to {uri}")

    def end(self, *, is_last: bool = True) -> None:
        """Stop listening. The last on its session has the server told so; nobody waits for its answer."""
        self._task.cancel()
        self._release()
        if not self.begun.done():
            self.begun.cancel()
        if is_last and self.session is not None and not self.session.has_ended:
            self._task = asyncio.get_running_loop().create_task(self._unsubscribe(self.session))

    async def _stay_subscribed(self) -> None:
        try:
            session = await self._subscribe()
        except MooringError as error:
            if not self.begun.done():
                self.begun.set_exception(error)
            return
        if not self.begun.done():
            self.begun.set_result(None)
        while True:
            await session.ended()
            # On the next connection; a server that is away is waited for.
            session = await keep_trying(self._subscribe, self._sleep)
            # Nobody knows what changed while the server was away.
            self._on_update(self._uri)

    async def _subscribe(self) -> Session:
        session = await self._server.session(era=self._era)
        self._release()
        self._release = self._server.keep_connected(self._on_update, session)
        self.session = session
        await session.subscribe(self._uri)
        return session

    async def _unsubscribe(self, session: Session) -> None:
        with suppress(MooringError, TimeoutError):
            async with asyncio.timeout(MIN_INTERVAL):
                await session.unsubscribe(self._uri)

    def _on_update(self, updated: str) -> None:
        if is_part_of(updated, self._uri):
            for listener in tuple(self.listeners):
                listener(updated)
