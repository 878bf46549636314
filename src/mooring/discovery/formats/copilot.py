"""GitHub Copilot CLI: `local` means stdio, `tools` lists what to offer, a project's file may be a bare map."""

from mooring.discovery.dialect import COPILOT
from mooring.discovery.format import (
    BASIC,
    COMMON,
    STANDARD_TYPES,
    Folders,
    Format,
    Obeyed,
    Switch,
    Writes,
    fields,
    files_in,
    project_file,
    user_file,
)

HOME = "${COPILOT_HOME:-~/.copilot}"

FORMAT = Format(
    tool="copilot-cli",
    title="GitHub Copilot CLI",
    places=(
        project_file(".github/mcp-config.json"),
        project_file(".copilot/mcp-config.json"),
        project_file(".github/mcp.json"),
        user_file("~/.github/mcp-config.json"),
        user_file(f"{HOME}/mcp-config.json"),
    ),
    bare_map=True,
    name_pattern=r"[^\x00-\x1f\x7f}]+",
    fields={
        **COMMON,
        **fields(
            tools="tools_allow", timeout="call_timeout", oauthClientId="oauth_client_id", oauthGrantType="oauth_grant"
        ),
    },
    types={"local": "stdio", **STANDARD_TYPES},
    suggest_type=True,
    dialect=COPILOT,
    # Both lists apply together.
    off=(
        Switch(user_file(f"{HOME}/settings.json"), ("disabledMcpServers",)),
        Switch(project_file(".github/copilot/settings.json"), ("disabledMcpServers",)),
    ),
    trust_marks=(Switch(user_file(f"{HOME}/config.json"), ("trusted_folders",), "folders"),),
    writes=Writes(
        user=(user_file(f"{HOME}/mcp-config.json"),),
        project=(project_file(".github/mcp.json"),),
        slots=(*BASIC, "cwd", "call_timeout", "tools_allow", "oauth_client_id", "oauth_grant"),
        types={"stdio": "local", "http": "http", "sse": "sse"},
        always={"tools": ["*"]},
    ),
    obeys=(
        Obeyed("agents", ".github/agents", f"{HOME}/agents", nested=False),
        Obeyed("skills", ".github/skills", f"{HOME}/skills"),
        Obeyed("prompts", ".github/prompts"),
        Obeyed("rules", ".github/copilot-instructions.md", f"{HOME}/copilot-instructions.md"),
        Obeyed("rules", ".github/instructions"),
        Obeyed("rules", ".github/chatmodes"),
        Obeyed("hooks", ".github/hooks", f"{HOME}/hooks"),
        Obeyed("settings", ".github/copilot", f"{HOME}/settings.json"),
    ),
)


_PLUGIN_ROOT = ("CLAUDE_PLUGIN_ROOT", "COPILOT_PLUGIN_ROOT", "PLUGIN_ROOT")
_PLUGIN_MANIFESTS = tuple(f"{folder}plugin.json" for folder in ("", ".plugin/", ".github/plugin/", ".claude-plugin/"))
PLUGIN_FOLDERS = Folders(
    "copilot-cli",
    registries=(Switch(user_file(f"{HOME}/config.json"), ("installedPlugins",)),),
    off=(Switch(user_file(f"{HOME}/settings.json"), ("enabledPlugins",), "chosen"),),
)

# Plugins of GitHub Copilot CLI: it keeps a list of them, and the person's settings say which are on.
PLUGINS = Format(
    tool="copilot-cli",
    title="GitHub Copilot CLI plugins",
    places=files_in(PLUGIN_FOLDERS, *_PLUGIN_MANIFESTS, ".mcp.json", ".github/mcp.json", folder_variables=_PLUGIN_ROOT),
    bare_map=True,
    fields=FORMAT.fields,
    types=FORMAT.types,
    suggest_type=True,
    relative_paths=True,
    start_in_folder=True,
    off=FORMAT.off,
)
