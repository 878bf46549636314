"""One small file per tool; here their order, which is their precedence inside a scope."""

from mooring.discovery.format import Format
from mooring.discovery.formats import claude, codex, copilot, dot_mcp, generic, mooring, omp, opencode, vscode

FORMATS: tuple[Format, ...] = (
    mooring.FORMAT,
    omp.FORMAT,
    opencode.FORMAT,
    copilot.FORMAT,
    codex.FORMAT,
    claude.FORMAT,
    vscode.FORMAT,
    generic.FORMAT,
    dot_mcp.FORMAT,
)
