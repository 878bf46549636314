"""One turn without a person: a prompt goes in, events and one answer come out, and nothing is ever asked."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from mooring.agents.commands.find import UsedCommand, find_used_command
from mooring.agents.model import Model
from mooring.core.conversation.backend_name import BackendName, is_program
from mooring.core.conversation.status import Unapproved
from mooring.core.conversation.turn import (
    Backend,
    DeniedCall,
    EndOfTurn,
    NameTaken,
    ServerStatus,
    TokenUsage,
    TurnDone,
    TurnEvent,
    TurnFailed,
    TurnInput,
    TurnStarted,
)
from mooring.core.definitions.approved import TakenName
from mooring.core.definitions.config import ServerConfig
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.limits import TurnLimits
from mooring.display.lines import describe_end
from mooring.errors import MooringError, NeedsLogin, NotApproved, ServerError
from mooring.host.first_starts import FirstStarts, follow_first_starts
from mooring.host.host import Host
from mooring.tools.results.outcome import Media
from mooring.verbs.agent.choose_backend import BackendChoice, check_model_options, choose_backend, restore_model
from mooring.verbs.agent.defined_agent import DefinedAgent, find_defined_agent
from mooring.verbs.agent.mentions import expand_mentions
from mooring.verbs.agent.options import AgentOptions, check_price
from mooring.verbs.agent.server_skill import add_skill, find_used_skill
from mooring.verbs.agent.session_start import SessionStart
from mooring.verbs.agent.thread import refuse_unasked
from mooring.verbs.agent.turn import Agent, add_definition, open_kept_agent, restore_model_for
from mooring.verbs.agent.words import AgentWords
from mooring.verbs.agent.written_command import find_taken_name, make_command_turn
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.evidence import describe_missing
from mooring.verbs.use.opening import connect_servers, find_config_errors, find_waiting

STATUS_TIMEOUT: Final = 5.0
"""Seconds in which another agent's program says which servers it lacks, after the answer."""
OutputFormat: TypeAlias = Literal["text", "json", "stream-json"]


class HeadlessRequest(Struct, frozen=True, kw_only=True):
    """What one turn is asked for, and who answers."""

    prompt: str
    """What the person typed; what it names with `@` is attached."""
    context: str = ""
    """What came on stdin; it goes behind the prompt. Others may have written it, so what it names is not attached."""
    backend: BackendName | None = None
    """Who answers; `None` for what the settings say, else a model."""
    model: str | None = None
    agent: str | None = None
    """The name of a defined agent."""
    limits: TurnLimits = TurnLimits()
    session: SessionStart = SessionStart()


class HeadlessAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    """How the turn ended, as `--output-format json` prints it."""

    version: int = 1
    session: str
    text: str
    is_error: bool
    """The model had not finished: `reason` says why, `error` in words."""
    reason: EndOfTurn
    """Why the turn ended."""
    turns: int
    """How many times the model was asked."""
    usage: TokenUsage
    cost: float | None
    """In US dollars; null if the price is unknown."""
    denied: tuple[DeniedCall, ...]
    """Calls that were refused, each with the rule that would allow it."""
    error: str | None = None


class MissingServers(Struct, frozen=True, kw_only=True):
    """What is missing from the tools of a turn, and why."""

    failed: Mapping[str, str] = {}
    waiting: tuple[str, ...] = ()
    """Servers of the project that nobody has decided about."""
    problems: tuple[Problem, ...] = ()
    """What is wrong with the configuration."""
    tools: tuple[str, ...] = ()
    """The tools that the agent's file names and nothing offers, each in a line."""


async def run_headless(
    host: Host,
    deadline: Deadline,
    request: HeadlessRequest,
    on_event: Callable[[TurnEvent], None],
    on_problem: Callable[[Problem], None],
    on_missing: Callable[[MissingServers], None],
    on_waiting: Callable[[Sequence[str]], None],
    on_answer: Callable[[HeadlessAnswer], None],
) -> HeadlessAnswer:
    """Have one turn taken, and tell everything that happens. What would be asked is denied.

    `on_missing` is told what is wrong with the configuration before the model is asked, and which servers failed at the
    end: one that connects during the turn has not. `on_waiting` is told which servers start for the first time; what is
    under way when `on_answer` was told the answer is finished, so that the next turn has their tools.

    Raises: ConfigError if nobody can answer, or there is no such agent; NeedsLogin, NotApproved if a required server
    can't be used for that reason; as `expand_mentions`.
    """
    starts = follow_first_starts(host, on_waiting)
    words = AgentWords(host.workspace, on_problem)
    responder = await _choose_responder(host, request, starts, words)
    failed = await _start_servers(host, responder, deadline)
    on_missing(_list_lacks(host, responder))
    # Before the session begins: a mistyped name costs nothing and leaves nothing behind.
    prompt = await _read_prompt(host, responder, request, words, deadline)
    command = prompt.command
    outcome = _Outcome(on_event, None if command is None else await find_taken_name(host.workspace, command))
    async with _open_backend(host, responder, on_problem) as opened:
        said = await _make_input(host, opened, prompt, request, deadline, on_problem)
        backend = opened.backend if isinstance(opened, Agent) else opened
        await backend.turn(said, outcome.take)
        answer = _make_answer(outcome.ends[-1], outcome.errors)
        on_answer(answer)
        await starts.finish()
        missing = _describe_failed(host, failed | starts.find_missing())
        if not responder.starts_servers and answer.reason != "failed":
            missing = await _ask_what_failed(backend)
        on_missing(MissingServers(failed=missing))
    return answer


