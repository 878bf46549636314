"""The rules in force, gathered from the person's files and the project's; and how an answer becomes one more rule.

| file | whose | level |
|---|---|---|
| `/etc/mooring/settings.json` | the machine's | `managed` |
| `settings.json` in the person's configuration folder | the person's | `user` |
| `rules.json` in the person's state folder | the person's, by project | `local` |
| `.mooring/settings.json` in the project | the repository's | `project` |

An answer "always, in this project" goes into the person's state folder: nothing in a repository can grant anything.
"""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from mooring import files
from mooring.core.conversation.verdict import BYPASSED, LOCAL_TOOLS, Action, Level, Mode, Rule, ServerName
from mooring.core.definitions.approved import ForeignServers
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.units import MIB
from mooring.core.text.glob import is_literal
from mooring.display.text import quote_argument, suggest_new_record
from mooring.errors import ConfigError, FileError, ParseError
from mooring.files.record import read_own_record, write_own_record
from mooring.permissions.policy import Policy, RuleLevel
from mooring.permissions.rule import RuleMatcher, covers, list_spellings, parse_pair, spell_exactly, spell_rule
from mooring.permissions.trust import identify_project
from mooring.settings import MAX_RULES, Settings, count_fitting_rules, load, update_settings
from mooring.syntax.parse import parse

RuleLocation: TypeAlias = Literal["user", "project-local"]
"""Where a rule is saved: in the person's settings, or in their rules for this project."""

MAX_BYTES = 4 * MIB
_STRICTEST_FIRST: tuple[Mode, ...] = ("plan", "ask", "accept-reads", "edits", "bypass")
# Settings have one more level, their defaults, which hold no rules.
_LEVELS: dict[str, Level] = {"managed": "managed", "user": "user", "project": "project"}


class ProjectRules(Struct, frozen=True):
    """The person's rules for each project, by its folder."""

    version: int = 1
    projects: dict[str, tuple[Rule, ...]] = {}


def load_policy(
    settings: Settings,
    where: Paths,
    project: str | None,
    mode: Mode | None = None,
    session_rules: Iterable[Rule] = (),
    bypass_reason: str = BYPASSED,
    foreign: ForeignServers | None = None,
) -> Policy:
    """The policy in force; a `mode` passed in wins, but cannot be looser than the machine's own.

    `foreign` are the servers that came with the project, each with the rules that the person applied to it.

    Never raises: a record that cannot be read is a doubt, and doubts ask.
    """
    layers = [
        RuleLevel(_LEVELS[value.level], tuple(msgspec.convert(rule, Rule) for rule in value.value), value.path)
        for value in settings.every("permissions")
    ]
    layers.append(RuleLevel("session", tuple(session_rules)))
    doubts = list(settings.doubts)
    if project is not None:
        project_rules, problem = load_project_rules(where, project)
        layers.append(project_rules)
        if problem is not None and problem.path is not None:
            doubts.append(problem.path)
    trusted = _find_trusted(settings, foreign or ())
    return Policy(layers, choose_mode(settings, mode), trusted, doubts, bypass_reason, foreign)


def _find_trusted(settings: Settings, foreign: Collection[str]) -> Iterable[str]:
    """The servers that are believed; a project's server does not become one by taking the name of another."""
    setting = settings.values["trustedServers"]
    names: list[str] = setting.value
    return names if setting.level == "managed" else [name for name in names if name not in foreign]


def find_problems(settings: Settings, where: Paths, project: str | None) -> tuple[Problem, ...]:
    """What is wrong with rules that can be read, and with the record of those for projects."""
    problems = load_policy(settings, where, project).problems
    damage = None if project is None else load_project_rules(where, project)[1]
    return problems if damage is None else (*problems, damage)


def choose_mode(settings: Settings, wanted: Mode | None) -> Mode:
    """The mode in force: the one asked for, else the one in the settings, but never looser than the machine's own."""
    setting = settings.values["permissionMode"]
    configured: Mode = setting.value
    if wanted is None:
        return configured
    if setting.level != "managed":
        return wanted
    return min(wanted, configured, key=_STRICTEST_FIRST.index)


