"""What an action and the face that called it say to each other while it lasts."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from mooring.core.result import Progress
from mooring.core.tool import Tool

Fill: TypeAlias = Callable[[str, Tool], Mapping[str, Any]]
"""Makes the arguments of a call for a server's tool, by its schema."""


class Watcher(Protocol):
    """What a face is told while it waits."""

    def connected(self) -> None:
        """The server is up."""

    def progress(self, step: Progress) -> None:
        """The call has come further."""
