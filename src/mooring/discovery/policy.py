"""Which servers a policy in some other file lets start, going by name, command or address."""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from mooring.core.config import Http, ServerConfig, Stdio
from mooring.discovery.format import StartPolicy

Rule: TypeAlias = Mapping[str, Any]


def refused(config: ServerConfig, policies: Sequence[StartPolicy]) -> str | None:
    """Where it is said that this server may not start; `None` where nothing stands against it.

    Lists of what is allowed are one list, wherever they stand. What a project's file denies are its own servers.
    """
    foreign = config.origin.scope == "project" and not config.origin.owned
    for said in policies:
        if said.scope == "project" and not foreign:
            continue
        if said.says == "denied" and any(_named(config, rule) or _started(config, rule) for rule in said.rules):
            return said.where
        if said.says == "rules" and _rejected(config, said.rules):
            return said.where
    allowed = [said for said in policies if said.says == "allowed"]
    if not allowed or _allowed(config, tuple(rule for said in allowed for rule in said.rules)):
        return None
    return allowed[0].where


def _allowed(config: ServerConfig, rules: tuple[Rule, ...]) -> bool:
    """A name counts only where no rule goes by what servers of this kind start or reach."""
    key = "serverCommand" if isinstance(config.written or config.connection, Stdio) else "serverUrl"
    if any(key in rule for rule in rules):
        return any(_started(config, rule) for rule in rules)
    return any(_named(config, rule) for rule in rules)


def _named(config: ServerConfig, rule: Rule) -> bool:
    return rule.get("serverName") == config.name


def _started(config: ServerConfig, rule: Rule) -> bool:
    match config.written or config.connection:
        case Stdio(command, args):
            return rule.get("serverCommand") == [command.text, *(arg.text for arg in args)]
        case Http(url):
            return isinstance(pattern := rule.get("serverUrl"), str) and reaches(url.text, pattern)


_ADDRESS = re.compile(r"(?P<scheme>[^:/]*)://(?:[^/?#@]*@)?(?P<host>[^/?#:]*)(?::(?P<port>[^/?#]*))?(?P<path>[^#]*)")
_PORTS = {"http": "80", "https": "443"}


def reaches(url: str, pattern: str) -> bool:
    """Whether an address fits a pattern, by Claude Code's rules.

    `*` stands for anything in its part of the address; no path fits every path, and no port under a pattern of hosts
    every port.
    """
    if pattern == "*":
        return True
    given, wanted = _ADDRESS.match(url), _ADDRESS.match(pattern)
    if given is None or wanted is None:
        return False
    if wanted["scheme"] not in ("*", given["scheme"]):
        return False
    if not _fit(given["host"].rstrip(".").lower(), wanted["host"].rstrip(".").lower()):
        return False
    any_port = wanted["port"] == "*" or (not wanted["port"] and "*" in wanted["host"])
    usual = _PORTS.get(given["scheme"])
    if not any_port and (given["port"] or usual) != (wanted["port"] or usual):
        return False
    return not wanted["path"] or _fit(given["path"] or "/", wanted["path"])


def _fit(text: str, pattern: str) -> bool:
    """`*` stands for anything. Takes each piece where it comes first, so that no pattern takes long."""
    first, *pieces = pattern.split("*")
    if not pieces:
        return text == first
    *pieces, last = pieces
    end = len(text) - len(last)
    if not (text.startswith(first) and text.endswith(last)):
        return False
    at = len(first)
    for piece in pieces:
        if (found := text.find(piece, at, end)) < 0:
            return False
        at = found + len(piece)
    return at <= end


def _rejected(config: ServerConfig, rules: tuple[Rule, ...]) -> bool:
    """The first rule whose patterns fit decides."""
    return next((rule.get("action") == "reject" for rule in rules if _fits(config, rule.get("matches"))), False)


def _fits(config: ServerConfig, patterns: Any) -> bool:
    if not isinstance(patterns, Mapping) or not patterns:
        return False
    return all(isinstance(p, str) and fnmatchcase(_shown(config).get(key, "\0"), p) for key, p in patterns.items())


def _shown(config: ServerConfig) -> dict[str, str]:
    match config.written or config.connection:
        case Stdio(command, args):
            return {"command": command.text, "args": " ".join(arg.text for arg in args)}
        case Http(url):
            return {"url": url.text}
