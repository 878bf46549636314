"""What a model gets for a call, whatever it called and however that ended."""

from typing import TypeAlias

from msgspec import Struct

from mooring.core.content import Audio, Image, Text

Part: TypeAlias = Text | Image | Audio
"""What models take; everything else is put into words, or into a file that words lead to."""


class Outcome(Struct, frozen=True):
    """The end of a call as a model is told it, and where it comes from.

    The words are the server's: to be shown to a person only after making them safe.
    """

    parts: tuple[Part, ...] = ()
    is_error: bool = False
    server: str | None = None
    """`None` for one of Mooring's own tools."""
    tool: str = ""
    """The raw name, never the shown one."""
    origin: str = ""
    """Where the server comes from, in words."""
    file: str | None = None
    """The whole text, where only its two ends are here."""
    continues: str | None = None
    """The id under which the call goes on in the background, where it does."""
    notes: tuple[str, ...] = ()
    """How the arguments were read, where that was not as they were written."""

    @property
    def text(self) -> str:
        """All its text, one part a line."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))
