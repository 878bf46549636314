"""Commands in the background of one conversation: `BashOutput` reads what they print, `KillShell` ends one."""

from itertools import count
from typing import Annotated

from msgspec import Meta, Struct

from mooring.agents.local.command import RunningCommand
from mooring.conversation.local_tool import LocalCall, LocalTool, text_result
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.protocol.result import Result
from mooring.errors import ConfigError

MAX_RUNNING = 16
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
        """End all of them."""
        for id in tuple(self._commands):
            await self.end(id)


class _BackgroundTool(LocalTool):
    """A tool for commands that a call of `Bash` was permitted to start."""

    def __init__(self, background: BackgroundCommands) -> None:
        self._background = background

    def assess(self, arguments: Struct) -> LocalAccess:
        return _PERMITTED


class BashOutputArguments(Struct, forbid_unknown_fields=True):
    """What `BashOutput` takes."""

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
    """What `KillShell` takes."""

    shell_id: Annotated[str, Meta(description="The name that Bash gave to the command")]


class KillShellTool(_BackgroundTool):
    label = "KillShell"
    description = "End a command that runs in the background."
    parameters = KillShellArguments

    async def run(self, call: LocalCall) -> Result:
        id: str = call.arguments.shell_id
        await self._background.end(id)
        return text_result(f"{id} was ended.")
