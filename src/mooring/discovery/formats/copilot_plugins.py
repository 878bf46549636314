"""Plugins of GitHub Copilot CLI: it keeps a list of them, and the person's settings say which are on."""

from mooring.discovery.format import Folders, Format, Switch, files_in, user_file
from mooring.discovery.formats import copilot

_ROOT = ("CLAUDE_PLUGIN_ROOT", "COPILOT_PLUGIN_ROOT", "PLUGIN_ROOT")
_MANIFESTS = tuple(f"{folder}plugin.json" for folder in ("", ".plugin/", ".github/plugin/", ".claude-plugin/"))
FOLDERS = Folders(
    "copilot-cli",
    registries=(Switch(user_file(f"{copilot.HOME}/config.json"), ("installedPlugins",)),),
    off=(Switch(user_file(f"{copilot.HOME}/settings.json"), ("enabledPlugins",), "chosen"),),
)

FORMAT = Format(
    tool="copilot-cli",
    title="GitHub Copilot CLI plugins",
    places=files_in(FOLDERS, *_MANIFESTS, ".mcp.json", ".github/mcp.json", folder_variables=_ROOT),
    bare_map=True,
    fields=copilot.FORMAT.fields,
    types=copilot.FORMAT.types,
    suggest_type=True,
    relative_paths=True,
    start_in_folder=True,
    off=copilot.FORMAT.off,
)
