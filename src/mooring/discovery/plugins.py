"""The folders of installed plugins: where each tool's registry says they are, and where in them servers are."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any

from msgspec.structs import replace

from mooring import files
from mooring.core.definitions.problem import Problem
from mooring.discovery.documents import Documents
from mooring.discovery.format import Folder, ScanContext, Sheet
from mooring.discovery.mentions import Mentions
from mooring.discovery.values import as_mapping, as_mappings, look_up
from mooring.syntax.document import Document

MOST_VERSIONS = 64
MOST_FILES = 32
BUNDLES = (".mcpb", ".dxt")


def find_folders(
    tool: str, registries: Iterable[tuple[str, Any]], context: ScanContext, off: Mentions, answers: Sequence[Any]
) -> Iterator[Folder]:
    """The folders that a tool's registries name, from the paths they are at and what they hold.

    They are at their newest versions, with the person's answers to their questions and where they are off. Left out are
    those without a version, or without a full path: a relative one could lead into a repository.
    """
    for folder in chain.from_iterable(_REGISTRIES[tool](value, path, context) for path, value in registries):
        path = _find_newest(folder.path) if folder.path.endswith("/*") else folder.path
        if not os.path.isabs(path):
            continue
        # Without an id, a folder cannot be switched off by name.
        switched_off = off.find_name(folder.id) if folder.id else None
        yield replace(
            folder,
            path=os.path.normpath(path),
            disabled_by=switched_off or folder.disabled_by,
            variables={**folder.variables, **_read_answers(folder.id, answers)},
        )


# --- registries ---------------------------------------------------------------------------------------------


def _read_claude(value: Any, path: str, context: ScanContext) -> Iterator[Folder]:
    home = os.path.dirname(path)
    for id, install in _installs(value, context):
        data = f"{home}/data/{re.sub('[^A-Za-z0-9_-]', '-', id)}"
        fixed = _claude_data(data) | {"CLAUDE_PROJECT_DIR": context.root}
        name = id.rpartition("@")[0] or id
        # Claude Code shows a plugin's server as `plugin:<plugin>:<server>`.
        yield Folder(install["installPath"], id, f"plugin:{name}:", fixed)


def _read_omp(value: Any, path: str, context: ScanContext) -> Iterator[Folder]:
    home = os.path.dirname(path)
    for id, install in _installs(value, context):
        name = id.rpartition("@")[0]
        scope = "user" if install.get("scope", "user") == "user" else "project"
        # oh-my-pi distinguishes two installs of one plugin by a digest, in the name of the folder for its data.
        digest = sha256(f"{id}#{scope}".encode()).hexdigest()[:16]
        data = f"{home}/data/{name}-{digest}"
        yield Folder(install["installPath"], id, f"{name}:", {"PLUGIN_DATA": data}, _find_off(install, path))


def _read_codex(value: Any, path: str, context: ScanContext) -> Iterator[Folder]:
    home = os.path.dirname(path)
    for id, plugin in as_mapping(value).items():
        name, _, market = id.rpartition("@")
        if not name or not isinstance(plugin, Mapping):
            continue
        fixed = _claude_data(f"{home}/plugins/data/{name}-{market}")
        # The registry names no version; each is a folder of its own.
        yield Folder(
            f"{home}/plugins/cache/{market}/{name}/*", id, variables=fixed, disabled_by=_find_off(plugin, path)
        )


def _read_copilot(value: Any, path: str, context: ScanContext) -> Iterator[Folder]:
    home = os.path.dirname(path)
    for install in as_mappings(value):
        name = install.get("name")
        if not isinstance(name, str):
            continue
        market = str(install.get("marketplace") or "")
        below = f"{market or '_direct'}/{name}"
        fixed = dict.fromkeys(("CLAUDE_PLUGIN_DATA", "COPILOT_PLUGIN_DATA"), f"{home}/plugin-data/{below}")
        folder = str(install.get("cache_path") or f"{home}/installed-plugins/{below}")
        id = f"{name}@{market}" if market else ""
        yield Folder(folder, id, "", fixed, _find_off(install, path))


def _read_factory(value: Any, path: str, context: ScanContext) -> Iterator[Folder]:
    for id, install in _installs(value, context):
        yield Folder(install["installPath"], id)


def _read_roo(value: Any, path: str, context: ScanContext) -> Iterator[Folder]:
    """Roo's `customStoragePath`: one folder, and no plugin's."""
    if isinstance(value, str) and value:
        yield Folder(value)


_REGISTRIES: dict[str, Callable[[Any, str, ScanContext], Iterator[Folder]]] = {
    "claude-code": _read_claude,
    "omp": _read_omp,
    "codex": _read_codex,
    "copilot-cli": _read_copilot,
    "factory": _read_factory,
    "roo": _read_roo,
}


def _installs(plugins: Any, context: ScanContext) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The ids of the plugins that concern this person or this project, and the last install of each."""
    for id, listed in as_mapping(plugins).items():
        installs = as_mappings(listed if isinstance(listed, list) else [listed])
        concerned = [install for install in installs if _concerns(install, context)]
        if concerned:
            yield id, concerned[-1]


