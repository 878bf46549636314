"""The command `mooring` as a real process that starts in a few milliseconds.

Most of what a short command takes is the start of Python and the loading of modules. `warm_start.py` is a process that
has done both; each command is a fork of it, with its own process id, descriptors, folder, environment and, if it shall
have one, terminal. It can be waited for, killed and looked at like any other. What such a process does differently from
one that was executed: `/proc/PID/environ` and `/proc/PID/cmdline` are those of the process that it was forked from.

Tests that are about the start itself start `mooring` as everybody does: `subprocess` and `support.MOORING`.
"""

import asyncio
import atexit
import contextlib
import json
import math
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from io import IOBase
from pathlib import Path
from typing import IO, Any, Self

MOORING = str(Path(sys.executable).parent / "mooring")
"""The installed command."""
RECORD_OPENED = Path(tempfile.gettempdir()) / f"mooring-record-opened-{os.getpid()}"
WATCHING = str(Path(__file__).parent / "watching")
WATCHED = {
    "PYTHONPATH": os.pathsep.join(filter(None, (WATCHING, os.environ.get("PYTHONPATH")))),
    "RECORD_OPENED": str(RECORD_OPENED),
}
"""The environment of a process that may not open the record of conversations; see `watching/sitecustomize.py`."""

PROGRAM = str(Path(__file__).parent / "warm_start.py")
COERCED = {"LC_CTYPE": "C.UTF-8"}
"""What Python itself adds to an environment that names no locale."""
LONGEST = 600.0
"""Seconds for which anything is waited for without a limit of its own."""
KEYRINGS = str(Path(__file__).parent / "auth")
"""On the path of commands that use a keyring of `keyrings.py`: they load it when they first need it."""
FOR_PYTHON = ("PYTHON", "RECORD_CONNECTIONS", "SSL_CERT_")
"""How variables begin that are read only when Python starts or a module loads: aiohttp reads certificates then."""


