"""The permission rules in force, in the order that decides, each level with its file; and rules that are added, removed
and tried on a tool.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.conversation.verdict import LOCAL_TOOLS, Action, Level, Mode, ProposedCall, Rule, Verdict
from mooring.core.definitions.paths import Paths, Workspace
from mooring.core.text.glob import Glob, is_literal
from mooring.core.text.suggestions import nearest
from mooring.discovery.scan import make_context
from mooring.display.text import columns, quote_argument, safe, short_path
from mooring.errors import ConfigError, Denied
from mooring.inventory.admit import admit, find_foreign
from mooring.inventory.load import load as load_inventory
from mooring.permissions.policy import Policy, RuleLevel
from mooring.permissions.rule import RuleMatcher, covers, find_idle_denies, parse_pair, parse_rule, spell_rule
from mooring.permissions.rules import add_rule, load_policy, remove_rule
from mooring.process.table import is_below_guard
from mooring.settings import Settings, load
from mooring.verbs.config.locate import check_files_are_read
from mooring.verbs.parse import UsageError
from mooring.verbs.verb import ShownLine, ShownTable, VerbResult

_LEVELS: Mapping[Level, str] = {
    "managed": "this machine's settings",
    "session": "this chat: --allow, --deny and your answers",
    "local": "your rules for this project",
    "user": "your settings",
    "project": "the project's settings",
}
MODE_WORDS: Mapping[Mode, str] = {
    "plan": "only tools of trusted servers that say they only read are called",
    "ask": "tools of trusted servers that say they only read are called; you are asked about the rest",
    "edits": "as in ask mode, and files inside the project are changed without asking",
    "accept-reads": "as in ask mode",
    "bypass": "it is called without asking",
}
"""What becomes of a call that no rule is about."""
_HOW = (
    "Within a level, the first rule that matches wins. A deny at any level wins over an allow at another; "
    "otherwise the highest level decides."
)


def refuse_below_mooring(command: str) -> None:
    """Keep what Mooring started from changing what it may do: an agent must not grant itself rights. Raises: Denied."""
    if is_below_guard():
        raise Denied(
            f"`{command}` did nothing: it was run by a program that Mooring started, and that must not change its own "
            "rights. Run it in another terminal."
        )


class RuleInForce(Struct, frozen=True, omit_defaults=True):
    """One rule, and which file of which level holds it."""

    tool: str
    action: Action
    level: Level
    path: str | None
    pattern: str = ""
    servers: tuple[str, ...] = ()
    """The project's servers that the person applied it to; a rule of their settings is for their own servers."""


def find_root(workspace: Workspace) -> str | None:
    """The project whose settings and rules apply, unless `--no-project` leaves them out."""
    if not workspace.project:
        return None
    return make_context(workspace.where, workspace.cwd).root


def load_rules(workspace: Workspace, settings: Settings | None = None) -> Policy:
    """The rules in force, which of them apply to the project's servers included."""
    root = find_root(workspace)
    settings = settings or load(workspace.where, root)
    admitted = admit(load_inventory(workspace, remember=False)) if root is not None else None
    foreign = find_foreign(admitted.wanted, admitted.aliases) if admitted is not None else {}
    return load_policy(settings, workspace.where, root, foreign=foreign)


# --- the verbs ------------------------------------------------------------------------------------------------------


def allow(workspace: Workspace, rule: str, project: bool) -> VerbResult:
    """Let calls of these tools be made without a question. Raises: ConfigError, Denied."""
    refuse_below_mooring("mooring allow")
    return _add(workspace, parse_rule(rule, "allow"), project)


def deny(workspace: Workspace, rule: str, project: bool) -> VerbResult:
    """Refuse calls of these tools. Raises: ConfigError."""
    return _add(workspace, parse_rule(rule, "deny"), project)


def ask(workspace: Workspace, rule: str, project: bool) -> VerbResult:
    """Ask about calls of these tools. Raises: ConfigError, Denied."""
    refuse_below_mooring("mooring ask")
    return _add(workspace, parse_rule(rule, "ask"), project)


def run_rules(workspace: Workspace, tool: str | None, removed: str | None) -> VerbResult:
    """Show the rules in force, or which of them decides about a tool; or remove one. Raises: ConfigError, Denied."""
    if removed is not None:
        if tool is not None:
            raise UsageError("Show rules or remove one: the two cannot be combined.")
        refuse_below_mooring("mooring rules --remove")
        return _remove(workspace, removed)
    policy = load_rules(workspace)
    if tool is not None:
        return _explain_tool(policy, tool)
    lines = map(ShownLine, describe_rules(policy, workspace.where))
    return VerbResult({"rules": list_rules(policy), "mode": policy.mode, "unread": policy.doubts}, lines)


