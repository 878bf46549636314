"""Frames of every kind, cut anywhere, against a model: each request has exactly one outcome, and the right one.

On demand with any number of frames: `python tests/wire/test_fuzz.py 200000`.
"""

import asyncio
import json
import os
import random
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.core.protocol.limits import Limits
from mooring.errors import ProtocolError, RpcError, TooLarge
from mooring.wire.rpc.peer import Peer
from mooring.wire.session.answers import return_raw
from mooring.wire.session.dialect import McpDialect
from mooring.wire.stdio.pipes import Lines, StdioTransport

LIMITS = Limits(line=4096)
JUNK = [
    b"",
    b"\r",
    b"Server started",
    b"null",
    b"[]",
    b"[1,null,{}]",
    b"{}",
    b'{"level":"info"}',
    b"\xff\xfe\x00",
    b'{"jsonrpc":"2.0"',
    b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}',
    b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[1]}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":"s","method":"no/such"}',
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":5}',
    b'{"jsonrpc":"2.0","id":99999999,"result":{}}',
    b'{"jsonrpc":"2.0","id":-1,"error":{"code":1,"message":"x"}}',
    b'{"jsonrpc":"2.0","id":true,"result":{}}',
    b'{"jsonrpc":"2.0","id":"x","result":{}}',
    b'{"jsonrpc":"2.0","id":1.5,"result":{}}',
    b'{"jsonrpc":"2.0","id":null,"result":{}}',
    b'{"jsonrpc":"2.0","id":' + b"9" * 400 + b',"result":{}}',
    b'{"jsonrpc":"2.0","method":"notifications/message","params":' + b"[" * 3000,
    b"[" * 4000,
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"' + b"x" * 5000,
]


class Model:
    """What must have become of each request after the frames made so far."""

    def __init__(self, chance: random.Random, keys: dict[int, str]) -> None:
        self.chance = chance
        self.pending = dict(keys)
        self.outcomes: dict[int, Any] = {}
        self.answered: list[int] = []

    def frame(self) -> bytes:
        if not self.pending or self.chance.random() < 0.4:
            return self.chance.choice(JUNK)
        key = self.chance.choice(list(self.pending))
        made = self.chance.choice(
            [
                self.good,
                self.good,
                self.failed,
                self.neither,
                self.garbled,
                self.too_large,
                self.late,
                self.nobody,
                self.babble,
            ]
        )
        return made(key)

    def good(self, key: int) -> bytes:
        text = self.pending[key] + self.chance.choice(["", "é", "\\ud83d\\ude00", "x" * 900])
        self.settle(key, ("result", self.pending[key]))
        echo = self.chance.choice(["%d", '"%d"', "%d.0"]) % key
        frame = f'{{"jsonrpc":"2.0","id":{echo},"result":{{"nonce":"{text}"}}}}'.encode()
        if self.chance.random() < 0.1:
            frame = frame.replace(b"nonce", b"nonce\xff").replace(b"nonce\xff", b'bad":"\xff","nonce', 1)
        prefix = self.chance.choice([b"", b"", b"", b"print ", b'{"jsonrpc":"2.0","id":77777777,"res'])
        return b"[" + frame + b",5]" if self.chance.random() < 0.1 else prefix + frame

    def failed(self, key: int) -> bytes:
        self.settle(key, RpcError)
        result = self.chance.choice(["", '"result":{},'])
        return f'{{"jsonrpc":"2.0",{result}"error":{{"code":-1,"message":"m"}},"id":{key}}}'.encode()

    def neither(self, key: int) -> bytes:
        self.settle(key, ProtocolError)
        return b'{"jsonrpc":"2.0","id":%d}' % key

    def garbled(self, key: int) -> bytes:
        self.settle(key, ProtocolError)
        head = b'{"jsonrpc":"2.0","id":%d,"result":' % key
        return head + self.chance.choice([b"", b'{"a', b"[" * 3000, b"NaN}", b'"\x01"}'])

    def too_large(self, key: int) -> bytes:
        self.settle(key, TooLarge)
        body = b"x" * self.chance.randint(4096, 20_000)
        if self.chance.random() < 0.5:
            return b'{"id":%d,"jsonrpc":"2.0","result":"%b"}' % (key, body)
        return b'{"jsonrpc":"2.0","result":{"id":5,"x":"%b"},"id":%d}' % (body, key)

    def late(self, key: int) -> bytes:
        if not self.answered:
            return b"\n"
        return b'{"jsonrpc":"2.0","id":%d,"result":{"nonce":"late"}}' % self.chance.choice(self.answered)

    def nobody(self, key: int) -> bytes:
        if len(self.pending) == 1:
            self.settle(key, RpcError)
        return b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}'

    def babble(self, key: int) -> bytes:
        if len(self.pending) == 1:
            self.settle(key, TooLarge)
        return b"x" * self.chance.randint(4097, 9000)

    def settle(self, key: int, outcome: Any) -> None:
        del self.pending[key]
        self.answered.append(key)
        self.outcomes[key] = outcome


