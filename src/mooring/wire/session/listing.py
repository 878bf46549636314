"""Fetches lists that come in pages, within limits; a bad entry is rejected and costs no other."""

from collections.abc import Awaitable, Callable
from operator import attrgetter
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from mooring.core.protocol.limits import Limits
from mooring.core.protocol.raw import ABSENT, PARTS, read, read_as, read_parts
from mooring.core.protocol.skill import ServerSkill, find_skill_flaw
from mooring.core.protocol.tool import Listing, Prompt, Rejected, Resource, ResourceTemplate, Tool
from mooring.core.protocol.units import MIB
from mooring.core.text.confusable import describe_oddities, reads_as_ascii, skeleton
from mooring.errors import ProtocolError, RpcError, TimedOut
from mooring.wire.rpc.message import METHOD_NOT_FOUND

T = TypeVar("T")

Fetch: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Raw]]
"""Requests one page: takes the method and its parameters, returns the result."""


class Listable(Generic[T]):
    """Something that can be listed: how to request it and how to read it."""

    def __init__(
        self, method: str, key: str, kind: type[T], name: str, find_flaw: Callable[[T], str] = lambda _: ""
    ) -> None:
        """`key` is where the entries are in the result, and `name` the field that tells them apart.

        `find_flaw` says why an entry cannot be used although it has the right shape; it is empty if it can.
        """
        self.method = method
        self.key = key
        self.all: Decoder[list[T]] = Decoder(list[kind])  # type: ignore[valid-type]
        self.one: Decoder[T] = Decoder(kind)
        self.find_name: Callable[[T], str] = attrgetter(name)
        self.find_flaw = find_flaw


def _tool_flaw(tool: Tool) -> str:
    if not tool.name:
        return "its name is empty"
    # Names of tools are ASCII by the protocol's own advice: one that only looks so is made to be taken for another.
    if reads_as_ascii(tool.name):
        return f"its name looks like {skeleton(tool.name)}, but has {describe_oddities(tool.name)}"
    # Only its first character is looked at: a schema stays unread until somebody needs it.
    if not bytes(tool.input_schema).lstrip().startswith(b"{"):
        return "its inputSchema is not an object"
    # To read 16 MiB of schema would hold up everybody for a second, and no model could take it in.
    if len(bytes(tool.input_schema)) > MIB:
        return "its inputSchema is larger than 1 MiB"
    return ""


def _prompt_flaw(prompt: Prompt) -> str:
    return "" if prompt.name else "its name is empty"


TOOLS = Listable("tools/list", "tools", Tool, "name", _tool_flaw)
RESOURCES = Listable("resources/list", "resources", Resource, "uri")
TEMPLATES = Listable("resources/templates/list", "resourceTemplates", ResourceTemplate, "uri_template")
PROMPTS = Listable("prompts/list", "prompts", Prompt, "name", _prompt_flaw)
SKILLS = Listable("skills/list", "skills", ServerSkill, "uri", find_skill_flaw)


class _Page(Struct):
    """One page: its parts by key, where the next begins, and how long and by whom it may be kept."""

    parts: dict[str, Raw]
    cursor: str = ""
    ttl: float | None = None
    shared: bool | None = None


_entries = Decoder(list[Raw])


async def fetch_all(kind: Listable[T], fetch: Fetch, server: str, limits: Limits) -> Listing[T]:
    """Fetch page after page until the last, a limit, or a cursor seen before; a note says why the rest is missing.

    The list of a server that does not know the method is empty.

    Raises: what `fetch` raises for the first page; ProtocolError if that page cannot be read.
    """
    collected = _Collector(kind, limits.items)
    cursor = ""
    seen = {cursor}
    for _ in range(limits.pages):
        params = {"cursor": cursor} if cursor else {}
        try:
            page = _read_page(server, await fetch(kind.method, params))
            collected.add(server, page.parts.get(kind.key, ABSENT))
            collected.add_hints(page)
        except (RpcError, TimedOut, ProtocolError) as error:
            return collected.listing_after(error, first=not cursor)
        cursor = page.cursor
        if not cursor or collected.full:
            return collected.listing(collected.full)
        if cursor in seen:
            return collected.listing(f"The list stops because {server} sent a page twice.")
        seen.add(cursor)
    return collected.listing(f"The list stops after {limits.pages:,} pages.")


