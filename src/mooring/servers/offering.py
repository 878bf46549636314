"""What one server offers as far as is known: remembered, listed again when it changes, and each change announced."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import time
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from mooring.core.conversation.host_event import HostEvent, ListChanged, ToolsChanged
from mooring.core.protocol.era import EraHint, EraName
from mooring.core.protocol.skill import EXTENSION, ServerSkill
from mooring.core.protocol.tool import Listing, Offer, Resource, Tool, means_the_same
from mooring.wire.session.client import ListName
from mooring.wire.session.session import Session

T = TypeVar("T")
_FETCHES: Final[Mapping[ListName, Callable[[Session], Awaitable[Listing[Any]]]]] = {
    "tools": Session.list_tools,
    "resources": Session.list_resources,
    "prompts": Session.list_prompts,
}


class OfferTracker:
    """The last known tools, resources and prompts of a server, perhaps from long ago."""

    def __init__(
        self,
        server: str,
        offer: Offer | None,
        emit: Callable[[HostEvent], None],
        remember: Callable[[Offer], None],
        redact: Callable[[str], str],
    ) -> None:
        self.offer = offer
        self._server = server
        self._emit = emit
        self._remember = remember
        self._redact = redact
        self._changed: set[ListName] = set()
        self._own_lists: dict[str, Listing[Any]] = {}
        """What the server's own connection last listed."""
        self._second_lists: dict[str, tuple[Any, ...]] = {}
        """What a second process of the server lists while it runs."""
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

    def record_refused_era(self, era: EraName) -> None:
        """Remember that the server does not speak an era."""
        if self.offer is not None and self.offer.refused_era != era:
            self.learn(refused_era=era)

    def adopt_session(self, session: Session, hint: EraHint) -> None:
        """Take the tools of a new connection; what else is known stays until someone asks for it."""
        self.skills = None
        known = self.offer
        fresh = Offer(
            hello=session.hello,
            era=session.era,
            at=time(),
            tools=self.unite("tools", session.tools),
            transport=session.transport,
            refused_era=hint.find_refused(session.era),
        )
        if known is not None:
            fresh = replace(fresh, resources=known.resources, templates=known.templates, prompts=known.prompts)
        self._adopt_tools(fresh)

    def learn(self, **lists: Any) -> None:
        """Remember the resources, templates or prompts that were just listed, or what else was found out."""
        if self.offer is not None:
            self.offer = replace(self.offer, **lists)
            self._store(self.offer)

    async def catch_up(self, session: Session) -> None:
        """Fetch every list that changed. Raises: what a session raises."""
        while self._changed:
            await self.relist(session, self._changed.pop())

    async def relist(self, session: Session, kind: ListName) -> None:
        """Fetch one list again, and announce what changed. Raises: what a session raises."""
        listing = self.unite(kind, await _FETCHES[kind](session))
        if kind == "tools":
            if self.offer is not None:
                self._adopt_tools(replace(self.offer, tools=listing, at=time()))
            return
        if kind == "resources":
            # One notification covers resources and templates; templates are listed again when next asked for.
            self.learn(resources=listing, templates=None)
        else:
            self.learn(prompts=listing)
        self._emit(ListChanged(self._server, kind))

    def _store(self, offer: Offer) -> None:
        """Remember an offer, without what only a second process lists."""
        united = {kind: self._own_lists[kind] for kind in self._second_lists if kind in self._own_lists}
        self._remember(replace(offer, **united) if united else offer)

    # --- a second process of the server ---------------------------------------------------------------------------

    def unite(self, kind: str, listing: Listing[T]) -> Listing[T]:
        """What the server's own connection has just listed, and behind it what only a second process does."""
        self._own_lists[kind] = listing
        second = self._second_lists.get(kind, ())
        names = {_find_key(item) for item in listing.items} if second else set()
        more = tuple(item for item in second if _find_key(item) not in names)
        return replace(listing, items=(*listing.items, *more)) if more else listing

    def find_differing(self, tools: Sequence[Tool]) -> list[str]:
        """Which of the tools of a second process the server's own describes too, but differently."""
        own = self._own_lists.get("tools")
        known = {} if own is None else {tool.name: tool for tool in own.items}
        # The official SDK writes the keys of a schema in another order in the other era.
        return [tool.name for tool in tools if tool.name in known and not means_the_same(tool, known[tool.name])]

    def adopt_second(self, kind: ListName, items: tuple[Any, ...]) -> None:
        """Take what a second process lists: what only that one has is listed with the rest while it runs."""
        before, self._second_lists[kind] = self._second_lists.get(kind), items
        own = self._own_lists.get(kind)
        if kind != "tools":
            if own is not None:
                self.learn(**{kind: self.unite(kind, own)})
            self._emit(ListChanged(self._server, kind))
            return
        if self.offer is None or own is None:
            return
        united = self.unite(kind, own)
        if united != self.offer.tools:
            self._adopt_tools(replace(self.offer, tools=united))
        elif before is not None and before != items:
            # It came or went in that process alone: whoever uses the process is to list its tools again.
            differing = {tool.name for tool in before} ^ {tool.name for tool in items}
            self._emit(ToolsChanged(self._server, (), (), tuple(sorted(differing))))

    @property
    def differing(self) -> list[str]:
        """The tools that a second process describes differently by now."""
        return self.find_differing(self._second_lists.get("tools", ()))

    def drop_second(self) -> None:
        """Forget what a second process listed, because it ended."""
        for kind in _FETCHES:
            if self._second_lists.get(kind):
                self.adopt_second(kind, ())
        self._second_lists.clear()

    def _adopt_tools(self, offer: Offer) -> None:
        """Replace the offer, and announce which tools came, went or changed."""
        if offer.tools.note:  # it may quote the error that the server answered with
            offer = replace(offer, tools=replace(offer.tools, note=self._redact(offer.tools.note)))
        before = {tool.name: tool for tool in self.tools}
        after = {tool.name: tool for tool in offer.tools.items}
        self.offer = offer
        self._store(offer)
        added = sorted(after.keys() - before.keys())
        removed = sorted(before.keys() - after.keys())
        in_both = before.keys() & after.keys()
        changed = sorted(name for name in in_both if before[name] != after[name])
        if added or removed or changed:
            self._emit(ToolsChanged(self._server, tuple(added), tuple(removed), tuple(changed)))


def _find_key(item: Any) -> str:
    """What a tool, resource or prompt is known by."""
    key: str = item.uri if isinstance(item, Resource) else item.name
    return key


async def list_items(session: Session, kind: ListName) -> tuple[Any, ...]:
    """What a session lists of one kind. Raises: what a session raises."""
    return (await _FETCHES[kind](session)).items
