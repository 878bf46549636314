"""What a shell command prints, within limits of time and size; or how it failed, but never what it printed then."""

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from mooring.errors import GuardLost, SpawnError
from mooring.process.child import LOST, Child, OutputReader
from mooring.process.programs import Guard
from mooring.process.surroundings import ProgramSurroundings

COMMAND_TIMEOUT = 10.0
MAX_OUTPUT = 64 * 1024
TERM_GRACE = 0.3
"""Seconds between SIGTERM and SIGKILL for a command that has to end."""


class CommandFailed(Struct, frozen=True):
    """How a command failed, to be read after its name."""

    how: str


async def run_command(
    line: str,
    guard: Guard,
    surroundings: ProgramSurroundings,
    *,
    timeout: float = COMMAND_TIMEOUT,  # noqa: ASYNC109 - running out of time is an outcome here, not an exception
) -> str | CommandFailed:
    """The trimmed output of a command. Whatever it started and left running is ended with it.

    Raises:
        GuardLost: the guard died, or was closed.
    """
    try:
        async with asyncio.timeout(timeout):
            return await _run(("/bin/sh", "-c", line), guard, surroundings)
    except TimeoutError:
        return CommandFailed(f"took longer than {timeout:g} s")
    except SpawnError as error:
        return CommandFailed(f"could not be run ({error.cause})")


async def _run(argv: Sequence[str], guard: Guard, surroundings: ProgramSurroundings) -> str | CommandFailed:
    child = await guard.start(argv, surroundings)
    try:
        child.close_stdin()
        return await _wait_for_output(child)
    finally:
        await child.close(0.0, TERM_GRACE)


async def _wait_for_output(child: Child) -> str | CommandFailed:
    printed = bytearray()
    overflow: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def take(data: bytes) -> None:
        printed.extend(data)
        if len(printed) > MAX_OUTPUT:
            overflow.set_result(None)
            reader.stop()

    reader = OutputReader(child, take)
    await asyncio.wait((child.exited, overflow), return_when=asyncio.FIRST_COMPLETED)
    if child.exited.done():
        reader.drain()
    if overflow.done():
        return CommandFailed(f"printed more than {MAX_OUTPUT:,} bytes")
    status = child.exited.result()
    if status == 0:
        return _read_text(printed)
    if status == LOST:
        raise GuardLost("The guard process died while a command was running.")
    return CommandFailed(f"ended with exit code {status}" if status > 0 else f"was ended by signal {-status}")


def _read_text(printed: bytearray) -> str | CommandFailed:
    try:
        return printed.decode().strip() or CommandFailed("printed nothing")
    except UnicodeDecodeError:
        return CommandFailed("printed something that is not text")
