"""Which of the tools one conversation may use."""

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from msgspec import Struct

from mooring.core.text.glob import NameFilter
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.tools.catalog.names import spell_plainly

SEARCH_TOOL: Final = "ToolSearch"
"""Shown only where there are tools that have to be searched for; it finds none but those in the scope."""


class ToolScope(Struct, frozen=True, dict=True):
    """What an agent may use, by globs over `server.tool` or over the names that tools are shown by."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    own: frozenset[str] | None = None
    """Names of the only tools that belong to no server; `None` for all of them."""
    outer: "ToolScope | None" = None
    """Another one that has to permit a tool too: nothing is in a scope that is not in the one around it."""
    brought: frozenset[str] = frozenset()
    """Servers that the agent brought along: the scope around it knows nothing of them."""
    reads_everywhere: bool = False
    """`allow` names no server because its agent names none: resources of every server may be read all the same."""

    def allows_tool(self, entry: CatalogEntry) -> bool:
        return self.allows_pair(entry.server, entry.tool, entry.name)

    def allows_pair(self, server: str, tool: str, *shown: str) -> bool:
        """Whether a tool of a server is in the scope, by its own name or one that it is shown by."""
        is_brought = server in self.brought
        if self.outer is not None and not is_brought and not self.outer.allows_pair(server, tool, *shown):
            return False
        return self._permits_pair(server, tool, *shown)

    def allows_server(self, name: str) -> bool:
        """Whether the globs cover all of a server: only then its resources are included."""
        if self.outer is not None and name not in self.brought and not self.outer.allows_server(name):
            return False
        return self._filter.lets_through(*_spell_server(name))

    def allows_resources(self, name: str, entries: Iterable[CatalogEntry]) -> bool:
        """Whether the resources of a server may be used; `entries` are its tools, all of them.

        They may if all of the server or one of its tools is in the scope. An agent that names no server reaches every
        one that it doesn't deny, as far as the scope around it does.
        """
        tools = tuple(entries)
        outer = None if name in self.brought else self.outer
        if outer is not None and not outer.allows_resources(name, tools):
            return False
        whole = _spell_server(name)
        if self.reads_everywhere:
            # Whoever brings servers of its own names those.
            is_named = not self.brought or name in self.brought
            return is_named and self._denials.lets_through(*whole)
        if self._filter.lets_through(*whole):
            return True
        return any(self._permits_pair(entry.server, entry.tool, entry.name) for entry in tools)

    def allows_builtin(self, name: str) -> bool:
        """Whether a tool that belongs to no server is available. `allow` is about servers, so it takes none away."""
        if self.outer is not None and not self.outer.allows_builtin(name):
            return False
        # Without the search, tools that are deferred could not be found at all.
        is_listed = self.own is None or name == SEARCH_TOOL or name in self.own
        return is_listed and self._denials.lets_through(name)

    def _permits_pair(self, server: str, tool: str, *shown: str) -> bool:
        if self.allow is None and not self.deny:
            return True
        return self._filter.lets_through(f"{server}.{tool}", *shown, *spell_plainly(server, tool))

    @cached_property
    def _filter(self) -> NameFilter:
        return NameFilter(self.allow, self.deny)

    @cached_property
    def _denials(self) -> NameFilter:
        return NameFilter(None, self.deny)


def _spell_server(name: str) -> tuple[str, str, str]:
    """The names of a tool that a server does not have: what matches these matches any tool of it."""
    plain = spell_plainly(name, "x")[0].removesuffix("x")
    return f"{name}.", f"mcp__{name}__", plain
