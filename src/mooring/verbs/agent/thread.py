"""The conversation of one agent, or of a sub-agent: its thread, its tools and its servers put together.

A sub-agent is opened with its own model, tools and session, and closed when it has answered.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from datetime import date
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from mooring.agents.definition import AgentDefinition, apply_selection
from mooring.agents.history import CallResult, Journal, Message
from mooring.agents.instructions import CODE_CONVENTIONS, Surroundings, build_system_prompt
from mooring.agents.model import EffortChoice, Model
from mooring.agents.reporter import TurnReporter
from mooring.agents.streak import ask_once
from mooring.agents.sub_agent import AgentTool, KnownAgents, SubAgent, SubAgentTask
from mooring.agents.taken_names import TakenNames
from mooring.agents.thread import AgentThread
from mooring.backends.api.choice import CLAUDE_MODELS, INHERIT
from mooring.conversation.conversation import Conversation
from mooring.conversation.events import tell_questions
from mooring.conversation.scope import ToolScope
from mooring.conversation.tool import ModelTool
from mooring.core.conversation.question import Answer, Ask, No, Permission, Question, check_ask
from mooring.core.definitions.approved import TakenName
from mooring.errors import ConfigError
from mooring.host.host import Host
from mooring.verbs.agent.options import ConversationOptions, has_price
from mooring.verbs.agent.servers import OPENING_SECONDS, AgentServers, BroughtServers


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

    definition: AgentDefinition | None = None
    """What defines it, if a definition does; its own servers are connected for it."""
    prompt: str | Callable[[], str] = ""
    """Who it is, in place of Mooring's own words; a function is called when a turn begins."""
    within: ToolScope | None = None
    """What narrows its tools further: those that its definition selects."""
    find_taken_name: Callable[[], TakenName | None] = lambda: None
    """Finds out whether it is a project's under a name of somebody else's, as each turn tells."""
    refresh: Callable[[Conversation], Awaitable[None]] | None = None
    """Looks at its definition again, before each turn."""
    guests: tuple[str, ...] = ()
    """Names of servers that agents above it brought along."""
    lacks: tuple[str, ...] = ()
    """What it is told of servers that it has to do without."""
    past: AgentPast | None = None
    journal: Journal | None = None

    @property
    def name(self) -> str | None:
        return None if self.definition is None else self.definition.name

    @property
    def brings(self) -> AgentDefinition | None:
        """The definition, if it has servers of its own."""
        return self.definition if self.definition is not None and self.definition.servers else None


class AgentSetup(Struct, frozen=True, kw_only=True):
    """What the conversation of one agent is put together from, and where it stands among those that work in it."""

    host: Host
    model: Model
    options: ConversationOptions
    role: AgentRole
    reporter: TurnReporter
    """Its stream is told what happens."""
    known: KnownAgents
    servers: AgentServers
    depth: int = 0
    """How many agents are above it."""
    describe_git: Callable[[], str] = lambda: ""
    """The state of the repository, as it was read when the conversation began."""
    part_of: Conversation | None = None
    """The tools of the one above it, whose rules and answers hold for it too."""


class OpenedThread(Struct, frozen=True):
    """An agent that is ready to work."""

    thread: AgentThread
    conversation: Conversation
    brought: BroughtServers
    """The servers that it has of its own, and those that it has to do without."""


@asynccontextmanager
async def open_thread(setup: AgentSetup) -> AsyncIterator[OpenedThread]:
    """The conversation of an agent, with its tools.

    Raises: ConfigError if an option is invalid, or its own servers can't be understood.
    """
    async with _bring_servers(setup) as brought:
        setup = replace(setup, role=_add_servers(setup.role, brought))
        thread = _make_thread(setup)
        sub_agents = _SubAgents(setup, thread)
        conversation = _make_conversation(setup, _list_tools(setup, thread, sub_agents))
        sub_agents.conversation = conversation
        async with conversation:
            thread.tools = conversation
            yield OpenedThread(thread, conversation, brought)


