"""What files and servers' skills say to the agent of one conversation, looked at again before each turn."""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from mooring.agents.commands.find import CommandFiles, write_server_skills, write_skills
from mooring.agents.instructions import FoundInstructions, LinkExit, collect_instructions, write_section
from mooring.agents.local.project_files import ProjectFiles
from mooring.conversation.conversation import Conversation
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.errors import Denied


class AgentWords:
    """The instruction files and skills that one conversation goes by."""

    def __init__(self, workspace: Workspace, on_problem: Callable[[Problem], None] = lambda problem: None) -> None:
        """`on_problem` is told once about each file that cannot be read."""
        self.commands = CommandFiles(workspace)
        self.sections: tuple[str, ...] = ()
        """What the system prompt says of them, as of the last look."""
        self._workspace = workspace
        self._on_problem = on_problem
        self._told: set[Problem] = set()
        self._agreed: dict[str, bool] = {}
        """Whether the person agreed that a link of the project leads to a file outside of it, by the file."""

    async def refresh(self, conversation: Conversation) -> None:
        """Look at the files again. A file that a rule keeps from being read is left out."""
        # In a thread: a home on a network disk that hangs must not stop everything else.
        found, commands = await asyncio.to_thread(lambda: (self._collect(), self.commands.find()))
        # What one file imports may have imports of its own.
        while await self._ask_about(conversation, found.exits):
            found = await asyncio.to_thread(self._collect)
        offered = await conversation.skills.list()
        files = [file for file in found.files if may_read(conversation, self._workspace, file.path)]
        skills = [each for each in commands.skills if may_read(conversation, self._workspace, each[1].path)]
        self.sections = (write_section(files, self._workspace.where), write_skills(skills))
        self.sections += (write_server_skills(offered),)
        self._tell((*found.problems, *commands.problems, *offered.problems))

    def _collect(self) -> FoundInstructions:
        return collect_instructions(self._workspace, [real for real, is_agreed in self._agreed.items() if is_agreed])

    async def _ask_about(self, conversation: Conversation, exits: tuple[LinkExit, ...]) -> bool:
        """Ask about links that lead out of the project, about each file once; whether one more may be followed."""
        is_changed = False
        for exit in exits:
            if exit.real not in self._agreed:
                self._agreed[exit.real] = await self._may_follow(conversation, exit)
                is_changed |= self._agreed[exit.real]
        return is_changed

    async def _may_follow(self, conversation: Conversation, exit: LinkExit) -> bool:
        workspace = ProjectFiles(self._workspace.where, self._workspace.cwd)
        access = workspace.assess_reading(workspace.resolve(exit.written))
        # The link may lead elsewhere by now: then the next look finds that.
        if access.subject != exit.real:
            return False
        try:
            await conversation.authorize_reading(access)
        except Denied:
            return False
        return True

    def _tell(self, problems: tuple[Problem, ...]) -> None:
        for problem in problems:
            if problem not in self._told:
                self._told.add(problem)
                self._on_problem(problem)


def may_read(conversation: Conversation, workspace: Workspace, path: str) -> bool:
    """Whether no rule is against reading a file. That nobody allowed it does not matter: no model chose it.

    Links that lead out of the project are judged where the files are found.
    """
    project = ProjectFiles(workspace.where, workspace.cwd)
    access = project.assess_reading(project.resolve(path))
    return conversation.may_open(replace(access, unless_named=""))
