"""The names that a project's agents, commands and skills take from the person's own and from Mooring's."""

from collections.abc import Iterator
from functools import cached_property

from mooring.agents.commands.find import FoundCommands
from mooring.agents.definition import AgentDefinition
from mooring.agents.files.find import FoundAgents
from mooring.core.definitions.approved import NamedKind, TakenName
from mooring.core.definitions.paths import Workspace
from mooring.permissions import trust
from mooring.settings import find_project_folders


class TakenNames:
    """What a project took, by the person's record of approvals at this moment. Looks at the disk; make one per look."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def find_agent(self, found: FoundAgents, definition: AgentDefinition) -> TakenName | None:
        """What a use of this agent has to say; `None` if it took no name, or the person approved it."""
        taken = self._describe_agent(found, definition)
        return None if taken is None or self.is_approved(taken) else taken

    def find_command(self, found: FoundCommands, name: str) -> TakenName | None:
        """The same for a command or a skill, by the name that was used."""
        taken = self._describe_command(found, name)
        return None if taken is None or self.is_approved(taken) else taken

    def list_agents(self, found: FoundAgents) -> Iterator[TakenName]:
        """Every name that an agent took, approved or not."""
        described = (self._describe_agent(found, definition) for definition in found.by_name.values())
        return (taken for taken in described if taken is not None)

    def list_commands(self, found: FoundCommands) -> Iterator[TakenName]:
        """Every command and skill that took a name, approved or not."""
        described = (self._describe_command(found, name) for name in found.taken)
        # One with several names is one file, and approved once.
        by_path = {taken.path: taken for taken in described if taken is not None}
        return iter(by_path.values())

    def is_approved(self, taken: TakenName) -> bool:
        """Whether the person approved what the project's file says now."""
        return taken.digest in self._list_approved(taken.kind, taken.name)

    def _describe_agent(self, found: FoundAgents, definition: AgentDefinition) -> TakenName | None:
        other = found.find_taken(definition)
        if other is None:
            return None
        origin = definition.origin
        reached_by = f"{other.origin.scope}:{other.name}"
        return self._describe("agent", definition.name, origin.path, origin.digest, reached_by)

    def _describe_command(self, found: FoundCommands, name: str) -> TakenName | None:
        other = found.taken.get(name)
        if other is None:
            return None
        command = found.by_name[name]
        kind: NamedKind = "skill" if command.is_skill else "command"
        reached_by = found.names.get(other.path, f"user:{other.name}")
        return self._describe(kind, found.names[command.path], command.path, command.digest, reached_by)

    def _describe(self, kind: NamedKind, name: str, path: str, digest: str, instead_of: str) -> TakenName:
        approved = self._list_approved(kind, name)
        is_changed = bool(approved) and digest not in approved
        return TakenName(self._project, kind, name, path, digest, instead_of, is_changed)

    def _list_approved(self, kind: NamedKind, name: str) -> tuple[str, ...]:
        return self._record.list_name_digests(self._project, kind, name)

    @cached_property
    def _project(self) -> str:
        return trust.identify_project(find_project_folders(self._workspace.where, self._workspace.cwd)[-1])

    @cached_property
    def _record(self) -> trust.ApprovalRecord:
        # One that cannot be read approves nothing; whatever lists servers says so.
        return trust.load(self._workspace.where)[0]
