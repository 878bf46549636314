"""What was typed while something was under way: it waits for a turn of its own, or to be read in this one."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from mooring.core.conversation.turn import Receipt
from mooring.display.text import count_noun, cut_end, safe
from mooring.errors import MooringError

if TYPE_CHECKING:
    from mooring.chat.session import ChatSession

MOST_SHOWN = 3


class QueuedMessage(Struct, eq=False):
    """A line of the conversation that was not said yet."""

    text: str
    receipt: Receipt | None = None
    """Whether it was read in the turn under way, once it was sent there."""

    @property
    def is_sent(self) -> bool:
        """Whether it is on its way into the turn under way."""
        return self.receipt is not None and not self.receipt.done()

    def withdraw(self) -> bool:
        """Take it back; false if it was read already."""
        receipt, self.receipt = self.receipt, None
        return receipt is None or receipt.cancel() or receipt.cancelled() or not receipt.result()


class MessageQueue:
    """The messages that wait, in their order."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._messages: list[QueuedMessage] = []
        self._on_change = on_change

    def __iter__(self) -> Iterator[QueuedMessage]:
        return iter(tuple(self._messages))

    def add(self, text: str) -> None:
        self._messages.append(QueuedMessage(text))
        self._on_change()

    def list_unsent(self) -> Sequence[QueuedMessage]:
        """Those that still wait for their own turn."""
        return [message for message in self._messages if not message.is_sent]

    def send(self, message: QueuedMessage, receipt: Receipt) -> None:
        """A message is on its way into the turn under way; it leaves the queue once it was read there."""
        message.receipt = receipt
        receipt.add_done_callback(lambda _: self._drop_read())
        self._on_change()

    def take_first(self) -> str | None:
        """The message that waited longest, which is said now."""
        return self._take(0)

    def take_last(self) -> str | None:
        """The message that was typed last, which is not said for now."""
        return self._take(-1)

    def take_all(self) -> list[str]:
        """All messages; none of them is said for now."""
        taken = [message.text for message in self._messages if message.withdraw()]
        self._messages.clear()
        self._on_change()
        return taken

    def _take(self, position: int) -> str | None:
        text = None
        while self._messages and text is None:
            message = self._messages.pop(position)
            text = message.text if message.withdraw() else None
        self._on_change()
        return text

    def _drop_read(self) -> None:
        self._messages = [message for message in self._messages if not _was_read(message)]
        self._on_change()


def _was_read(message: QueuedMessage) -> bool:
    receipt = message.receipt
    return receipt is not None and receipt.done() and not receipt.cancelled() and receipt.result()


# --- into the turn under way ----------------------------------------------------------------------------------------


async def send_queued(queue: MessageQueue, session: "ChatSession") -> str:
    """Send what waits into the turn under way, in its order; why some of it keeps waiting, empty if nothing does."""
    from mooring.chat.command import is_command  # loads the chat, which is not there yet when the screen is drawn

    for message in queue.list_unsent():
        if is_command(message.text) or session.names_tool(message.text):
            return "A command waits until the turn is over, and so does what was typed after it."
        try:
            said = await session.expand(message.text)
        except MooringError as error:
            return f"It waits until the turn is over: {safe(str(error))}"
        if message not in queue:
            continue  # it was taken back, or the turn is over
        receipt = session.add_to_turn(said)
        if receipt is None:
            return _refuse(session)
        queue.send(message, receipt)
        await session.add_to_history(message.text)
    return ""


def _refuse(session: "ChatSession") -> str:
    program = session.responder.program
    who = "Whoever answers here" if program is None else program.name
    return f"{who} takes no messages during a turn, so this one waits until it is over."


def describe_queue(queue: MessageQueue, cells: int) -> Sequence[str]:
    """The messages that wait, each in a line, and what can be done with them."""
    messages = list(queue)
    lines = [cut_end(f"{'→' if each.is_sent else '↳'} {safe(each.text)}", cells) for each in messages[:MOST_SHOWN]]
    if len(messages) > MOST_SHOWN:
        lines.append(f"  … and {count_noun(len(messages) - MOST_SHOWN, 'more message')}")
    if messages:
        lines.append(_describe_keys(queue))
    return lines


def _describe_keys(queue: MessageQueue) -> str:
    first = "Enter sends it now" if queue.list_unsent() else "→ is read before the next step"
    return f"  {first} · Up takes it back · Esc stops"
