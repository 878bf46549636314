"""A program that the guard has started, as the host sees it: pipes, an exit, and the end of all that it started."""

import asyncio
import os
from typing import Any, Final, Protocol

from mooring.errors import GuardLost, MooringError
from mooring.process.guard.tree import ERRAND
from mooring.process.request import Spawn
from mooring.process.tail import Tail

LOST: Final = 256
"""What `Child.exited` says, instead of a return code, when the guard died and its children with it."""

EOF_GRACE: Final = 1.5
"""How long a program may take to exit once its stdin has ended, before it is sent SIGTERM."""
TERM_GRACE: Final = 1.0
"""How long after SIGTERM, before SIGKILL."""
SLACK: Final = 2.0
"""How much longer the guard may take to say so than what it was asked to do."""


class ChildOwner(Protocol):
    """Who has the child ended, and is told when there is no more to hear of it."""

    def end(self, child: "Child", grace: float, term_grace: float) -> None: ...

    def forget(self, child: "Child") -> None: ...


class Child:
    """A running program and whatever it starts.

    `stdin` and `stdout` are non-blocking descriptors for a transport to write and read, -1 once closed; they are
    closed by `close_stdin`, `close_stdout` and `close`, in no other way. Output may still wait in `stdout` when
    `exited` is done. `stderr` is drained here, at every moment, so that a program never blocks on it.
    """

    def __init__(self, keeper: ChildOwner, request: Spawn, tail: Tail) -> None:
        self._loop = asyncio.get_running_loop()
        self.request = request
        self.pid = 0
        self.stdin = self.stdout = self.stderr = -1
        self.started: asyncio.Future[None] = self._loop.create_future()
        self.exited: asyncio.Future[int] = self._loop.create_future()
        """The return code as `subprocess` has it, negative for a signal; or `LOST`."""
        self.gone: asyncio.Future[None] = self._loop.create_future()
        """Done when nothing is left of it, nor of what it started."""
        self._keeper = keeper
        self._tail = tail
        self._closing = False

    @property
    def stderr_tail(self) -> str:
        """The last of what the program wrote to its standard error."""
        return self._tail.text

    async def close(self, grace: float = EOF_GRACE, term_grace: float = TERM_GRACE) -> None:
        """End the program and all that it started: end of stdin, SIGTERM, SIGKILL, each step bounded.

        Everything is under way before the first wait, so a cancelled close still ends the tree.
        """
        self.end(grace, term_grace)
        bound = grace + term_grace + SLACK + (ERRAND if self.request.container else 0)
        try:
            await asyncio.wait([self.gone], timeout=bound)
        finally:
            self._close_pipes()
            self._keeper.forget(self)

    def end(self, grace: float = EOF_GRACE, term_grace: float = TERM_GRACE) -> None:
        """Begin what `close` waits for."""
        self._closing = True
        self.close_stdin()
        if not self.gone.done():
            self._keeper.end(self, grace, term_grace)

    # --- its pipes ---------------------------------------------------------------------------------------------

    def open_pipes(self) -> list[int]:
        """Make the pipes, keep our ends and return the child's.

        Raises:
            OSError: there are too many descriptors already.
        """
        made: list[int] = []
        try:
            for _ in range(3):
                made += os.pipe()
        except OSError:
            for fd in made:
                os.close(fd)
            raise
        stdin, self.stdin, self.stdout, stdout, self.stderr, stderr = made
        for fd in self.stdin, self.stdout, self.stderr:
            os.set_blocking(fd, False)
        self._loop.add_reader(self.stderr, self._drain)
        return [stdin, stdout, stderr]

    def close_stdin(self) -> None:
        self.stdin = self._close(self.stdin)

    def close_stdout(self) -> None:
        self.stdout = self._close(self.stdout)

    def _close_stderr(self) -> None:
        self.stderr = self._close(self.stderr)
        self._tail.end()

    def _close_pipes(self) -> None:
        self.close_stdin()
        self.close_stdout()
        self._close_stderr()

    def _close(self, fd: int) -> int:
        if fd >= 0:
            self._loop.remove_reader(fd)
            self._loop.remove_writer(fd)
            os.close(fd)
        return -1

    def _drain(self) -> bool:
        """Read what is there, up to the capacity of a pipe; false when that was nothing."""
        if self.stderr < 0:
            return False
        try:
            data = os.read(self.stderr, 65536)
        except BlockingIOError:
            return False
        if data:
            self._tail.feed(data)
        else:
            self._close_stderr()
        return bool(data)

    # --- what the guard tells of it ----------------------------------------------------------------------------

    def on_started(self, pid: int) -> None:
        self.pid = pid
        _settle(self.started, None)

    def on_failed(self, error: MooringError) -> None:
        if self.request.container:
            self.request.container.forget()
        if not self.started.done():
            self.started.set_exception(error)
        self._closing = True
        self.on_gone()

    def on_exit(self, status: int) -> None:
        # its last words are often the reason; two reads empty the pipe, and what is still written may wait
        _ = self._drain() and self._drain()
        _settle(self.exited, status)

    def on_gone(self) -> None:
        _settle(self.gone, None)
        if self._closing:
            self._close_pipes()
            self._keeper.forget(self)

    def on_lost(self, error: GuardLost) -> None:
        if self.pid:
            self.on_exit(LOST)
            self.on_gone()
        else:
            self.on_failed(error)


def _settle(future: asyncio.Future[Any], value: object) -> None:
    if not future.done():
        future.set_result(value)
