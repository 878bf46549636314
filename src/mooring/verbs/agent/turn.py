"""`mooring.agent`: a host's tools, a model and the loop between them, put together for any face or program."""

import asyncio
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from msgspec.structs import replace

from mooring.agents.compaction import summarize_history
from mooring.agents.definition import AgentDefinition, apply_selection
from mooring.agents.files.find import AgentFiles
from mooring.agents.git_state import describe_git
from mooring.agents.history import Message
from mooring.agents.model import EffortChoice, Model
from mooring.agents.reporter import TurnReporter
from mooring.agents.sessions.store import SessionSummary
from mooring.agents.sub_agent import KnownAgents, select_agents
from mooring.backends.agent import AgentBackend
from mooring.backends.host_servers import HostServers
from mooring.conversation.conversation import Conversation
from mooring.conversation.events import tell_questions
from mooring.conversation.tool import ModelTool
from mooring.core.conversation.effort import EffortWish
from mooring.core.conversation.event import ConversationEvent, TurnDone
from mooring.core.conversation.question import Ask
from mooring.core.conversation.turn import Receipt, TurnInput
from mooring.core.conversation.verdict import Rule
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.limits import TurnLimits
from mooring.errors import ConfigError, ModelError, NoModel
from mooring.host.first_starts import FirstStarts, follow_first_starts
from mooring.host.host import Host
from mooring.host.options import Policy, find_mode
from mooring.verbs.agent.options import ConversationOptions, settle_limits
from mooring.verbs.agent.servers import AgentServers
from mooring.verbs.agent.sessions import OpenedSession, open_session
from mooring.verbs.agent.thread import AgentPast, AgentRole, AgentSetup, open_thread
from mooring.verbs.agent.words import AgentWords

if TYPE_CHECKING:
    from mooring.tools.results.outcome import Media
    from mooring.verbs.agent.defined_agent import DefinedAgent

T = TypeVar("T")