def _bring_servers(setup: AgentSetup) -> AbstractAsyncContextManager[BroughtServers]:
    """The servers that an agent has of its own, while it works."""
    if setup.role.brings is None:
        return nullcontext(BroughtServers())
    # The first agent's turns wait for those that are new. A sub-agent has one answer, and needs all of them for it.
    return setup.servers.bring(setup.role.brings, OPENING_SECONDS if setup.depth == 0 else None)


def _add_servers(role: AgentRole, brought: BroughtServers) -> AgentRole:
    """An agent with the servers that it brought along, and what it is told of those it goes without."""
    if role.brings is None:
        return role
    within = replace(role.within or ToolScope(), brought=frozenset(brought.names))
    return replace(role, within=within, guests=(*role.guests, *brought.names), lacks=(*role.lacks, *brought.notes))


def _make_thread(setup: AgentSetup) -> AgentThread:
    options, role, reporter = setup.options, setup.role, setup.reporter
    past = role.past or AgentPast(reporter.stream.session)
    return AgentThread(
        setup.model,
        reporter,
        system=lambda: _begin_turn(setup),
        journal=role.journal,
        messages=past.messages,
        ended=past.ended,
        agent=role.name,
        find_taken_name=role.find_taken_name,
        limits=options.limits,
        ask=None if options.ask is None else tell_questions(reporter.stream, check_ask(options.ask)),
    )


def _begin_turn(setup: AgentSetup) -> str:
    """The system prompt of the turn that begins. Its sub-agents are those that are defined now."""
    if setup.depth == 0:
        setup.known.refresh()
    options, role, workspace = setup.options, setup.role, setup.host.workspace
    surroundings = Surroundings(workspace.cwd, workspace.where.platform, date.today().isoformat())
    words = options.words.sections if options.words is not None else ()
    prompt = role.prompt if isinstance(role.prompt, str) else role.prompt()
    instructions = "\n".join(filter(None, (options.instructions, *role.lacks)))
    code = CODE_CONVENTIONS if options.local and not prompt else ""
    sections = [code, setup.describe_git(), instructions, *words, setup.host.join_instructions(role.guests)]
    return build_system_prompt(surroundings, sections, role=prompt)


def _make_conversation(setup: AgentSetup, more: tuple[ModelTool, ...]) -> Conversation:
    options, role, stream = setup.options, setup.role, setup.reporter.stream
    ask = ask_once(tell_questions(stream, options.ask or refuse_unasked))
    return setup.host.conversation(
        ask=_name_asker(ask, role.name or "") if setup.depth else ask,
        policy=options.policy,
        rules=options.rules,
        part_of=setup.part_of,
        guests=role.guests,
        provider=setup.model.schemas,  # type: ignore[arg-type]  # the conversation checks it
        allow=options.allow,
        deny=options.deny,
        within=role.within,
        loaded=role.past.loaded if role.past is not None else (),
        follow=True,
        takes=setup.model.takes,
        more=more,
        stream=stream,
    )


def _list_tools(setup: AgentSetup, thread: AgentThread, sub_agents: "_SubAgents") -> tuple[ModelTool, ...]:
    """The tools that an agent has besides those of servers."""
    options = setup.options
    starting = (sub_agents.make_tool(),) if options.local or options.agents is not None else ()
    local = _make_local_tools(setup, thread) if options.local else ()
    return (*options.tools, *local, *_make_plan_tool(setup, thread), *starting)


def _make_plan_tool(setup: AgentSetup, thread: AgentThread) -> tuple[ModelTool, ...]:
    """The tool that ends plan mode, for whoever the person talks to. A mode of the conversation's own stays."""
    host = setup.host
    if not setup.options.local or setup.options.policy is not None or setup.depth > 0:
        return ()
    # Where nobody is there, the mode stays as it is.
    if thread.ask is None and host.call_policy().mode != "plan":
        return ()
    from mooring.agents.local.exit_plan_mode import ExitPlanModeTool, PlanMode  # as below

    mode = PlanMode(lambda: host.call_policy().mode, host.change_mode, partial(setattr, thread, "unheard_plan"))
    return (ExitPlanModeTool(thread.ask, mode),)


