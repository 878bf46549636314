"""OpenCode: layers merged key by key, as it does itself; a person's own layers, then a project's over them."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.definitions.config import Origin, Scope
from mooring.discovery.dialect import OPENCODE
from mooring.discovery.format import (
    BASIC,
    COMMON,
    Format,
    Obeyed,
    Place,
    RawEntry,
    ScanContext,
    Sheet,
    Writes,
    fields,
    login_keys,
    obeyed_everywhere,
    project_file,
    system_files,
    user_file,
)
from mooring.discovery.values import as_list, as_mapping


def _json_and_jsonc(make: Callable[[str], Place], stem: str) -> tuple[Place, Place]:
    return make(f"{stem}.json"), make(f"{stem}.jsonc")


# Lowest first, unlike the places of other formats: this is the order in which OpenCode merges them.
_BASE = (
    user_file("{xdg}/opencode/config.json"),
    *_json_and_jsonc(user_file, "{xdg}/opencode/opencode"),
    user_file("${OPENCODE_CONFIG}"),
)
_PROJECT = _json_and_jsonc(project_file, "opencode")
_PROJECT_FOLDER = _json_and_jsonc(project_file, ".opencode/opencode")
_OVER_PROJECT = (
    *_json_and_jsonc(user_file, "~/.opencode/opencode"),
    *_json_and_jsonc(user_file, "${OPENCODE_CONFIG_DIR}/opencode"),
    Place("user", "OPENCODE_CONFIG_CONTENT", inline=True),
)
_MANAGED = tuple(
    place
    for suffix in ("json", "jsonc")
    for place in system_files(
        "managed",
        linux=f"/etc/opencode/opencode.{suffix}",
        darwin=f"/Library/Application Support/opencode/opencode.{suffix}",
        win32=f"{{programdata}}/opencode/opencode.{suffix}",
    )
)
_PREFERENCES = tuple(
    Place("managed", f"{{system}}/Library/Managed Preferences/{whose}ai.opencode.managed.plist", platform="darwin")
    for whose in ("", "${USER}/")
)
_PLACES = (*_BASE, *_PROJECT, *_PROJECT_FOLDER, *_OVER_PROJECT, *_MANAGED, *_PREFERENCES)
# For each place, how high its group is, and how a folder's distance ranks in it. Of several opencode.json, the nearer
# wins; of several .opencode folders, OpenCode lets the farther one win.
_HEIGHTS = {
    **dict.fromkeys(_BASE, (0, 0)),
    **dict.fromkeys(_PROJECT, (1, -1)),
    **dict.fromkeys(_PROJECT_FOLDER, (2, 1)),
    **dict.fromkeys((*_OVER_PROJECT, *_MANAGED, *_PREFERENCES), (3, 0)),
}

# Whose layers make up a definition of each scope. A project's text never becomes part of a definition of the person's
# or the machine's, because those need no approval.
_MERGED_SCOPES: Mapping[Scope, frozenset[Scope]] = {
    "user": frozenset({"user"}),
    "project": frozenset({"user", "project", "managed"}),
    "managed": frozenset({"user", "managed"}),
}


class _Layer(Struct, frozen=True):
    """One file: where in it the servers are, what it says about each, and about all of them."""

    sheet: Sheet
    key: tuple[str, ...]
    servers: Mapping[str, Any]
    tools: Mapping[str, Any]
    """Which tools are on or off, by their whole names."""
    experimental: Mapping[str, Any]
    """Has `mcp_timeout`, for every server without a timeout of its own."""


def _gather(format: Format, sheets: tuple[Sheet, ...], context: ScanContext) -> Iterator[RawEntry]:
    layers = _read_layers(sheets, context)
    for scope, merged_scopes in _MERGED_SCOPES.items():
        merged = [layer for layer in layers if layer.sheet.place.scope in merged_scopes]
        yield from _merge_layers(format, scope, merged)


def _read_layers(sheets: tuple[Sheet, ...], context: ScanContext) -> list[_Layer]:
    """The layers that apply, lowest first."""
    ordered = sorted(sheets, key=lambda sheet: _height(sheet, context))
    if context.where.env.get("OPENCODE_DISABLE_PROJECT_CONFIG", "").lower() in ("1", "true"):
        ordered = [sheet for sheet in ordered if sheet.place.scope != "project"]
    return [_read_layer(sheet) for sheet in ordered]


def _height(sheet: Sheet, context: ScanContext) -> tuple[int, int, int]:
    """The sort key of a layer: OpenCode merges a higher one over a lower one."""
    group, direction = _HEIGHTS[sheet.place]
    return group, direction * _distance(sheet.path, context), _PLACES.index(sheet.place)


def _distance(path: str, context: ScanContext) -> int:
    """How many folders up from the current one a project's file is."""
    return next((up for up, folder in enumerate(context.folders) if path.startswith(f"{folder}/")), 0)


