"""The rarer ways in which a tool says which servers, plugins or projects it lets run, made into the common ones.

`chosen`: a map of names to true; what it does not name is off. `paths`: names, and rules about folders of which the
last that fits decides. `folders`: trusted folders, in a list or as a map to a level. `approved` and `rejected`: names,
and what was decided about each. `servers`: a list of decisions about servers and workspaces.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from mooring.core.glob import Glob, star_glob
from mooring.discovery.format import Says, ScanContext, Switch


def plain(switch: Switch, value: Any, context: ScanContext) -> tuple[Switch, Any]:
    """The same said in one of the common ways."""
    says: Says = "names"
    match switch.says:
        case "chosen":
            # An empty list would say nothing; this one says that none was chosen.
            says, names = "only", ["", *(name for name, state in _items(value) if state is True)]
        case "paths":
            names = [name for name, rules in _items(value) if not _is_on(rules, context.cwd)]
        case "approved" | "rejected":
            names = [name for name, said in _items(value) if _field(said, "status") == switch.says]
        case "servers":
            return _servers(switch, value, context)
        case _:
            return replace(switch, says="true"), _trusts(value, context.root)
    return replace(switch, says=says), names


def _is_on(rules: Any, cwd: str) -> bool:
    on, here = True, f"{cwd}/"
    for rule in _texts(_field(rules, "overrides")):
        if Glob(star_glob(rule.removeprefix("!"))).matches(here):
            on = not rule.startswith("!")
    return on


_LEVELS = ("TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST")


def _trusts(value: Any, root: str) -> bool:
    """Whether the nearest folder about which something is said is trusted."""
    levels = dict(_items(value)) or dict.fromkeys(_texts(value), "TRUST_FOLDER")
    fitting = [
        (len(path), level != "DO_NOT_TRUST")
        for path, level in levels.items()
        if level in _LEVELS and _holds(os.path.dirname(path) if level == "TRUST_PARENT" else path, root)
    ]
    return bool(fitting) and max(fitting)[1]


def _servers(switch: Switch, value: Any, context: ScanContext) -> tuple[Switch, Any]:
    listed = value if isinstance(value, list) else []
    if any(_field(item, "allowAllMcpServers") is True and _is_here(item, context.root) for item in listed):
        return replace(switch, says="true"), True
    names = [_field(item, "serverName") for item in listed if _field(item, "allow") is True]
    return replace(switch, says="names"), names


def _is_here(item: Any, root: str) -> bool:
    return _holds(str(_field(item, "path")), root)


def _holds(folder: str, path: str) -> bool:
    return os.path.isabs(folder) and f"{path}/".startswith(f"{folder.rstrip('/')}/")


def _items(value: Any) -> Iterable[tuple[str, Any]]:
    return value.items() if isinstance(value, Mapping) else ()


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _field(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None
