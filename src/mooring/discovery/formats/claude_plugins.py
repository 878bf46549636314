"""Plugins of Claude Code: its registry names the folder of each, and the person's settings which are on."""

from mooring.discovery.dialect import CLAUDE_PLUGINS
from mooring.discovery.format import Folders, Format, Switch, files_in, user_file
from mooring.discovery.formats import claude

_CACHE = "CLAUDE_CODE_PLUGIN_CACHE_DIR"
_REGISTRIES = (
    user_file(f"${{{_CACHE}}}/installed_plugins.json"),
    user_file(f"{claude.HOME}/plugins/installed_plugins.json", unless_set=(_CACHE,)),
)
FOLDERS = Folders(
    "claude-code",
    registries=tuple(Switch(place, ("plugins",)) for place in _REGISTRIES),
    off=tuple(Switch(place, ("enabledPlugins",), "states") for place in (claude.SETTINGS, *claude.MANAGED_SETTINGS)),
    answers=(Switch(claude.SETTINGS, ("pluginConfigs",)),),
)

FORMAT = Format(
    tool="claude-code",
    title="Claude Code plugins",
    places=files_in(FOLDERS, ".claude-plugin/plugin.json", ".mcp.json", folder_variables=("CLAUDE_PLUGIN_ROOT",)),
    bare_map=True,
    fields=claude.FIELDS,
    suggest_type=True,
    dialect=CLAUDE_PLUGINS,
    off=(claude.OFF,),
    exclusive=claude.MANAGED,
    policies=claude.POLICIES,
    only_managed_allow=claude.ONLY_MANAGED_ALLOW,
)