def _read_layer(sheet: Sheet) -> _Layer:
    data = as_mapping(sheet.document.data)
    key, servers = _find_servers(sheet)
    # `tools` is the older word for `permission`.
    tools = {**as_mapping(data.get("tools")), **as_mapping(data.get("permission"))}
    return _Layer(sheet, key, servers, tools, as_mapping(data.get("experimental")))


def _find_servers(sheet: Sheet) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """The map of servers and the keys that lead to it, in version 1 or 2 of the file's shape."""
    mcp = as_mapping(as_mapping(sheet.document.data).get("mcp"))
    if "{file:" in sheet.document.text and os.path.isabs(sheet.path):
        mcp = _root_files(mcp, os.path.dirname(sheet.path))
    if not _is_version_2(mcp):
        return ("mcp",), mcp
    servers = mcp["servers"]
    timeout = mcp.get("timeout")
    defaults = {"timeout": timeout} if isinstance(timeout, Mapping) else {}
    return ("mcp", "servers"), {name: _merge(defaults, raw) for name, raw in servers.items()}


def _is_version_2(mcp: Mapping[str, Any]) -> bool:
    """Whether it has version 2's map of servers, and not version 1's entry of a server called "servers"."""
    servers = mcp.get("servers")
    return isinstance(servers, Mapping) and servers.keys().isdisjoint({"type", "command", "url", "enabled"})


_RELATIVE_FILE = r"\{file:(?![~/\\]|[A-Za-z]:)(?:\./)?"


def _root_files(value: Any, folder: str) -> Any:
    """Make `{file:…}` relative to the layer that it is in, whichever layers it is merged with."""
    match value:
        case Mapping():
            return {key: _root_files(inner, folder) for key, inner in value.items()}
        case list():
            return [_root_files(inner, folder) for inner in value]
        case str():
            return re.sub(_RELATIVE_FILE, lambda _: f"{{file:{folder}/", value)
        case _:
            return value


def _merge_layers(format: Format, scope: Scope, layers: Sequence[_Layer]) -> Iterator[RawEntry]:
    servers: Any = {}
    tools: dict[str, Any] = {}
    timeout: Any = None
    highest: dict[str, _Layer] = {}
    for layer in layers:
        servers = _merge(servers, layer.servers)
        tools |= layer.tools
        timeout = layer.experimental.get("mcp_timeout", timeout)
        if layer.sheet.place.scope == scope:
            highest |= dict.fromkeys(layer.servers, layer)

    for name, layer in highest.items():
        if name and not _is_only_a_switch(servers[name]):
            raw = _add_common_settings(name, servers[name], timeout, tools)
            origin = _find_origin(format, scope, name, layer, layers)
            yield RawEntry(name, raw, origin, layer.sheet.document, 0)


def _add_common_settings(name: str, raw: Any, timeout: Any, tools: Mapping[str, Any]) -> Any:
    if timeout is not None:
        raw = _merge({"timeout": timeout}, raw)
    denied = _denied_tools(name, tools)
    if denied and isinstance(raw, Mapping):
        raw = {**raw, "denied": denied}
    return raw


def _find_origin(format: Format, scope: Scope, name: str, layer: _Layer, layers: Sequence[_Layer]) -> Origin:
    path = layer.sheet.path
    merged = [other.sheet.path for other in layers if name in other.servers]
    others = tuple(other for other in merged if other != path)
    return Origin(format.tool, scope, path, (*layer.key, name), layers=others)


def _is_only_a_switch(raw: Any) -> bool:
    """Whether an entry only turns on or off what another layer would define, but none does."""
    keys = as_mapping(raw).keys()
    return bool(keys) and keys <= {"enabled", "disabled"}


def _denied_tools(server: str, tools: Mapping[str, Any]) -> list[str]:
    """The tools of a server that are off. They are named `<server>_<tool>`, and the last match wins."""
    prefix = re.sub(r"[^A-Za-z0-9_-]", "_", server) + "_"
    denied: list[str] = []
    for pattern, state in tools.items():
        tool = _tool_named_by(pattern, prefix)
        if tool is None:
            continue
        denied = [] if tool == "*" else [other for other in denied if other != tool]
        if state is False or state == "deny":
            denied.append(tool)
    return denied


