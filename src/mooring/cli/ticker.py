"""Shows progress on stderr while a command waits for servers."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import get_terminal_size
from threading import Timer
from typing import Self

from mooring.cli.base import Globals, echo, say
from mooring.core.protocol.result import Progress
from mooring.display.text import safe
from mooring.tools.catalog.catalog import CatalogEntry

PATIENCE = 0.7
"""Seconds of silence after which a person is told what is being started."""


class Ticker:
    """Progress on stderr: one line that changes in a terminal, a line for each step elsewhere.

    In a terminal, a slow start is shown, too: a first `npx` may download for a minute.
    """

    def __init__(self, options: Globals, server: str) -> None:
        self._quiet = options.quiet
        self._live = sys.stderr.isatty() and not options.quiet
        self._drawn = False
        self._paused = False
        options.pause_progress = self.pause
        options.clear_progress = self.clear
        self._start_notice = f"starting {server} …"
        self._starting = self._make_timer()

    def __enter__(self) -> Self:
        if self._live:
            self._starting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Clear the line, so that something else can be printed."""
        self.on_connected()
        if self._drawn:
            self._draw("")
        self._drawn = False

    def wait_on(self) -> None:
        """Show the start again if it goes on, after something else was printed."""
        self.clear()
        if self._live:
            self._starting = self._make_timer()
            self._starting.start()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Draw nothing meanwhile: a person reads and types on that line."""
        self.clear()
        self._paused = True
        try:
            yield
        finally:
            self._paused = False

    def warn(self, text: str) -> None:
        """Print a warning on a line of its own."""
        self.clear()
        say(f"Warning: {safe(text)}", err=True)

    def on_guess(self, entry: CatalogEntry) -> None:
        """Say which tool is meant by a name without a server."""
        if not self._quiet:
            self.clear()
            echo(f"Using {safe(entry.server)}.{safe(entry.tool)}", err=True)

    def on_connected(self) -> None:
        """End the notice about the start."""
        self._starting.cancel()
        # The timer's thread may be drawing at this moment: what is printed next must come after it.
        if self._starting.is_alive():
            self._starting.join()

    def on_progress(self, step: Progress) -> None:
        """Show how far a call has come."""
        if self._quiet:
            return
        total = f"/{step.total:g}" if step.total is not None else ""
        text = f"{step.progress:g}{total} {step.message or ''}".strip()
        if self._live:
            self._draw(text)
        else:
            echo(safe(text), err=True)

    def show(self, text: str) -> None:
        """Show what is under way, where a line can be drawn anew."""
        self.on_connected()
        if self._live:
            self._draw(text)

    def on_pending(self, names: Sequence[str]) -> None:
        """Show which servers are still connecting."""
        self.show(f"connecting {', '.join(names)} …" if names else "")

    def _make_timer(self) -> Timer:
        return Timer(PATIENCE, self._draw, [self._start_notice])

    def _draw(self, text: str) -> None:
        if self._paused:
            return
        self._drawn = True
        # Cut to the terminal's width: a line that wraps could not be cleared.
        width = get_terminal_size(2)[0] or 80
        echo(f"\r\x1b[K{safe(text)[: width - 1]}", err=True, end="")
