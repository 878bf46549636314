"""A session of Copilot's program: opened or resumed, with everything off that would act behind our back."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from msgspec import Struct

from mooring import files
from mooring.backends.bridge.bridge import AgentBridge
from mooring.backends.bridge.options import BackendOptions
from mooring.backends.copilot.agents import find_model, write_agents
from mooring.backends.copilot.environment import CopilotVariables
from mooring.backends.copilot.servers import SessionServers
from mooring.core.definitions.paths import here
from mooring.errors import FileError

OnEvent: TypeAlias = Callable[[Any], None]
OnPermission: TypeAlias = Callable[[Any, Any], Awaitable[Any]]

GITHUB_SERVER: Final = "github-mcp-server"
"""A server that the program brings with it, for those who are logged in to GitHub."""
LONGEST_INSTRUCTIONS: Final = 1024 * 1024

SWITCHES: Final = {
    # Servers, agents, skills and plugins that the repository configures.
    "enable_config_discovery": False,
    # Hooks of the repository: commands that run at every prompt and every call, without a question.
    "enable_file_hooks": False,
    "disabled_mcp_servers": [GITHUB_SERVER],
    # What was said in other sessions.
    "enable_session_store": False,
}
"""What every session is opened with."""


class SessionHandlers(Struct, frozen=True):
    """Who is told what happens in a session, and who decides."""

    on_event: OnEvent
    on_permission: OnPermission
    before_tool: Callable[[Any, Any], Any]


async def open_session(
    client: Any,
    bridge: AgentBridge,
    options: BackendOptions,
    variables: CopilotVariables,
    servers: SessionServers,
    handlers: SessionHandlers,
    resume: str | None,
) -> Any:
    """A session on a connected client, a new one or one that goes on. Raises: `list_failures`; FileError."""
    settings = {
        **build_settings(bridge, options, variables, servers),
        "on_event": handlers.on_event,
        "on_permission_request": handlers.on_permission,
        "hooks": {"on_pre_tool_use": handlers.before_tool},
    }
    if resume is None:
        return await client.create_session(**settings)
    return await client.resume_session(resume, **settings)


def build_settings(
    bridge: AgentBridge, options: BackendOptions, variables: CopilotVariables, servers: SessionServers
) -> dict[str, Any]:
    """What a session is opened with. Raises: FileError."""
    settings: dict[str, Any] = {
        **SWITCHES,
        "client_name": "mooring",
        "working_directory": options.cwd,
        "config_directory": make_folder(options),
        "model": find_model(options, variables),
        "provider": variables.make_provider(),
        "mcp_servers": dict(servers.configs),
        "system_message": _write_instructions(options, variables),
        "custom_agents": write_agents(bridge, tuple(servers.names.values()), options.agents) or None,
        "agent": options.agent,
        "streaming": True,
    }
    return {name: value for name, value in settings.items() if value is not None}


def make_folder(options: BackendOptions) -> str:
    """The folder that takes the place of the person's own configuration of Copilot.

    That one lists servers, and they would be started in every session. The login is not looked for here.

    Raises: FileError.
    """
    folder = f"{here(options.env).state}/backends/copilot"
    files.make_private_folder(folder)
    return folder


def _write_instructions(options: BackendOptions, variables: CopilotVariables) -> dict[str, str] | None:
    """What is added to the system prompt: ours, and the person's own file, which is in the folder that is replaced.

    The instructions of the repository are read by the program itself.
    """
    own = read_own_instructions(variables)
    texts = [text.strip() for text in (own, options.instructions) if text.strip()]
    return {"mode": "append", "content": "\n\n".join(texts)} if texts else None


def read_own_instructions(variables: CopilotVariables) -> str:
    """What the person wants Copilot to be told in every session."""
    try:
        data = files.read(f"{variables.home}/copilot-instructions.md", LONGEST_INSTRUCTIONS)
    except FileError:
        return ""
    return "" if data is None else data.decode(errors="replace")
