"""Which servers a policy in some other file lets start, by name, command or address.

Claude Code keeps `allowedMcpServers` and `deniedMcpServers` in its settings, Amp keeps `amp.mcpPermissions`.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain, product
from typing import Any, TypeAlias

from msgspec import Struct

from mooring.core.definitions.config import Connection, Http, InProcess, ServerConfig, Stdio
from mooring.core.text.glob import Glob, folded, literal, star_glob
from mooring.discovery.format import StartPolicy
from mooring.discovery.values import as_mapping, text_or_none

Rule: TypeAlias = Mapping[str, Any]


class StartPolicies:
    """All policies of one tool, compiled once: there may be a thousand servers to judge."""

    def __init__(self, policies: Sequence[StartPolicy]) -> None:
        self._vetoes: list[_Veto] = []
        # Claude Code takes all its lists of allowed servers for one list, whichever files they are in.
        allowed: list[Rule] = []
        self._allowed_in: str | None = None
        for policy in policies:
            if policy.says == "allowed":
                allowed.extend(policy.rules)
                self._allowed_in = self._allowed_in or policy.where
            else:
                compile_rules = _AmpRules if policy.says == "rules" else _ClaudeRules
                self._vetoes.append(_Veto(compile_rules(policy.rules), policy.where, policy.scope == "project"))
        self._allowed = _ClaudeRules(allowed)

    def find_refusal(self, config: ServerConfig) -> str | None:
        """Where a file says that this server may not start; `None` if no file does."""
        for veto in self._vetoes:
            if veto.refuses(config):
                return veto.where
        # Without a list of allowed servers, all are.
        if self._allowed_in is None or self._allowed.allow(config):
            return None
        return self._allowed_in


class _Veto(Struct, frozen=True):
    """The rules of one file that may keep a server from starting."""

    rules: "_ClaudeRules | _AmpRules"
    where: str
    by_project: bool

    def refuses(self, config: ServerConfig) -> bool:
        # A project's file can deny the project's own servers, never the person's.
        if self.by_project and not config.origin.foreign:
            return False
        return self.rules.reject(config)


def _target(config: ServerConfig) -> Connection:
    """What the entry would start or reach as its tool reads it: `npx mcp-remote URL` is a program to Claude Code."""
    return config.written or config.connection


def _words(stdio: Stdio) -> list[str]:
    """A program and its arguments as they are written: placeholders are not filled in yet."""
    return [template.text for template in (stdio.command, *stdio.args)]


# --- Claude Code --------------------------------------------------------------------------------------------


class _ClaudeRules:
    """A list of rules, each with a `serverName`, a `serverCommand` (program and arguments) or a `serverUrl`."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        # A value of the wrong type equals no name or command, and fits no address, but its rule is still one.
        self._names = _collect(rules, "serverName")
        self._commands = _collect(rules, "serverCommand")
        self._addresses = [AddressPattern(text_or_none(url) or "") for url in _collect(rules, "serverUrl")]

    def reject(self, config: ServerConfig) -> bool:
        """Whether a list of denied servers holds this one, by name or by what it starts or reaches."""
        return config.name in self._names or self._has_target(config)

    def allow(self, config: ServerConfig) -> bool:
        """Whether a list of allowed servers holds this one.

        A name is enough only if no rule is about what servers of this kind start or reach: anything can take a name.
        """
        is_program = isinstance(_target(config), Stdio)
        rules_by_target = self._commands if is_program else self._addresses
        if rules_by_target:
            return self._has_target(config)
        return config.name in self._names

    def _has_target(self, config: ServerConfig) -> bool:
        match _target(config):
            case Stdio() as stdio:
                return _words(stdio) in self._commands
            case Http(url):
                return any(pattern.matches(url.text) for pattern in self._addresses)
            case InProcess():
                return False


def _collect(rules: Sequence[Rule], key: str) -> list[Any]:
    return [rule[key] for rule in rules if key in rule]


_ADDRESS = re.compile(r"(?P<scheme>[^:/]*)://(?:[^/?#@]*@)?(?P<host>[^/?#:]*)(?::(?P<port>[^/?#]*))?(?P<path>[^#]*)")
_PORTS = {"http": "80", "https": "443"}


class _Address(Struct, frozen=True):
    """The parts of an address, or of a pattern for addresses; a part that is missing is empty."""

    scheme: str
    host: str = ""
    port: str = ""
    path: str = ""


def _split_address(text: str) -> _Address | None:
    found = _ADDRESS.match(text)
    if found is None:
        return None
    host = found["host"].rstrip(".").lower()
    return _Address(found["scheme"], host, found["port"] or "", found["path"])


class AddressPattern:
    """A pattern for addresses, by Claude Code's rules.

    `*` matches anything in its part of the address. A pattern without a path fits every path, and a pattern of
    hosts without a port fits every port.
    """

    def __init__(self, text: str) -> None:
        # No address has such a scheme.
        wanted = _split_address(text) or _Address("/")
        usual_port = "*" if "*" in wanted.host else ""
        self._fits_all = text == "*"
        self._scheme = wanted.scheme
        self._host = Glob(star_glob(wanted.host))
        self._port = wanted.port or usual_port
        self._path = Glob(star_glob(wanted.path or "*"))

    def matches(self, url: str) -> bool:
        """Whether an address fits. An address or a pattern that is none fits nothing."""
        if self._fits_all:
            return True
        given = _split_address(url)
        if given is None or self._scheme not in ("*", given.scheme):
            return False
        if not self._fits_port(given) or not self._host.matches(given.host):
            return False
        return self._path.matches(given.path or "/") is True

    def _fits_port(self, given: _Address) -> bool:
        usual_port = _PORTS.get(given.scheme, "")
        wanted_port = self._port or usual_port
        return wanted_port in ("*", given.port or usual_port)


