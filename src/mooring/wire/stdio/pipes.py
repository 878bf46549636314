"""A server behind two pipes: one message a line, read in bounded lines, written once per turn of the loop.

What happens to odd input, here and in the peer; `tests/wire/test_stdio.py` tries each row on a real process:

=====================================  ======================================================================
what the server does                   what happens
=====================================  ======================================================================
an empty line, `\\r\\n`                  ignored, tolerated
a line that isn't a message, `null`    noise: counted, the last lines kept, no call is affected
a message behind other text            the message is taken (after half a line, or a print without its newline)
a last line without its newline        taken when the pipe closes
a batch `[…]`                          each of its messages is taken
bytes that are not UTF-8               become U+FFFD, the message is taken
a lone surrogate                       becomes U+FFFD in messages up to 1 MiB, else as the next row
an answer that isn't JSON              its call fails (ProtocolError) if the line's ends name it, or if it can
  or is nested too deeply              only be the one under way
a number too long for a double         the call fails (ProtocolError); in structured content, reading it does
a line over the budget                 skipped to its newline; the call that its ends name, else the only one
                                       under way, fails (TooLarge)
an unknown id                          counted
a second or late answer                counted
an id as `"7"` or `7.0` instead of 7   answers 7; `true`, `"07"`, objects are unknown ids
an error with a null id                fails the only call under way, else counted
result and error together              the error wins, unless it is null
neither result nor error               the call fails (ProtocolError)
a key twice in a message               the last one wins
a request with an id that is in use    refused, as is any beyond the budget
a request whose method is unknown      refused (-32601)
a request with a null id               treated as a notification
stdout or stdin closed, process alive  the server is dead, `Limits.farewell` seconds later at the latest
process gone, its pipes held open      what is left in them is taken, then the server is dead
stdin never read                       calls fail at their deadline, past `Limits.unsent` bytes at once (Clogged)
=====================================  ======================================================================
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from mooring.core.protocol.failure import Ending
from mooring.core.protocol.limits import Limits
from mooring.errors import Clogged
from mooring.wire.rpc.message import ENDS, Claim, Message, Request, Response, encode, identify
from mooring.wire.rpc.transport import Receiver, Transport, Withdrawal


class Lines:
    """Collects lines. One that grows over the limit is thrown away, up to its newline.

    `lost` says of each line thrown away in the last piece how many lines came before it, and what it claimed to be.
    """

    def __init__(self, limit: int) -> None:
        self.lost: list[tuple[int, Claim]] = []
        self._limit = limit
        # How the line under way begins; while skipping, only its two ends.
        self._start = bytearray()
        self._skipping = False

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that this piece completes."""
        # Only the piece is searched, never what came before it: the official SDK 2.3 splits `buffer + chunk`, and
        # takes 108 s for a line of 100 MB.
        lines = piece.split(b"\n")
        rest = lines.pop()
        if self.lost:
            self.lost.clear()
        if lines and (self._start or self._skipping):
            lines[0:1] = self._complete(lines[0])
        if len(piece) > self._limit:
            lines = self._drop_oversized(lines)
        if rest:
            self._store(rest)
        return lines

    def end(self) -> list[bytes]:
        """The last line, if it came without its newline."""
        return self._complete(b"") if self._start else []

    def _complete(self, end: bytes) -> list[bytes]:
        self._store(end)
        line = bytes(self._start)
        self._start.clear()
        if not self._skipping:
            return [line]
        self._skipping = False
        self._lose(0, line)
        return []

    def _store(self, part: bytes) -> None:
        """Keep a part of a line, or of one that is too long only its two ends."""
        self._start += part
        limit = 2 * ENDS if self._skipping else self._limit
        if len(self._start) > limit:
            self._skipping = True
            del self._start[ENDS:-ENDS]

    def _drop_oversized(self, lines: list[bytes]) -> list[bytes]:
        fitting: list[bytes] = []
        for line in lines:
            if len(line) <= self._limit:
                fitting.append(line)
            else:
                self._lose(len(fitting), line)
        return fitting

    def _lose(self, before: int, line: bytes) -> None:
        self.lost.append((before, identify(line[:ENDS], line[-ENDS:])))


if sys.platform == "win32":  # no programs are started there, but this module must load

    def ioctl(fd: int, request: int, given: bytes) -> bytes:
        return given

    FIONREAD = 0
else:
    from fcntl import ioctl
    from termios import FIONREAD

_READ = 64 * 1024
"""Larger reads cost more than they save: the buffer of 256 KiB comes from mmap, 11 µs a read instead of 0.7."""
_WRITE = 64 * 1024
"""The capacity of a pipe on Linux: more would not be taken in one write, and could no longer be withdrawn."""
_DRAIN = 256
"""How often a pipe is read once its process is gone: what that process started may go on writing for ever."""