# --- who answers ------------------------------------------------------------------------------------------------------


class _HeadlessResponder(Struct, frozen=True, kw_only=True):
    """Who answers: an agent on a model, or another agent's program."""

    name: BackendName
    session: SessionStart
    starts: FirstStarts
    starts_servers: bool
    """Whether Mooring starts the servers; in the native way, a program does."""
    model: Model | None
    """`None` for a program."""
    model_name: str | None
    """The model as the program names it."""
    defined: DefinedAgent | None
    options: AgentOptions

    @property
    def takes(self) -> Collection[Media]:
        """What it takes besides text."""
        return () if self.model is None else self.model.takes


async def _choose_responder(
    host: Host, request: HeadlessRequest, starts: FirstStarts, words: AgentWords
) -> _HeadlessResponder:
    """Raises: ConfigError if nobody can answer, or there is no such agent."""
    choice = choose_backend(request.backend, request.model, request.session, host.workspace, host.settings)
    check_model_options(choice.backend, request.limits)
    # Nobody is there to pick tools: without a model, it is said how to choose one.
    name = choice.backend if is_program(choice.backend) else "api"
    options = AgentOptions(limits=request.limits, local=True, words=words, starts=starts)
    defined = await find_defined_agent(host, request.agent, choice.continued)
    if defined is not None:
        options = add_definition(options, defined)
    return _HeadlessResponder(
        name=name,
        session=choice.session,
        starts=starts,
        starts_servers=not is_program(name) or host.settings["backendServers"] == "shared",
        model=None if is_program(name) else await _choose_model(host, request, choice, defined),
        model_name=_name_program_model(request, choice, defined) if is_program(name) else None,
        defined=defined,
        options=options,
    )


async def _choose_model(
    host: Host, request: HeadlessRequest, choice: BackendChoice, defined: DefinedAgent | None
) -> Model:
    agent_model = None if defined is None else defined.definition.model
    is_named = request.agent is not None
    past = choice.remembers_model
    model = await restore_model_for(host, request.model, agent_model, past, is_agent_named=is_named)
    check_price(request.limits, model)  # before anything is waited for
    return model


def _name_program_model(request: HeadlessRequest, choice: BackendChoice, defined: DefinedAgent | None) -> str | None:
    # One that comes back with the conversation answered with the model that the conversation remembers.
    agent_model = None if defined is None or request.agent is None else defined.definition.model
    return restore_model(choice.remembers_model, request.model, agent_model)


async def _start_servers(host: Host, responder: _HeadlessResponder, deadline: Deadline) -> dict[str, MooringError]:
    """Wait for required servers and for those that are new; what failed. Raises: as `_require_servers`."""
    if not responder.starts_servers:
        return {}
    failed = await _require_servers(host, deadline)
    await responder.starts.wait()
    return failed


def _list_lacks(host: Host, responder: _HeadlessResponder) -> MissingServers:
    """What is known to be missing before the model is asked."""
    defined = responder.defined
    # A program has its own words for tools, and says itself what it does not know.
    tools = defined.describe_missing(host) if defined is not None and responder.model is not None else ()
    return MissingServers(waiting=find_waiting(host), problems=find_config_errors(host), tools=tuple(tools))


# --- what is said -----------------------------------------------------------------------------------------------------


class _ReadPrompt(Struct, frozen=True):
    """What a prompt means, as far as that is known before the conversation is open."""

    command: UsedCommand | None
    """The command that it uses."""
    named: TurnInput
    """The prompt with what it names attached; nothing if it uses a command."""


async def _read_prompt(
    host: Host, responder: _HeadlessResponder, request: HeadlessRequest, words: AgentWords, deadline: Deadline
) -> _ReadPrompt:
    """Raises: as `expand_mentions`."""
    # A program has commands of its own, and reads them itself.
    command = None if responder.model is None else await find_used_command(words.commands, request.prompt)
    if command is not None:
        return _ReadPrompt(command, TurnInput(""))
    return _ReadPrompt(None, await expand_mentions(host, request.prompt, responder.takes, deadline))


async def _make_input(
    host: Host,
    opened: Agent | Backend,
    prompt: _ReadPrompt,
    request: HeadlessRequest,
    deadline: Deadline,
    on_problem: Callable[[Problem], None],
) -> TurnInput:
    """What is said, with what came on stdin behind it."""
    named = prompt.named
    if isinstance(opened, Agent):
        named = await _add_used(host, opened, request.prompt, prompt.command, named, deadline, on_problem)
    return TurnInput("\n\n".join(filter(None, (named.text, request.context))), named.attachments)