# --- Amp ----------------------------------------------------------------------------------------------------


_AMP_FIELDS = frozenset({"command", "args", "url"})


class _AmpRules:
    """A list of rules, each with conditions under `matches` and an `action`; the first rule that applies decides.

    A condition is a glob, `/a regular expression/`, or a list of which one has to hold. What cannot be read errs on the
    safe side: a rule that rejects applies, and one that allows does not.
    """

    def __init__(self, rules: Sequence[Any]) -> None:
        self._rules = [_compile_amp_rule(rule) for rule in rules if rule is not None]

    def reject(self, config: ServerConfig) -> bool:
        return next((rule.rejects for rule in self._rules if rule.applies(config)), False)


class _AmpRule(Struct, frozen=True):
    conditions: Mapping[str, "_AmpCondition"]
    rejects: bool

    def applies(self, config: ServerConfig) -> bool:
        """Whether every condition holds; without any, a rule that rejects applies to all and another to none."""
        shown = self._show(config)
        # A rule about addresses says nothing about programs: `"url": "*"` is how Amp's manual blocks remote servers.
        absent = _AMP_FIELDS - shown.keys()
        if not absent.isdisjoint(self.conditions):
            return False
        if not self.conditions:
            return self.rejects
        return all(condition.holds(shown.get(field)) for field, condition in self.conditions.items())

    def _show(self, config: ServerConfig) -> Mapping[str, tuple[str, ...]]:
        """What the conditions are about, by field."""
        match _target(config):
            case Http(url):
                return {"url": (url.text,)}
            case Stdio() as stdio:
                words = _words(stdio)
                line = " ".join(words)
                # Amp's manual writes both `npx` with a condition on `args`, and `npx @scope/server-*`. The first of the
                # two alone must not allow every package there is.
                is_line_only = not self.rejects and "args" not in self.conditions
                command = (line,) if is_line_only else (words[0], line)
                return {"command": command, "args": (" ".join(words[1:]),)}
            case InProcess():
                return {}


class _AmpCondition(Struct, frozen=True):
    globs: tuple[Glob, ...]
    is_whole: bool
    """Whether all of it could be read."""
    rejects: bool

    def holds(self, texts: tuple[str, ...] | None) -> bool:
        if texts is None or (self.rejects and not self.is_whole):
            return self.rejects
        return any(self._matches(glob, text) for glob, text in product(self.globs, texts))

    def _matches(self, glob: Glob, text: str) -> bool:
        if not self.rejects:
            return glob.matches(text) is True
        return glob.matches(folded(text)) is not False


def _compile_amp_rule(rule: Any) -> _AmpRule:
    written = as_mapping(rule)
    # Anything but a plain "allow" is treated as a rejection.
    rejects = written.get("action") != "allow"
    matches = as_mapping(written.get("matches"))
    conditions = {field: _compile_amp_condition(value, rejects) for field, value in matches.items()}
    return _AmpRule(conditions, rejects)


def _compile_amp_condition(value: Any, rejects: bool) -> _AmpCondition:
    items = value if isinstance(value, list) else [value]
    read = list(map(_read_amp_text, items))
    globs = [Glob(text, loosely=rejects) for text in chain.from_iterable(read)]
    return _AmpCondition(tuple(globs), all(read), rejects)


def _read_amp_text(text: Any) -> tuple[str, ...]:
    """The globs that a text means; none for other values, and for regular expressions that no glob can express."""
    if not isinstance(text, str):
        return ()
    found = re.fullmatch(_AMP_REGEX, text)
    if found is None:
        return (text,)
    glob = _to_glob(found[1])
    if glob is None:
        return ()
    # `/usr/bin/s` is a path as well as an expression with a flag.
    is_path = not text.endswith("/")
    return (glob, text) if is_path else (glob,)


_AMP_REGEX = r"(?s)/(.+)/[dgimsuvy]*"
_REGEX_TOKEN = re.compile(r"\.\*|\.\+|\.|\\[^\w\s]|[\w @:/=,;<>%&~'\"!-]|(.)", re.DOTALL)
_REGEX_WORDS = {".*": "*", ".+": "?*", ".": "?"}


def _to_glob(regex: str) -> str | None:
    """The glob that matches where a simple regular expression is found; `None` if it is not simple."""
    starts = regex.startswith("^")
    ends = regex.endswith("$") and not regex.endswith("\\$")
    middle = regex[starts : len(regex) - ends]
    parts = []
    for token in _REGEX_TOKEN.finditer(middle):
        if token[1] is not None:
            return None
        word = token[0]
        parts.append(_REGEX_WORDS.get(word) or literal(word.removeprefix("\\")))
    before = "" if starts else "*"
    after = "" if ends else "*"
    return "".join((before, *parts, after))
