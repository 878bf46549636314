"""Plugins of Factory droid: a registry in the shape of Claude Code's; the person's settings say which are on."""

from mooring.discovery.format import Folders, Format, Switch, files_in, user_file
from mooring.discovery.formats import factory

FOLDERS = Folders(
    "factory",
    registries=(Switch(user_file("~/.factory/plugins/installed_plugins.json"), ("plugins",)),),
    off=(Switch(user_file("~/.factory/settings.json"), ("enabledPlugins",), "chosen"),),
)

FORMAT = Format(
    tool="factory",
    title="Factory droid plugins",
    places=files_in(FOLDERS, "mcp.json", folder_variables=("CLAUDE_PLUGIN_ROOT", "DROID_PLUGIN_ROOT")),
    fields=factory.FORMAT.fields,
    untyped_url=None,
)