def _add(workspace: Workspace, rule: Rule, project: bool) -> VerbResult:
    check_files_are_read(workspace)
    where, root = workspace.where, find_root(workspace)
    if project and root is None:
        raise ConfigError("--no-project leaves the project out, so there is nothing that the rule could be for.")
    path = add_rule(where, root, rule, "project-local" if project else "user")
    policy = load_rules(workspace)
    level: Level = "local" if project else "user"
    notes = [*_list_stronger(policy, level, rule), *_list_bounds(policy, workspace, level, rule)]
    added = RuleInForce(rule.tool, rule.action, level, path, rule.pattern)
    here = " (for this project)" if project else ""
    line = ShownLine(f"Added to {short_path(path, where.home)}{here}: {safe(str(rule))}")
    return VerbResult({"added": added}, [line], notes=notes)


_MOST_NAMED = 3


def _list_stronger(policy: Policy, level: Level, rule: Rule) -> Iterator[str]:
    """Which rules win over one that was just added, where both match."""
    if rule.action == "deny":
        return
    pair = parse_pair(rule.tool)
    if pair is not None and all(map(is_literal, pair)) and not rule.pattern:
        verdict = policy.decide(ProposedCall(*pair))
        if verdict.rule not in (None, rule):
            yield f"It has no effect: {safe(verdict.why)}."
        return
    every = [(each.level, other) for each in policy.layers for other in each.rules]
    own = every.index((level, rule)) if (level, rule) in every else len(every)
    stronger = [
        (other_level, other)
        for position, (other_level, other) in enumerate(every)
        if (position < own or other.action == "deny") and other.action != rule.action and _overlap(other, rule)
    ]
    for other_level, other in stronger[:_MOST_NAMED]:
        reach = "It has no effect" if covers(other, rule) else "Where both match, it has no effect"
        yield f"{reach}: `{safe(str(other))}` wins, by {_LEVELS[other_level]}."


def _overlap(one: Rule, other: Rule) -> bool:
    """Whether two rules may be about the same tool: a bare name may mean one of any server."""
    pair, other_pair = parse_pair(one.tool), parse_pair(other.tool)
    if pair is None or other_pair is None:
        return True
    return all(Glob(a).matches(b) or Glob(b).matches(a) for a, b in zip(pair, other_pair, strict=True))


def _list_bounds(policy: Policy, workspace: Workspace, level: Level, rule: Rule) -> Iterator[str]:
    """What a rule does not reach, though it may look so."""
    inventory = load_inventory(workspace, remember=False)
    pair = parse_pair(rule.tool)
    if pair and find_idle_denies([replace(rule, action="deny")], [choice.name for choice in inventory.choices]):
        yield f"No known server is called {safe(pair[0])}."
    if rule.action != "allow" or level == "local":
        return
    theirs = [name for name in policy.foreign if RuleMatcher(rule).names_server(name)]
    if theirs:
        yield (
            f"It is for your own servers; {safe(', '.join(theirs))} came with this project. For those: "
            f"mooring allow --project {quote_argument(spell_rule(rule))}"
        )


def list_own_rules(workspace: Workspace) -> list[Rule]:
    """The rules that the user made, and can remove."""
    layers = load_rules(workspace).layers
    return list(dict.fromkeys(rule for each in layers if each.level in ("user", "local") for rule in each.rules))


def _remove(workspace: Workspace, text: str) -> VerbResult:
    check_files_are_read(workspace)
    where, root = workspace.where, find_root(workspace)
    own = list_own_rules(workspace)
    meant = [rule for rule in own if text.strip() in (spell_rule(rule), f"{rule.action} {spell_rule(rule)}", str(rule))]
    if len(meant) > 1:
        spelled = " or ".join(quote_argument(f"{rule.action} {spell_rule(rule)}") for rule in meant)
        raise ConfigError(f"Several of your rules are {text}.", f"Write {spelled}.")
    if not meant:
        near = nearest(text, [spell_rule(rule) for rule in own], 1)
        hint = f"Did you mean {near[0]}?" if near else "To see them: mooring rules"
        raise ConfigError(f"None of your rules is {text!r}.", hint)
    removed = remove_rule(where, root, meant[0])
    lines = [
        ShownLine(f"Removed from {short_path(rule.path, where.home)}: {rule.action} {safe(rule.tool)}")
        for rule in removed
    ]
    return VerbResult({"removed": removed}, lines)


