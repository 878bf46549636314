"""The pieces below HTTP: events, compressed bodies, challenges."""

import gzip
import subprocess
import sys
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.wire.http.body import DecompressionBomb, Inflate, UnknownEncoding
from mooring.wire.http.challenge import parse_challenge
from mooring.wire.http.events import TOO_LARGE, Event, Events

LINES = st.lists(
    st.sampled_from([b"data: a", b"data:b", b"data", b"id: 7", b"id", b"event: x", b"retry: 20", b": c", b"", b"odd"]),
    max_size=12,
)


def cut(text: bytes, sizes: list[int]) -> list[bytes]:
    pieces = []
    for size in sizes:
        pieces.append(text[:size])
        text = text[size:]
    return [*pieces, text]


@given(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.lists(st.integers(1, 9), max_size=20))
def test_a_stream_says_the_same_in_pieces_of_any_size(lines: list[bytes], end: bytes, sizes: list[int]) -> None:
    text = b"".join(line + end for line in lines) + b": the end" + end
    whole, pieces = Events(1000), Events(1000)
    expected = whole.feed(text)
    assert [event for piece in cut(text, sizes) for event in pieces.feed(piece)] == expected
    assert (pieces.last_id, pieces.retry) == (whole.last_id, whole.retry)


@given(st.binary(max_size=200), st.lists(st.integers(1, 50), max_size=10))
def test_no_bytes_make_a_stream_fail(text: bytes, sizes: list[int]) -> None:
    events = Events(50)
    for piece in cut(text, sizes):
        events.feed(piece)
    assert len(events._rest) <= 256 + 250


def test_an_event_over_the_budget_is_told_of_once_and_the_next_one_counts() -> None:
    events = Events(10)
    told = [event for _ in range(5) for event in events.feed(b"data: xxxxxxxxxx\n")]
    assert [event.kind for event in told] == [TOO_LARGE]
    assert events.feed(b"\ndata: fine\n\n") == [Event(b"fine")]


def test_an_event_may_be_exactly_as_large_as_its_budget() -> None:
    assert Events(10).feed(b"data: 0123456789\n\n") == [Event(b"0123456789")]


@given(st.binary(max_size=5000), st.sampled_from(["gzip", "deflate", "raw"]), st.lists(st.integers(1, 99), max_size=9))
def test_a_body_is_the_same_when_it_was_compressed(body: bytes, how: str, sizes: list[int]) -> None:
    squeeze = zlib.compressobj(wbits={"gzip": 31, "deflate": 15, "raw": -15}[how])
    text = squeeze.compress(body) + squeeze.flush()
    inflate = Inflate("gzip" if how == "gzip" else "deflate", 10_000, 100)
    if how == "raw" and not sizes:
        sizes = [len(text)]
    assert b"".join(map(inflate.feed, cut(text, sizes if how != "raw" else [len(text)]))) == body


def test_a_body_may_be_repetitive_up_to_a_megabyte_and_then_a_hundredfold() -> None:
    Inflate("gzip", 1e9, 100).feed(gzip.compress(bytes(1024 * 1024)))
    with pytest.raises(DecompressionBomb):
        Inflate("gzip", 1e9, 100).feed(gzip.compress(bytes(2 * 1024 * 1024)))
    with pytest.raises(DecompressionBomb):
        Inflate("gzip", 100, 100).feed(gzip.compress(bytes(101)))


@given(st.binary(min_size=1, max_size=100))
def test_what_is_not_compressed_is_refused_and_nothing_worse(body: bytes) -> None:
    for encoding in ("gzip", "deflate"):
        with suppress(UnknownEncoding, DecompressionBomb):
            Inflate(encoding, 10_000, 100).feed(body)


@pytest.mark.parametrize(
    ("fields", "scheme", "params"),
    [
        ([], "", {}),
        (["Bearer"], "Bearer", {}),
        (['Basic realm="x"', 'bearer scope="a b"'], "bearer", {"scope": "a b"}),
        (['Negotiate, Basic realm="a, b", Bearer error=invalid_token'], "Bearer", {"error": "invalid_token"}),
        (['Bearer Scope="a\\"b", scope="second"'], "Bearer", {"scope": 'a"b'}),
        (['Digest a="1'], "Digest", {}),
    ],
)
def test_a_challenge_is_read_as_it_was_meant(fields: list[str], scheme: str, params: dict[str, str]) -> None:
    challenge = parse_challenge(fields)
    assert challenge.scheme == scheme
    assert {name: challenge[name] for name in params} == params


@given(st.lists(st.text(max_size=200), max_size=3))
def test_no_challenge_makes_the_reader_fail(fields: list[str]) -> None:
    parse_challenge(fields)


def test_a_program_is_spoken_to_without_loading_what_only_a_url_needs() -> None:
    code = (
        "import asyncio, sys, mooring\n"
        "async def main():\n"
        "    async with mooring.connect([sys.executable, '-I', '-m', 'mooring.demo']):\n"
        "        print([name for name in ('aiohttp', 'yarl') if name in sys.modules])\n"
        "asyncio.run(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr) == ("[]\n", "")
