"""Settings, each value with its origin. A repository may propose; it may not grant, and the person's own word wins."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring import files
from mooring.core.problem import Problem
from mooring.core.where import Where
from mooring.errors import FileError, ParseError
from mooring.syntax.document import Document
from mooring.syntax.parse import parse

Level: TypeAlias = Literal["managed", "user", "project", "default"]


class Setting(Struct, frozen=True):
    """What can be set, what it is when nobody says, and whether a project's file may say it."""

    default: Any
    expects: str
    fits: Callable[[Any], bool]
    project: bool
    help: str


class SettingValue(Struct, frozen=True):
    """A setting's value and the file that said so."""

    value: Any
    level: Level
    path: str | None


class Settings(Struct, frozen=True):
    """Every setting with its value in force, and what was wrong with the files."""

    values: Mapping[str, SettingValue]
    problems: tuple[Problem, ...] = ()
    layers: tuple[Mapping[str, SettingValue], ...] = ()
    """What each file says, highest first: rules of every level count, not the highest alone."""
    doubts: tuple[str, ...] = ()
    """The person's own and the machine's files whose rules cannot be read in full: one of them could be a deny."""
    looked: tuple[str, ...] = ()
    """Where settings were looked for, found or not."""

    def __getitem__(self, key: str) -> Any:
        return self.values[key].value

    def __repr__(self) -> str:
        said = ", ".join(key for key, value in self.values.items() if value.path is not None)
        return f"<Settings: {said or 'as they come'}>"

    def every(self, key: str) -> tuple[SettingValue, ...]:
        """What each level says of a setting, highest first."""
        return tuple(layer[key] for layer in self.layers if key in layer)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _switches(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(on, bool) for on in value.values())


def _texts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values())


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _rules(value: Any) -> bool:
    return isinstance(value, list) and all(map(_rule, value))


def _rule(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and value.keys() <= {"tool", "pattern", "action"}
        and isinstance(value.get("tool"), str)
        and 0 < len(value["tool"]) <= LONGEST_RULE
        and isinstance(value.get("pattern", ""), str)
        and len(value.get("pattern", "")) <= LONGEST_RULE
        and value.get("action") in ("allow", "deny", "ask")
    )


def _amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _percent(value: Any) -> bool:
    return _amount(value) and value <= 100


def _amounts(value: Any) -> bool:
    return _amount(value) or (isinstance(value, Mapping) and all(map(_amount, value.values())))


NETWORK = ("proxy", "ca", "certificate", "key")


def _network(value: Any) -> bool:
    return _texts(value) and set(value) <= set(NETWORK)


LONGEST_RULE = 1_000
MODES: tuple[Literal["plan", "ask", "accept-reads", "bypass"], ...] = ("plan", "ask", "accept-reads", "bypass")
"""Permission modes, strictest first."""
NAMES = ("mcp__server__tool", "mcp_server_tool", "mcp.server.tool")

SETTINGS: Mapping[str, Setting] = {
    "sources": Setting(
        {}, "an object of tool ids and true or false", _switches, False,
        'which tools\' files are read: {"cursor": false} leaves one out',
    ),
    "permissions": Setting(
        [], 'a list of {"tool", "pattern", "action"}', _rules, True,
        "what tools may do; a project's rules can only deny or ask",
    ),
    "permissionMode": Setting(
        "ask", "one of " + ", ".join(MODES), lambda value: value in MODES, False,
        "what becomes of tools that no rule speaks of",
    ),
    "trustedServers": Setting(
        [], "a list of names", _names, False, "servers that are believed when they say that a tool only reads",
    ),
    "model": Setting(None, "text", _text, True, "the model the chat speaks to"),
    "backend": Setting(None, "text", _text, True, "the agent behind the chat"),
    "toolNames": Setting(
        NAMES[0], "one of " + ", ".join(NAMES), lambda value: value in NAMES, True,
        "how tools are named for a model",
    ),
    "toolBudget": Setting(
        10, "a number from 0 to 100", _percent, True,
        "how much of a model's context tools may take, in percent, before it has to search for them",
    ),
    "alwaysLoad": Setting(
        [], "a list of globs over server.tool", _names, True, "tools that a model is always shown, whatever they cost",
    ),
    "searchByMeaning": Setting(
        True, "true or false", lambda value: isinstance(value, bool), True,
        "whether tools are searched by what they mean too, where `mooring[search]` is installed",
    ),
    "resultTokens": Setting(
        25_000, "a number, or an object of globs over server.tool and numbers", _amounts, False,
        "how much of a result a model is given at once; the whole is kept in a file",
    ),
    "backgroundAfter": Setting(
        120, "a number of seconds", _amount, False,
        "after how long a call goes on in the background; 0 waits for every call to end",
    ),
    "network": Setting(
        {}, "an object of " + ", ".join(NETWORK), _network, False,
        "how servers behind an address are reached: a proxy, your own authorities, a client certificate and its key",
    ),
    "mcpRemote": Setting(
        "native", "native or keep", lambda value: value in ("native", "keep"), False,
        "native reaches the address behind `npx mcp-remote URL` directly; keep starts the program as written",
    ),
    "startWindow": Setting(
        250, "a number of milliseconds, 0 or more", _amount, True,
        "how long the chat waits for servers that are not known yet before it offers what there is",
    ),
    "env": Setting({}, "an object of names and texts", _texts, False, "environment for what mooring starts"),
}  # fmt: skip


