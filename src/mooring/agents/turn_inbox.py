"""What the person says while a turn is under way, until whoever answers reads it."""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from mooring.core.conversation.turn import Receipt, TurnInput


class TurnInbox:
    """Takes messages during a turn, and gives each one out once: it is read in this turn, or nobody has it."""

    def __init__(self) -> None:
        self._is_open = False
        self._unread: deque[tuple[TurnInput, Receipt]] = deque()

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Take messages until the turn is over; those that nobody read by then are to be said again."""
        self._is_open = True
        try:
            yield
        finally:
            self._is_open = False
            while self._unread:
                _, receipt = self._unread.popleft()
                _settle(receipt, was_read=False)

    def add(self, said: TurnInput) -> Receipt:
        """Take a message. See `Backend.add`."""
        if not self._is_open:
            return make_refused_receipt()
        receipt: Receipt = asyncio.get_running_loop().create_future()
        self._unread.append((said, receipt))
        return receipt

    @property
    def has_unread(self) -> bool:
        self._drop_withdrawn()
        return bool(self._unread)

    def read(self) -> Iterator[TurnInput]:
        """The messages so far. Each counts as read once the next one is asked for: keep it before that."""
        while self.has_unread:
            said, receipt = self._unread.popleft()
            try:
                yield said
            finally:
                _settle(receipt, was_read=True)

    def _drop_withdrawn(self) -> None:
        while self._unread and self._unread[0][1].done():
            self._unread.popleft()


def make_refused_receipt() -> Receipt:
    """The receipt of a message that came too late, or too early, for a turn."""
    receipt: Receipt = asyncio.get_running_loop().create_future()
    receipt.set_result(False)
    return receipt


def _settle(receipt: Receipt, *, was_read: bool) -> None:
    if not receipt.done():
        receipt.set_result(was_read)
