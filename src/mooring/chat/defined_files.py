"""What files define for one chat: commands, agents, and the words that whoever answers goes by."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from mooring.agents.commands.find import FoundCommands
from mooring.agents.files.find import AgentFiles, FoundAgents
from mooring.core.definitions.paths import Workspace
from mooring.display.text import problem_line
from mooring.verbs.agent.words import AgentWords

if TYPE_CHECKING:
    from mooring.verbs.agent.agents import AgentListing


class DefinedFiles:
    """The commands and agents of a chat as of the last look: their files may change at any time."""

    def __init__(self, workspace: Workspace, notice: Callable[[str], None]) -> None:
        self._workspace = workspace
        self.words = AgentWords(workspace, lambda problem: notice(problem_line(problem, workspace.where.home)))
        self.commands = FoundCommands()
        self.agents = FoundAgents({}, ())
        self._agent_files = AgentFiles(workspace)

    async def look(self) -> None:
        """Look for the commands and the agents again."""
        self.commands = await asyncio.to_thread(self.words.commands.find)
        self.agents = await asyncio.to_thread(self._agent_files.find)

    async def list_agents(self) -> "AgentListing":
        """The agents with where each is from, and what is wrong with their files."""
        from mooring.inventory.load import load
        from mooring.verbs.agent.agents import list_agents  # few chats ask for them

        return await asyncio.to_thread(lambda: list_agents(self._workspace, load(self._workspace)))
