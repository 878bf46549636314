"""Programs of the host, started and ended by a guard that outlives the host long enough to leave none behind."""

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from types import TracebackType
from typing import Self

from mooring.errors import GuardLost, MooringError
from mooring.process.child import EOF_GRACE, TERM_GRACE, Child
from mooring.process.guard.begin import Begun, begin
from mooring.process.link import Link, closed
from mooring.process.request import request
from mooring.process.tail import STDERR_LIMIT, Tail


class Guard:
    """Starts programs, and ends each with all that descends from it, also when this process is killed.

    The guard process is started on the first spawn, or before by `begin` (`mooring.process.guard.begin` does so
    without importing asyncio). If it dies its children do too; the next spawn starts another one, once.
    With `portable`, as on macOS, whatever leaves the process group of its program escapes.

    Raises:
        MooringError: on Windows, where programs cannot be kept.
    """

    def __init__(self, begun: Begun | None = None, *, portable: bool = False) -> None:
        if sys.platform == "win32":
            raise MooringError("On Windows mooring cannot start servers as programs yet: use an HTTP address.")
        self._begun = begun
        self._portable = portable or (begun is not None and begun.portable)
        self._links: list[Link] = []
        self._closed = False
        self._numbers = count(1)

    def begin(self) -> Self:
        """Start the guard process without waiting for it."""
        self._begun = self._begun or _begin(self._portable)
        return self

    @property
    def pid(self) -> int | None:
        """The guard process, if one was started."""
        return self._begun.pid if self._begun else None

    async def spawn(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        on_stderr: Callable[[str], None] | None = None,
        stderr_limit: int = STDERR_LIMIT,
    ) -> Child:
        """Start a program with pipes, in a session of its own; `env` is all it gets, by default our own.

        Raises:
            SpawnError: it could not be started.
            GuardLost: the guard died just now or for the second time, or was closed.
        """
        link = self._connect()
        asked = request(next(self._numbers), argv, os.environ if env is None else env, cwd)
        child = Child(link, asked, Tail(stderr_limit, on_stderr))
        link.spawn(child)
        try:
            await child.started
        except asyncio.CancelledError:
            child.end(0, 0)
            raise
        return child

    def _connect(self) -> Link:
        if self._closed:
            raise closed()
        if self._links and self._links[-1].ended.done():
            if len(self._links) > 1:
                raise self._links[-1].lost()
            self._begun = None
        if self._begun is None or not self._links:
            self._begun = self._begun or _begin(self._portable)
            self._links.append(Link(self._begun))
        return self._links[-1]

    async def close(self, grace: float = EOF_GRACE, term_grace: float = TERM_GRACE) -> None:
        """End every child, all at the same time, then the guard."""
        if self._begun and not self._links:
            self._connect()
        self._closed = True
        for link in self._links:
            await link.close(grace, term_grace)

    async def __aenter__(self) -> Self:
        return self.begin()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _begin(portable: bool) -> Begun:
    try:
        return begin(portable=portable)
    except OSError as error:
        raise GuardLost(f"The guard cannot be started with {sys.executable!r}: {error}.") from error
