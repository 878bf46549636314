"""Tools whose files have the common shape: only their places, placeholders and a few keys differ."""

from mooring.discovery.dialect import AMP, CLAUDE, MCPM, OH_MY_PI, PLAIN, SHARED, VSCODE, WINDSURF
from mooring.discovery.format import (
    BASIC,
    COMMON,
    Folders,
    Format,
    Obeyed,
    Place,
    Switch,
    Writes,
    common_without,
    fields,
    files_in,
    login_keys,
    obeyed_everywhere,
    obeyed_folders,
    project_file,
    system_files,
    user_file,
)


def _list_vscode_files(folder: str) -> tuple[Place, ...]:
    return (
        user_file(f"{{app}}/{folder}/User/mcp.json"),
        user_file(f"{{app}}/{folder}/User/profiles/*/mcp.json"),
        user_file(f"{{app}}/{folder}/User/settings.json", "mcp", "servers"),
    )


# VS Code: `servers` and `inputs` in `mcp.json`, and the older place inside `settings.json`.
VSCODE_FORMAT = Format(
    tool="vscode",
    title="VS Code",
    places=(
        project_file(".vscode/mcp.json"),
        project_file(".vscode/settings.json", "mcp", "servers"),
        *_list_vscode_files("Code"),
        *_list_vscode_files("Code - Insiders"),
    ),
    key=("servers",),
    # VS Code has no timeouts.
    fields=common_without("timeout"),
    dialect=VSCODE,
    writes=Writes(
        slots=(*BASIC, "cwd", "env_file", "oauth"),
        types={"stdio": "stdio", "http": "http", "sse": "sse"},
        oauth={"client_id": "clientId"},
    ),
)


# Cursor: the common shape with an editor's placeholders; which servers are on is kept in its database.
CURSOR = Format(
    tool="cursor",
    title="Cursor",
    # The last one is not documented, but others look there, too.
    places=(project_file(".cursor/mcp.json"), user_file("~/.cursor/mcp.json"), user_file("{app}/Cursor/User/mcp.json")),
    fields=common_without("timeout"),
    dialect=VSCODE,
    writes=Writes(
        slots=(*BASIC, "env_file", "oauth"),
        keys={"oauth": "auth"},
        types={},
        oauth={"client_id": "CLIENT_ID", "client_secret": "CLIENT_SECRET", "scopes": "scopes"},
    ),
    obeys=(
        *obeyed_folders(".cursor", "agents", "skills", "commands", "rules"),
        Obeyed("rules", ".cursorrules"),
        obeyed_everywhere("hooks", ".cursor/hooks.json"),
    ),
)


# Windsurf and its successor Devin: `serverUrl` beside `url`, files and variables in placeholders.
WINDSURF_FORMAT = Format(
    tool="windsurf",
    title="Windsurf",
    # The third of the person's files is that of the plugin for JetBrains.
    places=(
        project_file(".windsurf/mcp_config.json"),
        project_file(".devin/mcp_config.json"),
        user_file("~/.codeium/windsurf/mcp_config.json"),
        user_file("~/.codeium/windsurf-next/mcp_config.json"),
        user_file("~/.codeium/mcp_config.json"),
        user_file("{xdg}/devin/mcp_config.json"),
    ),
    fields={**fields(serverUrl="url"), **COMMON, **fields(disabledTools="tools_deny")},
    dialect=WINDSURF,
    writes=Writes(slots=(*BASIC, "disabled", "tools_deny"), types={}),
    obeys=(
        Obeyed("rules", ".windsurf/rules"),
        Obeyed("rules", ".windsurfrules"),
        Obeyed("commands", ".windsurf/workflows", "~/.codeium/windsurf/global_workflows"),
        Obeyed("skills", ".windsurf/skills"),
        Obeyed("hooks", ".windsurf/hooks.json", "~/.codeium/windsurf/hooks.json"),
    ),
)


