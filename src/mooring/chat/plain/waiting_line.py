"""The line that shows that something is under way, and is drawn anew each second."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mooring.chat.view import ChatTerminal

_INTERVAL = 1.0


class WaitingLine:
    """Draws one line while something is awaited, wherever a line can be drawn anew."""

    def __init__(self, terminal: ChatTerminal, describe: Callable[[], str]) -> None:
        """`describe` makes the line; empty if something else stands there."""
        self._terminal = terminal
        self._describe = describe

    @contextmanager
    def drawn(self) -> Iterator[None]:
        """Draw it meanwhile."""
        drawing = asyncio.create_task(self._redraw())
        try:
            yield
        finally:
            drawing.cancel()
            self._terminal.clear_progress()

    async def _redraw(self) -> None:
        while True:
            self.draw()
            await asyncio.sleep(_INTERVAL)

    def draw(self) -> None:
        """Draw it now, unless somebody types in its place."""
        if not self._terminal.is_live or self._terminal.is_reading:
            return
        line = self._describe()
        if line:
            self._terminal.show_progress(line)
