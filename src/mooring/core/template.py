"""A configured string, parsed once: what is fixed in it and what is filled in when its server starts."""

from typing import Literal, TypeAlias

from msgspec import Struct

Unset: TypeAlias = Literal["literal", "empty", "omit", "error"]
"""What becomes of a variable that is not set: its text stays, it vanishes, the entry goes, the start fails."""


class TextPart(Struct, frozen=True, tag="TextPart"):
    """Characters that stand for themselves."""

    text: str


class VariablePart(Struct, frozen=True, tag="VariablePart"):
    """An environment variable, as in `${NAME:-default}`."""

    name: str
    default: str | None = None
    unset: Unset = "literal"


class FilePart(Struct, frozen=True, tag="FilePart"):
    """The trimmed contents of a file, as in `{file:~/.token}`."""

    path: str


class CommandPart(Struct, frozen=True, tag="CommandPart"):
    """What a shell command prints, as in `!op read …`."""

    line: "tuple[Part, ...]"


class InputPart(Struct, frozen=True, tag="InputPart"):
    """A value the person is asked for, as in `${input:token}`."""

    id: str
    description: str = ""
    default: str | None = None
    secret: bool = False
    options: tuple[str, ...] = ()


class KnownPart(Struct, frozen=True, tag="KnownPart"):
    """A place Mooring knows: the project's folder or the person's home."""

    place: Literal["workspace", "workspace-name", "home", "separator"]


class SecretPart(Struct, frozen=True, tag="SecretPart", omit_defaults=True):
    """A secret that a tool keeps under a name of its own, as in `${{ secrets.TOKEN }}`."""

    name: str
    keeper: str = ""
    """In whose store it is: a tool, or one plugin of a tool."""
    variable: bool = False
    """An environment variable of its name counts before the store."""


class ForeignPart(Struct, frozen=True, tag="ForeignPart"):
    """A placeholder only its own tool can fill, as in `${config:editor.tabSize}`."""

    text: str


Part: TypeAlias = TextPart | VariablePart | FilePart | CommandPart | InputPart | KnownPart | SecretPart | ForeignPart


class Template(Struct, frozen=True):
    """A string as it was written, and the parts it means.

    Two templates with equal parts mean the same, whatever dialect wrote them. The text can be a
    secret, so it never shows in a repr.
    """

    text: str
    parts: tuple[Part, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Template) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __repr__(self) -> str:
        return "Template(…)"

    @property
    def plain(self) -> str | None:
        """What it stands for where nothing in it is filled in later; `None` where something is."""
        match self.parts:
            case (TextPart(text),):
                return text
            case _:
                return None

    @property
    def variables(self) -> tuple[VariablePart, ...]:
        return tuple(part for part in self._flat() if isinstance(part, VariablePart))

    def _flat(self) -> tuple[Part, ...]:
        return tuple(
            inner for part in self.parts for inner in (part.line if isinstance(part, CommandPart) else (part,))
        )


def literal(text: str) -> Template:
    """The template that means exactly its text."""
    return Template(text, (TextPart(text),))
