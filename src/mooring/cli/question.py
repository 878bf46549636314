"""Questions that a command puts to the person at the terminal, the same ones as in the chat."""

import sys
from typing import TYPE_CHECKING

from mooring.cli.base import Globals, are_terminals
from mooring.core.conversation.question import Answer, Question

if TYPE_CHECKING:
    from mooring.chat.plain.questions import Questions


def find_asker(options: Globals) -> "CommandAsker | None":
    """What asks the person; `None` where nobody would see a question or could answer it."""
    can_ask = sys.platform != "win32" and are_terminals(sys.stdin, sys.stderr)
    return CommandAsker(options) if can_ask else None


class CommandAsker:
    """Puts each question to the person, once what shows progress is out of the way."""

    def __init__(self, options: Globals) -> None:
        self._options = options
        self._questions: Questions | None = None

    async def __call__(self, question: Question) -> Answer:
        if self._questions is None:
            # Loaded here: few commands ask anything.
            from mooring.chat.plain.dialog import CommandTerminal
            from mooring.chat.plain.questions import Questions

            self._questions = Questions(
                CommandTerminal(),
                project=self._options.project,
                session=False,
                home=self._options.workspace().where.home,
            )
        with self._options.pause_progress():
            return await self._questions(question)