def _make_local_tools(setup: AgentSetup, thread: AgentThread) -> tuple[ModelTool, ...]:
    # Only for an agent that has them.
    from mooring.agents.local.ask_user import ASKER
    from mooring.agents.local.toolbox import local_tools

    host, options = setup.host, setup.options
    return local_tools(
        host.workspace.where,
        host.workspace.cwd,
        host.guard,
        ask=options.ask,
        asker=ASKER if setup.reporter.parent is None else f"The sub-agent {setup.role.name}",
        on_plan=thread.change_plan,
        settings=host.settings,
        skills=options.words.commands if options.words is not None else None,
        on_taken_name=setup.reporter.tell_taken_name,
        keep_file=thread.journal.keep_file,
    )


async def refuse_unasked(_: Question) -> Answer:
    """Answer every question with no, because nobody is there."""
    return No(nobody=True)


def _name_asker(ask: Ask, agent: str) -> Ask:
    """The same `ask`; questions about calls say which sub-agent wants to make them."""

    async def ask_by_name(question: Question) -> Answer:
        is_named = isinstance(question, Permission)
        return await ask(replace(question, agent=agent) if is_named else question)

    return ask_by_name


class _SubAgents:
    """Opens the sub-agents of one agent."""

    conversation: Conversation
    """The tools of that agent. Set once: they include the one that starts sub-agents."""

    def __init__(self, above: AgentSetup, thread: AgentThread) -> None:
        self._above = above
        self._thread = thread

    def make_tool(self) -> AgentTool:
        """The tool that starts them."""
        above = self._above
        startable = None if above.role.definition is None else above.role.definition.startable
        return AgentTool(above.known, self.open, depth=above.depth, startable=startable)

    @asynccontextmanager
    async def open(self, task: SubAgentTask) -> AsyncIterator[SubAgent]:
        """The conversation of one sub-agent. Raises: ConfigError if its model can't be used."""
        async with self._open_model(task) as model:
            name = task.definition.name
            journal = self._thread.journal.begin_sub_agent(task.call, agent=name, model=model.name)
            taken = await asyncio.to_thread(self._find_taken_name, task)
            setup = replace(
                self._above,
                model=model,
                options=self._make_options(task.definition),
                role=replace(self._make_role(task.definition), journal=journal, find_taken_name=lambda: taken),
                reporter=self._thread.reporter.begin_sub_agent(task.call),
                depth=self._above.depth + 1,
                part_of=self.conversation,
            )
            try:
                async with open_thread(setup) as opened:
                    yield SubAgent(opened.thread, opened.brought.notes)
            finally:
                journal.close()

    def _find_taken_name(self, task: SubAgentTask) -> TakenName | None:
        return TakenNames(self._above.host.workspace).find_agent(self._above.known.found, task.definition)

    def _make_options(self, definition: AgentDefinition) -> ConversationOptions:
        return replace(
            self._above.options,
            # What the agent above was told about its own task isn't the sub-agent's.
            instructions="",
            # The scope of the agent above holds all that it was given itself.
            allow=None,
            deny=(),
            # Those of the agent above hold already.
            rules=definition.rules,
            limits=self._above.options.limits.narrow_for_sub_agent(definition.max_turns),
        )

    def _make_role(self, definition: AgentDefinition) -> AgentRole:
        return AgentRole(
            definition=definition,
            prompt=definition.prompt,
            within=apply_selection(definition.tools, self.conversation.scope),
            guests=self._above.role.guests,
        )

    @asynccontextmanager
    async def _open_model(self, task: SubAgentTask) -> AsyncIterator[Model]:
        """The model of a sub-agent: one of its own, which is closed with it, or that of the agent above."""
        wanted = self._find_model_name(task)
        if wanted is None:
            yield self._thread.model
            return
        from mooring.backends.api.choose import choose_model  # most sub-agents share a model that is there

        host = self._above.host
        above = self._thread.model
        # It is wanted of each of them, and not every model has the choice.
        effort = above.effort if isinstance(above, EffortChoice) else None
        model = await choose_model(wanted, host.workspace.where, host.settings, effort=effort)
        try:
            if self._above.options.limits.max_cost is not None and not has_price(model):
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
