"""The programs of a host, and the guard process that starts and ends them and stays just long enough for that."""

import asyncio
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from time import monotonic
from typing import Any, Self

from msgspec import Struct

from mooring.core.protocol.failure import COOLDOWN, FAILURE_WINDOW, MAX_FAILURES, Breaker
from mooring.errors import GuardLost, MooringError
from mooring.process.child import EOF_GRACE, SLACK, STDERR_LIMIT, TERM_GRACE, Child, Tail, prepare_spawn
from mooring.process.guard.boot import GuardProcess, start_guard
from mooring.process.guard.cleanup import kill_leftovers
from mooring.process.guard.tree import REMOVAL_TIMEOUT
from mooring.process.surroundings import ProgramSurroundings

TERMINAL_KEPT_NO_MORE: tuple[str, list[Any], bytes] = ("terminal", [], b"")
"""Tells the guard that the terminal is as it was."""


class KeptTerminal(Struct, frozen=True):
    """A terminal that this process draws on, and what to write to it if this process is killed."""

    fd: int
    settings: list[Any]
    """Those before the first drawing, as `termios.tcgetattr` gives them."""
    text: bytes

    def tell(self, process: GuardProcess) -> None:
        """Have a guard process give it back if this one is killed."""
        process.channel.send(("terminal", self.settings, self.text), [os.dup(self.fd)])


class Link:
    """The connection to one guard process, and the children that it started."""

    def __init__(self, guard: GuardProcess) -> None:
        self._loop = asyncio.get_running_loop()
        self._guard = guard
        self._channel = guard.channel
        self._children: dict[int, Child] = {}
        self._waiting: deque[Child] = deque()
        self._crash = ""
        self.ended: asyncio.Future[None] = self._loop.create_future()
        """Done when the guard is gone."""
        self._reports: dict[str, Callable[..., None]] = {
            "started": lambda number, pid: self._children[number].on_started(pid),
            "failed": self._on_failed,
            "exit": lambda number, status: self._children[number].on_exit(status),
            "gone": lambda number: self._children[number].on_gone(),
            "crash": self._on_crash,
        }
        self._loop.add_reader(self._channel.sock.fileno(), self._read)

    def spawn(self, child: Child) -> None:
        self._children[child.request.number] = child
        self._waiting.append(child)
        self._write()

    def end(self, child: Child, grace: float, term_grace: float) -> None:
        """Ask the guard to end this child and all that it started."""
        if child in self._waiting:  # the guard does not know it yet
            self._waiting.remove(child)
            child.on_failed(guard_closed())
        elif not self.ended.done():
            self._channel.send(("end", child.request.number, grace, term_grace))
            self._write()

    def forget(self, child: Child) -> None:
        """Drop a child whose pipes are closed; one that is not gone yet will still be reported on."""
        if child.gone.done():
            self._children.pop(child.request.number, None)

    async def close(self, grace: float, term_grace: float) -> None:
        """End every child, then the guard."""
        closing = [child.close(grace, term_grace) for child in self._children.values()]
        try:
            await asyncio.gather(*closing)
        finally:
            self._send_eof()
        await asyncio.wait([self.ended], timeout=REMOVAL_TIMEOUT + SLACK)
        self._lose_guard()

    def lost(self) -> GuardLost:
        """The error for callers that need this guard after it died."""
        words = f" ({self._crash})" if self._crash else ""
        return GuardLost(f"The guard process died{words}, and its servers ended with it.")

    def _send_eof(self) -> None:
        """Have the guard end whatever is left, and then itself."""
        if not self.ended.done():
            # This end is no death: the terminal is still ours to give back.
            self._channel.send(TERMINAL_KEPT_NO_MORE)
            with suppress(OSError):  # it has died already
                self._channel.sock.shutdown(socket.SHUT_WR)

    def _write(self) -> None:
        self._channel.flush()
        # Pipes are made only when their request can leave: hundreds that wait would take six descriptors each.
        while self._waiting and not self._channel.has_unsent:
            self._send_request(self._waiting.popleft())
        if self._channel.has_unsent:
            self._loop.add_writer(self._channel.sock.fileno(), self._write)
        else:
            self._loop.remove_writer(self._channel.sock.fileno())

    def _send_request(self, child: Child) -> None:
        try:
            fds = child.open_pipes()
        except OSError as error:
            child.on_failed(child.request.error("pipe", error.errno or 0, ""))
        else:
            self._channel.send(child.request.message, fds)

    def _read(self) -> None:
        try:
            for kind, *details in self._channel.receive():
                self._reports[kind](*details)
        except EOFError:
            self._lose_guard()

    def _on_failed(self, number: int, stage: str, code: int, path: bytes) -> None:
        child = self._children[number]
        child.on_failed(child.request.error(stage, code, os.fsdecode(path)))

    def _on_crash(self, words: str) -> None:
        self._crash = words

    def _lose_guard(self) -> None:
        """The guard is gone, or is killed now: end its children too, and notify their owners."""
        if self.ended.done():
            return
        self._loop.remove_reader(self._channel.sock.fileno())
        self._loop.remove_writer(self._channel.sock.fileno())
        self._channel.close()
        _kill_and_reap(self._guard.pid)
        self.ended.set_result(None)
        left = [child for child in self._children.values() if not child.gone.done()]
        if left:
            roots = [child.pid for child in left if child.pid]
            kill_leftovers(self._guard, roots)
        for child in left:
            child.on_lost(self.lost())


