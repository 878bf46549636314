"""Progress on stderr, while a command waits for servers."""

import sys
from collections.abc import Sequence
from os import get_terminal_size
from threading import Timer
from typing import Self

import click

from mooring.cli.base import Globals
from mooring.core.result import Progress
from mooring.display.text import safe

PATIENCE = 0.7
"""So many seconds of silence are bearable."""


class Ticker:
    """Progress on stderr: one line that changes in a terminal, a line for each step elsewhere.

    In a terminal, a start that takes its time is said as well: a first `npx` may download for a minute.
    """

    def __init__(self, options: Globals, server: str) -> None:
        self._quiet = options.quiet
        self._live = sys.stderr.isatty() and not options.quiet
        self._drawn = False
        self._starting = Timer(PATIENCE, self._draw, [f"starting {server} …"])

    def __enter__(self) -> Self:
        if self._live:
            self._starting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the line away: something else is to be shown."""
        self.on_connected()
        if self._drawn:
            self._draw("")
        self._drawn = False

    def on_connected(self) -> None:
        """It has started."""
        self._starting.cancel()
        if self._starting.is_alive():
            self._starting.join()

    def on_progress(self, step: Progress) -> None:
        if self._quiet:
            return
        total = f"/{step.total:g}" if step.total is not None else ""
        text = f"{step.progress:g}{total} {step.message or ''}".strip()
        if self._live:
            self._draw(text)
        else:
            click.echo(safe(text), err=True)

    def on_pending(self, names: Sequence[str]) -> None:
        """These are still on their way."""
        self.on_connected()
        if self._live:
            self._draw(f"connecting {', '.join(names)} …" if names else "")

    def _draw(self, text: str) -> None:
        self._drawn = True
        width = get_terminal_size(2)[0] or 80
        click.echo(f"\r\x1b[K{safe(text)[: width - 1]}", nl=False, err=True, color=True)
