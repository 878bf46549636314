"""What stands in a transcript besides replies: what the person said, notices, and the lines that commands print."""

import re
from collections.abc import Iterator, Sequence

from mooring.chat.screen.line import Line, Piece, Role, indent_lines
from mooring.chat.screen.stack import Block
from mooring.chat.screen.wrap import wrap_line, wrap_text
from mooring.display.text import safe_text

_PAINTED: dict[str, Role] = {
    "1": "strong",
    "2": "dim",
    "31": "failure",
    "32": "success",
    "33": "warning",
    "36": "link",
}
"""The roles of what `paint` makes."""
_TAB = 4


class Said(Block):
    """What the person said."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self._shown = safe_text(text)

    def make_lines(self, cells: int) -> Sequence[Line]:
        lines = wrap_text(self._shown, cells - 2, "person")
        return indent_lines(lines, (Piece("  "),), (Piece("❯ ", "person"),))

    def estimate(self, cells: int) -> int:
        return estimate_height(self._shown, cells)

    def write_source(self) -> str:
        return self._text


class LinesBlock(Block):
    """Lines that a command prints, safe to show; their colors are ours, made by `paint`."""

    role: Role = ""
    sign = ""

    def __init__(self, *lines: str, gap: int = 1) -> None:
        super().__init__()
        self.gap = gap
        self._lines = list(lines)

    def extend(self, *lines: str) -> None:
        """Some more lines."""
        self._lines += lines
        self.version += 1

    def make_lines(self, cells: int) -> Sequence[Line]:
        margin = (Piece(" " * len(self.sign)),) if self.sign else ()
        first = (Piece(self.sign, self.role),) if self.sign else ()
        made: list[Line] = []
        for text in self._lines:
            for each in text.split("\n"):
                made += wrap_line(Line(tuple(read_painted(each.expandtabs(_TAB), self.role))), cells - len(self.sign))
        return indent_lines(made, margin, first)

    def estimate(self, cells: int) -> int:
        return sum(estimate_height(line, cells) for line in self._lines)


class NoticeBlock(LinesBlock):
    """A quiet line about what happens."""

    role: Role = "dim"


class WarningBlock(LinesBlock):
    """What the person should know."""

    role: Role = "warning"
    sign = "! "


def read_painted(text: str, role: Role = "") -> Iterator[Piece]:
    """The pieces of a line that `paint` colored; of several styles, the last one."""
    current = role
    for number, part in enumerate(re.split(r"\x1b\[([0-9;]*)m", text)):
        if number % 2:
            codes = part.split(";")
            current = _PAINTED.get(codes[-1], role)
        elif part:
            yield Piece(part, current)


def estimate_height(text: str, cells: int) -> int:
    """About how many lines a text has."""
    return 1 + text.count("\n") + len(text) // max(1, cells)
