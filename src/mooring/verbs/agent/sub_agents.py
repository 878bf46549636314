"""The sub-agents of one agent: each opened with its own model, tools and session, and closed when it has answered."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.agents.definition import AgentDefinition, apply_selection
from mooring.agents.history import CallResult, Journal, Message
from mooring.agents.model import Model
from mooring.agents.reporter import TurnReporter
from mooring.agents.sub_agent import AgentTool, KnownAgents, SubAgent, SubAgentTask
from mooring.agents.taken_names import TakenNames
from mooring.agents.thread import AgentThread
from mooring.backends.api.choice import CLAUDE_MODELS
from mooring.conversation.conversation import Conversation
from mooring.conversation.scope import ToolScope
from mooring.core.conversation.question import Answer, Ask, Permission, Question
from mooring.core.definitions.approved import TakenName
from mooring.errors import ConfigError
from mooring.host.host import Host
from mooring.verbs.agent.options import ConversationOptions, has_price
from mooring.verbs.agent.servers import OPENING_SECONDS, AgentServers, BroughtServers

INHERIT = "inherit"


class AgentPast(Struct, frozen=True):
    """What a conversation that goes on brings with it."""

    session: str
    turn: int = 0
    messages: tuple[Message, ...] = ()
    ended: tuple[CallResult, ...] = ()
    """Results of the last reply's calls; those without one are made first."""
    loaded: tuple[str, ...] = ()
    """Names of tools that a search found."""


class AgentRole(Struct, frozen=True, kw_only=True):
    """Who one agent of a conversation is: the one that the person talks to, or a sub-agent."""

    name: str | None = None
    """Its name, if it is a defined one."""
    prompt: str | Callable[[], str] = ""
    """Who it is, in place of Mooring's own words; a function is called when a turn begins."""
    within: ToolScope | None = None
    """What narrows its tools further: those that its definition selects."""
    max_turns: int | None = None
    """How many times the model is asked in a turn as its definition has it."""
    find_taken_name: Callable[[], TakenName | None] = lambda: None
    """Finds out whether it is a project's under a name of somebody else's, as each turn tells."""
    refresh: Callable[[Conversation], Awaitable[None]] | None = None
    """Looks at its definition again, before each turn."""
    brings: AgentDefinition | None = None
    """The definition whose own servers are connected for it."""
    guests: tuple[str, ...] = ()
    """Names of servers that agents above it brought along."""
    lacks: tuple[str, ...] = ()
    """What it is told of servers that it has to do without."""
    startable: frozenset[str] | None = None
    """The only agents that it may start, by name; `None` for all of them."""
    past: AgentPast | None = None
    journal: Journal | None = None


class AgentPlace(Struct, frozen=True):
    """Where an agent stands among those that work in one conversation."""

    known: KnownAgents
    servers: AgentServers
    depth: int = 0
    """How many agents are above it."""
    part_of: Conversation | None = None
    """The tools of the one above it, whose rules and answers hold for it too."""


class OpenedThread(Struct, frozen=True):
    """An agent that is ready to work."""

    thread: AgentThread
    conversation: Conversation
    brought: BroughtServers = BroughtServers()
    """The servers that it has of its own, and those that it has to do without."""


OpenThread: TypeAlias = Callable[
    [Host, Model, ConversationOptions, AgentRole, TurnReporter, AgentPlace], AbstractAsyncContextManager[OpenedThread]
]


