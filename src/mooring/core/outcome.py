"""What a model gets for a call, whatever was called and however it ended."""

from typing import TypeAlias

from msgspec import Struct

from mooring.core.content import Audio, Image, Text

Part: TypeAlias = Text | Image | Audio
"""What models take; everything else becomes text, or a file that a text points to."""


class Outcome(Struct, frozen=True):
    """How a call ended, as a model is told, and which tool it is from.

    The text is the server's. Make it safe (`mooring.display.text`) before showing it to a person: it may hold anything,
    including what would steer a terminal.
    """

    parts: tuple[Part, ...] = ()
    is_error: bool = False
    server: str | None = None
    """`None` for a tool that belongs to no server."""
    tool: str = ""
    """The raw name, never the one it is shown by."""
    origin: str = ""
    """Where the server comes from, in words."""
    file: str | None = None
    """The path of the whole text, if only its two ends are here."""
    continues: str | None = None
    """The id under which the call continues in the background, if it does."""
    notes: tuple[str, ...] = ()
    """How the arguments were read, wherever that differs from how they were written, or why they were not checked."""

    @property
    def text(self) -> str:
        """All its text, one part per line."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))
