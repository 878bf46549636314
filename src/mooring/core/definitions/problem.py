"""Something that is wrong, as a value: the code that shows it decides how prominently."""

from typing import Literal, TypeAlias

from msgspec import Struct

Severity: TypeAlias = Literal["error", "warning", "note"]


class Problem(Struct, frozen=True):
    """One thing that is wrong in one place.

    `message` says what was found and what was expected, never a value that could be a secret; `hint` says what to do.
    """

    path: str | None
    message: str
    hint: str = ""
    server: str | None = None
    line: int | None = None
    level: Severity = "error"
    hides_servers: bool = False
    """Servers may be defined there that are not known."""
