"""Who answers in a conversation: the person, a model, or another agent's program; chosen once and opened in one way.

The chat, a turn without a person and whatever comes after them choose with `choose_responder` and open with
`open_responder`. A chat that changes who answers closes one `Responder` and opens the next; the host and its servers
stay.
"""

from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from mooring.agents.definition import AgentDefinition
from mooring.agents.reporter import TurnReporter
from mooring.backends.host_servers import HostServers
from mooring.backends.manual import ManualBackend, Person
from mooring.conversation.events import EventStream
from mooring.core.conversation.backend_name import BackendName, ProgramName, is_program
from mooring.core.conversation.turn import Backend
from mooring.host.host import Host
from mooring.verbs.agent.choose_backend import BackendChoice, check_model_options, choose_backend
from mooring.verbs.agent.options import ConversationOptions

if TYPE_CHECKING:
    from mooring.agents.history import Journal
    from mooring.agents.model import Model
    from mooring.conversation.conversation import Conversation
    from mooring.tools.results.outcome import Media
    from mooring.verbs.agent.defined_agent import DefinedAgent
    from mooring.verbs.agent.program import KeptProgram
    from mooring.verbs.agent.turn import Agent


# --- choosing ---------------------------------------------------------------------------------------------------------


class ChosenResponder(Struct, frozen=True, kw_only=True):
    """Who is to answer, before anything of it is open."""

    backend: BackendName
    options: ConversationOptions
    """How the conversation is had; its `session` is the one that goes on."""
    defined: "DefinedAgent | None" = None
    """The defined agent that answers, if it is one."""
    model: "Model | None" = None
    """`None` for the person and for a program."""
    program_model: str | None = None
    """The model as a program names it."""

    @property
    def definition(self) -> AgentDefinition | None:
        return None if self.defined is None else self.defined.definition

    @property
    def takes(self) -> "Collection[Media]":
        """What it takes besides text."""
        return () if self.model is None else self.model.takes

    def starts_servers(self, host: Host) -> bool:
        """Whether Mooring starts the servers; in the native way, a program does."""
        return not is_program(self.backend) or host.settings["backendServers"] == "shared"


async def choose_responder(host: Host, options: ConversationOptions) -> ChosenResponder:
    """Find out who is to answer; without a person who could pick tools, it is a model or a program.

    Raises: ConfigError if nobody can answer, or there is no such agent; FileError.
    """
    # Whoever names an agent wants a model to answer, too.
    wanted = options.model or options.agent
    choice = choose_backend(options.backend, wanted, options.session, host.workspace, host.settings)
    check_model_options(choice.backend, options.limits, options.effort)
    options = replace(options, session=choice.session)
    if choice.backend == "manual" and options.person is not None:
        return ChosenResponder(backend="manual", options=options)
    from mooring.verbs.agent.defined_agent import find_defined_agent  # only where a model answers

    defined = await find_defined_agent(host, options.agent, choice.continued)
    if is_program(choice.backend):
        named = _name_program_model(options, choice, defined)
        return ChosenResponder(backend=choice.backend, options=options, defined=defined, program_model=named)
    # Without a person, too: what is missing is said when a model is looked for.
    model = await _choose_model(host, options, choice, defined)
    return ChosenResponder(backend="api", options=options, defined=defined, model=model)


async def _choose_model(
    host: Host, options: ConversationOptions, choice: BackendChoice, defined: "DefinedAgent | None"
) -> "Model":
    # Loaded here: without a model, nothing of an agent is needed.
    from mooring.verbs.agent.options import check_price
    from mooring.verbs.agent.turn import choose_model_for

    agent_model = None if defined is None else defined.definition.model
    is_named = options.agent is not None
    past = choice.remembers_model
    model = await choose_model_for(
        host, options.model, agent_model, past, is_agent_named=is_named, effort=options.effort
    )
    check_price(options.limits, model)  # before anything is waited for
    return model


