"""Factory droid: the person's own entry wins over the project's of the same name."""

from mooring.discovery.format import (
    BASIC,
    COMMON,
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

# The documentation says `timeoutMs`, the shipped schema `timeout`.
_FIELDS = {
    **COMMON,
    **fields(timeout="call_timeout", timeoutMs="call_timeout", connectTimeout="start_timeout",
             enabledTools="tools_allow", disabledTools="tools_deny"),
}  # fmt: skip

FORMAT = Format(
    tool="factory",
    title="Factory droid",
    places=(
        project_file(".factory/mcp.json"),
        user_file("~/.factory/mcp.json"),
        user_file("{app}/Factory Bridge/mcp.json", platform="darwin"),
    ),
    fields=_FIELDS,
    untyped_url=None,
    user_first=True,
    writes=Writes(
        user=(user_file("~/.factory/mcp.json"),),
        project=(project_file(".factory/mcp.json"),),
        slots=(*BASIC, "disabled", "call_timeout", "start_timeout", "tools_allow", "tools_deny", "oauth"),
        types={"stdio": "stdio", "http": "http", "sse": "sse"},
        oauth={
            "client_id": "clientId",
            "client_secret": "clientSecret",
            "callback_port": "callbackPort",
            "scopes": "scopes",
        },
    ),
    obeys=(
        Obeyed("agents", ".factory/droids", "~/.factory/droids"),
        Obeyed("commands", ".factory/commands", "~/.factory/commands"),
        Obeyed("skills", ".factory/skills", "~/.factory/skills"),
        Obeyed("hooks", ".factory/hooks", "~/.factory/hooks"),
        Obeyed("settings", ".factory/settings.json", "~/.factory/settings.json"),
    ),
)


PLUGIN_FOLDERS = Folders(
    "factory",
    registries=(Switch(user_file("~/.factory/plugins/installed_plugins.json"), ("plugins",)),),
    off=(Switch(user_file("~/.factory/settings.json"), ("enabledPlugins",), "chosen"),),
)

# Plugins of Factory droid: a registry in the shape of Claude Code's; the person's settings say which are on.
PLUGINS = Format(
    tool="factory",
    title="Factory droid plugins",
    places=files_in(PLUGIN_FOLDERS, "mcp.json", folder_variables=("CLAUDE_PLUGIN_ROOT", "DROID_PLUGIN_ROOT")),
    fields=FORMAT.fields,
    untyped_url=None,
)
