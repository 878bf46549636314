"""What one server offers as far as is known: remembered, listed again when it changes, and each change announced."""

from collections.abc import Callable
from time import time
from typing import Any

from msgspec.structs import replace

from mooring.core.era import EraHint, EraName
from mooring.core.event import Event, ListChanged, ToolsChanged
from mooring.core.offer import Offer
from mooring.core.skill import EXTENSION, ServerSkill
from mooring.core.tool import Listing, Tool
from mooring.wire.session.client import ListName
from mooring.wire.session.session import Session


class Offering:
    """The last known tools, resources and prompts of a server, perhaps from long ago."""

    def __init__(
        self,
        server: str,
        offer: Offer | None,
        emit: Callable[[Event], None],
        remember: Callable[[Offer], None],
        redact: Callable[[str], str],
    ) -> None:
        self.offer = offer
        self._server = server
        self._emit = emit
        self._remember = remember
        self._redact = redact
        self._changed: set[ListName] = set()
        self.skills: Listing[ServerSkill] | None = None
        """The skills of this connection, or why there are none; `None` if they have to be asked for."""
        self.skills_at = 0.0
        """When they were listed, by the monotonic clock."""

    @property
    def has_skills(self) -> bool:
        """Whether the server declares that it offers skills."""
        offer = self.offer
        return offer is not None and offer.era == "stateless" and offer.hello.offers("extensions", EXTENSION)

    @property
    def tools(self) -> tuple[Tool, ...]:
        return self.offer.tools.items if self.offer is not None else ()

    @property
    def is_stale(self) -> bool:
        """Whether the server said that one of its lists changed."""
        return bool(self._changed)

    def mark_changed(self, kind: ListName) -> None:
        """Note that a list has to be fetched again."""
        self._changed.add(kind)

    def find_era_hint(self, preferred: EraName) -> EraHint:
        """Which era to try first, for somebody who prefers one."""
        return EraHint(preferred, None if self.offer is None else self.offer.refused_era)

    def note_refused_era(self, era: EraName) -> None:
        """Remember that the server does not speak an era."""
        if self.offer is not None and self.offer.refused_era != era:
            self.learn(refused_era=era)

    def take_session(self, session: Session, hint: EraHint) -> None:
        """Take the tools of a new connection; what else is known stays until someone asks for it."""
        self.skills = None
        known = self.offer
        fresh = Offer(
            hello=session.hello,
            era=session.era,
            at=time(),
            tools=session.tools,
            transport=session.transport,
            refused_era=hint.find_refused(session.era),
        )
        if known is not None:
            fresh = replace(fresh, resources=known.resources, templates=known.templates, prompts=known.prompts)
        self._take_tools(fresh)

    def learn(self, **lists: Any) -> None:
        """Remember the resources, templates or prompts that were just listed, or what else was found out."""
        if self.offer is not None:
            self.offer = replace(self.offer, **lists)
            self._remember(self.offer)

    async def catch_up(self, session: Session) -> None:
        """Fetch every list that changed. Raises: what a session raises."""
        while self._changed:
            await self.relist(session, self._changed.pop())

    async def relist(self, session: Session, kind: ListName) -> None:
        """Fetch one list again, and announce what changed. Raises: what a session raises."""
        if kind == "tools":
            tools = await session.list_tools()
            if self.offer is not None:
                self._take_tools(replace(self.offer, tools=tools, at=time()))
            return
        if kind == "resources":
            # One notification covers resources and templates; templates are listed again when next asked for.
            self.learn(resources=await session.list_resources(), templates=None)
        else:
            self.learn(prompts=await session.list_prompts())
        self._emit(ListChanged(self._server, kind))

    def _take_tools(self, offer: Offer) -> None:
        """Replace the offer, and announce which tools came, went or changed."""
        if offer.tools.note:  # it may quote the error that the server answered with
            offer = replace(offer, tools=replace(offer.tools, note=self._redact(offer.tools.note)))
        before = {tool.name: tool for tool in self.tools}
        after = {tool.name: tool for tool in offer.tools.items}
        self.offer = offer
        self._remember(offer)
        added = sorted(after.keys() - before.keys())
        removed = sorted(before.keys() - after.keys())
        in_both = before.keys() & after.keys()
        changed = sorted(name for name in in_both if before[name] != after[name])
        if added or removed or changed:
            self._emit(ToolsChanged(self._server, tuple(added), tuple(removed), tuple(changed)))
