"""Plugins of GitHub Copilot CLI: it keeps a list of them, and the person's settings say which are on."""

from mooring.discovery.format import Folders, Format, Switch, inside, user
from mooring.discovery.formats import copilot

_ROOT = ("CLAUDE_PLUGIN_ROOT", "COPILOT_PLUGIN_ROOT", "PLUGIN_ROOT")
_MANIFESTS = tuple(f"{folder}plugin.json" for folder in ("", ".plugin/", ".github/plugin/", ".claude-plugin/"))
_CHOSEN = Switch(user(f"{copilot.HOME}/settings.json"), ("enabledPlugins",), "chosen")
FOLDERS = Folders("copilot-cli", (Switch(user(f"{copilot.HOME}/config.json"), ("installedPlugins",)),), (_CHOSEN,))

FORMAT = Format(
    tool="copilot-cli",
    title="GitHub Copilot CLI plugins",
    places=inside(FOLDERS, *_MANIFESTS, ".mcp.json", ".github/mcp.json", here=_ROOT),
    bare=True,
    fields=copilot.FORMAT.fields,
    types=copilot.FORMAT.types,
    ask_for_type=True,
    relative=True,
    at_home=True,
    off=copilot.FORMAT.off,
)
