"""The words for a status, apart from what is known in each: a listing needs nothing else of it."""

from typing import Literal, TypeAlias

StatusWord: TypeAlias = Literal[
    "connected",
    "idle",
    "pending",
    "unapproved",
    "rejected",
    "failed",
    "disabled",
    "needs-auth",
    "needs-input",
    "unknown",
]
"""What a status is called in JSON output, where other programs rely on it."""
