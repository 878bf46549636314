"""A widget that shows a few lines, as high as they are."""

from collections.abc import Sequence

from rich.text import Text
from textual.widgets import Static

from mooring.chat.screen.line import Line
from mooring.chat.screen.styles import Looks


class LinesWidget(Static):
    """Some lines; without any, it takes no room."""

    def __init__(self, looks: Looks, *, id: str) -> None:
        super().__init__(id=id, markup=False)
        self._looks = looks
        self._lines: Sequence[Line] = ()
        self.display = False

    def use_looks(self, looks: Looks) -> None:
        """Draw them in another theme."""
        self._looks = looks
        self.show(self._lines)

    def show(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        looks = self._looks
        text = Text("\n").join(
            Text.assemble(*((piece.text, looks.find(piece.role)) for piece in line.whole)) for line in lines
        )
        self.display = bool(lines)
        self.update(text)
