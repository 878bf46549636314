"""The rarer ways in which a tool says which servers, plugins or projects it lets run, turned into the common ones.

`chosen`: a map of names to true; what it does not name is off. `paths`: names, and rules about folders of which the
last that matches decides. `folders`: trusted folders, in a list or as a map to a level. `approved` and `rejected`:
names, and what was decided about each. `servers`: a list of decisions about servers and workspaces.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from mooring.core.glob import Glob, star_glob
from mooring.discovery.format import ScanContext, Switch


def simplify(switch: Switch, value: Any, context: ScanContext) -> tuple[Switch, Any]:
    """The switch and its value as if the tool had said the same in one of the common ways."""
    match switch.says:
        case "chosen":
            chosen = [name for name, state in _items(value) if state is True]
            # An empty list would say nothing; the empty name makes it say that none was chosen.
            return replace(switch, says="only"), ["", *chosen]
        case "paths":
            off = [name for name, rules in _items(value) if not _is_on(rules, context.cwd)]
            return replace(switch, says="names"), off
        case "approved" | "rejected":
            decided = [name for name, record in _items(value) if _field(record, "status") == switch.says]
            return replace(switch, says="names"), decided
        case "servers":
            return _simplify_servers(switch, value, context)
        case _:
            return replace(switch, says="true"), _is_trusted(value, context.root)


def _is_on(rules: Any, cwd: str) -> bool:
    """Whether an extension of Gemini CLI is on in a folder; a rule that begins with `!` switches it off."""
    on, folder = True, f"{cwd}/"
    for rule in _texts(_field(rules, "overrides")):
        if Glob(star_glob(rule.removeprefix("!"))).matches(folder):
            on = not rule.startswith("!")
    return on


_LEVELS = ("TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST")


def _is_trusted(value: Any, root: str) -> bool:
    """Whether the nearest folder mentioned is trusted. Gemini CLI maps folders to levels, Copilot CLI lists them."""
    levels = dict(_items(value)) or dict.fromkeys(_texts(value), "TRUST_FOLDER")
    nearest, trusted = -1, False
    for path, level in levels.items():
        if level not in _LEVELS:
            continue
        meant = os.path.dirname(path) if level == "TRUST_PARENT" else path
        if not _holds(meant, root):
            continue
        ranks = (len(path), level != "DO_NOT_TRUST")
        nearest, trusted = max((nearest, trusted), ranks)
    return trusted


def _simplify_servers(switch: Switch, value: Any, context: ScanContext) -> tuple[Switch, Any]:
    """Amp's decisions: a workspace whose servers are all allowed, or single servers."""
    decisions = value if isinstance(value, list) else []
    for decision in decisions:
        folder = str(_field(decision, "path"))
        if _field(decision, "allowAllMcpServers") is True and _holds(folder, context.root):
            return replace(switch, says="true"), True
    allowed = [_field(decision, "serverName") for decision in decisions if _field(decision, "allow") is True]
    return replace(switch, says="names"), allowed


def _holds(folder: str, path: str) -> bool:
    return os.path.isabs(folder) and f"{path}/".startswith(f"{folder.rstrip('/')}/")


def _items(value: Any) -> Iterable[tuple[str, Any]]:
    return value.items() if isinstance(value, Mapping) else ()


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, str)]


def _field(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None