def guard_closed() -> GuardLost:
    """The error for callers that want a program from a closed guard."""
    return GuardLost("The guard is closed: open another one to start servers.")


def _kill_and_reap(pid: int) -> None:
    # Another part of this process may have waited for all children, and for the guard with them.
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


_KEEPS_DYING = (
    f"The guard process died more than {MAX_FAILURES} times within {FAILURE_WINDOW:g} s, "
    f"so no server is started for {COOLDOWN:g} s."
)


_MOST_OPEN_FILES = 65_536
"""What a process is raised to at most: some systems name a hard limit that they don't grant."""


class Guard:
    """Starts programs, and ends each with all of its descendants, even if this process is killed.

    The guard process is started by the first spawn, or before that by `begin`; `mooring.process.guard.boot` starts
    one without importing asyncio, to be passed in as `process`. If the guard process dies, its children die too, and
    the next spawn starts another one, unless it keeps dying. With `portable`, as on macOS, descendants that leave the
    process group of their program escape.

    Raises:
        MooringError: on Windows, where Mooring cannot guard programs yet.
    """

    def __init__(self, process: GuardProcess | None = None, *, portable: bool = False) -> None:
        if sys.platform == "win32":
            raise MooringError("Mooring cannot start programs on Windows yet; use a server with a URL.")
        self._process = process
        self._open_files = _read_open_files()
        self._portable = portable or (process is not None and process.portable)
        self._link: Link | None = None
        self._breaker = Breaker()
        self._closed = False
        self._numbers = count(1)
        self._terminal: KeptTerminal | None = None

    def begin(self) -> Self:
        """Start the guard process without waiting for it."""
        self._ensure_process()
        return self

    def keep_terminal(self, terminal: KeptTerminal) -> None:
        """Have a terminal given back if this process is killed. What was said before of one no longer holds."""
        self._terminal = terminal
        if self._process is not None:
            terminal.tell(self._process)

    def release_terminal(self) -> None:
        """The terminal is as it was, or about to be."""
        self._terminal = None
        if self._process is not None and not self._closed:
            self._process.channel.send(TERMINAL_KEPT_NO_MORE)

    @property
    def pid(self) -> int | None:
        """The pid of the guard process, if one was started."""
        return self._process.pid if self._process else None

    async def start(
        self, argv: Sequence[str], surroundings: ProgramSurroundings, *, on_stderr: Callable[[str], None] | None = None
    ) -> Child:
        """Start a program for the person. Raises: as `spawn`."""
        return await self.spawn(argv, env=surroundings.env, cwd=surroundings.cwd, on_stderr=on_stderr)

    async def spawn(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        on_stderr: Callable[[str], None] | None = None,
    ) -> Child:
        """Start a program with pipes, in a session of its own; `env` is its whole environment, by default ours.

        Raises:
            SpawnError: it could not be started.
            GuardLost: the guard died just now, keeps dying, or was closed.
        """
        link = self._connect()
        request = prepare_spawn(next(self._numbers), argv, os.environ if env is None else env, cwd)
        child = Child(request, Tail(STDERR_LIMIT, on_stderr), end_tree=link.end, forget=link.forget)
        link.spawn(child)
        try:
            await child.started
        except asyncio.CancelledError:
            child.end(0, 0)
            raise
        return child

    def _connect(self) -> Link:
        """The link to a living guard process, which is started if need be."""
        if self._closed:
            raise guard_closed()
        if self._link is not None and self._link.ended.done():
            self._drop_dead_guard(self._link)
        if self._link is None:
            if self._breaker.is_open(monotonic()):
                raise GuardLost(_KEEPS_DYING)
            self._link = Link(self._ensure_process())
        return self._link

    def _drop_dead_guard(self, link: Link) -> None:
        self._process = self._link = None
        if not self._breaker.record_failure(monotonic()):
            raise GuardLost(f"{link.lost()} {_KEEPS_DYING}")

    def _ensure_process(self) -> GuardProcess:
        if self._process is None:
            is_raised = _read_open_files() != self._open_files
            try:
                self._process = start_guard(portable=self._portable, open_files=self._open_files if is_raised else 0)
            except OSError as error:
                raise GuardLost(f"The guard cannot be started with {sys.executable!r}: {error}.") from error
            if self._terminal is not None:
                self._terminal.tell(self._process)
        return self._process

    async def close(self, grace: float = EOF_GRACE, term_grace: float = TERM_GRACE) -> None:
        """End every child, all at the same time, then the guard process."""
        if self._process and self._link is None:
            self._connect()  # a guard that was never used still has to be ended and reaped
        self._closed = True
        if self._link is not None:
            await self._link.close(grace, term_grace)

    async def __aenter__(self) -> Self:
        return self.begin()

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def raise_open_files() -> None:
    """Let this process open as many files as it may, by the hard limit. Programs that a `Guard` starts may not."""
    import resource  # only here, and not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_OPEN_FILES)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _read_open_files() -> int:
    return os.sysconf("SC_OPEN_MAX")
