"""The one shape of everything that answers requests: a model behind an address, another agent, or a person."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from mooring.core.call import Definition
from mooring.core.outcome import Outcome

OnText: TypeAlias = Callable[[str], None]
"""Receives the answer piece by piece; must not block."""


class TurnTools(Protocol):
    """All that a backend gets: the tools of one conversation. A registry is one; every call is checked and logged."""

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """What a model is shown now; a search adds to it."""

    def find(self, name: str) -> Definition | None:
        """The tool that a name, or `server.tool`, means."""

    def search(self, words: str, limit: int = 5) -> tuple[Definition, ...]:
        """The tools that fit a request, best first."""

    def show(self, name: str) -> Definition:
        """Have a tool among the definitions from now on: what a model was never shown, it can't call."""

    async def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> Outcome:
        """Call a tool. A failure is an outcome; cancelling this cancels the call."""


class Backend(Protocol):
    """Answers requests, one turn at a time."""

    @property
    def name(self) -> str: ...

    async def turn(self, request: str, tools: TurnTools, on_text: OnText) -> None:
        """Do what is asked for. Cancelling this ends the turn and the calls in it.

        The tools report their calls themselves, in order; `on_text` receives everything else.

        Raises: MooringError.
        """
