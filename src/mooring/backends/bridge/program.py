"""What holds for the program of every agent: when it listens, why it ended, and what became of its session."""

import asyncio
import os
import re
from typing import Final

from mooring.display.text import safe
from mooring.errors import ModelError
from mooring.process.child import LOST, Child, OutputReader

START_TIMEOUT: Final = 120.0
"""Seconds until a program has to listen: Copilot unpacks 235 MB at its first start, and a machine may be busy."""
LONGEST_CAUSE: Final = 500
"""How many characters of what it wrote last are worth showing."""

_SPEAKS_OF_ERROR: Final = re.compile("error|failed", re.IGNORECASE)


async def wait_until_listening(child: Child, name: str, announced: re.Pattern[bytes]) -> str:
    """Where a program listens: what it prints there, as the first group of `announced`. The rest is thrown away.

    Raises: ModelError if it ends first, or takes too long.
    """
    found: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    printed = bytearray()

    def take(data: bytes) -> None:
        printed.extend(data)
        listening = announced.search(printed)
        if listening and not found.done():
            found.set_result(listening[1].decode())

    reader = OutputReader(child, take)
    try:
        await asyncio.wait((found, child.exited), timeout=START_TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
    finally:
        reader.stop()
    if not found.done():
        raise explain_end(name, child)
    child.discard_stdout()
    return found.result()


def explain_end(name: str, child: Child) -> ModelError:
    """Why a program is of no use any more: how it ended and what it wrote last, or that it never listened."""
    if not child.exited.done():
        program = os.path.basename(os.fsdecode(child.request.argv[0]))
        hint = f"Try it: {program} --version"
        return ModelError(name, f"its program did not listen within {START_TIMEOUT:g} s.", hint)
    how = _describe_exit(child.exited.result())
    cause = _find_cause(child.stderr_tail)
    return ModelError(name, f"its program {how}: {cause}" if cause else f"its program {how}.")


def _describe_exit(code: int) -> str:
    if code == LOST:
        return "was ended, because the process that keeps it is gone"
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _find_cause(written: str) -> str:
    """The line that says most: the last that speaks of an error, or else the last."""
    lines = [line for line in map(str.strip, written.splitlines()) if line]
    errors = list(filter(_SPEAKS_OF_ERROR.search, lines))
    telling = errors or lines
    return safe(telling[-1][:LONGEST_CAUSE]) if telling else ""


def describe_lost_session(name: str) -> str:
    """What the person is told if a program can't go on with what was said, because it was ended too early."""
    return f"{name} ended before it saved the conversation, so it starts over without it."
