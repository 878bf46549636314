"""One running program of Claude Code: turns and requests go in, messages come out, and its questions are answered."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    SystemMessage,
)
from msgspec import ValidationError, convert, json

from mooring.agents.definition import ToolSelection
from mooring.agents.local.ask_user import ASKER, FormAnswers, PersonQuestion, explain_no, make_form, read_answers
from mooring.agents.turn_inbox import make_refused_receipt
from mooring.backends.bridge.bridge import AgentBridge, AgentCall
from mooring.backends.bridge.options import BackendOptions
from mooring.backends.claude.added import AddedMessages
from mooring.backends.claude.agents import find_tool, select_tools, write_agents
from mooring.backends.claude.events import ClaudeEvents, TurnResult
from mooring.backends.claude.program import GuardedProgram, build_command, build_environment
from mooring.core.conversation.outcome import Part
from mooring.core.conversation.question import Allow, Ask, Form, No, Question, Visit, Yes
from mooring.core.conversation.turn import Receipt, TurnInput
from mooring.core.protocol.content import Audio, Image, Text
from mooring.errors import MooringError, ServerDied

COST_TIMEOUT: Final = 5.0
"""How many seconds a turn waits for what the turns before it cost; without an answer, its own cost is unknown."""
SETTLE_TIMEOUT: Final = 30.0
"""How many seconds a turn waits for servers to connect; the tools of one that takes longer come later."""


class ClaudeSession:
    """A program that was started, until it is closed or dies. `start_session` makes one."""

    def __init__(self, bridge: AgentBridge, program: GuardedProgram, client: Any, events: ClaudeEvents) -> None:
        self._bridge = bridge
        self._program = program
        self._client = client
        self._events = events
        self._added = AddedMessages(self, bridge.reporter.tell_added, self._end_turn)
        self._result: asyncio.Future[TurnResult] | None = None
        self._last_result: TurnResult | None = None
        """How the program ended what it last worked on: it goes on with what was added meanwhile."""
        self.has_answered = False
        """Whether anything was said in the turn."""
        self._reader: asyncio.Task[None] | None = None
        self._setting: asyncio.Task[None] | None = None
        self._counting: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        return self._program.is_running

    async def connect(self) -> None:
        """Start the program. Raises: MooringError."""
        try:
            await self._client.connect()
        except ClaudeSDKError as error:
            raise MooringError(f"Claude Code could not be started: {error}") from error
        loop = asyncio.get_running_loop()
        self._reader = loop.create_task(self._read(), name="claude messages")
        if self._events.earlier_cost is None:
            self._counting = loop.create_task(self._find_earlier_cost(), name="claude cost")

    async def close(self) -> None:
        for task in (self._setting, self._counting, self._reader):
            if task is not None:
                task.cancel()
        await self._client.disconnect()

    # --- turns ----------------------------------------------------------------------------------------------------

    async def answer_turn(self, said: TurnInput) -> TurnResult:
        """Have a request answered. Raises: MooringError if the program dies."""
        await self.wait_for_servers()
        if self._counting is not None:
            await asyncio.wait({self._counting}, timeout=COST_TIMEOUT)
            self._counting.cancel()  # an answer that comes during the turn would count a part of it
        self._events.begin_turn()
        self.has_answered = False
        self._result, self._last_result = asyncio.get_running_loop().create_future(), None
        await self._client.query(_write_message(said))
        return await asyncio.shield(self._result)

    def add(self, said: TurnInput) -> Receipt:
        """Have something read in the turn under way. See `Backend.add`."""
        return self._added.send(said) if self._is_working else make_refused_receipt()

    async def send_message(self, said: TurnInput, id: str) -> None:
        """Send one more message under an id. Raises: ServerDied."""
        async for message in _write_message(said):
            await self._program.write(json.encode({**message, "uuid": id}).decode() + "\n")

    async def request(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Have the program do something. Raises: MooringError."""
        return await self._program.request(body)

    @property
    def _is_working(self) -> bool:
        return self._result is not None and not self._result.done()

    async def interrupt(self) -> None:
        """Stop the turn and wait until it has stopped. Raises: MooringError."""
        # Otherwise the program would go on with these.
        await self._added.withdraw_all()
        if self._result is None or self._result.done():
            return
        await self._program.request({"subtype": "interrupt"})
        await asyncio.shield(self._result)

    async def _find_earlier_cost(self) -> None:
        """Ask what a session that goes on has cost: the program counts on from there, or from 0 if it forgot."""
        with suppress(MooringError):
            used = await self._program.request({"subtype": "get_usage", "skip_behaviors": True})
            match used:
                case {"session": {"total_cost_usd": int() | float() as cost}}:
                    self._events.earlier_cost = cost
                case _:
                    pass  # another version, which says it otherwise

    async def _read(self) -> None:
        """Take every message, between turns too: what nobody takes would hold up the answers to our requests."""
        try:
            async for message in self._client.receive_messages():
                self.has_answered = True
                self._added.note_taken(_find_taken(message))
                result = self._events.take(message)
                if result is not None:
                    self._last_result = result
                    self._end_turn()
        except (ClaudeSDKError, MooringError) as error:
            self._fail(error if isinstance(error, MooringError) else self._program.describe_end())
        else:
            self._fail(self._program.describe_end())

    def _end_turn(self) -> None:
        """End the turn, if the program has done all of it: what was added to it makes it go on."""
        result = self._last_result
        if result is not None and self._result is not None and not self._result.done() and not self._added.has_unread:
            self._result.set_result(result)

    def _fail(self, error: MooringError) -> None:
        self._added.give_up()
        if self._result is not None and not self._result.done():
            self._result.set_exception(error)
            # Whoever waited for it may have been canceled.
            self._result.exception()

    # --- servers --------------------------------------------------------------------------------------------------

    def set_servers(self, servers: Mapping[str, Mapping[str, Any]]) -> None:
        """Have the program connect to these servers and no others; the next turn waits for that."""
        before = self._setting
        self._setting = asyncio.get_running_loop().create_task(self._set_servers(before, servers))

    async def _set_servers(self, before: "asyncio.Task[None] | None", servers: Mapping[str, Mapping[str, Any]]) -> None:
        # In order: otherwise the last answer need not be to the last change.
        if before is not None:
            await asyncio.wait({before})
        try:
            await self._program.request({"subtype": "mcp_set_servers", "servers": servers})
        except ServerDied:
            # Whoever needs the program finds out.
            return

    async def wait_for_servers(self) -> None:
        """Wait for a while until the servers that were set are connected, or have failed."""
        if self._setting is not None:
            await asyncio.wait({self._setting}, timeout=SETTLE_TIMEOUT)

    async def list_statuses(self) -> Sequence[Mapping[str, Any]]:
        """What it says of each server. The entries hold secrets. Raises: MooringError."""
        await self.wait_for_servers()
        answer = await self._program.request({"subtype": "mcp_status"})
        entries = answer.get("mcpServers")
        return entries if isinstance(entries, list) else ()

    async def reconnect(self, name: str) -> None:
        """Connect a server anew. Raises: MooringError."""
        await self.wait_for_servers()
        await self._program.request({"subtype": "mcp_reconnect", "serverName": name})