def load_project_rules(where: Paths, project: str) -> tuple[RuleLevel, Problem | None]:
    """The person's rules for a project; a record that cannot be read is empty, and is a problem."""
    path = record_path(where)
    try:
        rules = _read(path).projects.get(identify_project(project), ())
    except FileError as error:
        message = f"The record of rules for projects {error.reason}, so you are asked about everything"
        return RuleLevel("local", (), path), Problem(path, message, error.fix or suggest_new_record(path))
    if len(rules) > MAX_RULES:
        message = f"There are more than {MAX_RULES:,} rules for this project, so you are asked about everything"
        return RuleLevel("local", rules[:MAX_RULES], path), Problem(path, message, suggest_new_record(path))
    return RuleLevel("local", rules, path), None


def build_allow_rule(server: ServerName, tool: str, pattern: str = "") -> Rule:
    """The rule that allows one tool, with these arguments alone if there is a pattern."""
    return Rule(spell_exactly(server, tool), "allow", pattern)


def find_insertion_point(rules: Iterable[Rule], server: ServerName, tool: str) -> int:
    """The index for a rule that allows a tool: first, but after every deny that could be meant for it.

    First, because within a level the first match wins and the rule has to silence the one that asked. After the denies,
    because an answer to a question never undoes one.
    """
    spellings = list_spellings(server, tool)
    index = 0
    for position, rule in enumerate(rules, 1):
        if rule.action != "deny":
            continue
        matcher = RuleMatcher(rule)
        if matcher.names_exactly(server, tool) or matcher.could_mean(spellings):
            index = position
    return index


def save_allow(
    where: Paths, project: str | None, server: ServerName, tool: str, location: RuleLocation, pattern: str = ""
) -> None:
    """Allow a tool from now on, in the person's settings or in this project; with a pattern, that and no more.

    Raises:
        ConfigError: the file cannot be changed safely; says which rule to add by hand.
        FileError: it cannot be read, written or locked.
    """
    rule = build_allow_rule(server, tool, pattern)
    _save(where, project, rule, location, lambda earlier: find_insertion_point(earlier, server, tool))


def save_trust(where: Paths, server: str) -> None:
    """Trust a server of the person's own from now on.

    Raises:
        ConfigError: the machine's settings say which servers are trusted, or the file cannot be changed safely.
        FileError: it cannot be read, written or locked.
    """
    from mooring.syntax.edit import insert_element  # only when an answer is kept

    current = load(where, None).values["trustedServers"]
    if current.level == "managed":
        raise ConfigError(f"{current.path} says which servers are trusted, and wins over your settings.")

    def insert_name(text: str) -> str:
        data: Any = parse(text.encode(), "json").data
        names = data.get("trustedServers", []) if isinstance(data, dict) else []
        if not isinstance(names, list):
            raise ParseError("has a `trustedServers` that is not a list")
        return text if server in names else insert_element(text, ("trustedServers", len(names)), server)

    _edit_settings(where, insert_name, f"add to its `trustedServers` by hand: {json.dumps(server)}")


def add_rule(where: Paths, project: str | None, rule: Rule, location: RuleLocation) -> str:
    """Add a rule that a person typed, and return the path of the file that it is in.

    Raises: as `save_allow`; ConfigError if a deny in that file covers all of it.
    """
    _save(where, project, rule, location, lambda earlier: _find_place(earlier, rule))
    # What said otherwise of exactly this is behind it now, and would only be in the way of whoever reads them.
    _remove(where, project, lambda other: _is_replaced(other, rule), (location,))
    return f"{where.config}/settings.json" if location == "user" else record_path(where)


def _find_place(rules: Sequence[Rule], rule: Rule) -> int:
    """Where a typed rule goes, since the first that matches wins: a deny first; any other after every deny, so that it
    undoes none, and after what is about less than it is, so that this still counts.
    """
    if rule.action == "deny":
        return 0
    _refuse_denied(rules, rule)
    place = 0
    for position, earlier in enumerate(rules, 1):
        if earlier.action == "ask" and covers(earlier, rule):
            # What is wider comes behind the new rule, and whatever follows that does, too.
            break
        if _stays_before(earlier, rule):
            place = position
    last_deny = max((position for position, earlier in enumerate(rules, 1) if earlier.action == "deny"), default=0)
    return max(place, last_deny)


