"""The permission rules in force, in the order that decides, each level with its file: as lines of text, or as data."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from mooring.core.conversation.verdict import Action, Level, Mode, Rule
from mooring.core.definitions.paths import Paths
from mooring.display.text import columns, safe, short_path
from mooring.permissions.policy import Policy, RuleLevel

_LEVELS: Mapping[Level, str] = {
    "managed": "this machine's settings",
    "session": "this chat: --allow, --deny and your answers",
    "local": "your rules for this project",
    "user": "your settings",
    "project": "the project's settings",
}
_MODES: Mapping[Mode, str] = {
    "plan": "only tools of trusted servers that say they only read are called",
    "ask": "you are asked",
    "accept-reads": "tools of trusted servers that say they only read are called; you are asked about the rest",
    "bypass": "it is called without asking",
}
_HOW = """Within a level, the first rule that matches wins. A deny at any level wins over an allow at another;
otherwise the highest level decides."""


class RuleInForce(Struct, frozen=True, omit_defaults=True):
    """One rule, and which file of which level holds it."""

    tool: str
    action: Action
    level: Level
    path: str | None
    pattern: str = ""
    servers: tuple[str, ...] = ()
    """The project's servers that the person applied it to; a rule of their settings is for their own servers."""


def list_rules(policy: Policy) -> list[RuleInForce]:
    """Every rule in force, highest level first."""
    return [_describe_rule(policy, level, rule) for level in policy.layers for rule in level.rules]


def _describe_rule(policy: Policy, level: RuleLevel, rule: Rule) -> RuleInForce:
    servers = policy.find_applied(level.level, rule)
    return RuleInForce(rule.tool, rule.action, level.level, level.path, rule.pattern, servers)


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
    yield f"Without a rule: {_MODES[policy.mode]} (mode: {policy.mode})."
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
    yield "To add a rule: answer `always` when you are asked about a call, or add it to `permissions` in"
    yield f'{settings}: {{"tool": "SERVER.TOOL", "action": "allow"}} (allow, deny or ask; * fits any name).'
    yield "An allow there applies to your own servers. For a server of this project, answer `always`, use --allow, or"
    yield "apply your rules to it when you approve it: mooring mcp approve SERVER."
    yield "To withdraw an `always` answer: mooring mcp reset SERVER.TOOL."
    yield "For one chat: mooring chat --allow SERVER.TOOL, or --deny SERVER.TOOL."
