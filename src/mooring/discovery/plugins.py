"""The folders of installed plugins: where each tool's registry says they are, and where in them servers stand."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.problem import Problem
from mooring.discovery.format import Folder, Place, ScanContext, Sheet
from mooring.syntax.document import Document

MOST_VERSIONS = 64
MOST_FILES = 32
BUNDLES = (".mcpb", ".dxt")


class Elsewhere(Struct, frozen=True):
    """A file that a plugin's manifest names."""

    path: str
    place: Place


def named(whose: str, value: Any, path: str, context: ScanContext) -> Iterable[Folder]:
    """The folders that a registry names, from what it says and where it stands."""
    return _REGISTRIES[whose](value, path, context)


def _claude(value: Any, path: str, context: ScanContext) -> Iterator[Folder]:
    home = os.path.dirname(path)
    for id, install in _installed(value, context):
        own = f"{home}/data/{re.sub('[^A-Za-z0-9_-]', '-', id)}"
        fixed = dict.fromkeys(("CLAUDE_PLUGIN_DATA", "PLUGIN_DATA"), own) | {"CLAUDE_PROJECT_DIR": context.root}
        yield Folder(install["installPath"], id, f"plugin:{id.rpartition('@')[0] or id}:", fixed)


def _installed(plugins: Any, context: ScanContext) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The ids of the plugins that concern this person or this project, and the last install of each."""
    for id, listed in plugins.items() if isinstance(plugins, Mapping) else ():
        for install in reversed(listed) if isinstance(listed, list) else (listed,):
            match install:
                case {"installPath": str()} if install.get("projectPath") in (None, *context.folders):
                    yield id, install
                    break


def _omp(value: Any, path: str, context: ScanContext) -> Iterator[Folder]:
    home = os.path.dirname(path)
    for id, install in _installed(value, context):
        name, scope = id.rpartition("@")[0], "user" if install.get("scope", "user") == "user" else "project"
        own = f"{home}/data/{name}-{sha256(f'{id}#{scope}'.encode()).hexdigest()[:16]}"
        yield Folder(install["installPath"], id, f"{name}:", {"PLUGIN_DATA": own}, _off(install, path))


def _codex(value: Any, path: str, context: ScanContext) -> Iterator[Folder]:
    home = os.path.dirname(path)
    for id, said in value.items() if isinstance(value, Mapping) else ():
        name, _, market = id.rpartition("@")
        if name and isinstance(said, Mapping):
            own = dict.fromkeys(("CLAUDE_PLUGIN_DATA", "PLUGIN_DATA"), f"{home}/plugins/data/{name}-{market}")
            yield Folder(f"{home}/plugins/cache/{market}/{name}/*", id, variables=own, disabled_by=_off(said, path))


def _copilot(value: Any, path: str, context: ScanContext) -> Iterator[Folder]:
    home = os.path.dirname(path)
    for install in value if isinstance(value, list) else ():
        if isinstance(install, Mapping) and isinstance(name := install.get("name"), str):
            market = str(install.get("marketplace") or "")
            below = f"{market or '_direct'}/{name}"
            own = dict.fromkeys(("CLAUDE_PLUGIN_DATA", "COPILOT_PLUGIN_DATA"), f"{home}/plugin-data/{below}")
            folder = str(install.get("cache_path") or f"{home}/installed-plugins/{below}")
            yield Folder(folder, f"{name}@{market}" if market else "", "", own, _off(install, path))


def _factory(value: Any, path: str, context: ScanContext) -> Iterator[Folder]:
    return (Folder(install["installPath"], id) for id, install in _installed(value, context))


def _roo(value: Any, path: str, context: ScanContext) -> Iterator[Folder]:
    yield from [Folder(value)] if isinstance(value, str) and value else []


def _off(install: Mapping[str, Any], path: str) -> str | None:
    return f"`enabled` in {path}" if install.get("enabled") is False else None


_REGISTRIES: dict[str, Callable[[Any, str, ScanContext], Iterator[Folder]]] = {
    "claude-code": _claude,
    "omp": _omp,
    "codex": _codex,
    "copilot-cli": _copilot,
    "factory": _factory,
    "roo": _roo,
}


def settled(folder: Folder, off: str | None, answers: Iterable[Any]) -> Folder | None:
    """A folder with its newest version, what the person answered to its questions, and where it is switched off."""
    path = _newest(folder.path) if folder.path.endswith("/*") else folder.path
    if path is None or not os.path.isabs(path):
        return None
    path = os.path.normpath(path)
    return replace(
        folder, path=path, disabled_by=off, variables={**folder.variables, **dict(_answers(folder.id, answers))}
    )


def _newest(pattern: str) -> str | None:
    """Of several versions the one called `local`, else the highest."""
    found = [path for path in files.matches(pattern, MOST_VERSIONS) if os.path.isdir(path)]
    return max(found, key=lambda path: (path.endswith("/local"), _version(path)), default=None)


def _version(path: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", os.path.basename(path))]


def _answers(id: str, given: Iterable[Any]) -> Iterator[tuple[str, str]]:
    for each in given:
        match each:
            case Mapping() if isinstance(config := each.get(id), Mapping) and isinstance(
                config.get("options"), Mapping
            ):
                for name, value in config["options"].items():
                    if isinstance(value, str | int | float):
                        yield f"user_config.{name}", str(value).lower() if isinstance(value, bool) else str(value)
            case _:
                pass


def parts(sheet: Sheet) -> Iterator[Sheet | Elsewhere | Problem]:
    """What a manifest says of servers: itself where it holds them, the files that it names, and what is neither."""
    value = _under(sheet.document.data, sheet.place.key or ())
    if not isinstance(value, str | list):
        yield sheet
        return
    for item in value[:MOST_FILES] if isinstance(value, list) else (value,):
        match item:
            case str():
                yield _named(sheet, item)
            case Mapping():
                yield replace(sheet, place=replace(sheet.place, key=None), document=Document({"mcpServers": item}))
            case _:
                yield _problem(sheet, "names something that is neither a file nor a map of servers")


def _named(sheet: Sheet, path: str) -> Elsewhere | Problem:
    folder = sheet.folder.path
    target = os.path.normpath(os.path.join(folder, path))
    if path.endswith(BUNDLES):
        return _problem(sheet, "names a bundle, which its tool unpacks for itself, so the server in it is not read")
    if not target.startswith(folder + os.sep):
        return _problem(sheet, "names a file outside the plugin, which is not read")
    return Elsewhere(target, replace(sheet.place, key=None))


def _problem(sheet: Sheet, message: str) -> Problem:
    key = sheet.place.key or ()
    line = sheet.document.line(key)
    return Problem(sheet.path, f"`{'.'.join(key)}` {message}", "nothing to do; it is left out", line=line, level="note")


def _under(data: Any, key: tuple[str, ...]) -> Any:
    for step in key:
        data = data.get(step) if isinstance(data, Mapping) else None
    return data
