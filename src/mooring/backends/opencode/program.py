"""OpenCode's own server as a program: started by the guard on a port of loopback, and ended."""

import re
from collections.abc import Mapping
from secrets import token_urlsafe
from typing import Final

from msgspec import Struct

from mooring.backends.bridge.program import wait_until_listening
from mooring.backends.programs import PROGRAM_FACTS
from mooring.process.child import Child
from mooring.process.programs import Guard
from mooring.process.surroundings import surround

NAME: Final = PROGRAM_FACTS["opencode"].label
END_GRACE: Final = 0.2
"""Seconds that it has after the end of its input, which it doesn't look at, before it is told to end."""

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


async def start_program(guard: Guard, path: str, env: Mapping[str, str], cwd: str) -> RunningProgram:
    """Start OpenCode's server and wait until it listens.

    Raises: SpawnError; ModelError if it ends at once or never listens.
    """
    password = token_urlsafe(32)
    # Without a port to begin with, it takes a free one and says which.
    argv = (path, "serve", "--hostname", "127.0.0.1", "--port", "0")
    child = await guard.start(argv, surround({**env, "OPENCODE_SERVER_PASSWORD": password}, cwd))
    try:
        url = await wait_until_listening(child, NAME, _LISTENING)
    except BaseException:
        child.end(0, 0)
        raise
    return RunningProgram(child, url, password)
