"""What a program prints, read as it comes, and what it is given to read."""

import asyncio
import os
from collections.abc import Callable

from mooring.process.child import Child

_CHUNK = 64 * 1024
_MOST_LEFT = 64
"""How many reads empty a pipe for certain, unless somebody keeps filling it."""


class OutputReader:
    """Hands over what a child prints, piece by piece, until its output ends or nobody wants more."""

    def __init__(self, child: Child, take: Callable[[bytes], None]) -> None:
        self._child = child
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._stopped = False
        self._loop.add_reader(child.stdout, self._read)

    def drain(self) -> None:
        """Take what is left in the pipe.

        Not until end of file: a background process that the command left behind may hold the other end open, and may
        go on printing.
        """
        for _ in range(_MOST_LEFT):
            if not self._read():
                return

    def stop(self) -> None:
        """Take nothing more."""
        if not self._stopped and self._child.stdout >= 0:
            self._loop.remove_reader(self._child.stdout)
        self._stopped = True

    def _read(self) -> bool:
        """Read once; whether there was anything."""
        if self._stopped or self._child.stdout < 0:
            return False
        try:
            data = os.read(self._child.stdout, _CHUNK)
        except BlockingIOError:
            return False
        if data:
            self._take(data)
        else:
            self._stopped = True
            self._child.discard_stdout()
        return bool(data)


async def feed_input(child: Child, data: bytes) -> None:
    """Write all of the data to a child's input, and end it. What a child does not read is dropped when it ends."""
    await write_input(child, data)
    child.close_stdin()


async def write_input(child: Child, data: bytes) -> bool:
    """Write all of the data to a child's input; whether it was taken. One writer at a time, or lines would mix."""
    rest = memoryview(data)
    try:
        while rest and child.stdin >= 0:
            try:
                rest = rest[os.write(child.stdin, rest) :]
            except BlockingIOError:
                await _wait_until_writable(child.stdin)
    except BrokenPipeError:
        return False
    return not rest


async def _wait_until_writable(handle: int) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def note() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_writer(handle, note)
    try:
        await ready
    finally:
        loop.remove_writer(handle)
