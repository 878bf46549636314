"""Plugins of Claude Code: its registry names the folder of each, and the person's settings which are on."""

from collections.abc import Iterable, Mapping
from typing import Any

from mooring.discovery.format import COMMON, Context, Folders, Format, Place, Switch, fields, user
from mooring.discovery.formats import claude

_REGISTRY = "installed_plugins.json"
_ROOT = ("CLAUDE_PLUGIN_ROOT",)


def _named(data: Any, context: Context) -> Iterable[tuple[str, str, str]]:
    """The folder of each plugin that concerns this person or this project, the last install first."""
    plugins = data.get("plugins") if isinstance(data, Mapping) else None
    for id, installs in plugins.items() if isinstance(plugins, Mapping) else ():
        for install in reversed(installs) if isinstance(installs, list) else ():
            match install:
                case {"installPath": str(folder)} if install.get("projectPath") in (None, *context.folders):
                    yield id, f"plugin:{id.rpartition('@')[0] or id}:", folder
                    break


FOLDERS = Folders(
    (user(f"${{CLAUDE_CODE_PLUGIN_CACHE_DIR}}/{_REGISTRY}"), user(f"{claude.HOME}/plugins/{_REGISTRY}")),
    _named,
    (Switch(user(f"{claude.HOME}/settings.json"), ("enabledPlugins",), "states"),),
)

FORMAT = Format(
    tool="claude-code",
    title="Claude Code plugins",
    places=(
        Place("user", "{each}/.mcp.json", each=FOLDERS, here=_ROOT),
        Place("user", "{each}/.claude-plugin/plugin.json", ("mcpServers",), each=FOLDERS, here=_ROOT),
    ),
    bare=True,
    fields={**COMMON, **fields(timeout="call_timeout", tools="tools_policy")},
    ask_for_type=True,
    off=(claude.OFF,),
    exclusive=claude.MANAGED,
    policies=claude.POLICIES,
)
