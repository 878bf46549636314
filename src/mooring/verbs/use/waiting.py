"""What an action and the face that called it exchange while it runs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from mooring.core.protocol.result import Progress
from mooring.core.protocol.tool import Tool
from mooring.tools.catalog.catalog import CatalogEntry

Fill: TypeAlias = Callable[[str, Tool, Sequence[str]], Mapping[str, Any]]
"""Makes the arguments of a call for a server's tool from the words that were typed, guided by its schema."""


class Watcher(Protocol):
    """Follows a call while a face waits for it."""

    def on_guess(self, entry: CatalogEntry) -> None:
        """The tool was named without its server, and this one is meant."""

    def on_connected(self) -> None:
        """The server is up."""

    def on_progress(self, step: Progress) -> None:
        """The call made progress."""
