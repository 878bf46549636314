"""The programs of a host, started and ended by a guard process that stays just long enough to end them."""

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from time import monotonic
from types import TracebackType
from typing import Self

from mooring.core.protocol.failure import COOLDOWN, FAILURE_WINDOW, MAX_FAILURES, Breaker
from mooring.errors import GuardLost, MooringError
from mooring.process.child import EOF_GRACE, STDERR_LIMIT, TERM_GRACE, Child, Tail, prepare_spawn
from mooring.process.guard.boot import GuardProcess, start_guard
from mooring.process.link import Link, guard_closed
from mooring.process.surroundings import ProgramSurroundings

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

    def begin(self) -> Self:
        """Start the guard process without waiting for it."""
        self._ensure_process()
        return self

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
        stderr_limit: int = STDERR_LIMIT,
    ) -> Child:
        """Start a program with pipes, in a session of its own; `env` is its whole environment, by default ours.

        Raises:
            SpawnError: it could not be started.
            GuardLost: the guard died just now, keeps dying, or was closed.
        """
        link = self._connect()
        request = prepare_spawn(next(self._numbers), argv, os.environ if env is None else env, cwd)
        child = Child(link, request, Tail(stderr_limit, on_stderr))
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
            try:
                self._process = self._start_process()
            except OSError as error:
                raise GuardLost(f"The guard cannot be started with {sys.executable!r}: {error}.") from error
        return self._process

    def _start_process(self) -> GuardProcess:
        is_raised = _read_open_files() != self._open_files
        return start_guard(portable=self._portable, open_files=self._open_files if is_raised else 0)

    async def close(self, grace: float = EOF_GRACE, term_grace: float = TERM_GRACE) -> None:
        """End every child, all at the same time, then the guard process."""
        if self._process and self._link is None:
            self._connect()  # a guard that was never used still has to be ended and reaped
        self._closed = True
        if self._link is not None:
            await self._link.close(grace, term_grace)

    async def __aenter__(self) -> Self:
        return self.begin()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
