"""A server behind two pipes: one message a line, read in bounded lines, written once per turn of the loop.

What becomes of odd input, here and in the peer:

=====================================  ======================================================================
what the server writes                 what happens
=====================================  ======================================================================
an empty line, `\\r\\n`                  ignored, tolerated
anything that is no message, `null`    noise: counted, the last lines kept, no call is touched
a message behind other text            the message counts (a half line, or a print without its newline)
a last line without its newline        counts when the pipe closes
a batch `[…]`                          each of its messages counts
bytes that are not UTF-8               become U+FFFD, the message counts
a lone surrogate                       becomes U+FFFD in messages up to 1 MiB, else as the next row
an answer that is no JSON              its call fails (ProtocolError) if the line's ends name it, or if it can
  or nested too deeply                 only be the one under way
a number too long for a double         the call fails (ProtocolError); in structured content, reading it does
a line over the budget                 skipped to its newline; the call that its ends name, else the only one
                                       under way, fails (TooLarge)
an unknown id                          counted
a second or late answer                counted
an id as `"7"` or `7.0` instead of 7   answers 7; `true`, `"07"`, objects are unknown ids
an error with a null id                fails the only call under way, else counted
result and error together              the error counts, unless it is null
neither result nor error               the call fails (ProtocolError)
a key twice in a message               the last counts
a request with an id that is taken     refused, as is any beyond the budget
a request whose method is unknown      refused (-32601)
a request with a null id               taken for a notification
stdout or stdin closed, process alive  the server is dead, `Limits.farewell` seconds later at the latest
process gone, its pipes held open      what waits in them counts, then the server is dead
stdin never read                       calls fail at their deadline, past `Limits.unsent` bytes at once (Clogged)
=====================================  ======================================================================
"""

import asyncio
import os
from collections.abc import Awaitable, Callable

from mooring.core.failure import Ending
from mooring.core.limits import Limits
from mooring.errors import Clogged
from mooring.wire.rpc.message import Message, Request, encode
from mooring.wire.rpc.transport import Receiver, Withdrawal
from mooring.wire.stdio.lines import Lines

_READ = 64 * 1024
"""Larger reads cost more than they save: the buffer comes from mmap, fresh pages and all."""
_WRITE = 64 * 1024
_DRAIN = 256


