"""Messages on their way to one client: as many as it reads, and no more than fit into a buffer."""

import asyncio
from collections import deque
from typing import Final

from mooring.core.units import MIB

MOST_UNREAD: Final = 8 * MIB
"""How many bytes may wait for a client that does not read. It is cut then, so that nobody else waits for it."""


class Outgoing:
    """A queue of encoded messages that never makes its writer wait."""

    def __init__(self) -> None:
        self.was_cut = False
        self._messages: deque[bytes] = deque()
        self._size = 0
        self._is_finished = False
        self._has_news = asyncio.Event()

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
            self.was_cut = True
            self._messages.clear()
            self.finish()
            return
        self._messages.append(message)
        self._has_news.set()

    def finish(self) -> None:
        self._is_finished = True
        self._has_news.set()

    async def get(self) -> bytes | None:
        """The next message; `None` if there will be none."""
        while not self._messages:
            if self._is_finished:
                return None
            self._has_news.clear()
            await self._has_news.wait()
        message = self._messages.popleft()
        self._size -= len(message)
        return message
