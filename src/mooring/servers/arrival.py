"""The next connection of a server: whoever needs it waits here, and hears that it came, or why it does not."""

import asyncio

from mooring.errors import MooringError
from mooring.wire.session.session import Session


class Arrival:
    """What is waited for, one connection after another."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.waiting = 0
        """How many wait just now."""
        self.next = self._new()
        """Comes true with the session; while one is up, it has."""

    def came(self, session: Session) -> None:
        if not self.next.done():
            self.next.set_result(session)

    def gone(self) -> None:
        """Whoever comes from now on waits for the connection after this one."""
        if self.next.done():
            self.next = self._new()

    def failed(self, error: MooringError) -> None:
        """Tell everyone who waits; those who come later wait for another attempt."""
        if not self.next.done():
            self.next.set_exception(error)
        self.next = self._new()

    def _new(self) -> "asyncio.Future[Session]":
        future: asyncio.Future[Session] = self._loop.create_future()
        future.add_done_callback(_seen)
        return future


def _seen(future: "asyncio.Future[Session]") -> None:
    """An error that nobody waited for is told by the status."""
    if not future.cancelled():
        future.exception()
