"""What is watched: resources whose server announces changes, and tools and resources that have to be polled.

A watch lives until it is ended, by its id or by its server and target, or until the host closes. While it lives, its
server is kept connected. It reports what changed, never what stayed the same. A server that fails is polled less and
less often, and each failure is reported once. What is denied is no longer watched.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from msgspec import Struct

from mooring.core.conversation.host_event import HostEvent, Updated
from mooring.core.protocol.limits import Sleep
from mooring.core.protocol.result import Reading, Result
from mooring.errors import ConfigError, Denied, MooringError, RpcError

if TYPE_CHECKING:
    from mooring.servers.server import Server
    from mooring.wire.session.session import Session

T = TypeVar("T")

MIN_INTERVAL = 1.0
"""Seconds between two polls at the least; also between two reports of a resource that changes all the time."""
DEFAULT_INTERVAL = 5.0
MAX_BACKOFF = 300.0
"""Seconds between two polls of a server that keeps failing."""
MAX_WATCHES = 64

WatchKind: TypeAlias = Literal["resource", "tool"]
Observe: TypeAlias = Callable[[], Awaitable[Reading | Result]]
"""Reads the resource, or calls the tool, that is watched."""


class PermittedRead(Struct, frozen=True):
    """Reads a resource that somebody may read, each time if they still may."""

    check: Callable[[], None]
    """Raises: Denied."""
    read: Callable[[], Awaitable[Reading]]
    """Raises: Denied; what a session raises."""


class Watch(Struct, frozen=True):
    """Something that is watched: a resource's URI, or a tool's raw name."""

    id: str
    server: str
    target: str
    kind: WatchKind
    interval: float | None = None
    """Seconds between two polls; `None` if the server announces changes."""
    reason: str = ""
    reports_first: bool = False
    """Whether what it is at the beginning is reported, too."""


class _LiveWatch(Struct, frozen=True):
    """A watch, its task, and the very server it observes: a reload may put another one under the same name."""

    watch: Watch
    server: "Server"
    task: asyncio.Task[None]


class _Pace:
    """A steady pace: from the beginning of one turn to that of the next, however long the turns take.

    With a pause after each turn, a clock that is read every second would lose one now and then.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._due = self._loop.time()
        """When the last turn should have begun, or the next one should."""

    def begin_turn(self) -> None:
        # A turn may be early, but not late: what is lost on the way to it would add up.
        self._due = min(self._due, self._loop.time())

    def seconds_until_next(self, interval: float) -> float:
        """How long to wait; turns that were missed are not made up for."""
        now = self._loop.time()
        self._due = max(self._due + interval, now)
        return self._due - now


