"""Ctrl+C at random moments: the command ends with 130, soon and without a traceback, and nothing that it started is left.

Until our own first line runs, Ctrl+C is Python's: it dies of the signal, prints a traceback, or even forgets it ("Failed
checking if argv[0] is an import path entry"). So the commands are started by the script that pip writes, with an addition
that tells when our handler is in place.
"""

import asyncio
import json
import os
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tests.models import FakeModel, Hold, Say

from mooring.core.definitions.paths import Workspace

LAUNCHER = """\
import _signal, os, sys
install = _signal.signal
def install_and_tell(*given):
    _signal.signal = install
    before = install(*given)
    os.write(int(os.environ["TOLD"]), b"x")
    return before
_signal.signal = install_and_tell
from mooring.cli import main
sys.exit(main())
"""
COMMANDS = {
    "call": ("call", "silent.fault"),
    "chat -p": ("chat", "-m", "anthropic:claude-sonnet-5-5", "-p", "A story"),
    "tools": ("tools", "mute", "--refresh"),
    "serve": ("serve",),
}
"""Commands that do not end by themselves within the first second."""
PATIENCE = 30.0
"""Seconds after which a command that has not ended hangs, however busy the machine is."""


_LOOKING = 0.05


class Interrupted(NamedTuple):
    """How a command ended that was interrupted."""

    command: str
    moment: float
    """Seconds since it was started."""
    was_ours: bool
    """Whether our handler was in place."""
    code: int | None
    """`None` if it went on."""
    err: str
    left: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return self.code == 130 and not self.err.strip() and not self.left


class Interrupter:
    """Starts commands in a home of their own, with a model that never finishes its reply, and interrupts them."""

    def __init__(self, folder: str, model: FakeModel) -> None:
        self._folder = folder
        self._launcher = Path(folder, "mooring")
        self._launcher.write_text(LAUNCHER)
        self._env = {
            "HOME": folder,
            "PATH": "/usr/bin:/bin",
            "ANTHROPIC_API_KEY": "sk-none",
            "ANTHROPIC_BASE_URL": model.anthropic_url,
        }
        self._servers = {"silent": "hang_call", "mute": "hang_init"}

    async def interrupt(self, command: str, moment: float, *, from_first_line: bool = False) -> Interrupted:
        """Interrupt the command that many seconds after its start, or after our first line of it."""
        mark = os.urandom(8).hex()
        with tempfile.TemporaryDirectory(dir=self._folder) as project:
            self._configure(Path(project, ".mcp.json"), mark)
            words = (*COMMANDS[command], "--config", f"{project}/.mcp.json", "--cwd", project)
            return await self._interrupt(command, words, mark, moment, from_first_line)

    def _configure(self, path: Path, mark: str) -> None:
        entries = {
            name: {"command": sys.executable, "args": ["-m", "mooring.testing", fault], "env": {"MARK": mark}}
            for name, fault in self._servers.items()
        }
        path.write_text(json.dumps({"mcpServers": entries}))

    async def _interrupt(
        self, command: str, words: Sequence[str], mark: str, moment: float, from_first_line: bool
    ) -> Interrupted:
        told, tell = os.pipe()
        os.set_blocking(told, from_first_line)
        with tempfile.TemporaryFile() as err:
            process = await asyncio.create_subprocess_exec(
                sys.executable, self._launcher, *words, pass_fds=(tell,), env={**self._env, "TOLD": str(tell)},
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL, stderr=err,
            )  # fmt: skip
            os.close(tell)
            if from_first_line:
                await asyncio.to_thread(os.read, told, 1)
            await asyncio.sleep(moment)  # not to wait for anything: to be somewhere that nobody chose
            was_ours = from_first_line or _has_told(told)
            os.close(told)
            code = await _end(process)
            left = await _wait_for_nothing(mark, process.pid)
            err.seek(0)
            return Interrupted(command, moment, was_ours, code, err.read().decode(), left)


async def _end(process: asyncio.subprocess.Process) -> int | None:
    if process.returncode is None:
        process.send_signal(signal.SIGINT)
    try:
        return await asyncio.wait_for(process.wait(), PATIENCE)
    except TimeoutError:
        process.kill()
        await process.wait()
        return None


def _has_told(told: int) -> bool:
    try:
        return bool(os.read(told, 1))
    except BlockingIOError:
        return False


async def _wait_for_nothing(mark: str, pid: int) -> tuple[str, ...]:
    """Wait until neither the guard nor a server of that command is there; what still is."""
    for _ in range(round(PATIENCE / _LOOKING)):
        if not _list_left(mark, pid):
            return ()
        await asyncio.sleep(_LOOKING)
    return _list_left(mark, pid)


def _list_left(mark: str, pid: int) -> tuple[str, ...]:
    guard = f"; main({pid}, ".encode()
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            is_guard = guard in Path(f"/proc/{name}/cmdline").read_bytes()
            if is_guard or mark.encode() in Path(f"/proc/{name}/environ").read_bytes():
                found.append(name)
    return tuple(found)


@asynccontextmanager
async def open_interrupter() -> AsyncIterator[Interrupter]:
    """An interrupter whose home and model end with it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        FakeModel([[Say("Once upon a time"), Hold("never")]] * 10_000) as model,
    ):
        yield Interrupter(folder, model)


async def interrupts(_: Workspace) -> AsyncIterator[int]:
    """Four commands at a time beside a process that never rests, each interrupted within its first second."""
    chance = random.Random()
    seen: Counter[str] = Counter()
    async with open_interrupter() as interrupter:
        busy = await asyncio.create_subprocess_exec(sys.executable, "-S", "-c", "while True: pass")
        try:
            while True:
                trials = [interrupter.interrupt(command, chance.random()) for command in COMMANDS]
                for done in await asyncio.gather(*trials):
                    assert not done.left, done
                    assert done.is_right or not done.was_ours, done
                    seen["ours" if done.was_ours else f"before our first line, {done.code}"] += 1
                yield len(trials)
        finally:
            busy.kill()
            await busy.wait()
            sys.stderr.write(f"interrupts: {dict(seen)}\n")
