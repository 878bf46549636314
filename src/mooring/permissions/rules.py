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
from collections.abc import Collection, Iterable
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from mooring import files
from mooring.core.conversation.verdict import BYPASSED, LOCAL_TOOLS, Level, Mode, Rule, ServerName
from mooring.core.definitions.approved import ForeignServers
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.units import MIB
from mooring.core.text.glob import is_literal
from mooring.display.text import suggest_new_record
from mooring.errors import ConfigError, FileError, ParseError
from mooring.files.record import read_own_record, write_own_record
from mooring.permissions.policy import Policy, RuleLevel
from mooring.permissions.rule import RuleMatcher, list_spellings, parse_pair, spell_exactly, spell_rule
from mooring.permissions.trust import identify_project
from mooring.settings import MAX_RULES, MODES, Settings, update_settings
from mooring.syntax.parse import parse

RuleLocation: TypeAlias = Literal["user", "project-local"]
"""Where a rule is saved: in the person's settings, or in their rules for this project."""

MAX_BYTES = 4 * MIB
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
    return min(wanted, configured, key=MODES.index)


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
    if location == "user":
        _save_in_settings(where, server, tool, pattern)
    elif project is not None:
        _save_for_project(where, project, server, tool, pattern)
    else:
        raise ConfigError("There is no project here, so an answer for it cannot be saved.")


class WithdrawnRule(Struct, frozen=True):
    """A rule that allowed a tool, and the file that held it."""

    tool: str
    path: str


def withdraw_allow(where: Paths, project: str | None, tool: str) -> tuple[WithdrawnRule, ...]:
    """Remove the rules that "always" answers about a tool left behind, in the person's settings and in this project.

    `tool` is `SERVER.TOOL`, a local tool, or the rule as it is shown. Rules that allow more than this one tool stay.

    Raises:
        ConfigError: a file cannot be changed safely; says which rule to remove by hand.
        FileError: one cannot be read, written or locked.
    """
    settings = f"{where.config}/settings.json"
    removed = _remove_from_settings(where, settings, tool)
    for_project = () if project is None else _remove_for_project(where, project, tool)
    return (
        *(WithdrawnRule(spell_rule(rule), settings) for rule in removed),
        *(WithdrawnRule(spell_rule(rule), record_path(where)) for rule in for_project),
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


def _remove_for_project(where: Paths, project: str, tool: str) -> list[Rule]:
    path = record_path(where)
    key = identify_project(project)
    # Without such a rule, nothing is locked and nothing written.
    if not any(_is_about(rule, tool) for rule in _read(path).projects.get(key, ())):
        return []
    with files.locked(path):
        record = _read(path)
        rules = record.projects.get(key, ())
        _write(path, record, key, tuple(rule for rule in rules if not _is_about(rule, tool)))
    return [rule for rule in rules if _is_about(rule, tool)]


def _remove_from_settings(where: Paths, path: str, tool: str) -> list[Rule]:
    if files.read_own(path) is None:
        return []
    from mooring.syntax.edit import edit_bytes  # only when an answer is withdrawn

    removed: list[Rule] = []

    def change(data: bytes) -> bytes:
        removed.clear()
        try:
            return edit_bytes(data, lambda text: _remove_rules(text, tool, removed))
        except ParseError as error:
            raise ConfigError(f"{path} {error.reason}; remove the rule from its `permissions` by hand.") from None

    update_settings(where, path, change)
    return removed


def _remove_rules(text: str, tool: str, removed: list[Rule]) -> str:
    """The text without the rules about a tool, which are put in front of those that were removed."""
    from mooring.syntax.edit import remove_value  # only when an answer is withdrawn

    rules = _parse_rules(text)
    for index in reversed(range(len(rules))):
        if _is_about(rules[index], tool):
            removed.insert(0, rules[index])
            text = remove_value(text, "json", ("permissions", index))
    return text


def _save_for_project(where: Paths, project: str, server: ServerName, tool: str, pattern: str) -> None:
    path = record_path(where)
    key = identify_project(project)
    with files.locked(path):
        record = _read(path)
        rules = record.projects.get(key, ())
        index = find_insertion_point(rules, server, tool)
        longer = (*rules[:index], build_allow_rule(server, tool, pattern), *rules[index:])
        without_doubles = tuple(dict.fromkeys(longer))
        _write(path, record, key, without_doubles)


def _write(path: str, record: ProjectRules, key: str, rules: tuple[Rule, ...]) -> None:
    updated = ProjectRules(projects={**record.projects, key: rules})
    write_own_record(path, updated)


def _save_in_settings(where: Paths, server: ServerName, tool: str, pattern: str) -> None:
    from mooring.syntax.edit import edit_bytes  # only when an answer is kept

    path = f"{where.config}/settings.json"
    rule = build_allow_rule(server, tool, pattern)

    def change(data: bytes) -> bytes:
        try:
            return edit_bytes(data, lambda text: _insert_rule(text, rule, server, tool))
        except ParseError as error:
            by_hand = json.dumps(msgspec.to_builtins(rule))
            raise ConfigError(f"{path} {error.reason}; add to its `permissions` by hand: {by_hand}") from None

    update_settings(where, path, change)


def _insert_rule(text: str, rule: Rule, server: ServerName, tool: str) -> str:
    """The text with one more rule, unchanged if it has that rule already."""
    rules = _parse_rules(text)
    if rule in rules:
        return text
    from mooring.syntax.edit import insert_element  # only when an answer is kept

    index = find_insertion_point(rules, server, tool)
    return insert_element(text, ("permissions", index), msgspec.to_builtins(rule))


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
