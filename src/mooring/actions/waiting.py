"""What an action and the face that called it exchange while it runs."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from mooring.core.result import Progress
from mooring.core.tool import Tool

Fill: TypeAlias = Callable[[str, Tool], Mapping[str, Any]]
"""Makes the arguments of a call for a server's tool, guided by its schema."""


class Watcher(Protocol):
    """Follows a call while a face waits for it."""

    def on_connected(self) -> None:
        """The server is up."""

    def on_progress(self, step: Progress) -> None:
        """The call made progress."""
