"""What each API has to do: read a request, write a reply whole or as a stream, and write an error."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from tests.models.answer import Answer, Frame
from tests.models.record import Api, Json, ModelRequest
from tests.models.script import Fail, Overflow


class Wire(NamedTuple):
    """One API."""

    api: Api
    read: Callable[[Json, str], ModelRequest]
    """From the body and the path."""
    write: Callable[[Answer], Json]
    stream: Callable[[Answer], Iterator[Frame]]
    write_error: Callable[[Fail, int], Json]
    """The body of an error, with the number of the reply."""
    stream_error: Callable[[Fail, int], bytes]
    """The frame of an error inside a stream."""
    overflow: Callable[[Overflow], Fail]
    write_count: Callable[[int], Json]
    """The reply to a request that only wants the tokens counted."""
    retry_header: bool = True
    """Whether a limit says in a header when to come back; Gemini has it in the body."""


def write_event(data: Json, name: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {msgspec.json.encode(data).decode()}\n\n".encode()


def choose_kind(kinds: Mapping[int, str], failure: Fail, default: str) -> str:
    return failure.kind or kinds.get(failure.status, default)


def describe(failure: Fail, kind: str) -> str:
    return failure.message or f"{kind} (scripted)"


def find_all(blocks: Any, kind: str) -> list[Json]:
    """The blocks of one type."""
    return [block for block in blocks if block.get("type") == kind]
