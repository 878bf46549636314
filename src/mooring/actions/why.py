"""`why`: which definitions of a name exist, which one wins, and by which rule."""

from msgspec import Struct

from mooring.actions.differences import Difference, list_differences
from mooring.core.approved import Standing
from mooring.core.config import Broken
from mooring.discovery.choose import explain
from mooring.discovery.scan import RankedDefinition
from mooring.inventory.load import Inventory, RowSource, describe_source


class Candidate(Struct, frozen=True, rename="camel"):
    """One definition of the name and why it wins or does not."""

    source: RowSource
    key: tuple[str | int, ...]
    wins: bool
    standing: str
    reason: str
    adopted_from: str | None = None
    """The tool that recorded the approval, if it was adopted from there."""
    trusted_by: str | None = None
    """Where another tool lets it start: information only."""
    differences: tuple[Difference, ...] = ()
    """What it would start or reach differently than the one that wins."""


class Reasons(Struct, frozen=True):
    """Every definition of one name, highest first, and the other names of the same connection."""

    name: str
    candidates: tuple[Candidate, ...]
    aliases: tuple[str, ...]


def explain_choice(inventory: Inventory, name: str) -> Reasons:
    """Every definition of a name, highest first.

    Raises:
        UnknownServer: no server has that name.
    """
    choice = inventory.find(name)
    definitions = [choice.definition, *choice.shadowed]
    # What an unapproved project proposes ranks above the person's own, and still does not win.
    if choice.proposed:
        definitions.append(choice.proposed)
    ranked = sorted(definitions, key=lambda definition: definition.rank)
    candidates = tuple(_describe_candidate(inventory, choice.definition, definition) for definition in ranked)
    return Reasons(choice.name, candidates, choice.aliases)


def _describe_candidate(inventory: Inventory, winner: RankedDefinition, definition: RankedDefinition) -> Candidate:
    standing = inventory.standing(definition)
    wins = definition is winner
    reason = _describe_winner(definition, standing) if wins else explain(winner, definition, standing)
    return Candidate(
        describe_source(definition.origin),
        definition.origin.key,
        wins,
        standing,
        reason,
        adopted_from=inventory.adopted_from(definition),
        trusted_by=definition.trusted_by,
        differences=list_differences(winner.config, definition.config),
    )


def _describe_winner(definition: RankedDefinition, standing: Standing) -> str:
    config = definition.config
    if config.disabled_by:
        return f"wins, but is disabled by {config.disabled_by}"
    if isinstance(config, Broken):
        return f"wins, but cannot be used: it {config.problem.message}"
    return _STANDINGS[standing]


_STANDINGS: dict[Standing, str] = {
    "own": "wins",
    "approved": "wins",
    "rejected": "does not start: you rejected it for this project",
    "changed": "does not start: it changed since you decided about it",
    "unseen": "does not start: it comes from the project and is not approved",
}
"""What a definition that no other one displaces comes to."""
