"""Claude Code's own folders and `~/.claude.json`, where it also keeps each project's private servers."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct
from msgspec.structs import replace

from mooring.core.protocol.units import MIB
from mooring.discovery.dialect import CLAUDE, CLAUDE_PLUGINS, PLAIN, SHARED
from mooring.discovery.format import (
    BASIC,
    COMMON,
    PROGRAM,
    PROJECT,
    Folders,
    Format,
    Obeyed,
    Place,
    Switch,
    Writes,
    fields,
    files_in,
    login_keys,
    obeyed_folders,
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
    raw_projects = _decode(state.projects, dict[str, Raw]).items()
    projects = {path: msgspec.to_builtins(_decode(raw, _Project)) for path, raw in raw_projects}
    if state.servers is UNSET:
        return {"projects": projects}
    return {"mcpServers": state.servers, "projects": projects}


def _decode(raw: Raw, kind: Any) -> Any:
    try:
        return msgspec.json.decode(raw, type=kind)
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

WRITES = Writes(
    project=(),
    slots=(*BASIC, "call_timeout", "always_load", "headers_helper", "oauth"),
    types={"stdio": "stdio", "http": "http", "sse": "sse"},
    oauth=login_keys("client_id", "callback_port", "scopes", "metadata_url"),
    joined_scopes=True,
)

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
    writes=WRITES,
    obeys=(
        *obeyed_folders(".claude", "agents", "skills", "commands", user=HOME),
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


_CACHE = "CLAUDE_CODE_PLUGIN_CACHE_DIR"
_REGISTRIES = (
    user_file(f"${{{_CACHE}}}/installed_plugins.json"),
    user_file(f"{HOME}/plugins/installed_plugins.json", unless_set=(_CACHE,)),
)
PLUGIN_FOLDERS = Folders(
    "claude-code",
    registries=tuple(Switch(place, ("plugins",)) for place in _REGISTRIES),
    off=tuple(Switch(place, ("enabledPlugins",), "states") for place in (SETTINGS, *MANAGED_SETTINGS)),
    answers=(Switch(SETTINGS, ("pluginConfigs",)),),
)

# Plugins of Claude Code: its registry names the folder of each, and the person's settings which are on.
PLUGINS = replace(
    FORMAT,
    title="Claude Code plugins",
    places=files_in(
        PLUGIN_FOLDERS, ".claude-plugin/plugin.json", ".mcp.json", folder_variables=("CLAUDE_PLUGIN_ROOT",)
    ),
    bare_map=True,
    dialect=CLAUDE_PLUGINS,
    writes=None,
    obeys=(),
)


# `.mcp.json`, which Claude Code began and many tools share; its approvals are in Claude Code's own files.
DOT_MCP = replace(
    FORMAT,
    title="Claude Code (.mcp.json)",
    places=(project_file(".mcp.json"), user_file(f"{HOME}/.mcp.json"), user_file("~/.mcp.json")),
    bare_map=True,
    fields={**COMMON, **fields(tools="tools_policy")},
    dialect=SHARED,
    off=(
        OFF,
        Switch(OWN, ("projects", PROJECT, "disabledMcpjsonServers")),
        *(Switch(place, ("disabledMcpjsonServers",)) for place in (SETTINGS, *MANAGED_SETTINGS, *PROJECT_SETTINGS)),
    ),
    # Only what the person's own files say, and only about this project: a repository must not approve its own servers,
    # and a name approved for every project would approve whatever the next clone puts behind it.
    approved_in=(Switch(OWN, ("projects", PROJECT, "enabledMcpjsonServers")),),
    trust_marks=(
        Switch(SETTINGS, ("enabledMcpjsonServers",)),
        Switch(SETTINGS, ("enableAllProjectMcpServers",), "true"),
        Switch(OWN, ("projects", PROJECT, "hasTrustDialogAccepted"), "true"),
    ),
    writes=replace(
        WRITES,
        user=(),
        project=None,
        slots=(*BASIC, "timeout", "always_load", "headers_helper", "oauth"),
        dialect=CLAUDE,
    ),
    obeys=(),
)


# Claude Desktop: programs only; it reaches remote servers through `mcp-remote`.
CLAUDE_DESKTOP = Format(
    tool="claude-desktop",
    title="Claude Desktop",
    places=(
        user_file("{app}/Claude/claude_desktop_config.json"),
        # Builds from the Microsoft Store keep a copy of their own.
        user_file("{local}/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json", platform="win32"),
    ),
    dialect=PLAIN,
    writes=Writes(slots=PROGRAM),
)
