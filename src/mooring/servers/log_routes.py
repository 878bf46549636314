"""Who reads the log messages of servers along: the conversation that they are about, and nobody else."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from mooring.core.conversation.question import Ask
from mooring.core.protocol.result import LOG_LEVELS, LogMessage

LogListener: TypeAlias = Callable[[str, LogMessage], None]
"""Takes a server's name and one of its log messages."""


class LogRoutes:
    """The listeners of one host. A conversation is known by its `ask`, as with questions."""

    def __init__(self) -> None:
        self._listeners: dict[Ask, LogListener] = {}
        self._levels: dict[Ask, str] = {}
        self.level = ""
        """The least urgent level that anybody ever named, which the servers are told; empty if nobody did."""

    def add(self, ask: Ask, level: str, listener: LogListener) -> None:
        """Have a conversation hear of messages from one of `LOG_LEVELS` on; of all that come, if it is empty."""
        self._listeners[ask] = listener
        if level:
            self._levels[ask] = level
            self.level = min(level, self.level or level, key=LOG_LEVELS.index)

    def remove(self, ask: Ask) -> None:
        self._listeners.pop(ask, None)
        self._levels.pop(ask, None)

    def deliver(self, server: str, message: LogMessage, working: Sequence[Ask | None]) -> None:
        """Pass a message on, if it is clear for whom; `working` are the conversations that the server works for.

        A message may quote what one of them sent, so that it must not reach another.
        """
        concerned: set[Ask | None] = set(working) or set(self._listeners)
        for ask, listener in self._listeners.items():
            if concerned == {ask} and _is_wanted(message, self._levels.get(ask, "")):
                listener(server, message)


def _is_wanted(message: LogMessage, level: str) -> bool:
    # A level that the protocol does not know may be urgent.
    if not level or message.level not in LOG_LEVELS:
        return True
    return LOG_LEVELS.index(message.level) >= LOG_LEVELS.index(level)
