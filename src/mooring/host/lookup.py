"""Which server and which tool a name means now: each bound to what it was when it was listed, or first called."""

from collections.abc import Callable, Mapping
from time import time

from mooring.core.config import Broken, ServerConfig
from mooring.errors import MooringError, ServerDisabled, Stale, UnknownTool
from mooring.inventory.admit import Admitted, NotAdmitted
from mooring.servers.server import Server
from mooring.tools.catalog.catalog import Catalog, CatalogEntry, MeaningSource, ToolSource, UnlistedTool
from mooring.tools.catalog.names import Scheme


class Lookup:
    """The names of one host. `held` says which of a server's tools are not what was approved."""

    def __init__(
        self,
        servers: Mapping[str, Server],
        held: Callable[[Server], frozenset[str]],
        meaning: MeaningSource = lambda: None,
    ) -> None:
        self._meaning = meaning
        self._servers = servers
        self._held = held
        self._aliases: Mapping[str, str] = {}
        self._refused: Mapping[str, NotAdmitted] = {}
        self._scheme: Scheme = "mcp__server__tool"
        self._catalog: Catalog | None = None
        self._read: Catalog | None = None
        self._bound: dict[tuple[str, str], Server] = {}

    def use(self, admitted: Admitted) -> None:
        """Take the names of another configuration."""
        self._aliases, self._refused = admitted.aliases, admitted.refused
        self._scheme = admitted.settings["toolNames"]
        self.changed()

    def changed(self) -> None:
        """Tools came, went, or may be called now."""
        self._catalog = None

    # --- what there is --------------------------------------------------------------------------------------------

    @property
    def catalog(self) -> Catalog:
        """Everything that can be called, made anew when something changed."""
        if self._catalog is None:
            now = time()
            sources = [self._source(server, now) for server in self._servers.values()]
            unknown = [ToolSource(name, (), None, known=False) for name in (*self._refused, *self._aliases)]
            self._catalog = Catalog((*sources, *unknown), self._scheme, self._meaning)
        return self._catalog

    @property
    def tools(self) -> tuple[CatalogEntry, ...]:
        """Every tool; whoever reads them knows from then on which server each belongs to."""
        catalog = self.catalog
        if self._read is not catalog:
            self._read = catalog
            self._bound = {pair: self._servers[pair[0]] for pair in catalog.pairs}
        return catalog.entries

    @property
    def servers(self) -> Mapping[str, Server]:
        """Every server that may be started, under all of its names."""
        return {**self._servers, **{alias: self._servers[name] for alias, name in self._aliases.items()}}

    @property
    def refused(self) -> Mapping[str, NotAdmitted]:
        return self._refused

    @property
    def wrong(self) -> dict[str, MooringError]:
        """What is wrong with servers that are meant to be there, and cannot even be tried."""
        found = {name: refused.error for name, refused in self._refused.items()}
        return {name: error for name, error in found.items() if not isinstance(error, ServerDisabled)}

    def others(self, server: str | None) -> list[str]:
        """The other names of a server."""
        return [alias for alias, name in self._aliases.items() if name == server]

    def _source(self, server: Server, now: float) -> ToolSource:
        """A server's tools for the catalog: those it has, or had when it was last seen, if they are as approved."""
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
            held=self._held(server),
        )

    # --- what a name means ----------------------------------------------------------------------------------------

    def server(self, name: str) -> Server:
        """The server of that name, without regard to case.

        Raises: UnknownServer, Disabled, NotApproved; ConfigError where its definition cannot be used.
        """
        known = self.catalog.server(name)
        if known in self._refused:
            raise self._refused[known].error
        return self._servers[self._aliases.get(known, known)]

    def definition(self, name: str) -> ServerConfig | Broken | None:
        """What is configured under a name, also where it may not be started. Raises: UnknownServer."""
        known = self.catalog.server(name)
        if known in self._refused:
            return self._refused[known].config
        return self._servers[self._aliases.get(known, known)].config

    async def find(self, name: str, until: float, trusted: float = 0.0) -> CatalogEntry:
        """The tool of that name, once its server has been asked what it has, where that may help.

        Raises: UnknownServer, UnknownTool, Stale, HeldBack; what `server` and a session raise.
        """
        try:
            found = self.catalog.find(name)
        except UnknownTool as error:
            server = self._servers.get(error.server)
            if server is None or server.is_connected or not older(server, trusted):
                raise
            await server.session(until)
            found = self.catalog.find(name)
        if isinstance(found, CatalogEntry):
            return found
        if found.server in self._aliases:
            return await self.find(f"{self._aliases[found.server]}.{found.tool}", until, trusted)
        return await self._asked(found, until)

    async def _asked(self, cold: UnlistedTool, until: float) -> CatalogEntry:
        server = self.server(cold.server)
        self._still(server, server.name, cold.tool)
        await server.session(until)
        found = self.catalog.find(f"{server.name}.{cold.tool}")
        if isinstance(found, UnlistedTool):
            raise UnknownTool(server.name, cold.tool)
        return found

    def owner(self, entry: CatalogEntry) -> Server:
        """The server of a tool, if it is still the one that it was when the tool was listed, or called before.

        Raises: Stale; HeldBack where the tool is not what was approved.
        """
        server = self._servers.get(entry.server)
        if server is None or entry.owner is not server:
            raise Stale(entry.server, entry.tool)
        self._still(server, entry.server, entry.tool)
        self.catalog.vet(entry.server, entry.tool)
        return server

    def vet(self, server: str, tool: str) -> None:
        """Hold a tool of a server that was just connected to what was approved. Raises: HeldBack."""
        if server in self._servers:
            self.catalog.vet(server, tool)

    def _still(self, server: Server, name: str, tool: str) -> None:
        if self._bound.setdefault((name, tool), server) is not server:
            raise Stale(name, tool)


def older(server: Server, seconds: float) -> bool:
    """Whether the tools of a server were listed longer ago than that, or never."""
    return server.offer is None or not 0 <= time() - server.offer.at < seconds
