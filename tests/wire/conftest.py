"""Real servers behind real pipes, started the plain way."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mooring.core.protocol.failure import Ending
from mooring.core.protocol.limits import Limits
from mooring.wire.session.session import Session, connect
from mooring.wire.stdio.pipes import StdioTransport

Start = Callable[..., AbstractAsyncContextManager[Session]]


@pytest.fixture
def start() -> Start:
    """`async with start("hang_call", limits=…) as session`: a session with the server that has this fault."""
    return _start


@asynccontextmanager
async def _start(
    fault: str, size: int | None = None, *, limits: Limits | None = None, **options: Any
) -> AsyncIterator[Session]:
    limits = limits or Limits()
    with tempfile.TemporaryFile() as stderr:
        process = _spawn([sys.executable, "-m", "mooring.testing", fault, *([str(size)] if size else [])], stderr)
        try:
            _wait_until_idle(process)
            transport = StdioTransport(
                *_take_pipes(process), server=fault, limits=limits, ended=lambda: _wait_ended(process, stderr)
            )
            async with await connect(transport, server=fault, limits=limits, **options) as session:
                yield session
        finally:
            process.kill()
            process.wait()


def _spawn(command: list[str], stderr: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, bufsize=0)


def _wait_until_idle(process: subprocess.Popen[bytes]) -> None:
    """Wait until it sleeps or has exited, so that no deadline of a test includes the start of an interpreter."""
    while Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2][0] not in "SZ":
        time.sleep(0.002)


def _take_pipes(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    assert process.stdin is not None
    assert process.stdout is not None
    pipes = os.dup(process.stdout.fileno()), os.dup(process.stdin.fileno())
    process.stdout.close()
    process.stdin.close()
    for pipe in pipes:
        os.set_blocking(pipe, False)
    return pipes


async def _wait_ended(process: subprocess.Popen[bytes], stderr: Any) -> Ending:
    loop = asyncio.get_running_loop()
    exited = loop.create_future()
    watch = os.pidfd_open(process.pid)
    loop.add_reader(watch, lambda: exited.done() or exited.set_result(None))
    try:
        await exited
    finally:
        loop.remove_reader(watch)
        os.close(watch)
    stderr.seek(0)
    lines = stderr.read().decode().splitlines()[-20:]
    return Ending(exit_code=process.wait(), stderr=tuple(lines), withheld=("GITHUB_TOKEN",))
