"""Whether a definition may take effect."""

from typing import Literal, TypeAlias

Standing: TypeAlias = Literal["own", "approved", "rejected", "changed", "unseen"]
"""The person's own; a project's that they approved, refused, approved before it changed, or have not judged."""


def in_force(standing: Standing) -> bool:
    return standing in ("own", "approved")