async def start_session(
    bridge: AgentBridge,
    options: BackendOptions,
    path: str,
    configs: Mapping[str, Mapping[str, Any]],
    on_session: Callable[[str], None],
) -> ClaudeSession:
    """Start the program, and have it connect to its servers; `options` say which session it goes on with.

    `configs` are the servers in Claude Code's form, by the names that it knows them by. Raises: MooringError.
    """
    # The SDK logs what it raises too, and a logger without any handler writes to the terminal.
    logging.getLogger("claude_agent_sdk").addHandler(logging.NullHandler())
    events = ClaudeEvents(bridge, on_session, earlier_cost=0.0 if options.resume is None else None)
    requests = PermissionRequests(bridge, events)
    servers = [server for name in configs if (server := bridge.find_server(name)) is not None]
    program = _make_program(bridge, options, path, servers)
    sdk_options = ClaudeAgentOptions(
        can_use_tool=requests.decide,
        hooks=requests.hooks,
        agents=write_agents(bridge, servers, options.agents),
        forward_subagent_text=True,
    )
    session = ClaudeSession(bridge, program, ClaudeSDKClient(sdk_options, transport=program), events)
    await session.connect()
    session.set_servers(configs)
    return session


def _make_program(bridge: AgentBridge, options: BackendOptions, path: str, servers: Sequence[str]) -> GuardedProgram:
    agent = options.main_agent
    tools = select_tools(bridge, servers, ToolSelection() if agent is None else agent.tools)
    argv = build_command(path, options, tools)
    return GuardedProgram(
        options.guard,
        argv,
        build_environment(options.env),
        options.cwd,
        greeting=_write_greeting(options),
        answerers={"elicitation": partial(answer_elicitation, bridge)},
    )


