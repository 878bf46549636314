"""A stored conversation of a given size, written as a chat writes it."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from bench.screen.texts import REPLY
from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    TextBlock,
)
from mooring.agents.sessions.store import SessionStore
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.content import Text

MODEL = "anthropic:claude-sonnet-5-5"
LAST_WORDS = "All of her lines are fast."
"""The end of each conversation."""
_OUTPUT = "\n".join(f"line {number} is fast to bollard {number % 7}" for number in range(40))


class Size(Struct, frozen=True):
    """How much was said in a conversation."""

    messages: int
    cards: int

    @property
    def turns_with_calls(self) -> int:
        """With two calls in each of them, and three messages."""
        return self.cards // 2

    @property
    def plain_turns(self) -> int:
        return (self.messages - 3 * self.turns_with_calls) // 2


SHORT, LONG = Size(messages=10, cards=4), Size(messages=1_200, cards=500)


def store_conversation(home: Path, project: Path, size: Size) -> str:
    """Keep a conversation of this size; its id."""
    store = SessionStore(Paths(str(home)))
    with closing(store.begin(str(project), model=MODEL)) as journal:
        for message in make_messages(size):
            journal.add_message(message)
        return journal.id


def make_messages(size: Size) -> Iterator[Message]:
    """Its end is the same in each conversation, since that is what stands on the screen: every other turn has calls."""
    plain, calling = size.plain_turns, size.turns_with_calls
    for number in range(plain + calling, 0, -1):
        has_both = number <= 2 * min(plain, calling)
        yield from _make_turn(number, has_calls=number % 2 == 0 if has_both else calling > plain)


def _make_turn(number: int, *, has_calls: bool) -> Iterator[Message]:
    yield PersonMessage((Text(f"And line {number}?"),))
    if has_calls:
        calls = [_make_call(number, position) for position in range(2)]
        yield _reply(TextBlock("I look at it."), *calls)
        yield ResultsMessage(tuple(CallResult(call.id, call.name, (Text(_OUTPUT),)) for call in calls))
    yield _reply(TextBlock(REPLY if number > 1 else f"{REPLY}{LAST_WORDS}"))


def _make_call(number: int, position: int) -> CallBlock:
    return CallBlock(f"call_{number}_{position}", "mcp__bench__echo", json.dumps({"text": f"line {number}"}))


def _reply(*blocks: ReplyBlock) -> ModelMessage:
    return ModelMessage(blocks, MODEL)
