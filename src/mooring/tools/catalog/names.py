"""The names under which tools are shown. A name is an alias: rules, logs and calls use the pair behind it.

No two pairs share a name, whatever servers call themselves. A name that had to be changed or cut ends in a digest of
its pair. In the first scheme a name alone tells its pair, so it never depends on which other tools there are. The
other two schemes fold names together; there, every tool whose name would be shared gets the digest.
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
_DIGEST_LENGTH = 16
_DIGEST_MARK = "___"
# A server could give a tool a name that looks like another tool's digest, so such names get a digest of their own.
_ENDS_IN_DIGEST = re.compile(rf"{_DIGEST_MARK}[0-9a-f]{{{_DIGEST_LENGTH}}}\Z")


def name_tools(pairs: Iterable[Pair], scheme: Scheme = "mcp__server__tool") -> Mapping[Pair, str]:
    """A name for each pair: the same for the same set of pairs, in whatever order they come."""
    plain = {pair: _SCHEMES[scheme](*pair) for pair in pairs}
    counts = Counter(plain.values())

    def may_keep(pair: Pair, name: str) -> bool:
        if len(name) > MAX_LENGTH or _ENDS_IN_DIGEST.search(name):
            return False
        if scheme == "mcp__server__tool":
            # Nothing was folded away, so no other pair can come to this name.
            return name == "mcp__{}__{}".format(*pair)
        return counts[name] == 1

    return {pair: name if may_keep(pair, name) else _add_digest(name, pair) for pair, name in plain.items()}


def _name_double(server: str, tool: str) -> str:
    return f"mcp__{_fold_server(server)}__{_fold(tool)}"


def _name_single(server: str, tool: str) -> str:
    owner = _fold_to_letters(server)
    name = _fold_to_letters(tool)
    # Servers that repeat their name in each tool's don't say it twice: mcp_github_create_issue.
    short = name.removeprefix(f"{owner}_") or name
    return f"mcp_{owner}_{short}"


def _name_dotted(server: str, tool: str) -> str:
    return f"mcp.{server}.{tool}"


_SCHEMES: Mapping[str, Callable[[str, str], str]] = {
    "mcp__server__tool": _name_double,
    "mcp_server_tool": _name_single,
    "mcp.server.tool": _name_dotted,
}


def _add_digest(name: str, pair: Pair) -> str:
    # Names come from JSON, whose texts may hold lone surrogates.
    digest = sha256("\0".join(pair).encode(errors="surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
    kept = MAX_LENGTH - len(_DIGEST_MARK) - _DIGEST_LENGTH
    return f"{name[:kept]}{_DIGEST_MARK}{digest}"


def _fold(text: str) -> str:
    """Words joined by single underscores, so that every double one is a separator of the scheme."""
    return re.sub(r"[^A-Za-z0-9-]+", "_", text).strip("_") or "x"


_fold_server = lru_cache(256)(_fold)
"""Cached, because it is the same for each of a server's tools."""


def _fold_to_letters(text: str) -> str:
    return re.sub(r"[^a-z]+", "_", text.lower()).strip("_") or "x"
