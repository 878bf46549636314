"""The tools that an agent's definition names and nothing offers, each with the command that brings it."""

from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from mooring.agents.definition import AgentDefinition
from mooring.agents.files.tool_words import OWN_TOOLS, read_tool_word
from mooring.core.text.glob import Glob, is_literal
from mooring.display.text import quote_argument, safe
from mooring.permissions.rule import parse_pair
from mooring.tools.catalog.names import spell_glob, spell_plainly

OfferedTools: TypeAlias = Mapping[str, Collection[str] | None]
"""The tools of each server that can be used; `None` for one that has not listed any yet."""

_PUBLIC_SERVERS = {"deepwiki": "https://mcp.deepwiki.com/mcp"}
"""Servers that anybody may use, for which an agent of ours has a use."""


class MissingTool(Struct, frozen=True):
    name: str
    """As the definition writes it."""
    reason: str
    command: str | None = None
    """What brings it."""


def find_missing_tools(
    definition: AgentDefinition, offered: OfferedTools, unusable: Mapping[str, str] | None = None
) -> tuple[MissingTool, ...]:
    """The tools that an agent would have if something offered them.

    `unusable` are servers that are configured but may not be used, each with the command that changes that.
    """
    # Those servers are the agent's own: nobody knows their tools before they are connected.
    known = {**offered, **dict.fromkeys(definition.servers)}
    words = definition.written_tools or ()
    return tuple(missing for word in words for missing in _check_word(word, known, unusable or {}))


def _check_word(word: str, offered: OfferedTools, unusable: Mapping[str, str]) -> Iterator[MissingTool]:
    meant = read_tool_word(word)
    unknown = meant.own - OWN_TOOLS
    if unknown:
        # OpenCode writes tools of servers as `server_tool`, which does not say where the server's name ends.
        if not _is_offered_plainly(word, offered):
            yield MissingTool(word, "Mooring has no tool of that name")
        return
    pair = parse_pair(word) if meant.servers else None
    if pair is None:
        return
    servers = [name for name in offered if _matches(pair[0], "*", name, "x")]
    if not servers:
        yield _explain_server(word, pair[0], unusable)
    elif not any(_offers(offered[name], name, pair) for name in servers):
        listed = f"mooring tools {quote_argument(servers[0])}"
        yield MissingTool(word, f"{servers[0]} has no tool that matches", listed)


def describe_missing(agent: str, missing: MissingTool) -> str:
    """What an agent goes without, in one line."""
    command = f"; {missing.command}" if missing.command else ""
    return safe(f"{agent} goes without {missing.name}: {missing.reason}{command}")


def _explain_server(word: str, server: str, unusable: Mapping[str, str]) -> MissingTool:
    for name, command in unusable.items():
        if _matches(server, "*", name, "x"):
            return MissingTool(word, f"{name} may not be used yet", command)
    if not is_literal(server):
        return MissingTool(word, "no server that can be used has such a name", "mooring mcp list")
    url = _PUBLIC_SERVERS.get(server)
    how = f" --transport http --url {url}" if url else ""
    name = quote_argument(server)
    return MissingTool(word, f"no server named {server} can be used", f"mooring mcp add {name}{how}")


def _offers(tools: Collection[str] | None, server: str, pair: tuple[str, str]) -> bool:
    return tools is None or any(_matches(*pair, server, tool) for tool in tools)


def _matches(server_glob: str, tool_glob: str, server: str, tool: str) -> bool:
    glob = Glob(spell_glob(server_glob, tool_glob))
    return glob.matches(spell_plainly(server, tool)[0]) is True


def _is_offered_plainly(word: str, offered: OfferedTools) -> bool:
    start = spell_glob("x", word).removeprefix("mcp__x__").partition("*")[0]
    return any(start.startswith(spell_plainly(name, "x")[1].removeprefix("mcp_").removesuffix("x")) for name in offered)
