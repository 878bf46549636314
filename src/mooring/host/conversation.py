"""What one conversation asks of a host's servers. Its questions are its own; the servers are everybody's."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from math import inf
from typing import Any

from mooring.core.conversation.event import Event
from mooring.core.conversation.question import Ask
from mooring.core.conversation.verdict import LocalAccess, Verdict
from mooring.core.protocol.limits import Timeout
from mooring.core.protocol.request_metadata import NO_EXTRAS, CallExtras
from mooring.core.protocol.result import Completion, FilledPrompt, Progress, Reading, Result
from mooring.core.protocol.skill import MAIN_FILE, FoundSkills, OfferedSkill
from mooring.core.protocol.tool import Hints, Pair
from mooring.errors import ConfigError, HeldBack
from mooring.host.calls import Calls
from mooring.host.consent import Consent
from mooring.host.feed import Feed
from mooring.host.lookup import Lookup
from mooring.host.requests import POLL, READ, SUBSCRIBE, Requests
from mooring.host.skills import SkillRequests
from mooring.permissions.conversation import ConversationPermissions
from mooring.servers.items import Item
from mooring.servers.questions import FindAnswerer
from mooring.servers.server import Server
from mooring.servers.watch import DEFAULT_INTERVAL, Watch, Watches, check_interval
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.wire.session.session import Session

_READING_TOOLS = {tools[0]: tools for tools in (READ, SUBSCRIBE, POLL)}
"""The names under which a rule may speak of each of Mooring's tools that read addresses."""


def _do_nothing() -> None:
    return