class _Outcome:
    """How a turn ended, read off what it told; everything is passed on."""

    def __init__(self, pass_on: Callable[[TurnEvent], None], taken: TakenName | None) -> None:
        """`taken` is what the use of a command has to say: the turn tells it, though the command began before it."""
        self.errors: list[str] = []
        self._taken = taken
        self.ends: list[TurnDone] = []
        self._pass_on = pass_on

    def take(self, event: TurnEvent) -> None:
        self._pass_on(event)
        match event:
            case TurnStarted(parent=None) if self._taken is not None:
                self._pass_on(NameTaken(session=event.session, turn=event.turn, taken=self._taken))
            case TurnFailed(parent=None, retry_in=None):
                self.errors.append(event.error)
            case TurnDone(parent=None):
                self.ends.append(event)
            case _:
                pass


async def _add_used(
    host: Host,
    agent: Agent,
    prompt: str,
    used: UsedCommand | None,
    named: TurnInput,
    deadline: Deadline,
    on_problem: Callable[[Problem], None],
) -> TurnInput:
    """What is said if the prompt uses a command or a server's skill; else `named`, as it is."""
    if used is not None:
        # Only now: what the command runs belongs to the conversation, with its rules and its records.
        turn = await make_command_turn(host, agent.registry, used, agent.takes, deadline)
        for problem in turn.problems:
            on_problem(problem)
        return turn.said
    skill = await find_used_skill(agent.registry, prompt)
    return named if skill is None else await add_skill(agent.registry, skill, named)


@asynccontextmanager
async def _open_backend(
    host: Host, responder: _HeadlessResponder, on_problem: Callable[[Problem], None]
) -> AsyncIterator[Agent | Backend]:
    """Whoever answers: an agent on a model, or another agent's program."""
    options, session = responder.options, responder.session
    if responder.model is not None:
        async with open_kept_agent(host, responder.model, options, session, on_problem=on_problem) as agent:
            yield agent
        return
    from mooring.verbs.agent.program import ProgramOptions, open_program  # few runs use one

    assert is_program(responder.name)
    program_options = ProgramOptions(
        name=responder.name,
        model=responder.model_name,
        agent=None if responder.defined is None else responder.defined.definition,
        ask=refuse_unasked,
        limits=options.limits,
    )
    async with open_program(host, program_options, session, on_problem=on_problem) as program:
        yield program


def _make_answer(done: TurnDone, errors: list[str]) -> HeadlessAnswer:
    error = errors[-1] if errors else describe_end(done) or None
    return HeadlessAnswer(
        session=done.session,
        text=done.text,
        is_error=done.reason != "finished",
        reason=done.reason,
        turns=done.replies,
        usage=done.usage,
        cost=done.cost,
        denied=done.denied,
        error=error,
    )


def make_interrupted_answer(done: TurnDone | None) -> HeadlessAnswer:
    """The answer of a turn that was interrupted: how far it had come, or nothing if it had not begun."""
    return _make_answer(done or TurnDone(session="", turn=0, reason="interrupted", cost=0.0), [])


async def _require_servers(host: Host, deadline: Deadline) -> dict[str, MooringError]:
    """Wait for the servers that the configuration says are required; what failed.

    Raises: NeedsLogin, NotApproved if a required server needs a login, or was not approved. One that fails otherwise is
    left out, and the model is told when it calls it.
    """
    for refused in host.refused.values():
        config = refused.config
        is_required = isinstance(config, ServerConfig) and config.required
        if is_required and isinstance(refused.status, Unapproved):
            raise refused.error
    required = [name for name, server in host.servers.items() if server.config.required]
    errors: dict[str, MooringError] = {}
    if required:
        errors = await connect_servers(host, deadline, required)
    for error in errors.values():
        if isinstance(error, NeedsLogin | NotApproved):
            raise error
    return errors


def _describe_failed(host: Host, errors: Mapping[str, MooringError]) -> dict[str, str]:
    """Why servers are missing, without those that are there by now."""
    servers = {name: host.servers.get(name) for name in sorted(errors)}
    missing = [name for name, server in servers.items() if server is not None and not server.is_connected]
    return {name: describe_missing(name, errors[name]) for name in missing}


async def _ask_what_failed(backend: Backend) -> dict[str, str]:
    """Why servers are missing that another agent's program starts itself, as far as it says so."""
    try:
        async with asyncio.timeout(STATUS_TIMEOUT):
            statuses = await backend.status()
    except (MooringError, TimeoutError):
        return {}  # the answer is what was asked for, and it is there
    errors = [_explain_status(status) for status in statuses]
    return {error.server: describe_missing(error.server, error) for error in errors if error is not None}


def _explain_status(status: ServerStatus) -> ServerError | None:
    match status.status:
        case "failed":
            reason = status.error.rstrip(".") or "it said nothing"
            return ServerError(status.name, f"{status.name} could not be connected: {reason}.")
        case "needs-auth":
            error = NeedsLogin(status.name, 401)
            error.suggest_login()
            return error
        case "connected" | "pending" | "disabled" | "unknown":
            return None
