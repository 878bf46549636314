"""Claude Code's program: how our guard starts it, and the transport that the Claude Agent SDK talks through."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from itertools import count
from typing import Any, Final, TypeAlias

from msgspec import DecodeError, json

from mooring.backends.bridge.options import BackendOptions
from mooring.backends.claude.agents import ClaudeTools, find_model
from mooring.backends.programs import PROGRAM_FACTS
from mooring.errors import MooringError, ServerDied
from mooring.process.child import LOST, Child, OutputReader, write_input
from mooring.process.programs import Guard
from mooring.process.surroundings import surround
from mooring.wire.stdio.pipes import Lines

Answerer: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Answers one kind of request that the program makes."""

NAME: Final = PROGRAM_FACTS["claude"].label
LONGEST_MESSAGE: Final = 64 * 1024 * 1024
"""In bytes. A message repeats a tool's whole result, which may have images in it."""
EXIT_GRACE: Final = 5.0
"""How many seconds it may take to exit: with less, the last message of a session may not be on disk yet."""
LAST_LINES: Final = 20


class GuardedProgram:
    """Starts the program and carries its messages, one JSON object a line.

    The SDK would start it by itself, and then nothing would end it if this process is killed. It takes any object that
    has the methods of its `Transport` instead, and then has no part in how the program is started.

    `greeting` is added to the first request, `initialize`, which knows more than the SDK lets us say. `answerers` are
    for requests of the program that the SDK would refuse, by their subtype; `request` makes those that it has no method
    for.
    """

    def __init__(
        self,
        guard: Guard,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str,
        *,
        greeting: Mapping[str, Any],
        answerers: Mapping[str, Answerer],
    ) -> None:
        self._guard = guard
        self._argv = tuple(argv)
        self._env = dict(env)
        self._cwd = cwd
        self._greeting = greeting
        self._answerers = answerers
        self._child: Child | None = None
        self._is_closing = False
        self._is_broken = False
        """It no longer reads: it is about to exit, or has exited, and that was not reported yet."""
        self._lines = Lines(LONGEST_MESSAGE)
        self._messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._writing = asyncio.Lock()
        self._numbers = count(1)
        self._requests: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        self._answering: dict[str, asyncio.Task[None]] = {}

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not exited."""
        is_over = self._is_closing or self._is_broken
        return self._child is not None and not self._child.exited.done() and not is_over

    # --- what the SDK calls ---------------------------------------------------------------------------------------

    async def connect(self) -> None:
        """Start it. Raises: SpawnError, GuardLost."""
        child = await self._guard.start(self._argv, surround(self._env, self._cwd))
        self._child = child
        reader = OutputReader(child, self._read_piece)
        child.exited.add_done_callback(lambda _: self._end(reader))

    async def write(self, data: str) -> None:
        """Send whole lines. Raises: ServerDied."""
        if self._greeting:
            data, self._greeting = _extend_request(data, self._greeting), {}
        async with self._writing:
            if self._child is None or not await write_input(self._child, data.encode()):
                self._is_broken = True
                raise self.describe_end()

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """What it says, until it exits. Raises: ServerDied, unless it was told to exit."""
        while (message := await self._messages.get()) is not None:
            yield message
        if not self._is_closing:
            raise self.describe_end()

    async def end_input(self) -> None:
        """Let it finish and exit."""
        if self._child is not None:
            self._child.close_stdin()

    def is_ready(self) -> bool:
        return self.is_running

    async def close(self) -> None:
        self._is_closing = True
        for task in self._answering.values():
            task.cancel()
        if self._child is not None:
            await self._child.close(EXIT_GRACE)

    # --- requests beside the SDK ----------------------------------------------------------------------------------

    async def request(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Have the program do something, and wait for its answer. Raises: MooringError if it refuses; ServerDied."""
        id = f"mooring-{next(self._numbers)}"
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._requests[id] = answer
        try:
            await self._send({"type": "control_request", "request_id": id, "request": body})
            return await answer
        finally:
            self._requests.pop(id, None)

    async def _send(self, message: Mapping[str, Any]) -> None:
        await self.write(json.encode(message).decode() + "\n")

    # --- what the program says ------------------------------------------------------------------------------------

    def _read_piece(self, piece: bytes) -> None:
        for line in self._lines.feed(piece):
            self._read_line(line)

    def _read_line(self, line: bytes) -> None:
        # Some builds print lines for debugging among the messages.
        if not line.startswith(b"{"):
            return
        try:
            message = json.decode(line)
        except (DecodeError, UnicodeDecodeError, RecursionError):
            return
        if not self._handle_own(message):
            self._messages.put_nowait(message)

    def _handle_own(self, message: Mapping[str, Any]) -> bool:
        """Take what is not for the SDK; whether it was such a message."""
        match message:
            case {"type": "control_response", "response": {"request_id": id} as response} if id in self._requests:
                _settle(self._requests[id], response)
            case {"type": "control_request", "request_id": id, "request": {"subtype": kind} as body} if (
                kind in self._answerers
            ):
                self._begin_answer(id, self._answerers[kind], body)
            case {"type": "control_cancel_request", "request_id": id} if id in self._answering:
                self._answering[id].cancel()
            case _:
                return False
        return True

    def _begin_answer(self, id: str, answerer: Answerer, body: Mapping[str, Any]) -> None:
        task = asyncio.get_running_loop().create_task(self._answer(id, answerer, body), name="claude request")
        self._answering[id] = task
        task.add_done_callback(lambda _: self._answering.pop(id, None))

    async def _answer(self, id: str, answerer: Answerer, body: Mapping[str, Any]) -> None:
        response: dict[str, Any] = {"request_id": id}
        try:
            response |= {"subtype": "success", "response": await answerer(body)}
        except MooringError as error:
            response |= {"subtype": "error", "error": str(error)}
        await self._send({"type": "control_response", "response": response})

    # --- its end --------------------------------------------------------------------------------------------------

    def _end(self, reader: OutputReader) -> None:
        # Not when the loop ends with it still running.
        if self._child is not None and self._child.stdout >= 0:
            reader.drain()
            reader.stop()
            self._child.discard_stdout()
        for answer in self._requests.values():
            if not answer.done():
                answer.set_exception(self.describe_end())
        self._messages.put_nowait(None)

    def describe_end(self) -> ServerDied:
        """The error of whoever needed it: how it ended, and what it printed last."""
        child = self._child
        code = child.exited.result() if child is not None and child.exited.done() else None
        lines = child.stderr_tail.splitlines()[-LAST_LINES:] if child is not None else []
        return ServerDied(
            NAME,
            "the request",
            cause="the guard that started it died" if code == LOST else "",
            exit_code=None if code == LOST else code,
            stderr=lines,
        )


