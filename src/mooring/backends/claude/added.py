"""Messages that the program is sent during a turn, until it says that it has taken them in.

It reads one with the next result of a call, else goes on with it when the turn is over, as with a turn of its own. Also
after it was stopped: so what the person takes back is withdrawn before.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol
from uuid import uuid4

from msgspec import Struct

from mooring.core.conversation.turn import Receipt, TurnInput
from mooring.errors import MooringError


class MessageProgram(Protocol):
    """What a program does with these messages."""

    async def send_message(self, said: TurnInput, id: str) -> None: ...

    async def request(self, body: Mapping[str, Any]) -> Mapping[str, Any]: ...


class _SentMessage(Struct, eq=False):
    said: TurnInput
    receipt: Receipt


class AddedMessages:
    """The messages of one program that were sent during its turn and not taken in yet, by their ids."""

    def __init__(
        self, program: MessageProgram, on_read: Callable[[str], None], on_withdrawn: Callable[[], None]
    ) -> None:
        """`on_read` is told the text of each that is taken in, and `on_withdrawn` that one no longer waits."""
        self._program = program
        self._on_read = on_read
        self._on_withdrawn = on_withdrawn
        self._unread: dict[str, _SentMessage] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def has_unread(self) -> bool:
        return bool(self._unread)

    def send(self, said: TurnInput) -> Receipt:
        """Send a message. See `Backend.add`."""
        receipt: Receipt = asyncio.get_running_loop().create_future()
        id = str(uuid4())
        self._unread[id] = _SentMessage(said, receipt)
        self._begin(self._send(id, said))
        receipt.add_done_callback(lambda done: self._begin(self._withdraw(id)) if done.cancelled() else None)
        return receipt

    def note_taken(self, ids: Iterable[str]) -> None:
        """The program has taken these in, and its model reads them now."""
        for id in ids:
            message = self._unread.pop(id, None)
            if message is not None:
                self._on_read(message.said.text)
                _settle(message, was_read=True)

    async def withdraw_all(self) -> None:
        """Withdraw what was not taken in yet. Raises: MooringError."""
        for id in list(self._unread):
            await self._withdraw_one(id)

    def give_up(self) -> None:
        """The turn is over: whatever was not taken in by now is yet to be said."""
        while self._unread:
            _, message = self._unread.popitem()
            _settle(message, was_read=False)

    def _begin(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work, name="claude added message")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, id: str, said: TurnInput) -> None:
        with suppress(MooringError):  # whoever waits for the turn is told that the program died
            await self._program.send_message(said, id)

    async def _withdraw(self, id: str) -> None:
        with suppress(MooringError):
            await self._withdraw_one(id)

    async def _withdraw_one(self, id: str) -> None:
        answer = await self._program.request({"subtype": "cancel_async_message", "message_uuid": id})
        # If it came too late, the program has said, or is about to say, that it took the message in.
        if answer.get("cancelled") is True:
            message = self._unread.pop(id, None)
            if message is not None:
                _settle(message, was_read=False)
            self._on_withdrawn()


def _settle(message: _SentMessage, *, was_read: bool) -> None:
    if not message.receipt.done():
        message.receipt.set_result(was_read)
