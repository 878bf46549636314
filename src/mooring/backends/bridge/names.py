"""The names that an agent knows servers by: safe in every agent's tool names, and never two for one."""

import re
from collections.abc import Collection, Iterable
from typing import Final

LONGEST: Final = 40
"""Agents join the name with that of a tool, and models take 64 characters."""
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+|_{2,}")


class AgentNames:
    """The names of one conversation. Each stays with its server for as long as the conversation lasts."""

    def __init__(self, reserved: Collection[str] = ()) -> None:
        """`reserved` are names, in lower case, that would make a server's tool one of the agent's own."""
        self._reserved = reserved
        self._names: dict[str, str] = {}
        self._servers: dict[str, str] = {}

    def name(self, server: str) -> str:
        """What an agent calls a server."""
        known = self._names.get(server)
        if known is not None:
            return known
        made = self._make_unique(make_safe_name(server))
        self._names[server] = made
        self._servers[made.lower()] = server
        return made

    def find(self, name: str) -> str | None:
        """The server that an agent means, whatever it makes of upper and lower case; `None` if it is none of ours."""
        return self._servers.get(name.lower())

    def _make_unique(self, name: str) -> str:
        number, unique = 1, name
        # Claude and Copilot fold what they don't take in a name, so that two could become one.
        while unique.lower() in self._servers or unique.lower() in self._reserved:
            number += 1
            unique = f"{name}-{number}"
        return unique


def make_safe_name(name: str) -> str:
    """The name with only letters, digits, `-` and single `_`: Claude separates servers from tools by two of those."""
    return _UNSAFE.sub("_", name).strip("_-")[:LONGEST].strip("_-") or "server"


def find_written_tool(written: str, tools: Iterable[str]) -> str:
    """The tool of a server that an agent writes in its own way; as it is written if it is none of these."""
    known = tuple(tools)
    if written in known:
        return written
    folded = _fold(written)
    alike = [tool for tool in known if _fold(tool) == folded]
    return alike[0] if len(alike) == 1 else written


def _fold(tool: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "_", tool)