# Kiro, the successor of Amazon Q: the same shape, but a type is optional and placeholders are others.
KIRO = Format(
    tool="kiro",
    title="Kiro",
    places=(project_file(".kiro/settings/mcp.json"), user_file("~/.kiro/settings/mcp.json")),
    fields={**COMMON, **fields(timeout="call_timeout", disabledTools="tools_deny", oauthScopes="oauth_scopes")},
    dialect=AMP,
    writes=Writes(
        slots=(*BASIC, "disabled", "tools_deny", "oauth", "oauth_scopes"),
        types={},
        oauth={"client_id": "clientId", "redirect_uri": "redirectUri"},
    ),
    obeys=(
        obeyed_everywhere("rules", ".kiro/steering"),
        *obeyed_folders(".kiro", "hooks", "agents", "skills", "prompts"),
    ),
)


# Junie and JetBrains AI Assistant: the common shape without placeholders.
JUNIE = Format(
    tool="junie",
    title="Junie",
    places=(project_file(".junie/mcp/mcp.json"), project_file(".ai/mcp/mcp.json"), user_file("~/.junie/mcp/mcp.json")),
    dialect=PLAIN,
    writes=Writes(types={}),
    obeys=(
        obeyed_everywhere("rules", ".junie/guidelines.md"),
        Obeyed("rules", ".junie/AGENTS.md"),
        *obeyed_folders(".junie", "agents", "skills", "commands"),
    ),
)


# Warp: the common shape under any of four keys.
WARP = Format(
    tool="warp",
    title="Warp",
    places=(project_file(".warp/.mcp.json"), user_file("~/.warp/.mcp.json")),
    other_keys=(("servers",), ("mcp", "servers"), ("mcp_servers",)),
    fields={**fields(serverUrl="url", working_directory="cwd", workingDirectory="cwd"), **common_without("timeout")},
    dialect=AMP,
    writes=Writes(slots=(*BASIC, "cwd"), keys={"url": "url"}, types={}),
    obeys=(
        Obeyed("rules", "WARP.md"),
        obeyed_everywhere("skills", ".warp/skills"),
        obeyed_everywhere("commands", ".warp/workflows"),
    ),
)


# LM Studio: Cursor's shape without placeholders.
LMSTUDIO = Format(
    tool="lmstudio",
    title="LM Studio",
    # Some installations on macOS use the second one.
    places=(user_file("~/.lmstudio/mcp.json"), user_file("~/.cache/lm-studio/mcp.json")),
    dialect=PLAIN,
    writes=Writes(
        slots=(*BASIC, "oauth"),
        keys={"oauth": "auth"},
        types={},
        oauth={"client_id": "CLIENT_ID", "client_secret": "CLIENT_SECRET"},
    ),
)


# mcpm: the file is the map itself, in the same folder on every platform.
MCPM_FORMAT = Format(
    tool="mcpm",
    title="mcpm",
    places=(user_file("~/.config/mcpm/servers.json"),),
    key=(),
    dialect=MCPM,
    writes=Writes(types={}, always={"profile_tags": []}, name_key="name"),
)


# Kimi Code: the common shape in files of its own.
KIMI = Format(
    tool="kimi",
    title="Kimi Code",
    places=(project_file(".kimi-code/mcp.json"), user_file("~/.kimi-code/mcp.json")),
    dialect=PLAIN,
    obeys=obeyed_folders(".kimi-code", "skills", "agents"),
)


# Rovo Dev: the common shape in a single file of the person's.
ROVO = Format(
    tool="rovo",
    title="Rovo Dev",
    places=(user_file("~/.rovodev/mcp.json"),),
    dialect=PLAIN,
    obeys=(
        Obeyed("rules", ".agent.md", "~/.rovodev/.agent.md"),
        obeyed_everywhere("agents", ".rovodev/subagents"),
        obeyed_everywhere("prompts", ".rovodev/prompts"),
    ),
)


# Grok Build: TOML tables under the same key as Codex's.
GROK = Format(
    tool="grok",
    title="Grok Build",
    places=(project_file(".grok/config.toml"), user_file("~/.grok/config.toml")),
    key=("mcp_servers",),
    dialect=PLAIN,
    obeys=(Obeyed("rules", "GROK.md", "~/.grok/GROK.md"), *obeyed_folders(".grok", "skills", "hooks")),
)


