"""The servers that an agent brings along: connected while it works, once the person approved those of a project."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from mooring.agents.definition import AgentDefinition
from mooring.agents.files.find import find_agents
from mooring.core.conversation.question import Ask
from mooring.core.definitions.config import Scope
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.display.text import quote_argument
from mooring.errors import ConfigError, MooringError, NotApproved, TimedOut
from mooring.host.host import Host
from mooring.inventory.admit import Admitted, admit

if TYPE_CHECKING:
    from mooring.inventory.load import Inventory


OPENING_SECONDS = 1.0
"""How long a conversation that begins waits for servers that are new, to show what connects or fails at once."""


class BroughtServers(Struct, frozen=True):
    """The servers of one agent that are there now, and why the others are not."""

    names: tuple[str, ...] = ()
    lacks: tuple[Problem, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The same about those that are not there, as sentences for the model."""
        return tuple(f"{lack.message}; {lack.hint}." for lack in self.lacks)


def load_servers_of_agent(workspace: Workspace, name: str) -> "Inventory":
    """An inventory of the servers that an agent's own file defines.

    Raises: ConfigError if there is no such agent, or its file defines none.
    """
    definition = find_agents(workspace).find(name)
    if not definition.servers:
        raise ConfigError(f"The agent {definition.name} has no servers of its own.", "`mooring mcp list` shows yours.")
    return _load_servers(definition, workspace)


def _load_servers(definition: AgentDefinition, workspace: Workspace) -> "Inventory":
    from mooring.inventory.load import load_agent_servers  # few agents have servers

    origin = definition.origin
    scope: Scope = "project" if origin.scope == "project" else "user"
    return load_agent_servers(workspace, definition.servers, origin.format, scope, origin.path)


class AgentServers:
    """Brings along the servers of agents in one conversation."""

    def __init__(self, host: Host, ask: Ask | None) -> None:
        self._host = host
        self._ask = ask
        # Several agents of one kind may start at once: the first one asks, the others know the answer.
        self._asking = asyncio.Lock()
        self._declined: set[str] = set()

    @asynccontextmanager
    async def bring(self, definition: AgentDefinition, seconds: float | None) -> AsyncIterator[BroughtServers]:
        """Connect the servers that a definition has of its own, waiting so long at most, and end them afterwards.

        Raises: ConfigError if they can't be understood at all; what `ask` raises.
        """
        admitted = await self._admit(definition)
        lacks = [_explain(definition, name, refused.error) for name, refused in admitted.refused.items()]
        async with self._host.bring(admitted.wanted) as names:
            taken = [name for name in admitted.wanted if name not in names]
            why, hint = "another server of that name is configured", "give it another name there"
            lacks += [_make_lack(definition, name, why, hint) for name in taken]
            errors = await self._host.ready(seconds, servers=names)
            for name, error in errors.items():
                # One that only takes longer than anybody waits goes on connecting, and its tools come later.
                if seconds is None or not isinstance(error, TimedOut):
                    lacks.append(_explain_failure(definition, name, error))
            yield BroughtServers(names, tuple(lacks))

    async def _admit(self, definition: AgentDefinition) -> Admitted:
        """Which of the servers may be started; the person is asked about those that nobody has decided about."""
        workspace = self._host.workspace
        async with self._asking:
            inventory = await asyncio.to_thread(_load_servers, definition, workspace)
            admitted = admit(inventory)
            undecided = [name for name, each in admitted.refused.items() if isinstance(each.error, NotApproved)]
            answers = [await self._ask_about(inventory, name) for name in undecided]
            if not any(answers):
                return admitted
            return admit(await asyncio.to_thread(_load_servers, definition, workspace))

    async def _ask_about(self, inventory: "Inventory", name: str) -> bool:
        """Whether the person approves a server now. Raises: FileError if that can't be recorded."""
        from mooring.inventory.approval import list_questions
        from mooring.inventory.approval_rows import ask_approval

        where = self._host.workspace.where
        [question] = await asyncio.to_thread(list_questions, inventory, [name], where)
        is_settled = question.standing == "rejected" or question.digest in self._declined
        if self._ask is None or is_settled:
            return False
        agreed = await ask_approval(self._ask, inventory, question, where)
        if not agreed:
            self._declined.add(question.digest)
        return agreed


def _explain(definition: AgentDefinition, name: str, error: MooringError) -> Problem:
    if not isinstance(error, NotApproved):
        return _explain_failure(definition, name, error)
    why = f"{definition.origin.path} comes with the project, and nobody approved this server"
    command = f"mooring mcp approve --agent {quote_argument(definition.name)} {quote_argument(name)}"
    return _make_lack(definition, name, why, f"to look and decide: {command}")


def _explain_failure(definition: AgentDefinition, name: str, error: MooringError) -> Problem:
    why = f"it can't be used now: {str(error).rstrip('.')}"
    return _make_lack(definition, name, why, f"its entry is in {definition.origin.path or 'the definition'}")


def _make_lack(definition: AgentDefinition, name: str, why: str, hint: str) -> Problem:
    return Problem(None, f"The server {name} of the agent {definition.name} was left out: {why}", hint)
