"""Which servers a policy in some other file lets start, going by name, command or address."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from mooring.core.config import Http, ServerConfig, Stdio
from mooring.discovery.format import Policy

Rule: TypeAlias = Mapping[str, Any]


def refused(config: ServerConfig, policies: Sequence[Policy]) -> str | None:
    """Where it is said that this server may not start; `None` where nothing stands against it."""
    for said in policies:
        if said.says == "denied" and any(_named(config, rule) or _started(config, rule) for rule in said.rules):
            return said.where
        if said.says == "rules" and _rejected(config, said.rules):
            return said.where
    allowed = next((said for said in policies if said.says == "allowed"), None)
    if allowed is None or config.origin.scope == "managed" or _allowed(config, allowed.rules):
        return None
    return allowed.where


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
            return isinstance(pattern := rule.get("serverUrl"), str) and fnmatchcase(url.text, pattern)


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