# Files that several tools share and none owns.
SHARED_FORMAT = Format(
    tool="shared",
    title="shared places",
    places=(
        project_file(".agents/mcp.json"),
        project_file(".agents/.mcp.json"),
        project_file(".agents/mcp_config.json"),
        user_file("{xdg}/mcp/mcp.json"),
        user_file("~/.agents/mcp.json"),
        user_file("~/.agents/.mcp.json"),
        user_file("~/.agents/mcp/mcp.json"),
        # Antigravity's, now and before.
        user_file("~/.gemini/config/mcp_config.json"),
        user_file("~/.gemini/antigravity/mcp_config.json"),
    ),
    fields={**fields(serverUrl="url"), **COMMON},
    suggest_type=True,
    dialect=SHARED,
    writes=Writes(keys={"url": "url"}, dialect=CLAUDE),
    obeys=obeyed_folders(".agents", "skills", "agents", "commands"),
)


# `mcp.json` in a project, which belongs to no tool in particular.
GENERIC = Format(
    tool="generic",
    title="mcp.json",
    places=(project_file("mcp.json"),),
    bare_map=True,
    suggest_type=True,
    dialect=SHARED,
    writes=Writes(slots=(*BASIC, "cwd", "enabled", "timeout"), dialect=CLAUDE),
)


_AMP_MANAGED = system_files(
    "managed",
    linux="/etc/ampcode/managed-settings.json",
    darwin="/Library/Application Support/ampcode/managed-settings.json",
    win32="{programdata}/ampcode/managed-settings.json",
)
_AMP_USER = (user_file("{xdg}/amp/settings.json"), user_file("{xdg}/amp/settings.jsonc"))
_AMP_PROJECT = (project_file(".amp/settings.json"), project_file(".amp/settings.jsonc"))

# Amp: one key with a dot in it; rules of its own say what may start.
AMP_FORMAT = Format(
    tool="amp",
    title="Amp",
    places=(*_AMP_MANAGED, *_AMP_PROJECT, *_AMP_USER),
    # One key with a dot in it, not a path of two.
    key=("amp.mcpServers",),
    name_pattern="[A-Za-z0-9@/_-]+",
    fields={**COMMON, **fields(includeTools="tools_allow")},
    dialect=AMP,
    policies=tuple(Switch(place, ("amp.mcpPermissions",), "rules") for place in (*_AMP_MANAGED, *_AMP_USER)),
    trust_marks=tuple(Switch(place, ("amp.mcpTrustedServers",), "servers") for place in _AMP_USER),
    writes=Writes(user=_AMP_USER, project=_AMP_PROJECT, slots=(*BASIC, "tools_allow"), types={}),
    obeys=(
        Obeyed("rules", "AGENT.md", "{xdg}/amp/AGENTS.md"),
        Obeyed("rules", "AGENTS.md", "{xdg}/AGENTS.md"),
        Obeyed("commands", ".agents/commands", "{xdg}/amp/commands"),
        Obeyed("hooks", ".amp/plugins", "{xdg}/amp/plugins"),
        Obeyed("hooks", ".amp/toolbox", "{xdg}/amp/toolbox"),
    ),
)


# The documentation says `timeoutMs`, the shipped schema `timeout`.
_FACTORY_FIELDS = {
    **COMMON,
    **fields(timeout="call_timeout", timeoutMs="call_timeout", connectTimeout="start_timeout",
             enabledTools="tools_allow", disabledTools="tools_deny"),
}  # fmt: skip

