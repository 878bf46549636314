"""The one shape of everybody who can be talked to: a model behind an address, another agent, or a person."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from mooring.core.call import Definition
from mooring.core.outcome import Outcome

OnText: TypeAlias = Callable[[str], None]
"""Hears the words of whoever answers, piece by piece; must not wait."""


class TurnTools(Protocol):
    """All that a backend gets: the tools of one conversation. A registry is one; every call passes its gate."""

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """What is to be shown now; after a search there is more."""

    def find(self, name: str) -> Definition | None:
        """The tool that a name, or `server.tool`, means."""

    def search(self, words: str, limit: int = 5) -> tuple[Definition, ...]:
        """The tools that fit a request, the best first."""

    async def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> Outcome:
        """What fails is an outcome; cancelling this ends the call."""


class Backend(Protocol):
    """Answers requests, one turn after another."""

    @property
    def name(self) -> str: ...

    async def turn(self, request: str, tools: TurnTools, say: OnText) -> None:
        """Do what is asked for. Cancelling it ends the turn and the calls in it.

        What is called is told by the tools themselves, in order; `say` hears the rest. Raises: MooringError.
        """