class Watches:
    """Everything that one host watches."""

    def __init__(self, emit: Callable[[HostEvent], None], sleep: Sleep = asyncio.sleep) -> None:
        self._emit = emit
        self._sleep = sleep
        self._numbers = count(1)
        self._live: dict[str, _LiveWatch] = {}
        self._closed = False

    @property
    def all(self) -> tuple[Watch, ...]:
        return tuple(live.watch for live in self._live.values())

    async def subscribe(
        self, server: "Server", uri: str, reading: PermittedRead, reason: str = "", *, first: bool = False
    ) -> Watch:
        """Report changes of a resource: as the server announces them, or, if it can't, by polling.

        `reading` reads the resource, if that is still permitted.

        Raises: ConfigError if too much is watched; what a session raises.
        """
        self._check_room()
        if not await server.ask(_can_subscribe):
            return await self.poll(server, uri, "resource", reading.read, reason=reason, first=first)
        watch = Watch(self._next_id(), server.name, uri, "resource", None, reason, first)
        changed = asyncio.Event()

        def on_update(updated: str) -> None:
            if is_part_of(updated, uri):
                changed.set()

        release = server.keep_connected(on_update)
        try:
            await server.ask(lambda session: session.subscribe(uri))
        except RpcError:
            release()
            return await self.poll(server, uri, "resource", reading.read, reason=reason, first=first)
        except BaseException:
            # Also a cancellation: a caller who gave up must not keep the server connected forever.
            release()
            raise
        return self._start(watch, server, self._follow(watch, server, reading, changed), release)

    async def poll(
        self,
        server: "Server",
        target: str,
        kind: WatchKind,
        observe: Observe,
        interval: float = DEFAULT_INTERVAL,
        reason: str = "",
        *,
        first: bool = False,
    ) -> Watch:
        """Observe a resource or a tool every `interval` seconds, and report when the outcome changes.

        Raises: ConfigError if the interval is too short, or too much is watched.
        """
        check_interval(interval)
        self._check_room()
        watch = Watch(self._next_id(), server.name, target, kind, interval, reason, first)
        release = server.keep_connected(lambda _: None)
        return self._start(watch, server, self._poll(watch, observe, interval), release)

    async def end(self, *, id: str | None = None, server: str | None = None, target: str | None = None) -> bool:
        """End the watch with this id, or all watches of this target of this server; whether there was any."""
        wanted = [live for live in self._live.values() if _matches(live.watch, id, server, target)]
        for live in wanted:
            await self._stop(live)
            await self._unsubscribe(live.watch, live.server)
        return bool(wanted)

    async def drop(self, server: "Server", reason: str) -> None:
        """End and report all watches of a server that is gone, but none of another server of its name."""
        for live in [live for live in self._live.values() if live.server is server]:
            await self._stop(live)
            self._report_end(live.watch, reason)

    async def close(self) -> None:
        self._closed = True
        for live in tuple(self._live.values()):
            await self._stop(live)

    # --- the life of a watch --------------------------------------------------------------------------------------

    def _check_room(self) -> None:
        if self._closed:
            raise ConfigError("The host is closed, so nothing can be watched.")
        if len(self._live) >= MAX_WATCHES:
            raise ConfigError(f"{MAX_WATCHES} things are being watched already; stop one of them first.")

    def _next_id(self) -> str:
        return f"watch-{next(self._numbers)}"

    def _start(
        self, watch: Watch, server: "Server", work: Coroutine[Any, Any, None], release: Callable[[], None]
    ) -> Watch:
        task = asyncio.get_running_loop().create_task(work, name=f"mooring watch {watch.id}")
        task.add_done_callback(lambda _: release())
        self._live[watch.id] = _LiveWatch(watch, server, task)
        return watch

    async def _stop(self, live: _LiveWatch) -> None:
        self._live.pop(live.watch.id, None)
        live.task.cancel()
        await asyncio.wait({live.task})

    async def _unsubscribe(self, watch: Watch, server: "Server") -> None:
        """Notify a server that nobody listens anymore, without waiting long for its answer."""
        if watch.interval is not None or not server.is_connected:
            return
        if any((other.server, other.target) == (watch.server, watch.target) for other in self.all):
            return
        with suppress(MooringError, TimeoutError):
            async with asyncio.timeout(MIN_INTERVAL):
                await server.ask(lambda session: session.unsubscribe(watch.target))

    # --- servers that announce changes ----------------------------------------------------------------------------

    async def _follow(self, watch: Watch, server: "Server", reading: PermittedRead, changed: asyncio.Event) -> None:
        """Read the resource whenever the server announces a change, or may have missed one while it was away."""
        last: bytes | None = None
        session: Session | None = None
        pace = _Pace()
        try:
            while True:
                changed.clear()
                pace.begin_turn()
                reading.check()
                # Subscribe first, then read. The other way around, a change between the two was announced to nobody.
                session = await self._ensure_subscribed(watch, server, session)
                last = await self._observe_once(watch, reading.read, last)
                if await _is_lost_before(session, changed):
                    session = None
                await self._sleep(pace.seconds_until_next(MIN_INTERVAL))
        except Denied as error:
            self._end_denied(watch, error)

    async def _ensure_subscribed(self, watch: Watch, server: "Server", subscribed: "Session | None") -> "Session":
        """Return the session, subscribing unless it is the one that was; a server that is away is waited for."""

        async def ensure() -> "Session":
            session = await server.session()
            if session is not subscribed:
                await session.subscribe(watch.target)
            return session

        return await keep_trying(ensure, self._sleep)

    async def _observe_once(self, watch: Watch, observe: Observe, last: bytes | None) -> bytes | None:
        try:
            return self._report_change(watch, await observe(), last)
        except Denied:
            raise
        except MooringError as error:
            self._report_error(watch, error)
            return last

    # --- servers that don't ---------------------------------------------------------------------------------------

    async def _poll(self, watch: Watch, observe: Observe, interval: float) -> None:
        last: bytes | None = None
        reported = ""
        pause = interval
        pace = _Pace()
        while True:
            pace.begin_turn()
            try:
                content = await observe()
            except Denied as error:
                self._end_denied(watch, error)
                return
            except MooringError as error:
                if str(error) != reported:
                    self._report_error(watch, error)
                reported = str(error)
                pause = min(pause * 2, max(MAX_BACKOFF, pause))  # an interval may be longer than that
                await self._sleep(pause)
                pace = _Pace()
            else:
                last = self._report_change(watch, content, last)
                reported = ""
                pause = interval
                await self._sleep(pace.seconds_until_next(interval))

    # --- events ---------------------------------------------------------------------------------------------------

    def _report_change(self, watch: Watch, content: Reading | Result, last: bytes | None) -> bytes:
        """Report content that differs from the last; return its digest, which is all that is kept of it."""
        digest = sha256(content.raw or b"").digest()
        if digest != last and (last is not None or watch.reports_first):
            self._emit(Updated(watch.id, watch.server, watch.target, content))
        return digest

    def _report_error(self, watch: Watch, error: MooringError) -> None:
        self._emit(Updated(watch.id, watch.server, watch.target, error=str(error)))

    def _end_denied(self, watch: Watch, error: Denied) -> None:
        """Watch something no longer that was denied meanwhile."""
        self._live.pop(watch.id, None)
        self._report_end(watch, str(error))

    def _report_end(self, watch: Watch, reason: str) -> None:
        self._emit(Updated(watch.id, watch.server, watch.target, error=reason, ended=True))


