"""The calls of a conversation that ended last, each with a number and all that came back: what `/show` shows.

How many are kept, and how much text, is bounded: a conversation may go on for days.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.conversation.event import ConversationEvent, ToolFinished, ToolProgress, ToolStarted
from mooring.core.conversation.outcome import KeptMedia, Outcome, Part
from mooring.core.protocol.content import Text
from mooring.display.calls import OutputStart, find_kind
from mooring.display.lines import describe_outcome
from mooring.display.results import as_text
from mooring.display.text import Verbatim, count_noun, exact_text, safe_text
from mooring.errors import ConfigError

MOST_CALLS = 200
MOST_CHARACTERS = 8_000_000
LONGEST_OUTPUT = 500_000
"""Characters of one result that are kept; of a longer one, its two ends are."""


class RecentCall(Struct, frozen=True):
    """A call that ended."""

    number: int
    """Which call of the conversation it is, from 1 on."""
    event: ToolFinished
    """Without the whole result, which may be long."""
    seconds: float | None
    """How long it took once it was allowed; `None` if that is unknown."""
    input: tuple[str, ...]
    """What it was given, as lines of JSON that are safe to show."""
    output: tuple[str, ...]
    """What came back, as lines that are safe to show."""
    file: str
    """Where the whole is, in words, if only its two ends are here; else empty."""

    @property
    def images(self) -> tuple[KeptMedia, ...]:
        """The images that came back, each in a file."""
        return tuple(each for each in self.event.outcome.kept if each.is_image)

    @property
    def size(self) -> int:
        return sum(map(len, self.input)) + sum(map(len, self.output))

    def describe_rest(self, start: OutputStart) -> str:
        """How much of what came back follows its beginning; empty if nothing does."""
        if not start.is_cut:
            return ""
        # Of a result with only its two ends kept, the lines between them are missing in the count.
        counts = start.left_out and not self.file
        return f"{start.left_out:,} more line{'s' * (start.left_out != 1)}" if counts else "more"


class RecentCalls:
    """Keeps the calls of one conversation as they end."""

    def __init__(self, keep: Callable[[Part], Text | KeptMedia], clock: Callable[[], float] = time.monotonic) -> None:
        """`keep` puts an image or a sound into a file, and says where: whoever shows lines can't show those."""
        self._keep_part = keep
        self._clock = clock
        self._kept: deque[RecentCall] = deque()
        self._size = 0
        self._count = 0
        self._began: dict[str, float] = {}
        """When each call under way was allowed."""

    def note(self, event: ConversationEvent) -> RecentCall | None:
        """Take what happened; the call that ended with it, if one did and something came back."""
        match event:
            case ToolStarted(id=id):
                self._began[id] = self._clock()
            case ToolProgress(id=id, progress=None, background=False):
                # Until now it may have waited for an answer of the person.
                self._began[id] = self._clock()
            case ToolFinished():
                return self._keep(event)
            case _:
                pass
        return None

    def _keep(self, event: ToolFinished) -> RecentCall | None:
        outcome = event.outcome
        if outcome.continues is not None:
            return None
        began = self._began.pop(event.id, None)
        if event.canceled or outcome.for_person:
            return None
        self._count += 1
        # Few calls return a picture, and it is written in a moment: the lines stay in the order of the calls.
        parts = list(map(self._keep_part, outcome.parts))
        texts = tuple(Text(part.words) if isinstance(part, KeptMedia) else part for part in parts)
        kept = (*outcome.kept, *(part for part in parts if isinstance(part, KeptMedia)))
        event = replace(event, outcome=replace(outcome, parts=texts, kept=kept))
        call = make_recent_call(self._count, event, None if began is None else self._clock() - began)
        self._kept.append(call)
        self._size += call.size
        while len(self._kept) > MOST_CALLS or (self._size > MOST_CHARACTERS and len(self._kept) > 1):
            self._size -= self._kept.popleft().size
        return call

    def find_ended(self, event: ToolFinished) -> RecentCall | None:
        """The call that ended with this event, if it is kept."""
        return next((call for call in reversed(self._kept) if call.event.id == event.id), None)

    def __iter__(self) -> Iterator[RecentCall]:
        return iter(self._kept)

    def find(self, number: int) -> RecentCall:
        """The call of that number. Raises: ConfigError if it isn't kept."""
        for call in self._kept:
            if call.number == number:
                return call
        if 0 < number <= self._count:
            raise ConfigError(f"Call {number} is no longer kept. /show lists those that are.")
        raise ConfigError(f"There is no call {number}. /show lists the calls so far.")


def make_recent_call(number: int, event: ToolFinished, seconds: float | None) -> RecentCall:
    """A call that ended, with all that came back as lines."""
    output, file = _write_output(event.outcome)
    written = json.dumps(event.arguments, indent=2, ensure_ascii=False, default=str)
    # The whole result and its pictures are big, and what is shown of them is in `output`.
    slim = replace(event, outcome=replace(event.outcome, result=None, parts=(), excerpt=None))
    return RecentCall(number, slim, seconds, tuple(map(Verbatim, exact_text(written).split("\n"))), tuple(output), file)


def _write_output(outcome: Outcome) -> tuple[list[str], str]:
    """What came back, as lines, and where the whole is if they aren't it."""
    if outcome.excerpt is None:
        return describe_outcome(outcome), ""
    whole = "" if outcome.result is None else as_text(outcome.result)
    if 0 < len(whole) <= LONGEST_OUTPUT:
        return list(map(Verbatim, safe_text(whole).split("\n"))), ""
    return describe_outcome(outcome), outcome.excerpt.whole


class QuietCalls:
    """Reads and searches in a row: how many there were tells more than what each of them found."""

    def __init__(self) -> None:
        self.calls: tuple[RecentCall, ...] = ()

    def add(self, call: RecentCall) -> bool:
        """Count a call that only looked; whether it was one."""
        if find_kind(call.event) not in ("read", "search") or call.event.outcome.is_error:
            return False
        self.calls = (*self.calls, call)
        return True

    def take(self) -> tuple[RecentCall, ...]:
        """Those since the last time."""
        calls, self.calls = self.calls, ()
        return calls


def describe_quiet_calls(calls: tuple[RecentCall, ...]) -> str:
    """Several reads and searches in a line: `read 3 files, searched 2 times`."""
    reads = sum(find_kind(call.event) == "read" for call in calls)
    searches = len(calls) - reads
    words = [f"read {count_noun(reads, 'file')}"] if reads else []
    if searches:
        words.append(f"searched {count_noun(searches, 'time')}")
    return ", ".join(words)
