"""Claude Code's own folders and `~/.claude.json`, where it also keeps each project's private servers."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from mooring.discovery.format import COMMON, PROJECT, Format, Place, Switch, fields, project, system, user
from mooring.discovery.values import EntryRefused

HOME = "${CLAUDE_CONFIG_DIR:-~/.claude}"
STATE = "${CLAUDE_CONFIG_DIR:-~}/.claude.json"
LARGE = 256 * 1024 * 1024

MANAGED = system(
    "managed",
    linux="/etc/claude-code/managed-mcp.json",
    darwin="/Library/Application Support/ClaudeCode/managed-mcp.json",
    win32="C:/Program Files/ClaudeCode/managed-mcp.json",
)
MANAGED_SETTINGS = tuple(
    Place("managed", place.path.replace("managed-mcp.json", name), only=place.only)
    for name in ("managed-settings.json", "managed-settings.d/*.json")
    for place in MANAGED
)
SETTINGS = user(f"{HOME}/settings.json")
PROJECT_SETTINGS = (project(".claude/settings.json"), project(".claude/settings.local.json"))
POLICIES = (
    *(Switch(place, ("allowManagedMcpServersOnly",), "true") for place in MANAGED_SETTINGS),
    *(Switch(p, ("deniedMcpServers",), "denied") for p in (*MANAGED_SETTINGS, SETTINGS, *PROJECT_SETTINGS)),
    *(Switch(place, ("allowedMcpServers",), "allowed") for place in (*MANAGED_SETTINGS, SETTINGS)),
)
FIELDS = {**COMMON, **fields(timeout="call_timeout", tools="tools_policy")}


def pick(data: bytes) -> dict[str, Any]:
    """What concerns servers in a file that grows to hundreds of megabytes with everything else."""
    state = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=_State)
    found = {"mcpServers": state.servers} if state.servers is not UNSET else {}
    return {**found, "projects": {path: _project(raw) for path, raw in _projects(state).items()}}


class _State(Struct, rename={"servers": "mcpServers"}):
    servers: Any = UNSET
    projects: Raw = Raw(b"{}")


class _Project(Struct, rename="camel"):
    mcp_servers: Any = UNSET
    disabled_mcp_servers: Any = UNSET
    enabled_mcpjson_servers: Any = UNSET
    disabled_mcpjson_servers: Any = UNSET
    has_trust_dialog_accepted: Any = UNSET


def _projects(state: _State) -> dict[str, Raw]:
    try:
        return msgspec.json.decode(state.projects, type=dict[str, Raw])
    except msgspec.DecodeError:
        return {}


def _project(raw: Raw) -> Any:
    try:
        return msgspec.to_builtins(msgspec.json.decode(raw, type=_Project))
    except msgspec.DecodeError:
        return {}


def _managed(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a machine's settings hand out are addresses alone, reached safely and with nothing to fill in."""
    if "command" in raw or not str(raw.get("url")).lower().startswith("https://"):
        raise EntryRefused(
            "is no https address, and Claude Code takes nothing else here", "use managed-mcp.json", "url"
        )
    if "${" in str(raw):
        raise EntryRefused("holds `${`, and Claude Code fills nothing in here", "write what is meant")
    return raw


OWN = Place("user", STATE, limit=LARGE, pick=pick)
OFF = Switch(OWN, ("projects", PROJECT, "disabledMcpServers"))

FORMAT = Format(
    tool="claude-code",
    title="Claude Code",
    places=(
        *MANAGED,
        *(
            Place("managed", place.path, ("managedMcpServers",), only=place.only, prepare=_managed)
            for place in MANAGED_SETTINGS
        ),
        Place("project", STATE, ("projects", PROJECT, "mcpServers"), owned=True, limit=LARGE, pick=pick),
        project(".claude/.mcp.json"),
        project(".claude/mcp.json"),
        OWN,
        user(f"{HOME}/mcp.json"),
    ),
    fields=FIELDS,
    ask_for_type=True,
    off=(OFF,),
    exclusive=MANAGED,
    policies=POLICIES,
)
