"""The rarer ways in which a tool says which servers, plugins or projects it lets run, turned into the common ones.

`chosen`: a map of names to true; what it does not name is off. `paths`: names, and rules about folders of which the
last that matches decides. `folders`: trusted folders, in a list or as a map to a level. `approved` and `rejected`:
names, and what was decided about each. `servers`: a list of decisions about servers and workspaces.
"""

import os
from typing import Any

from msgspec.structs import replace

from mooring.core.glob import Glob, star_glob
from mooring.discovery.format import ScanContext, Switch
from mooring.discovery.untyped import as_mapping, as_mappings, as_texts


def simplify(switch: Switch, value: Any, context: ScanContext) -> tuple[Switch, Any]:
    """The switch and its value as if the tool had said the same in one of the common ways."""
    match switch.says:
        case "chosen":
            chosen = [name for name, state in as_mapping(value).items() if state is True]
            # An empty list would say nothing; the empty name makes it say that none was chosen.
            return replace(switch, says="only"), ["", *chosen]
        case "paths":
            off = [name for name, rules in as_mapping(value).items() if not _is_on(rules, context.cwd)]
            return replace(switch, says="names"), off
        case "approved" | "rejected":
            decided = {name: as_mapping(record).get("status") for name, record in as_mapping(value).items()}
            return replace(switch, says="names"), [name for name, status in decided.items() if status == switch.says]
        case "servers":
            return _simplify_servers(switch, value, context)
        case _:
            return replace(switch, says="true"), _is_trusted(value, context.root)


def _is_on(rules: Any, cwd: str) -> bool:
    """Whether an extension of Gemini CLI is on in a folder; a rule that begins with `!` switches it off."""
    on, folder = True, f"{cwd}/"
    for rule in as_texts(as_mapping(rules).get("overrides")):
        if Glob(star_glob(rule.removeprefix("!"))).matches(folder):
            on = not rule.startswith("!")
    return on


_LEVELS = ("TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST")


def _is_trusted(value: Any, root: str) -> bool:
    """Whether the nearest folder mentioned is trusted. Gemini CLI maps folders to levels, Copilot CLI lists them."""
    levels = as_mapping(value) or dict.fromkeys(as_texts(value), "TRUST_FOLDER")
    verdicts = [(len(path), level != "DO_NOT_TRUST") for path, level in levels.items() if _concerns(path, level, root)]
    return max(verdicts)[1] if verdicts else False


def _concerns(path: str, level: Any, root: str) -> bool:
    if level not in _LEVELS:
        return False
    folder = os.path.dirname(path) if level == "TRUST_PARENT" else path
    return _holds(folder, root)


def _simplify_servers(switch: Switch, value: Any, context: ScanContext) -> tuple[Switch, Any]:
    """Amp's decisions: a workspace whose servers are all allowed, or single servers."""
    decisions = as_mappings(value)
    for decision in decisions:
        folder = str(decision.get("path"))
        if decision.get("allowAllMcpServers") is True and _holds(folder, context.root):
            return replace(switch, says="true"), True
    allowed = [decision.get("serverName") for decision in decisions if decision.get("allow") is True]
    return replace(switch, says="names"), allowed


def _holds(folder: str, path: str) -> bool:
    return os.path.isabs(folder) and f"{path}/".startswith(f"{folder.rstrip('/')}/")
