"""Plugins of oh-my-pi: a registry in the shape of Claude Code's, and manifests of its own before Claude's."""

from mooring.discovery.format import Folders, Format, Switch, inside, user

_FILES = (".omp-plugin/plugin.json", ".claude-plugin/plugin.json", ".mcp.json")
FOLDERS = Folders("omp", (Switch(user("~/.omp/plugins/installed_plugins.json"), ("plugins",)),))

FORMAT = Format(
    tool="omp",
    title="oh-my-pi plugins",
    places=inside(FOLDERS, *_FILES, here=("CLAUDE_PLUGIN_ROOT", "OMP_PLUGIN_ROOT")),
    bare=True,
    untyped="http",
)
