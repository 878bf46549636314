"""How Claude Code is started: its options and its environment, with everything off that would act behind our back."""

from collections.abc import Iterable, Mapping
from typing import Final

from mooring.backends.bridge.options import BackendOptions
from mooring.backends.claude.agents import find_model

_DAY: Final = "86400000"
"""In milliseconds. A person may take their time with a question, and the program counts that as part of a call."""

SWITCHES: Final = {
    "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
    # Tools of servers are listed at once as long as they are few; else it finds them by a search of its own.
    "ENABLE_TOOL_SEARCH": "auto",
    "MCP_TOOL_TIMEOUT": _DAY,
    "MCP_TIMEOUT": _DAY,
    # Servers that the person connected on claude.ai: those are the agent's own too.
    "ENABLE_CLAUDEAI_MCP_SERVERS": "false",
    # What goes on after a turn would speak to nobody, and would ask nobody.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_CRON": "1",
    # It would read every `@path` of a prompt by itself, past the gate. The chat attaches what a prompt names.
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    # Plans come as `TodoWrite`, whole; without these they come in pieces, by four other tools.
    "CLAUDE_CODE_ENABLE_TASKS": "0",
    "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1",
    # The program belongs to an installed package, which has its own updates.
    "DISABLE_AUTOUPDATER": "1",
}
"""Set whatever the person's environment says."""

UNWANTED_TOOLS: Final = (
    "EnterPlanMode",
    "ExitPlanMode",
    "EnterWorktree",
    "ExitWorktree",
    "Monitor",
    "ScheduleWakeup",
)
"""Own tools that would change the permission mode or the folder, or act after the turn."""


def build_command(
    program: str,
    options: BackendOptions,
    *,
    resume: str | None,
    own_tools: Iterable[str] | None = None,
    denied_tools: Iterable[str] = (),
) -> list[str]:
    """The command line. It has no secrets: servers, agents and instructions are told by messages."""
    argv = [
        program,
        "--output-format",
        "stream-json",
        "--input-format",
        "stream-json",
        "--verbose",
        "--include-partial-messages",
        "--permission-prompt-tool",
        "stdio",
        # Neither settings, hooks and agents of the repository or the person, nor servers that either has configured.
        "--setting-sources=",
        "--strict-mcp-config",
        "--disallowedTools",
        ",".join([*UNWANTED_TOOLS, *denied_tools]),
    ]
    if own_tools is not None:
        argv += ["--tools", ",".join(own_tools)]
    model = find_model(options)
    if model is not None:
        argv += ["--model", model]
    if resume is not None:
        # In one word: otherwise an id that begins with a dash would be another option.
        argv.append(f"--resume={resume}")
    return argv


def build_environment(given: Mapping[str, str]) -> dict[str, str]:
    """The program's environment: what it was given, with our switches."""
    # Set where Mooring itself runs inside Claude Code: the program would take itself for a part of that session.
    rest = {name: value for name, value in given.items() if name != "CLAUDECODE"}
    return {**rest, **SWITCHES}
