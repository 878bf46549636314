"""Claude Code's own folders and `~/.claude.json`, where it also keeps each project's private servers."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from mooring.core.definitions.config import Transport
from mooring.core.protocol.units import MIB
from mooring.discovery.format import (
    BASIC,
    COMMON,
    PROJECT,
    Format,
    Obeyed,
    Place,
    Slot,
    Switch,
    Writes,
    fields,
    project_file,
    system_files,
    user_file,
)
from mooring.discovery.values import EntryRefused

HOME = "${CLAUDE_CONFIG_DIR:-~/.claude}"
STATE = "${CLAUDE_CONFIG_DIR:-~}/.claude.json"
# The state file also holds the history of every project, and grows to hundreds of megabytes.
STATE_LIMIT = 256 * MIB

MANAGED = system_files(
    "managed",
    linux="/etc/claude-code/managed-mcp.json",
    darwin="/Library/Application Support/ClaudeCode/managed-mcp.json",
    win32="C:/Program Files/ClaudeCode/managed-mcp.json",
)
MANAGED_SETTINGS = tuple(
    Place("managed", place.path.replace("managed-mcp.json", name), platform=place.platform)
    for name in ("managed-settings.json", "managed-settings.d/*.json")
    for place in MANAGED
)
SETTINGS = user_file(f"{HOME}/settings.json")
PROJECT_SETTINGS = (project_file(".claude/settings.json"), project_file(".claude/settings.local.json"))
ONLY_MANAGED_ALLOW = tuple(Switch(place, ("allowManagedMcpServersOnly",), "true") for place in MANAGED_SETTINGS)
# A project's settings may deny servers but not allow any.
POLICIES = (
    *(Switch(place, ("deniedMcpServers",), "denied") for place in (*MANAGED_SETTINGS, SETTINGS, *PROJECT_SETTINGS)),
    *(Switch(place, ("allowedMcpServers",), "allowed") for place in (*MANAGED_SETTINGS, SETTINGS)),
)
FIELDS = {**COMMON, **fields(timeout="call_timeout", tools="tools_policy")}


class _State(Struct, rename={"servers": "mcpServers"}):
    servers: Any = UNSET
    projects: Raw = Raw(b"{}")


class _Project(Struct, rename="camel"):
    mcp_servers: Any = UNSET
    disabled_mcp_servers: Any = UNSET
    enabled_mcpjson_servers: Any = UNSET
    disabled_mcpjson_servers: Any = UNSET
    has_trust_dialog_accepted: Any = UNSET


def extract(data: bytes) -> dict[str, Any]:
    """What a large state file says about servers. Everything else is skipped without building it."""
    state = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=_State)
    projects = {path: _extract_project(raw) for path, raw in _split_projects(state.projects).items()}
    if state.servers is UNSET:
        return {"projects": projects}
    return {"mcpServers": state.servers, "projects": projects}


def _split_projects(projects: Raw) -> dict[str, Raw]:
    try:
        return msgspec.json.decode(projects, type=dict[str, Raw])
    except msgspec.DecodeError:
        return {}


def _extract_project(raw: Raw) -> Any:
    try:
        return msgspec.to_builtins(msgspec.json.decode(raw, type=_Project))
    except msgspec.DecodeError:
        return {}


def _check_managed(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """From managed settings, unlike `managed-mcp.json`, Claude Code takes only https addresses without placeholders."""
    if "command" in raw or not str(raw.get("url")).lower().startswith("https://"):
        raise EntryRefused(
            "is not an https URL, and Claude Code accepts nothing else here", "use managed-mcp.json", "url"
        )
    if "${" in str(raw):
        raise EntryRefused("contains `${`, but Claude Code fills nothing in here", "write the value itself")
    return raw


OWN = Place("user", STATE, limit=STATE_LIMIT, extract=extract)
OFF = Switch(OWN, ("projects", PROJECT, "disabledMcpServers"))

OWN_SLOTS: tuple[Slot, ...] = (*BASIC, "call_timeout", "always_load", "headers_helper", "oauth")
TYPES: Mapping[Transport, str] = {"stdio": "stdio", "http": "http", "sse": "sse"}
OAUTH = {
    "client_id": "clientId",
    "callback_port": "callbackPort",
    "scopes": "scopes",
    "metadata_url": "authServerMetadataUrl",
}

FORMAT = Format(
    tool="claude-code",
    title="Claude Code",
    places=(
        *MANAGED,
        *(
            Place("managed", place.path, ("managedMcpServers",), platform=place.platform, prepare=_check_managed)
            for place in MANAGED_SETTINGS
        ),
        Place("project", STATE, ("projects", PROJECT, "mcpServers"), owned=True, limit=STATE_LIMIT, extract=extract),
        project_file(".claude/.mcp.json"),
        project_file(".claude/mcp.json"),
        OWN,
        user_file(f"{HOME}/mcp.json"),
    ),
    fields=FIELDS,
    suggest_type=True,
    off=(OFF,),
    exclusive=MANAGED,
    policies=POLICIES,
    only_managed_allow=ONLY_MANAGED_ALLOW,
    writes=Writes(user=(OWN,), slots=OWN_SLOTS, types=TYPES, oauth=OAUTH, joined_scopes=True),
    obeys=(
        Obeyed("agents", ".claude/agents", f"{HOME}/agents"),
        Obeyed("skills", ".claude/skills", f"{HOME}/skills"),
        Obeyed("commands", ".claude/commands", f"{HOME}/commands"),
        Obeyed("instructions", "CLAUDE.md", f"{HOME}/CLAUDE.md"),
        Obeyed("instructions", ".claude/CLAUDE.md"),
        Obeyed("instructions", "CLAUDE.local.md"),
        Obeyed("rules", ".claude/rules", f"{HOME}/rules"),
        Obeyed("rules", ".claude/output-styles", f"{HOME}/output-styles"),
        Obeyed("hooks", ".claude/hooks", f"{HOME}/hooks"),
        Obeyed("settings", ".claude/settings.json", f"{HOME}/settings.json"),
        Obeyed("settings", ".claude/settings.local.json"),
    ),
)
