"""What may be called: rules of five levels, a mode and a call go in, a verdict with its reason comes out. Pure.

Within a level the first rule that matches counts. A deny of any level stands against every allow of another. Else
the highest level that has a rule for the call decides whether it is let through or asked about; where none has, the
mode does.

| mode | a tool that no rule speaks of | beside that |
|---|---|---|
| `plan` | let through if it only reads and its server is trusted, else denied | no allow reaches further than that |
| `ask` | asked about | |
| `accept-reads` | let through if it only reads and its server is trusted, else asked about | |
| `bypass` | let through | so is what a rule would ask about |

Whether a tool only reads is what its server says; that counts for servers the person calls trusted, and for no
others. Mooring's own tools are let through unless a rule speaks of them; one that calls a tool in turn, as polling
does, passes that tool's gate as well.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.problem import Problem
from mooring.core.tool import Hints
from mooring.permissions.rule import Matcher, pair, spellings
from mooring.permissions.values import Values
from mooring.permissions.verdict import Action, Level, Mode, ProposedCall, Rule, Server, Verdict

LEVELS: tuple[Level, ...] = ("managed", "session", "local", "user", "project")
"""Highest first. `local` is the person's word about one project, kept outside of it."""
MODES: tuple[Mode, ...] = ("plan", "ask", "accept-reads", "bypass")
"""Strictest first."""
MOST_REMEMBERED = 65_536

_WHOSE: Mapping[Level, str] = {
    "managed": "the machine's settings",
    "session": "your word in this session",
    "local": "your answer for this project",
    "user": "your settings",
    "project": "the project's settings",
}


class RuleLevel(Struct, frozen=True):
    """The rules of one level, in their order, and the file they stand in."""

    level: Level
    rules: tuple[Rule, ...]
    path: str | None = None


class _Hit(Struct, frozen=True):
    """A rule that speaks of a tool; `exact` where it names that very one."""

    level: Level
    matcher: Matcher
    exact: bool


class _Known(Struct, frozen=True):
    """What is the same for every call of a tool: a verdict, or the rules whose patterns are to be tried."""

    verdict: Verdict | None
    hits: tuple[_Hit, ...]


