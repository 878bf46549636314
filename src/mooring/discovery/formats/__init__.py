"""One small file per tool. Their order in `FORMATS` is their precedence inside a scope."""

from mooring.discovery.format import Format
from mooring.discovery.formats import (
    agent_plugins,
    amazonq,
    amp,
    atomic,
    claude,
    claude_desktop,
    claude_plugins,
    cline,
    codex,
    codex_plugins,
    continue_,
    copilot,
    copilot_plugins,
    crush,
    cursor,
    dot_mcp,
    factory,
    factory_plugins,
    gemini,
    generic,
    goose,
    grok,
    junie,
    kilo,
    kimi,
    kiro,
    lmstudio,
    magenta,
    magenta_lua,
    mcpm,
    mcporter,
    mooring,
    omp,
    omp_plugins,
    opencode,
    qwen,
    roo,
    rovo,
    shared,
    vscode,
    warp,
    windsurf,
    zed,
)  # fmt: skip

FORMATS: tuple[Format, ...] = tuple(
    module.FORMAT
    for module in (
        mooring, omp, omp_plugins, opencode, copilot, copilot_plugins, codex, codex_plugins, gemini, qwen, cursor,
        windsurf, claude, claude_plugins, zed, cline, roo, continue_, goose, amp, amazonq, kiro, junie, warp, crush,
        factory, factory_plugins, lmstudio, claude_desktop, atomic, mcporter, mcpm, vscode, magenta, magenta_lua, kilo,
        kimi, rovo, grok, shared, agent_plugins, generic, dot_mcp,
    )
)  # fmt: skip


def find_format(tool: str) -> Format | None:
    """The format of a tool's files, by the tool that is named as the origin of a definition."""
    return next((format for format in FORMATS if format.tool == tool), None)
