"""Lists that come in pages: bounded, and one bad entry costs one entry."""

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from mooring.core.limits import Limits
from mooring.core.raw import ABSENT, read, read_as
from mooring.core.tool import Listing, Prompt, Rejected, Resource, ResourceTemplate, Tool
from mooring.errors import ProtocolError, RpcError, TimedOut
from mooring.wire.rpc.message import METHOD_NOT_FOUND

T = TypeVar("T")

Fetch: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Raw]]
"""Asks for one page: the method and its parameters in, the result out."""


class Kind(Struct, Generic[T], frozen=True):
    """What can be listed: how to ask for it and how to read it."""

    method: str
    key: str
    all: Decoder[list[T]]
    one: Decoder[T]
    name: Callable[[T], str]
    flaw: Callable[[T], str]
    """Why an entry cannot be used although it has the right shape; empty if it can."""


def _tool_flaw(tool: Tool) -> str:
    if not tool.name:
        return "its name is empty"
    return "" if bytes(tool.input_schema).lstrip()[:1] == b"{" else "its inputSchema is not an object"


TOOLS: Kind[Tool] = Kind("tools/list", "tools", Decoder(list[Tool]), Decoder(Tool), lambda tool: tool.name, _tool_flaw)
RESOURCES: Kind[Resource] = Kind(
    "resources/list",
    "resources",
    Decoder(list[Resource]),
    Decoder(Resource),
    lambda resource: resource.uri,
    lambda _: "",
)
TEMPLATES: Kind[ResourceTemplate] = Kind(
    "resources/templates/list",
    "resourceTemplates",
    Decoder(list[ResourceTemplate]),
    Decoder(ResourceTemplate),
    lambda template: template.uri_template,
    lambda _: "",
)
PROMPTS: Kind[Prompt] = Kind(
    "prompts/list",
    "prompts",
    Decoder(list[Prompt]),
    Decoder(Prompt),
    lambda prompt: prompt.name,
    lambda prompt: "" if prompt.name else "its name is empty",
)


class _Page(Struct):
    """One page: what it holds, by key, and where the next begins."""

    parts: dict[str, Raw]
    cursor: str
    ttl: float | None
    shared: bool | None

    def entries(self, key: str) -> Raw:
        return self.parts.get(key, ABSENT)


_parts = Decoder(dict[str, Raw])
_entries = Decoder(list[Raw])


async def fetch_all(kind: Kind[T], fetch: Fetch, server: str, limits: Limits) -> Listing[T]:
    """Page after page until the last, a limit or a cursor seen before; what came is kept, with a note.

    A server that does not know the method has an empty list.

    Raises: what `fetch` raises for the first page; ProtocolError where that page makes no sense.
    """
    gathered = _Gathered(kind, limits.items)
    cursor, seen = "", {""}
    for _ in range(limits.pages):
        try:
            page = _read_page(server, await fetch(kind.method, {"cursor": cursor} if cursor else {}))
            gathered.add(server, page.entries(kind.key))
            gathered.hint(page)
        except (RpcError, TimedOut, ProtocolError) as error:
            return gathered.despite(error, first=not cursor)
        cursor = page.cursor
        if not cursor or gathered.full:
            return gathered.listing(gathered.full)
        if cursor in seen:
            return gathered.listing(f"The list stops where {server} gave a page a second time.")
        seen.add(cursor)
    return gathered.listing(f"The list stops after {limits.pages:,} pages.")


class _Gathered(Generic[T]):
    """What has come of a list so far."""

    def __init__(self, kind: Kind[T], limit: int) -> None:
        self.full = ""
        self._kind = kind
        self._limit = limit
        self._items: dict[str, T] = {}
        self._rejected: list[Rejected] = []
        self._ttl: float | None = None
        self._shared: bool | None = None

    def hint(self, page: _Page) -> None:
        """The list may be kept as long as its shortest-lived page, and shared if all of it may be."""
        if page.ttl is not None:
            self._ttl = page.ttl if self._ttl is None else min(self._ttl, page.ttl)
        if page.shared is not None:
            self._shared = page.shared and self._shared is not False

    def add(self, server: str, raw: Raw) -> None:
        try:
            for item in read_as(self._kind.all, raw):
                self._take(item)
        except DecodeError:
            self._add_each(server, raw)

    def listing(self, note: str) -> Listing[T]:
        return Listing(tuple(self._items.values()), tuple(self._rejected), note, self._ttl, self._shared)

    def despite(self, error: RpcError | TimedOut | ProtocolError, first: bool) -> Listing[T]:
        if isinstance(error, RpcError) and error.code == METHOD_NOT_FOUND and first:
            return Listing()
        if first:
            raise error
        return self.listing(f"The list is not whole: {error}")

    def _add_each(self, server: str, raw: Raw) -> None:
        try:
            entries = read_as(_entries, raw)
        except DecodeError as error:
            raise ProtocolError(server, f"its {self._kind.key} are no list: {error}", stage="list") from error
        for entry in entries:
            self._take_raw(entry)

    def _take_raw(self, entry: Raw) -> None:
        try:
            self._take(read_as(self._kind.one, entry))
        except DecodeError as error:
            self._reject(_name_of(entry), str(error))

    def _take(self, item: T) -> None:
        name = self._kind.name(item)
        if flaw := self._kind.flaw(item):
            self._reject(name, flaw)
        elif name in self._items:
            self._take_again(name, item)
        elif len(self._items) >= self._limit:
            self.full = f"The list stops after {self._limit:,} entries."
        else:
            self._items[name] = item

    def _take_again(self, name: str, item: T) -> None:
        if self._items[name] != item:
            self._reject(name, "it is listed twice, and not the same")

    def _reject(self, name: str, reason: str) -> None:
        if len(self._rejected) < self._limit:
            self._rejected.append(Rejected(name, reason))


def _read_page(server: str, raw: Raw) -> _Page:
    try:
        parts = read_as(_parts, raw)
        cursor, ttl, scope = (read(parts.get(key, ABSENT)) for key in ("nextCursor", "ttlMs", "cacheScope"))
    except DecodeError as error:
        raise ProtocolError(server, f"its list cannot be read: {error}", stage="list") from error
    return _Page(
        parts,
        cursor if isinstance(cursor, str) else "",
        ttl / 1000 if isinstance(ttl, int | float) and ttl >= 0 else None,
        scope == "public" if isinstance(scope, str) else None,
    )


def _name_of(entry: Raw) -> str:
    try:
        found = read(entry)
    except DecodeError:
        return "?"
    name = (found.get("name") or found.get("uri") or found.get("uriTemplate")) if isinstance(found, dict) else None
    return name if isinstance(name, str) else "?"