class Policy:
    """Rules, mode and trust made ready to decide; the same call always gets the same verdict."""

    def __init__(
        self,
        layers: Iterable[RuleLevel] = (),
        mode: Mode = "ask",
        trusted: Iterable[str] = (),
        doubts: Iterable[str] = (),
    ) -> None:
        """`doubts` are files of rules that cannot be read in full: what they forbid is not known, so nothing but
        the person's word in this session lets a call through unasked."""
        given = tuple(layers)
        self.layers = tuple(layer for level in LEVELS for layer in given if layer.level == level)
        self.mode: Mode = mode
        self.trusted = frozenset(trusted)
        self.doubts = tuple(doubts)
        self.problems = tuple(_problems(self.layers))
        self._matchers = [(layer.level, Matcher(rule)) for layer in self.layers for rule in _standing(layer)]
        self._known: dict[tuple[Server, str, bool], _Known] = {}

    def decide(self, call: ProposedCall) -> Verdict:
        """What becomes of a call."""
        key = (call.server, call.tool, call.hints is not None and _only_reads(call.hints))
        known = self._known.get(key)
        if known is None:
            known = self._learn(call, key)
        verdict = known.verdict or self._settle(call, known.hits, Values(call.arguments))
        return verdict if call.target is None else _stricter(verdict, self.decide(call.target))

    def settled(self, call: ProposedCall) -> bool:
        """Whether every call of this tool gets the same verdict, whatever its arguments."""
        self.decide(call)
        known = self._known.get((call.server, call.tool, call.hints is not None and _only_reads(call.hints)))
        return known is not None and known.verdict is not None

    def adding(self, level: Level, rule: Rule, behind: Callable[[Iterable[Rule]], int] = lambda _: 0) -> "Policy":
        """The same with one more rule, which stands before the others of its level, or `behind` so many of them."""
        mine = next((layer for layer in self.layers if layer.level == level), RuleLevel(level, ()))
        at = behind(mine.rules)
        more = replace(mine, rules=(*mine.rules[:at], rule, *mine.rules[at:]))
        layers = [more, *(layer for layer in self.layers if layer is not mine)]
        return Policy(layers, self.mode, self.trusted, self.doubts)

    def _learn(self, call: ProposedCall, key: tuple[Server, str, bool]) -> _Known:
        hits = tuple(self._hits(call.server, call.tool))
        fixed = all(hit.matcher.pattern is None for hit in hits)
        known = _Known(self._settle(call, hits, Values({})) if fixed else None, hits)
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        self._known[key] = known
        return known

    def _hits(self, server: Server, tool: str) -> Iterator[_Hit]:
        spelled = spellings(server, tool)
        for level, matcher in self._matchers:
            exact = matcher.exact(server, tool)
            if exact or (matcher.rule.action != "allow" and matcher.loose(spelled)):
                yield _Hit(level, matcher, exact)

    def _settle(self, call: ProposedCall, hits: tuple[_Hit, ...], values: Values) -> Verdict:
        found = [(level, rule) for level in LEVELS if (rule := _first(hits, level, values))]
        for level, rule in found:
            if rule.action == "deny":
                return Verdict("deny", _because(level, rule), level, rule)
        if self.mode == "plan" and not self._reads(call):
            return Verdict("deny", "in plan mode only tools of trusted servers that say they only read are called")
        verdict = self._plain(call, found)
        answered = any(level == "session" and rule.action == "allow" for level, rule in found)
        if verdict.action == "allow" and self.doubts and not answered:
            why = f"rules in {', '.join(self.doubts)} cannot be read, and could deny it"
            return Verdict("ask", why, doubtful=True)
        return verdict

    def _plain(self, call: ProposedCall, found: list[tuple[Level, Rule]]) -> Verdict:
        """What becomes of a call that is not denied, if every rule can be read."""
        level, rule = found[0] if found else (None, None)
        if self.mode == "bypass" and (rule is None or rule.action == "ask"):
            return Verdict("allow", "permissions are bypassed")
        if level is None or rule is None:
            return self._unspoken(call)
        return Verdict(rule.action, _because(level, rule), level, rule)

    def _unspoken(self, call: ProposedCall) -> Verdict:
        """What the mode makes of a call that no rule speaks of."""
        if call.server is None:
            return Verdict("allow", "Mooring's own tools need no permission")
        if self.mode != "ask" and self._reads(call):
            return Verdict("allow", f"it only reads, says {call.server}, which you trust")
        return Verdict("ask", "no rule speaks of it")

    def _reads(self, call: ProposedCall) -> bool:
        if call.server is None:
            return True
        return call.hints is not None and _only_reads(call.hints) and call.server in self.trusted


def _first(hits: tuple[_Hit, ...], level: Level, values: Values) -> Rule | None:
    """The rule of a level that counts for a call.

    An ask that only might be meant holds against an allow behind it, but does not shield from a deny.
    """
    perhaps: Rule | None = None
    for hit in hits:
        rule, pattern = hit.matcher.rule, hit.matcher.pattern
        if hit.level != level:
            continue
        if rule.action == "deny" and (pattern is None or pattern.touches(values)):
            return rule
        if hit.exact and rule.action != "deny" and (pattern is None or pattern.covers(values)):
            return perhaps or rule
        if rule.action == "ask" and (pattern is None or pattern.touches(values)):
            perhaps = perhaps or rule
    return perhaps


def _only_reads(hints: Hints) -> bool:
    return hints.read_only_hint is True and hints.destructive_hint is not True


def _stricter(one: Verdict, other: Verdict) -> Verdict:
    order: tuple[Action, ...] = ("deny", "ask", "allow")
    return min(one, other, key=lambda verdict: order.index(verdict.action))


def _because(level: Level, rule: Rule) -> str:
    return f"{_WHOSE[level]} say: {rule}" if level in ("managed", "user", "project") else f"{_WHOSE[level]}: {rule}"


def _standing(layer: RuleLevel) -> Iterator[Rule]:
    """The rules of a layer that count: a project can only take away."""
    return (rule for rule in layer.rules if layer.level != "project" or rule.action != "allow")


def _problems(layers: Iterable[RuleLevel]) -> Iterator[Problem]:
    for layer in layers:
        for rule in layer.rules:
            if rule.action == "allow" and layer.level == "project":
                yield Problem(layer.path, f"A project cannot allow {rule.tool}", "it is ignored", level="warning")
            elif rule.action == "allow" and rule.tool.startswith("mcp_") and pair(rule.tool) is None:
                message = f"The rule that allows {rule.tool} does not say where the server's name ends; it is ignored"
                yield Problem(layer.path, message, "write it as mcp__server__tool or server/tool", level="warning")
