"""Calls of tools: each finds its tool, passes the gate, is made, and is put on record."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from math import inf
from time import perf_counter
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.limits import Timeout
from mooring.core.result import Progress, Result
from mooring.errors import Closed, TimedOut
from mooring.host.lookup import Lookup
from mooring.permissions.audit import CallOutcome
from mooring.permissions.host_permissions import HostPermissions
from mooring.permissions.verdict import ProposedCall, Verdict
from mooring.servers.server import Server
from mooring.tools.catalog.catalog import CatalogEntry

Look: TypeAlias = Callable[[], Awaitable[Result]]


class _Way(Struct, frozen=True):
    """What is the same for every call of a tool, as long as neither the tools nor the rules change.

    It leads back to the host, so the collector must see it: a host that was closed would stay for ever.
    """

    entry: CatalogEntry
    server: Server
    verdict: Verdict
    origin: str
    harmless: bool


class Calls:
    """The calls of one host. Nothing of it can skip the gate."""

    def __init__(self, lookup: Lookup, permissions: HostPermissions) -> None:
        self._lookup = lookup
        self._permissions = permissions
        self._record = permissions.audit.add
        self._pinned: set[Server] = set()
        self._ways: dict[str, _Way] = {}
        self._known: tuple[object, object] = (None, None)
        self._closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def call(
        self,
        name: str | CatalogEntry,
        arguments: Mapping[str, Any] | None,
        timeout: float | Timeout | None,  # noqa: ASYNC109 - it is passed on, and covers more than this call
        on_progress: Callable[[Progress], None] | None,
        on_start: Callable[[], None] | None,
    ) -> Result:
        """See `Host.call`."""
        within = timeout if timeout is None or isinstance(timeout, Timeout) else Timeout(None, timeout)
        known = (self._lookup.catalog, self._permissions.gate.policy)
        if known != self._known:
            self._known, self._ways = known, {}
        way = self._ways.get(name if isinstance(name, str) else name.name)
        if way is not None and (way.entry is name or isinstance(name, str)):
            call = ProposedCall(way.entry.server, way.entry.tool, arguments or {}, None, way.origin)
        else:
            way, call, within = await self._found(name, arguments, within)
        if on_start is not None:
            on_start()
        outcome: CallOutcome = "error"
        began = perf_counter()
        try:  # as `AuditLog.record_work`, in line: a coroutine more would be felt with many calls under way
            result = await way.server.call(
                call.tool, arguments, within=within, on_progress=on_progress, harmless=way.harmless
            )
            outcome = "is_error" if result.is_error else "ok"
            return result
        finally:
            self._record(call, way.verdict, outcome, perf_counter() - began)

    async def _found(
        self, name: str | CatalogEntry, arguments: Mapping[str, Any] | None, within: Timeout | None
    ) -> tuple[_Way, ProposedCall, Timeout | None]:
        """The way to a tool, once a call of it was let through; known from then on where no argument could bar it."""
        entry = name if isinstance(name, CatalogEntry) else self._lookup.catalog.get(name)
        if entry is None:
            began = asyncio.get_running_loop().time()
            entry = await self._lookup.find(str(name), began + _most(within))
            within = _less(within, asyncio.get_running_loop().time() - began)
        server = self._lookup.owner(entry)
        call = about(entry, server, arguments)
        began = asyncio.get_running_loop().time()
        verdict = await self._judged(call, server, _most(within))
        within = _less(within, asyncio.get_running_loop().time() - began)
        way = _Way(entry, server, verdict, server.origin, _harmless(entry))
        if (
            self._permissions.is_always_allowed(call)
            and not self._lookup.others(entry.server)
            and self._known[0] is self._lookup.catalog
        ):
            self._ways[name if isinstance(name, str) else name.name] = way
        return way, call, within

    def close(self) -> None:
        """Whoever waits for an answer whether a call may be made gets none any more."""
        if not self._closed.done():
            self._closed.set_result(None)

    async def _judged(self, call: ProposedCall, server: Server, seconds: float) -> Verdict:
        """What lets a call through, in the time there is for all of it. Raises: Denied, TimedOut, Closed."""
        if self._permissions.allow_unasked(call) is not None:
            return await self._passed(call, server)
        judging = asyncio.ensure_future(self._passed(call, server))
        waited: set[asyncio.Future[Any]] = {judging, self._closed}
        try:
            await asyncio.wait(waited, timeout=None if seconds == inf else seconds, return_when=asyncio.FIRST_COMPLETED)
            if judging.done():
                return judging.result()
        finally:
            judging.cancel()
        if self._closed.done():
            raise Closed(server.name, f"{call.tool} was allowed")
        raise TimedOut(server.name, f"{call.tool}, for nobody said whether it may be called,", seconds)

    async def own(self, tool: str, arguments: Mapping[str, Any], work: Look, also: Iterable[str] = ()) -> Result:
        """See `Host.own`."""
        call = ProposedCall(None, tool, arguments, origin="mooring")
        for name in also:
            await self._permissions.authorize(replace(call, tool=name))
        return await self._permissions.audit.record_work(call, await self._permissions.authorize(call), work())

    async def looking(self, entry: CatalogEntry, arguments: Mapping[str, Any] | None) -> Look:
        """Let a tool be called again and again, and return what calls it: each time only if no rule denies it by then.

        Raises: Denied, Stale.
        """
        server = self._lookup.owner(entry)
        call = about(entry, server, arguments)
        verdict = await self._passed(call, server)

        async def look() -> Result:
            owner = self._lookup.owner(await self._lookup.find(f"{entry.server}.{entry.tool}", inf))
            for name in (call.server, *self._lookup.others(call.server)):
                self._permissions.recheck(replace(call, server=name))
            return await self._permissions.audit.record_work(call, verdict, owner.call(entry.tool, call.arguments))

        return look

    def forget(self, server: Server) -> None:
        """A server is gone."""
        self._pinned.discard(server)
        self._ways = {}

    async def _passed(self, call: ProposedCall, server: Server) -> Verdict:
        """Let a call through under every name of its server, and pin its tools with the first. Raises: Denied."""
        verdict = await self._permissions.authorize(call)
        for name in self._lookup.others(call.server):
            await self._permissions.authorize_alias(replace(call, server=name), verdict)
        if server not in self._pinned:
            self._pinned.add(server)
            await self._permissions.pin_tools(server.approved, server.tools)
        return verdict


def about(entry: CatalogEntry, server: Server, arguments: Mapping[str, Any] | None) -> ProposedCall:
    """What the gate is to judge."""
    return ProposedCall(entry.server, entry.tool, arguments or {}, entry.annotations, server.origin)


def _most(within: Timeout | None) -> float:
    return inf if within is None or within.total is None else within.total


def _less(within: Timeout | None, seconds: float) -> Timeout | None:
    """What is left of the time for a call once so many seconds of it are gone."""
    if within is None or within.total is None:
        return within
    return Timeout(within.idle, max(0.001, within.total - seconds))


def _harmless(entry: CatalogEntry) -> bool:
    """Whether its server says that calling it twice is no worse than once."""
    hints = entry.definition.annotations
    return hints is not None and bool(hints.read_only_hint or hints.idempotent_hint)
