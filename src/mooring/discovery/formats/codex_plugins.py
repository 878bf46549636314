"""Plugins of OpenAI Codex: its configuration names those that are on; the newest version of each is used."""

from mooring.discovery.format import Folders, Format, Switch, files_in
from mooring.discovery.formats.codex import CONFIG

_FILES = (".codex-plugin/plugin.json", ".claude-plugin/plugin.json", ".mcp.json")
FOLDERS = Folders("codex", registries=(Switch(CONFIG, ("plugins",)),))

FORMAT = Format(
    tool="codex",
    title="OpenAI Codex plugins",
    places=files_in(FOLDERS, *_FILES, folder_variables=("CLAUDE_PLUGIN_ROOT", "PLUGIN_ROOT")),
    bare_map=True,
    relative_paths=True,
)