def _concerns(install: Mapping[str, Any], context: ScanContext) -> bool:
    is_installed = isinstance(install.get("installPath"), str)
    return is_installed and install.get("projectPath") in (None, *context.folders)


def _claude_data(folder: str) -> dict[str, str]:
    """The folder for a plugin's data under both of its names: Codex sets Claude Code's variable too."""
    return dict.fromkeys(("CLAUDE_PLUGIN_DATA", "PLUGIN_DATA"), folder)


def _find_off(install: Mapping[str, Any], path: str) -> str | None:
    return f"`enabled` in {path}" if install.get("enabled") is False else None


# --- folders ------------------------------------------------------------------------------------------------


def _find_newest(pattern: str) -> str:
    """Of several versions the one called `local`, else the highest; empty if there is none."""
    found = [path for path in files.match_paths(pattern, MOST_VERSIONS) if os.path.isdir(path)]
    return max(found, key=lambda path: (path.endswith("/local"), _version_key(path)), default="")


def _version_key(path: str) -> list[tuple[int, str]]:
    """Numbers are compared as numbers, so that 1.10 is higher than 1.9."""
    parts = re.split(r"(\d+)", os.path.basename(path))
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _read_answers(id: str, answers: Sequence[Any]) -> dict[str, str]:
    """What the person answered to this plugin's questions, as the variables for it."""
    found: dict[str, str] = {}
    for each in answers:
        plugin = as_mapping(as_mapping(each).get(id))
        for name, value in as_mapping(plugin.get("options")).items():
            if isinstance(value, str | int | float):
                found[f"user_config.{name}"] = _write_answer(value)
    return found


def _write_answer(value: str | int | float) -> str:
    # JSON's words for the truth, not Python's.
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- manifests ----------------------------------------------------------------------------------------------


def read_manifest(sheet: Sheet, documents: Documents) -> Iterator[Sheet]:
    """A manifest if it holds servers, and the files it names; notes on what is neither go to `documents`."""
    value = look_up(sheet.document.data, sheet.place.key or ())
    if not isinstance(value, str | list):
        yield sheet
        return
    place = replace(sheet.place, key=None)
    items = value[:MOST_FILES] if isinstance(value, list) else [value]
    for item in items:
        if isinstance(item, Mapping):
            yield replace(sheet, place=place, document=Document({"mcpServers": item}))
        elif reason := _refuse_file(sheet.folder.path, item):
            documents.problems.append(_make_note(sheet, reason))
        else:
            path = os.path.normpath(os.path.join(sheet.folder.path, item))
            document = documents.read(place, path)
            if document is not None:
                yield Sheet(place, path, document, sheet.folder)


def _refuse_file(folder: str, path: Any) -> str:
    """Why something that a manifest names is not read; empty if it is a file in the plugin's folder."""
    if not isinstance(path, str):
        return "names something that is neither a file nor a map of servers"
    if path.endswith(BUNDLES):
        return "names a bundle, which only its tool can unpack, so the server in it is not read"
    if not os.path.normpath(os.path.join(folder, path)).startswith(folder + os.sep):
        return "names a file outside the plugin, which is not read"
    return ""


def _make_note(sheet: Sheet, message: str) -> Problem:
    key = sheet.place.key or ()
    line = sheet.document.line(key)
    return Problem(sheet.path, f"`{'.'.join(key)}` {message}", "nothing to do; it is skipped", line=line, level="note")