async def keep_trying(work: Callable[[], Awaitable[T]], sleep: Sleep) -> T:
    """What the work returns, once it raises no error of a server any more; it is tried less and less often."""
    pause = MIN_INTERVAL
    while True:
        try:
            return await work()
        except MooringError:
            await sleep(pause)
            pause = min(pause * 2, MAX_BACKOFF)


def check_interval(interval: float) -> None:
    """Raises: ConfigError if the interval is too short."""
    if not interval >= MIN_INTERVAL:  # `interval < …` would let NaN through
        raise ConfigError(f"The interval must be at least {MIN_INTERVAL:g} s; it is {interval:g} s.")


async def _can_subscribe(session: "Session") -> bool:
    return session.hello.offers("resources", "subscribe")


async def _is_lost_before(session: "Session", changed: asyncio.Event) -> bool:
    """Wait for the end of a session or a change, whichever comes first; whether the session ended."""
    ended = asyncio.ensure_future(session.ended())
    announced = asyncio.ensure_future(changed.wait())
    try:
        await asyncio.wait({ended, announced}, return_when=asyncio.FIRST_COMPLETED)
        return ended.done()
    finally:
        ended.cancel()
        announced.cancel()


def is_part_of(updated: str, uri: str) -> bool:
    """Whether a changed URI is the one that is watched, or below it: the protocol lets a server name a sub-resource."""
    return updated == uri or updated.startswith(f"{uri.rstrip('/')}/")


def _matches(watch: Watch, id: str | None, server: str | None, target: str | None) -> bool:
    if id is not None:
        return watch.id == id
    return server is not None and watch.server == server and target in (None, watch.target)
