"""A chat without a face: its host, its tools, the servers it switched on and off, and which news matter to a person.

The plain chat shows it in lines; every other face would show the same conversation.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from mooring.actions.agent_words import AgentWords
from mooring.actions.choose_backend import check_model_options, choose_backend
from mooring.actions.deadline import Deadline
from mooring.actions.opening import open_host
from mooring.actions.session_start import SessionStart
from mooring.agents.commands.find import FoundCommands
from mooring.agents.reporter import TurnReporter
from mooring.backends.host_servers import HostServers
from mooring.backends.manual import ManualBackend
from mooring.chat.news import ServerNews
from mooring.core.approved import Approved
from mooring.core.backend_name import BackendName, ProgramName, is_program
from mooring.core.call import CallChanged, ConversationEvent, Definition
from mooring.core.content import Block, Text
from mooring.core.near import find_server
from mooring.core.outcome import Outcome
from mooring.core.problem import Problem
from mooring.core.question import Ask
from mooring.core.result import FilledPrompt, Result
from mooring.core.status import Disabled, Status
from mooring.core.tool import Prompt
from mooring.core.turn import Backend, ServerStatus, TurnEvent, TurnInput
from mooring.core.verdict import CommandPermissions
from mooring.core.where import Viewpoint
from mooring.display.text import problem_line, safe
from mooring.errors import ConfigError, HeldBack, MooringError, ServerDisabled, UnknownTool
from mooring.host.host import Host
from mooring.host.options import HostOptions
from mooring.inventory.admit import Admitted, NotAdmitted, build_loader
from mooring.process.programs import Guard

if TYPE_CHECKING:
    from mooring.actions.agent_program import KeptProgram
    from mooring.actions.agents import AgentListing
    from mooring.actions.defined_agent import DefinedAgent
    from mooring.actions.switch import Switched
    from mooring.actions.turn import Agent
    from mooring.discovery.targets import WriteScope
    from mooring.tools.registry import Registry
    from mooring.tools.results.outcome import Media

T = TypeVar("T")


class Face(Protocol):
    """What a conversation needs from whatever shows it."""

    @property
    def ask(self) -> Ask:
        """Puts a question to the person."""

    def notice(self, text: str) -> None:
        """Show something that happened while the person was doing something else."""

    def show_call_event(self, event: ConversationEvent) -> None:
        """Show what became of a call, or of something that is watched."""

    def show_turn_event(self, event: TurnEvent) -> None:
        """Show what happens in a turn."""

    async def choose(self, found: Sequence[Definition]) -> Definition | str | None: ...

    async def fill(self, tool: Definition) -> Mapping[str, Any] | None: ...


class ChatOptions(Struct, frozen=True, kw_only=True):
    """Who answers in a chat."""

    backend: BackendName | None = None
    """`None`: what the settings say; else a model if one is chosen, else the person."""
    model: str | None = None
    """The provider and the model; `None` for what the environment or the settings name. Another agent's program gets it
    as it is."""
    agent: str | None = None
    """The name of a defined agent."""
    max_turns: int | None = None
    session: SessionStart = SessionStart()


class Conversation:
    """Everything in one chat that is not drawn. Use `open`, then `start`."""

    host: Host
    news: ServerNews
    registry: "Registry"
    backend: Backend
    model: str | None = None
    """The provider and the model that answers, or the program of another agent; `None` if it is the person."""
    agent: "Agent | None" = None
    agent_name: str | None = None
    """The defined agent that answers, if it is one."""
    is_projects_agent = False
    """Whether a file of the project defines it: the person may never have read that."""
    program: "KeptProgram | None" = None
    """Another agent's program, if that is what answers."""

    def __init__(
        self,
        viewpoint: Viewpoint,
        permissions: CommandPermissions,
        face: Face,
        guard: Guard | None = None,
        options: ChatOptions | None = None,
        *,
        tokens: int,
        lines: int,
    ) -> None:
        """`tokens` and `lines` are how much of a result is shown at once."""
        self.viewpoint = viewpoint
        self.tokens = tokens
        self.lines = lines
        self.permissions = permissions
        self._face = face
        self._guard = guard
        self._options = options or ChatOptions()
        self.words = AgentWords(viewpoint, lambda problem: face.notice(problem_line(problem, viewpoint.where.home)))
        self.commands = FoundCommands()
        """The commands that files define, as of the last look."""
        self._switched_on: frozenset[str] = frozenset()
        self._switched_off: frozenset[str] = frozenset()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Open the host and the tools, and close them at the end. Raises: ConfigError."""
        options = HostOptions(
            request=self.viewpoint,
            ask=self._face.ask,
            policy=self.permissions.mode,
            rules=self.permissions.rules,
            guard=self._guard,
            reload=True,
            adapt=self._adapt,
            warn=lambda server, lack: self._face.notice(f"{safe(server)}: {safe(lack)}"),
        )
        async with open_host(options) as self.host:
            self.news = ServerNews(self.host, self._face.notice)
            async with self._open_backend():
                listening = asyncio.create_task(self.news.follow())
                try:
                    yield
                finally:
                    listening.cancel()

    @asynccontextmanager
    async def _open_backend(self) -> AsyncIterator[None]:
        """Set who answers, and the tools of this conversation. Raises: ConfigError if they can't."""
        options = self._options
        # Whoever names an agent wants a model to answer, too.
        wanted = options.model or options.agent
        choice = choose_backend(options.backend, wanted, options.session, self.viewpoint, self.host.settings)
        check_model_options(choice.backend, options.max_turns)
        if choice.backend == "manual":
            opened = self._open_manual()
        elif is_program(choice.backend):
            opened = self._open_program(choice.backend, choice.session)
        else:
            opened = self._open_model(choice.session)
        async with opened:
            yield

    @asynccontextmanager
    async def _open_model(self, start: SessionStart) -> AsyncIterator[None]:
        # Loaded here: without a model, nothing of an agent is needed.
        from mooring.actions.agent_options import AgentOptions
        from mooring.actions.turn import add_definition, choose_model_for, open_kept_agent

        options = AgentOptions(
            ask=self._face.ask,
            max_turns=self._options.max_turns,
            local=True,
            words=self.words,
            switch=self.switch,
        )
        agent_model = None
        defined = await self._find_defined_agent()
        if defined is not None:
            options, agent_model = add_definition(options, defined), defined.definition.model
        model = await choose_model_for(self.host, self._options.model, agent_model)
        kept = open_kept_agent(
            self.host,
            model,
            options,
            start,
            on_problem=self._show_problem,
            tell=self._face.show_call_event,
        )
        async with kept as self.agent:
            self.registry, self.backend, self.model = self.agent.registry, self.agent.backend, self.agent.model
            yield

    async def _find_defined_agent(self) -> "DefinedAgent | None":
        """The agent that answers, if it is a defined one; the person is told what it goes without.

        Raises: ConfigError if there is no such agent; FileError.
        """
        from mooring.actions.defined_agent import find_defined_agent  # only for a chat with a model

        defined = await find_defined_agent(self.host, self._options.agent, self._options.session)
        if defined is None:
            return None
        self.agent_name = defined.definition.name
        self.is_projects_agent = defined.definition.origin.scope == "project"
        for lack in defined.describe_missing(self.host):
            self._face.notice(lack)
        return defined

    async def list_agents(self) -> "AgentListing":
        """The agents that can be used here."""
        from mooring.actions.agents import list_agents  # few chats ask for them
        from mooring.inventory.load import load

        return await asyncio.to_thread(lambda: list_agents(self.viewpoint, load(self.viewpoint)))

    @asynccontextmanager
    async def _open_program(self, name: ProgramName, start: SessionStart) -> AsyncIterator[None]:
        # Loaded here: most chats need no program of another agent.
        from mooring.actions.agent_program import ProgramOptions, open_program

        defined = await self._find_defined_agent()
        options = ProgramOptions(
            name=name,
            model=self._options.model,
            agent=None if defined is None else defined.definition.name,
            ask=self._face.ask,
            policy=self.permissions.mode,
            switch=self.switch,
        )
        kept = open_program(self.host, options, start, on_problem=self._show_problem)
        # What the person calls by a command goes past the program, and is shown as it is without one.
        async with kept as self.program, self._open_registry(self._face.show_call_event):
            self.backend = self.program
            self.model = name if options.model is None else f"{name} ({options.model})"
            yield

    def _show_problem(self, problem: Problem) -> None:
        self._face.notice(safe(f"{problem.message}; {problem.hint}"))

    @asynccontextmanager
    async def _open_manual(self) -> AsyncIterator[None]:
        reporter = TurnReporter(uuid4().hex, ManualBackend.name)

        def tell(event: ConversationEvent) -> None:
            if isinstance(event, CallChanged):
                reporter.tell_call(event)
            self._face.show_call_event(event)

        async with self._open_registry(tell):
            servers = HostServers(self.host, self.switch)
            self.backend = ManualBackend(self._face, self.registry, reporter, servers)
            yield

    @asynccontextmanager
    async def _open_registry(self, tell: Callable[[ConversationEvent], None]) -> AsyncIterator[None]:
        """The tools for a person, who picks them and reads no schemas."""
        tools = self.host.registry(
            budget=None,
            follow=True,
            takes=(),
            tokens=self.tokens,
            lines=self.lines,
            tell=tell,
        )
        async with tools as self.registry:
            yield

    @property
    def takes(self) -> "Collection[Media] | None":
        """What whoever answers takes besides text; `None` if it is the person."""
        if self.agent is not None:
            return self.agent.takes
        # A program reads images itself, by their path.
        return None if self.program is None else ()

    async def resume_turn(self) -> None:
        """Go on with the turn that a session was cut off in, if it was. Raises: as `turn`."""
        if self.agent is not None and self.agent.is_interrupted:
            await self.agent.run_turn(None, self._face.show_turn_event)

    async def turn(self, request: str) -> None:
        """Have a request answered, with what it names attached if a model answers.

        Raises: MooringError; whatever the person's answers raise.
        """
        await self.send(await self.expand(request))

    async def send(self, said: TurnInput) -> None:
        """Have something answered as it is. Raises: as `turn`."""
        await self.backend.turn(said, self._face.show_turn_event)

    async def expand(self, request: str) -> TurnInput:
        """A request with what it names attached, if a model answers. Raises: as `expand_mentions`."""
        takes = self.takes
        if takes is None or "@" not in request:
            return TurnInput(request)
        from mooring.actions.mentions import expand_mentions  # few requests name anything

        return await expand_mentions(self.host, request, takes, Deadline(None))

    async def wait_for_servers(self) -> None:
        """Give servers a moment to connect; those that come later are announced when they do."""
        if self.has_native_servers:
            return  # the program starts them, and each would run twice
        await self.host.ready(self.host.settings["startWindow"] / 1000)
        await self.registry.skills.list()  # so that Tab knows them

    def start(self) -> None:
        """Use the servers that are there by now, and announce what changes from now on."""
        self.registry.learn()
        self.news.start()

    # --- tools and resources --------------------------------------------------------------------------------------

    async def find_tool(self, name: str) -> Definition:
        """The tool of that name; a server that has not listed its tools yet is asked. Raises: as `Host.find`."""
        found = self.registry.find(name)
        if found is not None:
            return found
        # The server goes by another name too, or it is still connecting.
        try:
            entry = await self.host.find(name)
        except HeldBack as error:
            self.host.record_held(error)  # whoever looks for a tool here is about to call it
            raise
        self.news.note_tools()
        found = self.registry.find(entry.name)
        if found is None:
            raise UnknownTool("This chat", name)
        return found

    async def read_resource(self, server: str, uri: str) -> Outcome:
        """The contents of a resource, permitted and logged like every read. Raises: as `Host.read`; Denied."""
        from mooring.tools.results.outcome import result_of_reading  # few people begin a chat by reading

        result = result_of_reading(await self.host.read(server, uri), server, uri)
        return await self._deliver(result)

    async def list_prompts(self, server: str | None = None) -> list[tuple[str, Prompt]]:
        """The prompts of a server, or of all, each with its server. Raises: as `Host.prompts`."""
        found = await self.host.prompts(server)
        return [(item.server, item.item) for item in found if isinstance(item.item, Prompt)]

    def list_known_prompts(self) -> Iterator[tuple[str, Prompt]]:
        """The prompts that servers have listed so far, each with its server."""
        for name, server in self.host.servers.items():
            if server.offer is not None and server.offer.prompts is not None:
                yield from ((name, prompt) for prompt in server.offer.prompts.items)

    def list_known_resources(self) -> Iterator[str]:
        """The resources that servers have listed so far, as they are named in a request: `@server:uri`."""
        for name, server in self.host.servers.items():
            if server.offer is None or server.offer.resources is None:
                continue
            for resource in server.offer.resources.items:
                mention = f"@{name}:{resource.uri}"
                # Tab writes it to the terminal as it is.
                if mention.isprintable() and " " not in mention:
                    yield mention

    async def find_commands(self) -> FoundCommands:
        """Look for the commands that files define."""
        self.commands = await asyncio.to_thread(self.words.commands.find)
        return self.commands

    async def make_prompt_turn(self, server: str, name: str, filled: FilledPrompt) -> TurnInput | None:
        """What a filled prompt says to the model; `None` if no model answers. Raises: ConfigError if it is empty."""
        takes = self.takes
        if takes is None:
            return None
        from mooring.actions.prompt_turn import make_prompt_turn  # few chats use a prompt

        return await make_prompt_turn(self.host, server, name, filled, takes)

    async def describe_prompt(self, server: str, name: str, filled: FilledPrompt) -> Outcome:
        """The messages of a prompt as a person reads them."""
        blocks: list[Block] = []
        for message in filled.messages:
            blocks += [Text(f"{message.role}:"), message.content]
        return await self._deliver(Result(tuple(blocks), server=server, tool=name))

    async def _deliver(self, result: Result) -> Outcome:
        """A result as it is shown: what is too long goes into a file, as it does for a model."""
        # Imported here: a chat in which nothing is read or filled in needs none of it before its first call.
        from mooring.tools.results.deliver import Delivery
        from mooring.tools.results.store import ResultStore

        delivery = Delivery(ResultStore(f"{self.viewpoint.where.cache}/results"), (), self.tokens, self.lines)
        return await delivery.deliver(result, Outcome(server=result.server, tool=result.tool))

    # --- servers --------------------------------------------------------------------------------------------------

    @property
    def status(self) -> Mapping[str, Status]:
        return self.host.status()

    def find_server(self, name: str) -> str:
        """The server that is meant, even one that may not be started. Raises: UnknownServer."""
        return find_server(name, self.status)

    async def list_agent_status(self) -> Sequence[ServerStatus]:
        """The status of each server as another agent's program has it; empty if none answers. Raises: MooringError."""
        return () if self.program is None else await self.program.status()

    @property
    def has_native_servers(self) -> bool:
        """Whether another agent's program starts the servers itself."""
        return self.program is not None and self.program.servers == "native"

    async def reload(self, name: str) -> None:
        """Restart one server and wait for it. Raises: why it cannot be reached."""
        known = self.host.server(name).name
        if self.has_native_servers:
            await self.backend.reconnect(known)
            return
        with self.news.attend(known):
            await self.host.reload(known)
            errors = await self.host.ready(servers=[known], refresh=True)
        for error in errors.values():
            raise error

    async def reread(self) -> None:
        """Read the configuration again, because the person wants it so."""
        self.news.expects_reload = True
        await self.host.reload()
        self.news.note_tools()

    async def change_files(self, change: Awaitable[T]) -> T:
        """Wait for a change of the configuration's files, and put it into effect here. Raises: as `change`."""
        changed = await self._write(change)
        await self.reread()
        return changed

    async def _write(self, change: Awaitable[T]) -> T:
        # The host may notice the change before it is told of it: that is no news to whoever makes it.
        self.news.expects_reload = True
        try:
            return await change
        except MooringError:
            self.news.expects_reload = False
            raise

    async def list_unapproved(self) -> tuple[str, ...]:
        """The project's servers that nobody has decided about as they are now."""
        # Loaded here: few chats approve anything.
        from mooring.inventory.approval import list_undecided
        from mooring.inventory.load import load

        inventory = await asyncio.to_thread(load, self.viewpoint)
        return tuple(definition.name for definition in list_undecided(inventory))

    async def approve_server(self, server: str) -> bool:
        """Ask about a project's server, and connect it if it is approved; whether it was.

        Raises: as `Host.ask_about_server`; why it cannot be reached.
        """
        self.news.expects_reload = True
        if not await self.host.ask_about_server(server):
            self.news.expects_reload = False
            return False
        with self.news.attend(self.host.server(server).name):
            errors = await self.host.ready(servers=[server])
        self.news.note_tools()
        for error in errors.values():
            raise error
        return True

    async def describe_no(self, server: str) -> str:
        """What it means that the person did not approve a project's server. Raises: as `Host.ask_about_server`."""
        from mooring.inventory.approval import list_questions
        from mooring.inventory.approval_rows import describe_no
        from mooring.inventory.load import load

        inventory = await asyncio.to_thread(load, self.viewpoint)
        [question] = await asyncio.to_thread(list_questions, inventory, [server], self.viewpoint.where)
        return describe_no(question, "/reject")

    async def reject_server(self, server: str) -> None:
        """Refuse a project's server until its definition changes, and end it if it runs.

        Raises: as `Host.ask_about_server`.
        """
        from mooring.inventory.approval import decide, list_questions
        from mooring.inventory.load import load

        where = self.viewpoint.where
        inventory = await asyncio.to_thread(load, self.viewpoint)
        questions = await asyncio.to_thread(list_questions, inventory, [server], where)
        await asyncio.to_thread(decide, inventory, questions, where, False)
        await self.reread()

    async def approve_tools(self, server: str) -> bool:
        """Ask about the tools of a server that are held back; whether they may be called now. Raises: FileError."""
        agreed = await self.host.ask_about_tools(server)
        self.news.note_tools()
        return agreed

    async def switch(self, server: str, on: bool) -> None:
        """Enable or disable a server until the chat ends, also for a program that was given it.

        Raises: why it cannot be started.
        """
        if on:
            self._switch_on(server)
        else:
            self._switched_off |= {server}
        await self.reread()
        refused = self.host.refused.get(server)
        if on and refused is not None:
            raise _explain_refusal(server, refused)

    async def save_switch(self, server: str, on: bool, scope: "WriteScope | None") -> "Switched":
        """Enable or disable a server for good, and here. Raises: as `actions.switch.switch`."""
        from mooring.actions.switch import switch  # few chats save anything

        saved = await self._write(asyncio.to_thread(switch, self.viewpoint, server, on, scope))
        self.forget_switch(server)
        await self.reread()
        return saved

    def forget_switch(self, server: str) -> None:
        """Leave it to the configuration whether a server is on, from the next time that it is read."""
        self._switched_on -= {server}
        self._switched_off -= {server}

    async def connect(self, server: str) -> None:
        """Connect a server and wait for its tools. Raises: why it cannot be reached."""
        name = self.host.server(server).name
        if self.has_native_servers:
            await self.backend.status()  # the program connects it, and answers once it has tried
            return
        with self.news.attend(name):
            errors = await self.host.ready(servers=[name], refresh=True)
        for error in errors.values():
            raise error
        self.news.note_tools()

    def count_tools(self, server: str) -> int:
        """How many tools of a server are known. Raises: as `Host.server`."""
        return len(self.host.tools_by_server.get(self.host.server(server).name, ()))

    def _switch_on(self, server: str) -> None:
        # A server that was switched off here comes back by itself. One that its own file switches off has to be
        # admitted again, this time as one that is on.
        if isinstance(self.status[server], Disabled) and server not in self._switched_off:
            self._switched_on |= {server}
        self._switched_off -= {server}

    def _adapt(self, admitted: Admitted) -> Admitted:
        """The configuration, with the servers that were switched on and off here."""
        if self._switched_on:
            viewpoint = replace(self.viewpoint, switched_on=self._switched_on)
            switched = build_loader(viewpoint, None)()
            admitted = replace(admitted, wanted=switched.wanted, aliases=switched.aliases, refused=switched.refused)
        if self._switched_off:
            admitted = _refuse(admitted, self._switched_off)
        return admitted


def _refuse(admitted: Admitted, servers: frozenset[str]) -> Admitted:
    """The same with some servers refused, under all of their names."""
    names = set(servers)
    names.update(name for name, alias in admitted.aliases.items() if alias.server in servers)
    refused = dict(admitted.refused)
    # A name that isn't configured any more, or was refused before, stays as it is.
    definitions = {**admitted.wanted, **{name: alias.approved for name, alias in admitted.aliases.items()}}
    for name in names & definitions.keys():
        refused[name] = _disable(name, definitions[name])
    return replace(
        admitted,
        wanted={name: approved for name, approved in admitted.wanted.items() if name not in names},
        aliases={name: alias for name, alias in admitted.aliases.items() if name not in names},
        refused=refused,
    )


def _explain_refusal(server: str, refused: NotAdmitted) -> MooringError:
    """Why a server stays off that was to be enabled; "enable it" would be no help."""
    if isinstance(refused.error, ServerDisabled):
        return ConfigError(f"{server} stays disabled: {refused.error.by}.")
    return refused.error


def _disable(name: str, approved: Approved) -> NotAdmitted:
    by = "in this chat"
    return NotAdmitted(Disabled(by), ServerDisabled(name, by), approved.config)
