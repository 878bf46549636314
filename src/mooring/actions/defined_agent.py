"""The agent that somebody names for a conversation, found among those that files define."""

import asyncio

from mooring.agents.definition import AgentDefinition
from mooring.agents.files.find import AgentFiles
from mooring.agents.missing_tools import describe_missing, find_missing_tools
from mooring.host.host import Host


class DefinedAgent:
    """An agent by its definition, which is read again when a turn begins."""

    def __init__(self, files: AgentFiles, definition: AgentDefinition) -> None:
        self._files = files
        self.definition = definition

    def read_role(self) -> str:
        """What the agent is told about itself now. If its file is gone, what it said last."""
        found = self._files.find().by_name.get(self.definition.name)
        if found is not None:
            self.definition = found
        return self.definition.prompt

    def describe_missing(self, host: Host) -> list[str]:
        """The tools that it goes without because nothing offers them, each in one line."""
        by_server = host.tools_by_server
        offered = {name: by_server.get(name) for name in host.servers}
        missing = find_missing_tools(self.definition, offered)
        return [describe_missing(self.definition.name, each) for each in missing]


async def find_defined_agent(host: Host, name: str) -> DefinedAgent:
    """The agent of that name. Raises: ConfigError if there is none."""
    files = AgentFiles(host.viewpoint)
    # In a thread: it looks at the disk, and a home may be on a slow one.
    found = await asyncio.to_thread(files.find)
    return DefinedAgent(files, found.find(name))
