"""One shell command, started through the guard: what it prints, how it ends, and the end of all that it started."""

import asyncio
from collections import deque
from collections.abc import Mapping

from mooring import files
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.units import MIB
from mooring.errors import ConfigError, GuardLost, SpawnError
from mooring.process.child import LOST, Child, OutputReader
from mooring.servers.launch.environment import Launch, make_launch
from mooring.servers.launch.shell import Starter

TERM_GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL for a command that has to end."""


class RunningCommand:
    """A command that was started. Whoever started it has to end it."""

    def __init__(self, child: Child, launch: Launch) -> None:
        self._child = child
        self._launch = launch
        self._output = KeptOutput()
        self._reader = OutputReader(child, self._output.add)

    @property
    def is_running(self) -> bool:
        return not self._child.exited.done()

    @property
    def status(self) -> int:
        """How it ended: the exit code, negative for a signal. Raises: GuardLost."""
        status = self._child.exited.result()
        if status == LOST:
            raise GuardLost("The guard process died while a command was running.")
        return status

    async def wait(self, seconds: float) -> bool:
        """Wait until it has ended; whether it has."""
        await asyncio.wait([self._child.exited], timeout=seconds)
        return not self.is_running

    def pop_output(self) -> str:
        """What it printed since the last time, without the secrets that it was given."""
        if not self.is_running:
            self._reader.drain()
        return self._launch.redact(self._output.pop_text())

    async def end(self) -> None:
        """End it, and whatever it left running."""
        await self._child.close(0.0, TERM_GRACE)


async def start_command(command: str, guard: Starter, where: Paths, cwd: str, env: Mapping[str, str]) -> RunningCommand:
    """Start a command in a shell, with nothing to read and no terminal, so that it can wait for nobody.

    It gets the environment of a person's own server: theirs, without what looks like a secret.

    Raises: ConfigError if it cannot be started; GuardLost.
    """
    if "\0" in command:
        raise ConfigError("Bash: the command holds a character that no command can.")
    # Both outputs as one, in their order. On a line of its own: what follows may not even be valid.
    script = f"exec 2>&1\n{command}"
    launch = make_launch(("bash", "-c", script), where, cwd, own=True, settings=env, typed=True)
    shell = files.which("bash", launch.env["PATH"], "/") or "/bin/sh"
    try:
        child = await guard.start((shell, *launch.argv[1:]), launch.surroundings)
    except SpawnError as error:
        raise ConfigError(f"Bash: the command could not be started: {error.cause}") from None
    child.close_stdin()
    return RunningCommand(child, launch)


MOST = 16 * MIB


class KeptOutput:
    """Keeps the first and the last half of `most` bytes."""

    def __init__(self, most: int = MOST) -> None:
        self._half = most // 2
        self._forget()

    def _forget(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Take what was printed."""
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= self._half:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._dropped += gone

    def pop_text(self) -> str:
        """What is kept, which is forgotten with that: the next text begins with what is printed from now on."""
        head = bytes(self._head)
        tail = b"".join(self._tail)
        gap = f"\n[{self._dropped:,} bytes were dropped here]\n".encode() if self._dropped else b""
        self._forget()
        return (head + gap + tail).decode(errors="replace")
