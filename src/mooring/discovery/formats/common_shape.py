"""Tools whose files have the common shape: only their places, placeholders and a few keys differ."""

from mooring.discovery.dialect import AMP, MCPM, PLAIN, VSCODE, WINDSURF
from mooring.discovery.format import (
    BASIC,
    COMMON,
    Format,
    Obeyed,
    Writes,
    common_without,
    fields,
    project_file,
    user_file,
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
        user=(user_file("~/.cursor/mcp.json"),),
        project=(project_file(".cursor/mcp.json"),),
        slots=(*BASIC, "env_file", "oauth"),
        keys={"oauth": "auth"},
        types={},
        oauth={"client_id": "CLIENT_ID", "client_secret": "CLIENT_SECRET", "scopes": "scopes"},
    ),
    obeys=(
        Obeyed("agents", ".cursor/agents", "~/.cursor/agents"),
        Obeyed("skills", ".cursor/skills", "~/.cursor/skills"),
        Obeyed("commands", ".cursor/commands", "~/.cursor/commands"),
        Obeyed("rules", ".cursor/rules", "~/.cursor/rules"),
        Obeyed("rules", ".cursorrules"),
        Obeyed("hooks", ".cursor/hooks.json", "~/.cursor/hooks.json"),
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
    writes=Writes(
        user=(user_file("~/.codeium/windsurf/mcp_config.json"),),
        project=(project_file(".windsurf/mcp_config.json"),),
        slots=(*BASIC, "disabled", "tools_deny"),
        types={},
    ),
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
        user=(user_file("~/.kiro/settings/mcp.json"),),
        project=(project_file(".kiro/settings/mcp.json"),),
        slots=(*BASIC, "disabled", "tools_deny", "oauth", "oauth_scopes"),
        types={},
        oauth={"client_id": "clientId", "redirect_uri": "redirectUri"},
    ),
    obeys=(
        Obeyed("rules", ".kiro/steering", "~/.kiro/steering"),
        Obeyed("hooks", ".kiro/hooks", "~/.kiro/hooks"),
        Obeyed("agents", ".kiro/agents", "~/.kiro/agents"),
        Obeyed("skills", ".kiro/skills", "~/.kiro/skills"),
        Obeyed("prompts", ".kiro/prompts", "~/.kiro/prompts"),
    ),
)


# Junie and JetBrains AI Assistant: the common shape without placeholders.
JUNIE = Format(
    tool="junie",
    title="Junie",
    places=(project_file(".junie/mcp/mcp.json"), project_file(".ai/mcp/mcp.json"), user_file("~/.junie/mcp/mcp.json")),
    dialect=PLAIN,
    writes=Writes(user=(user_file("~/.junie/mcp/mcp.json"),), project=(project_file(".junie/mcp/mcp.json"),), types={}),
    obeys=(
        Obeyed("rules", ".junie/guidelines.md", "~/.junie/guidelines.md"),
        Obeyed("rules", ".junie/AGENTS.md"),
        Obeyed("agents", ".junie/agents", "~/.junie/agents"),
        Obeyed("skills", ".junie/skills", "~/.junie/skills"),
        Obeyed("commands", ".junie/commands", "~/.junie/commands"),
    ),
)


# Warp: the common shape under any of four keys.
WARP = Format(
    tool="warp",
    title="Warp",
    places=(project_file(".warp/.mcp.json"), user_file("~/.warp/.mcp.json")),
    other_keys=(("servers",), ("mcp", "servers"), ("mcp_servers",)),
    fields={
        **fields(serverUrl="url", working_directory="cwd", workingDirectory="cwd"),
        **common_without("timeout"),
    },
    dialect=AMP,
    writes=Writes(
        user=(user_file("~/.warp/.mcp.json"),),
        project=(project_file(".warp/.mcp.json"),),
        slots=(*BASIC, "cwd"),
        keys={"url": "url"},
        types={},
    ),
    obeys=(
        Obeyed("rules", "WARP.md"),
        Obeyed("skills", ".warp/skills", "~/.warp/skills"),
        Obeyed("commands", ".warp/workflows", "~/.warp/workflows"),
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
        user=(user_file("~/.lmstudio/mcp.json"),),
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
    writes=Writes(
        user=(user_file("~/.config/mcpm/servers.json"),), types={}, always={"profile_tags": []}, name_key="name"
    ),
)


# Kimi Code: the common shape in files of its own.
KIMI = Format(
    tool="kimi",
    title="Kimi Code",
    places=(project_file(".kimi-code/mcp.json"), user_file("~/.kimi-code/mcp.json")),
    dialect=PLAIN,
    obeys=(
        Obeyed("skills", ".kimi-code/skills", "~/.kimi-code/skills"),
        Obeyed("agents", ".kimi-code/agents", "~/.kimi-code/agents"),
    ),
)


# Rovo Dev: the common shape in a single file of the person's.
ROVO = Format(
    tool="rovo",
    title="Rovo Dev",
    places=(user_file("~/.rovodev/mcp.json"),),
    dialect=PLAIN,
    obeys=(
        Obeyed("rules", ".agent.md", "~/.rovodev/.agent.md"),
        Obeyed("agents", ".rovodev/subagents", "~/.rovodev/subagents"),
        Obeyed("prompts", ".rovodev/prompts", "~/.rovodev/prompts"),
    ),
)


# Grok Build: TOML tables under the same key as Codex's.
GROK = Format(
    tool="grok",
    title="Grok Build",
    places=(project_file(".grok/config.toml"), user_file("~/.grok/config.toml")),
    key=("mcp_servers",),
    dialect=PLAIN,
    obeys=(
        Obeyed("rules", "GROK.md", "~/.grok/GROK.md"),
        Obeyed("skills", ".grok/skills", "~/.grok/skills"),
        Obeyed("hooks", ".grok/hooks", "~/.grok/hooks"),
    ),
)
