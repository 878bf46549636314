"""The names under which tools are shown. A name is an alias: rules, logs and calls use the pair behind it.

No two pairs share a name, whatever servers call themselves. A name that had to be changed or cut ends in a digest of
its pair. In the first scheme a name alone tells its pair, so it never depends on which other tools there are. The
other two schemes fold names together; there, every tool whose name would be shared gets the digest.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Literal, TypeAlias

from mooring.core.protocol.tool import Pair

Scheme: TypeAlias = Literal["mcp__server__tool", "mcp_server_tool", "mcp.server.tool"]

MAX_LENGTH = 64
_DIGEST_LENGTH = 16
_DIGEST_MARK = "___"
# A server could give a tool a name that looks like another tool's digest, so such names get a digest of their own.
_ENDS_IN_DIGEST = re.compile(rf"{_DIGEST_MARK}[0-9a-f]{{{_DIGEST_LENGTH}}}\Z")


def name_tools(pairs: Iterable[Pair], scheme: Scheme = "mcp__server__tool") -> Mapping[Pair, str]:
    """A name for each pair: the same for the same set of pairs, in whatever order they come."""
    return ToolNames(scheme).replace((), pairs)


def spell_plainly(server: str, tool: str) -> tuple[str, str]:
    """How agent files write a pair, whatever the scheme of shown names and however long: `mcp__s__t` and `mcp_s_t`."""
    return _name_double(server, tool), f"mcp_{_fold_server(server)}_{_fold(tool)}"


def spell_glob(server: str, tool: str) -> str:
    """The glob over what `spell_plainly` gives, for a glob over servers and one over their tools."""
    return f"mcp__{fold_glob(server)}__{fold_glob(tool)}"


def fold_glob(text: str) -> str:
    """A glob over names as `spell_plainly` writes them."""
    return re.sub(r"[^][A-Za-z0-9*?!-]+", "_", text).strip("_") or "x"


class ToolNames:
    """The names of pairs that come and go, each time for no more work than there are pairs that do."""

    def __init__(self, scheme: Scheme = "mcp__server__tool") -> None:
        self._make_plain = _SCHEMES[scheme]
        # In the first scheme no name depends on another one.
        self._folds = scheme != "mcp__server__tool"
        self._sharers: dict[str, set[Pair]] = {}
        """In the other schemes, the pairs that come to the same plain name."""

    def replace(self, old: Iterable[Pair], new: Iterable[Pair]) -> dict[Pair, str]:
        """Let the old pairs go and name the new ones; with them, any other pair whose name changed by that."""
        plain = {pair: self._make_plain(*pair) for pair in new}
        if self._folds:
            plain |= self._share(old, plain)
        return {pair: name if self._may_keep(pair, name) else _add_digest(name, pair) for pair, name in plain.items()}

    def _share(self, old: Iterable[Pair], new: Mapping[Pair, str]) -> dict[Pair, str]:
        """Keep account of who shares a plain name; return the others that share it from now on, or no longer do."""
        gone = {pair: self._make_plain(*pair) for pair in old}
        alone_before = {name: self._find_alone(name) for name in (*gone.values(), *new.values())}
        for pair, name in gone.items():
            self._sharers[name].discard(pair)
        for pair, name in new.items():
            self._sharers.setdefault(name, set()).add(pair)
        changed: dict[Pair, str] = {}
        for name, before in alone_before.items():
            # Among three or more nothing changes when one comes or goes, so that at most one other pair is renamed.
            after = self._find_alone(name)
            changed |= dict.fromkeys(self._sharers[name].intersection((before, after)), name)
            if not self._sharers[name]:
                del self._sharers[name]
        return changed

    def _find_alone(self, name: str) -> Pair | None:
        """The only pair that comes to a plain name, if it is the only one."""
        sharers = self._sharers.get(name, set())
        return next(iter(sharers)) if len(sharers) == 1 else None

    def _may_keep(self, pair: Pair, name: str) -> bool:
        if len(name) > MAX_LENGTH or _ENDS_IN_DIGEST.search(name):
            return False
        if self._folds:
            return len(self._sharers[name]) == 1
        # Nothing was folded away, so no other pair can come to this name.
        return name == "mcp__{}__{}".format(*pair)


def _name_double(server: str, tool: str) -> str:
    return f"mcp__{_fold_server(server)}__{_fold(tool)}"


def _name_single(server: str, tool: str) -> str:
    owner, name = _fold_to_letters(server), _fold_to_letters(tool)
    # Servers that repeat their name in each tool's don't say it twice: mcp_github_create_issue.
    short = name.removeprefix(f"{owner}_") or name
    return f"mcp_{owner}_{short}"


_SCHEMES: Mapping[str, Callable[[str, str], str]] = {
    "mcp__server__tool": _name_double,
    "mcp_server_tool": _name_single,
    "mcp.server.tool": "mcp.{}.{}".format,
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
