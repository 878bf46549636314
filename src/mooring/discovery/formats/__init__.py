"""One small file per tool; here their order, which is their precedence inside a scope."""

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
    continue_,
    copilot,
    crush,
    cursor,
    dot_mcp,
    factory,
    gemini,
    generic,
    goose,
    junie,
    kiro,
    lmstudio,
    magenta,
    mcpm,
    mcporter,
    mooring,
    omp,
    opencode,
    qwen,
    roo,
    shared,
    vscode,
    warp,
    windsurf,
    zed,
)  # fmt: skip

FORMATS: tuple[Format, ...] = tuple(
    module.FORMAT
    for module in (
        mooring, omp, opencode, copilot, codex, gemini, qwen, cursor, windsurf, claude, claude_plugins, zed, cline, roo,
        continue_, goose, amp, amazonq, kiro, junie, warp, crush, factory, lmstudio, claude_desktop, atomic, mcporter,
        mcpm, vscode, magenta, shared, agent_plugins, generic, dot_mcp,
    )
)  # fmt: skip
