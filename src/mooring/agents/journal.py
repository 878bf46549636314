"""What is written down while an agent works, so that nothing said is lost and nothing runs twice."""

from typing import Protocol

from mooring.agents.history import CallBlock, CallResult, Message, ReplyBlock
from mooring.core.conversation.event import TokenUsage


class Journal(Protocol):
    """Keeps a conversation. Each method returns once it would survive the end of this process.

    The order of the calls is the order of what happened. They are quick (a write without a flush to the disk), and so
    not async. If another process holds the file for longer, they return before it is written; `settle` waits for that.
    """

    def add_message(self, message: Message) -> None:
        """A message is complete: one of the person before it is sent, or a reply or the results after they came.

        A reply takes the place of the blocks and the text that were noted while it arrived.
        """

    def record_text(self, piece: str) -> None:
        """Some more of the text that is arriving. Written at most a second late."""

    def record_block(self, block: ReplyBlock) -> None:
        """A block of the reply that is arriving is complete."""

    def drop_reply(self) -> None:
        """The reply that was arriving is void: it is asked for again."""

    def record_call_started(self, call: CallBlock) -> None:
        """A call was permitted and is about to be sent: from now on it may have run."""

    def record_call_ended(self, result: CallResult) -> None:
        """What became of one call; the others of the same reply may still run."""

    def compact(self, messages: tuple[Message, ...]) -> None:
        """From now on these are what the model is sent. What they stand for is kept all the same."""

    def record_usage(self, model: str, usage: TokenUsage, cost: float | None) -> None:
        """What one reply took."""

    def begin_sub_agent(self, call: str, *, agent: str, model: str) -> "Journal":
        """The journal of the sub-agent that works for a call of this conversation. Close it when that has ended."""

    async def settle(self) -> None:
        """Wait until all of it is written, before something is done that it has to survive."""

    def close(self) -> None:
        """Write what is left."""


class NoJournal:
    """Keeps nothing, for a conversation that ends with the program."""

    def add_message(self, message: Message) -> None: ...

    def record_text(self, piece: str) -> None: ...

    def record_block(self, block: ReplyBlock) -> None: ...

    def drop_reply(self) -> None: ...

    def record_call_started(self, call: CallBlock) -> None: ...

    def record_call_ended(self, result: CallResult) -> None: ...

    def compact(self, messages: tuple[Message, ...]) -> None: ...

    def record_usage(self, model: str, usage: TokenUsage, cost: float | None) -> None: ...

    def begin_sub_agent(self, call: str, *, agent: str, model: str) -> "NoJournal":
        return NoJournal()

    async def settle(self) -> None: ...

    def close(self) -> None: ...
