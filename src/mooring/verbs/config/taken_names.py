"""`mooring agents approve` and `reset`: the names that a project took, and which of them the person approved."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from mooring.agents.commands.find import CommandFiles
from mooring.agents.files.find import FoundAgents, find_agents
from mooring.agents.taken_names import TakenNames
from mooring.core.definitions.approved import TakenName
from mooring.core.definitions.paths import Workspace
from mooring.core.text.suggestions import nearest
from mooring.display.text import safe, short_path
from mooring.errors import ConfigError
from mooring.inventory.load import utc_timestamp
from mooring.permissions import trust
from mooring.verbs.config.rules import refuse_below_mooring
from mooring.verbs.verb import ShownLine, VerbResult


class ListedName(Struct, frozen=True):
    """A name that the project took."""

    taken: TakenName
    approved: bool


def list_taken_names(workspace: Workspace, agents: FoundAgents | None = None) -> tuple[ListedName, ...]:
    """Every name that a project's agent, command or skill took from the person's own or from Mooring's.

    `agents` are those that were found already.
    """
    names = TakenNames(workspace)
    agents = agents or find_agents(workspace)
    found = (*names.list_agents(agents), *names.list_commands(CommandFiles(workspace).find()))
    return tuple(ListedName(taken, names.is_approved(taken)) for taken in found)


def approve_taken_names(workspace: Workspace, names: Sequence[str]) -> VerbResult:
    """Record that the project's files may have these names as they are now.

    Raises: ConfigError if one of them is not taken; FileError if that can't be written.
    """
    refuse_below_mooring("mooring agents approve")
    found = _find(workspace, names)
    at = utc_timestamp()
    approved = [trust.NameApproval(each.project, each.kind, each.name, each.digest, at) for each in found]
    trust.approve_names(workspace.where, approved)
    return VerbResult({"approved": found}, _show_names("approved", found, workspace.where.home))


def reset_taken_names(workspace: Workspace, names: Sequence[str]) -> VerbResult:
    """Withdraw approvals of these names, and return those about which there was one.

    Raises: as `approve_taken_names`.
    """
    found = _find(workspace, names)
    where = workspace.where
    withdrawn = [each for each in found if trust.reset_names(where, each.project, each.kind, each.name)]
    nothing = ShownLine(f"Nothing was approved about {safe(', '.join(names))}.", is_note=True)
    return VerbResult({"reset": withdrawn}, _show_names("reset", withdrawn, where.home) if withdrawn else [nothing])


def _show_names(verb: str, done: Sequence[TakenName], home: str) -> Iterator[ShownLine]:
    for taken in done:
        yield ShownLine(f"{verb}: {taken.kind} {safe(taken.name)} ({safe(short_path(taken.path, home))})")


def _find(workspace: Workspace, names: Sequence[str]) -> tuple[TakenName, ...]:
    """What has these names: an agent and a command may share one. Raises: ConfigError."""
    every = [listed.taken for listed in list_taken_names(workspace)]
    found: list[TakenName] = []
    for name in names:
        wanted = name.removeprefix("/")
        meant = [taken for taken in every if taken.name == wanted]
        if not meant:
            raise _explain_unknown(name, [taken.name for taken in every])
        found += meant
    return tuple(found)


def _explain_unknown(name: str, taken: Sequence[str]) -> ConfigError:
    near = nearest(name, taken)
    hint = f"Did you mean {' or '.join(near)}?" if near else "`mooring agents` lists the names that it took."
    return ConfigError(f"No file of this project took the name {name!r} from one of yours or of Mooring's.", hint)
