"""One turn without a person: a prompt goes in, events and one answer come out, and nothing is ever asked."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.actions.agent_options import AgentOptions, check_price
from mooring.actions.agent_thread import refuse_unasked
from mooring.actions.agent_words import AgentWords
from mooring.actions.choose_backend import check_model_options, choose_backend, restore_model
from mooring.actions.deadline import Deadline
from mooring.actions.defined_agent import find_defined_agent
from mooring.actions.evidence import describe_missing
from mooring.actions.mentions import expand_mentions
from mooring.actions.opening import connect_servers, find_config_errors, find_waiting
from mooring.actions.server_skill import add_skill, find_used_skill
from mooring.actions.session_start import SessionStart
from mooring.actions.turn import Agent, add_definition, open_kept_agent, restore_model_for
from mooring.actions.written_command import make_command_turn
from mooring.agents.commands.used import UsedCommand, find_used_command
from mooring.agents.definition import AgentDefinition
from mooring.agents.model import Model
from mooring.core.backend_name import BackendName, is_program
from mooring.core.config import ServerConfig
from mooring.core.limits import TurnLimits
from mooring.core.problem import Problem
from mooring.core.status import Unapproved
from mooring.core.turn import (
    Backend,
    DeniedCall,
    EndOfTurn,
    ServerStatus,
    TokenUsage,
    TurnDone,
    TurnEvent,
    TurnFailed,
    TurnInput,
)
from mooring.display.lines import describe_end
from mooring.errors import MooringError, NeedsLogin, NotApproved, ServerError
from mooring.host.first_starts import follow_first_starts
from mooring.host.host import Host

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
    choice = choose_backend(request.backend, request.model, request.session, host.viewpoint, host.settings)
    check_model_options(choice.backend, request.limits)
    # Nobody is there to pick tools: without a model, it is said how to choose one.
    name = choice.backend if is_program(choice.backend) else "api"
    continued = choice.continued
    request = replace(request, session=choice.session)
    words = AgentWords(host.viewpoint, on_problem)
    options = AgentOptions(limits=request.limits, local=True, words=words)
    agent_model = None
    defined = await find_defined_agent(host, request.agent, continued)
    if defined is not None:
        options, agent_model = add_definition(options, defined), defined.definition.model
    is_agent_named = request.agent is not None
    model = None
    if is_program(name):
        named_model = agent_model if is_agent_named else None
        request = replace(request, model=restore_model(choice.remembers_model, request.model, named_model))
    else:
        model = await restore_model_for(
            host, request.model, agent_model, choice.remembers_model, is_agent_named=is_agent_named
        )
        check_price(request.limits, model)  # before anything is waited for
    starts_servers = not is_program(name) or host.settings["backendServers"] == "shared"
    starts = follow_first_starts(host, on_waiting)
    options = replace(options, starts=starts)
    failed: dict[str, MooringError] = {}
    if starts_servers:
        failed = await _require_servers(host, deadline)
        await starts.wait()
    # A program has its own words for tools, and says itself what it does not know.
    lacking = defined.describe_missing(host) if defined and model else ()
    on_missing(
        MissingServers(waiting=find_waiting(host), problems=find_config_errors(host), tools=tuple(lacking)),
    )
    # A program has commands of its own, and reads them itself.
    used = None if model is None else await find_used_command(words.commands, request.prompt)
    # Before the session begins: a mistyped name costs nothing and leaves nothing behind.
    takes = () if model is None else model.takes
    named = TurnInput("") if used else await expand_mentions(host, request.prompt, takes, deadline)
    outcome = _Outcome(on_event)
    definition = None if defined is None else defined.definition
    async with _open_backend(host, model, name, options, definition, request, on_problem) as answering:
        backend: Backend
        if isinstance(answering, Agent):
            named = await _add_used(host, answering, request.prompt, used, named, deadline, on_problem)
            backend = answering.backend
        else:
            backend = answering
        said = TurnInput("\n\n".join(filter(None, (named.text, request.context))), named.attachments)
        await backend.turn(said, outcome.take)
        answer = _make_answer(outcome.ends[-1], outcome.errors)
        on_answer(answer)
        await starts.finish()
        missing = _describe_failed(host, failed | starts.find_missing())
        if not starts_servers and answer.reason != "failed":
            missing = await _ask_what_failed(backend)
        on_missing(MissingServers(failed=missing))
    return answer


class _Outcome:
    """How a turn ended, read off what it told; everything is passed on."""

    def __init__(self, pass_on: Callable[[TurnEvent], None]) -> None:
        self.errors: list[str] = []
        self.ends: list[TurnDone] = []
        self._pass_on = pass_on

    def take(self, event: TurnEvent) -> None:
        self._pass_on(event)
        match event:
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
    host: Host,
    model: Model | None,
    name: BackendName,
    agent_options: AgentOptions,
    definition: AgentDefinition | None,
    request: HeadlessRequest,
    on_problem: Callable[[Problem], None],
) -> AsyncIterator[Agent | Backend]:
    """Whoever answers: an agent on a model, or another agent's program."""
    if is_program(name):
        from mooring.actions.agent_program import ProgramOptions, open_program  # few runs use one

        options = ProgramOptions(
            name=name, model=request.model, agent=definition, ask=refuse_unasked, limits=request.limits
        )
        async with open_program(host, options, request.session, on_problem=on_problem) as program:
            yield program
        return
    assert model is not None
    async with open_kept_agent(host, model, agent_options, request.session, on_problem=on_problem) as agent:
        yield agent


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
