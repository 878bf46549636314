"""Claude Code as a backend: its program, started by our guard, and what it says as the events of a turn."""

from mooring.backends.bridge.bridge import AgentBridge
from mooring.backends.bridge.options import BackendOptions
from mooring.backends.programs import require_program
from mooring.core.conversation.turn import Backend

__all__ = ["open_claude"]


async def open_claude(bridge: AgentBridge, options: BackendOptions) -> Backend:
    """A conversation with Claude Code. Its program is started by the first turn, or when it is asked about servers.

    Raises: ConfigError if the program or its library isn't installed.
    """
    program = require_program("claude", options.env)
    # Loaded here: only who talks to Claude Code needs its SDK.
    from mooring.backends.claude.backend import ClaudeBackend

    return ClaudeBackend(bridge, options, program)