class StdioTransport:
    """A transport over the stdout and stdin of a process, both non-blocking, closed by `close_pipe` alone.

    `ended` returns when the process has exited, with its exit code and last words: then, or when a pipe is
    closed at the other end, the connection is over.
    """

    def __init__(
        self,
        stdout: int,
        stdin: int,
        *,
        server: str,
        limits: Limits,
        ended: Callable[[], Awaitable[Ending]] | None = None,
        close_pipe: Callable[[int], object] = os.close,
    ) -> None:
        self.mirrors = None
        self._loop = asyncio.get_running_loop()
        self._stdout = stdout
        self._stdin = stdin
        self._server = server
        self._limits = limits
        self._unsent = limits.unsent
        self._ended = ended
        self._close_pipe = close_pipe
        self._lines = Lines(limits.line)
        self._queue: dict[int, bytes] = {}
        self._queued = 0
        self._notices = 0
        self._rest = memoryview(b"")
        self._answered = True
        self._flushing = False
        self._deaf = False
        self._closed = False
        self._watch: asyncio.Task[None] | None = None
        self._farewell: asyncio.TimerHandle | None = None

    def start(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._loop.add_reader(self._stdout, self._read)
        if self._ended is not None:
            self._watch = self._loop.create_task(self._watch_process(self._ended))

    def send(self, message: Message) -> None:
        line = encode(message) + b"\n"
        if self._answered and not (self._queue or self._rest or self._deaf):
            # Nothing is under way, so nothing will join this one: the turn of the loop is saved.
            self._answered = False
            if self._write(line):
                return
        self._queued += len(line)
        if self._queued + len(self._rest) > self._unsent:
            self._refuse(len(line))
        if type(message) is Request:
            self._queue[message.id] = line
        else:
            self._notices -= 1
            self._queue[self._notices] = line
        if not self._flushing and not self._rest:
            self._flushing = True
            self._loop.call_soon(self._flush)

    def withdraw(self, key: int) -> Withdrawal:
        line = self._queue.pop(key, None)
        if line is None:
            return "running"
        self._queued -= len(line)
        return "unsent"

    def close(self) -> None:
        """Close both pipes: the server sees the end of its input, after what can still be written at once."""
        if self._closed:
            return
        self._flush()  # a notice that a call is cancelled may have been queued in this very turn
        self._closed = True
        self._stop_writing()
        self._loop.remove_reader(self._stdout)
        self._close_pipe(self._stdout)
        if self._watch is not None:
            self._watch.cancel()
        if self._farewell is not None:
            self._farewell.cancel()

    async def gone(self) -> None:
        """Pipes close at once."""

    def _refuse(self, size: int) -> None:
        waiting = self._queued - size + len(self._rest)
        if waiting:
            self._queued -= size
            raise Clogged(self._server, waiting)

    def _flush(self) -> None:
        self._flushing = False
        while self._queue and not self._rest and not self._deaf:
            self._write(self._batch())

    def _batch(self) -> bytes:
        """The next messages, up to what a pipe holds: those behind them can still be withdrawn."""
        if self._queued <= _WRITE:
            batch = b"".join(self._queue.values())
            self._queue.clear()
        else:
            batch = b"".join(map(self._queue.pop, self._first(_WRITE)))
        self._queued -= len(batch)
        return batch

    def _first(self, size: int) -> list[int]:
        """The oldest messages that make up so many bytes, in one pass: looking for the first is slow, in a dict."""
        keys: list[int] = []
        for key, line in self._queue.items():
            if size <= 0:
                break
            keys.append(key)
            size -= len(line)
        return keys

    def _write(self, data: bytes | memoryview) -> bool:
        """Write what the pipe takes now and keep the rest; false if nobody reads it any more."""
        try:
            written = os.write(self._stdin, data)
        except BlockingIOError:
            written = 0
        except OSError:
            self._stop_writing()
            self._part("it closed its input")
            return False
        if written < len(data):
            if not self._rest:
                self._loop.add_writer(self._stdin, self._resume)
            self._rest = memoryview(data)[written:]
        elif self._rest:
            self._rest = memoryview(b"")
            self._loop.remove_writer(self._stdin)
        return True

    def _resume(self) -> None:
        self._write(self._rest)
        self._flush()

    def _stop_writing(self) -> None:
        if not self._deaf:
            self._deaf = True
            self._loop.remove_writer(self._stdin)
            self._close_pipe(self._stdin)

    def _read(self) -> bool:
        """Read once; false if there was nothing."""
        try:
            chunk = os.read(self._stdout, _READ)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        if chunk:
            self._answered = True
            self._take(chunk)
        else:
            self._loop.remove_reader(self._stdout)
            self._receiver.received(self._lines.end())
            self._part("it closed its output")
        return bool(chunk)

    def _take(self, chunk: bytes) -> None:
        lines = self._lines.feed(chunk)
        if self._lines.lost:
            self._take_around(lines)
        else:
            self._receiver.received(lines)

    def _take_around(self, lines: list[bytes]) -> None:
        """Tell of what was lost where it was lost: who waits for an answer depends on the order."""
        told = 0
        for before, claim in self._lines.lost:
            self._receiver.received(lines[told:before])
            self._receiver.lost(claim)
            told = before
        self._receiver.received(lines[told:])

    def _part(self, cause: str) -> None:
        """The server has closed a pipe. If its process is about to exit, what it exits with is worth a moment."""
        if self._watch is None:
            self._loop.call_soon(self._over, Ending(cause))
        elif self._farewell is None:
            lives = Ending(f"{cause}, but its process lives on")
            self._farewell = self._loop.call_later(self._limits.farewell, self._over, lives)

    async def _watch_process(self, ended: Callable[[], Awaitable[Ending]]) -> None:
        ending = Ending("its process was lost sight of")
        try:
            ending = await ended()
        finally:
            self._drain()
            self._over(ending)

    def _drain(self) -> None:
        """Read what a process left in its pipe, which others that it started may hold open."""
        for _ in range(_DRAIN):
            if self._closed or not self._read():
                return

    def _over(self, ending: Ending) -> None:
        if not self._closed:
            self.close()
            self._receiver.closed(ending)