class _Collector(Generic[T]):
    """The part of a list that has arrived so far."""

    def __init__(self, kind: Listable[T], limit: int) -> None:
        self.full = ""
        """Why no more entries are taken; empty while there is room."""
        self._kind = kind
        self._limit = limit
        self._items: dict[str, T] = {}
        self._rejected: list[Rejected] = []
        self._ttl: float | None = None
        self._shared: bool | None = None

    def add_hints(self, page: _Page) -> None:
        """The list may be kept as long as its shortest-lived page, and shared if all pages may be."""
        if page.ttl is not None:
            known = page.ttl if self._ttl is None else self._ttl
            self._ttl = min(known, page.ttl)
        if page.shared is not None:
            known_private = self._shared is False
            self._shared = page.shared and not known_private

    def add(self, server: str, raw: Raw) -> None:
        """Take the entries of a page. Raises: ProtocolError if they are not a list."""
        # Decoding all together is several times as fast; only a page with a bad entry is read entry by entry.
        try:
            for item in read_as(self._kind.all, raw):
                self._add(item)
        except DecodeError:
            self._add_each(server, raw)

    def listing(self, note: str) -> Listing[T]:
        return Listing(tuple(self._items.values()), tuple(self._rejected), note, self._ttl, self._shared)

    def listing_after(self, error: RpcError | TimedOut | ProtocolError, *, first: bool) -> Listing[T]:
        """What there is although a page failed. Raises: the error, if that was the first page."""
        if not first:
            return self.listing(f"The list is incomplete: {error}")
        if isinstance(error, RpcError) and error.code == METHOD_NOT_FOUND:
            return Listing()
        raise error

    def _add_each(self, server: str, raw: Raw) -> None:
        try:
            entries = read_parts(_entries, raw)
        except DecodeError as error:
            raise ProtocolError(server, f"its {self._kind.key} are not a list: {error}", stage="list") from error
        for entry in entries:
            try:
                self._add(read_as(self._kind.one, entry))
            except DecodeError as error:
                self._reject(_guess_name(entry), str(error))

    def _add(self, item: T) -> None:
        name = self._kind.find_name(item)
        if flaw := self._kind.find_flaw(item):
            self._reject(name, flaw)
        elif name in self._items:
            # The same entry twice, on two pages perhaps, does no harm as long as both say the same.
            if self._items[name] != item:
                self._reject(name, "it is listed twice, with different definitions")
        elif len(self._items) >= self._limit:
            self.full = f"The list stops after {self._limit:,} entries."
        else:
            self._items[name] = item

    def _reject(self, name: str, reason: str) -> None:
        if len(self._rejected) < self._limit:
            self._rejected.append(Rejected(name, reason))


def _read_page(server: str, raw: Raw) -> _Page:
    try:
        parts = read_parts(PARTS, raw)
        cursor = read(parts.get("nextCursor", ABSENT))
        ttl = read(parts.get("ttlMs", ABSENT))
        scope = read(parts.get("cacheScope", ABSENT))
    except DecodeError as error:
        raise ProtocolError(server, f"its list cannot be read: {error}", stage="list") from error
    # A hint of the wrong type is not worth an error: it is dropped.
    page = _Page(parts)
    if isinstance(cursor, str):
        page.cursor = cursor
    if isinstance(ttl, int | float) and ttl >= 0:
        page.ttl = ttl / 1000
    if isinstance(scope, str):
        page.shared = scope == "public"
    return page


def _guess_name(entry: Raw) -> str:
    """What to call an entry that cannot be used."""
    try:
        parts = read_parts(PARTS, entry)
        names = [read(parts.get(key, ABSENT)) for key in ("name", "uri", "uriTemplate")]
    except DecodeError:
        return "?"
    name = next(filter(None, names), None)
    return name if isinstance(name, str) else "?"
