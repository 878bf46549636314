"""The same call again and again: counted, and mentioned in the question about permission if one is asked anyway."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from msgspec import DecodeError, Struct, json
from msgspec.structs import replace

from mooring.core.conversation.question import Answer, Ask, No, Permission, Question

REPEATED = 5
"""The same call this many times in a row is asked about."""


class CallStreak(Struct):
    """How many times in a row the model made the same call, and from which on it is asked about."""

    call: tuple[str, bytes] | None = None
    times: int = 0
    asks_at: int = REPEATED
    is_unanswered: bool = False
    """There was no one to ask."""

    def add(self, tool: str, arguments: bytes) -> bool:
        """Count one more call, and say whether to ask about it; `arguments` as `normalize_arguments` writes them."""
        same = (tool, arguments)
        if same != self.call:
            self.call, self.times, self.asks_at = same, 0, REPEATED
        self.times += 1
        return self.times >= self.asks_at

    def settle(self, times: int, answer: Answer) -> None:
        """Take the answer for a call that was the so-manieth in a row."""
        self.asks_at = times + (1 if isinstance(answer, No) else REPEATED)
        self.is_unanswered = isinstance(answer, No) and answer.nobody


def normalize_arguments(arguments: str | Mapping[str, Any]) -> bytes:
    """The arguments however they are spaced and ordered; as they are if they aren't JSON."""
    try:
        decoded = json.decode(arguments) if isinstance(arguments, str) else arguments
        return json.encode(decoded, order="deterministic")
    except DecodeError:
        return str(arguments).encode(errors="surrogatepass")


_current: ContextVar[tuple[CallStreak, int] | None] = ContextVar("_current", default=None)
"""Which call in a row the current one is."""


@contextmanager
def mention_repetition(streak: CallStreak, times: int) -> Iterator[None]:
    """Have the question about permission for what is done meanwhile say that it is the so-manieth call in a row."""
    token = _current.set((streak, times) if times else None)
    try:
        yield
    finally:
        _current.reset(token)


def ask_once(ask: Ask) -> Ask:
    """The same `ask`, with the repetition mentioned where permission is asked: the answer holds for both.

    Two questions about the same call would be one too many.
    """

    async def ask_about_both(question: Question) -> Answer:
        repetition = _current.get()
        if repetition is None or not isinstance(question, Permission):
            return await ask(question)
        streak, times = repetition
        answer = await ask(replace(question, times=times))
        streak.settle(times, answer)
        return answer

    return ask_about_both
