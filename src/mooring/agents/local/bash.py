"""`Bash`, a command line that is not confined in any way; `BashOutput` and `KillShell`, for those in the background."""

import asyncio
import re
from collections import deque
from collections.abc import Mapping
from itertools import count
from typing import Annotated

from msgspec import Meta, Struct

from mooring import files
from mooring.agents.history import describe_exit
from mooring.agents.local.project_files import ProjectFiles, limit_grant
from mooring.conversation.local_tool import LocalCall, LocalTool, text_result
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.result import Result
from mooring.core.protocol.units import MIB
from mooring.core.text.glob import literal
from mooring.errors import ConfigError, GuardLost, SpawnError
from mooring.permissions.argument_match import is_plain_command
from mooring.process.child import LOST, Child, OutputReader
from mooring.process.programs import Guard
from mooring.servers.launch.environment import Launch, make_launch

TERM_GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL for a command that has to end."""


class RunningCommand:
    """A command that was started. Whoever started it has to end it."""

    def __init__(self, child: Child, launch: Launch) -> None:
        self._child = child
        self._launch = launch
        self._output = KeptOutput()
        self._reader = OutputReader(child, self._output.add)

    @property
    def is_running(self) -> bool:
        return not self._child.exited.done()

    @property
    def status(self) -> int:
        """How it ended: the exit code, negative for a signal. Raises: GuardLost."""
        status = self._child.exited.result()
        if status == LOST:
            raise GuardLost("The guard process died while a command was running.")
        return status

    async def wait(self, seconds: float) -> bool:
        """Wait until it has ended; whether it has."""
        await asyncio.wait([self._child.exited], timeout=seconds)
        return not self.is_running

    def pop_output(self) -> str:
        """What it printed since the last time, without the secrets that it was given."""
        if not self.is_running:
            self._reader.drain()
        return self._launch.redact(self._output.pop_text())

    async def end(self) -> None:
        """End it, and whatever it left running."""
        await self._child.close(0.0, TERM_GRACE)


async def start_command(
    command: str, guard: Guard, where: Paths, cwd: str, env: Mapping[str, str], *, shell: str = ""
) -> RunningCommand:
    """Start a command in bash, or in another shell, with nothing to read and no terminal: it can wait for nobody.

    It gets the environment of a person's own server: theirs, without what looks like a secret.

    Raises: ConfigError if it cannot be started; GuardLost.
    """
    if "\0" in command:
        raise ConfigError("Bash: the command holds a character that no command can.")
    # Both outputs as one, in their order. On a line of its own: what follows may not even be valid. Of another shell
    # nothing is known but that it takes `-c`.
    line = ("sh", "-c", 'exec "$0" -c "$1" 2>&1', shell, command) if shell else ("bash", "-c", f"exec 2>&1\n{command}")
    launch = make_launch(line, where, cwd, own=True, settings=env, typed=True)
    program = files.which(line[0], launch.env["PATH"], "/") or "/bin/sh"
    try:
        child = await guard.start((program, *launch.argv[1:]), launch.surroundings)
    except SpawnError as error:
        raise ConfigError(f"Bash: the command could not be started: {error.cause}") from None
    child.close_stdin()
    return RunningCommand(child, launch)


HALF_KEPT = 8 * MIB
"""How many bytes of the beginning of an output are kept, and how many of its end."""


class KeptOutput:
    """Keeps the first and the last half of what may be kept."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0

    def add(self, data: bytes) -> None:
        room = HALF_KEPT - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= HALF_KEPT:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._dropped += gone

    def pop_text(self) -> str:
        """What is kept, which is forgotten with that: the next text begins with what is printed from now on."""
        head = bytes(self._head)
        tail = b"".join(self._tail)
        gap = f"\n[{self._dropped:,} bytes were dropped here]\n".encode() if self._dropped else b""
        self._forget()
        return (head + gap + tail).decode(errors="replace")


MAX_RUNNING = 16
_NOT_PLAIN = (
    "no rule can allow a command line that could run a second command; session allows exactly this text in this folder"
)
_PERMITTED = LocalAccess(is_free=True, why="it is about a command that you permitted")


class BackgroundCommands:
    """The commands of one conversation that were started in the background, and end with it."""

    def __init__(self) -> None:
        self._commands: dict[str, RunningCommand] = {}
        self._numbers = count(1)

    def check_room(self) -> None:
        """Raises: ConfigError if too many commands run already."""
        running = [id for id, command in self._commands.items() if command.is_running]
        if len(running) >= MAX_RUNNING:
            raise ConfigError(f"{MAX_RUNNING} commands run in the background already; end one with KillShell.")

    def keep(self, command: RunningCommand) -> str:
        """Keep a command that was started, and say how it is named."""
        id = f"bash_{next(self._numbers)}"
        self._commands[id] = command
        return f"It runs in the background as {id}."

    def find(self, id: str) -> RunningCommand:
        """The command of that name. Raises: ConfigError."""
        found = self._commands.get(id)
        if found is None:
            known = ", ".join(self._commands) or "none"
            raise ConfigError(f"No command runs in the background as {id!r}; there are: {known}.")
        return found

    async def end(self, id: str) -> None:
        """End a command and forget it. Raises: ConfigError."""
        command = self.find(id)
        del self._commands[id]
        await command.end()

    async def close(self) -> None:
        for id in tuple(self._commands):
            await self.end(id)


class _BackgroundTool(LocalTool):
    """A tool for commands that a call of `Bash` was permitted to start."""

    def __init__(self, background: BackgroundCommands) -> None:
        self._background = background

    def assess(self, arguments: Struct) -> LocalAccess:
        return _PERMITTED