async def frames_against_the_model(count: int, chance: random.Random) -> int:
    """Send so many frames, in rounds of up to 60; returns how many requests they were for."""
    (stdout, feed), (drain, stdin) = os.pipe(), os.pipe()
    for pipe in (stdout, feed, drain, stdin):
        os.set_blocking(pipe, False)
    peer = Peer(
        StdioTransport(stdout, stdin, server="fuzz", limits=LIMITS),
        server="fuzz",
        limits=LIMITS,
        answers={},
        dialect=McpDialect(),
    )
    requests = 0
    while count > 0:
        frames = min(count, 60)
        requests += await _round(peer, frames, chance, feed, drain)
        count -= frames
    assert peer.in_flight == 0
    await peer.close()
    os.close(feed)
    os.close(drain)
    return requests


async def _round(peer: Peer, frames: int, chance: random.Random, feed: int, drain: int) -> int:
    nonces = [f"n{i}-{chance.getrandbits(48)}." for i in range(chance.randint(1, 20))]
    calls = {nonce: asyncio.ensure_future(peer.request("ask", {"nonce": nonce}, return_raw)) for nonce in nonces}
    keys = await _read_requests(drain, len(calls))
    model = Model(chance, keys)
    stream = b"".join(model.frame() + b"\n" for _ in range(frames))
    for piece in _cut(stream, chance):
        await _write(feed, piece)
    await _wait_settled(peer, feed, drain)
    for key, nonce in keys.items():
        _check(calls[nonce], model.outcomes.get(key))
    abandoned = [call for call in calls.values() if not call.done()]
    for call in abandoned:
        call.cancel()
    await asyncio.gather(*abandoned, return_exceptions=True)
    return len(calls)


def _check(call: "asyncio.Future[Any]", expected: Any) -> None:
    match expected:
        case None:
            assert not call.done()
        case ("result", nonce):
            assert nonce in bytes(call.result()).decode("utf-8", "replace")
        case kind:
            assert type(call.exception()) is kind


async def _wait_settled(peer: Peer, feed: int, drain: int) -> None:
    """Everything before the answer to one more request has been read when that answer has."""
    last = asyncio.ensure_future(peer.request("last", {"nonce": "last"}, return_raw))
    [key] = await _read_requests(drain, 1)
    await _write(feed, b'{"jsonrpc":"2.0","id":%d,"result":{}}\n' % key)
    await last


async def _read_requests(drain: int, count: int) -> dict[int, str]:
    """The next requests that the peer has sent, by id."""
    asked: dict[int, str] = {}
    text = b""
    while len(asked) < count or not text.endswith(b"\n"):
        await asyncio.sleep(0)
        try:
            text += os.read(drain, 65536)
        except BlockingIOError:
            continue
        messages = [json.loads(line) for line in text[: text.rfind(b"\n") + 1].splitlines()]
        asked = {each["id"]: each["params"]["nonce"] for each in messages if each.get("method") in ("ask", "last")}
    return asked


async def _write(feed: int, piece: bytes) -> None:
    while piece:
        with suppress(BlockingIOError):
            piece = piece[os.write(feed, piece) :]
        await asyncio.sleep(0)


def _cut(stream: bytes, chance: random.Random) -> Iterator[bytes]:
    largest = chance.choice([1, 7, 100, 4096, 65536]) if len(stream) < 3000 else chance.choice([100, 4096, 65536])
    while stream:
        size = chance.randint(1, largest)
        yield stream[:size]
        stream = stream[size:]


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_every_request_has_exactly_the_outcome_that_the_frames_say(seed):
    asyncio.run(frames_against_the_model(300, random.Random(seed)))


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=60)), st.integers(1, 50), st.randoms(use_true_random=False))
def test_lines_come_out_whole_however_they_are_cut(contents, limit, chance):
    contents = [content.replace(b"\n", b"") for content in contents]
    lines = Lines(limit)
    out: list[bytes] = []
    lost = 0
    for piece in _cut(b"".join(content + b"\n" for content in contents), chance):
        out += lines.feed(piece)
        lost += len(lines.lost)
    assert out == [content for content in contents if len(content) <= limit]
    assert lost == sum(len(content) > limit for content in contents)


if __name__ == "__main__":
    wanted, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(2**32)
    asked = asyncio.run(frames_against_the_model(wanted, random.Random(seed)))
    sys.stdout.write(f"{wanted} frames, {asked} requests, seed {seed}: each had exactly its outcome\n")