def _extend_request(line: str, more: Mapping[str, Any]) -> str:
    message: dict[str, Any] = json.decode(line)
    message["request"] |= more
    return json.encode(message).decode() + "\n"


def _settle(answer: asyncio.Future[Mapping[str, Any]], response: Mapping[str, Any]) -> None:
    if answer.done():
        return
    if response.get("subtype") == "error":
        answer.set_exception(MooringError(f"{NAME} refused: {response.get('error') or 'it did not say why'}"))
        return
    body = response.get("response")
    answer.set_result(body if isinstance(body, dict) else {})


_DAY: Final = "86400000"
"""In milliseconds. A person may take their time with a question, and the program counts that as part of a call."""

SWITCHES: Final = {
    "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
    # Tools of servers are listed at once as long as they are few; else it finds them by a search of its own.
    "ENABLE_TOOL_SEARCH": "auto",
    "MCP_TOOL_TIMEOUT": _DAY,
    "MCP_TIMEOUT": _DAY,
    # Servers that the person connected on claude.ai: those are the agent's own too.
    "ENABLE_CLAUDEAI_MCP_SERVERS": "false",
    # What goes on after a turn would speak to nobody, and would ask nobody.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_CRON": "1",
    # It would read every `@path` of a prompt by itself, past the gate. The chat attaches what a prompt names.
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    # Plans come as `TodoWrite`, whole; without these they come in pieces, by four other tools.
    "CLAUDE_CODE_ENABLE_TASKS": "0",
    "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1",
    # The program belongs to an installed package, which has its own updates.
    "DISABLE_AUTOUPDATER": "1",
}
"""Set whatever the person's environment says."""

UNWANTED_TOOLS: Final = ("EnterPlanMode", "ExitPlanMode", "EnterWorktree", "ExitWorktree", "Monitor", "ScheduleWakeup")
"""Own tools that would change the permission mode or the folder, or act after the turn."""


def build_command(program: str, options: BackendOptions, tools: ClaudeTools) -> list[str]:
    """The command line. It has no secrets: servers, agents and instructions are told by messages."""
    argv = [
        program,
        "--output-format",
        "stream-json",
        "--input-format",
        "stream-json",
        "--verbose",
        "--include-partial-messages",
        "--permission-prompt-tool",
        "stdio",
        # Neither settings, hooks and agents of the repository or the person, nor servers that either has configured.
        "--setting-sources=",
        "--strict-mcp-config",
        "--disallowedTools",
        ",".join([*UNWANTED_TOOLS, *tools.denied]),
    ]
    if tools.own is not None:
        argv += ["--tools", ",".join(tools.own)]
    model = find_model(options)
    if model is not None:
        argv += ["--model", model]
    if options.resume is not None:
        # In one word: otherwise an id that begins with a dash would be another option.
        argv.append(f"--resume={options.resume}")
    return argv


def build_environment(given: Mapping[str, str]) -> dict[str, str]:
    """The program's environment: what it was given, with our switches."""
    # Set where Mooring itself runs inside Claude Code: the program would take itself for a part of that session.
    rest = {name: value for name, value in given.items() if name != "CLAUDECODE"}
    return {**rest, **SWITCHES}