def _explain_tool(policy: Policy, tool: str) -> VerbResult:
    """Which rules are about a tool, and what becomes of a call that gives no arguments."""
    pair = parse_pair(tool)
    if pair is None and tool not in LOCAL_TOOLS:
        raise UsageError(f"{tool} does not say which server: write SERVER.TOOL.")
    server, name = pair or (None, tool)
    if not is_literal(tool):
        raise UsageError(f"{tool} is not the name of one tool; mooring rules shows the rules themselves.")
    call = ProposedCall(server, name)
    found = policy.find_rules(call)
    about = [(level, each.matcher.rule) for level, each in found]
    table = ShownTable([(f"  {rule.action}", safe(spell_rule(rule)), _LEVELS[level]) for level, rule in about])
    data = {
        "tool": tool,
        "rules": [RuleInForce(rule.tool, rule.action, level, None, rule.pattern) for level, rule in about],
    }
    if server is None:
        # What becomes of a command or a file depends on what it touches.
        head = ShownLine(f"Rules about {name}:" if about else f"No rule is about {name}.")
        return VerbResult(data, [head, table] if about else [head])
    verdict = policy.decide(call)
    words = {"allow": "is called without asking", "ask": "is asked about", "deny": "is not called"}
    depends = "" if policy.ignores_arguments(call) else " Rules with a pattern may decide otherwise, by its arguments."
    reads = " One that says that it only reads is called." if _may_only_read(policy, server, verdict) else ""
    head = ShownLine(f"{safe(tool)} {words[verdict.action]}: {safe(verdict.why)}.{depends}{reads}")
    return VerbResult(data | {"action": verdict.action, "why": verdict.why}, [head, table] if about else [head])


def _may_only_read(policy: Policy, server: str, verdict: Verdict) -> bool:
    """Whether the mode decides, and more is allowed to a tool that a trusted server says only reads."""
    return verdict.rule is None and policy.mode != "bypass" and server in policy.trusted


def list_rules(policy: Policy) -> list[RuleInForce]:
    """Every rule in force, highest level first."""
    found: list[RuleInForce] = []
    for level in policy.layers:
        for rule in level.rules:
            servers = policy.find_applied(level.level, rule)
            found.append(RuleInForce(rule.tool, rule.action, level.level, level.path, rule.pattern, servers))
    return found


def describe_rules(policy: Policy, where: Paths) -> Iterator[str]:
    """Every rule in force, highest level first, what happens without one, and how to add one."""
    levels = [level for level in policy.layers if level.rules]
    if levels:
        yield "Permission rules, highest level first:"
    else:
        yield "There are no permission rules."
    for level in levels:
        yield ""
        yield from _list_level(policy, level, where.home)
    yield ""
    yield f"Without a rule: {MODE_WORDS[policy.mode]} (mode: {policy.mode})."
    if levels:
        yield _HOW
    for path in policy.doubts:
        yield f"Rules in {safe(short_path(path, where.home))} cannot be read, so you are asked about every call."
    yield ""
    yield from _advise(where)


def _list_level(policy: Policy, level: RuleLevel, home: str) -> Iterator[str]:
    file = f" · {safe(short_path(level.path, home))}" if level.path else ""
    yield f"  {_LEVELS[level.level]}{file}"
    rows = []
    for rule in level.rules:
        arguments = f"with {safe(rule.pattern)}" if rule.pattern else ""
        servers = policy.find_applied(level.level, rule)
        applied = f"also for this project's {safe(', '.join(servers))}" if servers else ""
        rows.append((f"    {rule.action}", safe(rule.tool), arguments, applied))
    yield from columns(rows)


def _advise(where: Paths) -> Iterator[str]:
    settings = safe(short_path(f"{where.config}/settings.json", where.home))
    yield "To add a rule: mooring allow SERVER.TOOL, or deny or ask in place of allow; * fits any name."
    yield f"It goes into `permissions` in {settings}. An `always` answer adds one, too."
    yield "An allow there applies to your own servers."
    yield "For a server of this project: mooring allow --project SERVER.TOOL"
    yield "To apply your rules to it when you approve it: mooring mcp approve SERVER"
    yield "To see which rule decides: mooring rules SERVER.TOOL. To remove one: mooring rules --remove RULE."
    yield "For one chat: mooring chat --allow SERVER.TOOL, or --deny SERVER.TOOL."
