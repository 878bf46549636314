"""Which tools start a project's servers without asking anybody: what their sources and programs showed when read."""

import os
from collections.abc import Iterator

from msgspec import Struct

from mooring import files
from mooring.core.definitions.paths import Paths
from mooring.discovery.format import locate, user_file


class UnaskedStart(Struct, frozen=True):
    """One tool that starts, or may start, what a project's files define, and where that was seen."""

    title: str
    reads: tuple[str, ...]
    """The tools, as origins of definitions, whose project files it takes servers from."""
    seen: str
    """The version or the source in which it was seen."""
    certain: bool = True
    """False if nobody could read how it decides."""
    when: str = ""
    """Under which circumstances; empty if always."""
    programs: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """Where its own files are, in the notation of places: if one exists, the tool is here."""

    @property
    def claim(self) -> str:
        """What it does, as the beginning of a sentence."""
        verb = "starts" if self.certain else "may start"
        return f"{self.title} {verb}"


_ROO_FOLDERS = tuple(
    f"{{app}}/{editor}/User/globalStorage/rooveterinaryinc.roo-cline"
    for editor in ("Code", "Code - Insiders", "Cursor")
)

UNASKED: tuple[UnaskedStart, ...] = (
    UnaskedStart("Claude Code", ("claude-code",), "2.1.325", when="in runs without a terminal (claude -p)",
                 programs=("claude",), folders=("~/.claude",)),
    UnaskedStart("OpenCode", ("opencode",), "source of August 2026, d545d8f",
                 programs=("opencode",), folders=("{xdg}/opencode",)),
    UnaskedStart("oh-my-pi", ("omp", "generic", "claude-code", "codex", "cursor", "gemini", "opencode"), "18.3.4",
                 programs=("omp",), folders=("~/.omp",)),
    UnaskedStart("Atomic", ("atomic", "claude-code"), "source of August 2026, 6031a92",
                 programs=("atomic",), folders=("~/.atomic", "~/.pi")),
    UnaskedStart("Crush", ("crush",), "source of August 2026, 37f36e9",
                 programs=("crush",), folders=("{xdg}/crush",)),
    UnaskedStart("Amazon Q CLI", ("amazonq",), "source of April 2026, 15cc8f3",
                 programs=("q",), folders=("~/.aws/amazonq",)),
    UnaskedStart("Roo Code", ("roo",), "source of April 2026, cb83656", folders=_ROO_FOLDERS),
    UnaskedStart("Continue", ("continue",), "source of June 2026, d0a3c0b",
                 programs=("cn",), folders=("${CONTINUE_GLOBAL_DIR:-~/.continue}",)),
    UnaskedStart("magenta.nvim", ("magenta",), "source of July 2026, fcfcb39", folders=("~/.magenta",)),
    UnaskedStart("mcporter", ("mcporter", "cursor", "codex", "opencode", "vscode"), "0.13.7",
                 programs=("mcporter",), folders=("~/.mcporter",)),
    UnaskedStart("Cursor", ("cursor",), "reports of May 2026 about its command line", certain=False,
                 programs=("cursor", "cursor-agent"), folders=("~/.cursor",)),
    UnaskedStart("Kiro", ("kiro",), "documentation of 2026", certain=False,
                 programs=("kiro", "kiro-cli"), folders=("~/.kiro",)),
    UnaskedStart("Factory droid", ("factory",), "0.225.2", certain=False,
                 programs=("droid",), folders=("~/.factory",)),
    UnaskedStart("Junie", ("junie",), "documentation of 2026", certain=False,
                 programs=("junie",), folders=("~/.junie",)),
    UnaskedStart("Kilo Code", ("kilo",), "documentation of 2026", certain=False,
                 programs=("kilo",), folders=("{xdg}/kilo",)),
)  # fmt: skip
"""Tools that ask about each server (Qwen Code, Amp, VS Code) or about the folder (Codex, Gemini CLI, Copilot CLI, Zed)
are not among them; that a folder was trusted is recorded by the tool, and found there."""


def find_present_tools(where: Paths) -> Iterator[UnaskedStart]:
    """Those of the tools that are on this machine: by their folders, or by their programs on PATH."""
    path = where.env.get("PATH", "")
    for tool in UNASKED:
        has_folder = any(_exists(folder, where) for folder in tool.folders)
        if has_folder or any(files.which(program, path, where.home) for program in tool.programs):
            yield tool


def _exists(folder: str, where: Paths) -> bool:
    located = locate(user_file(folder), where)
    return located is not None and os.path.exists(located)
