"""Who answers in a chat: the person, a model, or another agent's program. Each is opened with the tools it has there.

A chat that changes who answers closes one `Responder` and opens the next; the host and its servers stay.
"""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

from msgspec import Struct

from mooring.agents.definition import AgentDefinition
from mooring.agents.reporter import TurnReporter
from mooring.backends.host_servers import HostServers, SwitchServer
from mooring.backends.manual import ManualBackend
from mooring.chat.face import Face
from mooring.core.conversation.backend_name import BackendName, ProgramName, is_program
from mooring.core.conversation.call import CallChanged, ConversationEvent
from mooring.core.conversation.turn import Backend
from mooring.core.conversation.verdict import Mode
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.limits import TurnLimits
from mooring.display.text import safe
from mooring.host.first_starts import FirstStarts
from mooring.host.host import Host
from mooring.verbs.agent.choose_backend import BackendChoice, check_model_options, choose_backend, restore_model
from mooring.verbs.agent.session_start import SessionStart
from mooring.verbs.agent.words import AgentWords

if TYPE_CHECKING:
    from mooring.conversation.conversation import Conversation
    from mooring.tools.results.outcome import Media
    from mooring.verbs.agent.defined_agent import DefinedAgent
    from mooring.verbs.agent.program import KeptProgram
    from mooring.verbs.agent.turn import Agent


class ChatOptions(Struct, frozen=True, kw_only=True):
    """Who answers in a chat."""

    backend: BackendName | None = None
    """`None`: what the settings say; else a model if one is chosen, else the person."""
    model: str | None = None
    """The provider and the model; `None` for what the environment or the settings name. Another agent's program gets it
    as it is."""
    agent: str | None = None
    """The name of a defined agent."""
    limits: TurnLimits = TurnLimits()
    session: SessionStart = SessionStart()


class ResponderSetup(Struct, frozen=True, kw_only=True):
    """What a chat has for whoever answers in it."""

    host: Host
    face: Face
    words: AgentWords
    mode: Mode | None
    """The permission mode that the chat was started with."""
    switch: SwitchServer
    """Enables or disables a server until the chat ends."""
    starts: FirstStarts
    tokens: int
    lines: int
    """How much of a result the person is shown at once."""


class Responder(Struct, frozen=True, kw_only=True):
    """Whoever answers in a chat, and the tools that they have."""

    backend: Backend
    registry: "Conversation"
    model: str | None = None
    """The provider and the model that answers, or the program of another agent; `None` if it is the person."""
    agent: "Agent | None" = None
    program: "KeptProgram | None" = None
    """Another agent's program, if that is what answers."""
    definition: AgentDefinition | None = None
    """Of the defined agent that answers, if it is one."""
    session: str | None = None
    """The id under which the conversation is stored; `None` if it isn't."""

    @property
    def agent_name(self) -> str | None:
        """The defined agent that answers, if it is one."""
        return None if self.definition is None else self.definition.name

    @property
    def is_projects_agent(self) -> bool:
        """Whether a file of the project defines it: the person may never have read that."""
        return self.definition is not None and self.definition.origin.scope == "project"

    @property
    def takes(self) -> "Collection[Media] | None":
        """What whoever answers takes besides text; `None` if it is the person."""
        if self.agent is not None:
            return self.agent.takes
        # A program reads images itself, by their path.
        return None if self.program is None else ()

    @property
    def has_native_servers(self) -> bool:
        """Whether another agent's program starts the servers itself."""
        return self.program is not None and self.program.servers == "native"


def open_responder(setup: ResponderSetup, options: ChatOptions) -> AbstractAsyncContextManager[Responder]:
    """Whoever is to answer, until it is left. Raises: ConfigError if they can't."""
    # Whoever names an agent wants a model to answer, too.
    wanted = options.model or options.agent
    host = setup.host
    choice = choose_backend(options.backend, wanted, options.session, host.workspace, host.settings)
    check_model_options(choice.backend, options.limits)
    if choice.backend == "manual":
        return _open_manual(setup)
    if is_program(choice.backend):
        return _open_program(setup, options, choice.backend, choice)
    return _open_model(setup, options, choice)


