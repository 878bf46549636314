"""A program that is to be a server: started, talked to, and ended with everything it started."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from os.path import basename, isdir

from msgspec.structs import replace

from mooring.core.definitions.config import suggest_install
from mooring.core.protocol.era import NO_HINT, EraHint
from mooring.core.protocol.failure import Ending
from mooring.core.protocol.limits import INSTALL_TIMEOUT, Limits
from mooring.errors import ServerError, SpawnError, TimedOut
from mooring.process.child import EOF_GRACE, LOST, TERM_GRACE, Child
from mooring.process.programs import Guard
from mooring.servers.launch.environment import Launch
from mooring.wire.rpc.message import holds_request
from mooring.wire.rpc.transport import Transport
from mooring.wire.session.client import Client
from mooring.wire.session.negotiate import negotiate
from mooring.wire.session.session import Session
from mooring.wire.stdio.pipes import StdioTransport

LAST_LINES, LAST_CHARACTERS, LONGEST_LINE = 20, 4096, 300
"""How much of its stderr an error quotes."""
FAILED_START_GRACE = 0.3
"""Seconds between SIGTERM and SIGKILL for a program that never became a server."""
INSTALLERS = frozenset(
    {
        "npx", "npm", "bunx", "bun", "pnpm", "pnpx", "yarn", "deno", "uvx", "uv", "pipx", "docker", "podman", "nerdctl",
        "nix", "mise", "go", "cargo", "dotnet", "dnx", "jbang", "gem", "pixi", "conda",
    }
)  # fmt: skip
"""Programs that may have to download what they are asked to run."""


@asynccontextmanager
async def dial(
    launch: Launch,
    guard: Guard,
    *,
    server: str,
    client: Client | None = None,
    limits: Limits | None = None,
    era_hint: EraHint = NO_HINT,
    on_line: Callable[[str], None] | None = None,
) -> AsyncIterator[Session]:
    """Start a program and open a session with it, all within `Limits.connect`.

    `era_hint` says which era of the protocol to try first. `on_line` gets each line that the program writes to
    its stderr, without the secrets it was given.

    Raises:
        ServerError: its `stage` says how far the start came, and it carries what is known of the process.
    """
    limits = limits or Limits()
    process = _ServerProcess(launch, guard, server, limits, on_line)
    opened = False
    try:
        session = await negotiate(process.start, server=server, client=client, limits=limits, hint=era_hint)
        opened = True
        async with session:
            yield session
    except ServerError as error:
        process.explain(error)
        raise
    finally:
        if opened:
            await process.end()
        else:
            # The caller has waited for the whole deadline already: the usual grace would come on top of it.
            await process.end(0.0, FAILED_START_GRACE)


class _ServerProcess:
    """The process of one server, perhaps the second one of an attempt.

    Old Python servers die of the question which era they belong to: a method that they don't know ends them, some of
    them only when the next line comes. Negotiation then asks for a new process and begins with the handshake.
    """

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
            ended=lambda: _wait_for_exit(child, self._launch),
            close_pipe=lambda fd: child.close_stdin() if fd == child.stdin else child.discard_stdout(holds_request),
        )

    async def _spawn(self) -> Child:
        launch, seconds = self._launch, self._limits.connect
        try:
            async with asyncio.timeout(seconds):
                return await self._guard.start(launch.argv, launch.surroundings, on_stderr=self._on_line)
        except TimeoutError:
            raise TimedOut(self._server, "", seconds, stage="spawn") from None
        except SpawnError as error:
            raise SpawnError(
                launch.redact(error.reason),
                fix=error.fix and suggest_install(launch.defined_in),
                command=error.command,
                cwd=error.cwd,
                code=error.code,
                cause=error.cause,
                server=self._server,
                withheld=() if error.fix else _withheld_to_blame(launch),
                for_model=launch.redact(error.for_model),
            ) from None

    async def end(self, grace: float = EOF_GRACE, term_grace: float = TERM_GRACE) -> None:
        """Close its stdin, then terminate, then kill it with everything it started."""
        if self._child is not None:
            await self._child.close(grace, term_grace)

    def explain(self, error: ServerError) -> None:
        """Add what is known of the process to whatever went wrong with it."""
        # Whether a variable is to blame for a program that never ran is known already.
        if not isinstance(error, SpawnError):
            error.withheld = error.withheld or self._launch.withheld
        if self._child is None:
            return
        error.stderr = error.stderr or _last_lines(self._child, self._launch)
        if error.exit_code is None and self._child.exited.done():
            error.exit_code = _exit_code(self._child.exited.result())


def allow_install_time(launch: Launch, limits: Limits) -> Limits:
    """The same limits, with more time to start if the program may have to be downloaded first."""
    if not may_download(launch.argv):
        return limits
    return replace(limits, connect=max(limits.connect, INSTALL_TIMEOUT))


def may_download(words: Iterable[str]) -> bool:
    """Whether a command may have to download its program, also behind `env`, `sh -c` and the like."""
    programs = map(basename, " ".join(words).split())
    return not INSTALLERS.isdisjoint(programs)


def _withheld_to_blame(launch: Launch) -> tuple[str, ...]:
    """The withheld variables, unless the folder is missing: no variable would help with that."""
    return launch.withheld if isdir(launch.cwd) else ()


async def _wait_for_exit(child: Child, launch: Launch) -> Ending:
    code = _exit_code(await asyncio.shield(child.exited))  # others wait for it too
    died = code is None
    cause = "the guard process died" if died else ""
    return Ending(cause, code, _last_lines(child, launch), launch.withheld, guard_died=died)


def _exit_code(status: int) -> int | None:
    # If the guard died, nobody learned how the child ended: better no code than an invented one.
    return None if status == LOST else status


def _last_lines(child: Child, launch: Launch) -> tuple[str, ...]:
    """The end of what the program wrote to stderr, bounded, without the secrets it was given."""
    # Redacted before it is cut: half a secret would not be recognized.
    text = launch.redact(child.stderr_tail)[-LAST_CHARACTERS:]
    lines = [line for line in text.splitlines() if line.strip()]
    return tuple(line[-LONGEST_LINE:] for line in lines[-LAST_LINES:])
