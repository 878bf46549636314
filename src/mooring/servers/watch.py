"""What is watched: resources that a server tells of, and, where it does not, tools and resources that are looked at.

A watch lives until it is ended, by its id or by its server and target, or until the host closes. While it lives its
server is kept connected. It says what changed, never what stayed the same; a server that fails is looked at less and
less often, and a failure is told once. What is denied is watched no longer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from hashlib import sha256
from itertools import count
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring.core.event import Event, Updated
from mooring.core.result import Reading, Result
from mooring.errors import ConfigError, Denied, MooringError, RpcError
from mooring.servers.server import Server
from mooring.wire.session.session import Session

FLOOR, USUAL, CEILING = 1.0, 5.0, 300.0
"""Seconds between two looks: the least, the usual, and the most that failures lead to."""
MOST = 64
"""So many things are watched at once."""

Look: TypeAlias = Callable[[], Awaitable[Reading | Result]]
Sleep: TypeAlias = Callable[[float], Awaitable[object]]


class Watch(Struct, frozen=True):
    """Something that is watched: a resource's address, or a tool's raw name."""

    id: str
    server: str
    target: str
    kind: Literal["resource", "tool"]
    interval: float | None = None
    """Seconds between two looks; `None` where the server tells."""
    reason: str = ""


class _Live(Struct, frozen=True):
    """A watch, the very server it looks at, and what looks."""

    watch: Watch
    server: Server
    task: asyncio.Task[None]


class Watches:
    """Everything that one host watches."""

    def __init__(self, emit: Callable[[Event], None], sleep: Sleep = asyncio.sleep) -> None:
        self._emit = emit
        self._sleep = sleep
        self._numbers = count(1)
        self._live: dict[str, _Live] = {}
        self._closed = False

    @property
    def all(self) -> tuple[Watch, ...]:
        return tuple(live.watch for live in self._live.values())

    async def subscribe(self, server: Server, uri: str, reason: str = "") -> Watch:
        """Hear of changes to a resource: from the server, or, where it cannot tell, by looking now and then.

        Raises: ConfigError where too much is watched; what a session raises.
        """
        self._room()
        if not await server.ask(_tells):
            return await self.poll(server, uri=uri, reason=reason)
        watch = Watch(self._id(), server.name, uri, "resource", None, reason)
        told = asyncio.Event()
        release = server.hold(lambda changed: told.set() if _concerns(changed, uri) else None)
        try:
            await server.ask(lambda session: session.subscribe(uri))
        except RpcError:
            release()
            return await self.poll(server, uri=uri, reason=reason)
        except BaseException:  # nobody may be waiting any more
            release()
            raise
        return self._begin(watch, server, self._listen(watch, server, told), release)

    async def poll(
        self,
        server: Server,
        *,
        uri: str | None = None,
        tool: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        interval: float = USUAL,
        reason: str = "",
        call: Look | None = None,
    ) -> Watch:
        """Look at a resource or call a tool every `interval` seconds, and tell when what comes back is another.

        `call` makes the call in place of the server itself, for whoever must let it pass a gate.

        Raises: ConfigError where neither or both are named, the interval is too short, or too much is watched.
        """
        if (uri is None) == (tool is None):
            raise ConfigError("Name what to watch: a resource by its address, or a tool by its name.")
        if not interval >= FLOOR:
            raise ConfigError(f"The interval should be at least {FLOOR:g} s; it is {interval:g} s.")
        self._room()
        target = uri if uri is not None else tool or ""
        kind: Literal["resource", "tool"] = "resource" if uri is not None else "tool"
        look = call or (_reading(server, target) if kind == "resource" else _calling(server, target, arguments))
        watch = Watch(self._id(), server.name, target, kind, interval, reason)
        return self._begin(watch, server, self._look(watch, look), server.hold(lambda _: None))

    async def end(self, *, id: str | None = None, server: str | None = None, target: str | None = None) -> bool:
        """End what goes by this id, or all that watches this target of this server; whether there was any."""
        wanted = [live for live in self._live.values() if _meant(live.watch, id, server, target)]
        for live in wanted:
            await self._stop(live)
            await self._leave(live.watch, live.server)
        return bool(wanted)

    async def drop(self, server: Server, reason: str) -> None:
        """End all that watches a server that is gone, and say so."""
        for live in [live for live in self._live.values() if live.server is server]:
            await self._stop(live)
            self._emit(Updated(live.watch.id, server.name, live.watch.target, error=reason, ended=True))

    async def close(self) -> None:
        self._closed = True
        for live in tuple(self._live.values()):
            await self._stop(live)

    async def _stop(self, live: "_Live") -> None:
        self._live.pop(live.watch.id, None)
        live.task.cancel()
        await asyncio.wait({live.task})

    async def _leave(self, watch: Watch, server: Server) -> None:
        """Have a server tell no more of what nobody listens to; it is not waited for long."""
        others = [other for other in self.all if (other.server, other.target) == (watch.server, watch.target)]
        if watch.interval is None and server.is_connected and not others:
            with suppress(MooringError, TimeoutError):
                async with asyncio.timeout(FLOOR):
                    await server.ask(lambda session: session.unsubscribe(watch.target))

    def _begin(
        self, watch: Watch, server: Server, work: Coroutine[Any, Any, None], release: Callable[[], None]
    ) -> Watch:
        task = asyncio.get_running_loop().create_task(work, name=f"mooring watch {watch.id}")
        task.add_done_callback(lambda _: release())
        self._live[watch.id] = _Live(watch, server, task)
        return watch

    async def _listen(self, watch: Watch, server: Server, told: asyncio.Event) -> None:
        """Read the resource whenever the server says that it changed, or may have changed while it was away.

        It is read once the server has agreed to tell: what changes between the two is missed by nobody.
        """
        last: bytes | None = None
        session: Session | None = None
        look = _reading(server, watch.target)
        while True:
            told.clear()
            session = await self._subscribed(watch, server, session)
            last = await self._tell(watch, look, last)
            gone = asyncio.ensure_future(session.ended())
            heard = asyncio.ensure_future(told.wait())
            try:
                await asyncio.wait({gone, heard}, return_when=asyncio.FIRST_COMPLETED)
                session = None if gone.done() else session
            finally:
                gone.cancel()
                heard.cancel()
            await self._sleep(FLOOR)  # what changes all the time is told of once a second

    async def _subscribed(self, watch: Watch, server: Server, before: Session | None) -> Session:
        """The session, subscribed to the resource as it may be from before; a server that is away is waited for."""
        pause = FLOOR
        while True:
            try:
                session = await server.session()
                if session is not before:
                    await session.subscribe(watch.target)
            except MooringError:
                await self._sleep(pause)
                pause = min(pause * 2, CEILING)
            else:
                return session

    async def _look(self, watch: Watch, look: Look) -> None:
        last: bytes | None = None
        failed, pause = "", watch.interval or USUAL
        while True:
            try:
                content = await look()
            except Denied as error:
                self._live.pop(watch.id, None)
                self._emit(Updated(watch.id, watch.server, watch.target, error=str(error), ended=True))
                return
            except MooringError as error:
                if str(error) != failed:
                    self._emit(Updated(watch.id, watch.server, watch.target, error=str(error)))
                failed, pause = str(error), min(pause * 2, max(CEILING, pause))
            else:
                last = self._compare(watch, content, last)
                failed, pause = "", watch.interval or USUAL
            await self._sleep(pause)

    async def _tell(self, watch: Watch, look: Look, last: bytes | None) -> bytes | None:
        try:
            return self._compare(watch, await look(), last)
        except MooringError as error:
            self._emit(Updated(watch.id, watch.server, watch.target, error=str(error)))
            return last

    def _compare(self, watch: Watch, content: Reading | Result, last: bytes | None) -> bytes:
        now = sha256(content.raw).digest()
        if last is not None and now != last:
            self._emit(Updated(watch.id, watch.server, watch.target, content))
        return now

    def _room(self) -> None:
        if self._closed:
            raise ConfigError("The host is closed: nothing can be watched any more.")
        if len(self._live) >= MOST:
            raise ConfigError(f"{MOST} things are watched already; end one of them first.")

    def _id(self) -> str:
        return f"watch-{next(self._numbers)}"


async def _tells(session: Session) -> bool:
    return session.hello.offers("resources", "subscribe")


def _reading(server: Server, uri: str) -> Look:
    async def look() -> Reading:
        return await server.ask(lambda session: session.read_resource(uri))

    return look


def _calling(server: Server, tool: str, arguments: Mapping[str, Any] | None) -> Look:
    async def look() -> Result:
        return await server.call(tool, arguments)

    return look


def _concerns(changed: str, uri: str) -> bool:
    """Whether a change of one address is one of the other: a server may tell of a part of what was asked for."""
    return changed == uri or changed.startswith(f"{uri.rstrip('/')}/")


def _meant(watch: Watch, id: str | None, server: str | None, target: str | None) -> bool:
    if id is not None:
        return watch.id == id
    return server is not None and watch.server == server and target in (None, watch.target)
