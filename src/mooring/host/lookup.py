"""Which server and which tool a name refers to.

A name is bound to the server that listed it: after an edit of the configuration an old name is refused, and never
reaches another program.
"""

from collections.abc import Callable, Mapping
from time import time

from mooring.core.config import Broken, ServerConfig
from mooring.errors import MooringError, ServerDisabled, Stale, UnknownTool
from mooring.inventory.admit import Admitted, NotAdmitted
from mooring.servers.server import Server
from mooring.tools.catalog.catalog import Catalog, CatalogEntry, MeaningSource, ToolSource, UnlistedTool
from mooring.tools.catalog.names import Scheme


class Lookup:
    """The names of one host. `find_held` returns which of a server's tools differ from what was approved."""

    def __init__(
        self,
        servers: Mapping[str, Server],
        find_held: Callable[[Server], frozenset[str]],
        meaning: MeaningSource = lambda: None,
    ) -> None:
        self._meaning = meaning
        self._servers = servers
        self._find_held = find_held
        self._aliases: Mapping[str, str] = {}
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
        return {**self._servers, **{alias: self._servers[name] for alias, name in self._aliases.items()}}

    @property
    def refused(self) -> Mapping[str, NotAdmitted]:
        return self._refused

    @property
    def unusable(self) -> dict[str, MooringError]:
        """Why servers that are switched on cannot even be tried."""
        errors = {name: refused.error for name, refused in self._refused.items()}
        return {name: error for name, error in errors.items() if not isinstance(error, ServerDisabled)}

    def other_names(self, server: str | None) -> list[str]:
        """The other names of a server."""
        return [alias for alias, name in self._aliases.items() if name == server]

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
            held=self._find_held(server),
        )

    # --- what a name refers to ----------------------------------------------------------------------------------------

    def server(self, name: str) -> Server:
        """The server of that name, ignoring case.

        Raises: UnknownServer, ServerDisabled, NotApproved; ConfigError if its definition is invalid.
        """
        known = self.catalog.server(name)
        if known in self._refused:
            raise self._refused[known].error
        return self._servers[self._aliases.get(known, known)]

    def definition(self, name: str) -> ServerConfig | Broken | None:
        """What is configured under a name, even if it may not be started. Raises: UnknownServer."""
        known = self.catalog.server(name)
        if known in self._refused:
            return self._refused[known].config
        return self._servers[self._aliases.get(known, known)].config

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
        # Two names of one definition share a server, which lists its tools under the first.
        if found.server in self._aliases:
            return await self.find(f"{self._aliases[found.server]}.{found.tool}", until, trusted)
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
        server = self._servers.get(entry.server)
        if server is None or entry.owner is not server:
            raise Stale(entry.server, entry.tool)
        self._bind(server, entry.server, entry.tool)
        self.catalog.vet(entry.server, entry.tool)
        return server

    def check_tool(self, server: str, tool: str) -> None:
        """Compare a tool of a server that was just connected with what was approved. Raises: HeldBack."""
        if server in self._servers:
            self.catalog.vet(server, tool)

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
