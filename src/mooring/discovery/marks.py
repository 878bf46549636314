"""The rarer ways in which a tool says which servers, plugins or projects it lets run.

`chosen`: a map of names to true; what it does not name is off. `paths`: names, and rules about folders of which the
last that matches decides. `folders`: trusted folders, in a list or as a map to a level. `approved` and `rejected`:
names, and what was decided about each. `servers`: a list of decisions about servers and workspaces.
"""

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mooring.core.text.glob import Glob, star_glob
from mooring.discovery.format import ALL, NONE, Named, Says, ScanContext
from mooring.discovery.values import as_mapping, as_mappings, as_texts


def _read_chosen(value: Any, context: ScanContext) -> Named:
    states = as_mapping(value)
    chosen = frozenset(name for name in states if states[name] is True)
    return Named(chosen, all_but=True)


def _read_decided(status: str, value: Any, context: ScanContext) -> Named:
    """The servers that Qwen Code recorded with this status."""
    records = as_mapping(value)
    return Named(frozenset(name for name in records if as_mapping(records[name]).get("status") == status))


def _read_paths(value: Any, context: ScanContext) -> Named:
    """The extensions of Gemini CLI that are off in the current folder."""
    extensions = as_mapping(value)
    return Named(frozenset(name for name in extensions if not _is_on(extensions[name], context.cwd)))


def _is_on(rules: Any, cwd: str) -> bool:
    """Whether an extension is on in a folder; a rule that begins with `!` turns it off."""
    on, folder = True, f"{cwd}/"
    for rule in as_texts(as_mapping(rules).get("overrides")):
        if Glob(star_glob(rule.removeprefix("!"))).matches(folder):
            on = not rule.startswith("!")
    return on


_LEVELS = ("TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST")


def _read_folders(value: Any, context: ScanContext) -> Named:
    """All servers if the nearest folder mentioned is trusted. Gemini CLI maps folders to levels, Copilot lists them."""
    levels = as_mapping(value) or dict.fromkeys(as_texts(value), "TRUST_FOLDER")
    concerned = [path for path in levels if _concerns(path, levels[path], context.root)]
    verdicts = [(len(path), levels[path] != "DO_NOT_TRUST") for path in concerned]
    _, is_trusted = max(verdicts, default=(0, False))
    return ALL if is_trusted else NONE


def _concerns(path: str, level: Any, root: str) -> bool:
    if level not in _LEVELS:
        return False
    folder = os.path.dirname(path) if level == "TRUST_PARENT" else path
    return _holds(folder, root)


def _read_servers(value: Any, context: ScanContext) -> Named:
    """Amp's decisions: a workspace whose servers are all allowed, or single servers."""
    allowed: list[Any] = []
    for decision in as_mappings(value):
        folder = str(decision.get("path"))
        if decision.get("allowAllMcpServers") is True and _holds(folder, context.root):
            return ALL
        if decision.get("allow") is True:
            allowed.append(decision.get("serverName"))
    return Named(frozenset(as_texts(allowed)))


def _holds(folder: str, path: str) -> bool:
    return os.path.isabs(folder) and f"{path}/".startswith(f"{folder.rstrip('/')}/")


READERS: Mapping[Says, Callable[[Any, ScanContext], Named]] = {
    "chosen": _read_chosen,
    "approved": partial(_read_decided, "approved"),
    "rejected": partial(_read_decided, "rejected"),
    "paths": _read_paths,
    "folders": _read_folders,
    "servers": _read_servers,
}
"""How each of these ways is read: what a file says, and where it is read from, into the servers that it names."""
