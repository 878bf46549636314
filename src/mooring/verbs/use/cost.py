"""`tools --cost`: how many tokens a model reads for the tools of all servers, or of one, before it does anything."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, json

from mooring.conversation.deferral import DEFAULT_CONTEXT
from mooring.core.conversation.call import ToolDefinition
from mooring.host.host import Host
from mooring.tools.catalog.catalog import estimate_tokens, estimate_tools
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import connect_server, connect_servers

OWN = "mooring"
"""The name under which Mooring's own tools are counted."""


class Share(Struct, frozen=True):
    """What the tools of one server add up to; all figures are estimates."""

    name: str
    tools: int
    tokens: int
    """If all are shown from the start."""
    deferred: int
    """If they are deferred: only those that are always shown."""


class Cost(Struct, frozen=True):
    """What a model reads at the start of a conversation."""

    servers: tuple[Share, ...]
    own: Share
    """Mooring's own tools; the search tool is among them only if there is something to search for."""
    budget: int
    """How many tokens of tools may be shown before they are deferred."""
    context: int
    defers: bool
    """Whether the tools of all servers together exceed the budget."""
    failed: Mapping[str, str] = {}

    @property
    def tools(self) -> int:
        return sum(share.tools for share in self._shares)

    @property
    def tokens(self) -> int:
        return sum(share.tokens for share in self._shares)

    @property
    def deferred(self) -> int:
        return sum(share.deferred for share in self._shares)

    @property
    def _shares(self) -> tuple[Share, ...]:
        return (*self.servers, self.own)


async def count_cost(host: Host, deadline: Deadline, name: str | None = None, *, refresh: bool = False) -> Cost:
    """What the tools of one server, or of all, add up to. Raises: as `list_tools`."""
    errors = {}
    if name is None:
        errors = await connect_servers(host, deadline, refresh=refresh)
    else:
        await connect_server(host, deadline, name, refresh=refresh)
    shares, own = await _count_shares(host, None if name is None else host.server(name).name)
    budget = round(DEFAULT_CONTEXT * host.settings["toolBudget"] / 100)
    # Whether tools are deferred depends on all servers, also when the person asked about one.
    all_tools = {(entry.server, entry.tool): entry.definition for entry in host.tools}
    servers = host.servers
    return Cost(
        servers=shares,
        own=own,
        budget=budget,
        context=DEFAULT_CONTEXT,
        defers=estimate_tools(all_tools) > budget,
        failed={server: str(error) for server, error in errors.items() if server in servers},
    )


async def _count_shares(host: Host, only: str | None) -> tuple[tuple[Share, ...], Share]:
    """The share of each server, or of the only one asked about, and of Mooring's own tools."""
    # What a model would be given is asked of a conversation itself: once with room for everything, once with none.
    async with host.conversation(budget=None) as whole, host.conversation(budget=0) as deferred:
        pairs = whole.pairs
        tools = _group_by_server(whole.definitions, pairs)
        always_shown = _group_by_server(deferred.definitions, pairs)
    # Also those of which nothing is shown, for a budget of 0 % leaves no room in any context.
    names = sorted({server for server, _ in pairs.values() if only in (None, server)})
    shares = tuple(_make_share(name, tools.get(name, []), always_shown.get(name, [])) for name in names)
    return shares, _make_share(OWN, tools.get(None, []), always_shown.get(None, []))


def _group_by_server(
    tools: Iterable[ToolDefinition], pairs: Mapping[str, tuple[str, str]]
) -> dict[str | None, list[ToolDefinition]]:
    """The tools of each server; `None` stands for Mooring itself, whose tools belong to no server."""
    groups: dict[str | None, list[ToolDefinition]] = {}
    for tool in tools:
        server = pairs[tool.name][0] if tool.name in pairs else None
        groups.setdefault(server, []).append(tool)
    return groups


def _make_share(name: str, tools: list[ToolDefinition], always_shown: list[ToolDefinition]) -> Share:
    return Share(name, len(tools), _count_tokens(tools), _count_tokens(always_shown))


def _count_tokens(tools: list[ToolDefinition]) -> int:
    return sum(
        estimate_tokens(tool.name) + estimate_tokens(tool.description) + estimate_tokens(json.encode(tool.schema))
        for tool in tools
    )
