"""Plugins of Factory droid: a registry in the shape of Claude Code's; the person's settings say which are on."""

from mooring.discovery.format import Folders, Format, Switch, inside, user
from mooring.discovery.formats import factory

_CHOSEN = Switch(user("~/.factory/settings.json"), ("enabledPlugins",), "chosen")
FOLDERS = Folders("factory", (Switch(user("~/.factory/plugins/installed_plugins.json"), ("plugins",)),), (_CHOSEN,))

FORMAT = Format(
    tool="factory",
    title="Factory droid plugins",
    places=inside(FOLDERS, "mcp.json", here=("CLAUDE_PLUGIN_ROOT", "DROID_PLUGIN_ROOT")),
    fields=factory.FORMAT.fields,
    untyped=None,
)
