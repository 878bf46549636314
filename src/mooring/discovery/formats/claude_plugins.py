"""Plugins of Claude Code: its registry names the folder of each, and the person's settings which are on."""

from mooring.discovery.dialect import ASKED
from mooring.discovery.format import Folders, Format, Switch, inside, user
from mooring.discovery.formats import claude

_CACHE = "CLAUDE_CODE_PLUGIN_CACHE_DIR"
_PLACES = (
    user(f"${{{_CACHE}}}/installed_plugins.json"),
    user(f"{claude.HOME}/plugins/installed_plugins.json", unless=(_CACHE,)),
)
FOLDERS = Folders(
    "claude-code",
    tuple(Switch(place, ("plugins",)) for place in _PLACES),
    tuple(Switch(p, ("enabledPlugins",), "states") for p in (claude.SETTINGS, *claude.MANAGED_SETTINGS)),
    (Switch(claude.SETTINGS, ("pluginConfigs",)),),
)

FORMAT = Format(
    tool="claude-code",
    title="Claude Code plugins",
    places=inside(FOLDERS, ".claude-plugin/plugin.json", ".mcp.json", here=("CLAUDE_PLUGIN_ROOT",)),
    bare=True,
    fields=claude.FIELDS,
    ask_for_type=True,
    dialect=ASKED,
    off=(claude.OFF,),
    exclusive=claude.MANAGED,
    policies=claude.POLICIES,
)
