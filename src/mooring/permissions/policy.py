"""What may be called: rules of five levels, a mode and a call go in, a verdict with its reason comes out. Pure.

Within a level the first rule that matches wins. A deny at any level beats every allow at another. Otherwise the highest
level that has a rule for the call decides whether it is allowed or asked about; if none has, the mode does.

| mode | a tool without a rule | besides |
|---|---|---|
| `plan` | allowed if it only reads and its server is trusted, else denied | no allow reaches further than that |
| `ask`, `accept-reads` | allowed if it only reads and its server is trusted, else asked about | |
| `edits` | as in `ask`, but a local tool changes files inside the project unasked | |
| `bypass` | allowed | so is what a rule would ask about, unless it is the machine's |

The local tools of an agent need a permission too, unless all they do is read inside the project; some of what they
could touch is asked about whatever a rule or a mode allows, and some is refused (`LocalAccess`).

Whether a tool only reads is its server's own claim; it is believed for servers the person trusts, and for no
others. Mooring's own tools are allowed unless a rule is about them; one that calls a tool in turn, as polling does,
needs that tool's permission as well. Resources and prompts that a server listed only read; an address that it never
named is asked about like a tool that does more than that.

A server that came with the project may have any name, also that of a server the person has elsewhere. So what the
person's settings grant to a name, by an allow or by `trustedServers`, is for their own servers, except for the allows
that they applied to a project's server when they approved it; what the machine's settings, this session and the rules
for this project grant holds for a project's server too. Denies hold for all.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.conversation.verdict import (
    BYPASSED,
    Action,
    ItemState,
    Level,
    LocalAccess,
    Mode,
    ProposedCall,
    Rule,
    ServerName,
    Verdict,
)
from mooring.core.definitions.approved import AllowRule, ForeignServers
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.tool import Hints
from mooring.core.text.glob import folded
from mooring.errors import ConfigError
from mooring.permissions.argument_match import ArgumentValues
from mooring.permissions.rule import RuleMatcher, list_spellings, parse_pair, split_local_rule

LEVELS: tuple[Level, ...] = ("managed", "session", "local", "user", "project")
"""Highest first. `local` holds the person's rules for one project, in a file outside of it."""
MAX_REMEMBERED = 65_536

_STRICTEST_FIRST: tuple[Action, ...] = ("deny", "ask", "allow")

_PLAN_REASONS: Mapping[ItemState | None, str] = {
    None: "in plan mode, only read-only tools of trusted servers are called",
    "listed": "in plan mode, only trusted servers are asked for resources and prompts",
    "unlisted": "in plan mode, only addresses that their server lists are read",
}

_ANYTHING = ("", "*", "**")
_ONLY_READS = Hints(read_only_hint=True)
_LOCAL_PLAN_REASON = "in plan mode, local tools only read, and only inside the project"

_SOURCES: Mapping[Level, str] = {
    "managed": "the machine's settings say",
    "session": "you allowed it in this session",
    "local": "your answer for this project",
    "user": "your settings say",
    "project": "the project's settings say",
}

_ToolKey: TypeAlias = tuple[str | None, str, bool, ItemState | None, bool]
"""A tool, whether it claims to only read, which servers can change while they run, and whether it is a local one."""
_Touched: TypeAlias = ArgumentValues | LocalAccess
"""What the pattern of a rule is compared with."""


class RuleLevel(Struct, frozen=True):
    """The rules of one level, in order, and the file that holds them."""

    level: Level
    rules: tuple[Rule, ...]
    path: str | None = None

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ConfigError(f"The level of rules is one of {', '.join(LEVELS)}, not {self.level!r}.")


class _RuleForTool(Struct, frozen=True):
    """A rule about a tool; `exact` if it names that very one, and not just something that could be meant for it."""

    matcher: RuleMatcher
    exact: bool

    def may_apply(self, touched: "_Touched") -> bool:
        if isinstance(touched, LocalAccess):
            reach = self.matcher.access_pattern
            return reach is None or reach.touches(touched)
        pattern = self.matcher.pattern
        return pattern is None or pattern.touches(touched)

    def surely_applies(self, touched: "_Touched") -> bool:
        if not self.exact:
            return False
        if isinstance(touched, LocalAccess):
            reach = self.matcher.access_pattern
            return reach is None or reach.covers(touched)
        pattern = self.matcher.pattern
        return pattern is None or pattern.covers(touched)


