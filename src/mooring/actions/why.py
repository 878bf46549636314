"""`why`: which definitions of a name exist, which one counts, and by which rule."""

from msgspec import Struct

from mooring.actions.list import RowSource, source
from mooring.core.config import Broken
from mooring.discovery.choose import explain
from mooring.discovery.scan import RankedDefinition
from mooring.inventory.load import Inventory


class Candidate(Struct, frozen=True):
    """One definition of the name and why it counts or does not."""

    source: RowSource
    key: tuple[str | int, ...]
    wins: bool
    standing: str
    reason: str


class Reasons(Struct, frozen=True):
    name: str
    candidates: tuple[Candidate, ...]
    aliases: tuple[str, ...]


def why(inventory: Inventory, name: str) -> Reasons:
    """Every definition of a name, highest first.

    Raises:
        UnknownServer: nothing goes by that name.
    """
    choice = inventory.find(name)
    others = [*choice.shadowed, *([choice.proposed] if choice.proposed else [])]
    everyone = sorted([choice.definition, *others], key=lambda definition: definition.rank)
    candidates = tuple(_candidate(inventory, choice.definition, definition) for definition in everyone)
    return Reasons(choice.name, candidates, choice.aliases)


def _candidate(inventory: Inventory, winner: RankedDefinition, definition: RankedDefinition) -> Candidate:
    standing = inventory.standing(definition)
    wins = definition is winner
    reason = _state(definition) if wins else explain(winner, definition, standing)
    return Candidate(source(definition.origin), definition.origin.key, wins, standing, reason)


def _state(definition: RankedDefinition) -> str:
    config = definition.config
    if config.disabled_by:
        return f"counts, and is switched off by {config.disabled_by}"
    if isinstance(config, Broken):
        return f"counts, though it cannot be used: it {config.problem.message}"
    return "counts"
