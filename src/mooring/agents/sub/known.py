"""The agents that an agent can start, as they were when its turn began."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from mooring.agents.definition import AgentDefinition
from mooring.agents.files.find import FoundAgents

FindAgents: TypeAlias = Callable[[], FoundAgents]
"""Finds the agents that are defined now."""


class KnownAgents:
    """The agents that can be started. Files are looked at once a turn, not whenever somebody looks."""

    def __init__(self, find: FindAgents) -> None:
        self._find = find
        self._found: FoundAgents | None = None

    @property
    def found(self) -> FoundAgents:
        """All of them: the same value until `refresh`."""
        if self._found is None:
            self._found = self._find()
        return self._found

    @property
    def by_name(self) -> Mapping[str, AgentDefinition]:
        """Each agent by its name."""
        return self.found.by_name

    def refresh(self) -> None:
        """Find out which agents there are now."""
        self._found = None


def select_agents(definitions: Iterable[AgentDefinition]) -> FoundAgents:
    """These agents, and no others."""
    every = tuple(definitions)
    return FoundAgents({definition.name: definition for definition in every}, every)
