"""What questions and forms need of a terminal: the chat's, or that of a single command."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias

Style: TypeAlias = Literal["bold", "dim", "red", "green", "yellow", "cyan"]
Completions: TypeAlias = Sequence[str] | Callable[[str], list[str]]
"""Whole lines that Tab can complete to, or what finds them for a line that was begun."""


class Interrupted(Exception):
    """Ctrl+C instead of a line."""


class Ended(Exception):
    """Ctrl+D instead of a line: there will be no more."""


class DialogTerminal(Protocol):
    """Reads lines that a person types, and shows them some."""

    @property
    def dialog(self) -> asyncio.Lock:
        """Held by whoever talks with the person: two questions at once would mix."""

    @property
    def is_reading(self) -> bool:
        """Whether somebody may be typing just now."""

    async def read_line(
        self,
        prompt: str,
        *,
        secret: bool = False,
        complete: Completions = (),
        keep: bool = False,
        fresh: bool = False,
    ) -> str:
        """What a person types; `keep` puts it into the history, `complete` is what Tab offers.

        With `fresh`, what was typed before is forgotten: it was not meant as the answer to a question.

        Raises: Interrupted, Ended.
        """

    def say(self, text: str = "") -> None:
        """Show some lines."""

    def style(self, text: str, *styles: Style) -> str:
        """The text in a color or weight, if the terminal has them."""