def _tool_named_by(pattern: str, prefix: str) -> str | None:
    """The tool of a server that a pattern is about: its name, `*` for all of them, or `None` for another server's."""
    if pattern.startswith(prefix):
        return pattern.removeprefix(prefix)
    if pattern.endswith("*") and prefix.startswith(pattern[:-1]):
        return "*"
    return None


def _merge(low: Any, high: Any) -> Any:
    if not isinstance(low, Mapping) or not isinstance(high, Mapping):
        return high
    return {**low, **{key: _merge(low.get(key), value) for key, value in high.items()}}


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """A command is a list of the program and its arguments; version 2 may give two timeouts instead of one."""
    entry = dict(raw)
    command = raw.get("command")
    if isinstance(command, str):
        command = command.split() or [""]
    if isinstance(command, list):
        program, *rest = command or [None]
        entry |= {"command": program, "args": [*rest, *as_list(raw.get("args"))]}
    timeout = entry.get("timeout")
    if isinstance(timeout, Mapping):
        entry |= {"timeout": None, "startup": timeout.get("startup"), "request": timeout.get("request")}
    return entry


def _arrange(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The program and its arguments as one list."""
    if "command" not in raw:
        return raw
    entry = {key: value for key, value in raw.items() if key != "args"}
    return {**entry, "command": [raw["command"], *raw.get("args", ())]}


def _find_container(data: Any) -> tuple[tuple[str, ...], Any]:
    mcp = as_mapping(data).get("mcp")
    if _is_version_2(as_mapping(mcp)):
        return ("mcp", "servers"), as_mapping(mcp)["servers"]
    return ("mcp",), mcp


WRITES = Writes(
    user=_json_and_jsonc(user_file, "{xdg}/opencode/opencode"),
    project=_json_and_jsonc(project_file, "opencode"),
    slots=(*BASIC, "cwd", "enabled", "timeout", "oauth"),
    # Both kinds of address are "remote", which tries one after the other.
    types={"stdio": "local", "http": "remote", "sse": "remote", "auto": "remote"},
    oauth=login_keys("client_id", "client_secret", "callback_port", "redirect_uri") | {"scopes": "scope"},
    joined_scopes=True,
    find_container=_find_container,
    arrange=_arrange,
)

FORMAT = Format(
    tool="opencode",
    title="OpenCode",
    places=_PLACES,
    key=("mcp",),
    gather=_gather,
    fields={
        **fields(environment="env"),
        **COMMON,
        **fields(startup="start_timeout", request="call_timeout", denied="tools_deny"),
    },
    # "remote" may be either: OpenCode tries http, then sse.
    types={"local": "stdio", "remote": "auto", "stdio": "stdio", "http": "http", "sse": "sse"},
    dialect=OPENCODE,
    prepare=_prepare,
    writes=WRITES,
    obeys=(
        Obeyed("agents", ".opencode/agents", "{xdg}/opencode/agents"),
        Obeyed("agents", ".opencode/agent", "{xdg}/opencode/agent"),
        Obeyed("skills", ".opencode/skills", "{xdg}/opencode/skills"),
        Obeyed("skills", ".opencode/skill", "{xdg}/opencode/skill"),
        Obeyed("paths", ".opencode/commands", "{xdg}/opencode/commands"),
        Obeyed("paths", ".opencode/command", "{xdg}/opencode/command"),
        Obeyed("hooks", ".opencode/plugins", "{xdg}/opencode/plugins"),
        Obeyed("hooks", ".opencode/plugin", "{xdg}/opencode/plugin"),
        Obeyed("hooks", ".opencode/tools", "{xdg}/opencode/tools"),
        Obeyed("hooks", ".opencode/tool", "{xdg}/opencode/tool"),
        Obeyed("instructions", "AGENTS.md", "{xdg}/opencode/AGENTS.md"),
    ),
)


# Kilo Code: OpenCode's shape in files of its own.
_KILO_USER = (user_file("{xdg}/kilo/kilo.jsonc"), user_file("{xdg}/kilo/kilo.json"))
_KILO_PROJECT = (project_file(".kilo/kilo.jsonc"), project_file(".kilo/kilo.json"))
KILO = replace(
    FORMAT,
    tool="kilo",
    title="Kilo Code",
    places=(*_KILO_PROJECT, *_KILO_USER),
    # Not OpenCode's `gather`: these files are not layers, and the higher entry wins as a whole.
    gather=None,
    writes=replace(WRITES, user=_KILO_USER, project=_KILO_PROJECT),
    obeys=(
        obeyed_everywhere("rules", ".kilocode/rules"),
        obeyed_everywhere("commands", ".kilocode/workflows"),
        Obeyed("agents", ".kilocodemodes"),
        obeyed_everywhere("skills", ".kilocode/skills"),
    ),
)
