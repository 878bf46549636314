"""OpenAI Codex: TOML, times in seconds, secrets only by the names of variables, no placeholders."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import (
    BASIC,
    PROJECT,
    SECONDS,
    Field,
    Folders,
    Format,
    Obeyed,
    Slot,
    Switch,
    Unreadable,
    Writes,
    fields,
    files_in,
    obeyed_folders,
    project_file,
    system_files,
    user_file,
)
from mooring.discovery.values import EntryRefused

_HOME = "${CODEX_HOME:-~/.codex}"
CONFIG = user_file(f"{_HOME}/config.toml")

_STDIO_ONLY = frozenset({"args", "env", "env_vars", "cwd"})
_HTTP_ONLY = frozenset(
    {"http_headers", "env_http_headers", "bearer_token_env_var", "http_headers_helper", "oauth_resource"}
)


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if "bearer_token" in raw:
        hint = "put the token into an environment variable and name it in `bearer_token_env_var`"
        raise EntryRefused("has `bearer_token`, which Codex does not accept", hint, "bearer_token")
    if "command" in raw:
        _check_unmixed(raw, _HTTP_ONLY)
    elif "url" in raw:
        _check_unmixed(raw, _STDIO_ONLY)
    return raw


def _check_unmixed(raw: Mapping[str, Any], foreign: frozenset[str]) -> None:
    mixed = sorted(foreign & raw.keys())
    if mixed:
        raise EntryRefused(f"mixes a program and a URL: `{mixed[0]}` belongs to the other", "remove it", mixed[0])


_FIELDS = fields(
    command="command", args="args", env="env", env_vars="pass_env", cwd="cwd",
    url="url", http_headers="headers", env_http_headers="env_headers", bearer_token_env_var="bearer_env",
    http_headers_helper="headers_helper", enabled="enabled", required="required",
    startup_timeout_sec=Field("start_timeout", SECONDS), startup_timeout_ms="start_timeout",
    tool_timeout_sec=Field("call_timeout", SECONDS),
    enabled_tools="tools_allow", disabled_tools="tools_deny", default_tools_approval_mode="auto_approve",
    oauth="oauth", scopes="oauth_scopes", oauth_resource="oauth_resource", mcp_oauth_callback_port="oauth_port",
)  # fmt: skip
_SLOTS: tuple[Slot, ...] = (
    *BASIC, "pass_env", "cwd", "env_headers", "bearer_env", "headers_helper", "enabled", "required",
    "start_timeout", "call_timeout", "tools_allow", "tools_deny", "oauth", "oauth_scopes", "oauth_resource",
)  # fmt: skip

FORMAT = Format(
    tool="codex",
    title="OpenAI Codex",
    places=(
        *system_files("managed", linux="/etc/codex/managed_config.toml", win32=f"{_HOME}/managed_config.toml"),
        project_file(".codex/config.toml"),
        CONFIG,
        *system_files("user", linux="/etc/codex/config.toml", win32="{programdata}/OpenAI/Codex/config.toml"),
    ),
    key=("mcp_servers",),
    fields=_FIELDS,
    # One port for the logins of all servers, at the top of the file.
    defaults={"mcp_oauth_callback_port": ("mcp_oauth_callback_port",)},
    # Codex has no types and does not support SSE.
    untyped_url="http",
    dialect=PLAIN,
    prepare=_prepare,
    trust_marks=(Switch(CONFIG, ("projects", PROJECT, "trust_level"), "trusted"),),
    unreadable=(
        Unreadable(
            user_file(f"{_HOME}/*.config.toml"),
            "The file is a profile, which Codex reads only if you name it, so its servers are skipped",
            "move the ones you always want to config.toml",
            (b"mcp_servers",),
        ),
    ),
    writes=Writes(slots=_SLOTS, types={}, oauth={"client_id": "client_id"}),
    obeys=(
        *obeyed_folders(".codex", "agents", "skills", "prompts", user=_HOME),
        Obeyed("instructions", "AGENTS.override.md", f"{_HOME}/AGENTS.override.md"),
        Obeyed("instructions", "AGENTS.md", f"{_HOME}/AGENTS.md"),
        Obeyed("rules", ".codex/rules", f"{_HOME}/rules"),
        Obeyed("hooks", ".codex/hooks.json", f"{_HOME}/hooks.json"),
    ),
)


_PLUGIN_FILES = (".codex-plugin/plugin.json", ".claude-plugin/plugin.json", ".mcp.json")
PLUGIN_FOLDERS = Folders("codex", registries=(Switch(CONFIG, ("plugins",)),))

# Plugins of OpenAI Codex: its configuration names those that are on; the newest version of each is used.
PLUGINS = Format(
    tool="codex",
    title="OpenAI Codex plugins",
    places=files_in(PLUGIN_FOLDERS, *_PLUGIN_FILES, folder_variables=("CLAUDE_PLUGIN_ROOT", "PLUGIN_ROOT")),
    bare_map=True,
    relative_paths=True,
)