class SubAgents:
    """Opens the sub-agents of one agent."""

    conversation: Conversation
    """The tools of that agent. Set once: they include the one that starts sub-agents."""

    def __init__(
        self,
        host: Host,
        options: ConversationOptions,
        role: AgentRole,
        thread: AgentThread,
        place: AgentPlace,
        open_thread: OpenThread,
    ) -> None:
        self._host = host
        self._options = options
        self._role = role
        self._thread = thread
        self._place = place
        self._open_thread = open_thread

    def make_tool(self) -> AgentTool:
        """The tool that starts them."""
        return AgentTool(
            self._place.known,
            self.open,
            depth=self._place.depth,
            startable=self._role.startable,
        )

    @asynccontextmanager
    async def open(self, task: SubAgentTask) -> AsyncIterator[SubAgent]:
        """The conversation of one sub-agent. Raises: ConfigError if its model can't be used."""
        async with self._open_model(task) as model:
            name = task.definition.name
            journal = self._thread.journal.begin_sub_agent(task.call, agent=name, model=model.name)
            taken = await asyncio.to_thread(self._find_taken_name, task)
            options, role = self._make_options(task), self._make_role(task)
            role = replace(role, journal=journal, find_taken_name=lambda: taken)
            reporter = self._thread.reporter.begin_sub_agent(task.call)
            place = replace(self._place, depth=self._place.depth + 1, part_of=self.conversation)
            try:
                async with self._open_thread(self._host, model, options, role, reporter, place) as opened:
                    yield SubAgent(opened.thread, opened.brought.notes)
            finally:
                journal.close()

    def _find_taken_name(self, task: SubAgentTask) -> TakenName | None:
        return TakenNames(self._host.workspace).find_agent(self._place.known.found, task.definition)

    def _make_options(self, task: SubAgentTask) -> ConversationOptions:
        definition, above = task.definition, self._options
        return replace(
            above,
            # What the agent above was told about its own task isn't the sub-agent's.
            instructions="",
            # The scope of the agent above holds all that it was given itself.
            allow=None,
            deny=(),
            # Those of the agent above hold already.
            rules=definition.rules,
            limits=above.limits.narrow_for_sub_agent(definition.max_turns),
        )

    def _make_role(self, task: SubAgentTask) -> AgentRole:
        definition = task.definition
        return AgentRole(
            name=definition.name,
            prompt=definition.prompt,
            within=apply_selection(definition.tools, self.conversation.scope),
            brings=definition if definition.servers else None,
            guests=self._role.guests,
            startable=definition.startable,
        )

    @asynccontextmanager
    async def _open_model(self, task: SubAgentTask) -> AsyncIterator[Model]:
        """The model of a sub-agent: one of its own, which is closed with it, or that of the agent above."""
        wanted = self._find_model_name(task)
        if wanted is None:
            yield self._thread.model
            return
        from mooring.backends.api.choose import choose_model  # most sub-agents share a model that is there

        model = await choose_model(wanted, self._host.workspace.where, self._host.settings)
        try:
            if self._options.limits.max_cost is not None and not has_price(model):
                raise ConfigError(f"Agent was not called: the price of {wanted} is unknown, and the cost is limited.")
            yield model
        finally:
            await model.close()

    def _find_model_name(self, task: SubAgentTask) -> str | None:
        """The name of the model that a sub-agent has of its own; `None` if it has none. Raises: ConfigError."""
        above = self._thread.model.name
        provider = above.partition(":")[0]
        wanted = task.model or task.definition.model
        if wanted is None or wanted == INHERIT:
            return None
        if wanted in CLAUDE_MODELS:
            # A kind of Claude; with another provider's model it means that model.
            wanted = f"{provider}:{CLAUDE_MODELS[wanted]}" if provider == "anthropic" else above
        elif task.model is not None:
            wanted = _add_provider(task.model, provider)
        return None if wanted == above else wanted


def _add_provider(model: str, provider: str) -> str:
    """The name of a model that an agent asks for.

    Raises: ConfigError if it is another provider's: a model doesn't decide who gets to read the conversation.
    """
    word, colon, _ = model.partition(":")
    if word == provider:
        return model
    if colon:
        raise ConfigError(f"Agent was not called: {model!r} is not a model of {provider}.", "Leave `model` out.")
    return f"{provider}:{model}"


@asynccontextmanager
async def bring_servers(host: Host, role: AgentRole, place: AgentPlace) -> AsyncIterator[BroughtServers]:
    """The servers that an agent has of its own, while it works."""
    if role.brings is None:
        yield BroughtServers()
        return
    # The first agent's turns wait for those that are new. A sub-agent has one answer, and needs all of them for it.
    seconds = OPENING_SECONDS if place.depth == 0 else None
    async with place.servers.bring(role.brings, seconds) as brought:
        yield brought


def name_asker(ask: Ask, agent: str) -> Ask:
    """The same `ask`; questions about calls say which sub-agent wants to make them."""

    async def ask_by_name(question: Question) -> Answer:
        is_named = isinstance(question, Permission)
        return await ask(replace(question, agent=agent) if is_named else question)

    return ask_by_name
