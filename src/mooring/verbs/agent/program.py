"""Another agent's program in a conversation: started beside a host, given its servers, and kept as a session."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeAlias

from msgspec.structs import replace

from mooring.agents.definition import AgentDefinition
from mooring.agents.files.find import FoundAgents, find_agents
from mooring.agents.instructions import collect_instructions, write_section
from mooring.agents.sessions.handover import Handover, make_handover
from mooring.agents.sessions.journal import SessionJournal
from mooring.agents.sessions.turn_recorder import TurnRecorder
from mooring.agents.taken_names import TakenNames
from mooring.backends.bridge.bridge import AgentBridge, open_bridge
from mooring.backends.bridge.options import BackendOptions
from mooring.backends.bridge.reporter import AgentReporter
from mooring.backends.own_tools import OWN_TOOLS
from mooring.backends.programs import PROGRAM_FACTS
from mooring.conversation.events import EventStream
from mooring.core.conversation.backend_name import ProgramName, ServersWay
from mooring.core.conversation.event import ConversationEvent, TurnDone
from mooring.core.conversation.turn import Backend, Receipt, TurnInput
from mooring.core.definitions.approved import TakenName
from mooring.core.definitions.paths import Workspace
from mooring.core.protocol.limits import TurnLimits
from mooring.errors import ConfigError
from mooring.host.host import Host
from mooring.host.options import find_mode
from mooring.servers.launch.environment import make_launch
from mooring.verbs.agent.choose_backend import TELL_COSTS
from mooring.verbs.agent.options import ConversationOptions, add_set_limits, find_idle_cost
from mooring.verbs.agent.sessions import OpenedSession, open_session
from mooring.verbs.agent.thread import refuse_unasked

OpenProgram: TypeAlias = Callable[[AgentBridge, BackendOptions], Awaitable[Backend]]


class KeptProgram:
    """A program that answers, with each turn written down. A `Backend`."""

    def __init__(
        self,
        backend: Backend,
        told: TurnRecorder,
        servers: ServersWay,
        session: str,
        reporter: AgentReporter,
        handover: Handover | None,
    ) -> None:
        self.name = backend.name
        self.status = backend.status
        self.switch = backend.switch
        self.reconnect = backend.reconnect
        self.close = backend.close
        self.servers = servers
        """How it gets the servers."""
        self.session = session
        """The id under which the conversation is stored."""
        self._backend = backend
        self._told = told
        self._reporter = reporter
        self._handover = handover
        """What the program has yet to be given of an earlier conversation."""

    @property
    def journal(self) -> SessionJournal:
        """Keeps the conversation."""
        return self._told.journal

    @property
    def stream(self) -> EventStream:
        """Everything that happens in the conversation."""
        return self._reporter.stream

    async def turn(self, said: TurnInput) -> None:
        """See `Backend.turn`."""
        sent = self._add_handover(said)

        def record(event: ConversationEvent) -> None:
            self._told.take(event)
            if isinstance(event, TurnDone) and event.parent is None and event.reason != "failed" and sent is not said:
                self._handover = None

        self._told.begin_turn(said)
        await self._told.settle()
        # A task of its own: a limit cancels it, and not what waits for it.
        working = asyncio.ensure_future(self._backend.turn(sent))
        self._reporter.on_limit = working.cancel
        self.stream.add_listener(record)
        try:
            await working
        except asyncio.CancelledError:
            task = asyncio.current_task()
            is_canceled = task is not None and task.cancelling() > 0
            if self._reporter.stopped_by is None or is_canceled:
                raise
        finally:
            self.stream.remove_listener(record)

    def add(self, said: TurnInput) -> Receipt | None:
        """See `Backend.add`."""
        receipt = self._backend.add(said)
        if receipt is not None:
            self._told.expect(said)
        return receipt

    def _add_handover(self, said: TurnInput) -> TurnInput:
        """What is said, with the transcript of an earlier conversation unless the program has it already."""
        # A command of the program's own need not go to its model.
        if self._handover is None or said.text.startswith("/"):
            return said
        return TurnInput(said.text, (self._handover.text, *said.attachments))


@asynccontextmanager
async def open_program(
    host: Host, options: ConversationOptions, name: ProgramName, model: str | None, agent: AgentDefinition | None
) -> AsyncIterator[KeptProgram]:
    """A program on an open host, in a session on disk: a new one, or one that goes on by the program's own means.

    `model` is the one that the program is to use, in its own words, and `agent` the defined agent that the person talks
    to, if it is one.

    Raises: ConfigError if the program isn't installed or can't be started; as `open_session`.
    """
    workspace = host.workspace
    session = open_session(
        workspace.where,
        workspace.cwd,
        options.session,
        model=model,
        agent=None if agent is None else agent.name,
        backend=name,
        find_mode=lambda: find_mode(options.policy) or host.call_policy().mode,
        days=host.settings["sessionDays"],
        on_problem=options.on_problem,
    )
    async with session as opened, _open_bridge(host, options, name, agent, opened) as bridge:
        # In a thread: it looks at the disk, and a home may be on a slow one.
        found = await asyncio.to_thread(find_agents, workspace)
        bridge.reporter.taken_names = await asyncio.to_thread(_find_taken_names, workspace, found)
        given = _make_backend_options(host, options, name, opened)
        main = None if agent is None else agent.name
        settings = replace(given, model=model, agent=main, agents=_list_agents(found, name, main))
        if not PROGRAM_FACTS[name].reads_instructions:
            settings = replace(settings, instructions=await asyncio.to_thread(_read_instructions, host))
        bridge.reporter.limits = _settle_limits(host, options, name)
        backend = await _start(bridge, settings, name, opened)
        told = TurnRecorder(opened.journal)
        handover = _find_handover(opened)
        try:
            yield KeptProgram(backend, told, settings.servers, opened.journal.id, bridge.reporter, handover)
        finally:
            await backend.close()


def _settle_limits(host: Host, options: ConversationOptions, name: ProgramName) -> TurnLimits:
    """The limits of a turn; the person is told of a setting that has no effect."""
    limits = add_set_limits(options.limits, host.settings)
    if limits.max_cost is None or name in TELL_COSTS:
        return limits
    options.on_problem(find_idle_cost(host.settings, f"{name} doesn't say what a reply costs"))
    return replace(limits, max_cost=None)


def _open_bridge(
    host: Host, options: ConversationOptions, name: ProgramName, agent: AgentDefinition | None, opened: OpenedSession
) -> AbstractAsyncContextManager[AgentBridge]:
    turns = 0 if opened.resumed is None else opened.resumed.session.turns
    reporter = AgentReporter(host.begin_stream(opened.journal.id, turns), name)
    return open_bridge(
        host,
        reporter,
        ask=options.ask or refuse_unasked,
        policy=options.policy,
        # What its file denies or asks about; it never allows anything.
        rules=() if agent is None else agent.rules,
        switch=options.switch,
        way=host.settings["backendServers"],
        program=OWN_TOOLS[name],
    )


def _find_taken_names(workspace: Workspace, found: FoundAgents) -> dict[str, TakenName]:
    """The names that the project's agents took and the person has not approved."""
    names = TakenNames(workspace)
    return {taken.name: taken for taken in names.list_agents(found) if not names.is_approved(taken)}


