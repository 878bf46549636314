"""All agents that can be used from a folder: which one a name means, which others it stands before, what is wrong."""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from mooring.agents.builtin_agents import BUILTIN_AGENTS
from mooring.agents.definition import AgentDefinition, AgentScope
from mooring.agents.files.places import list_agent_folders
from mooring.agents.files.read import LARGEST, ReadAgent, read_agent
from mooring.agents.files.walk import AgentPath, list_agent_files
from mooring.agents.unchanged import FileStamp, UnchangedFiles, stamp_file
from mooring.core.definitions.paths import Viewpoint
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.units import MIB
from mooring.core.text.suggestions import nearest
from mooring.errors import ConfigError

SCOPES: tuple[AgentScope, ...] = get_args(AgentScope)
MOST_BYTES = 64 * MIB
"""How much of agent files is read in all: a repository must not be able to fill the memory."""


class FoundAgents(Struct, frozen=True, dict=True):
    """The agents of one folder."""

    by_name: Mapping[str, AgentDefinition]
    """The one that each name means."""
    all: tuple[AgentDefinition, ...]
    """Those and the ones that they shadow, highest first."""
    problems: tuple[Problem, ...] = ()

    def get(self, name: str) -> AgentDefinition | None:
        """The agent of exactly that name; `user:NAME` and `builtin:NAME` mean those that a project's stands before."""
        scope, colon, rest = name.partition(":")
        if not colon or scope not in SCOPES:
            return self.by_name.get(name)
        found = next((each for each in self.all if each.origin.scope == scope and each.name == rest), None)
        # Under the name that was used, so that it is the same one when it is looked for again.
        return None if found is None else replace(found, name=name)

    def find(self, name: str) -> AgentDefinition:
        """The agent of that name. Raises: ConfigError."""
        found = self.get(name)
        if found is not None:
            return found
        alike = [other for other in self.by_name if other.casefold() == name.casefold()]
        if len(alike) == 1:
            return self.by_name[alike[0]]
        near = alike or nearest(name, self.by_name)
        guess = f"Did you mean {' or '.join(near)}?" if near else "`mooring agents` lists them."
        raise ConfigError(f"There is no agent named {name!r}. {guess}")

    def find_taken(self, definition: AgentDefinition) -> AgentDefinition | None:
        """The person's agent, or Mooring's, whose name a project's agent has taken; `None` if it has taken none."""
        if definition.origin.scope != "project" or self.by_name.get(definition.name) is not definition:
            return None
        # In any case, as names are found.
        return self._foreign.get(definition.name.casefold())

    def list_shadowed(self, name: str) -> list[AgentDefinition]:
        """The definitions that would be used if the one of that name were gone, highest first."""
        return self._shadowed.get(name, [])

    @cached_property
    def _foreign(self) -> dict[str, AgentDefinition]:
        """The highest of each name that is not the project's."""
        others = [each for each in self.all if each.origin.scope != "project"]
        return {each.name.casefold(): each for each in reversed(others)}

    @cached_property
    def _shadowed(self) -> dict[str, list[AgentDefinition]]:
        # Grouped once: a listing asks for every name, and looking through all of them for each would be quadratic.
        groups: dict[str, list[AgentDefinition]] = {}
        for each in self.all:
            if each is not self.by_name[each.name]:
                groups.setdefault(each.name, []).append(each)
        return groups


class AgentFiles:
    """Looks for agents again and again; a file that has not changed is not read again."""

    def __init__(self, viewpoint: Viewpoint) -> None:
        self._viewpoint = viewpoint
        self._unchanged = UnchangedFiles[ReadAgent]()
        self._stamps: object = None
        self._found = FoundAgents({}, ())

    def find(self) -> FoundAgents:
        """What there is now. Looks at the disk; never raises for what files hold."""
        listed = [each for folder in list_agent_folders(self._viewpoint) for each in list_agent_files(folder)]
        stamps = [(each, _stamp(each)) for each in listed]
        if stamps != self._stamps:
            self._found = self._look_again(stamps)
            self._stamps = stamps
        return self._found

    def _look_again(self, stamps: list[tuple[AgentPath | Problem, FileStamp | None]]) -> FoundAgents:
        self._unchanged.begin()
        definitions: list[AgentDefinition] = []
        problems: list[Problem] = []
        left = MOST_BYTES
        for place, stamp in stamps:
            if isinstance(place, Problem):
                problems.append(place)
                continue
            if stamp is None:  # it is gone by now
                continue
            left -= min(stamp[1], LARGEST)
            if left < 0:
                problems.append(_say_too_much(place))
                break
            read = self._unchanged.read(place.path, stamp, partial(read_agent, place))
            problems += read.problems
            if read.definition is not None:
                definitions.append(read.definition)
        return _choose([*definitions, *BUILTIN_AGENTS], problems)


def find_agents(viewpoint: Viewpoint) -> FoundAgents:
    """The agents that can be used from a folder. Whoever asks again keeps an `AgentFiles`, which is cheaper."""
    return AgentFiles(viewpoint).find()


def _stamp(place: AgentPath | Problem) -> FileStamp | None:
    return None if isinstance(place, Problem) else stamp_file(place.path)


def _say_too_much(place: AgentPath) -> Problem:
    return Problem(
        place.path,
        f"Agent files are larger than {MOST_BYTES // MIB} MiB together; this one and those after it are left out",
        "remove those that you don't need",
    )


def _choose(definitions: Iterable[AgentDefinition], problems: list[Problem]) -> FoundAgents:
    """Let the first of each name win: they are in the order of their rank."""
    every: list[AgentDefinition] = []
    by_name: dict[str, AgentDefinition] = {}
    for definition in definitions:
        if definition.name.partition(":")[0] in SCOPES and ":" in definition.name:
            message = f"No agent can be named {definition.name!r}: that name says whose agent is meant"
            problems.append(Problem(definition.origin.path, message, "give it another name"))
            continue
        every.append(definition)
        winner = by_name.setdefault(definition.name, definition)
        problems += _report_twin(winner, definition)
    return FoundAgents(by_name, tuple(every), tuple(problems))


def _report_twin(winner: AgentDefinition, other: AgentDefinition) -> Iterator[Problem]:
    """Two files of one folder with the same name are a slip; across places, shadowing is what people want."""
    one, two = winner.origin, other.origin
    if winner is other or (one.scope, one.format) != (two.scope, two.format) or not two.path:
        return
    if os.path.dirname(one.path) == os.path.dirname(two.path):
        message = f"Another file of its folder defines {other.name!r} too, and wins: {os.path.basename(one.path)}"
        yield Problem(two.path, message, "give one of them another name", level="warning")
