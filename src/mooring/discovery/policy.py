"""Which servers a policy in some other file lets start, by name, command or address.

Claude Code keeps `allowedMcpServers` and `deniedMcpServers` in its settings, Amp keeps `amp.mcpPermissions`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from mooring.core.config import Connection, Http, ServerConfig, Stdio
from mooring.core.glob import Glob, Matched, star_glob
from mooring.discovery.format import StartPolicy
from mooring.discovery.untyped import as_mapping

Rule: TypeAlias = Mapping[str, Any]


class StartPolicies:
    """All policies of one tool, compiled once: there may be a thousand servers to judge."""

    def __init__(self, policies: Sequence[StartPolicy]) -> None:
        self._vetoes = [_compile_veto(policy) for policy in policies if policy.says != "allowed"]
        # Claude Code takes all its lists of allowed servers for one list, whichever files they are in.
        allowing = [policy for policy in policies if policy.says == "allowed"]
        self._allowed = _ClaudeRules(rule for policy in allowing for rule in policy.rules)
        self._allowed_in = allowing[0].where if allowing else None

    def find_refusal(self, config: ServerConfig) -> str | None:
        """Where a file says that this server may not start; `None` if no file does."""
        foreign = config.origin.scope == "project" and not config.origin.owned
        for veto in self._vetoes:
            # A project's file can deny the project's own servers, never the person's.
            concerns = foreign or veto.scope != "project"
            if concerns and veto.rules.reject(config):
                return veto.where
        if self._allowed_in is None or self._allowed.allow(config):
            return None
        return self._allowed_in


class _Veto(Struct, frozen=True):
    """The rules of one file that may keep a server from starting."""

    rules: "_ClaudeRules | _AmpRules"
    where: str
    scope: str


def _compile_veto(policy: StartPolicy) -> _Veto:
    compiled = _AmpRules(policy.rules) if policy.says == "rules" else _ClaudeRules(policy.rules)
    return _Veto(compiled, policy.where, policy.scope)


def _target(config: ServerConfig) -> Connection:
    """What the entry would start or reach as its tool reads it: `npx mcp-remote URL` is a program to Claude Code."""
    return config.written or config.connection


# --- Claude Code --------------------------------------------------------------------------------------------


class _ClaudeRules:
    """A list of rules, each with a `serverName`, a `serverCommand` (program and arguments) or a `serverUrl`."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        rules = tuple(rules)
        self._names = [rule.get("serverName") for rule in rules]
        self._commands = [rule["serverCommand"] for rule in rules if "serverCommand" in rule]
        self._has_url_rules = any("serverUrl" in rule for rule in rules)
        patterns = (rule.get("serverUrl") for rule in rules)
        self._urls = [AddressPattern(pattern) for pattern in patterns if isinstance(pattern, str)]

    def reject(self, config: ServerConfig) -> bool:
        """Whether a list of denied servers holds this one, by name or by what it starts or reaches."""
        return config.name in self._names or self._has_target(config)

    def allow(self, config: ServerConfig) -> bool:
        """Whether a list of allowed servers holds this one.

        A name is enough only if no rule goes by what servers of this kind start or reach: anything may take a name.
        """
        is_program = isinstance(_target(config), Stdio)
        goes_by_target = self._commands if is_program else self._has_url_rules
        if goes_by_target:
            return self._has_target(config)
        return config.name in self._names

    def _has_target(self, config: ServerConfig) -> bool:
        match _target(config):
            case Stdio(command, args):
                return [command.text, *(arg.text for arg in args)] in self._commands
            case Http(url):
                return any(pattern.matches(url.text) for pattern in self._urls)


_ADDRESS = re.compile(r"(?P<scheme>[^:/]*)://(?:[^/?#@]*@)?(?P<host>[^/?#:]*)(?::(?P<port>[^/?#]*))?(?P<path>[^#]*)")
_PORTS = {"http": "80", "https": "443"}


class AddressPattern:
    """A pattern for addresses, by Claude Code's rules.

    `*` stands for anything in its part of the address. A pattern without a path fits every path, and a pattern of
    hosts without a port fits every port.
    """

    def __init__(self, text: str) -> None:
        self._fits_all = text == "*"
        self._parts = parts = _ADDRESS.match(text)
        if parts is None:
            return
        self._host = Glob(star_glob(_normalize_host(parts["host"])))
        self._path = Glob(star_glob(parts["path"])) if parts["path"] else None
        self._any_port = parts["port"] == "*" or (not parts["port"] and "*" in parts["host"])

    def matches(self, url: str) -> bool:
        """Whether an address fits. An address or a pattern that is none fits nothing."""
        if self._fits_all:
            return True
        given, wanted = _ADDRESS.match(url), self._parts
        if given is None or wanted is None:
            return False
        if wanted["scheme"] not in ("*", given["scheme"]):
            return False
        if not self._host.matches(_normalize_host(given["host"])):
            return False
        usual = _PORTS.get(given["scheme"])
        same_port = (given["port"] or usual) == (wanted["port"] or usual)
        if not same_port and not self._any_port:
            return False
        return self._path is None or bool(self._path.matches(given["path"] or "/"))


def _normalize_host(host: str) -> str:
    return host.rstrip(".").lower()


# --- Amp ----------------------------------------------------------------------------------------------------


class _AmpRules:
    """A list of rules, each with globs under `matches` and an `action`; the first rule that matches decides."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = [_AmpRule(_compile_globs(rule), rule.get("action") == "reject") for rule in rules]

    def reject(self, config: ServerConfig) -> bool:
        shown = _shown_to_amp(config)
        for rule in self._rules:
            match = rule.matches(shown)
            # If it cannot be told whether a rule matches, one that rejects counts and one that allows does not.
            if match or (match is None and rule.rejects):
                return rule.rejects
        return False


class _AmpRule(Struct, frozen=True):
    globs: Mapping[str, Glob]
    rejects: bool

    def matches(self, shown: Mapping[str, str]) -> Matched:
        """Whether every glob matches the field it is for; a rule without globs matches nothing."""
        # A rule about addresses says nothing about programs: `"url": "*"` is how Amp's manual blocks remote servers.
        if not self.globs or not self.globs.keys() <= shown.keys():
            return False
        answers = [glob.matches(shown[field]) for field, glob in self.globs.items()]
        if False in answers:
            return False
        return None if None in answers else True


def _compile_globs(rule: Rule) -> dict[str, Glob]:
    """The globs of a rule by the field they are for; none if one of them is no text, so that the rule says nothing."""
    patterns = as_mapping(rule.get("matches"))
    globs = {field: Glob(pattern) for field, pattern in patterns.items() if isinstance(pattern, str)}
    return globs if len(globs) == len(patterns) else {}


def _shown_to_amp(config: ServerConfig) -> dict[str, str]:
    match _target(config):
        case Stdio(command, args):
            return {"command": command.text, "args": " ".join(arg.text for arg in args)}
        case Http(url):
            return {"url": url.text}
