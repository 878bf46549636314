"""How one agent works, and what a conversation that goes on brings with it."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from mooring.actions.agent_words import AgentWords
from mooring.agents.definition import AgentDefinition
from mooring.agents.history import CallResult, Message
from mooring.agents.journal import Journal
from mooring.backends.host_servers import SwitchServer
from mooring.core.question import Ask
from mooring.core.verdict import Rule
from mooring.host.options import Policy
from mooring.tools.registry import Registry
from mooring.tools.scope import ToolScope
from mooring.tools.tool import ModelTool


class AgentPast(Struct, frozen=True):
    """What a conversation that goes on brings with it."""

    session: str
    turn: int = 0
    messages: tuple[Message, ...] = ()
    ended: tuple[CallResult, ...] = ()
    """Results of the last reply's calls; those without one are made first."""
    loaded: tuple[str, ...] = ()
    """Names of tools that a search found."""


class AgentOptions(Struct, frozen=True, kw_only=True):
    """How one agent works. `mooring.agent` takes the same by name."""

    instructions: str = ""
    """What the agent is told besides, in its system prompt."""
    role: str | Callable[[], str] = ""
    """Who it is, in place of Mooring's own words; a function is called when a turn begins."""
    ask: Ask | None = None
    policy: Policy | None = None
    rules: tuple[Rule, ...] = ()
    tools: tuple[ModelTool, ...] = ()
    """Tools of its own, beside those of servers."""
    local: bool = False
    """Whether it has the tools for this machine: files, commands, pages."""
    words: AgentWords | None = None
    """What files say to it, such as AGENTS.md; `None` if they are not read."""
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    within: ToolScope | None = None
    """What narrows its tools further: those that its definition selects."""
    max_turns: int | None = None
    past: AgentPast | None = None
    journal: Journal | None = None
    agent: str | None = None
    """Its name, if it is a defined one."""
    refresh: Callable[[Registry], Awaitable[None]] | None = None
    """Looks at its definition again, before each turn."""
    brings: AgentDefinition | None = None
    """The definition whose own servers are connected for it."""
    guests: tuple[str, ...] = ()
    """Names of servers that agents above it brought along."""
    startable: frozenset[str] | None = None
    """The only agents that it may start, by name; `None` for all of them."""
    agents: tuple[AgentDefinition, ...] | None = None
    """The agents that it can start as sub-agents; `None` for those that files define, if it is `local`."""
    switch: SwitchServer | None = None
    """How servers of the host are enabled and disabled, if they are."""
