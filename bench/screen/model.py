"""A model that says the long text for a minute: `python -m bench.screen.model` prints its address and runs on.

What it says is a stream of Anthropic's API, with as many events in a second as are fed at the conversation elsewhere.
"""

import asyncio
import json
import signal
import sys
import time
from collections.abc import Iterator

from bench.screen.texts import EVENTS_PER_SECOND, cut_event, write_cycle
from bench.segments import HEAD

SECONDS = 65
"""Some more than are measured."""
STEP = 0.005


def write_beginning() -> bytes:
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    block = {"type": "text", "text": ""}
    return _chunk({"type": "message_start", "message": message}) + _chunk(
        {"type": "content_block_start", "index": 0, "content_block": block}
    )


def write_end() -> bytes:
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 100_000}}
    ends = ({"type": "content_block_stop", "index": 0}, end, {"type": "message_stop"})
    return b"".join(map(_chunk, ends)) + b"0\r\n\r\n"


def write_pieces(first: int, last: int, text: str) -> Iterator[bytes]:
    for number in range(first, last):
        delta = {"type": "text_delta", "text": cut_event(text, number)}
        yield _chunk({"type": "content_block_delta", "index": 0, "delta": delta})


def _chunk(event: dict[str, object]) -> bytes:
    written = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
    return b"%x\r\n%b\r\n" % (len(written), written)


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.partition(b":")[2]))
            await say(writer)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def say(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + write_beginning())
    text, said, began = write_cycle(), 0, time.perf_counter()
    while (now := time.perf_counter() - began) < SECONDS:
        due = int(now * EVENTS_PER_SECOND)
        writer.write(b"".join(write_pieces(said, due, text)))
        said = due
        await writer.drain()
        await asyncio.sleep(STEP)
    writer.write(write_end())


async def main() -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await ended.wait()


if __name__ == "__main__":
    asyncio.run(main())
