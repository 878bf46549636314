"""The backend without a model: a person picks the tool and fills in its arguments."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mooring.core.call import Definition
from mooring.core.turn import OnText, TurnTools

MAX_CHOICES = 8
"""How many tools a person chooses from at once."""


class Person(Protocol):
    """Somebody who does what a model would do."""

    async def choose(self, found: Sequence[Definition]) -> Definition | str | None:
        """One of these tools; other words to search for; or `None` to stop."""

    async def fill(self, tool: Definition) -> Mapping[str, Any] | None:
        """The arguments of a call; `None` not to call it."""


class ManualBackend:
    """Searches for tools, lets the person choose one and fill it in, and calls it."""

    name = "manual"

    def __init__(self, person: Person) -> None:
        self._person = person

    async def turn(self, request: str, tools: TurnTools, on_text: OnText) -> None:
        tool = tools.find(request) or await self._choose_tool(request, tools, on_text)
        if tool is None:
            return
        arguments = await self._person.fill(tool)
        if arguments is not None:
            await tools.call(tool.name, arguments)

    async def _choose_tool(self, request: str, tools: TurnTools, on_text: OnText) -> Definition | None:
        while True:
            found = tools.search(request, MAX_CHOICES)
            if not found:
                on_text(f"No tool that is known fits {request!r}. /tools shows all, /mcp the servers.")
                return None
            choice = await self._person.choose(found)
            if not isinstance(choice, str):
                return choice
            # The words may also name a tool that wasn't among those found.
            named = tools.find(choice)
            if named is not None:
                return named
            request = choice
