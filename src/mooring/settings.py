"""Settings, each value with its origin. A repository may propose; it may not grant, and the person's own word wins."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring import files
from mooring.core.problem import Problem
from mooring.core.where import Where
from mooring.errors import FileError, ParseError
from mooring.syntax import Document, parse

Level: TypeAlias = Literal["managed", "user", "project", "default"]


class Setting(Struct, frozen=True):
    """What can be set, what it is when nobody says, and whether a project's file may say it."""

    default: Any
    expects: str
    fits: Callable[[Any], bool]
    project: bool
    help: str


class Value(Struct, frozen=True):
    """A setting's value and the file that said so."""

    value: Any
    level: Level
    path: str | None


class Settings(Struct, frozen=True):
    """Every setting with its value in force, and what was wrong with the files."""

    values: Mapping[str, Value]
    problems: tuple[Problem, ...] = ()

    def __getitem__(self, key: str) -> Any:
        return self.values[key].value

    def __repr__(self) -> str:
        said = ", ".join(key for key, value in self.values.items() if value.path is not None)
        return f"<Settings: {said or 'as they come'}>"


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _switches(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(on, bool) for on in value.values())


def _texts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values())


def _rules(value: Any) -> bool:
    return isinstance(value, list) and all(map(_rule, value))


def _rule(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("tool"), str)
        and isinstance(value.get("pattern", ""), str)
        and value.get("action") in ("allow", "deny", "ask")
    )


def _milliseconds(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


NETWORK = ("proxy", "ca", "certificate", "key")


def _network(value: Any) -> bool:
    return _texts(value) and set(value) <= set(NETWORK)


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
    "model": Setting(None, "text", _text, True, "the model the chat speaks to"),
    "backend": Setting(None, "text", _text, True, "the agent behind the chat"),
    "toolNames": Setting(
        NAMES[0], "one of " + ", ".join(NAMES), lambda value: value in NAMES, True,
        "how tools are named for a model",
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
        250, "a number of milliseconds, 0 or more", _milliseconds, True,
        "how long the chat waits for servers that are not known yet before it offers what there is",
    ),
    "env": Setting({}, "an object of names and texts", _texts, False, "environment for what mooring starts"),
}  # fmt: skip


def load(where: Where, root: str | None) -> Settings:
    """The settings in force: managed before the person's own, before the project's. Never raises."""
    problems: list[Problem] = []
    values = {key: Value(setting.default, "default", None) for key, setting in SETTINGS.items()}
    for level, path in _layers(where, root):
        document = _read(path, problems)
        if document is not None:
            values |= _accepted(document, level, path, problems)
    return Settings(values, tuple(problems))


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


def _accepted(document: Document, level: Level, path: str, problems: list[Problem]) -> dict[str, Value]:
    accepted = {}
    for key, value in document.data.items():
        if key == "$schema":
            continue
        complaint = _complaint(key, value, level)
        if complaint is None:
            accepted[key] = Value(value, level, path)
        else:
            message, hint = complaint
            problems.append(Problem(path, message, hint, line=document.line((key,)), level="warning"))
    return accepted


def _complaint(key: str, value: Any, level: Level) -> tuple[str, str] | None:
    setting = SETTINGS.get(key)
    if setting is None:
        return f"`{key}` is no setting", f"the settings are: {', '.join(SETTINGS)}"
    if not setting.fits(value):
        return f"`{key}` should be {setting.expects}; it is ignored", "mend it there"
    if level == "project" and not setting.project:
        return f"`{key}` cannot be set by a project; it is ignored", "set it in your own settings.json"
    if level == "project" and key == "permissions" and any(rule["action"] == "allow" for rule in value):
        return "A project's permissions can only deny or ask; they are ignored", "remove its allow rules"
    return None
