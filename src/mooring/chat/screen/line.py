"""A line as the screen draws it: pieces of text, each with a role to which a theme gives its looks."""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.display.text import width

Role: TypeAlias = Literal[
    "",
    "dim",
    "strong",
    "emphasis",
    "strike",
    "heading",
    "link",
    "accent",
    "code",
    "rule",
    "mark",
    "person",
    "success",
    "failure",
    "warning",
    "running",
    "added",
    "removed",
    "code.text",
    "code.keyword",
    "code.string",
    "code.number",
    "code.comment",
    "code.name",
    "code.type",
    "code.operator",
]
"""What a piece of text is. `mark` is a sign that Mooring draws, `rule` a line between things."""


# None of the three is of interest to the garbage collector, which would look at each piece of a long reply again and
# again.


class Ink(Struct, frozen=True, gc=False):
    """Colors that no theme decides, each as in `0xFF8800`: those of a picture."""

    color: int
    background: int | None = None


class Piece(Struct, frozen=True, gc=False):
    """Some text of one role."""

    text: str
    role: Role = ""
    link: str = ""
    """The address that it leads to."""
    ink: Ink | None = None
    """Its own colors, in place of those of the role."""


class Line(Struct, frozen=True, gc=False):
    """One line of the screen, already safe to show."""

    pieces: tuple[Piece, ...]
    margin: tuple[Piece, ...] = ()
    """What stands before it and is not copied: a sign, an indent, the bar of a quotation."""
    glue: str | None = None
    """What stood between this line and the next, where the text was wrapped; `None` at the end of a line of its own."""

    @property
    def text(self) -> str:
        """What is copied of it."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def whole(self) -> tuple[Piece, ...]:
        """Everything that is drawn."""
        return (*self.margin, *self.pieces)

    @property
    def cells(self) -> int:
        return sum(width(piece.text) for piece in self.whole)


def make_line(text: str, role: Role = "") -> Line:
    """A line of one piece; `text` is safe to show."""
    return Line((Piece(text, role),) if text else ())


def join_lines(lines: Iterable[Line]) -> str:
    """The text of some lines as it was before it was wrapped."""
    joined: list[str] = []
    for line in lines:
        joined.append(line.text)
        joined.append("\n" if line.glue is None else line.glue)
    return "".join(joined[:-1])


def indent_lines(
    lines: Sequence[Line], margin: tuple[Piece, ...], first: tuple[Piece, ...] | None = None
) -> list[Line]:
    """The lines further in; the first one begins with a margin of its own if one is given."""
    indented = []
    for number, line in enumerate(lines):
        lead = margin if number or first is None else first
        indented.append(Line(line.pieces, (*lead, *line.margin), line.glue))
    return indented