_RulesByLevel: TypeAlias = tuple[tuple[Level, tuple[_RuleForTool, ...]], ...]
_Deciding: TypeAlias = list[tuple[Level, Rule]]
"""The rule of each level that decides for it, highest level first; levels without one are left out."""


class _PreparedTool(Struct, frozen=True):
    """What is the same for every call of a tool: its verdict, or the rules whose patterns depend on the arguments."""

    verdict: Verdict | None
    rules: _RulesByLevel
    withheld: tuple[_RuleForTool, ...] = ()
    """Allows that name this tool, but are for the person's own servers."""


class Policy:
    """Rules, mode and trusted servers, ready to decide; the same call always gets the same verdict."""

    def __init__(
        self,
        layers: Iterable[RuleLevel] = (),
        mode: Mode = "ask",
        trusted: Iterable[str] = (),
        doubts: Iterable[str] = (),
        bypass_reason: str = BYPASSED,
        foreign: ForeignServers | None = None,
        compiled: dict[Rule, RuleMatcher] | None = None,
        verbatim: Iterable[tuple[str, str]] = (),
    ) -> None:
        """`doubts` are files of rules that cannot be read in full. What they deny is unknown, so only what the person
        allowed in this session is allowed without asking. `bypass_reason` is what the log says of calls that nobody
        was asked about. `foreign` are the names of servers that came with the project, each with the rules that the
        person applied to it. `compiled` are the rules of an earlier policy, so that they are not compiled again.
        `verbatim` are local tools with what no rule can allow, and the person allowed for this session."""
        # The sort is stable: layers of one level keep their order.
        self.layers = tuple(sorted(layers, key=lambda layer: LEVELS.index(layer.level)))
        self.mode: Mode = mode
        self.trusted = frozenset(trusted)
        self.doubts = tuple(doubts)
        self.bypass_reason = bypass_reason
        self.foreign = foreign or {}
        self._verbatim = frozenset(verbatim)
        self._compiled: dict[Rule, RuleMatcher] = {} if compiled is None else compiled
        self._matchers: list[tuple[Level, RuleMatcher]] = []
        for layer in self.layers:
            self._matchers += [(layer.level, self._compile(rule)) for rule in _rules_in_force(layer)]
        self._prepared: dict[_ToolKey, _PreparedTool] = {}

    def _compile(self, rule: Rule) -> RuleMatcher:
        matcher = self._compiled.get(rule)
        if matcher is None:
            matcher = self._compiled[rule] = RuleMatcher(rule)
        return matcher

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """The allows that are ignored, each with its reason."""
        return tuple(_find_problems(self.layers))

    def is_foreign(self, server: ServerName) -> bool:
        """Whether a server came with the project: what the person's settings grant to its name is not for it, unless
        they said so."""
        return server in self.foreign

    def find_applied(self, level: Level, rule: Rule) -> tuple[str, ...]:
        """The project's servers that a rule of the person's settings applies to, because they said so."""
        if (level, rule.action) != ("user", "allow"):
            return ()
        written = AllowRule(rule.tool, rule.pattern)
        return tuple(server for server, applied in self.foreign.items() if written in applied)

    def decide(self, call: ProposedCall) -> Verdict:
        """What happens to a call."""
        prepared = self._prepare(call)
        verdict = prepared.verdict
        if verdict is None:
            verdict = self._apply_rules(call, prepared, call.access or ArgumentValues(call.arguments))
        if call.target is None:
            return verdict
        return find_strictest([verdict, self.decide(call.target)])

    def judge_opening(self, access: LocalAccess) -> Verdict:
        """What becomes of a file that is opened or named as part of something that was permitted: a search, a listing,
        an import. It needs no permission of its own, but a rule about `Read` holds, and so does a path that insists."""
        return self.judge_reading(access if access.is_free else replace(access, is_free=True))

    def judge_reading(self, access: LocalAccess) -> Verdict:
        """What becomes of a file that nobody permitted yet, such as one that a link leads to: as if `Read` asked."""
        return self.decide(ProposedCall(None, "Read", {}, _ONLY_READS, access=access))

    def may_open(self, access: LocalAccess) -> bool:
        """Whether such a file is opened without a question; every tool and loader that opens files asks this."""
        verdict = self.judge_opening(access)
        # Whoever permitted the whole was told that rules cannot be read.
        return verdict.action == "allow" or (verdict.doubtful and not access.insists)

    def ignores_arguments(self, call: ProposedCall) -> bool:
        """Whether every call of this tool gets the same verdict, whatever its arguments."""
        return self._prepare(call).verdict is not None

    def with_rule(
        self, level: Level, rule: Rule, find_index: Callable[[Iterable[Rule]], int] = lambda _: 0
    ) -> "Policy":
        """The same policy with one more rule; `find_index` says where among those of its level, by default first."""
        layer = self._first_layer(level)
        index = find_index(layer.rules)
        longer = replace(layer, rules=(*layer.rules[:index], rule, *layer.rules[index:]))
        return self._vary(layer, longer, self.mode)

    def with_terms(self, mode: Mode, session_rules: tuple[Rule, ...]) -> "Policy":
        """The same policy in another mode, with more rules for a session, before those that it has."""
        layer = self._first_layer("session")
        longer = replace(layer, rules=(*session_rules, *layer.rules))
        return self._vary(layer, longer, mode)

    def with_trusted(self, server: str) -> "Policy":
        """The same policy, with one more server that is believed when it says that a tool only reads."""
        layer = self._first_layer("session")
        return self._vary(layer, layer, self.mode, trusted=(server,))

    def with_verbatim(self, tool: str, text: str) -> "Policy":
        """The same policy, with this very use of a local tool allowed for the session."""
        layer = self._first_layer("session")
        return self._vary(layer, layer, self.mode, verbatim=((tool, text),))

    def _first_layer(self, level: Level) -> RuleLevel:
        same_level = [layer for layer in self.layers if layer.level == level]
        return same_level[0] if same_level else RuleLevel(level, ())

    def _vary(
        self,
        layer: RuleLevel,
        instead: RuleLevel,
        mode: Mode,
        verbatim: Iterable[tuple[str, str]] = (),
        trusted: Iterable[str] = (),
    ) -> "Policy":
        others = [other for other in self.layers if other is not layer]
        return Policy(
            [instead, *others],
            mode,
            self.trusted.union(trusted),
            self.doubts,
            self.bypass_reason,
            self.foreign,
            self._compiled,
            self._verbatim.union(verbatim),
        )

    def _prepare(self, call: ProposedCall) -> _PreparedTool:
        """What holds for every call of this tool, worked out once."""
        key = call.server, call.tool, _claims_to_only_read(call.hints), call.item, call.access is not None
        if key in self._prepared:
            return self._prepared[key]
        found = list(self.find_rules(call))
        in_force: dict[Level, list[_RuleForTool]] = {}
        withheld = []
        for level, rule in found:
            if self._is_withheld(level, rule, call.server):
                withheld.append(rule)
            else:
                in_force.setdefault(level, []).append(rule)
        rules = tuple((level, tuple(of_level)) for level, of_level in in_force.items())
        prepared = _PreparedTool(None, rules, tuple(withheld))
        # What a local tool would touch differs from call to call, and decides where no rule does.
        if call.access is None and not any(rule.matcher.has_pattern for _, rule in found):
            prepared = replace(prepared, verdict=self._apply_rules(call, prepared, ArgumentValues({})))
        # A server may rename its tools for ever: the memory is bounded, and starting over costs little.
        if len(self._prepared) >= MAX_REMEMBERED:
            self._prepared.clear()
        self._prepared[key] = prepared
        return prepared

    def _is_withheld(self, level: Level, rule: _RuleForTool, server: ServerName) -> bool:
        """Whether a rule grants something to the person's own servers, and this one only shares a name with them."""
        written = rule.matcher.rule
        if level != "user" or written.action != "allow" or server is None:
            return False
        applied = self.foreign.get(server)
        return applied is not None and AllowRule(written.tool, written.pattern) not in applied

    def find_rules(self, call: ProposedCall) -> Iterator[tuple[Level, _RuleForTool]]:
        """The rules about a tool, whatever it is called with, in the order that decides."""
        spellings = list_spellings(call.server, call.tool)
        for level, matcher in self._matchers:
            exact = matcher.names_exactly(call.server, call.tool)
            # The bare name of one of Mooring's own tools means it whichever server it is used on.
            if call.item is not None and not exact:
                exact = matcher.names_exactly(None, call.tool)
            # The two mistakes do not weigh the same: an allow that reaches too far runs a tool that nobody allowed, a
            # deny that reaches too far refuses one too many. So only an allow has to name the tool to the letter.
            if exact or (matcher.rule.action != "allow" and matcher.could_mean(spellings)):
                yield level, _RuleForTool(matcher, exact)

    def _apply_rules(self, call: ProposedCall, prepared: _PreparedTool, touched: _Touched) -> Verdict:
        access = call.access
        if access is not None and access.refused:
            return Verdict("deny", access.refused)
        found = [(level, _find_first_match(candidates, touched)) for level, candidates in prepared.rules]
        deciding = [(level, rule) for level, rule in found if rule is not None]
        # Denies first, of every level: whoever denies a tool means "never", and cannot know which allow somebody else
        # writes at a higher level, or how wide that one is.
        for level, rule in deciding:
            if rule.action == "deny":
                return Verdict("deny", _explain(level, rule), level, rule)
        if self.mode == "plan" and not self._only_reads(call):
            return Verdict("deny", _PLAN_REASONS[call.item] if access is None else _LOCAL_PLAN_REASON)
        verdict = self._allow_or_ask(call, deciding)
        is_allowed_in_session = verdict.level == "session" or any(
            (level, rule.action) == ("session", "allow") for level, rule in deciding
        )
        if self.doubts and verdict.action == "allow" and not is_allowed_in_session:
            why = f"rules in {', '.join(self.doubts)} cannot be read, and could deny it"
            return Verdict("ask", why, doubtful=True)
        if access is not None and verdict.action == "allow":
            if access.insists:
                return Verdict("ask", access.insists)
            if access.unless_named and not _names(verdict.rule, access):
                return Verdict("ask", access.unless_named)
        if verdict.action == "ask":
            withheld = [one.matcher.rule for one in prepared.withheld if one.surely_applies(touched)]
            return replace(verdict, why=_explain_withheld(verdict.why, call, withheld))
        return verdict

    def _allow_or_ask(self, call: ProposedCall, deciding: _Deciding) -> Verdict:
        """The verdict on a call that is not denied, if every rule can be read."""
        if self._is_allowed_verbatim(call) and not any(level == "managed" for level, _ in deciding):
            return Verdict("allow", "you allowed exactly this in this session", "session")
        if not deciding:
            return self._decide_without_rule(call)
        level, rule = deciding[0]
        # The machine's administrator decides what is asked there, not a mode that somebody types.
        if self.mode == "bypass" and rule.action == "ask" and level != "managed":
            return Verdict("allow", self.bypass_reason)
        why = _explain(level, rule)
        # The others were withheld.
        if (level, rule.action) == ("user", "allow") and self.is_foreign(call.server):
            why = f"{why}; you applied it to {call.server} when you approved that"
        return Verdict(rule.action, why, level, rule)

    def _decide_without_rule(self, call: ProposedCall) -> Verdict:
        if self.mode == "bypass":
            return Verdict("allow", self.bypass_reason)
        if call.access is not None:
            return self._judge_access(call.access)
        if call.server is None:
            return Verdict("allow", "Mooring's own tools need no permission")
        if call.item == "listed":
            return Verdict("allow", f"{call.server} lists it")
        if call.item == "unlisted":
            return Verdict("ask", f"{call.server} does not list this address")
        if self._only_reads(call):
            return Verdict("allow", f"{call.server}, which you trust, marks it as read-only")
        return Verdict("ask", "no rule matches it")

    def could_trust(self, call: ProposedCall) -> bool:
        """Whether the call would be allowed if its server, one of the person's own, were trusted."""
        is_tool = call.server is not None and call.item is None and not self.is_foreign(call.server)
        return is_tool and call.server not in self.trusted and _claims_to_only_read(call.hints)

    def _is_allowed_verbatim(self, call: ProposedCall) -> bool:
        return call.access is not None and (call.tool, call.access.verbatim) in self._verbatim

    def _judge_access(self, access: LocalAccess) -> Verdict:
        """What becomes of a call of a local tool that no rule is about."""
        if self.mode == "edits" and access.is_edit:
            return Verdict("allow", "files inside the project may be changed in this mode")
        return Verdict("allow" if access.is_free else "ask", access.why)

    def _only_reads(self, call: ProposedCall) -> bool:
        """Whether a trusted server claims that a tool only reads, or a local tool was found to."""
        if call.access is not None:
            return call.access.is_free
        if call.server is None:
            # Mooring's own tools claim nothing, and change nothing outside; a program's own tools may.
            return call.hints is None or _claims_to_only_read(call.hints)
        if call.server not in self.trusted:
            return False
        return call.item == "listed" or _claims_to_only_read(call.hints)


