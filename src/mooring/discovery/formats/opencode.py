"""OpenCode: layers merged key by key, as it does itself; a person's own layers, then a project's over them."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from mooring.core.config import Origin, Scope
from mooring.discovery.dialect import CURLY
from mooring.discovery.format import COMMON, Format, Place, RawEntry, ScanContext, Sheet, fields, project, system, user


def _both(make: Any, stem: str) -> tuple[Place, Place]:
    return make(f"{stem}.json"), make(f"{stem}.jsonc")


_BASE = (user("{xdg}/opencode/config.json"), *_both(user, "{xdg}/opencode/opencode"), user("${OPENCODE_CONFIG}"))
_PLAIN = _both(project, "opencode")
_FOLDER = _both(project, ".opencode/opencode")
_LATE = (
    *_both(user, "~/.opencode/opencode"),
    *_both(user, "${OPENCODE_CONFIG_DIR}/opencode"),
    Place("user", "OPENCODE_CONFIG_CONTENT", inline=True),
)
_MANAGED = tuple(
    place
    for suffix in ("json", "jsonc")
    for place in system(
        "managed",
        linux=f"/etc/opencode/opencode.{suffix}",
        darwin=f"/Library/Application Support/opencode/opencode.{suffix}",
        win32=f"{{programdata}}/opencode/opencode.{suffix}",
    )
)
_PREFERENCES = tuple(
    Place("managed", f"{{system}}/Library/Managed Preferences/{whose}ai.opencode.managed.plist", only="darwin")
    for whose in ("", "${USER}/")
)
_PLACES = (*_BASE, *_PLAIN, *_FOLDER, *_LATE, *_MANAGED, *_PREFERENCES)
_SEEN: Mapping[Scope, frozenset[Scope]] = {
    "user": frozenset({"user"}),
    "project": frozenset({"user", "project", "managed"}),
    "managed": frozenset({"user", "managed"}),
}
"""Whose layers make up a definition of each scope. No text of a project becomes part of what needs no approval."""


def _gather(format: Format, sheets: tuple[Sheet, ...], context: ScanContext) -> Iterator[RawEntry]:
    without_project = context.where.env.get("OPENCODE_DISABLE_PROJECT_CONFIG", "").lower() in ("1", "true")
    pile = sorted(sheets, key=lambda sheet: _height(sheet, context))
    layers = [(s, *_servers(s)) for s in pile if not (without_project and s.place.scope == "project")]
    for scope, seen in _SEEN.items():
        merged: dict[str, Any] = {}
        tools: dict[str, Any] = {}
        limit: Any = None
        last: dict[str, tuple[Sheet, tuple[str, ...]]] = {}
        paths: dict[str, list[str]] = {}
        for sheet, key, servers in layers:
            if sheet.place.scope in seen:
                merged = _merge(merged, servers)
                limit = _limit(sheet.document.data, limit)
                tools |= _tools(sheet.document.data)
                for name in servers:
                    paths.setdefault(name, []).append(sheet.path)
            if sheet.place.scope == scope:
                last.update(dict.fromkeys(servers, (sheet, key)))
        for name, (sheet, key) in last.items():
            if name and not _only_a_switch(merged[name]):
                others = tuple(path for path in paths[name] if path != sheet.path)
                origin = Origin(format.tool, scope, sheet.path, (*key, name), layers=others)
                raw = _merge({"timeout": limit}, merged[name]) if limit is not None else merged[name]
                if tools and isinstance(raw, Mapping) and (denied := _denied(name, tools)):
                    raw = {**raw, "denied": denied}
                yield RawEntry(name, raw, origin, sheet.document, 0)


def _height(sheet: Sheet, context: ScanContext) -> tuple[int, int, int]:
    """Where a layer stands in OpenCode's pile: of plain files the nearer is higher, of `.opencode` the farther."""
    index = _PLACES.index(sheet.place)
    distance = next((at for at, folder in enumerate(context.folders) if sheet.path.startswith(f"{folder}/")), 0)
    if sheet.place in _PLAIN:
        return 1, -distance, index
    if sheet.place in _FOLDER:
        return 2, distance, index
    return (0 if sheet.place in _BASE else 3), 0, index


