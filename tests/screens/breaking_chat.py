"""A chat with a mistake in it: below each reply stands a block that cannot be drawn, or that cannot be copied.

All else is as in `mooring chat -m`.
"""

import os
import sys
from collections.abc import Sequence

from mooring.chat.plain.chat import Chat
from mooring.chat.screen.app import ChatScreen
from mooring.chat.screen.line import Line, make_line
from mooring.chat.screen.opening import run_screen
from mooring.chat.screen.stack import Block
from mooring.chat.screen.view import ScreenView
from mooring.chat.session import ChatSession
from mooring.chat.view import ChatTerminal
from mooring.cli.failure import describe_failure, print_failure
from mooring.core.conversation.event import ConversationEvent, TurnDone
from mooring.core.conversation.verdict import CommandPermissions
from mooring.core.definitions.paths import Paths, Workspace
from mooring.verbs.agent.options import ConversationOptions


class BrokenBlock(Block):
    def make_lines(self, cells: int) -> Sequence[Line]:
        if sys.argv[2] == "drawn":
            raise LookupError("this cannot be drawn")
        return [make_line("harmless to look at")]

    def write_source(self) -> str:
        raise LookupError("this cannot be copied")


class BreakingView(ScreenView):
    def __init__(self, screen: ChatScreen, session: ChatSession) -> None:
        super().__init__(screen, session)
        self._breaking = screen

    def show(self, event: ConversationEvent, *, in_turn: bool) -> None:
        super().show(event, in_turn=in_turn)
        if isinstance(event, TurnDone):
            self._breaking.add_block(BrokenBlock())


async def converse(screen: ChatScreen) -> None:
    def make_view(_: ChatTerminal, session: ChatSession) -> BreakingView:
        return BreakingView(screen, session)

    workspace = Workspace(Paths(os.environ["HOME"], os.environ, sys.platform), os.getcwd())
    options = ConversationOptions(model=sys.argv[1])
    await Chat(
        workspace, CommandPermissions(), options=options, terminal=screen.terminal, make_view=make_view
    ).converse()


try:
    run_screen(converse, f"{os.environ['HOME']}/chat.log")
except LookupError as error:
    print_failure(describe_failure(error))
    sys.exit(1)
