"""The rules in force, from the settings and from what the person said about a project; and one more of them.

What is to hold "always, in this project" is kept in the person's own state folder: nothing in a repository can grant.
"""

import json
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from mooring import files
from mooring.core.problem import Problem
from mooring.core.where import Where
from mooring.errors import ConfigError, FileError, ParseError
from mooring.permissions.policy import MODES, Policy, RuleLevel
from mooring.permissions.rule import Matcher, exactly, spellings
from mooring.permissions.trust import anew, identity, read_record
from mooring.permissions.verdict import Level, Mode, Rule, Server
from mooring.settings import Settings
from mooring.syntax import parse

Place: TypeAlias = Literal["user", "project-local"]
"""Where a rule is kept for good: the person's settings, or their word about this project."""

MOST = 4 * files.MIB

_LEVELS: dict[str, Level] = {"managed": "managed", "user": "user", "project": "project"}


class ProjectRules(Struct, frozen=True):
    """What the person said about each project, by its folder."""

    version: int = 1
    projects: dict[str, tuple[Rule, ...]] = {}


def policy(
    settings: Settings, where: Where, project: str | None, wanted: Mode | None = None, said: Iterable[Rule] = ()
) -> Policy:
    """The policy in force; `wanted` is the mode asked for just now, which a managed one can only be stricter than.

    `said` are the rules of this session.

    Never raises: a record that cannot be read is a doubt, and doubts ask.
    """
    layers = [
        RuleLevel(_LEVELS[value.level], tuple(msgspec.convert(rule, Rule) for rule in value.value), value.path)
        for value in settings.every("permissions")
    ]
    mine, problem = local(where, project) if project is not None else (RuleLevel("local", ()), None)
    doubts = (*settings.doubts, *([problem.path] if problem and problem.path else []))
    now = RuleLevel("session", tuple(said))
    return Policy([*layers, now, mine], mode(settings, wanted), settings["trustedServers"], doubts)


def problems(settings: Settings, where: Where, project: str | None) -> tuple[Problem, ...]:
    """What is wrong with rules that can be read, and with the record of those for projects."""
    damage = local(where, project)[1] if project is not None else None
    return (*policy(settings, where, project).problems, *([damage] if damage else []))


def mode(settings: Settings, wanted: Mode | None) -> Mode:
    """The mode in force: the one asked for, else the one that is set, but never looser than the machine's own."""
    value = settings.values["permissionMode"]
    said: Mode = value.value
    if wanted is None or value.level != "managed":
        return wanted or said
    return min(wanted, said, key=MODES.index)


def local(where: Where, project: str) -> tuple[RuleLevel, Problem | None]:
    """The person's rules for a project; a record that cannot be read counts as none, and is a problem."""
    path = _path(where)
    try:
        return RuleLevel("local", _read(path).projects.get(identity(project), ()), path), None
    except FileError as error:
        message = f"The record of rules for projects {error.reason}, so that everything is asked"
        return RuleLevel("local", (), path), Problem(path, message, anew(path))


def allowing(server: Server, tool: str) -> Rule:
    """The rule that lets one tool through, whatever its arguments."""
    return Rule(exactly(server, tool), "allow")


def behind(rules: Iterable[Rule], server: Server, tool: str) -> int:
    """Where a rule that allows a tool may stand: in front, but behind every deny that could be meant for it."""
    spelled = spellings(server, tool)

    def forbids(rule: Rule) -> bool:
        matcher = Matcher(rule)
        return rule.action == "deny" and (matcher.exact(server, tool) or matcher.loose(spelled))

    return max((place for place, rule in enumerate(rules, 1) if forbids(rule)), default=0)


def keep(where: Where, project: str | None, server: Server, tool: str, place: Place) -> None:
    """Let a tool through from now on, in the person's settings or in this project.

    Raises:
        ConfigError: the file cannot be changed safely; says which rule to add by hand.
        FileError: it cannot be read, written or locked.
    """
    if place == "user":
        _keep_user(f"{where.config}/settings.json", server, tool)
    elif project is not None:
        _keep_local(where, project, server, tool)
    else:
        raise ConfigError("There is no project here for which an answer could be kept.")


def _keep_local(where: Where, project: str, server: Server, tool: str) -> None:
    path, name = _path(where), identity(project)
    with files.locked(path):
        kept = _read(path)
        rules = kept.projects.get(name, ())
        at = behind(rules, server, tool)
        more = tuple(dict.fromkeys((*rules[:at], allowing(server, tool), *rules[at:])))
        made = ProjectRules(projects={**kept.projects, name: more})
        files.write(path, json.dumps(msgspec.to_builtins(made), indent=2).encode() + b"\n")


def _keep_user(path: str, server: Server, tool: str) -> None:
    rule = allowing(server, tool)
    with files.locked(path):
        data = files.read(path) or b""
        try:
            made = _with(data, rule, server, tool)
        except (ParseError, UnicodeDecodeError) as error:
            reason = error.reason if isinstance(error, ParseError) else "is not UTF-8 text"
            by_hand = json.dumps(msgspec.to_builtins(rule))
            raise ConfigError(f"{path} {reason}; add to its `permissions` by hand: {by_hand}") from None
        if made is not None:
            files.write(path, made)


def _with(data: bytes, rule: Rule, server: Server, tool: str) -> bytes | None:
    """The file with one more rule, `None` where it has that rule already."""
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    text = data.removeprefix(mark).decode()
    rules = _rules(text)
    if rule in rules:
        return None
    from mooring.permissions.insert import inserted  # only when an answer is kept

    return mark + inserted(text, msgspec.to_builtins(rule), behind(rules, server, tool)).encode()


def _rules(text: str) -> list[Rule]:
    data: Any = parse(text.encode(), "json").data
    try:
        return msgspec.convert(data.get("permissions", []) if isinstance(data, dict) else [], list[Rule])
    except msgspec.ValidationError:
        raise ParseError("has rules that cannot be read") from None


def _path(where: Where) -> str:
    return f"{where.state}/rules.json"


def _read(path: str) -> ProjectRules:
    return read_record(path, ProjectRules, MOST) or ProjectRules()
