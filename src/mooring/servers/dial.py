"""A program that is to be a server: started, spoken to, and ended with everything it started."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from os.path import basename, isdir

from msgspec.structs import replace

from mooring.core.failure import Ending
from mooring.core.hello import EraName
from mooring.core.limits import Limits
from mooring.errors import ServerError, SpawnError, TimedOut
from mooring.process.child import EOF_GRACE, LOST, TERM_GRACE, Child
from mooring.process.programs import Guard
from mooring.servers.launch.environment import Launch
from mooring.wire.rpc.transport import Transport
from mooring.wire.session.client import Client
from mooring.wire.session.negotiate import negotiate
from mooring.wire.session.session import Session
from mooring.wire.stdio.pipes import StdioTransport

LAST_LINES, LAST_CHARACTERS, LONGEST_LINE = 20, 4096, 300
HASTE = 0.3
INSTALLERS = frozenset({"npx", "bunx", "pnpm", "yarn", "uvx", "uv", "pipx", "docker", "podman"})
INSTALLING = 180.0
"""How long a start may take that may have to download its program first."""


@asynccontextmanager
async def dial(
    launch: Launch,
    guard: Guard,
    *,
    server: str,
    client: Client | None = None,
    limits: Limits | None = None,
    known: EraName | None = None,
    on_line: Callable[[str], None] | None = None,
) -> AsyncIterator[Session]:
    """A session with the program, all of its beginning within `Limits.connect`; `known` is its era, if it is known.

    `on_line` is given each line that the program writes to its standard error, without the secrets it was given.

    Raises:
        ServerError: its `stage` says how far it came, and it carries what is known of the process.
    """
    limits = limits or Limits()
    line = _Line(launch, guard, server, limits, on_line)
    opened = False
    try:
        session = await negotiate(line.start, server=server, client=client, limits=limits, known=known)
        opened = True
        async with session:
            yield session
    except ServerError as error:
        line.explain(error)
        raise
    finally:
        # Whoever could not begin has waited long enough already.
        await (line.end() if opened else line.end(0.0, HASTE))


class _Line:
    """The program of one server; some have to be started a second time, to be spoken to in the old way."""

    def __init__(
        self, launch: Launch, guard: Guard, server: str, limits: Limits, on_line: Callable[[str], None] | None
    ) -> None:
        self._launch = launch
        self._guard = guard
        self._server = server
        self._limits = limits
        self._on_line = on_line and (lambda line: on_line(launch.redact(line)))
        self._child: Child | None = None

    async def start(self) -> Transport:
        await self.end()
        child = self._child = await self._spawn()
        return StdioTransport(
            child.stdout,
            child.stdin,
            server=self._server,
            limits=self._limits,
            ended=lambda: _ending(child, self._launch),
            close_pipe=lambda fd: child.close_stdin() if fd == child.stdin else child.close_stdout(),
        )

    async def _spawn(self) -> Child:
        start, seconds = self._launch, self._limits.connect
        try:
            async with asyncio.timeout(seconds):
                return await self._guard.spawn(start.argv, env=start.env, cwd=start.cwd, on_stderr=self._on_line)
        except TimeoutError:
            raise TimedOut(self._server, "to being started", seconds, stage="spawn") from None
        except SpawnError as error:
            raise SpawnError(
                start.redact(str(error)),
                command=error.command,
                cwd=error.cwd,
                code=error.code,
                cause=error.cause,
                server=self._server,
                withheld=_lacked(start),
            ) from None

    async def end(self, grace: float = EOF_GRACE, term_grace: float = TERM_GRACE) -> None:
        if self._child is not None:
            await self._child.close(grace, term_grace)

    def explain(self, error: ServerError) -> None:
        """Add what is known of the process to whatever went wrong with it."""
        error.withheld = error.withheld or self._launch.withheld
        if self._child is not None:
            error.stderr = error.stderr or _last_lines(self._child, self._launch)
            if error.exit_code is None and self._child.exited.done():
                error.exit_code = _code(self._child.exited.result())


def patient(launch: Launch, limits: Limits) -> Limits:
    """The same limits, with more time to begin where a program may have to be downloaded first."""
    slow = basename(launch.argv[0]) in INSTALLERS
    return replace(limits, connect=max(limits.connect, INSTALLING)) if slow else limits


def _lacked(start: Launch) -> tuple[str, ...]:
    """The variables for want of which it may have failed: none makes up for a folder that is not there."""
    return start.withheld if isdir(start.cwd) else ()


async def _ending(child: Child, launch: Launch) -> Ending:
    code = _code(await asyncio.shield(child.exited))  # others wait for it too
    cause = "" if code is not None else "the guard that kept its process died"
    return Ending(cause, exit_code=code, stderr=_last_lines(child, launch), withheld=launch.withheld)


def _code(status: int) -> int | None:
    return None if status == LOST else status


def _last_lines(child: Child, launch: Launch) -> tuple[str, ...]:
    """The end of what the program wrote, bounded, without the secrets it was given."""
    text = launch.redact(child.stderr_tail)[-LAST_CHARACTERS:]
    lines = [line for line in text.splitlines() if line.strip()]
    return tuple(line[-LONGEST_LINE:] for line in lines[-LAST_LINES:])