@asynccontextmanager
async def _open_manual(setup: ResponderSetup) -> AsyncIterator[Responder]:
    face = setup.face
    reporter = TurnReporter(uuid4().hex, ManualBackend.name)

    def tell(event: ConversationEvent) -> None:
        if isinstance(event, CallChanged):
            reporter.tell_call(event)
        face.show_call_event(event)

    async with _make_registry(setup, tell) as registry:
        servers = HostServers(setup.host, setup.switch)
        yield Responder(backend=ManualBackend(face, registry, reporter, servers), registry=registry)


@asynccontextmanager
async def _open_model(setup: ResponderSetup, options: ChatOptions, choice: BackendChoice) -> AsyncIterator[Responder]:
    # Loaded here: without a model, nothing of an agent is needed.
    from mooring.verbs.agent.options import AgentOptions
    from mooring.verbs.agent.turn import add_definition, open_kept_agent, restore_model_for

    face = setup.face
    agent_options = AgentOptions(
        ask=face.ask,
        limits=options.limits,
        local=True,
        words=setup.words,
        starts=setup.starts,
        switch=setup.switch,
    )
    definition = None
    defined = await _find_defined_agent(setup, options, choice)
    if defined is not None:
        agent_options, definition = add_definition(agent_options, defined), defined.definition
    model = await restore_model_for(
        setup.host,
        options.model,
        None if definition is None else definition.model,
        choice.remembers_model,
        is_agent_named=options.agent is not None,
    )
    kept = open_kept_agent(
        setup.host,
        model,
        agent_options,
        choice.session,
        on_problem=lambda problem: _show_problem(face, problem),
        tell=face.show_call_event,
    )
    async with kept as agent:
        yield Responder(
            backend=agent.backend,
            registry=agent.registry,
            model=agent.model,
            agent=agent,
            definition=definition,
            session=agent.session,
        )


@asynccontextmanager
async def _open_program(
    setup: ResponderSetup, options: ChatOptions, name: ProgramName, choice: BackendChoice
) -> AsyncIterator[Responder]:
    # Loaded here: most chats need no program of another agent.
    from mooring.verbs.agent.program import ProgramOptions, open_program

    face = setup.face
    defined = await _find_defined_agent(setup, options, choice)
    definition = None if defined is None else defined.definition
    named_model = definition.model if definition is not None and options.agent is not None else None
    model = restore_model(choice.remembers_model, options.model, named_model)
    program_options = ProgramOptions(
        name=name,
        model=model,
        agent=definition,
        ask=face.ask,
        policy=setup.mode,
        switch=setup.switch,
        limits=options.limits,
    )
    session = choice.session
    kept = open_program(setup.host, program_options, session, on_problem=lambda problem: _show_problem(face, problem))
    label = name if model is None else f"{name} ({model})"
    # What the person calls by a command goes past the program, and is shown as it is without one.
    async with kept as program, _make_registry(setup, face.show_call_event) as registry:
        yield Responder(
            backend=program,
            registry=registry,
            model=label,
            program=program,
            definition=definition,
            session=program.session,
        )


async def _find_defined_agent(
    setup: ResponderSetup, options: ChatOptions, choice: BackendChoice
) -> "DefinedAgent | None":
    """The agent that answers, if it is a defined one; the person is told what it goes without.

    Raises: ConfigError if there is no such agent; FileError.
    """
    from mooring.verbs.agent.defined_agent import find_defined_agent  # only for a chat with a model

    defined = await find_defined_agent(setup.host, options.agent, choice.continued)
    if defined is None:
        return None
    for lack in defined.describe_missing(setup.host):
        setup.face.notice(lack)
    return defined


def _make_registry(setup: ResponderSetup, tell: Callable[[ConversationEvent], None]) -> "Conversation":
    """The tools for a person, who picks them and reads no schemas."""
    return setup.host.conversation(
        budget=None,
        follow=True,
        takes=(),
        tokens=setup.tokens,
        lines=setup.lines,
        tell=tell,
    )


def _show_problem(face: Face, problem: Problem) -> None:
    face.notice(safe(f"{problem.message}; {problem.hint}"))