# Factory droid: the person's own entry wins over the project's of the same name.
FACTORY = Format(
    tool="factory",
    title="Factory droid",
    places=(
        project_file(".factory/mcp.json"),
        user_file("~/.factory/mcp.json"),
        user_file("{app}/Factory Bridge/mcp.json", platform="darwin"),
    ),
    fields=_FACTORY_FIELDS,
    untyped_url=None,
    user_first=True,
    writes=Writes(
        slots=(*BASIC, "disabled", "call_timeout", "start_timeout", "tools_allow", "tools_deny", "oauth"),
        types={"stdio": "stdio", "http": "http", "sse": "sse"},
        oauth=login_keys("client_id", "client_secret", "callback_port", "scopes"),
    ),
    obeys=(
        obeyed_everywhere("agents", ".factory/droids"),
        *obeyed_folders(".factory", "commands", "skills", "hooks"),
        obeyed_everywhere("settings", ".factory/settings.json"),
    ),
)


FACTORY_PLUGIN_FOLDERS = Folders(
    "factory",
    registries=(Switch(user_file("~/.factory/plugins/installed_plugins.json"), ("plugins",)),),
    off=(Switch(user_file("~/.factory/settings.json"), ("enabledPlugins",), "chosen"),),
)

# Plugins of Factory droid: a registry in the shape of Claude Code's; the person's settings say which are on.
FACTORY_PLUGINS = Format(
    tool="factory",
    title="Factory droid plugins",
    places=files_in(FACTORY_PLUGIN_FOLDERS, "mcp.json", folder_variables=("CLAUDE_PLUGIN_ROOT", "DROID_PLUGIN_ROOT")),
    fields=FACTORY.fields,
    untyped_url=None,
)


_OMP_USER = (
    user_file("~/.omp/profiles/${OMP_PROFILE}/agent/mcp.json"),
    user_file("~/.omp/profiles/${OMP_PROFILE}/agent/.mcp.json"),
    user_file("~/.omp/agent/mcp.json"),
    user_file("~/.omp/agent/.mcp.json"),
    user_file("~/.omp/mcp.json"),
)

# oh-my-pi: the person's own file may switch servers off by name.
OMP = Format(
    tool="omp",
    title="oh-my-pi",
    places=(project_file(".omp/mcp.json"), project_file(".omp/.mcp.json"), *_OMP_USER),
    name_pattern=r"(?!.{101})[A-Za-z0-9_.:-]+(?: [A-Za-z0-9_.:-]+)*",
    untyped_url="http",
    dialect=OH_MY_PI,
    # Both lists apply only in the person's own files.
    off=tuple(Switch(place, ("disabledServers",)) for place in _OMP_USER),
    on=tuple(Switch(place, ("enabledServers",)) for place in _OMP_USER),
    writes=Writes(
        user=(user_file("~/.omp/profiles/${OMP_PROFILE}/agent/mcp.json"), user_file("~/.omp/agent/mcp.json")),
        slots=(*BASIC, "cwd", "enabled", "timeout", "oauth"),
        oauth=login_keys("client_id", "client_secret", "callback_port", "redirect_uri") | {"scopes": "scope"},
        joined_scopes=True,
    ),
    obeys=(
        *obeyed_folders(".omp", "agents", "skills", "commands", "rules", "hooks", user="~/.omp/agent"),
        Obeyed("hooks", ".omp/tools", "~/.omp/agent/tools"),
        Obeyed("hooks", ".omp/extensions", "~/.omp/agent/extensions"),
    ),
)


_OMP_PLUGIN_FILES = (".omp-plugin/plugin.json", ".claude-plugin/plugin.json", ".mcp.json")
OMP_PLUGIN_FOLDERS = Folders(
    "omp", registries=(Switch(user_file("~/.omp/plugins/installed_plugins.json"), ("plugins",)),)
)

# Plugins of oh-my-pi: a registry in the shape of Claude Code's, and manifests of its own before Claude's.
OMP_PLUGINS = Format(
    tool="omp",
    title="oh-my-pi plugins",
    places=files_in(OMP_PLUGIN_FOLDERS, *_OMP_PLUGIN_FILES, folder_variables=("CLAUDE_PLUGIN_ROOT", "OMP_PLUGIN_ROOT")),
    bare_map=True,
    untyped_url="http",
)
