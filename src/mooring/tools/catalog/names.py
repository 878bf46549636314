"""The names under which tools are shown. A name is an alias: rules, logs and calls use the pair behind it.

No two pairs share a name, whatever servers call themselves: where a name had to be changed, cut or would be taken,
it ends in a digest of its pair. In the first scheme a name alone tells its pair apart; in the other two, which fold
names together, all that would meet get the digest.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Literal, TypeAlias

from mooring.core.tool import Pair

Scheme: TypeAlias = Literal["mcp__server__tool", "mcp_server_tool", "mcp.server.tool"]

MAX_LENGTH = 64
_DIGEST = 16


def name_tools(pairs: Iterable[Pair], scheme: Scheme = "mcp__server__tool") -> Mapping[Pair, str]:
    """A name for each pair: the same for the same set of pairs, in whatever order they come."""
    made = {pair: _SCHEMES[scheme](*pair) for pair in pairs}
    taken = Counter(made.values())

    def keeps(pair: Pair, name: str) -> bool:
        if len(name) > MAX_LENGTH or _ENDS_IN_DIGEST.search(name):
            return False
        return name == "mcp__{}__{}".format(*pair) if scheme == "mcp__server__tool" else taken[name] == 1

    return {pair: name if keeps(pair, name) else _digested(name, pair) for pair, name in made.items()}


def _double(server: str, tool: str) -> str:
    return f"mcp__{_folded_once(server)}__{_folded(tool)}"


def _single(server: str, tool: str) -> str:
    owner, name = _lowered(server), _lowered(tool)
    return f"mcp_{owner}_{name.removeprefix(f'{owner}_') or name}"


def _dotted(server: str, tool: str) -> str:
    return f"mcp.{server}.{tool}"


_SCHEMES: Mapping[str, Callable[[str, str], str]] = {
    "mcp__server__tool": _double,
    "mcp_server_tool": _single,
    "mcp.server.tool": _dotted,
}

_ENDS_IN_DIGEST = re.compile(rf"___[0-9a-f]{{{_DIGEST}}}\Z")


def _digested(name: str, pair: Pair) -> str:
    mark = sha256("\0".join(pair).encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{name[: MAX_LENGTH - _DIGEST - 3]}___{mark}"


def _folded(text: str) -> str:
    """Words joined by single underscores, so that the double ones can only be ours."""
    return re.sub(r"[^A-Za-z0-9-]+", "_", text).strip("_") or "x"


_folded_once = lru_cache(256)(_folded)
"""Kept, for it is the same for each of a server's tools."""


def _lowered(text: str) -> str:
    return re.sub(r"[^a-z]+", "_", text.lower()).strip("_") or "x"
