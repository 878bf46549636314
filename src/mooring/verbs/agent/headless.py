"""One turn without a person: a prompt goes in, events and one answer come out, and nothing is ever asked."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.agents.commands.find import UsedCommand, find_used_command
from mooring.core.conversation.event import (
    ConversationEvent,
    DeniedCall,
    EndOfTurn,
    NameTaken,
    TokenUsage,
    TurnDone,
    TurnFailed,
    TurnStarted,
)
from mooring.core.conversation.status import Unapproved
from mooring.core.conversation.turn import Backend, ServerStatus, TurnInput
from mooring.core.definitions.approved import TakenName
from mooring.core.definitions.config import ServerConfig
from mooring.core.definitions.problem import Problem
from mooring.display.lines import describe_end
from mooring.errors import MooringError, NeedsLogin, NotApproved, ServerError
from mooring.host.first_starts import follow_first_starts
from mooring.host.host import Host
from mooring.verbs.agent.mentions import expand_mentions
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.agent.responder import ChosenResponder, choose_responder, open_responder
from mooring.verbs.agent.turn import Agent
from mooring.verbs.agent.used_texts import add_skill, find_taken_name, find_used_skill, make_command_turn
from mooring.verbs.agent.words import AgentWords
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.evidence import describe_missing
from mooring.verbs.use.opening import connect_servers, find_config_errors, find_waiting

STATUS_TIMEOUT: Final = 5.0
"""Seconds in which another agent's program says which servers it lacks, after the answer."""
OutputFormat: TypeAlias = Literal["text", "json", "stream-json", "stream-json-1"]
"""`stream-json-1` is the shape of the last release, for one more."""


class TypedPrompt(Struct, frozen=True):
    """What one turn is asked for."""

    text: str
    """What the person typed; what it names with `@` is attached."""
    context: str = ""
    """What came on stdin; it goes behind the prompt. Others may have written it, so what it names is not attached."""


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
    options: ConversationOptions,
    prompt: TypedPrompt,
    on_event: Callable[[ConversationEvent], None],
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
    options = replace(options, words=words, starts=starts, on_problem=on_problem)
    chosen = await choose_responder(host, options)
    starts_servers = chosen.starts_servers(host)
    failed: dict[str, MooringError] = {}
    if starts_servers:
        failed = await _require_servers(host, deadline)
        await starts.wait()
    on_missing(_list_lacks(host, chosen))
    # A program has commands of its own, and reads them itself.
    command = None if chosen.model is None else await find_used_command(words.commands, prompt.text)
    # Before the session begins: a mistyped name costs nothing and leaves nothing behind.
    named = TurnInput("") if command else await expand_mentions(host, prompt.text, chosen.takes, deadline)
    outcome = _Outcome(on_event, None if command is None else await find_taken_name(host.workspace, command))
    async with open_responder(host, chosen) as responder:
        said = await _make_input(host, responder.agent, prompt, command, named, deadline, on_problem)
        backend = responder.backend
        responder.stream.add_listener(outcome.take)
        try:
            await backend.turn(said)
        finally:
            responder.stream.remove_listener(outcome.take)
        answer = _make_answer(outcome.ends[-1], outcome.errors)
        on_answer(answer)
        await starts.finish()
        missing = _describe_failed(host, failed | starts.find_missing())
        if not starts_servers and answer.reason != "failed":
            missing = await _ask_what_failed(backend)
        on_missing(MissingServers(failed=missing))
    return answer


def _list_lacks(host: Host, chosen: ChosenResponder) -> MissingServers:
    """What is known to be missing before the model is asked."""
    defined = chosen.defined
    # A program has its own words for tools, and says itself what it does not know.
    tools = defined.describe_missing(host) if defined is not None and chosen.model is not None else ()
    return MissingServers(waiting=find_waiting(host), problems=find_config_errors(host), tools=tuple(tools))


# --- what is said -----------------------------------------------------------------------------------------------------


async def _make_input(
    host: Host,
    agent: Agent | None,
    prompt: TypedPrompt,
    command: UsedCommand | None,
    named: TurnInput,
    deadline: Deadline,
    on_problem: Callable[[Problem], None],
) -> TurnInput:
    """What is said, with the command or the server's skill that the prompt uses, and what came on stdin behind it."""
    if agent is not None and command is not None:
        # Only now: what the command runs belongs to the conversation, with its rules and its records.
        turn = await make_command_turn(host, agent.conversation, command, agent.takes, deadline)
        for problem in turn.problems:
            on_problem(problem)
        named = turn.said
    elif agent is not None and (skill := await find_used_skill(agent.conversation, prompt.text)) is not None:
        named = await add_skill(agent.conversation, skill, named)
    return TurnInput("\n\n".join(filter(None, (named.text, prompt.context))), named.attachments)


class _Outcome:
    """How a turn ended, read off what it told; everything is passed on."""

    def __init__(self, pass_on: Callable[[ConversationEvent], None], taken: TakenName | None) -> None:
        """`taken` is what the use of a command has to say: the turn tells it, though the command began before it."""
        self.errors: list[str] = []
        self._taken = taken
        self.ends: list[TurnDone] = []
        self._pass_on = pass_on

    def take(self, event: ConversationEvent) -> None:
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
    errors = await connect_servers(host, deadline, required) if required else {}
    for error in errors.values():
        if isinstance(error, NeedsLogin | NotApproved):
            raise error
    return errors


def _describe_failed(host: Host, errors: Mapping[str, MooringError]) -> dict[str, str]:
    """Why servers are missing, without those that are there by now."""
    servers = host.servers
    missing = [name for name in sorted(errors) if name in servers and not servers[name].is_connected]
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