def _find_first_match(candidates: Iterable[_RuleForTool], touched: _Touched) -> Rule | None:
    """The rule that decides for a level.

    An ask that only might be meant wins over an allow after it, but does not shield the call from a deny after it.
    """
    possible_ask: Rule | None = None
    for candidate in candidates:
        rule = candidate.matcher.rule
        if rule.action != "deny" and candidate.surely_applies(touched):
            return possible_ask or rule
        if rule.action == "allow" or not candidate.may_apply(touched):
            continue
        if rule.action == "deny":
            return rule
        possible_ask = possible_ask or rule
    return possible_ask


def _names(rule: Rule | None, access: LocalAccess) -> bool:
    """Whether a rule was written with this very path in mind, and not for all that a tool does."""
    pattern = "" if rule is None else split_local_rule(rule)[1]
    return pattern not in _ANYTHING and folded(access.name) in folded(pattern)


def _claims_to_only_read(hints: Hints | None) -> bool:
    if hints is None:
        return False
    # A tool that claims both is destructive, and a missing hint is not a claim.
    return hints.read_only_hint is True and hints.destructive_hint is not True


def find_strictest(verdicts: Iterable[Verdict]) -> Verdict:
    """The first of those that let through the least."""
    return min(verdicts, key=lambda verdict: _STRICTEST_FIRST.index(verdict.action))