def _refuse_denied(rules: Iterable[Rule], rule: Rule) -> None:
    """Raises: ConfigError if a deny covers all of a rule that allows or asks."""
    for earlier in rules:
        if earlier.action == "deny" and covers(earlier, rule):
            raise ConfigError(f"`{earlier}` wins over it, so nothing was added.", _suggest_removal(earlier))


def _stays_before(earlier: Rule, rule: Rule) -> bool:
    if rule.action == "allow" and earlier.action == "ask":
        # It may mean more than it names, so it keeps its say.
        return True
    return covers(rule, earlier) and not covers(earlier, rule)


def _check_room(rules: Sequence[Rule]) -> None:
    """Refuse what would no longer be read: a deny at the end would be lost. Raises: ConfigError."""
    if count_fitting_rules([{"tool": rule.tool, "pattern": rule.pattern} for rule in rules]) < len(rules):
        raise ConfigError(
            "There would be more rules than are read, so nothing was added.", "Remove some: mooring rules --remove RULE"
        )


def _is_replaced(other: Rule, rule: Rule) -> bool:
    """Whether one of two rules about exactly the same asks, and the other allows."""
    is_same = (other.tool, other.pattern) == (rule.tool, rule.pattern)
    return is_same and {other.action, rule.action} == {"ask", "allow"}


def _suggest_removal(rule: Rule) -> str:
    return f"To remove that rule: mooring rules --remove {quote_argument(f'{rule.action} {spell_rule(rule)}')}"


def _save(
    where: Paths,
    project: str | None,
    rule: Rule,
    location: RuleLocation,
    find_place: Callable[[Sequence[Rule]], int],
) -> None:
    if location == "user":
        _save_in_settings(where, rule, find_place)
    elif project is not None:
        _save_for_project(where, project, rule, find_place)
    else:
        raise ConfigError("There is no project here, so a rule for it cannot be saved.")


def remove_rule(where: Paths, project: str | None, rule: Rule) -> tuple["WithdrawnRule", ...]:
    """Remove a rule from the person's settings and from theirs for this project. Raises: as `withdraw_allow`."""
    return _remove(where, project, lambda other: other == rule)


class WithdrawnRule(Struct, frozen=True, omit_defaults=True):
    """A rule that was removed, and the file that held it."""

    tool: str
    path: str
    action: Action = "allow"


def withdraw_allow(where: Paths, project: str | None, tool: str) -> tuple[WithdrawnRule, ...]:
    """Remove the rules that "always" answers about a tool left behind, in the person's settings and in this project.

    `tool` is `SERVER.TOOL`, a local tool, or the rule as it is shown. Rules that allow more than this one tool stay.

    Raises:
        ConfigError: a file cannot be changed safely; says which rule to remove by hand.
        FileError: one cannot be read, written or locked.
    """
    return _remove(where, project, lambda rule: _is_about(rule, tool))


def _remove(
    where: Paths,
    project: str | None,
    is_meant: Callable[[Rule], bool],
    locations: Collection[RuleLocation] = ("user", "project-local"),
) -> tuple[WithdrawnRule, ...]:
    settings = f"{where.config}/settings.json"
    removed: list[Rule] = []
    for_project: list[Rule] = []
    if "user" in locations and files.read_own(settings) is not None:
        removed = _remove_from_settings(where, is_meant)
    if "project-local" in locations and project is not None:
        for_project = _remove_for_project(where, project, is_meant)
    return (
        *(WithdrawnRule(spell_rule(rule), settings, rule.action) for rule in removed),
        *(WithdrawnRule(spell_rule(rule), record_path(where), rule.action) for rule in for_project),
    )


def is_answer(rule: Rule) -> bool:
    """Whether an "always" answer could have written the rule: it allows one tool, or one use of a local tool."""
    if rule.action != "allow" or not is_literal(rule.tool):
        return False
    # For a change of a file, the answer is about the whole project.
    return not rule.pattern or (rule.tool in LOCAL_TOOLS and is_literal(rule.pattern.removesuffix("/**")))


