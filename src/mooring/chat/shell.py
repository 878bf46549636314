"""Commands that the person types behind a `!`: each runs in their shell, and whoever answers is told what it printed.

What denies a command to an agent denies it here too. Nothing else is asked: the person has typed it.
"""

import asyncio
from collections.abc import Callable
from time import monotonic

from mooring.agents.history import Journal, PersonCommand
from mooring.chat.command import CommandFace
from mooring.chat.session import ChatSession
from mooring.chat.shell_outputs import shorten_output
from mooring.core.protocol.content import Text
from mooring.core.protocol.result import Result
from mooring.display.text import Verbatim, count_noun, safe, safe_text
from mooring.errors import ConfigError

MOST_SHOWN = 100
"""How many lines of an output are shown."""
LONGEST_SHOWN = 2_000
"""How many characters of a line are shown."""
_LOOK = 0.5
"""Seconds between two looks at a command that runs."""
_SHOW_AFTER = 1.0
"""Seconds after which it is said that a command still runs."""


async def run_shell_command(chat: CommandFace, command: str) -> None:
    """Run a command and show what it printed. Raises: ConfigError; Denied."""
    if not command:
        raise ConfigError("Type a command after the !, such as !git status.")
    session = chat.session
    began = monotonic()

    def show_progress() -> None:
        seconds = monotonic() - began
        if seconds >= _SHOW_AFTER:
            chat.show_progress(f"{seconds:.0f} s · Ctrl+C ends it · $ {safe(command)}")

    def show_ended(ran: PersonCommand, output: str) -> None:
        is_stopped = ran.exit_code is None
        # Whoever stopped it knows, and is told that it has stopped.
        _show(chat, output, "" if is_stopped else ran.failure)
        if session.responder.model is not None and (output or not is_stopped):
            session.shell.keep(ran)
            chat.notice("This goes with your next message; /drop leaves it out.")

    await _run_permitted(session, command, show_progress, show_ended)


async def drop_outputs(chat: CommandFace, _: str) -> None:
    """What `/drop` does."""
    count = chat.session.shell.drop()
    chat.say(f"What {count_noun(count, 'command')} printed is left out." if count else "Nothing waits to be sent.")


async def _run_permitted(
    session: ChatSession,
    command: str,
    show_progress: Callable[[], None],
    show_ended: Callable[[PersonCommand, str], None],
) -> None:
    """Run a command; when it has ended, or Ctrl+C has ended it, show what is kept of it and all that it printed."""
    # Loaded here: few chats run commands.
    from mooring.agents.local.bash import BackgroundCommands, BashArguments, BashTool, start_command
    from mooring.agents.local.project_files import ProjectFiles

    host = session.host
    where, cwd, env = host.workspace.where, host.workspace.cwd, host.settings["env"]
    tool = BashTool(ProjectFiles(where, cwd), host.guard, BackgroundCommands(), env)
    access = await asyncio.to_thread(tool.assess, BashArguments(command))
    journal = session.responder.journal or Journal()

    async def run() -> Result:
        number = journal.record_command_started(command)
        await journal.settle()
        running = await start_command(command, host.guard, where, cwd, env, shell=where.env.get("SHELL", ""))
        is_stopped = True
        try:
            while not await running.wait(_LOOK):
                show_progress()
            is_stopped = False
        finally:
            await running.end()
            output = running.pop_output().rstrip("\n")
            ran = PersonCommand(command, shorten_output(output), None if is_stopped else running.status)
            journal.record_command_ended(number, ran)
            await journal.settle()
            show_ended(ran, output)
        return Result((Text(output),), is_error=ran.exit_code != 0)

    # On record, and refused by what denies it; the person who typed it isn't asked about it.
    calls = session.conversation.calls
    await calls.call_own_tool(tool.name, {"command": command}, run, tool.aliases, tool.hints, access, approved=True)


def _show(chat: CommandFace, output: str, failure: str) -> None:
    lines = output.split("\n") if output else []
    chat.say(*(Verbatim(safe_text(line[:LONGEST_SHOWN])) for line in lines[:MOST_SHOWN]))
    if len(lines) > MOST_SHOWN:
        left_out = len(lines) - MOST_SHOWN
        chat.notice(f"… {left_out:,} more line{'s' * (left_out != 1)}")
    if failure:
        chat.warn(failure)
