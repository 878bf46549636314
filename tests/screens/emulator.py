"""A terminal in memory: pyte, with what it lacks of the terminals that people use."""

import re
from collections.abc import Callable
from typing import Any

import pyte
from pyte.screens import Char

_ALTERNATE = 1049
_UNREAD = re.compile(r"\x1b\[[<>=][\d;]*[A-Za-z]")
"""Sequences that pyte takes for others: of the keyboard protocol and of xterm's own."""
_BEGUN = re.compile(r"\x1b(?:\[[<>=\d;]*)?\Z")


class Emulator(pyte.Screen):
    """Has an alternate screen, and answers what the program asks its terminal."""

    def __init__(self, cells: int, rows: int, answer: Callable[[str], None]) -> None:
        self._normal: tuple[dict[int, Any], int, int] | None = None
        self._answer = answer
        super().__init__(cells, rows)
        self._stream = pyte.Stream(self)
        self._rest = ""

    def feed(self, text: str) -> None:
        """Draw what a program wrote."""
        text = self._rest + text
        begun = _BEGUN.search(text)
        self._rest = "" if begun is None else begun[0]
        text = text if begun is None else text[: begun.start()]
        self._stream.feed(_UNREAD.sub("", text))

    @property
    def is_alternate(self) -> bool:
        """Whether a program has the whole screen."""
        return self._normal is not None

    @property
    def shown(self) -> list[str]:
        """What stands on it, line by line."""
        return ["".join(cell.data for cell in row).rstrip() for row in self.grid]

    @property
    def grid(self) -> list[list[Char]]:
        """Every cell, with its looks."""
        return [[self.buffer[y][x] for x in range(self.columns)] for y in range(self.lines)]

    def set_mode(self, *modes: int, **options: Any) -> None:
        super().set_mode(*modes, **options)
        if _ALTERNATE in modes and options.get("private") and self._normal is None:
            rows = {y: dict(self.buffer[y]) for y in range(self.lines)}
            self._normal = rows, self.cursor.x, self.cursor.y
            self.erase_in_display(2)

    def reset_mode(self, *modes: int, **options: Any) -> None:
        super().reset_mode(*modes, **options)
        if _ALTERNATE in modes and options.get("private") and self._normal is not None:
            rows, self.cursor.x, self.cursor.y = self._normal
            self._normal = None
            self.cursor.y = min(self.cursor.y, self.lines - 1)
            self.buffer.clear()
            for y, row in rows.items():
                self.buffer[y].update(row)

    def write_process_input(self, data: str) -> None:
        self._answer(data)
