"""Opens Claude Code as the backend of a conversation. Without the extra, it says which one command is missing."""

from pathlib import Path

from mooring.backends.bridge.bridge import AgentBridge
from mooring.backends.bridge.options import BackendOptions
from mooring.core.turn import Backend
from mooring.errors import ConfigError

INSTALL = "pip install 'mooring[claude]'"
_MISSING = f"Claude Code needs packages that are not installed. Install them with: {INSTALL}"


async def open_claude(bridge: AgentBridge, options: BackendOptions) -> Backend:
    """A conversation with Claude Code. Its program is started by the first turn, or when it is asked about servers.

    Raises: ConfigError if `mooring[claude]` is not installed.
    """
    program = find_program()
    try:
        # Loaded here: only who talks to Claude Code needs its SDK.
        from mooring.backends.claude.backend import ClaudeBackend
    except ImportError as error:
        raise ConfigError(_MISSING) from error
    return ClaudeBackend(bridge, options, program)


def find_program() -> str:
    """The path of the program that the SDK brings with it. Raises: ConfigError."""
    from importlib.util import find_spec  # lazy: a chat without Claude Code doesn't need it

    spec = find_spec("claude_agent_sdk")
    if spec is None or spec.origin is None:
        raise ConfigError(_MISSING)
    program = Path(spec.origin).parent / "_bundled" / "claude"
    if not program.is_file():
        raise ConfigError(
            f"The installed Claude Agent SDK has no program for this machine in {program.parent}. "
            f"Install it anew with: {INSTALL.replace('install', 'install --force-reinstall')}"
        )
    return str(program)
