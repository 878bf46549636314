"""How much a model is asked to think before it answers."""

from typing import Literal, TypeAlias

from msgspec import Struct

Effort: TypeAlias = Literal["low", "medium", "high"]

EFFORTS: tuple[Effort, ...] = ("low", "medium", "high")


class EffortWish(Struct, frozen=True):
    """How much a model is to think, as somebody chose it for a conversation."""

    level: Effort | None = None
    """`None` for as much as the model does by itself."""
    is_required: bool = False
    """Whether a model that has no such choice is refused. Otherwise the wish is left out."""