def _explain(level: Level, rule: Rule) -> str:
    if level == "session" and rule.action == "deny":
        return f"a rule for this session: {rule}"
    return f"{_SOURCES[level]}: {rule}"


def _explain_withheld(why: str, call: ProposedCall, withheld: list[Rule]) -> str:
    if not withheld:
        return why
    whose = f"your rule to {withheld[0]} is for your own servers, and {call.server} comes from this project"
    return f"{why}; {whose}; approve it again to apply the rule"


def _rules_in_force(layer: RuleLevel) -> tuple[Rule, ...]:
    """The rules of a layer that apply."""
    if layer.level != "project":
        return layer.rules
    # A project's settings come with the repository, written by whoever wrote it. They can be stricter than the
    # person's own, never looser: cloning something must not grant anything.
    return tuple(rule for rule in layer.rules if rule.action != "allow")


def _find_problems(layers: Iterable[RuleLevel]) -> Iterator[Problem]:
    for layer in layers:
        allowed = [rule.tool for rule in layer.rules if rule.action == "allow"]
        for tool in allowed:
            if layer.level == "project":
                yield Problem(layer.path, f"A project cannot allow {tool}", "it is ignored", level="warning")
            elif tool.startswith("mcp_") and parse_pair(tool) is None:
                message = f"The rule that allows {tool} does not say where the server's name ends; it is ignored"
                yield Problem(layer.path, message, "write it as mcp__server__tool or server/tool", level="warning")
