"""A reply on its way to an API: what is said, what is counted and why it ends."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from tests.models.record import ModelRequest, estimate_tokens
from tests.models.script import Call, Drop, Fail, Hold, Malformed, Part, Say, Stall, Stop, StopReason, Think, Usage

AnyCall = Call | Malformed
Content = Say | Think | AnyCall
Interruption = Stall | Hold | Drop | Fail
PIECES = 3
"""Into how many deltas a text is cut, so that clients have to put them together."""


class Counts(Struct, frozen=True):
    """Tokens of one request and its reply."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    thinking: int
    is_told: bool = True
    cost: float | None = None


class Answer(Struct, frozen=True):
    """One reply to one request."""

    number: int
    model: str
    parts: Sequence[Content | Interruption]
    counts: Counts
    stop: StopReason

    @property
    def content(self) -> list[Content]:
        return [part for part in self.parts if isinstance(part, Content)]

    @property
    def calls(self) -> list[AnyCall]:
        return [part for part in self.parts if isinstance(part, AnyCall)]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Say))

    @property
    def thinking(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Think))


class Block(NamedTuple):
    """A part as frames of a stream: those that say it, and those that end it."""

    frames: Sequence[bytes]
    end: Sequence[bytes] = ()


Frame = bytes | Interruption


def make_answer(number: int, request: ModelRequest, parts: Sequence[Part]) -> Answer:
    played = [part for part in parts if isinstance(part, Content | Interruption)]
    return Answer(
        number=number,
        model=request.model,
        parts=[_identify(part, number, place) for place, part in enumerate(played)],
        counts=_count(request, parts),
        stop=_find_stop(parts),
    )


def play_parts(answer: Answer, make_block: Callable[[Content, int], Block]) -> Iterator[Frame]:
    """The frames of all parts. An interruption comes before the end of the part in front of it: inside that part."""
    end: Sequence[bytes] = ()
    place = 0
    for part in answer.parts:
        if isinstance(part, Interruption):
            yield part
            continue
        yield from end
        frames, end = make_block(part, place)
        yield from frames
        place += 1
    yield from end


def cut_into_pieces(text: str) -> list[str]:
    size = max(1, -(-len(text) // PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]


def write_arguments(call: AnyCall) -> str:
    """The arguments as text, broken where the script wants that."""
    return call.arguments if isinstance(call, Malformed) else msgspec.json.encode(call.arguments).decode()


def _identify(part: Content | Interruption, number: int, place: int) -> Content | Interruption:
    if isinstance(part, AnyCall) and not part.id:
        return replace(part, id=f"call_{number}_{place}")
    return part


def _count(request: ModelRequest, parts: Sequence[Part]) -> Counts:
    usage = next((part for part in parts if isinstance(part, Usage)), Usage())
    return Counts(
        input=request.tokens if usage.input is None else usage.input,
        output=_estimate_output(parts) if usage.output is None else usage.output,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
        thinking=usage.thinking,
        is_told=usage.is_told,
        cost=usage.cost,
    )


def _estimate_output(parts: Sequence[Part]) -> int:
    texts = [part.text for part in parts if isinstance(part, Say | Think)]
    texts += [part.tool + write_arguments(part) for part in parts if isinstance(part, AnyCall)]
    return max(1, estimate_tokens("".join(texts)))


def _find_stop(parts: Sequence[Part]) -> StopReason:
    for part in parts:
        if isinstance(part, Stop):
            return part.reason
    return "calls" if any(isinstance(part, AnyCall) for part in parts) else "end"
