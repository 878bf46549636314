"""What is wrong with a configuration, as a value: a face decides how loudly to say it."""

from typing import Literal, TypeAlias

from msgspec import Struct

Level: TypeAlias = Literal["error", "warning", "note"]


class Problem(Struct, frozen=True):
    """One thing wrong at one place.

    `message` says what was found and expected, never a value that could be a secret; `hint` says what to do.
    """

    path: str | None
    message: str
    hint: str = ""
    server: str | None = None
    line: int | None = None
    level: Level = "error"
