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

MakeCall: TypeAlias = Callable[[], Awaitable[Result]]


class _Route(Struct, frozen=True):
    """What is the same for every call of a tool, as long as neither the tools nor the rules change.

    It refers back to the host, so it must stay visible to the garbage collector (no `gc=False`): otherwise a host that
    was closed would never be freed.
    """

    entry: CatalogEntry
    server: Server
    verdict: Verdict
    origin: str
    repeatable: bool


class Calls:
    """The calls of one host. None of them can skip the gate."""

    def __init__(self, lookup: Lookup, permissions: HostPermissions) -> None:
        self._lookup = lookup
        self._permissions = permissions
        self._record = permissions.audit.add
        self._pinned: set[Server] = set()
        self._routes: dict[str, _Route] = {}
        self._routes_valid_for: tuple[object, object] = (None, None)
        """The catalog and the policy that the routes were made with."""
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
        # The hottest path of all. With a hundred calls in flight, remembered routes save a third of the CPU.
        limit = timeout if timeout is None or isinstance(timeout, Timeout) else Timeout(None, timeout)
        valid_for = (self._lookup.catalog, self._permissions.gate.policy)
        if valid_for != self._routes_valid_for:
            self._routes_valid_for, self._routes = valid_for, {}
        route = self._routes.get(name if isinstance(name, str) else name.name)
        if route is not None and (route.entry is name or isinstance(name, str)):
            call = ProposedCall(route.entry.server, route.entry.tool, arguments or {}, None, route.origin)
        else:
            route, call, limit = await self._find_route(name, arguments, limit)
        if on_start is not None:
            on_start()
        outcome: CallOutcome = "error"
        began = perf_counter()
        try:  # the same as `AuditLog.record_work`, inline: one more coroutine is felt with many calls in flight
            result = await route.server.call(
                call.tool, arguments, timeout=limit, on_progress=on_progress, repeatable=route.repeatable
            )
            outcome = "is_error" if result.is_error else "ok"
            return result
        finally:
            self._record(call, route.verdict, outcome, perf_counter() - began)

    async def _find_route(
        self, name: str | CatalogEntry, arguments: Mapping[str, Any] | None, limit: Timeout | None
    ) -> tuple[_Route, ProposedCall, Timeout | None]:
        """Find a tool and have a call of it authorized; return what is left of the time for it too.

        The route is remembered if no argument of a later call could make it forbidden.
        """
        loop = asyncio.get_running_loop()
        entry = name if isinstance(name, CatalogEntry) else self._lookup.catalog.get(name)
        if entry is None:
            began = loop.time()
            entry = await self._lookup.find(str(name), began + _total_seconds(limit))
            limit = _subtract(limit, loop.time() - began)
        server = self._lookup.find_owner(entry)
        call = propose_call(entry, server, arguments)
        began = loop.time()
        verdict = await self._authorize_in_time(call, server, _total_seconds(limit))
        limit = _subtract(limit, loop.time() - began)
        route = _Route(entry, server, verdict, server.origin, _is_repeatable(entry))
        if self._may_remember(call):
            self._routes[name if isinstance(name, str) else name.name] = route
        return route, call, limit

    def _may_remember(self, call: ProposedCall) -> bool:
        # A server with several names is checked under each of them, and the tools may have changed during the wait.
        return (
            self._permissions.is_always_allowed(call)
            and not self._lookup.other_names(call.server)
            and self._routes_valid_for[0] is self._lookup.catalog
        )

    async def _authorize_in_time(self, call: ProposedCall, server: Server, seconds: float) -> Verdict:
        """Have a call authorized, within the time for all of it. Raises: Denied, TimedOut, Closed."""
        # What needs no question needs no task either.
        if self._permissions.allow_unasked(call) is not None:
            return await self._authorize(call, server)
        judging = asyncio.ensure_future(self._authorize(call, server))
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

    async def _authorize(self, call: ProposedCall, server: Server) -> Verdict:
        """Let a call through under every name of its server, and pin its tools with the first. Raises: Denied."""
        verdict = await self._permissions.authorize(call)
        # A deny under any name holds, but the person is asked only once.
        for name in self._lookup.other_names(call.server):
            await self._permissions.authorize_alias(replace(call, server=name), verdict)
        if server not in self._pinned:
            self._pinned.add(server)
            await self._permissions.pin_tools(server.approved, server.tools)
        return verdict

    async def call_own_tool(
        self, tool: str, arguments: Mapping[str, Any], work: MakeCall, also: Iterable[str] = ()
    ) -> Result:
        """See `Host.own`."""
        call = ProposedCall(None, tool, arguments, origin="mooring")
        # A rule about one name of the tool, as other programs write it, holds for all of them.
        for name in also:
            await self._permissions.authorize(replace(call, tool=name))
        return await self._permissions.audit.record_work(call, await self._permissions.authorize(call), work())

    async def authorize_polling(self, entry: CatalogEntry, arguments: Mapping[str, Any] | None) -> MakeCall:
        """Authorize repeated calls of a tool, and return the function that makes one.

        A yes of the person covers all of them, so that nobody is asked every few seconds; but each call is held to the
        rules that deny something by then.

        Raises: Denied, Stale.
        """
        server = self._lookup.find_owner(entry)
        call = propose_call(entry, server, arguments)
        verdict = await self._authorize(call, server)

        async def make_call() -> Result:
            owner = self._lookup.find_owner(await self._lookup.find(f"{entry.server}.{entry.tool}", inf))
            for name in (call.server, *self._lookup.other_names(call.server)):
                self._permissions.recheck(replace(call, server=name))
            return await self._permissions.audit.record_work(call, verdict, owner.call(entry.tool, call.arguments))

        return make_call

    def forget(self, server: Server) -> None:
        """Forget everything about a server that is gone."""
        self._pinned.discard(server)
        self._routes = {}

    def close(self) -> None:
        """Fail the calls that wait for a person's answer."""
        if not self._closed.done():
            self._closed.set_result(None)


def propose_call(entry: CatalogEntry, server: Server, arguments: Mapping[str, Any] | None) -> ProposedCall:
    """The call as the gate judges it."""
    return ProposedCall(entry.server, entry.tool, arguments or {}, entry.annotations, server.origin)


def _total_seconds(limit: Timeout | None) -> float:
    if limit is None or limit.total is None:
        return inf
    return limit.total


def _subtract(limit: Timeout | None, seconds: float) -> Timeout | None:
    """What is left of the time for a call."""
    if limit is None or limit.total is None:
        return limit
    return Timeout(limit.idle, max(0.001, limit.total - seconds))


def _is_repeatable(entry: CatalogEntry) -> bool:
    """Whether the server declares that calling the tool twice does no more than calling it once."""
    hints = entry.definition.annotations
    if hints is None:
        return False
    return bool(hints.read_only_hint or hints.idempotent_hint)
