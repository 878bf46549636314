"""`Bash`: a command line. It is not confined in any way: who permits it permits whatever it does."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from mooring.agents.local.background import BackgroundCommands
from mooring.agents.local.command import RunningCommand, start_command
from mooring.agents.local.project_files import ProjectFiles, limit_grant
from mooring.conversation.local_tool import LocalCall, LocalTool, text_result
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.protocol.result import Result
from mooring.core.text.glob import literal
from mooring.permissions.argument_match import is_plain_command
from mooring.servers.launch.shell import Starter

DEFAULT_MS = 120_000
LONGEST_MS = 600_000
MAX_CHARACTERS = 30_000
"""How much of the output a model is given at once."""
_CHARACTERS_PER_TOKEN = 4


class BashArguments(Struct, forbid_unknown_fields=True):
    """What `Bash` takes."""

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
        self, workspace: ProjectFiles, guard: Starter, background: BackgroundCommands, env: Mapping[str, str]
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
            # A pattern never covers a command line that could run a second command, so neither can an answer.
            grant=limit_grant(literal(command.strip())) if is_plain_command(command) else None,
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


async def _wait_for(command: RunningCommand, seconds: float) -> Result:
    has_ended = await command.wait(seconds)
    output = command.pop_output().rstrip("\n")
    if not has_ended:
        return text_result(_join(output, f"[It was ended after {seconds:g} s.]"), failed=True)
    if command.status:
        return text_result(_join(output, describe_status(command.status)), failed=True)
    return text_result(output or "[It printed nothing.]")


def describe_status(status: int) -> str:
    """How a command ended, in words."""
    return f"[Exit code {status}]" if status >= 0 else f"[Ended by signal {-status}]"


def _join(output: str, note: str) -> str:
    return f"{output}\n{note}" if output else note


def _show_command(arguments: BashArguments, cwd: str) -> str:
    lines = [f"In {cwd}:", *(f"  {line}" for line in arguments.command.split("\n"))]
    if arguments.run_in_background:
        lines.append("It goes on in the background, until the conversation ends.")
    elif arguments.timeout > DEFAULT_MS:
        lines.append(f"It may take up to {min(arguments.timeout, LONGEST_MS) / 1000:g} s.")
    return "\n".join(lines)
