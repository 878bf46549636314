"""Plugins of oh-my-pi: a registry in the shape of Claude Code's, and manifests of its own before Claude's."""

from mooring.discovery.format import Folders, Format, Switch, files_in, user_file

_FILES = (".omp-plugin/plugin.json", ".claude-plugin/plugin.json", ".mcp.json")
FOLDERS = Folders("omp", registries=(Switch(user_file("~/.omp/plugins/installed_plugins.json"), ("plugins",)),))

FORMAT = Format(
    tool="omp",
    title="oh-my-pi plugins",
    places=files_in(FOLDERS, *_FILES, folder_variables=("CLAUDE_PLUGIN_ROOT", "OMP_PLUGIN_ROOT")),
    bare_map=True,
    untyped_url="http",
)
