"""A program that the guard has started, as the host sees it: its pipes, its exit, and the end of all it started."""

import asyncio
import os
from collections.abc import Callable
from typing import Any, Final, Protocol

from mooring.errors import GuardLost, MooringError
from mooring.process.guard.tree import REMOVAL_TIMEOUT
from mooring.process.spawn import Spawn
from mooring.process.tail import Tail

LOST: Final = 256
"""The result of `Child.exited`, instead of a return code, if the guard died and its children with it."""

EOF_GRACE: Final = 1.5
"""How many seconds a program may take to exit once its stdin has ended, before it is sent SIGTERM."""
TERM_GRACE: Final = 1.0
"""How many seconds it may take after SIGTERM, before SIGKILL."""
SLACK: Final = 2.0
"""How many seconds more the guard may take to report that it has done what it was asked."""


class ChildOwner(Protocol):
    """Ends a child when asked to, and forgets it once nothing more will be reported of it."""

    def end(self, child: "Child", grace: float, term_grace: float) -> None: ...

    def forget(self, child: "Child") -> None: ...


class Child:
    """A running program and whatever it starts.

    `stdin` and `stdout` are non-blocking descriptors for a transport to write and read, -1 once closed; they are
    closed by `close_stdin`, `discard_stdout` and `close`, and in no other way. Output may still wait in `stdout` when
    `exited` is done. `stderr` is always drained here, so that a program never blocks on it.
    """

    def __init__(self, owner: ChildOwner, request: Spawn, tail: Tail) -> None:
        self._loop = asyncio.get_running_loop()
        self.request = request
        self.pid = 0
        self.stdin = self.stdout = self.stderr = -1
        self.started: asyncio.Future[None] = self._loop.create_future()
        self.exited: asyncio.Future[int] = self._loop.create_future()
        """The return code as `subprocess` has it, negative for a signal; or `LOST`."""
        self.gone: asyncio.Future[None] = self._loop.create_future()
        """Done when nothing is left of it or of what it started."""
        self._owner = owner
        self._tail = tail
        self._closing = False
        self._is_question: Callable[[bytes], bool] = _is_nothing
        self._asks_in_vain = False
        """It asked something after its stdin was closed: no answer can reach it."""

    @property
    def stderr_tail(self) -> str:
        """The last that the program wrote to its standard error."""
        return self._tail.text

    async def close(self, grace: float = EOF_GRACE, term_grace: float = TERM_GRACE) -> None:
        """End the program and all that it started: close its stdin, then SIGTERM, then SIGKILL, each with a deadline.

        Everything is under way before the first await, so a cancelled close still ends the tree.
        """
        self.end(grace, term_grace)
        timeout = grace + term_grace + SLACK
        if self.request.container:
            timeout += REMOVAL_TIMEOUT
        try:
            await asyncio.wait([self.gone], timeout=timeout)
        finally:
            self._close_pipes()
            self._owner.forget(self)

    def end(self, grace: float = EOF_GRACE, term_grace: float = TERM_GRACE) -> None:
        """Start to end it, without waiting as `close` does."""
        self._closing = True
        self.close_stdin()
        if not self.gone.done():
            self._owner.end(self, 0.0 if self._asks_in_vain else grace, term_grace)

    # --- its pipes ---------------------------------------------------------------------------------------------

    def open_pipes(self) -> list[int]:
        """Make the pipes, keep our ends and return the child's.

        Raises:
            OSError: this process has too many descriptors open.
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

    def discard_stdout(self, is_question: Callable[[bytes], bool] | None = None) -> None:
        """Read what the program still writes, and forget it, until it ends or closes its output.

        A program that still asks something, by `is_question`, waits for an answer and not for its end: it is told to
        end at once. server-everything asks for the roots a third of a second after it was greeted, and after a short
        call it would otherwise be waited for until the end of its grace.

        A pipe that nobody reads breaks: Node servers that say something on their way out died of EPIPE, and left a
        stack trace in their log at nearly every end.
        """
        if is_question is not None:
            self._is_question = is_question
        if self.stdout >= 0:
            self._loop.remove_reader(self.stdout)
            self._loop.add_reader(self.stdout, self._discard)

    def _discard(self) -> None:
        try:
            data = os.read(self.stdout, 65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close_stdout()
        elif self.stdin < 0 and not self._asks_in_vain and self._is_question(data):
            self._asks_in_vain = True
            if self._closing and not self.gone.done():
                self._owner.end(self, 0.0, TERM_GRACE)

    def _close_stdout(self) -> None:
        self.stdout = self._close(self.stdout)

    def _close_stderr(self) -> None:
        self.stderr = self._close(self.stderr)
        self._tail.end()

    def _close_pipes(self) -> None:
        self.close_stdin()
        self._close_stdout()
        self._close_stderr()

    def _close(self, fd: int) -> int:
        if fd >= 0:
            self._loop.remove_reader(fd)
            self._loop.remove_writer(fd)
            os.close(fd)
        return -1

    def _drain(self) -> bool:
        """Read what is there, up to the capacity of a pipe; whether there was anything."""
        if self.stderr < 0:
            return False
        try:
            data = os.read(self.stderr, 65536)
        except BlockingIOError:
            return False
        if not data:
            self._close_stderr()
            return False
        self._tail.feed(data)
        return True

    # --- what the guard reports --------------------------------------------------------------------------------

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
        # What it wrote last is often the reason. Two reads empty the pipe; what a descendant still writes can wait.
        if self._drain():
            self._drain()
        _settle(self.exited, status)

    def on_gone(self) -> None:
        _settle(self.gone, None)
        if self._closing:
            self._close_pipes()
            self._owner.forget(self)

    def on_lost(self, error: GuardLost) -> None:
        if self.pid:
            self.on_exit(LOST)
            self.on_gone()
        else:
            self.on_failed(error)


def _settle(future: asyncio.Future[Any], value: object) -> None:
    if not future.done():
        future.set_result(value)


def _is_nothing(data: bytes) -> bool:
    return False
