"""A session of Copilot's program, with our servers and agents, and everything off that would act behind our back."""

import re
from collections.abc import Mapping, Sequence
from math import isinf
from typing import Any, Final

from msgspec import Struct

from mooring import files
from mooring.agents.definition import AgentDefinition, ToolSelection, apply_selection
from mooring.agents.files.tool_words import FAMILIES
from mooring.backends.bridge.bridge import AgentBridge, AgentEndpoint
from mooring.backends.bridge.native import NativeAddress, NativeProgram, NativeServer, write_milliseconds
from mooring.backends.bridge.options import BackendOptions
from mooring.backends.copilot.program import CopilotVariables
from mooring.core.conversation.backend_name import ServersWay
from mooring.core.conversation.turn import ServerStatus
from mooring.core.definitions.paths import here
from mooring.errors import FileError

_DAY: Final = 24 * 60 * 60.0
"""In seconds. A person may take their time with a question, and the program counts that as part of a call."""

BLANKS: Final = {"MOORING_DOLLAR": "$", "MOORING_NOTHING": ""}
"""Variables for the program's environment. It fills in `$NAME` wherever it finds one in a server's definition, and
replaces a variable's value that is the name of another variable. Nothing turns that off, so it is given back."""
_NAME: Final = re.compile(r"\w+")


class SessionServers(Struct, frozen=True):
    """The servers of one session, by the name that Copilot knows them by."""

    configs: Mapping[str, Mapping[str, Any]] = {}
    """As a session takes them. They hold secrets."""
    left_out: Sequence[ServerStatus] = ()
    """Those that it can't have."""

    def __repr__(self) -> str:
        return f"<SessionServers {sorted(self.configs)}>"


async def list_servers(bridge: AgentBridge, way: ServersWay) -> SessionServers:
    """The servers that a session is to have now."""
    if way == "shared":
        return SessionServers({endpoint.name: write_endpoint(endpoint) for endpoint in bridge.list_endpoints()})
    native, left_out = await bridge.list_native()
    return SessionServers({server.name: write_native(server) for server in native}, left_out)


def write_endpoint(endpoint: AgentEndpoint) -> dict[str, Any]:
    """A server that Mooring serves."""
    return {
        "type": "http",
        "url": endpoint.url,
        "headers": dict(endpoint.headers),
        "tools": ["*"],
        "timeout": write_milliseconds(_DAY),
    }


def write_native(server: NativeServer) -> dict[str, Any]:
    """A server that Copilot starts or reaches itself."""
    config = _write_connection(server.connection)
    config["tools"] = ["*"] if server.tools is None else list(server.tools)
    if server.timeout is not None:
        # It knows no way to say that there is no limit.
        config["timeout"] = write_milliseconds(_DAY if isinf(server.timeout) else server.timeout)
    return config


def _write_connection(connection: NativeProgram | NativeAddress) -> dict[str, Any]:
    match connection:
        case NativeProgram(command, args, env, cwd):
            return {
                "type": "local",
                "command": command,
                "args": [_keep_dollars(text) for text in args],
                "env": {name: _keep_value(text) for name, text in env.items()},
                "cwd": cwd,
            }
        case NativeAddress(url, headers, transport):
            kept = {name: _keep_dollars(text) for name, text in headers.items()}
            return {"type": transport, "url": _keep_dollars(url), "headers": kept}


def _keep_dollars(text: str) -> str:
    """A text that comes out as it is here, after the program has filled it in."""
    return text.replace("$", "${MOORING_DOLLAR}")


def _keep_value(text: str) -> str:
    """The same, for the value of a variable."""
    return f"${{MOORING_NOTHING}}{text}" if _NAME.fullmatch(text) else _keep_dollars(text)


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


def build_settings(
    bridge: AgentBridge, options: BackendOptions, variables: CopilotVariables, servers: SessionServers
) -> dict[str, Any]:
    """What a session is opened with. Raises: FileError."""
    names = [server for name in servers.configs if (server := bridge.find_server(name)) is not None]
    settings: dict[str, Any] = {
        **SWITCHES,
        "client_name": "mooring",
        "working_directory": options.cwd,
        "config_directory": make_folder(options),
        "model": find_model(options, variables),
        "provider": variables.make_provider(),
        "mcp_servers": dict(servers.configs),
        "system_message": _write_instructions(options, variables),
        "custom_agents": [_write_agent(bridge, names, agent) for agent in options.agents] or None,
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


OWN_TOOLS: Final[Mapping[str, frozenset[str]]] = {
    "bash": frozenset({"Bash"}),
    "create": frozenset({"Write"}),
    "edit": frozenset({"Edit", "MultiEdit", "NotebookEdit"}),
    "glob": frozenset({"Glob"}),
    "grep": frozenset({"Grep"}),
    "view": frozenset({"Read", "LS"}),
    "web_fetch": frozenset({"WebFetch"}),
    "task": frozenset({"Task", "Agent"}),
    "skill": frozenset({"Skill"}),
    # It keeps its plans in a database.
    "sql": frozenset({"TodoWrite"}),
}
"""Copilot's own tools, and what definitions call them."""


def _write_agent(bridge: AgentBridge, servers: Sequence[str], agent: AgentDefinition) -> dict[str, Any]:
    """An agent as a session of Copilot knows it. `servers` are those that it is given."""
    written: dict[str, Any] = {
        "name": agent.name,
        "description": agent.description or agent.name,
        "prompt": agent.prompt,
        "tools": select_tools(bridge, servers, agent.tools),
    }
    model = write_model(agent.model)
    if model is not None:
        written["model"] = model
    return written


def write_model(model: str | None) -> str | None:
    """The model as Copilot names it; `None` for the one of the session.

    The provider is always the one of the session, and a kind of Claude is no name of a model there.
    """
    if model is None or model in FAMILIES:
        return None
    provider, _, name = model.partition(":")
    return name or provider


def find_model(options: BackendOptions, variables: CopilotVariables) -> str | None:
    """The model that answers: what the person says, else what the agent's definition or the environment does."""
    agent = options.main_agent
    return options.model or (None if agent is None else write_model(agent.model)) or variables.model


def select_tools(bridge: AgentBridge, servers: Sequence[str], selection: ToolSelection) -> list[str] | None:
    """What a definition selects of the tools that are known now; `None` for everything."""
    if selection == ToolSelection():
        return None
    selected = [tool for tool, names in OWN_TOOLS.items() if any(map(selection.has_own, names))]
    scope = apply_selection(selection)
    for server in servers:
        tools = bridge.select_tools(server, scope)
        name = bridge.name_server(server)
        selected += [f"{name}/{tool}" for tool in (("*",) if tools is None else tools)]
    return selected
