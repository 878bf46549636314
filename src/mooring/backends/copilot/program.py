"""Copilot's program: found, started by the guard on a port of loopback, and ended."""

import asyncio
import os
import platform
import re
import sys
from secrets import token_urlsafe
from typing import Any, Final

from msgspec import Struct

from mooring.backends.copilot.environment import CopilotVariables
from mooring.backends.copilot.sdk import check_sdk, load_sdk, make_client
from mooring.display.text import safe
from mooring.errors import ConfigError, ModelError
from mooring.files import which
from mooring.process.child import LOST, Child
from mooring.process.output import OutputReader
from mooring.process.programs import Guard

NAME: Final = "Copilot"
INSTALL: Final = "npm install -g @github/copilot"
START_TIMEOUT: Final = 120.0
"""Seconds until it has to listen: the first start unpacks 235 MB, and a machine may be busy."""
LONGEST_CAUSE: Final = 500
"""How many characters of what it wrote last are worth showing."""

_LISTENING: Final = re.compile(rb"listening on port (\d+)")


class RunningCopilot(Struct, frozen=True):
    """A running program, and the library's client that is connected to it."""

    child: Child
    client: Any

    @property
    def is_running(self) -> bool:
        return not self.child.exited.done()

    async def close(self) -> None:
        """Disconnect, and end the program with everything that it started."""
        # Begun first: the client waits for answers, which a program that hangs never gives.
        self.child.end(0)
        await self.client.force_stop()
        await self.child.close(0)


def find_program(variables: CopilotVariables) -> str:
    """The path of Copilot's program. Raises: ConfigError if it isn't installed."""
    # Not looked for in the working folder: that may be a repository.
    found = which(variables.path or "copilot", variables.search_path, "/")
    if found is None:
        raise ConfigError("Copilot is not installed.", f"Install it: {INSTALL}")
    return _skip_loader(os.path.realpath(found))


def _skip_loader(path: str) -> str:
    """The program itself, where a path leads to npm's script that does nothing but start it."""
    if not path.endswith(".js"):
        return path
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    package = f"copilot-{sys.platform}-{machine}"
    folder = os.path.dirname(path)
    beside = os.path.join(os.path.dirname(folder), package, "copilot")
    inside = os.path.join(folder, "node_modules", "@github", package, "copilot")
    return next((program for program in (beside, inside) if os.access(program, os.X_OK)), path)


async def start_program(guard: Guard, variables: CopilotVariables, cwd: str) -> RunningCopilot:
    """Start Copilot's program and connect to it.

    The library would start it by itself, and then nothing would end it if this process is killed. So it is told to
    connect to one that listens already, with a token that nobody else knows.

    Raises: ConfigError if the program or the library isn't installed; SpawnError; ModelError if it ends at once, or
    never listens.
    """
    check_sdk()
    path = find_program(variables)
    token = token_urlsafe(32)
    argv = [path, "--headless", "--no-auto-update", "--log-level", "none", "--port", "0"]
    if variables.has_provider:
        argv.append("--no-auto-login")
    env = {**variables.make_environment(), "COPILOT_CONNECTION_TOKEN": token}
    child = await guard.spawn(argv, env=env, cwd=cwd)
    try:
        port, _ = await asyncio.gather(_wait_for_port(child), load_sdk())
        client = make_client(port, token)
        await _connect(client, child)
    except BaseException:
        child.end(0, 0)
        raise
    child.discard_stdout()
    return RunningCopilot(child, client)


async def _wait_for_port(child: Child) -> int:
    found: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    printed = bytearray()

    def take(data: bytes) -> None:
        printed.extend(data)
        listening = _LISTENING.search(printed)
        if listening and not found.done():
            found.set_result(int(listening[1]))

    reader = OutputReader(child, take)
    try:
        await asyncio.wait((found, child.exited), timeout=START_TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
    finally:
        reader.stop()
    if not found.done():
        raise explain_end(child)
    return found.result()


async def _connect(client: Any, child: Child) -> None:
    try:
        await client.start()
    except (RuntimeError, OSError) as error:
        if child.exited.done():
            raise explain_end(child) from error
        raise ModelError(NAME, f"its program can't be used: {safe(str(error))}", f"Update it: {INSTALL}") from error


def explain_end(child: Child) -> ModelError:
    """Why the program is of no use any more: how it ended and what it wrote last, or that it never listened."""
    if not child.exited.done():
        return ModelError(NAME, f"its program did not listen within {START_TIMEOUT:g} s.", "Try it: copilot --version")
    lines = [line.strip() for line in child.stderr_tail.splitlines() if line.strip()]
    last = f": {safe(lines[-1][:LONGEST_CAUSE])}" if lines else "."
    return ModelError(NAME, f"its program {_describe_exit(child.exited.result())}{last}")


def _describe_exit(code: int) -> str:
    if code == LOST:
        return "was ended, because the process that keeps it is gone"
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