class Agent:
    """A model that uses a host's tools, in one conversation. `mooring.agent` makes one."""

    def __init__(self, backend: AgentBackend, conversation: Conversation, lacks: tuple[Problem, ...] = ()) -> None:
        self.backend = backend
        self.conversation = conversation
        """Its tools, with its permissions and questions."""
        self.lacks = lacks
        """Why servers of its own are not there, and which settings have no effect."""
        self._working: asyncio.Task[Any] | None = None
        self._closing = asyncio.Event()

    def __repr__(self) -> str:
        return f"<Agent {self.model}, {len(self.history)} messages>"

    @property
    def model(self) -> str:
        """The provider and the model."""
        return self.backend.thread.model.name

    @property
    def takes(self) -> Collection["Media"]:
        """What the model takes besides text."""
        return self.backend.thread.model.takes

    @property
    def session(self) -> str:
        """Identifies the conversation."""
        return self.backend.thread.reporter.stream.session

    @property
    def history(self) -> tuple[Message, ...]:
        """What was said and done so far, as the model is sent it."""
        return tuple(self.backend.thread.messages)

    async def turn(self, said: str | TurnInput) -> AsyncGenerator[ConversationEvent, None]:
        """Say something, and follow what happens: from `TurnStarted` to `TurnDone`.

        Leaving the iteration early, as with `break` inside `contextlib.aclosing`, ends the turn and its calls; servers
        are not affected. A model that fails is an event too.

        Raises: ConfigError if another turn is under way; what `ask` raises.
        """
        events = self.conversation.events()
        working = asyncio.create_task(self.run_turn(said))
        working.add_done_callback(lambda _: events.end())
        try:
            async for event in events:
                yield event
            await working
        finally:
            events.end()
            working.cancel()
            await asyncio.wait({working})

    async def run(self, said: str | TurnInput) -> TurnDone:
        """Say something, and wait for the end of the turn; its `reason` says whether the model had finished.

        Raises: ModelError if the model failed; ConfigError if another turn is under way; what `ask` raises.
        """
        await self.run_turn(said)
        reporter = self.backend.thread.reporter
        done = reporter.done
        assert done is not None  # a turn that isn't cancelled has an end
        if done.reason == "failed":
            raise ModelError(self.model, reporter.error.removeprefix(f"{self.model}: "))
        return done

    async def run_turn(self, said: str | TurnInput | None) -> None:
        """The same for those who follow the conversation's events anyway.

        Without anything said, a turn that was interrupted goes on where it was: see `is_interrupted`.

        Raises: as `turn`.
        """
        said = TurnInput(said) if isinstance(said, str) else said
        await self._work(lambda: self.backend.turn(said))

    def add(self, said: str | TurnInput) -> Receipt:
        """Say something more to the turn under way. The model reads it before its next reply, once the calls under way
        have ended, and as `InputAdded` the events tell where.

        Awaiting what is returned says whether it was read; if the turn ends first, or none is under way, it wasn't, and
        is yet to be said. Cancelling it takes the message back.
        """
        return self.backend.add(TurnInput(said) if isinstance(said, str) else said)

    async def run_task(self, agent: str, task: str) -> None:
        """Have one of the agents do a task for the user, in a turn in which the model itself is not asked.

        Raises: as `turn`.
        """
        await self._work(lambda: self.backend.run_task(agent, task))

    async def compact(self, focus: str = "") -> bool:
        """Have the model summarize the conversation, which goes on with that and the last message; false if there is
        nothing more to summarize. `focus` says what to keep above all.

        Raises: ModelError if it can't, and nothing changed; ConfigError if a turn is under way.
        """
        thread = self.backend.thread
        thread.reporter.begin_aside()
        return await self._work(lambda: summarize_history(thread, focus))

    async def _work(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._closing.is_set():
            raise ConfigError("This agent is closed. Use it inside its `async with`.")
        if self._working is not None:
            raise ConfigError("This agent is working on a turn. Wait for its end, or open another agent.")
        # A task of its own, so that closing ends the turn and not whoever waits for it.
        self._working = working = asyncio.create_task(begin())
        try:
            return await working
        except asyncio.CancelledError:
            is_wanted = (task := asyncio.current_task()) is not None and not task.cancelling()
            if self._closing.is_set() and is_wanted:
                raise ConfigError("This agent was closed while it worked on a turn. The turn ended.") from None
            raise
        finally:
            self._working = None

    async def read_prompt(self) -> str:
        """The system prompt of the turn that would begin now."""
        await self.backend.prepare()
        return self.backend.thread.system()

    @property
    def registry(self) -> Conversation:
        """The old name of `conversation`, for one more release."""
        warnings.warn("agent.registry is now agent.conversation", DeprecationWarning, stacklevel=2)
        return self.conversation

    async def close(self) -> None:
        """End the turn under way and its calls; whoever waits for it gets an error. `async with` does this."""
        self._closing.set()
        if self._working is not None:
            self._working.cancel()
            await asyncio.wait({self._working})

    @property
    def is_working(self) -> bool:
        """Whether a turn is under way."""
        return self._working is not None

    async def cancel(self, id: str) -> bool:
        """End one call of the turn under way, such as a sub-agent's; the turn goes on. False if there is none."""
        return await self.conversation.cancel(id)

    @property
    def is_interrupted(self) -> bool:
        """Whether the last turn was cut off while calls of the model waited: a session that goes on may begin so."""
        return self.backend.thread.is_interrupted


@asynccontextmanager
async def open_agent(
    host: Host, model: Model, options: ConversationOptions, role: AgentRole | None = None
) -> AsyncIterator[Agent]:
    """An agent on an open host.

    The model is closed by whoever made it: a program may use one for several agents.

    Raises: ConfigError if an option is invalid.
    """
    role = role or AgentRole()
    past = role.past or AgentPast(uuid4().hex)
    reporter = TurnReporter(host.begin_stream(past.session, past.turn), AgentBackend.name)
    ask = options.ask and tell_questions(reporter.stream, options.ask)
    starts = options.starts or follow_first_starts(host)
    own_turns = None if role.definition is None else role.definition.max_turns
    limits, idle = settle_limits(options.limits, own_turns, host.settings, model)
    idle += find_idle_effort(model, host)
    options = replace(options, limits=limits)
    find_agents = AgentFiles(host.workspace).find if options.agents is None else partial(select_agents, options.agents)
    git = GitAtStart(host) if options.local else None
    setup = AgentSetup(
        describe_git=lambda: "" if git is None else git.text,
        host=host,
        model=model,
        options=options,
        role=role,
        reporter=reporter,
        known=KnownAgents(find_agents),
        servers=AgentServers(host, ask),
    )
    async with open_thread(setup) as opened:
        prepare = partial(_prepare_turn, starts, options, role, opened.conversation, git)
        backend = AgentBackend(opened.thread, HostServers(host, options.switch), prepare)
        made = Agent(backend, opened.conversation, (*opened.brought.lacks, *idle))
        try:
            yield made
        finally:
            await made.close()


def find_idle_effort(model: Model, host: Host) -> tuple[Problem, ...]:
    """The problem that a model has no such choice as the effort that is wanted of it, if it is so."""
    if not isinstance(model, EffortChoice) or model.effort.level is None or model.has_effort:
        return ()
    message = f"`effort` has no effect: {model.name} has no such choice"
    hint = "it thinks as much as it does by itself"
    return (Problem(host.settings.values["effort"].path, message, hint, level="warning"),)


class GitAtStart:
    """The state of the repository, read once for a conversation."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._is_read = False
        self.text = ""

    async def read(self) -> None:
        """Read it before the first turn."""
        if self._is_read:
            return
        self._is_read = True
        self.text = await describe_git(self._host.workspace, self._host.guard)


async def _prepare_turn(
    starts: FirstStarts,
    options: ConversationOptions,
    role: AgentRole,
    conversation: Conversation,
    git: "GitAtStart | None",
) -> None:
    """Wait for servers that are new, and look at the files that the agent goes by: they may have changed."""
    await starts.wait()
    if git is not None:
        await git.read()
    if role.refresh is not None:
        await role.refresh(conversation)
    if options.words is not None:
        await options.words.refresh(conversation)


@asynccontextmanager
async def open_kept_agent(
    host: Host, model: Model, options: ConversationOptions, role: AgentRole
) -> AsyncIterator[Agent]:
    """The same in a session on disk: a new one, or one that goes on. The model is closed at the end.

    Raises: as `open_agent` and `open_session`.
    """
    workspace = host.workspace
    session = open_session(
        workspace.where,
        workspace.cwd,
        options.session,
        model=model.name,
        agent=role.name,
        find_mode=lambda: find_mode(options.policy) or host.call_policy().mode,
        window=model.window,
        days=host.settings["sessionDays"],
        on_problem=options.on_problem,
    )
    async with AsyncExitStack() as ends:
        ends.push_async_callback(model.close)
        opened = await ends.enter_async_context(session)
        kept = replace(role, journal=opened.journal, past=_make_past(opened))
        async with open_agent(host, model, options, kept) as agent:
            opened.journal.list_loaded = lambda: agent.conversation.loaded
            for lack in agent.lacks:
                options.on_problem(lack)
            yield agent


def _make_past(opened: OpenedSession) -> AgentPast:
    resumed = opened.resumed
    if resumed is None:
        handed_over = () if opened.handover is None else (opened.handover.message,)
        return AgentPast(opened.journal.id, messages=handed_over)
    return AgentPast(opened.journal.id, resumed.session.turns, resumed.messages, resumed.ended, resumed.loaded)


async def choose_model_for(
    host: Host,
    spec: str | None,
    agent_model: str | None,
    continued: SessionSummary | None = None,
    *,
    is_agent_named: bool = True,
    effort: EffortWish | None = None,
) -> Model:
    """The model that is meant: `spec`, else that of the agent's definition, else what the environment or the settings
    name. A conversation that goes on has the model that answered in it, unless `spec` or an agent that is named now
    (`is_agent_named`) says otherwise. It thinks as much as the settings say, unless an `effort` is chosen.

    Raises: ConfigError.
    """
    from mooring.backends.api.choose import choose_model  # only where a model is wanted

    where = host.workspace.where
    if spec is not None or continued is None:
        return await choose_model(spec, where, host.settings, agent_model, effort=effort)
    # The model that answered is what came of the agent's file, if nobody names another agent.
    from_file = agent_model if is_agent_named else None
    try:
        return await choose_model(None, where, host.settings, from_file, continued.model, effort)
    except NoModel as error:
        reason = str(error).removesuffix(error.hint).rstrip()
        hint = f"{error.hint} Or choose another model with -m PROVIDER:MODEL."
        raise NoModel(f"This conversation can't go on with its model: {reason}", hint) from error


def add_definition(
    options: ConversationOptions, defined: "DefinedAgent | None"
) -> tuple[ConversationOptions, AgentRole]:
    """The options of a conversation with a defined agent, whose definition narrows what they permit, and who it is."""
    if defined is None:
        return options, AgentRole()
    definition = defined.definition
    role = AgentRole(
        definition=definition,
        find_taken_name=lambda: defined.taken_name,
        prompt=lambda: defined.definition.prompt,
        refresh=defined.refresh,
        within=apply_selection(definition.tools, None),
    )
    # Before the others: the first that matches decides, and these only deny or ask.
    return replace(options, rules=(*definition.rules, *options.rules)), role


@asynccontextmanager
async def agent(
    host: Host,
    model: str | Model | None = None,
    *,
    instructions: str = "",
    ask: Ask | None = None,
    policy: Policy | None = None,
    rules: Iterable[Rule] = (),
    tools: Iterable[ModelTool] = (),
    local: bool = False,
    instruction_files: bool = False,
    allow: Iterable[str] | None = None,
    deny: Iterable[str] = (),
    max_turns: int | None = None,
    max_cost: float | None = None,
    token_budget: int | None = None,
    agent: str | None = None,
    agents: Iterable[AgentDefinition] | None = None,
) -> AsyncIterator[Agent]:
    """A model that uses everything a host offers:

        async with mooring.open() as host, mooring.agent(host, "anthropic:claude-sonnet-5-5") as agent:
            done = await agent.run("Which of my repositories has the most open issues?")
            print(done.text)

    Args:
        model: the provider and the model, or a `Model` of your own, which stays yours to close. By default, what
            `MOORING_MODEL` or the settings say.
        instructions: what it is told besides, in its system prompt.
        ask, policy, rules: who is asked about calls, and which may be made unasked, as in `mooring.open`.
        tools: tools of its own; `mooring.tool` makes one.
        local: whether it has the tools for this machine too: files, commands, pages. Each call is checked like any
            other.
        instruction_files: whether it goes by AGENTS.md, CLAUDE.md and the skills of the host's folder and of the
            person.
        allow, deny: globs over `server.tool` of what it may use.
        max_turns: how many times the model is asked in one turn, at most: 100 unless the settings have another number.
            With `ask`, a `ContinueTurn` is asked there; without it the turn ends.
        max_cost: what one turn may cost in US dollars, with its sub-agents. It needs a model whose price is known.
        token_budget: how many tokens one turn may take, in and out, with those of its sub-agents.
        agent: the name of a defined agent, as `mooring agents` lists them. Its file says who the model is, and narrows
            the tools; `model` comes before the one that the file names.
        agents: the agents that it can start as sub-agents. By default, with `local`, those that agent files define.

    Raises: ConfigError if there is no such model or agent, or an option is invalid.
    """
    options = ConversationOptions(
        instructions=instructions,
        ask=ask,
        policy=policy,
        rules=tuple(rules),
        tools=tuple(tools),
        local=local,
        words=AgentWords(host.workspace) if instruction_files else None,
        allow=None if allow is None else tuple(allow),
        deny=tuple(deny),
        limits=TurnLimits(max_turns, max_cost, token_budget),
        agents=None if agents is None else tuple(agents),
    )
    defined = None
    if agent is not None:
        from mooring.verbs.agent.defined_agent import find_defined_agent  # few programs name one

        defined = await find_defined_agent(host, agent)
    options, role = add_definition(options, defined)
    async with AsyncExitStack() as ends:
        # A model of the program's own stays open: it may use it elsewhere too.
        if model is None or isinstance(model, str):
            model = await choose_model_for(host, model, None if defined is None else defined.definition.model)
            ends.push_async_callback(model.close)
        yield await ends.enter_async_context(open_agent(host, model, options, role))
