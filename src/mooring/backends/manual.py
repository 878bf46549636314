"""The backend without a model: a person picks the tool and fills in its arguments."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from mooring.agents.reporter import TurnReporter
from mooring.backends.host_servers import HostServers
from mooring.conversation.conversation import Conversation
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.event import EndOfTurn
from mooring.core.conversation.turn import Receipt, TurnInput

MAX_CHOICES = 8
"""How many tools a person chooses from at once."""


LONGEST_REQUEST = 60
"""How many characters of a request are repeated if nothing fits it."""


class Person(Protocol):
    """Somebody who does what a model would do."""

    async def choose(self, found: Sequence[ToolDefinition]) -> ToolDefinition | str | None:
        """One of these tools; other words to search for; or `None` to stop."""

    async def fill(self, tool: ToolDefinition) -> Mapping[str, Any] | None:
        """The arguments of a call; `None` not to call it."""


class ManualBackend:
    """Searches for tools, lets the person choose one and fill it in, and calls it."""

    name = "manual"

    def __init__(self, person: Person, tools: Conversation, reporter: TurnReporter, servers: HostServers) -> None:
        """`reporter` tells the turns into the stream of `tools`: their calls are part of them."""
        self.status = servers.status
        self.switch = servers.switch
        self.reconnect = servers.reconnect
        self._person = person
        self._tools = tools
        self._reporter = reporter

    async def turn(self, said: TurnInput) -> None:
        """See `Backend.turn`. Raises: MooringError; whatever the person's answers raise."""
        reporter = self._reporter
        reporter.begin()
        reason: EndOfTurn = "failed"
        try:
            await self._answer(said.text)
            reason = "finished"
        except asyncio.CancelledError:
            reason = "interrupted"
            raise
        finally:
            reporter.end(reason)

    def add(self, said: TurnInput) -> Receipt | None:
        """See `Backend.add`."""
        return None

    async def _answer(self, request: str) -> None:
        tools = self._tools
        tool = tools.find(request)
        if tool is None:
            found = tools.search(request, MAX_CHOICES)
            tool = await choose_tool(self._person, tools, found, self._reporter.say, request)
        if tool is None:
            return
        arguments = await self._person.fill(tool)
        if arguments is not None:
            tools.show(tool.name)
            # The person has just chosen it and filled it in: a question would ask for the same again.
            await tools.call(tool.name, arguments, approved=True)

    async def close(self) -> None:
        """Nothing of a person needs closing."""


async def choose_tool(
    person: Person, tools: Conversation, found: Sequence[ToolDefinition], say: Callable[[str], None], request: str = ""
) -> ToolDefinition | None:
    """The tool that a person picks among those that were found, or by other words; `None` if they pick none."""
    while found:
        choice = await person.choose(found)
        if not isinstance(choice, str):
            return choice
        # The words may also name a tool that wasn't among those found.
        named = tools.find(choice)
        if named is not None:
            return named
        request, found = choice, tools.search(choice, MAX_CHOICES)
    if not tools.pairs:
        say("No tools are known yet. /mcp shows the servers, and /model says how to have a model answer.")
        return None
    # What was pasted by mistake need not be repeated whole.
    words = request if len(request) <= LONGEST_REQUEST else f"{request[:LONGEST_REQUEST]}…"
    say(f"No tool matches {words!r}. /tools lists all of them, /mcp the servers.")
    return None
