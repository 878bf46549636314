"""The agents that an agent can start, as they were when its turn began."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from mooring.agents.definition import AgentDefinition
from mooring.core.near import nearest
from mooring.errors import ConfigError

FindAgents: TypeAlias = Callable[[], Mapping[str, AgentDefinition]]
"""Finds the agents that are defined now, by name."""


GENERAL = AgentDefinition(
    name="general-purpose",
    description="Works on any task that takes several steps, with all tools that are there.",
    prompt="You are a sub-agent: another agent gave you one task. Do it with the tools you have, and answer once.",
)


class KnownAgents:
    """The agents that can be started. Files are looked at once a turn, not whenever somebody looks."""

    def __init__(self, find: FindAgents) -> None:
        self._find = find
        self._found: Mapping[str, AgentDefinition] | None = None

    @property
    def by_name(self) -> Mapping[str, AgentDefinition]:
        """Each agent by its name: the same mapping until `refresh`."""
        if self._found is None:
            self._found = self._find()
        return self._found

    def refresh(self) -> None:
        """Find out which agents there are now."""
        self._found = None

    def find(self, name: str) -> AgentDefinition:
        """The agent of that name, ignoring case. Raises: ConfigError."""
        exact = self.by_name.get(name)
        if exact is not None:
            return exact
        alike = [known for known in self.by_name if known.casefold() == name.casefold()]
        if len(alike) == 1:
            return self.by_name[alike[0]]
        raise ConfigError(f"There is no agent {name!r}.", self._suggest(name))

    def _suggest(self, name: str) -> str:
        near = nearest(name.casefold(), self.by_name)
        if near:
            return f"Did you mean {' or '.join(near)}?"
        return f"The agents are {', '.join(self.by_name)}." if self.by_name else "No agent is defined."
