"""Which server and which tool a name refers to.

A name is bound to the server that listed it: after an edit of the configuration an old name is refused, and never
reaches another program.
"""

from collections.abc import Callable, Mapping
from time import time
from typing import TypeAlias

from msgspec.structs import replace

from mooring.core.approved import Approved
from mooring.core.config import Broken, ServerConfig
from mooring.core.tool import Tool
from mooring.errors import HeldBack, MooringError, ServerDisabled, Stale, UnknownTool
from mooring.inventory.admit import Admitted, Alias, NotAdmitted
from mooring.servers.server import Server
from mooring.tools.catalog.catalog import Catalog, CatalogEntry, MeaningSource, ToolSource, UnlistedTool
from mooring.tools.catalog.names import Scheme

FindHeld: TypeAlias = Callable[[Approved, tuple[Tool, ...]], frozenset[str]]
"""Says which of a server's tools differ from what was approved under a name."""


class Lookup:
    """The names of one host."""

    def __init__(
        self,
        servers: Mapping[str, Server],
        find_held: FindHeld,
        meaning: MeaningSource = lambda: None,
    ) -> None:
        self._meaning = meaning
        self._servers = servers
        self._find_held = find_held
        self._aliases: Mapping[str, Alias] = {}
        self._held_under: dict[str, frozenset[str]] = {}
        """The tools that are held back under an alias, as far as it was used since the catalog was built."""
        self._refused: Mapping[str, NotAdmitted] = {}
        self._scheme: Scheme = "mcp__server__tool"
        self._catalog: Catalog | None = None
        self._listed: Catalog | None = None
        self._bound: dict[tuple[str, str], Server] = {}
        """The server that each pair of server and tool name referred to when it was listed, or first called."""

    def use(self, admitted: Admitted) -> None:
        """Take over the names of a new configuration."""
        self._aliases, self._refused = admitted.aliases, admitted.refused
        self._scheme = admitted.settings["toolNames"]
        self.invalidate()

    def invalidate(self) -> None:
        """Build a new catalog when it is next needed: tools came, went, changed, or were approved."""
        self._catalog = None
        self._held_under = {}

    # --- what there is --------------------------------------------------------------------------------------------

    @property
    def catalog(self) -> Catalog:
        """Everything that can be called, built again after a change."""
        if self._catalog is None:
            now = time()
            sources = [self._make_source(server, now) for server in self._servers.values()]
            unknown = [ToolSource(name, (), None, known=False) for name in (*self._refused, *self._aliases)]
            self._catalog = Catalog((*sources, *unknown), self._scheme, self._meaning)
        return self._catalog

    @property
    def tools(self) -> tuple[CatalogEntry, ...]:
        """Every tool. Reading them binds each name to its server: it is what the caller has seen."""
        catalog = self.catalog
        if self._listed is not catalog:
            self._listed = catalog
            self._bound = {pair: self._servers[pair[0]] for pair in catalog.pairs}
        return catalog.entries

    @property
    def servers(self) -> Mapping[str, Server]:
        """Every server that may be started, under all of its names."""
        return {**self._servers, **{name: self._servers[alias.server] for name, alias in self._aliases.items()}}

    @property
    def own_names(self) -> tuple[str, ...]:
        """Each server that may be started by the name that stands for it."""
        return tuple(self._servers)

    @property
    def refused(self) -> Mapping[str, NotAdmitted]:
        return self._refused

    @property
    def unusable(self) -> dict[str, MooringError]:
        """Why servers that are switched on cannot even be tried."""
        errors = {name: refused.error for name, refused in self._refused.items()}
        return {name: error for name, error in errors.items() if not isinstance(error, ServerDisabled)}

    def other_names(self, name: str | None) -> list[str]:
        """The other names of a server."""
        if not self._aliases or name is None:
            return []
        own = self._own_name(name)
        names = [own, *(alias for alias, found in self._aliases.items() if found.server == own)]
        return [other for other in names if other != name]

    def _own_name(self, name: str) -> str:
        """The name that stands for a server among its names."""
        alias = self._aliases.get(name)
        return name if alias is None else alias.server

    def _make_source(self, server: Server, now: float) -> ToolSource:
        """A server's tools for the catalog: those that it has, or had when it was last connected."""
        offer, config = server.offer, server.config
        if offer is None or not (server.is_connected or offer.usable(now)):
            return ToolSource(server.name, (), server, known=False)
        return ToolSource(
            server.name,
            offer.tools.items,
            server,
            config.tools_allow,
            config.tools_deny,
            rejected={one.name: one.reason for one in offer.tools.rejected},
            note="" if offer.tools.items else offer.tools.note,
            held=self._find_held(server.approved, server.tools),
        )

    # --- what a name refers to ----------------------------------------------------------------------------------------

    def server(self, name: str) -> Server:
        """The server of that name, ignoring case.

        Raises: UnknownServer, ServerDisabled, NotApproved; ConfigError if its definition is invalid.
        """
        return self._servers[self._own_name(self.find_name(name))]

    def find_name(self, name: str) -> str:
        """The configured name that is meant, ignoring case; two names of one server stay two. Raises: as `server`."""
        known = self.catalog.server(name)
        if known in self._refused:
            raise self._refused[known].error
        return known

    def find_approved(self, name: str) -> Approved:
        """What was approved under a name. Raises: as `server`."""
        known = self.find_name(name)
        alias = self._aliases.get(known)
        return self._servers[known].approved if alias is None else alias.approved

    def definition(self, name: str) -> ServerConfig | Broken | None:
        """What is configured under a name, even if it may not be started. Raises: UnknownServer."""
        known = self.catalog.server(name)
        if known in self._refused:
            return self._refused[known].config
        return self.find_approved(known).config

    async def find(self, name: str, until: float, trusted: float = 0.0) -> CatalogEntry:
        """The tool of that name; if it is unknown, its server is asked for its tools first.

        A server whose tools were listed less than `trusted` seconds ago is believed.

        Raises: UnknownServer, UnknownTool, Stale, HeldBack; what `server` and a session raise.
        """
        try:
            found = self.catalog.find(name)
        except UnknownTool as error:
            server = self._servers.get(error.server)
            if server is None or server.is_connected or not is_older(server, trusted):
                raise
            # What is remembered of the server may be out of date: it is asked before the name counts as wrong.
            await server.session(until)
            found = self.catalog.find(name)
        if isinstance(found, CatalogEntry):
            return found
        # Two names of one program share a server, which lists its tools under the first. Rules and pins go by the name
        # that was used.
        if found.server in self._aliases:
            listed = await self.find(f"{self._own_name(found.server)}.{found.tool}", until, trusted)
            return replace(listed, server=found.server)
        return await self._ask_server(found, until)

    async def _ask_server(self, unlisted: UnlistedTool, until: float) -> CatalogEntry:
        """The tool of a server whose tools are unknown, once it is connected."""
        server = self.server(unlisted.server)
        self._bind(server, server.name, unlisted.tool)
        await server.session(until)
        found = self.catalog.find(f"{server.name}.{unlisted.tool}")
        if isinstance(found, UnlistedTool):
            raise UnknownTool(server.name, unlisted.tool)
        return found

    def find_owner(self, entry: CatalogEntry) -> Server:
        """The server of a tool, if it is still the one that listed it.

        Raises: Stale; HeldBack if the tool differs from what was approved.
        """
        server = self._servers.get(self._own_name(entry.server))
        if server is None or entry.owner is not server:
            raise Stale(entry.server, entry.tool)
        self._bind(server, entry.server, entry.tool)
        self._vet(server, entry)
        return server

    def find_current(self, entry: CatalogEntry) -> tuple[CatalogEntry, Server]:
        """The same tool as its server describes it now, and that server; as it was if it is no longer listed.

        Raises: as `find_owner`.
        """
        server = self.find_owner(entry)
        listed = self.catalog.get_pair(server.name, entry.tool)
        # The very same entry if nothing changed: routes are remembered by it.
        if listed is None or listed.definition is entry.definition or listed.definition == entry.definition:
            return entry, server
        return replace(entry, definition=listed.definition), server

    def _vet(self, server: Server, entry: CatalogEntry) -> None:
        """Compare a tool with what was approved under the name that was used. Raises: HeldBack."""
        alias = self._aliases.get(entry.server)
        if alias is None:
            self.catalog.vet(entry.server, entry.tool)
            return
        if entry.server not in self._held_under:
            self._held_under[entry.server] = self._find_held(alias.approved, server.tools)
        if entry.tool in self._held_under[entry.server]:
            raise HeldBack(entry.server, entry.tool)

    def _bind(self, server: Server, name: str, tool: str) -> None:
        """Bind a name to its server on first use. Raises: Stale if it was bound to another one."""
        if self._bound.setdefault((name, tool), server) is not server:
            raise Stale(name, tool)


def is_older(server: Server, seconds: float) -> bool:
    """Whether the tools of a server were listed longer ago than that, or never."""
    if server.offer is None:
        return True
    age = time() - server.offer.at
    return not 0 <= age < seconds  # a negative age means that the clock was set back
