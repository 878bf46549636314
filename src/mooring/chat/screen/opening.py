"""Opens the screen of a chat, and gives the terminal back afterwards: with what was said, and how to go on.

Meanwhile the terminal is the screen's alone. What libraries, warnings and children write goes to a log, because any
of it would stand in the middle of what is drawn.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import TextIOWrapper
from typing import TYPE_CHECKING

from textual.driver import Driver

from mooring.chat.screen.app import ChatScreen
from mooring.chat.screen.guarded import GuardedTerminal
from mooring.chat.screen.preferences import ScreenPreferences, read_preferences
from mooring.chat.view import ChatTerminal, MakeOptions
from mooring.core.conversation.verdict import CommandPermissions
from mooring.core.definitions.paths import Workspace
from mooring.process.programs import Guard
from mooring.settings import load
from mooring.verbs.use.deadline import StopAwareLoop

if TYPE_CHECKING:
    from mooring.chat.session import ChatSession
    from mooring.verbs.agent.options import ConversationOptions

LOG_BYTES = 1_000_000
"""From this size on, the log of earlier chats is put aside when another begins."""


def chat_on_screen(
    workspace: Workspace,
    permissions: CommandPermissions,
    guard: Guard | None = None,
    make_options: MakeOptions = lambda: None,
) -> None:
    """Converse on the whole terminal until the person leaves. Raises: ConfigError."""

    async def converse(screen: ChatScreen) -> None:
        make_chat = await asyncio.to_thread(_load_chat)
        await make_chat(workspace, permissions, guard, make_options(), screen)

    # A small file of the user's own: read first, so that nothing is ever drawn in the wrong colors.
    preferences = read_preferences(load(workspace.where, None))
    run_screen(converse, f"{workspace.where.state}/chat.log", preferences, guard)


def _load_chat() -> "Callable[..., Awaitable[None]]":
    """What has a chat; loaded while the screen is drawn and typed into."""
    from mooring.chat.plain.chat import Chat
    from mooring.chat.screen.view import ScreenView

    async def converse(
        workspace: Workspace,
        permissions: CommandPermissions,
        guard: Guard | None,
        options: "ConversationOptions | None",
        screen: ChatScreen,
    ) -> None:
        def make_view(_: ChatTerminal, session: "ChatSession") -> ScreenView:
            return ScreenView(screen, session)

        chat = Chat(workspace, permissions, guard, options, terminal=screen.terminal, make_view=make_view)
        await chat.converse()

    return converse


def run_screen(
    converse: Callable[[ChatScreen], Awaitable[None]],
    log: str,
    preferences: ScreenPreferences | None = None,
    guard: Guard | None = None,
) -> None:
    """Show a chat on the whole terminal until it ends, then its end on the normal screen.

    Raises: what ended the chat.
    """
    with _own_terminal(log) as out:
        guarded = GuardedTerminal(guard, out.fileno())
        screen = ChatScreen(converse, _make_driver(out, guarded), preferences, guarded.advise)
        received = _run(screen)
        _write_end(out, screen.left)
    if received is not None:
        signal.signal(received, signal.SIG_DFL)
        os.kill(os.getpid(), received)
    if screen.failure is not None:
        raise screen.failure


def _run(screen: ChatScreen) -> int | None:
    """The signal that ended it, if one did."""
    received: list[int] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()

        def end(number: int) -> None:
            received.append(number)
            screen.end()

        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, end, number)
        await screen.run_async()

    with asyncio.Runner(loop_factory=StopAwareLoop) as runner:
        runner.run(run())
    return received[0] if received else None


def _write_end(out: TextIOWrapper, lines: list[str]) -> None:
    try:
        out.write("".join(f"{line}\n" for line in lines))
        out.flush()
    except OSError:
        pass  # the terminal is gone


@contextmanager
def _own_terminal(log: str) -> Iterator[TextIOWrapper]:
    """The terminal, where nothing else can write as long as this is open."""
    os.makedirs(os.path.dirname(log), mode=0o700, exist_ok=True)
    _put_aside(log)
    sys.stdout.flush()
    sys.stderr.flush()
    # What the user sends elsewhere stays there.
    diverted = [number for number in (1, 2) if os.isatty(number)]
    kept = {number: os.dup(number) for number in diverted}
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number in diverted:
        os.dup2(file, number)
    os.close(file)
    try:
        with open(kept[1], "w", encoding="utf-8", errors="replace", closefd=False) as out:
            yield out
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, descriptor in kept.items():
            os.dup2(descriptor, number)
            os.close(descriptor)


def _put_aside(log: str) -> None:
    try:
        if os.path.getsize(log) > LOG_BYTES:
            os.replace(log, f"{log}.1")
    except OSError:
        pass  # there is none yet


def _make_driver(out: TextIOWrapper, guarded: GuardedTerminal) -> type[Driver] | None:
    """What draws on this terminal; Windows has only Textual's own way."""
    if sys.platform == "win32":
        return None
    from mooring.chat.screen.driver import TerminalDriver

    return partial(TerminalDriver, out, guarded)  # type: ignore[return-value]  # all that is done with it is to call it