class ConversationHost:
    """The host as one conversation sees it. `Host` explains what each method does."""

    def __init__(
        self,
        lookup: Lookup,
        watches: Watches,
        feed: Feed,
        permissions: ConversationPermissions,
        consent: Consent,
        ask: Ask | None,
        timeout: Timeout | None = None,
        find_answerer: FindAnswerer | None = None,
    ) -> None:
        """`consent` is the host's: what it approves holds for all. `ask` answers what servers ask while they work for
        this conversation, unless `find_answerer` finds who does; `timeout` is for calls that name none."""
        self.calls = Calls(lookup, permissions, consent, ask, find_answerer)
        self._consent = consent
        self._requests = Requests(lookup, permissions, self.calls)
        self._skills = SkillRequests(lookup, self._requests)
        self._lookup = lookup
        self._watches = watches
        self._timeout = timeout
        self.events: Callable[[], AsyncIterator[Event]] = feed.listen
        self.server: Callable[[str], Server] = lookup.server

    def close(self) -> None:
        """Fail the calls that wait for a person's answer."""
        self.calls.close()

    def origin(self, server: str) -> str:
        found = self._lookup.servers.get(server)
        return "" if found is None else found.origin

    # --- tools ----------------------------------------------------------------------------------------------------

    async def call(
        self,
        name: CatalogEntry,
        arguments: Mapping[str, Any],
        *,
        approved: bool = False,
        extras: CallExtras = NO_EXTRAS,
        on_start: Callable[[], None],
        on_progress: Callable[[Progress], None],
    ) -> Result:
        return await self.calls.call(name, arguments, self._timeout, on_progress, on_start, approved, extras)

    def may(self, entry: CatalogEntry, arguments: Mapping[str, Any]) -> Verdict:
        """What would become of a call, without making it; nobody is asked. Raises: Stale."""
        return self.calls.judge(entry, arguments)

    def find_held(self, name: str) -> HeldBack | None:
        return self.calls.find_held(name)

    def may_own(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        also: Iterable[str] = (),
        hints: Hints | None = None,
        access: LocalAccess | None = None,
    ) -> Verdict:
        return self.calls.judge_own_tool(tool, arguments, also, hints, access)

    def may_open(self, access: LocalAccess) -> bool:
        return self.calls.may_open(access)

    def may_read(self, tool: str, server: str, uri: str, *, linked: bool) -> Verdict:
        return self._requests.judge_reading(_READING_TOOLS[tool], server, uri, linked)

    def may_poll(self, entry: CatalogEntry, arguments: Mapping[str, Any]) -> Verdict:
        return self.calls.judge_polling(entry, arguments)

    async def own(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        work: Callable[[], Awaitable[Result]],
        *,
        also: Iterable[str] = (),
        hints: Hints | None = None,
        access: LocalAccess | None = None,
        approved: bool = False,
    ) -> Result:
        return await self.calls.call_own_tool(tool, arguments, work, also, hints, access, approved)

    async def find(self, name: str | Pair, within: float = inf, *, trusted: float = 0.0) -> CatalogEntry:
        return await self._consent.retry(lambda: self._find(name, within, trusted))

    async def _find(self, name: str | Pair, within: float, trusted: float) -> CatalogEntry:
        until = asyncio.get_running_loop().time() + within
        entry = await self._lookup.find(name, until, trusted)
        self._lookup.find_owner(entry)
        return entry

    # --- what else servers have -----------------------------------------------------------------------------------

    async def resources(self, server: str | None = None) -> list[Item]:
        return await self._requests.list_items(server, "resources", Session.list_resources)

    async def templates(self, server: str | None = None) -> list[Item]:
        return await self._requests.list_items(server, "templates", Session.list_templates)

    async def prompts(self, server: str | None = None) -> list[Item]:
        return await self._requests.list_items(server, "prompts", Session.list_prompts)

    async def list_skills(self) -> FoundSkills:
        return await self._skills.list_all()

    def list_known_skills(self) -> FoundSkills:
        return self._skills.list_known()

    async def find_skill(self, name: str, has_server: Callable[[str], bool]) -> OfferedSkill | None:
        return await self._skills.find(name, has_server)

    async def read_skill(self, offered: OfferedSkill, path: str = MAIN_FILE) -> str:
        return await self._skills.read(offered, path)

    async def read(
        self,
        server: str,
        uri: str,
        *,
        linked: bool = False,
        approved: bool = False,
        on_start: Callable[[], None] = _do_nothing,
        extras: CallExtras = NO_EXTRAS,
    ) -> Reading:
        return await self._requests.read(
            server, uri, linked=linked, approved=approved, on_start=on_start, extras=extras
        )

    async def prompt(
        self, server: str, name: str, arguments: Mapping[str, str] | None = None, extras: CallExtras = NO_EXTRAS
    ) -> FilledPrompt:
        return await self._requests.fill_prompt(server, name, arguments, extras)

    async def complete(
        self,
        server: str,
        ref: Mapping[str, str],
        argument: str,
        value: str,
        context: Mapping[str, str] | None = None,
        extras: CallExtras = NO_EXTRAS,
    ) -> Completion:
        return await self._requests.complete(server, ref, argument, value, context, extras)

    # --- watching -------------------------------------------------------------------------------------------------

    async def subscribe(
        self,
        server: str,
        uri: str,
        *,
        reason: str = "",
        linked: bool = False,
        approved: bool = False,
        on_start: Callable[[], None] = _do_nothing,
    ) -> Watch:
        reading = await self._requests.permit_watching(SUBSCRIBE, server, uri, linked, approved)
        on_start()
        return await self._watches.subscribe(self.server(server), uri, reading, reason)

    async def poll(
        self,
        server: str,
        *,
        uri: str | None = None,
        tool: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        interval: float = DEFAULT_INTERVAL,
        reason: str = "",
        linked: bool = False,
        approved: bool = False,
        on_start: Callable[[], None] = _do_nothing,
    ) -> Watch:
        if (uri is None) == (tool is None):
            raise ConfigError("Say what to watch: the URI of a resource, or the name of a tool.")
        check_interval(interval)
        watches = self._watches
        if uri is not None:
            reading = await self._requests.permit_watching(POLL, server, uri, linked, approved)
            on_start()
            return await watches.poll(self.server(server), uri, "resource", reading.read, interval, reason)
        assert tool is not None  # one of the two is given
        entry = await self.find((self._lookup.find_name(server), tool))
        call = await self.calls.authorize_polling(entry, arguments, approved)
        on_start()
        return await watches.poll(self.server(server), entry.tool, "tool", call, interval, reason)

    async def permit_subscription(self, server: str, uri: str, linked: bool) -> Server:
        """The server, if changes of one of its resources may be reported. Raises: as `subscribe`."""
        await self._requests.permit_watching(SUBSCRIBE, server, uri, linked)
        return self.server(server)

    async def unsubscribe(self, id: str | None = None, *, server: str | None = None, target: str | None = None) -> bool:
        return await self._watches.end(id=id, server=server, target=target)