def _servers(sheet: Sheet) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The map of servers and the keys that lead to it, in the first or the second shape of the file."""
    data = sheet.document.data
    mcp = data.get("mcp") if isinstance(data, Mapping) else None
    if not isinstance(mcp, Mapping):
        return ("mcp",), {}
    if "{file:" in sheet.document.text and os.path.isabs(sheet.path):
        mcp = _rooted(mcp, os.path.dirname(sheet.path))
    inner = mcp.get("servers")
    if isinstance(inner, Mapping) and not {"type", "command", "url", "enabled"} & inner.keys():
        default = {"timeout": mcp["timeout"]} if isinstance(mcp.get("timeout"), Mapping) else {}
        return ("mcp", "servers"), {name: _merge(default, raw) for name, raw in inner.items()}
    return ("mcp",), dict(mcp)


_FILE = r"\{file:(?![~/\\]|[A-Za-z]:)(?:\./)?"


def _rooted(value: Any, folder: str) -> Any:
    """Files are meant from the layer that names them, whichever it is merged with."""
    if isinstance(value, Mapping):
        return {key: _rooted(inner, folder) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rooted(inner, folder) for inner in value]
    return re.sub(_FILE, lambda _: f"{{file:{folder}/", value) if isinstance(value, str) else value


def _tools(data: Any) -> dict[str, Any]:
    """What is said of tools by their whole names; `tools` is the older word."""
    maps = (data.get(key) for key in ("tools", "permission")) if isinstance(data, Mapping) else ()
    return {name: said for listed in maps if isinstance(listed, Mapping) for name, said in listed.items()}


def _denied(server: str, tools: Mapping[str, Any]) -> list[str]:
    """The tools of a server that are switched off; a later word on the same counts."""
    beginning, denied = re.sub(r"[^A-Za-z0-9_-]", "_", server) + "_", list[str]()
    for pattern, said in tools.items():
        if pattern.startswith(beginning):
            tool = pattern[len(beginning) :]
        elif pattern.endswith("*") and beginning.startswith(pattern[:-1]):
            tool = "*"
        else:
            continue
        denied = [] if tool == "*" else [other for other in denied if other != tool]
        denied += [tool] if said is False or said == "deny" else []
    return denied


def _limit(data: Any, default: Any) -> Any:
    """`experimental.mcp_timeout`, which holds for every server that has none of its own."""
    experimental = data.get("experimental") if isinstance(data, Mapping) else None
    return experimental.get("mcp_timeout", default) if isinstance(experimental, Mapping) else default


def _merge(low: Any, high: Any) -> Any:
    if not (isinstance(low, Mapping) and isinstance(high, Mapping)):
        return high
    return {**low, **{key: _merge(low[key], value) if key in low else value for key, value in high.items()}}


def _only_a_switch(raw: Any) -> bool:
    """An entry that turns off what some other layer would define, and none does."""
    return isinstance(raw, Mapping) and bool(raw) and raw.keys() <= {"enabled", "disabled"}


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    entry = dict(raw)
    match entry.get("command"):
        case str(line):
            program, *rest = line.split() or [""]
            entry |= {"command": program, "args": [*rest, *_args(raw)]}
        case [program, *rest]:
            entry |= {"command": program, "args": [*rest, *_args(raw)]}
        case []:
            del entry["command"]
        case _:
            pass
    if isinstance(times := entry.get("timeout"), Mapping):
        entry |= {"timeout": None, "startup": times.get("startup"), "request": times.get("request")}
    return entry


def _args(raw: Mapping[str, Any]) -> list[Any]:
    return raw["args"] if isinstance(raw.get("args"), list) else []


FORMAT = Format(
    tool="opencode",
    title="OpenCode",
    places=_PLACES,
    key=("mcp",),
    fields={
        **fields(environment="env"),
        **COMMON,
        **fields(startup="start_timeout", request="call_timeout", denied="tools_deny"),
    },
    types={"local": "stdio", "remote": "auto", "stdio": "stdio", "http": "http", "sse": "sse"},
    dialect=CURLY,
    prepare=_prepare,
    gather=_gather,
)