class WarmProcess:
    """A running command, with what tests use of `subprocess.Popen`."""

    def __init__(self, answers: socket.socket, pipes: "list[IO[bytes] | None]") -> None:
        """`answers` has a line with its process id at first, and one with its exit code in the end."""
        self.stdin, self.stdout, self.stderr = pipes
        self.returncode: int | None = None
        self.answers = answers
        self._told = b""
        while b"\n" not in self._told:
            self._told += self._receive()
        pid, _, self._told = self._told.partition(b"\n")
        self.pid = int(pid)

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        until = None if timeout is None else time.monotonic() + timeout
        while self.returncode is None:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not self._told and not select.select([self.answers], [], [], left)[0]:
                raise subprocess.TimeoutExpired(["mooring"], timeout or 0.0)
            self._finish(self._told or self._receive())
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            # It may have ended since, like any process: it is not our child, so nothing keeps its id.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(9)

    def terminate(self) -> None:
        self.send_signal(15)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_pipes()
        self.wait()

    def communicate(self, input: bytes | None = None, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Everything that it wrote, once it has ended; `input` is what it can read before."""
        if self.stdin is not None and not self.stdin.closed:
            # In a thread: it may write before it reads, and more than a pipe takes.
            threading.Thread(target=_write_all, args=(self.stdin, input or b""), daemon=True).start()
        return self._read_all(timeout)

    def _read_all(self, timeout: float | None) -> tuple[bytes, bytes]:
        pending = [pipe for pipe in (self.stdout, self.stderr) if pipe is not None and not pipe.closed]
        found: dict[IO[bytes] | None, bytes] = dict.fromkeys(pending, b"")
        until = math.inf if timeout is None else time.monotonic() + timeout
        while pending:
            left = min(until - time.monotonic(), LONGEST)
            ready = select.select(pending, [], [], max(0.0, left))[0]
            if not ready:
                raise subprocess.TimeoutExpired(["mooring"], left)
            for pipe in ready:
                data = os.read(pipe.fileno(), 65536)
                found[pipe] += data
                if not data:
                    pending.remove(pipe)
        self.wait(max(0.0, min(until - time.monotonic(), LONGEST)))
        self.close_pipes()
        return found.get(self.stdout, b""), found.get(self.stderr, b"")

    def close_pipes(self) -> None:
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()

    def _receive(self) -> bytes:
        data = self.answers.recv(64)
        assert data, "the process that Mooring is loaded in has ended"
        return data

    def _finish(self, told: bytes) -> None:
        self.returncode = int(told)
        self.answers.close()


def _write_all(pipe: IO[bytes], data: bytes) -> None:
    with suppress(OSError, ValueError), pipe:  # it may end, and be done with, before it has read all
        pipe.write(data)


class AsyncWarmProcess:
    """The same for tests with an event loop, with what they use of `asyncio.subprocess.Process`."""

    def __init__(self, process: WarmProcess, stderr: asyncio.StreamReader, transport: asyncio.BaseTransport) -> None:
        self.pid, self.stderr = process.pid, stderr
        self._process, self._transport = process, transport

    @property
    def returncode(self) -> int | None:
        return self._process.poll()

    def send_signal(self, number: int) -> None:
        self._process.send_signal(number)

    async def wait(self) -> int:
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        if (code := self._process.poll()) is not None:
            return code
        descriptor = self._process.answers.fileno()
        loop.add_reader(descriptor, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(descriptor)
        return self._process.wait()


def start_mooring(
    words: Sequence[str],
    *,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str],
    real: bool = False,
    terminal: bool = False,
    program: str = "",
    **streams: int | IOBase | None,
) -> "WarmProcess | subprocess.Popen[bytes]":
    """Start `mooring`, or a Python `program`, with these words: warm if it can be, unless it shall be `real`.

    With `terminal`, stdin is a terminal that it gets as its own, in a session of its own.
    """
    if not real and can_be_warm(env):
        return start_warm(words, cwd=cwd, env=env, terminal=terminal, program=program, **streams)
    command = [sys.executable, program] if program else [MOORING]
    taking = [sys.executable, "-c", _TAKE] if terminal else []
    return subprocess.Popen([*taking, *command, *words], cwd=cwd, env=env, start_new_session=terminal, **streams)


def start_python(
    source: str, *words: str, cwd: str | os.PathLike[str], env: Mapping[str, str], **streams: int | IOBase | None
) -> "WarmProcess | subprocess.Popen[bytes]":
    """Start a Python program that uses Mooring as a library, as `python -c` does: warm if it can be."""
    if can_be_warm(env):
        return start_warm(words, source=source, cwd=cwd, env=env, **streams)
    return subprocess.Popen([sys.executable, "-c", source, *words], cwd=cwd, env=env, **streams)


_TAKE = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"


def run_mooring(
    *words: str,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str],
    stdin: int | IOBase | None = None,
    input: bytes | None = None,
    real: bool = False,
    timeout: float = 100,
) -> "subprocess.CompletedProcess[str]":
    """`subprocess.run` of `mooring` with these words, whose output is text: warm if it can be, unless `real`."""
    pipe = subprocess.PIPE
    given = stdin if input is None else pipe
    process = start_mooring(words, cwd=cwd, env=env, real=real, stdin=given, stdout=pipe, stderr=pipe)
    try:
        out, err = process.communicate(input, timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return subprocess.CompletedProcess([MOORING, *words], process.wait(), out.decode(), err.decode())


def can_be_warm(env: Mapping[str, str]) -> bool:
    """Whether a process that is loaded already can be one with this environment; elsewhere than on Linux, none can."""
    own = {name: value for name, value in env.items() if name.startswith(FOR_PYTHON)}
    own.pop("PYTHON_KEYRING_BACKEND", None)
    if own.get("PYTHONPATH") == KEYRINGS:
        del own["PYTHONPATH"]
    return hasattr(os, "pidfd_open") and own.items() <= WATCHED.items()


def start_warm(
    words: Sequence[str],
    *,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str],
    stdin: int | IOBase | None = None,
    stdout: int | IOBase | None = None,
    stderr: int | IOBase | None = None,
    terminal: bool = False,
    program: str = "",
    source: str = "",
) -> WarmProcess:
    """Start `mooring` with these words, or instead of it a Python `program`, or one of that `source`.

    Streams are descriptors, `PIPE` or `DEVNULL`, or those of this process.
    """
    pipes = [_Pipe(number, wanted) for number, wanted in enumerate((stdin, stdout, stderr))]
    told = {
        "source": Path(program).read_text() if program else source,
        "words": [program or ("-c" if source else MOORING), *words],
        "cwd": os.fspath(cwd),
        "env": dict(env) if {"LANG", "LC_ALL", "LC_CTYPE"} & env.keys() else {**env, **COERCED},
        "umask": _read_umask(),
        "terminal": terminal,
    }
    answers, for_answers = socket.socketpair()
    with for_answers:
        requests = _start_loading("models" if "ANTHROPIC_API_KEY" in env else "commands")
        descriptors = [*(pipe.theirs for pipe in pipes), for_answers.fileno()]
        socket.send_fds(requests, [json.dumps(told).encode()], descriptors)
    for pipe in pipes:
        pipe.close_theirs()
    return WarmProcess(answers, [pipe.ours for pipe in pipes])


class _Pipe:
    """One of the three streams of a process: a pipe if that is wanted, or else a descriptor that is there."""

    def __init__(self, number: int, wanted: int | IOBase | None) -> None:
        self.ours: IO[bytes] | None = None
        self.theirs = wanted.fileno() if isinstance(wanted, IOBase) else number if wanted is None else wanted
        self._is_new = wanted in (subprocess.PIPE, subprocess.DEVNULL)
        if wanted == subprocess.DEVNULL:
            self.theirs = os.open(os.devnull, os.O_RDWR)
        elif wanted == subprocess.PIPE:
            read, write = os.pipe()
            self.theirs = read if number == 0 else write
            self.ours = os.fdopen(write, "wb") if number == 0 else os.fdopen(read, "rb")

    def close_theirs(self) -> None:
        if self._is_new:
            os.close(self.theirs)


async def start_warm_with_loop(words: Sequence[str], **options: Any) -> AsyncWarmProcess:
    """`start_warm` whose stderr is read by the running event loop."""
    process = start_warm(words, stderr=subprocess.PIPE, **options)
    assert process.stderr is not None
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stderr)
    return AsyncWarmProcess(process, reader, transport)


def _read_umask() -> int:
    bits = os.umask(0o077)
    os.umask(bits)
    return bits


@cache
def _start_loading(what: str) -> socket.socket:
    """A process in which Mooring is loaded; it ends when this one does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, PROGRAM, str(theirs.fileno()), what],
        env={"PATH": "/usr/bin:/bin", **WATCHED},
        cwd="/",
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
    )
    theirs.close()
    atexit.register(_stop_loading, process, ours)
    return ours


def _stop_loading(process: "subprocess.Popen[bytes]", requests: socket.socket) -> None:
    requests.close()
    process.wait()
