"""Servers that one agent brings along: connected while it works, and hidden from everybody else."""

from collections.abc import Callable, Collection, Iterable, Mapping

from mooring.core.definitions.approved import Approved
from mooring.tools.catalog.catalog import CatalogEntry


class GuestServers:
    """The servers that agents brought along, by name, each with how many agents use it."""

    def __init__(self) -> None:
        self.approved: dict[str, Approved] = {}
        self._users: dict[str, int] = {}

    def add(self, servers: Mapping[str, Approved]) -> None:
        """Let one more agent use these; two that bring the very same one share it."""
        for name, approved in servers.items():
            self.approved[name] = approved
            self._users[name] = self._users.get(name, 0) + 1

    def remove(self, names: Iterable[str]) -> list[str]:
        """Take note that an agent is done with these; those that nobody uses any more."""
        unused = []
        for name in names:
            self._users[name] -= 1
            if not self._users[name]:
                del self._users[name], self.approved[name]
                unused.append(name)
        return unused

    def is_hidden(self, server: str, brought: Collection[str]) -> bool:
        """Whether somebody else brought a server along; `brought` are one's own."""
        return server in self.approved and server not in brought

    def list_visible(
        self, list_tools: Callable[[], tuple[CatalogEntry, ...]], brought: Collection[str]
    ) -> Callable[[], tuple[CatalogEntry, ...]]:
        """Lists all tools but those of others' guests: the same tuple until something changes."""
        last: tuple[tuple[CatalogEntry, ...], frozenset[str], tuple[CatalogEntry, ...]] = ((), frozenset(), ())

        def list_entries() -> tuple[CatalogEntry, ...]:
            nonlocal last
            tools = list_tools()
            if not self.approved:
                return tools
            hidden = frozenset(name for name in self.approved if name not in brought)
            if last[0] is not tools or last[1] != hidden:
                last = tools, hidden, tuple(tool for tool in tools if tool.server not in hidden)
            return last[2]

        return list_entries
