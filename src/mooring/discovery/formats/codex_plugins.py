"""Plugins of OpenAI Codex: its configuration names those that are on; the newest version of each counts."""

from mooring.discovery.format import Folders, Format, Switch, inside
from mooring.discovery.formats.codex import CONFIG

_FILES = (".codex-plugin/plugin.json", ".claude-plugin/plugin.json", ".mcp.json")
FOLDERS = Folders("codex", (Switch(CONFIG, ("plugins",)),))

FORMAT = Format(
    tool="codex",
    title="OpenAI Codex plugins",
    places=inside(FOLDERS, *_FILES, here=("CLAUDE_PLUGIN_ROOT", "PLUGIN_ROOT")),
    bare=True,
    relative=True,
)
