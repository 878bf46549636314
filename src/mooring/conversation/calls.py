"""Calls of tools: each finds its tool, passes the gate, is made, and is put on record."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.conversation.consent import Consent
from mooring.conversation.lookup import Lookup
from mooring.core.conversation.question import Ask
from mooring.core.conversation.verdict import HELD_BACK, LocalAccess, ProposedCall, Verdict
from mooring.core.definitions.config import describe_origin
from mooring.core.protocol.limits import Timeout, make_timeout
from mooring.core.protocol.request_metadata import NO_METADATA, RequestMetadata
from mooring.core.protocol.result import Progress, Result
from mooring.core.protocol.tool import Hints, Pair, Tool
from mooring.errors import Closed, HeldBack, MooringError, TimedOut, UnknownServer, UnknownTool
from mooring.permissions.audit import CallOutcome
from mooring.permissions.conversation import ConversationPermissions
from mooring.permissions.policy import find_strictest
from mooring.servers.questions import Answerer, FindAnswerer, Work
from mooring.tools.catalog.catalog import CatalogEntry

if TYPE_CHECKING:
    from mooring.servers.server import Server

MakeCall: TypeAlias = Callable[[], Awaitable[Result]]
Approval: TypeAlias = bool | Verdict
"""Whether a call was approved before: the program says so, or this verdict did."""
_STRICTNESS = ("deny", "ask", "allow")


class _Route(Struct, frozen=True):
    """What is the same for every call of a tool, as long as neither the tools nor the rules change.

    It refers back to the host, so it must stay visible to the garbage collector (no `gc=False`): otherwise a host that
    was closed would never be freed.
    """

    entry: CatalogEntry
    server: "Server"
    verdict: Verdict
    origin: str
    repeatable: bool
    verify: Callable[[], object]
    """Raises if the tool is no longer what was approved."""


class Calls:
    """The calls of one conversation. None of them can skip the gate."""

    def __init__(
        self,
        lookup: Lookup,
        permissions: ConversationPermissions,
        consent: Consent,
        ask: Ask | None,
        timeout: Timeout | None = None,
        find_answerer: FindAnswerer | None = None,
    ) -> None:
        """`consent` is the host's: what it approves holds for all. `ask` answers what a server asks while it works on
        one of these calls, unless `find_answerer` finds who does; `timeout` is for a model's calls."""
        self.timeout = timeout
        self._lookup = lookup
        answerer = Answerer(ask)
        self.find_answerer = find_answerer or (lambda: answerer)
        """Finds who answers what a server asks in the course of the current request."""
        self._consent = consent
        self._permissions = permissions
        self._audit = permissions.audit
        self._pinned: set[tuple[Server, str]] = set()
        """The servers whose tools were pinned, with the name that was used."""
        self._routes: dict[str, _Route] = {}
        # The version of the catalog, and the policy, that the routes were made with.
        self._routes_version: object = None
        self._routes_policy: object = None
        self._closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def call(
        self,
        name: str | CatalogEntry,
        arguments: Mapping[str, Any] | None,
        timeout: float | Timeout | None,  # noqa: ASYNC109 - it is passed on, and covers more than this call
        on_progress: Callable[[Progress], None] | None,
        on_start: Callable[[], None] | None,
        approved: Approval = False,
        extras: RequestMetadata = NO_METADATA,
    ) -> Result:
        """See `Host.call`."""
        # The hottest path of all. With a hundred calls in flight, remembered routes save a third of the CPU.
        limit = timeout if timeout is None or isinstance(timeout, Timeout) else make_timeout(timeout)
        route = self._recall_route(name)
        if route is not None:
            call = ProposedCall(route.entry.server, route.entry.tool, arguments or {}, None, route.origin)
        else:
            route, call, limit = await self._find_route(name, arguments, limit, approved)
        if on_start is not None:
            on_start()
        questions = route.server.questions
        answerer = self.find_answerer()
        work = Work(questions, answerer.ask, copy_context(), answerer.list_roots)
        record = self._audit.begin(call, route.verdict)
        outcome: CallOutcome = "error"
        questions.working[work] = None
        # The same as `with work` and `AuditLog.record_work`, inline: with many calls in flight, either one is felt.
        try:
            result = await route.server.call(
                call.tool,
                arguments,
                timeout=limit,
                on_progress=on_progress,
                extras=extras,
                repeatable=route.repeatable,
                verify=route.verify,
                work=work,
            )
            if work.interrupt is not None:
                raise work.interrupt
            outcome = "is_error" if result.is_error else "ok"
            return result
        except MooringError:
            if work.interrupt is not None:
                raise work.interrupt from None
            raise
        finally:
            del questions.working[work]
            self._audit.end(record, outcome)

    async def find(self, name: str | Pair, within: float = inf, *, trusted: float = 0.0) -> CatalogEntry:
        """See `Host.find`."""
        return await self._consent.retry(lambda: self._find(name, within, trusted))

    async def _find(self, name: str | Pair, within: float, trusted: float) -> CatalogEntry:
        until = asyncio.get_running_loop().time() + within
        entry = await self._lookup.find(name, until, trusted)
        self._lookup.find_owner(entry)
        return entry

    def find_origin(self, server: str) -> str:
        """Where a server comes from, in words."""
        found = self._lookup.servers.get(server)
        return "" if found is None else found.origin

    def _recall_route(self, name: str | CatalogEntry) -> _Route | None:
        """The route of an earlier call of the same tool, if it still holds."""
        version, policy = self._lookup.catalog.version, self._permissions.gate.policy
        if version is not self._routes_version or policy is not self._routes_policy:
            self._routes_version, self._routes_policy, self._routes = version, policy, {}
        if isinstance(name, str):
            return self._routes.get(name)
        route = self._routes.get(name.name)
        return route if route is not None and route.entry is name else None

    async def _find_route(
        self, name: str | CatalogEntry, arguments: Mapping[str, Any] | None, limit: Timeout | None, approved: Approval
    ) -> tuple[_Route, ProposedCall, Timeout | None]:
        """See `_find_known_route`; the person is asked about what is not approved yet."""
        try:
            return await self._consent.retry(lambda: self._find_known_route(name, arguments, limit, approved))
        except HeldBack as error:
            self.record_held(error, arguments)
            raise

    def record_held(self, error: HeldBack, arguments: Mapping[str, Any] | None = None) -> None:
        """Record a call that was not made, because its tool is held back."""
        origin = describe_origin(self._lookup.find_approved(error.server).config)
        call = ProposedCall(error.server, error.tool, arguments or {}, None, origin)
        self._audit.add(call, HELD_BACK, "denied")

    async def _find_known_route(
        self, name: str | CatalogEntry, arguments: Mapping[str, Any] | None, limit: Timeout | None, approved: Approval
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
        began = loop.time()
        entry, server, call, verdict = await self._authorize_tool(
            entry, arguments, _total_seconds(limit), approved=approved
        )
        limit = _subtract(limit, loop.time() - began)
        verify = partial(self._lookup.find_owner, entry)
        route = _Route(entry, server, verdict, call.origin, _is_repeatable(entry), verify)
        if self._may_remember(call):
            self._routes[name if isinstance(name, str) else name.name] = route
        return route, call, limit

    async def permit(self, entry: CatalogEntry, arguments: Mapping[str, Any] | None) -> tuple[ProposedCall, Verdict]:
        """Have a call authorized that somebody else makes, or that is made here later as an approved one.

        Only a refusal is put on record.

        Raises: as `_authorize_tool`; NotApproved.
        """
        _, _, call, verdict = await self._consent.retry(lambda: self._authorize_tool(entry, arguments))
        return call, verdict

    def _may_remember(self, call: ProposedCall) -> bool:
        # A server with several names is checked under each of them, and the tools may have changed during the wait.
        return (
            self._permissions.is_always_allowed(call)
            and not self._lookup.other_names(call.server)
            and self._routes_version is self._lookup.catalog.version
        )

    async def _authorize_tool(
        self,
        entry: CatalogEntry,
        arguments: Mapping[str, Any] | None,
        seconds: float = inf,
        *,
        approved: Approval = False,
    ) -> "tuple[CatalogEntry, Server, ProposedCall, Verdict]":
        """Have a call of a tool authorized, and pin the tools of its server as they were when that was asked.

        A server may describe its tools differently while somebody thinks about the answer. Then the answer was not
        about the tool as it is now: it is held back, or asked about again if tools of this server are never pinned.

        Raises: Denied, HeldBack, Stale, TimedOut, Closed.
        """
        loop = asyncio.get_running_loop()
        shown, server = self._lookup.find_current(entry)
        while True:
            began = loop.time()
            version, tools = self._lookup.catalog.version, server.tools
            call = self._propose(shown, server, arguments)
            verdict = await self.authorize(self.list_names(call), seconds, approved=approved)
            if (server, shown.server) not in self._pinned:
                await self._pin(server, shown.server, tools)
            # From here to the sending nothing waits, unless the server has to be connected first: see `verify`.
            if self._lookup.catalog.version is version:
                return shown, server, call, verdict
            asked_about = shown
            shown, server = self._lookup.find_current(shown)
            if shown is asked_about:
                return shown, server, call, verdict
            seconds = max(0.0, seconds - (loop.time() - began))

    async def _pin(self, server: "Server", name: str, tools: tuple[Tool, ...]) -> None:
        """Pin these tools, with the first call that is allowed under a name."""
        self._pinned.add((server, name))
        await self._permissions.pins.pin(self._lookup.find_approved(name), tools, server.instructions)
        if server.tools is not tools:
            # A catalog that was brought up to date meanwhile knows nothing of the pin.
            self._lookup.invalidate(server.name)

    def _propose(self, entry: CatalogEntry, server: "Server", arguments: Mapping[str, Any] | None) -> ProposedCall:
        """The call as the gate judges it."""
        origin = server.origin
        if entry.server != server.name:
            origin = describe_origin(self._lookup.find_approved(entry.server).config)
        return ProposedCall(entry.server, entry.tool, arguments or {}, entry.annotations, origin)

    def list_names(self, call: ProposedCall) -> tuple[ProposedCall, ...]:
        """The same call under every name of its server, beginning with the one that was used."""
        others = self._lookup.other_names(call.server)
        return (call, *(replace(call, server=name) for name in others))

    def judge(self, entry: CatalogEntry, arguments: Mapping[str, Any] | None) -> Verdict:
        """What would become of a call now; nobody is asked. Raises: Stale."""
        try:
            shown, server = self._lookup.find_current(entry)
        except HeldBack:
            return HELD_BACK
        return self._permissions.judge(self.list_names(self._propose(shown, server, arguments)))

    def find_held(self, name: str) -> HeldBack | None:
        """Why a tool that no list shows is held back; `None` if the name means no such tool."""
        try:
            self._lookup.catalog.find(name)
        except HeldBack as error:
            return error
        except (UnknownServer, UnknownTool):
            return None
        return None

    def judge_own_tool(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        also: Iterable[str] = (),
        hints: Hints | None = None,
        access: LocalAccess | None = None,
    ) -> Verdict:
        """What would become of a call of a tool that belongs to no server."""
        return self._permissions.judge(propose_own(tool, arguments, also, hints, access))

    def may_open(self, access: LocalAccess) -> bool:
        """Whether a file may be opened or named as part of something that was permitted: no rule is against reading
        it, and it is none that is always asked about."""
        return self._permissions.gate.policy.may_open(access)

    def judge_polling(self, entry: CatalogEntry, arguments: Mapping[str, Any] | None) -> Verdict:
        """What would become of repeated calls of a tool. Raises: Stale."""
        polls = self._permissions.judge([_propose_polling(entry, arguments)])
        return find_strictest([polls, self.judge(entry, arguments)])

    async def authorize(
        self, calls: Sequence[ProposedCall], seconds: float = inf, *, approved: Approval = False
    ) -> Verdict:
        """Have a call authorized, given under each of its names, within some time.

        One that was `approved` is asked about no more, but a deny holds.

        Raises: Denied, TimedOut, Closed.
        """
        if isinstance(approved, Verdict):
            return self._permissions.accept(calls, approved)
        if approved:
            return self._permissions.accept(calls)
        call, *others = calls
        # What needs no question needs no task either.
        if not others and (verdict := self._permissions.allow_unasked(call)) is not None:
            return verdict
        judging = asyncio.ensure_future(self._permissions.authorize(call, others))
        waited: set[asyncio.Future[Any]] = {judging, self._closed}
        try:
            await asyncio.wait(waited, timeout=None if seconds == inf else seconds, return_when=asyncio.FIRST_COMPLETED)
            if judging.done():
                return judging.result()
        finally:
            judging.cancel()
        if self._closed.done():
            raise Closed(call.server or "Mooring", f"the question about {call.tool}")
        raise TimedOut(call.server or "Mooring", f"{call.tool} (nobody answered the permission question)", seconds)

    async def call_own_tool(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        work: MakeCall,
        also: Iterable[str] = (),
        hints: Hints | None = None,
        access: LocalAccess | None = None,
        approved: bool = False,
    ) -> Result:
        """Run a tool that belongs to no server, if the rules permit it under each of its names.

        `hints` are for a tool that isn't Mooring's own: only one that says it only reads is run in plan mode. `access`
        is what a local tool would touch.

        Raises: Denied; whatever the work raises.
        """
        calls = propose_own(tool, arguments, also, hints, access)
        verdict = await self.authorize(calls, approved=approved)
        return await self._audit.record_work(calls[0], verdict, work)

    async def do_for_server(self, server: "Server", tool: str, work: MakeCall) -> Result:
        """Do something about a server, put on record as a call of a tool of it. Nobody is asked, but a deny holds.

        Raises: Denied; what the work raises.
        """
        call = ProposedCall(server.name, tool, {}, None, server.origin)
        verdict = await self.authorize(self.list_names(call), approved=True)
        return await self._audit.record_work(call, verdict, work)

    async def authorize_polling(
        self, entry: CatalogEntry, arguments: Mapping[str, Any] | None, approved: bool = False
    ) -> MakeCall:
        """Authorize repeated calls of a tool, and return the function that makes one.

        A yes of the person covers all of them, so that nobody is asked every few seconds; but each call is held to the
        rules that deny something by then.

        Raises: Denied, Stale.
        """
        await self.authorize([_propose_polling(entry, arguments)], approved=approved)
        entry, _, call, verdict = await self._authorize_tool(entry, arguments, approved=approved)

        async def make_call() -> Result:
            found = await self._lookup.find((entry.server, entry.tool), inf)
            owner = self._lookup.find_owner(found)
            self._permissions.recheck(*self.list_names(call))
            verify = partial(self._lookup.find_owner, found)
            with owner.questions.working_for(self.find_answerer()) as work:
                answer = partial(owner.call, entry.tool, call.arguments, verify=verify, work=work)
                return await self._audit.record_work(call, verdict, answer)

        return make_call

    def forget(self, server: "Server") -> None:
        """Forget everything about a server that is gone."""
        self._pinned = {pair for pair in self._pinned if pair[0] is not server}
        self._routes = {}

    def close(self) -> None:
        """Fail the calls that wait for a person's answer."""
        if not self._closed.done():
            self._closed.set_result(None)


def propose_own(
    tool: str, arguments: Mapping[str, Any], also: Iterable[str], hints: Hints | None, access: LocalAccess | None
) -> list[ProposedCall]:
    """A call of a tool that belongs to no server, under each of its names."""
    origin = "mooring" if hints is None else "this program"
    call = ProposedCall(None, tool, arguments, hints, origin=origin if access is None else "", access=access)
    # A rule about one name of the tool, as other programs write it, holds for all of them.
    return [call, *(replace(call, tool=name) for name in also)]


_SEVERAL = "it touches several things, and an answer about all of them is for this call only"


async def permit_own_tool(
    calls: Calls,
    tool: str,
    arguments: Mapping[str, Any],
    accesses: Sequence[LocalAccess],
    *,
    also: Sequence[str],
    hints: Hints | None,
) -> tuple[ProposedCall, Verdict]:
    """Have a call of another program's tool authorized, given what it would touch on this machine.

    It is decided and asked about here, and done by that program. What touches several files is asked about once. Only a
    refusal is put on record.

    Raises: Denied, Closed.
    """
    if len(accesses) > 1:
        # An answer about all of them is no rule about the one that is asked about.
        accesses = [replace(access, grant=None, verbatim="", limit=_SEVERAL) for access in accesses]

    def find_strictness(access: LocalAccess) -> int:
        return _STRICTNESS.index(calls.judge_own_tool(tool, arguments, also, hints, access).action)

    strictest, *others = sorted(accesses, key=find_strictness)
    proposed = propose_own(tool, arguments, also, hints, strictest)
    verdict = await calls.authorize(proposed)
    for access in others:
        # Rules may have changed while somebody thought about the answer.
        await calls.authorize(propose_own(tool, arguments, also, hints, access), approved=True)
    return proposed[0], verdict


def _propose_polling(entry: CatalogEntry, arguments: Mapping[str, Any] | None) -> ProposedCall:
    polling = {"server": entry.server, "toolName": entry.tool, "arguments": arguments or {}}
    return ProposedCall(None, "SubscribePolling", polling, origin="mooring")


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
