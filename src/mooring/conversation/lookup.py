"""Which server and which tool a name refers to.

A name is bound to the server that listed it: after an edit of the configuration an old name is refused, and never
reaches another program.
"""

from collections.abc import Callable, Mapping
from time import time
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Broken, ServerConfig
from mooring.core.protocol.tool import Offer, Pair, Tool
from mooring.errors import HeldBack, MooringError, ServerDisabled, Stale, UnknownTool
from mooring.inventory.admit import Admitted, Alias, NotAdmitted
from mooring.tools.catalog.catalog import Catalog, CatalogEntry, MeaningSource, ToolSource, UnlistedTool
from mooring.tools.catalog.names import Scheme

if TYPE_CHECKING:
    from mooring.servers.server import Server

FindHeld: TypeAlias = Callable[[Approved, tuple[Tool, ...]], frozenset[str]]
"""Says which of a server's tools differ from what was approved under a name."""


class Lookup:
    """The names of one host."""

    def __init__(
        self, servers: "Mapping[str, Server]", find_held: FindHeld, meaning: MeaningSource = lambda: None
    ) -> None:
        self._meaning = meaning
        self._servers = servers
        self._find_held = find_held
        self.servers: Mapping[str, Server] = {}
        """Every server that may be started, under all of its names."""
        self._names_of: dict[str, list[str]] = {}
        """All names of each server that has several, its own first."""
        self._aliases: Mapping[str, Alias] = {}
        self._held_under: dict[str, frozenset[str]] = {}
        """The tools that are held back under an alias, as far as it was used since the catalog was built."""
        self.refused: Mapping[str, NotAdmitted] = {}
        """Every configured server that may not be started, and why."""
        self._scheme: Scheme = "mcp__server__tool"
        self._catalog: Catalog | None = None
        self._changed: set[str] = set()
        """Servers that the catalog has to look at again."""
        self._listed: Mapping[str, Mapping[str, CatalogEntry]] = {}
        """The tools as they were last listed; each is bound to the server that it belonged to then."""
        self._listed_version: object = None
        self._called: dict[tuple[str, str], str] = {}
        """The server that any other pair of server and tool name referred to when it was first called."""

    def use(self, admitted: Admitted) -> None:
        """Take over the names of a new configuration."""
        self._aliases, self.refused = admitted.aliases, admitted.refused
        self._scheme = admitted.settings["toolNames"]
        also = {name: self._servers[alias.server] for name, alias in self._aliases.items()}
        self.servers = {**self._servers, **also}
        self._names_of = {}
        for name, alias in self._aliases.items():
            self._names_of.setdefault(alias.server, [alias.server]).append(name)
        self.invalidate()

    def invalidate(self, server: str | None = None) -> None:
        """Look at a server's tools again when they are next needed, or at those of all servers."""
        if server is None:
            self._catalog = None
            self._held_under = {}
        else:
            self._changed.add(server)
            for name in [name for name in self._held_under if self._own_name(name) == server]:
                del self._held_under[name]

    def update_status(self, name: str) -> None:
        """Look at a server's tools again if its new status makes a difference to what is known of them."""
        server = self._servers.get(name)
        if self._catalog is not None and server is not None and not _is_current(self._catalog, server):
            self._changed.add(name)

    # --- what there is --------------------------------------------------------------------------------------------

    @property
    def catalog(self) -> Catalog:
        """Everything that can be called, brought up to date after a change."""
        if self._catalog is None:
            self._catalog = self._build_catalog()
        elif self._changed:
            self._update_catalog(self._catalog)
        return self._catalog

    def _build_catalog(self) -> Catalog:
        now = time()
        sources = [self._make_source(server, now) for server in self._servers.values()]
        unknown = [ToolSource(name, (), "", known=False) for name in (*self.refused, *self._aliases)]
        self._changed.clear()
        return Catalog((*sources, *unknown), self._scheme, self._meaning)

    def _update_catalog(self, catalog: Catalog) -> None:
        """Look again at the servers that changed, and at no other: there may be hundreds."""
        now = time()
        for name in self._changed:
            # A server that was replaced may still report something.
            server = self._servers.get(name)
            if server is not None:
                catalog.put(self._make_source(server, now))
        self._changed.clear()

    @property
    def tools(self) -> tuple[CatalogEntry, ...]:
        """Every tool. Reading them binds each name to its server: it is what the caller has seen."""
        self._bind_listed()
        return self.catalog.entries

    @property
    def tools_by_server(self) -> Mapping[str, Mapping[str, CatalogEntry]]:
        """The same tools by server, then by raw name."""
        self._bind_listed()
        return self._listed

    def _bind_listed(self) -> None:
        catalog = self.catalog
        if self._listed_version is not catalog.version:
            self._listed_version = catalog.version
            self._listed, self._called = catalog.list_by_server(), {}

    @property
    def own_names(self) -> tuple[str, ...]:
        """Each server that may be started by the name that stands for it."""
        return tuple(self._servers)

    @property
    def unusable(self) -> dict[str, MooringError]:
        """Why servers that are switched on cannot even be tried."""
        errors = {name: refused.error for name, refused in self.refused.items()}
        return {name: error for name, error in errors.items() if not isinstance(error, ServerDisabled)}

    def other_names(self, name: str | None) -> list[str]:
        """The other names of a server."""
        if not self._aliases or name is None:
            return []
        names = self._names_of.get(self._own_name(name), ())
        return [other for other in names if other != name]

    def _own_name(self, name: str) -> str:
        """The name that stands for a server among its names."""
        alias = self._aliases.get(name)
        return name if alias is None else alias.server

    def _make_source(self, server: "Server", now: float) -> ToolSource:
        """A server's tools for the catalog: those that it has, or had when it was last connected."""
        offer, config = server.offer, server.config
        if offer is None or not _is_known(server, now):
            return ToolSource(server.name, (), server.id, known=False)
        return ToolSource(
            server.name,
            offer.tools.items,
            server.id,
            config.tools_allow,
            config.tools_deny,
            rejected={one.name: one.reason for one in offer.tools.rejected},
            note="" if offer.tools.items else offer.tools.note,
            held=self._find_held(server.approved, server.tools),
        )

    # --- what a name refers to ----------------------------------------------------------------------------------------

    def server(self, name: str) -> "Server":
        """The server of that name, ignoring case.

        Raises: UnknownServer, ServerDisabled, NotApproved; ConfigError if its definition is invalid.
        """
        return self._servers[self._own_name(self.find_name(name))]

    async def find_approved_server(self, name: str) -> "Server":
        """The same, if what it stands for is still what was approved. Raises: as `server`."""
        server = self.server(name)
        server.check_approval()
        return server

    def find_name(self, name: str) -> str:
        """The configured name that is meant, ignoring case; two names of one server stay two. Raises: as `server`."""
        known = self.catalog.server(name)
        if known in self.refused:
            raise self.refused[known].error
        return known

    def find_approved(self, name: str) -> Approved:
        """What was approved under a name. Raises: as `server`."""
        known = self.find_name(name)
        alias = self._aliases.get(known)
        return self._servers[known].approved if alias is None else alias.approved

    def definition(self, name: str) -> ServerConfig | Broken | None:
        """What is configured under a name, even if it may not be started. Raises: UnknownServer."""
        known = self.catalog.server(name)
        if known in self.refused:
            return self.refused[known].config
        return self.find_approved(known).config

    async def find(self, name: str | Pair, until: float, trusted: float = 0.0) -> CatalogEntry:
        """The tool of that name, or of that server and name; if it is unknown, its server is asked for its tools first.

        A server whose tools were listed less than `trusted` seconds ago is believed.

        Raises: UnknownServer, UnknownTool, AmbiguousTool, Stale, HeldBack; what `server` and a session raise.
        """
        try:
            found = self.catalog.find(name)
        except UnknownTool as error:
            server = self._servers.get(error.server)
            if server is None or server.is_connected or not is_older(server.offer, trusted):
                raise
            # What is remembered of the server may be out of date: it is asked before the name counts as wrong.
            await server.session(until)
            found = self.catalog.find(name)
        if isinstance(found, CatalogEntry):
            return found
        # Two names of one program share a server, which lists its tools under the first. Rules and pins go by the name
        # that was used.
        if found.server in self._aliases:
            listed = await self.find((self._own_name(found.server), found.tool), until, trusted)
            return replace(listed, server=found.server)
        return await self._ask_server(found, until)

    async def _ask_server(self, unlisted: UnlistedTool, until: float) -> CatalogEntry:
        """The tool of a server whose tools are unknown, once it is connected."""
        server = self.server(unlisted.server)
        self._bind(server, server.name, unlisted.tool)
        await server.session(until)
        found = self.catalog.find((server.name, unlisted.tool))
        if isinstance(found, UnlistedTool):
            raise UnknownTool(server.name, unlisted.tool)
        return found

    def find_owner(self, entry: CatalogEntry) -> "Server":
        """The server of a tool, if it is still the one that listed it.

        Raises: Stale; HeldBack if the tool differs from what was approved.
        """
        server = self._servers.get(self._own_name(entry.server))
        if server is None or entry.owner != server.id:
            raise Stale(entry.server, entry.tool)
        self._bind(server, entry.server, entry.tool)
        self._vet(server, entry)
        return server

    def find_current(self, entry: CatalogEntry) -> "tuple[CatalogEntry, Server]":
        """The same tool as its server describes it now, and that server; as it was if it is no longer listed.

        Raises: as `find_owner`.
        """
        server = self.find_owner(entry)
        listed = self.catalog.get_pair(server.name, entry.tool)
        # The very same entry if nothing changed: routes are remembered by it.
        if listed is None or listed.definition is entry.definition or listed.definition == entry.definition:
            return entry, server
        return replace(entry, definition=listed.definition), server

    def _vet(self, server: "Server", entry: CatalogEntry) -> None:
        """Compare a tool with what was approved under the name that was used. Raises: HeldBack."""
        alias = self._aliases.get(entry.server)
        if alias is None:
            self.catalog.vet(entry.server, entry.tool)
            return
        if entry.server not in self._held_under:
            self._held_under[entry.server] = self._find_held(alias.approved, server.tools)
        if entry.tool in self._held_under[entry.server]:
            raise HeldBack(entry.server, entry.tool)

    def _bind(self, server: "Server", name: str, tool: str) -> None:
        """Bind a name to its server on first use. Raises: Stale if it was bound to another one."""
        listed = self._listed.get(name, {}).get(tool)
        bound = listed.owner if listed is not None else self._called.setdefault((name, tool), server.id)
        if bound != server.id:
            raise Stale(name, tool)


def _is_known(server: "Server", now: float) -> bool:
    """Whether a server's tools are known, from this connection or one that is not too long ago."""
    return server.offer is not None and (server.is_connected or server.offer.usable(now))


def _is_current(catalog: Catalog, server: "Server") -> bool:
    """Whether the catalog has a server's tools as they are known now."""
    source = catalog.source(server.name)
    if source is None:
        return False
    if server.offer is None or not _is_known(server, time()):
        return not source.known
    has_same_tools = source.known and source.tools is server.offer.tools.items
    # Why a server lists no tools may be different each time.
    return has_same_tools and bool(source.tools)


def is_older(offer: Offer | None, seconds: float) -> bool:
    """Whether the tools of a server were listed longer ago than that, or never."""
    if offer is None:
        return True
    age = time() - offer.at
    return not 0 <= age < seconds  # a negative age means that the clock was set back
