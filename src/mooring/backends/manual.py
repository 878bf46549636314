"""The backend without a model: a person picks the tool and fills in its arguments."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mooring.core.call import Definition
from mooring.core.turn import OnText, TurnTools

MAX_CHOICES = 8
"""So many tools are put before a person at once."""


class Person(Protocol):
    """Whoever plays the model."""

    async def choose(self, found: Sequence[Definition]) -> Definition | str | None:
        """One of these; other words to search by; or nothing."""

    async def fill(self, tool: Definition) -> Mapping[str, Any] | None:
        """The arguments of a call; `None` for no call at all."""


class ManualBackend:
    """Searches, lets the person choose and fill in, and calls."""

    name = "manual"

    def __init__(self, person: Person) -> None:
        self._person = person

    async def turn(self, request: str, tools: TurnTools, say: OnText) -> None:
        tool = tools.find(request) or await self._chosen(request, tools, say)
        arguments = None if tool is None else await self._person.fill(tool)
        if tool is not None and arguments is not None:
            await tools.call(tool.name, arguments)

    async def _chosen(self, request: str, tools: TurnTools, say: OnText) -> Definition | None:
        while True:
            found = tools.search(request, MAX_CHOICES)
            if not found:
                say(f"No tool that is known fits {request!r}. /tools shows all, /mcp the servers.")
                return None
            choice = await self._person.choose(found)
            if not isinstance(choice, str):
                return choice
            if (named := tools.find(choice)) is not None:
                return named
            request = choice
