"""OpenCode's own server as a program: found, started by the guard on a port of loopback, and ended."""

import asyncio
import re
from collections.abc import Mapping
from secrets import token_urlsafe
from typing import Final

from msgspec import Struct

from mooring.display.text import safe
from mooring.errors import ConfigError, ModelError
from mooring.files import which
from mooring.process.child import Child
from mooring.process.output import OutputReader
from mooring.process.programs import Guard

NAME: Final = "OpenCode"
INSTALL: Final = "npm install -g opencode-ai"
START_TIMEOUT: Final = 120.0
"""Seconds until it has to listen: it takes three of CPU time, and a machine may be busy."""
END_GRACE: Final = 0.2
"""Seconds that it has after the end of its input, which it doesn't look at, before it is told to end."""
LONGEST_CAUSE: Final = 500
"""How many characters of what it wrote last are worth showing."""

_LISTENING: Final = re.compile(rb"listening on (http://\S+)\s")


class RunningProgram(Struct, frozen=True):
    """OpenCode's server, as it is reached. The password is known to it and to us alone."""

    child: Child
    url: str
    password: str

    def __repr__(self) -> str:
        return f"<RunningProgram {self.child.pid} at {self.url}>"

    @property
    def is_running(self) -> bool:
        return not self.child.exited.done()

    async def close(self) -> None:
        """End it with everything that it started."""
        await self.child.close(END_GRACE)


def find_program(env: Mapping[str, str], cwd: str) -> str:
    """The path of OpenCode. Raises: ConfigError if it isn't installed."""
    found = which("opencode", env.get("PATH", ""), cwd)
    if found is None:
        raise ConfigError("OpenCode is not installed.", f"Install it: {INSTALL}")
    return found


async def start_program(guard: Guard, path: str, env: Mapping[str, str], cwd: str) -> RunningProgram:
    """Start OpenCode's server and wait until it listens.

    Raises: SpawnError; ModelError if it ends at once or never listens.
    """
    password = token_urlsafe(32)
    # Without a port to begin with, it takes a free one and says which.
    argv = (path, "serve", "--hostname", "127.0.0.1", "--port", "0")
    child = await guard.spawn(argv, env={**env, "OPENCODE_SERVER_PASSWORD": password}, cwd=cwd)
    try:
        url = await _wait_for_address(child)
    except BaseException:
        child.end(0, 0)
        raise
    return RunningProgram(child, url, password)


async def _wait_for_address(child: Child) -> str:
    found: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    printed = bytearray()

    def take(data: bytes) -> None:
        printed.extend(data)
        listening = _LISTENING.search(printed)
        if listening and not found.done():
            found.set_result(listening[1].decode())

    reader = OutputReader(child, take)
    try:
        await asyncio.wait((found, child.exited), timeout=START_TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
    finally:
        reader.stop()
    if not found.done():
        raise explain_end(child)
    child.discard_stdout()
    return found.result()


def explain_end(child: Child) -> ModelError:
    """Why OpenCode is of no use any more: how it ended and what it wrote last, or that it never listened."""
    if not child.exited.done():
        return ModelError(NAME, f"its server did not listen within {START_TIMEOUT:g} s.", "Try it: opencode serve")
    code = child.exited.result()
    how = f"its program was ended by signal {-code}" if code < 0 else f"its program ended with exit code {code}"
    cause = _find_cause(child.stderr_tail)
    return ModelError(NAME, f"{how}: {cause}" if cause else f"{how}.")


def _find_cause(written: str) -> str:
    """The line that says most: the last that speaks of an error, or else the last."""
    lines = [line.strip() for line in written.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower() or "failed" in line.lower()]
    said = (errors or lines)[-1:]
    return safe(said[0][:LONGEST_CAUSE]) if said else ""