def load(where: Where, root: str | None) -> Settings:
    """The settings in force: managed before the person's own, before the project's. Never raises."""
    problems: list[Problem] = []
    doubts: list[str] = []
    values = {key: SettingValue(setting.default, "default", None) for key, setting in SETTINGS.items()}
    layers: list[Mapping[str, SettingValue]] = []
    places = _layers(where, root)
    for level, path in places:
        before = len(problems)
        document = _read(path, problems)
        unread = len(problems) > before
        accepted = {} if document is None else _accepted(document, level, path, problems)
        if level != "project" and (unread or (document is not None and not _rules_kept(document, accepted))):
            doubts.append(path)
        values |= accepted
        layers.insert(0, accepted)
    return Settings(values, tuple(problems), tuple(layers), tuple(doubts), tuple(path for _, path in places))


def _rules_kept(document: Document, accepted: Mapping[str, SettingValue]) -> bool:
    """Whether every rule in the file counts."""
    kept = accepted["permissions"].value if "permissions" in accepted else []
    return bool(document.data.get("permissions", []) == kept) and ("permissions",) not in document.duplicates


def _layers(where: Where, root: str | None) -> list[tuple[Level, str]]:
    """The files, lowest first."""
    project: list[tuple[Level, str]] = [("project", f"{root}/.mooring/settings.json")] if root else []
    return [
        *project,
        ("user", f"{where.config}/settings.json"),
        ("managed", f"{where.system}/etc/mooring/settings.json"),
    ]


def _read(path: str, problems: list[Problem]) -> Document | None:
    try:
        data = files.read(path)
        document = None if data is None else parse(data, "json")
    except FileError as error:
        problems.append(Problem(path, f"The file {error.reason}", "mend or remove it"))
        return None
    except ParseError as error:
        problems.append(Problem(path, f"The file {error.reason}", "mend it; it is left out", line=error.line))
        return None
    if document is not None and not isinstance(document.data, Mapping):
        problems.append(Problem(path, "The file should hold an object", "mend it; it is left out", line=1))
        return None
    return document


def _accepted(document: Document, level: Level, path: str, problems: list[Problem]) -> dict[str, SettingValue]:
    accepted = {}
    for key, value in document.data.items():
        if key == "$schema":
            continue
        complaint = _complaint(key, value, level)
        if complaint is None:
            accepted[key] = SettingValue(value, level, path)
            continue
        message, hint = complaint
        problems.append(Problem(path, message, hint, line=document.line((key,)), level="warning"))
        if key == "permissions" and (rules := _sound(value, level)):
            accepted[key] = SettingValue(rules, level, path)
    return accepted


def _sound(value: Any, level: Level) -> list[Any]:
    """The rules that can count though others cannot: a slip in one must not undo a deny in the next."""
    rules = filter(_rule, value) if isinstance(value, list) else ()
    return [rule for rule in rules if level != "project" or rule["action"] != "allow"]


def _complaint(key: str, value: Any, level: Level) -> tuple[str, str] | None:
    setting = SETTINGS.get(key)
    if setting is None:
        return f"`{key}` is no setting", f"the settings are: {', '.join(SETTINGS)}"
    if key == "permissions" and isinstance(value, list) and any(map(_rule, value)) and not all(map(_rule, value)):
        return f"`{key}` should be {setting.expects}; what is not is ignored", "mend it there; until then all is asked"
    if not setting.fits(value):
        return f"`{key}` should be {setting.expects}; it is ignored", "mend it there"
    if level == "project" and not setting.project:
        return f"`{key}` cannot be set by a project; it is ignored", "set it in your own settings.json"
    if level == "project" and key == "permissions" and any(rule["action"] == "allow" for rule in value):
        return "A project's permissions can only deny or ask; what they allow is ignored", "remove its allow rules"
    return None
