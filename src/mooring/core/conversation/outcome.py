"""What a model gets for a call, whatever was called and however it ended."""

from typing import Any, TypeAlias

from msgspec import Struct, json
from msgspec.structs import replace

from mooring.core.protocol.content import Audio, Image, Text, make_html
from mooring.core.protocol.result import Result, describe_blocks

Part: TypeAlias = Text | Image | Audio
"""What models take; everything else becomes text, or a file that a text points to."""


class Excerpt(Struct, frozen=True):
    """The two ends of a text that is too long, in the words that a person reads."""

    head: str
    tail: str
    left_out: str
    """How much is missing between them."""
    whole: str
    """Where the whole is."""


class KeptMedia(Struct, frozen=True):
    """An image, or anything else that isn't text, in a file of ours."""

    path: str
    kind: str
    """Its media type, as whoever sent it says; may be empty."""
    words: str
    """What stands for it where there is only text."""

    @property
    def is_image(self) -> bool:
        return self.kind.startswith("image/")


class CallRefusal(Struct, frozen=True):
    """Why a call was not made."""

    reason: str
    rule: str = ""
    """The rule, or the option, that would allow it; empty if none would."""


class Outcome(Struct, frozen=True):
    """How a call ended, in the form that a model gets, and which tool it is from.

    The text is the server's. Make it safe (`mooring.display.text`) before showing it to a person: it may hold anything,
    including characters that control a terminal.
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
    excerpt: Excerpt | None = None
    """The two ends for a person; what the parts hold of such a text has advice for a model in it."""
    for_person: str = ""
    """What a person reads in place of the text, where that is written for a model."""
    refusal: CallRefusal | None = None
    """Why the call was not made, if it may not be."""
    kept: tuple[KeptMedia, ...] = ()
    """What is in files, because whoever called doesn't take it as it is."""
    continues: str | None = None
    """The id under which the call continues in the background, if it does."""
    notes: tuple[str, ...] = ()
    """How the arguments were read, wherever that differs from how they were written, or why they were not checked."""
    structured: Any = None
    """The structured content of the result, as plain data, if there is any."""
    result: Result | None = None
    """The whole result, with everything that `parts` left out or cut; `None` where the call itself failed."""

    @property
    def text(self) -> str:
        """All its text, one part per line."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    def __repr__(self) -> str:
        tool = self.tool if self.server is None else f"{self.server}.{self.tool}"
        error = "error, " if self.is_error else ""
        return f"<Outcome of {tool}: {error}{describe_blocks(self.parts)}>"

    def _repr_html_(self) -> str:
        return make_html(self.parts)

    def as_dict(self) -> dict[str, Any]:
        """Everything but the whole result, as plain data that is valid JSON."""
        plain: dict[str, Any] = json.decode(json.encode(replace(self, result=None)))
        del plain["result"]
        return plain