class BashOutputArguments(Struct, forbid_unknown_fields=True):
    bash_id: Annotated[str, Meta(description="The name that Bash gave to the command")]


class BashOutputTool(_BackgroundTool):
    label = "BashOutput"
    description = "What a command in the background printed since the last time, and whether it still runs."
    parameters = BashOutputArguments
    only_reads = True

    async def run(self, call: LocalCall) -> Result:
        command = self._background.find(call.arguments.bash_id)
        output = command.pop_output().rstrip("\n")
        state = "[It is still running.]" if command.is_running else f"[It has ended: exit code {command.status}.]"
        return text_result(f"{output}\n{state}" if output else state)


class KillShellArguments(Struct, forbid_unknown_fields=True):
    shell_id: Annotated[str, Meta(description="The name that Bash gave to the command")]


class KillShellTool(_BackgroundTool):
    label = "KillShell"
    description = "End a command that runs in the background."
    parameters = KillShellArguments

    async def run(self, call: LocalCall) -> Result:
        id: str = call.arguments.shell_id
        await self._background.end(id)
        return text_result(f"{id} was ended.")


DEFAULT_MS = 120_000
LONGEST_MS = 600_000
MAX_CHARACTERS = 30_000
"""How much of the output a model is given at once."""
_CHARACTERS_PER_TOKEN = 4


class BashArguments(Struct, forbid_unknown_fields=True):
    command: Annotated[str, Meta(description="The command line")]
    description: Annotated[str, Meta(description="What it does, in a few words")] = ""
    timeout: Annotated[int, Meta(ge=1, description=f"When to end it, in milliseconds; {LONGEST_MS:,} at most")] = (
        DEFAULT_MS
    )
    run_in_background: Annotated[
        bool, Meta(description="Return at once; BashOutput reads what it prints, KillShell ends it")
    ] = False


class BashTool(LocalTool):
    label = "Bash"
    description = (
        "Run a command line in bash, in the working folder; cd and variables do not carry over to the next call. It "
        "has no terminal and nothing to read, so it cannot ask anything. Whatever it leaves running is ended with it, "
        f"unless run_in_background is true. Of a long output, {MAX_CHARACTERS:,} characters are given."
    )
    parameters = BashArguments
    max_tokens = MAX_CHARACTERS // _CHARACTERS_PER_TOKEN

    def __init__(
        self, workspace: ProjectFiles, guard: Guard, background: BackgroundCommands, env: Mapping[str, str]
    ) -> None:
        """`env` is what the person's settings add to the environment of everything that is started."""
        self._workspace = workspace
        self._guard = guard
        self._background = background
        self._env = env

    def assess(self, arguments: BashArguments) -> LocalAccess:
        command = arguments.command
        return LocalAccess(
            kind="command",
            subject=command,
            project=self._workspace.project,
            home=self._workspace.home,
            why="no rule allows this command",
            insists="it may change what agents are allowed to do" if may_change_rights(command) else "",
            # A pattern never covers a command line that could run a second command, so neither can a rule.
            grant=limit_grant(literal(command.strip())) if is_plain_command(command) else None,
            verbatim=f"{self._workspace.cwd}\0{command}",
            limit="" if is_plain_command(command) else _NOT_PLAIN,
            preview=_show_command(arguments, self._workspace.cwd),
        )

    async def run(self, call: LocalCall) -> Result:
        arguments: BashArguments = call.arguments
        workspace = self._workspace
        if arguments.run_in_background:
            self._background.check_room()
        command = await start_command(arguments.command, self._guard, workspace.where, workspace.cwd, self._env)
        if arguments.run_in_background:
            return text_result(self._background.keep(command))
        try:
            return await _wait_for(command, min(arguments.timeout, LONGEST_MS) / 1000)
        finally:
            await command.end()

    async def close(self) -> None:
        await self._background.close()


_OWN_COMMAND = r"(?<![\w.-])mooring(?![\w.-])"
_HARMLESS = (
    r"mooring(?:\s+-\S+)*\s+"
    r"(?:tools|resources|prompts|logs|history|version|help|mcp\s+(?:list|ls|get|why|test|doctor))\b"
)


def may_change_rights(command: str) -> bool:
    """Whether a command line names our own command for anything but a look.

    It is there to ask in time. What hides from it, such as a name that the shell puts together, does nothing: the
    commands that grant anything refuse to work below a program that Mooring started.
    """
    plain = re.sub(r"\\\n|[\\'\"$]", "", command)
    plain = re.sub(r"\bcd\s+\S+", "", plain)  # a folder may be called so
    named = len(re.findall(_OWN_COMMAND, plain))
    return named > len(re.findall(_HARMLESS, plain))


async def _wait_for(command: RunningCommand, seconds: float) -> Result:
    has_ended = await command.wait(seconds)
    output = command.pop_output().rstrip("\n")
    if not has_ended:
        return text_result(_join(output, f"[It was ended after {seconds:g} s.]"), failed=True)
    if command.status:
        return text_result(_join(output, describe_exit(command.status)), failed=True)
    return text_result(output or "[It printed nothing.]")


def _join(output: str, note: str) -> str:
    return f"{output}\n{note}" if output else note


def _show_command(arguments: BashArguments, cwd: str) -> str:
    lines = [f"In {cwd}:", *(f"  {line}" for line in arguments.command.split("\n"))]
    if arguments.run_in_background:
        lines.append("It goes on in the background, until the conversation ends.")
    elif arguments.timeout > DEFAULT_MS:
        lines.append(f"It may take up to {min(arguments.timeout, LONGEST_MS) / 1000:g} s.")
    return "\n".join(lines)
