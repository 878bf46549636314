"""How much a model is asked to think before it answers."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

Effort: TypeAlias = Literal["low", "medium", "high"]

EFFORTS: tuple[Effort, ...] = ("low", "medium", "high")


def find_nearest_effort(wanted: Effort, offered: Sequence[Effort]) -> Effort:
    """The effort that comes nearest to the one that is wanted, of those that a model has; of two, the lower one."""
    place = EFFORTS.index(wanted)
    return min(offered, key=lambda effort: (abs(EFFORTS.index(effort) - place), EFFORTS.index(effort)))


class EffortWish(Struct, frozen=True):
    """How much a model is to think, as somebody chose it for a conversation."""

    level: Effort | None = None
    """`None` for as much as the model does by itself."""
    is_required: bool = False
    """Whether a model that has no such choice is refused. Otherwise the wish is left out."""