class StdioTransport(Transport):
    """A transport over the stdout and stdin of a process, both non-blocking and closed through `close_pipe`.

    `ended` returns when the process has exited, with its exit code and last lines: then, or when a pipe is
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
        self._loop = asyncio.get_running_loop()
        self._stdout = stdout
        self._stdin = stdin
        self._server = server
        self._limits = limits
        self._unsent = limits.unsent
        self._ended = ended
        self._close_pipe = close_pipe
        self._lines = Lines(limits.line)
        # Lines to be written, oldest first: requests by their ids, everything else by keys below zero.
        self._queue: dict[int, bytes] = {}
        self._queued_bytes = 0
        self._last_notice = 0
        # What the pipe did not take of the last write. It must go out whole before anything else.
        self._rest = memoryview(b"")
        # Whether anything came since the last direct write. If not, calls come faster than answers, and share a write.
        self._heard_since_write = True
        self._flush_scheduled = False
        self._input_closed = False
        self._written = 0
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
        # One call after another: nothing is pending that could join this line, so it is written immediately, and a turn
        # of the loop is saved. Of many calls in one turn the first goes out like this; the others share one write.
        # Nobody waits for a notice, so that a request which follows in the same turn takes it along.
        is_idle = self._heard_since_write and not (self._queue or self._rest or self._input_closed)
        if is_idle and (type(message) is Request or type(message) is Response):
            self._heard_since_write = False
            if self._write(line):
                return
        self._queued_bytes += len(line)
        if self._queued_bytes + len(self._rest) > self._unsent:
            self._refuse(len(line))
        if type(message) is Request:
            self._queue[message.id] = line
        else:
            self._last_notice -= 1
            self._queue[self._last_notice] = line
        # With a rest, the pipe is full: `_resume` flushes when it takes more.
        if not self._flush_scheduled and not self._rest:
            self._flush_scheduled = True
            self._loop.call_soon(self._flush)

    def withdraw(self, key: int) -> Withdrawal:
        line = self._queue.pop(key, None)
        if line is None:
            return "running"
        self._queued_bytes -= len(line)
        return "unsent"

    def close(self) -> None:
        """Close both pipes: the server sees the end of its input, after what can still be written immediately."""
        if self._closed:
            return
        # A notice that a call is cancelled may have been queued in this very turn of the loop.
        self._flush()
        self._closed = True
        self._stop_writing()
        self._loop.remove_reader(self._stdout)
        self._close_pipe(self._stdout)
        if self._watch is not None:
            self._watch.cancel()
        if self._farewell is not None:
            self._farewell.cancel()

    def _refuse(self, size: int) -> None:
        """Raise Clogged, unless nothing is ahead of the line: then its size alone is over the limit."""
        ahead = self._queued_bytes - size + len(self._rest)
        if ahead:
            self._queued_bytes -= size
            raise Clogged(self._server, ahead)

    def _flush(self) -> None:
        self._flush_scheduled = False
        while self._queue and not self._rest and not self._input_closed:
            self._write(self._batch())

    def _batch(self) -> bytes:
        """Take the next messages off the queue, up to what a pipe holds: those behind them can still be withdrawn."""
        if self._queued_bytes <= _WRITE:
            batch = b"".join(self._queue.values())
            self._queue.clear()
        else:
            batch = b"".join(map(self._queue.pop, self._oldest(_WRITE)))
        self._queued_bytes -= len(batch)
        return batch

    def _oldest(self, size: int) -> list[int]:
        """The keys of the oldest messages that make up so many bytes."""
        # In one pass: `next(iter(queue))` steps over every entry deleted before, so one at a time is quadratic.
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
            self._begin_farewell("it closed its input")
            return False
        self._written += written
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
        if not self._input_closed:
            self._input_closed = True
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
            self._heard_since_write = True
            self._receive(chunk)
        else:
            self._loop.remove_reader(self._stdout)
            self._receiver.receive(self._lines.end())
            self._begin_farewell("it closed its output")
        return bool(chunk)

    def _receive(self, chunk: bytes) -> None:
        lines = self._lines.feed(chunk)
        if self._lines.lost:
            self._receive_with_losses(lines)
        else:
            self._receiver.receive(lines)

    def _receive_with_losses(self, lines: list[bytes]) -> None:
        """Report what was lost in its place: which request is the only one under way depends on the order."""
        taken = 0
        for before, claim in self._lines.lost:
            self._receiver.receive(lines[taken:before])
            self._receiver.lose_message(claim)
            taken = before
        self._receiver.receive(lines[taken:])

    def _begin_farewell(self, cause: str) -> None:
        """The server closed a pipe. If its process is about to exit, its exit code and last lines are worth a wait."""
        if self._watch is None:
            # Not immediately: `send` may be what noticed, and a receiver is never called from within it.
            self._loop.call_soon(self._end, Ending(cause))
        elif self._farewell is None:
            lives = Ending(f"{cause}, but its process is still running")
            self._farewell = self._loop.call_later(self._limits.farewell, self._end, lives)

    async def _watch_process(self, ended: Callable[[], Awaitable[Ending]]) -> None:
        ending = Ending("its process could not be tracked")
        try:
            ending = await ended()
            if self._has_read_nothing():
                ending = replace(ending, has_read_nothing=True)
        finally:
            self._drain()
            self._end(ending)

    def _has_read_nothing(self) -> bool:
        """Whether all that was written is still in the pipe, now that the process is gone."""
        if self._input_closed:
            return self._written == 0
        unread = ioctl(self._stdin, FIONREAD, bytes(4))
        return int.from_bytes(unread, sys.byteorder) >= self._written

    def _drain(self) -> None:
        """Read what a process left in its pipe. The end of the pipe may never come: a child of it may hold it open."""
        for _ in range(_DRAIN):
            if self._closed or not self._read():
                return

    def _end(self, ending: Ending) -> None:
        if not self._closed:
            self.close()
            self._receiver.end(ending)
