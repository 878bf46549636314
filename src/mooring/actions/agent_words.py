"""What files and servers' skills say to the agent of one conversation, looked at again before each turn."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from mooring.agents.commands.find import CommandFiles, FoundCommands
from mooring.agents.commands.section import write_server_skills, write_skills
from mooring.agents.instructions.collect import FoundInstructions, collect_instructions
from mooring.agents.instructions.section import write_section
from mooring.agents.local.workspace import Workspace
from mooring.core.problem import Problem
from mooring.core.where import Viewpoint
from mooring.tools.registry import Registry

OnProblem: TypeAlias = Callable[[Problem], None]


class AgentWords:
    """The instruction files and skills that one conversation goes by."""

    def __init__(self, viewpoint: Viewpoint, on_problem: OnProblem | None = None) -> None:
        """`on_problem` is told once about each file that cannot be read."""
        self.commands = CommandFiles(viewpoint)
        self.sections: tuple[str, ...] = ()
        """What the system prompt says of them, as of the last look."""
        self._viewpoint = viewpoint
        self._on_problem = on_problem
        self._told: set[Problem] = set()

    async def refresh(self, registry: Registry) -> None:
        """Look at the files again. A file that a rule keeps from being read is left out."""
        # In a thread: a home on a network disk that hangs must not stop everything else.
        found, commands = await asyncio.to_thread(self._look)
        offered = await registry.skills.list()
        files = [file for file in found.files if may_read(registry, self._viewpoint, file.path)]
        skills = [each for each in commands.skills if may_read(registry, self._viewpoint, each[1].path)]
        self.sections = (write_section(files, self._viewpoint.where), write_skills(skills))
        self.sections += (write_server_skills(offered),)
        self._tell((*found.problems, *commands.problems, *offered.problems))

    def _look(self) -> tuple[FoundInstructions, FoundCommands]:
        return collect_instructions(self._viewpoint), self.commands.find()

    def _tell(self, problems: tuple[Problem, ...]) -> None:
        for problem in problems:
            if self._on_problem is not None and problem not in self._told:
                self._told.add(problem)
                self._on_problem(problem)


def may_read(registry: Registry, viewpoint: Viewpoint, path: str) -> bool:
    """Whether no rule is against reading a file. That nobody allowed it does not matter: no model chose it."""
    workspace = Workspace(viewpoint.where, viewpoint.cwd)
    return registry.may_open(workspace.assess_reading(workspace.resolve(path)))