def _write_greeting(options: BackendOptions) -> dict[str, Any]:
    """What the system prompt is made of, beside or instead of the program's own."""
    # Never as it was recorded: a session may go on with another agent, and AGENTS.md may have changed.
    greeting: dict[str, Any] = {"systemPromptSnapshot": False}
    agent = options.main_agent
    if agent is not None and agent.prompt:
        greeting["systemPrompt"] = [agent.prompt]
    if options.instructions:
        greeting["appendSystemPrompt"] = options.instructions
    return greeting


def _find_taken(message: Any) -> Sequence[str]:
    """The ids of the messages that the program says it has taken in, and is about to have its model read."""
    match message:
        case SystemMessage(subtype="status", data={"user_message_uuids": list(ids)}):
            return [id for id in ids if isinstance(id, str)]
        case _:
            return ()


async def _write_message(said: TurnInput) -> AsyncIterator[dict[str, Any]]:
    parts = (Text(text=said.text), *said.attachments) if said.text else said.attachments
    content = [_write_part(part) for part in parts]
    yield {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": None}


def _write_part(part: Part) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image(data=data, mime_type=kind):
            return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
        case Audio(mime_type=kind):
            return {"type": "text", "text": f"(audio of type {kind}, which Claude Code cannot take)"}


_DAY: Final = 86_400
_QUESTIONS: Final = "AskUserQuestion"


class PermissionRequests:
    """Decides each call, once."""

    def __init__(self, bridge: AgentBridge, events: ClaudeEvents) -> None:
        self._bridge = bridge
        self._events = events

    @property
    def hooks(self) -> dict[str, list[Any]]:
        """Have Claude Code ask about every call.

        By itself it would not ask about what it takes for harmless, such as reading a file of the project, and no rule
        of ours would be looked at. If the hook itself fails, nothing is called.
        """
        return {"PreToolUse": [HookMatcher(hooks=[_ask_always], timeout=_DAY, on_failure="block")]}

    async def decide(self, name: str, arguments: dict[str, Any], context: Any) -> Any:
        """Answer a request for permission: the callback of the SDK."""
        self._events.start_tool_of(context.agent_id, context.tool_use_id, name, arguments)
        if context.agent_id is None and await self._events.stopped_at_limit():
            return PermissionResultDeny(message="The turn ended.", interrupt=True)
        try:
            if name == _QUESTIONS:
                # The question is the call: nobody has to permit that it is asked.
                answered = await answer_questions(self._bridge.ask, arguments)
                return PermissionResultAllow(updated_input=answered)
        except MooringError as error:
            return PermissionResultDeny(message=str(error))
        tool = find_tool(self._bridge, name)
        self._bridge.begin_call(context.tool_use_id)
        refusal = await self._bridge.find_refusal(AgentCall(context.tool_use_id, tool, arguments))
        return PermissionResultAllow() if refusal is None else PermissionResultDeny(message=refusal)


async def _ask_always(call: Mapping[str, Any], id: str | None, context: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}


async def answer_questions(ask: Ask, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `AskUserQuestion` with the person's answers in them, as Claude Code wants them.

    Raises: MooringError if there is none.
    """
    try:
        questions = convert(arguments.get("questions"), list[PersonQuestion])
    except ValidationError as error:
        raise MooringError(f"The questions can't be read: {error}.") from error
    match await ask(make_form(questions, ASKER)):
        case Yes(content):
            return {**arguments, "answers": _write_answers(questions, read_answers(questions, content))}
        case No() as answer:
            raise MooringError(explain_no(answer))
        case Allow():
            return {**arguments, "answers": {}}


def _write_answers(questions: Sequence[PersonQuestion], answers: FormAnswers) -> dict[str, str]:
    """For each question what was chosen; what the person wrote in their own words answers those without a choice."""
    chosen = [", ".join(each) or answers.own_words for each in answers.choices]
    return {question.question: answer for question, answer in zip(questions, chosen, strict=True) if answer}


async def answer_elicitation(bridge: AgentBridge, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Ask the person what a server asks that Claude Code runs itself."""
    match await bridge.ask(_make_question(bridge, body)):
        case Yes(content):
            return {"action": "accept", "content": content or {}}
        case Allow():
            return {"action": "accept", "content": {}}
        case No(how=how):
            return {"action": how}


def _make_question(bridge: AgentBridge, body: Mapping[str, Any]) -> Question:
    name = str(body.get("mcp_server_name"))
    server = bridge.find_server(name) or name
    message = str(body.get("message") or "")
    if body.get("mode") == "url":
        return Visit(server, message, str(body.get("url") or ""), str(body.get("elicitation_id") or ""))
    schema = body.get("requested_schema")
    return Form(server, message, schema if isinstance(schema, dict) else {})
