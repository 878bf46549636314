"""The connection that callers wait for: they get the session once it is there, or the reason why it isn't."""

import asyncio

from mooring.errors import MooringError
from mooring.wire.session.session import Session


class PendingConnection:
    """A future for the next session, replaced by a new one each time it has served its purpose."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.waiters = 0
        """How many callers wait right now."""
        self.future = self._make_future()
        """Resolves to the session; while a connection is up, it has."""

    def resolve(self, session: Session) -> None:
        """Hand the session to everyone who waits."""
        if not self.future.done():
            self.future.set_result(session)

    def reset(self) -> None:
        """Make later callers wait for the connection after this one."""
        if self.future.done():
            self.future = self._make_future()

    def fail(self, error: MooringError) -> None:
        """Raise the error in everyone who waits; later callers wait for another attempt."""
        if not self.future.done():
            self.future.set_exception(error)
        self.future = self._make_future()

    def _make_future(self) -> "asyncio.Future[Session]":
        future: asyncio.Future[Session] = self._loop.create_future()
        future.add_done_callback(_mark_retrieved)
        return future


def _mark_retrieved(future: "asyncio.Future[Session]") -> None:
    # An eager server often fails while nobody waits. Its status has the reason, so asyncio need not
    # log "exception was never retrieved".
    if not future.cancelled():
        future.exception()
