"""Qwen Code: Gemini's shape, but a URL without a type is SSE, and its own state is elsewhere."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from mooring.discovery.dialect import GEMINI
from mooring.discovery.format import PROJECT, Format, Obeyed, Switch, fields, project_file, user_file
from mooring.discovery.formats import gemini

_HOME = "${QWEN_HOME:-~/.qwen}"
_FOLDERS = ("qwen-code", "QwenCode", "QWEN_CODE")
_PLACES = (
    *gemini.system_settings(*_FOLDERS),
    project_file(".qwen/settings.json"),
    user_file(f"{_HOME}/settings.json"),
    *gemini.system_defaults(*_FOLDERS),
)
_APPROVALS = user_file(f"{_HOME}/mcpApprovals.json")


def _arrange(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """`httpUrl` says that an address is not SSE's."""
    if raw.get("type") != "http":
        return raw
    entry = {key: value for key, value in raw.items() if key not in ("type", "url")}
    return {**entry, "httpUrl": raw["url"]}


FORMAT = Format(
    tool="qwen",
    title="Qwen Code",
    places=(*_PLACES, gemini.extensions(_HOME, "qwen-extension.json")),
    gather=gemini.gather,
    fields={**gemini.FIELDS, **fields(discoveryTimeoutMs="start_timeout", alwaysLoadTools="always_load")},
    untyped_url="sse",
    dialect=GEMINI,
    prepare=gemini.prepare,
    remarks=gemini.remarks,
    off=(*gemini.off_switches(_PLACES, _HOME), Switch(_APPROVALS, (PROJECT,), "rejected")),
    trust_marks=(Switch(_APPROVALS, (PROJECT,), "approved"),),
    writes=replace(
        gemini.WRITES,
        user=(user_file(f"{_HOME}/settings.json"),),
        project=(project_file(".qwen/settings.json"),),
        slots=(*gemini.WRITES.slots, "start_timeout"),
        arrange=_arrange,
    ),
    obeys=(
        Obeyed("agents", ".qwen/agents", "~/.qwen/agents"),
        Obeyed("skills", ".qwen/skills", "~/.qwen/skills"),
        Obeyed("commands", ".qwen/commands", "~/.qwen/commands"),
        Obeyed("rules", "QWEN.md", "~/.qwen/QWEN.md"),
        Obeyed("hooks", ".qwen/extensions", "~/.qwen/extensions"),
        Obeyed("settings", ".qwen/settings.json", "~/.qwen/settings.json"),
    ),
)
