"""Copilot's program: started by the guard on a port of loopback, and ended."""

import asyncio
import os
import platform
import re
import sys
from secrets import token_urlsafe
from typing import Any, Final

from msgspec import Struct

from mooring.backends.bridge.program import explain_end, wait_until_listening
from mooring.backends.copilot.environment import CopilotVariables
from mooring.backends.copilot.sdk import load_sdk, make_client
from mooring.backends.programs import PROGRAM_FACTS, require_program
from mooring.display.text import safe
from mooring.errors import ModelError
from mooring.process.child import Child
from mooring.process.programs import Guard
from mooring.process.surroundings import surround

NAME: Final = PROGRAM_FACTS["copilot"].label

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


async def start_program(guard: Guard, variables: CopilotVariables, cwd: str) -> RunningCopilot:
    """Start Copilot's program and connect to it.

    The library would start it by itself, and then nothing would end it if this process is killed. So it is told to
    connect to one that listens already, with a token that nobody else knows.

    Raises: ConfigError if the program or the library isn't installed; SpawnError; ModelError if it ends at once, or
    never listens.
    """
    path = _skip_loader(require_program("copilot", variables.env))
    token = token_urlsafe(32)
    argv = [path, "--headless", "--no-auto-update", "--log-level", "none", "--port", "0"]
    if variables.has_provider:
        argv.append("--no-auto-login")
    env = {**variables.make_environment(), "COPILOT_CONNECTION_TOKEN": token}
    child = await guard.start(argv, surround(env, cwd))
    try:
        port, _ = await asyncio.gather(wait_until_listening(child, NAME, _LISTENING), load_sdk())
        client = make_client(int(port), token)
        await _connect(client, child)
    except BaseException:
        child.end(0, 0)
        raise
    return RunningCopilot(child, client)


def _skip_loader(found: str) -> str:
    """The program itself, where a path leads to npm's script that does nothing but start it."""
    path = os.path.realpath(found)
    if not path.endswith(".js"):
        return path
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    package = f"copilot-{sys.platform}-{machine}"
    folder = os.path.dirname(path)
    beside = os.path.join(os.path.dirname(folder), package, "copilot")
    inside = os.path.join(folder, "node_modules", "@github", package, "copilot")
    return next((program for program in (beside, inside) if os.access(program, os.X_OK)), path)


async def _connect(client: Any, child: Child) -> None:
    try:
        await client.start()
    except (RuntimeError, OSError) as error:
        if child.exited.done():
            raise explain_end(NAME, child) from error
        hint = f"Update it: {PROGRAM_FACTS['copilot'].install}"
        raise ModelError(NAME, f"its program can't be used: {safe(str(error))}", hint) from error