def _name_program_model(
    options: ConversationOptions, choice: BackendChoice, defined: "DefinedAgent | None"
) -> str | None:
    """The model as the program names it: the one asked for, else the one that answered last."""
    past = choice.remembers_model
    # The program knows itself which model an agent has that was named just now. One that comes back with the
    # conversation answered with the model that the conversation remembers.
    names_model = options.agent is not None and defined is not None and defined.definition.model is not None
    if options.model is not None or past is None or names_model:
        return options.model
    return past.model or None


# --- opening ----------------------------------------------------------------------------------------------------------


class Responder(Struct, frozen=True, kw_only=True):
    """Whoever answers, and the tools that they have."""

    backend: Backend
    stream: EventStream
    """Everything that happens in the conversation."""
    conversation: "Conversation | None"
    """Its tools, or those that the person picks by commands; `None` for a program without a person."""
    model: str | None = None
    """The provider and the model that answers, or the program of another agent; `None` if it is the person."""
    agent: "Agent | None" = None
    program: "KeptProgram | None" = None
    """Another agent's program, if that is what answers."""
    definition: AgentDefinition | None = None
    """Of the defined agent that answers, if it is one."""
    session: str | None = None
    """The id under which the conversation is stored; `None` if it isn't."""
    journal: "Journal | None" = None
    """Keeps the conversation; `None` if nothing does."""

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


def open_responder(host: Host, chosen: ChosenResponder) -> AbstractAsyncContextManager[Responder]:
    """Whoever is to answer, until it is left. Raises: ConfigError if they can't."""
    if chosen.model is not None:
        return _open_model(host, chosen, chosen.model)
    if is_program(chosen.backend):
        return _open_program(host, chosen, chosen.backend)
    assert chosen.options.person is not None  # `choose_responder` chooses nobody else without one
    return _open_manual(host, chosen.options, chosen.options.person)


@asynccontextmanager
async def _open_manual(host: Host, options: ConversationOptions, person: Person) -> AsyncIterator[Responder]:
    stream = host.begin_stream()
    async with _converse_with_person(host, options, stream) as conversation:
        reporter = TurnReporter(stream, ManualBackend.name)
        backend = ManualBackend(person, conversation, reporter, HostServers(host, options.switch))
        yield Responder(backend=backend, stream=stream, conversation=conversation)


@asynccontextmanager
async def _open_model(host: Host, chosen: ChosenResponder, model: "Model") -> AsyncIterator[Responder]:
    # Loaded here: without a model, nothing of an agent is needed.
    from mooring.verbs.agent.turn import add_definition, open_kept_agent

    # The mode is the host's already.
    options, role = add_definition(replace(chosen.options, local=True, policy=None), chosen.defined)
    async with open_kept_agent(host, model, options, role) as agent:
        yield Responder(
            backend=agent.backend,
            stream=agent.conversation.stream,
            conversation=agent.conversation,
            model=agent.model,
            agent=agent,
            definition=chosen.definition,
            session=agent.session,
            journal=agent.backend.thread.journal,
        )


@asynccontextmanager
async def _open_program(host: Host, chosen: ChosenResponder, name: ProgramName) -> AsyncIterator[Responder]:
    # Loaded here: most conversations need no program of another agent.
    from mooring.verbs.agent.program import open_program

    options, model = chosen.options, chosen.program_model
    async with open_program(host, options, name, model, chosen.definition) as program:
        opened = Responder(
            backend=program,
            stream=program.stream,
            conversation=None,
            model=name if model is None else f"{name} ({model})",
            program=program,
            definition=chosen.definition,
            session=program.session,
            journal=program.journal,
        )
        if options.person is None:
            yield opened
            return
        # What the person calls by a command goes past the program, and is shown as it is without one.
        async with _converse_with_person(host, options, program.stream) as conversation:
            yield replace(opened, conversation=conversation)


def _converse_with_person(host: Host, options: ConversationOptions, stream: EventStream) -> "Conversation":
    """The tools for a person, who picks them and reads no schemas."""
    return host.conversation(
        budget=None, follow=True, takes=(), tokens=options.tokens, lines=options.lines, stream=stream
    )
