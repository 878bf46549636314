"""`tools --cost`: what the tools of all servers, or of one, cost a model to read, before it does anything."""

from collections.abc import Mapping

from msgspec import Struct, json

from mooring.actions.deadline import Deadline
from mooring.actions.opening import connect_servers
from mooring.core.call import Definition
from mooring.host.host import Host
from mooring.tools.catalog.cost import estimate_tokens, estimate_tools
from mooring.tools.deferral import DEFAULT_CONTEXT

OWN = "mooring"


class Share(Struct, frozen=True):
    """What the tools of one server come to; all figures are estimates."""

    name: str
    tools: int
    tokens: int
    """If all are shown from the start."""
    deferred: int
    """If they have to be searched for: those that are always shown."""


class Cost(Struct, frozen=True):
    """What a model reads at the start of a conversation."""

    servers: tuple[Share, ...]
    own: Share
    """Mooring's own tools; the one to search with is there only where there is something to search for."""
    budget: int
    """So many tokens of tools may be shown before they have to be searched for."""
    context: int
    defers: bool
    """Whether the tools of all servers have to be searched for."""
    failed: Mapping[str, str] = {}

    @property
    def tokens(self) -> int:
        return sum(share.tokens for share in (*self.servers, self.own))

    @property
    def deferred(self) -> int:
        return sum(share.deferred for share in (*self.servers, self.own))


async def count_cost(host: Host, deadline: Deadline, name: str | None = None, *, refresh: bool = False) -> Cost:
    """What the tools of one server, or of all, come to. Raises: as `list_tools`."""
    errors = await connect_servers(host, deadline, [name] if name else None, refresh=refresh)
    if name and errors:
        raise next(iter(errors.values()))
    failed = {server: str(error) for server, error in errors.items() if server in host.servers}
    only = host.server(name).name if name else None
    budget = round(DEFAULT_CONTEXT * host.settings["toolBudget"] / 100)
    async with host.registry(context=1 << 40) as whole, host.registry(context=0) as short:
        pairs = whole.pairs
        servers = sorted({server for server, _ in pairs.values() if only in (None, server)})
        return Cost(
            tuple(_share(server, whole.definitions, short.definitions, pairs) for server in servers),
            _share(None, whole.definitions, short.definitions, pairs),
            budget,
            DEFAULT_CONTEXT,
            estimate_tools({(entry.server, entry.tool): entry.definition for entry in host.tools}) > budget,
            failed,
        )


def _share(
    server: str | None,
    whole: tuple[Definition, ...],
    short: tuple[Definition, ...],
    pairs: Mapping[str, tuple[str, str]],
) -> Share:
    mine = [tool for tool in whole if pairs.get(tool.name, (None,))[0] == server]
    first = [tool for tool in short if pairs.get(tool.name, (None,))[0] == server]
    return Share(server or OWN, len(mine), _tokens(mine), _tokens(first))


def _tokens(tools: list[Definition]) -> int:
    return sum(
        estimate_tokens(tool.name) + estimate_tokens(tool.description) + estimate_tokens(json.encode(tool.schema))
        for tool in tools
    )