def _list_agents(found: FoundAgents, name: ProgramName, main: str | None) -> tuple[AgentDefinition, ...]:
    """The agents that a program can use as its own: those that files define, and the built-in ones it lacks."""
    brought = PROGRAM_FACTS[name].sub_agents
    return tuple(definition for definition in found.by_name.values() if _is_offered(definition, main, brought))


def _is_offered(definition: AgentDefinition, main: str | None, brought: Sequence[str]) -> bool:
    is_own = definition.origin.scope == "builtin" and definition.name in brought
    return not is_own or definition.name == main


def _make_backend_options(
    host: Host, options: ConversationOptions, name: ProgramName, opened: OpenedSession
) -> BackendOptions:
    workspace = host.workspace
    # The program is the person's own: it gets their environment, and of what looks like a secret its provider's keys.
    launch = make_launch(
        (name,),
        workspace.where,
        workspace.cwd,
        own=True,
        pass_env=PROGRAM_FACTS[name].keys,
        settings=host.settings["env"],
    )
    servers: ServersWay = host.settings["backendServers"]
    return BackendOptions(
        cwd=workspace.cwd,
        env=launch.env,
        guard=host.guard,
        servers=servers,
        resume=None if opened.resumed is None else opened.resumed.session.backend_session,
        on_session=opened.journal.name_backend_session,
    )


def _read_instructions(host: Host) -> str:
    """What AGENTS.md, CLAUDE.md and the like say, as a section of a system prompt."""
    found = collect_instructions(host.workspace)
    return write_section(found.files, host.workspace.where)


def _find_handover(opened: OpenedSession) -> Handover | None:
    """What the program is given of an earlier conversation: also of its own, if it never came to remember that."""
    resumed = opened.resumed
    if resumed is None or resumed.session.backend_session is not None or not resumed.messages:
        return opened.handover
    session = resumed.session
    return make_handover(session.id, session.answerer, session.turns, resumed.messages, None)


async def _start(bridge: AgentBridge, settings: BackendOptions, name: ProgramName, opened: OpenedSession) -> Backend:
    """Open a program. Raises: ConfigError if it isn't installed, or can't be used here."""
    try:
        return await _load(name)(bridge, settings)
    except ConfigError as error:
        if opened.resumed is None:
            raise
        reason = str(error).removesuffix(error.hint).rstrip()
        command = f"mooring chat --resume {opened.resumed.session.id} -b NAME"
        hint = f"{error.hint} Or go on with somebody else: {command}".lstrip()
        raise ConfigError(f"This conversation is with {PROGRAM_FACTS[name].label}. {reason}", hint) from error


def _load(name: ProgramName) -> OpenProgram:
    """Load the backend of a program; each brings libraries that nothing else needs."""
    match name:
        case "claude":
            from mooring.backends.claude import open_claude

            return open_claude
        case "copilot":
            from mooring.backends.copilot.backend import open_copilot

            return open_copilot
        case "opencode":
            from mooring.backends.opencode.backend import open_opencode

            return open_opencode