def _is_about(rule: Rule, tool: str) -> bool:
    pair = parse_pair(tool)
    is_same = tool in (rule.tool, spell_rule(rule)) or (pair is not None and parse_pair(rule.tool) == pair)
    return is_same and is_answer(rule)


def _remove_for_project(where: Paths, project: str, is_meant: Callable[[Rule], bool]) -> list[Rule]:
    path = record_path(where)
    key = identify_project(project)
    # Without such a rule, nothing is locked and nothing written.
    if not any(map(is_meant, _read(path).projects.get(key, ()))):
        return []
    with files.locked(path):
        record = _read(path)
        rules = record.projects.get(key, ())
        _write(path, record, key, tuple(rule for rule in rules if not is_meant(rule)))
    return list(filter(is_meant, rules))


def _remove_from_settings(where: Paths, is_meant: Callable[[Rule], bool]) -> list[Rule]:
    from mooring.syntax.edit import remove_value  # only when an answer is withdrawn

    removed: list[Rule] = []

    def remove_all(text: str) -> str:
        rules = _parse_rules(text)
        removed[:] = filter(is_meant, rules)
        for index in reversed(range(len(rules))):
            if is_meant(rules[index]):
                text = remove_value(text, "json", ("permissions", index))
        return text

    _edit_settings(where, remove_all, "remove the rule from its `permissions` by hand.")
    return removed


def _save_for_project(where: Paths, project: str, rule: Rule, find_place: Callable[[Sequence[Rule]], int]) -> None:
    path = record_path(where)
    key = identify_project(project)
    with files.locked(path):
        record = _read(path)
        rules = record.projects.get(key, ())
        others = [other for other in rules if other != rule]
        index = find_place(others)
        longer = (*others[:index], rule, *others[index:])
        _check_room(longer)
        _write(path, record, key, tuple(dict.fromkeys(longer)))


def _write(path: str, record: ProjectRules, key: str, rules: tuple[Rule, ...]) -> None:
    write_own_record(path, ProjectRules(projects={**record.projects, key: rules}))


def _save_in_settings(where: Paths, rule: Rule, find_place: Callable[[Sequence[Rule]], int]) -> None:
    from mooring.syntax.edit import insert_element, remove_value  # only when an answer is kept

    written = msgspec.to_builtins(rule)

    def insert_rule(text: str) -> str:
        rules = _parse_rules(text)
        others = [other for other in rules if other != rule]
        place = find_place(others)
        _check_room([*others, rule])
        if rule in rules:
            if rules.index(rule) == place:
                return text
            for index in reversed([index for index, other in enumerate(rules) if other == rule]):
                text = remove_value(text, "json", ("permissions", index))
        return insert_element(text, ("permissions", place), written)

    _edit_settings(where, insert_rule, f"add to its `permissions` by hand: {json.dumps(written)}")


def _edit_settings(where: Paths, edit: Callable[[str], str], by_hand: str) -> None:
    """Change the text of the person's settings; `by_hand` is what to do where that is refused."""
    from mooring.syntax.edit import edit_bytes  # only when an answer is kept or withdrawn

    path = f"{where.config}/settings.json"

    def change(data: bytes) -> bytes:
        try:
            return edit_bytes(data, edit)
        except ParseError as error:
            raise ConfigError(f"{path} {error.reason}; {by_hand}") from None

    update_settings(where, path, change)


def _parse_rules(text: str) -> list[Rule]:
    data: Any = parse(text.encode(), "json").data
    rules = data.get("permissions", []) if isinstance(data, dict) else []
    try:
        return msgspec.convert(rules, list[Rule])
    except msgspec.ValidationError:
        raise ParseError("has rules that cannot be read") from None


def record_path(where: Paths) -> str:
    """The file in which a person's rules for projects are kept."""
    return f"{where.state}/rules.json"


def _read(path: str) -> ProjectRules:
    return read_own_record(path, ProjectRules, MAX_BYTES) or ProjectRules()
