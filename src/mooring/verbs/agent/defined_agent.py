"""The agent that somebody names for a conversation, found among those that files define."""

import asyncio

from mooring.agents.definition import AgentDefinition, apply_selection
from mooring.agents.files.find import AgentFiles
from mooring.agents.missing_tools import describe_missing, find_missing_tools
from mooring.agents.sessions.store import SessionSummary
from mooring.agents.taken_names import TakenNames
from mooring.conversation.conversation import Conversation
from mooring.core.conversation.status import Disabled
from mooring.core.definitions.approved import TakenName
from mooring.core.definitions.paths import Workspace
from mooring.display.text import quote_argument
from mooring.errors import ConfigError
from mooring.host.host import Host
from mooring.inventory.admit import NotAdmitted


class DefinedAgent:
    """An agent by its definition, which is read again before each turn."""

    def __init__(self, workspace: Workspace, files: AgentFiles, definition: AgentDefinition) -> None:
        self._workspace = workspace
        self._files = files
        self.definition = definition
        self.taken_name: TakenName | None = None
        """The name of somebody else's that it has, as a project's; known from the first turn on."""

    async def refresh(self, conversation: Conversation) -> None:
        """Look at its file again: what it says counts from now on. If the file is gone, the agent stays as it was."""
        # In a thread: it looks at the disk, and a home may be on a slow one.
        found = await asyncio.to_thread(self._files.find)
        definition = found.get(self.definition.name)
        if definition is not None:
            self.taken_name = await asyncio.to_thread(TakenNames(self._workspace).find_agent, found, definition)
        if definition is not None and definition != self.definition:
            self.definition = definition
            conversation.narrow(apply_selection(definition.tools, None))

    def describe_missing(self, host: Host) -> list[str]:
        """The tools that it goes without because nothing offers them, each in one line."""
        by_server = host.tools_by_server
        offered = {name: by_server.get(name) for name in host.servers}
        unusable = {name: _suggest_use(name, refused) for name, refused in host.refused.items()}
        missing = find_missing_tools(self.definition, offered, unusable)
        return [describe_missing(self.definition.name, each) for each in missing]


def _suggest_use(name: str, refused: NotAdmitted) -> str:
    verb = "enable" if isinstance(refused.status, Disabled) else "approve"
    return f"mooring mcp {verb} {quote_argument(name)}"


async def find_defined_agent(
    host: Host, name: str | None, continued: SessionSummary | None = None
) -> DefinedAgent | None:
    """The agent that is named, else the one that a conversation which goes on was with; `None` if it is none.

    Raises: ConfigError if there is no such agent.
    """
    # In a thread: it looks at the disk, and a home may be on a slow one.
    return await asyncio.to_thread(_find_defined_agent, host.workspace, name, continued)


def _find_defined_agent(
    workspace: Workspace, name: str | None, continued: SessionSummary | None
) -> DefinedAgent | None:
    files = AgentFiles(workspace)
    if name is not None:
        return DefinedAgent(workspace, files, files.find().find(name))
    # Without this, an agent that may only read would go on with every tool.
    previous = None if continued is None else continued.agent
    if previous is None:
        return None
    definition = files.find().get(previous)
    if definition is None:
        hint = "Choose another with --agent NAME; `mooring agents` lists them."
        raise ConfigError(f"This conversation is with the agent {previous!r}, which is no longer defined.", hint)
    return DefinedAgent(workspace, files, definition)
