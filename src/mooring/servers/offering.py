"""What one server offers, as far as it is known: kept, listed anew when it changes, and each change told."""

from collections.abc import Callable
from time import time
from typing import Any

from msgspec.structs import replace

from mooring.core.event import Event, ListChanged, ToolsChanged
from mooring.core.offer import Offer
from mooring.core.tool import Tool
from mooring.wire.session.client import ListName
from mooring.wire.session.session import Session


class Offering:
    """The last word of a server on its tools, resources and prompts, perhaps from long ago."""

    def __init__(
        self, server: str, offer: Offer | None, emit: Callable[[Event], None], remember: Callable[[Offer], None]
    ) -> None:
        self.offer = offer
        self._server = server
        self._emit = emit
        self._remember = remember
        self._changed: set[ListName] = set()

    @property
    def tools(self) -> tuple[Tool, ...]:
        return self.offer.tools.items if self.offer is not None else ()

    @property
    def stale(self) -> bool:
        """Whether the server said that something is another by now."""
        return bool(self._changed)

    def changed(self, what: ListName) -> None:
        self._changed.add(what)

    def arrived(self, session: Session) -> None:
        """A new connection: its tools were listed; what else was known of it stays until it is asked for."""
        known = self.offer
        fresh = Offer(hello=session.hello, era=session.era, at=time(), tools=session.tools)
        if known is not None:
            fresh = replace(fresh, resources=known.resources, templates=known.templates, prompts=known.prompts)
        self._listed(fresh)

    def learn(self, **lists: Any) -> None:
        """Keep what was just listed of its resources, templates or prompts."""
        if self.offer is not None:
            self.offer = replace(self.offer, **lists)
            self._remember(self.offer)

    async def catch_up(self, session: Session) -> None:
        """List again whatever changed. Raises: what a session raises."""
        while self._changed:
            await self.relist(session, self._changed.pop())

    async def relist(self, session: Session, what: ListName) -> None:
        """List one thing again, and tell what came and went. Raises: what a session raises."""
        if what == "tools":
            tools = await session.list_tools()
            if self.offer is not None:
                self._listed(replace(self.offer, tools=tools, at=time()))
            return
        if what == "resources":
            self.learn(resources=await session.list_resources(), templates=None)
        else:
            self.learn(prompts=await session.list_prompts())
        self._emit(ListChanged(self._server, what))

    def _listed(self, offer: Offer) -> None:
        before = {tool.name: tool for tool in self.tools}
        now = {tool.name: tool for tool in offer.tools.items}
        self.offer = offer
        self._remember(offer)
        changed = tuple(sorted(name for name in before.keys() & now.keys() if before[name] != now[name]))
        added, removed = tuple(sorted(now.keys() - before.keys())), tuple(sorted(before.keys() - now.keys()))
        if added or removed or changed:
            self._emit(ToolsChanged(self._server, added, removed, changed))
