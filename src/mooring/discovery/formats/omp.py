"""oh-my-pi: the common shape; the person's own file may switch servers off by name."""

from mooring.discovery.dialect import OH_MY_PI
from mooring.discovery.format import BASIC, Folders, Format, Obeyed, Switch, Writes, files_in, project_file, user_file

_USER = (
    user_file("~/.omp/profiles/${OMP_PROFILE}/agent/mcp.json"),
    user_file("~/.omp/profiles/${OMP_PROFILE}/agent/.mcp.json"),
    user_file("~/.omp/agent/mcp.json"),
    user_file("~/.omp/agent/.mcp.json"),
    user_file("~/.omp/mcp.json"),
)

FORMAT = Format(
    tool="omp",
    title="oh-my-pi",
    places=(project_file(".omp/mcp.json"), project_file(".omp/.mcp.json"), *_USER),
    name_pattern=r"(?!.{101})[A-Za-z0-9_.:-]+(?: [A-Za-z0-9_.:-]+)*",
    untyped_url="http",
    dialect=OH_MY_PI,
    # Both lists apply only in the person's own files.
    off=tuple(Switch(place, ("disabledServers",)) for place in _USER),
    on=tuple(Switch(place, ("enabledServers",)) for place in _USER),
    writes=Writes(
        user=(user_file("~/.omp/profiles/${OMP_PROFILE}/agent/mcp.json"), user_file("~/.omp/agent/mcp.json")),
        project=(project_file(".omp/mcp.json"),),
        slots=(*BASIC, "cwd", "enabled", "timeout", "oauth"),
        oauth={
            "client_id": "clientId",
            "client_secret": "clientSecret",
            "callback_port": "callbackPort",
            "redirect_uri": "redirectUri",
            "scopes": "scope",
        },
        joined_scopes=True,
    ),
    obeys=(
        Obeyed("agents", ".omp/agents", "~/.omp/agent/agents"),
        Obeyed("skills", ".omp/skills", "~/.omp/agent/skills"),
        Obeyed("commands", ".omp/commands", "~/.omp/agent/commands"),
        Obeyed("rules", ".omp/rules", "~/.omp/agent/rules"),
        Obeyed("hooks", ".omp/hooks", "~/.omp/agent/hooks"),
        Obeyed("hooks", ".omp/tools", "~/.omp/agent/tools"),
        Obeyed("hooks", ".omp/extensions", "~/.omp/agent/extensions"),
    ),
)


_PLUGIN_FILES = (".omp-plugin/plugin.json", ".claude-plugin/plugin.json", ".mcp.json")
PLUGIN_FOLDERS = Folders("omp", registries=(Switch(user_file("~/.omp/plugins/installed_plugins.json"), ("plugins",)),))

# Plugins of oh-my-pi: a registry in the shape of Claude Code's, and manifests of its own before Claude's.
PLUGINS = Format(
    tool="omp",
    title="oh-my-pi plugins",
    places=files_in(PLUGIN_FOLDERS, *_PLUGIN_FILES, folder_variables=("CLAUDE_PLUGIN_ROOT", "OMP_PLUGIN_ROOT")),
    bare_map=True,
    untyped_url="http",
)
