"""One file per tool or family of tools. The order of `FORMATS` is their precedence inside a scope."""

from mooring.discovery.format import Format
from mooring.discovery.formats import (
    agent_plugins,
    claude,
    codex,
    common_shape,
    copilot,
    editors,
    gemini,
    mooring,
    opencode,
    terminals,
)

FORMATS: tuple[Format, ...] = (
    mooring.FORMAT, common_shape.OMP, common_shape.OMP_PLUGINS, opencode.FORMAT, copilot.FORMAT, copilot.PLUGINS,
    codex.FORMAT, codex.PLUGINS, gemini.FORMAT, gemini.QWEN, common_shape.CURSOR, common_shape.WINDSURF_FORMAT,
    claude.FORMAT, claude.PLUGINS, editors.ZED, editors.CLINE_FORMAT, editors.ROO_FORMAT, editors.CONTINUE_FORMAT,
    terminals.GOOSE_FORMAT, common_shape.AMP_FORMAT, terminals.AMAZONQ, common_shape.KIRO, common_shape.JUNIE,
    common_shape.WARP, terminals.CRUSH_FORMAT, common_shape.FACTORY, common_shape.FACTORY_PLUGINS,
    common_shape.LMSTUDIO, claude.CLAUDE_DESKTOP, terminals.ATOMIC_FORMAT, terminals.MCPORTER_FORMAT,
    common_shape.MCPM_FORMAT, common_shape.VSCODE_FORMAT, editors.MAGENTA, editors.MAGENTA_LUA, opencode.KILO,
    common_shape.KIMI, common_shape.ROVO, common_shape.GROK, common_shape.SHARED_FORMAT, agent_plugins.FORMAT,
    common_shape.GENERIC, claude.DOT_MCP,
)  # fmt: skip


def find_format(tool: str) -> Format | None:
    """The format of a tool's files, by the tool that is named as the origin of a definition."""
    return next((format for format in FORMATS if format.tool == tool), None)
