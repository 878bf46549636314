"""Messages on their way to one client: as many as it reads, and no more than fit into a buffer."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from mooring.core.units import MIB

MOST_UNREAD: Final = 8 * MIB
"""How many bytes may wait for a client that does not read. It is cut then, so that nobody else waits for it."""


def _do_nothing() -> None:
    return


class Outgoing:
    """A queue of encoded messages that never makes its writer wait."""

    def __init__(self) -> None:
        self.on_cut: Callable[[], object] = _do_nothing
        """Called when the client is cut: whoever writes to it may wait for it for ever."""
        self._messages: deque[bytes] = deque()
        self._size = 0
        self._is_finished = False
        # Not an `asyncio.Event`: there is one reader, and most of them wait once, for one answer.
        self._reader: asyncio.Future[None] | None = None

    @property
    def is_empty(self) -> bool:
        return not self._messages

    @property
    def is_finished(self) -> bool:
        """Whether nothing follows what is queued."""
        return self._is_finished

    def put(self, message: bytes) -> None:
        """Queue a message; at the limit, drop all of them and end."""
        if self._is_finished:
            return
        self._size += len(message)
        # One message that is larger than the limit is let through, if it is the only one.
        if self._size > MOST_UNREAD and self._messages:
            self._messages.clear()
            self.finish()
            self.on_cut()
            return
        self._messages.append(message)
        self._wake_reader()

    def finish(self) -> None:
        self._is_finished = True
        self._wake_reader()

    async def get(self) -> bytes | None:
        """The next message; `None` if there will be none."""
        while not self._messages:
            if self._is_finished:
                return None
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        message = self._messages.popleft()
        self._size -= len(message)
        return message

    def _wake_reader(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)
