"""A program that the guard has started, as the host sees it: its pipes and what it prints, its exit, and its end."""

import asyncio
import errno
import os
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mooring.core.definitions.config import suggest_args, suggest_install
from mooring.errors import GuardLost, MooringError, SpawnError
from mooring.process.guard.container import Container, add_cidfile
from mooring.process.guard.tree import REMOVAL_TIMEOUT

_REASONS: Final = {
    ("cwd", errno.ENOENT): ("The folder {cwd} for {command!r} does not exist", "create it or correct `cwd`"),
    ("cwd", errno.ENOTDIR): ("{cwd} is not a folder, so {command!r} cannot start there", "correct `cwd`"),
    ("cwd", errno.EACCES): ("The folder {cwd} for {command!r} cannot be entered", "correct `cwd` or its mode"),
    ("search", errno.EACCES): ("{path} is on PATH but not executable", "`chmod +x` it, or give another full path"),
    ("interpreter", errno.ENOENT): ("The first line of {path} names an interpreter that does not exist", "install it"),
    ("exec", errno.ENOENT): ("{path} does not exist", "correct the command"),
    ("exec", errno.EACCES): ("{path} is not an executable file", "`chmod +x` it or correct the command"),
    ("exec", errno.ENOEXEC): ("{path} is not a program and has no `#!` line", "put its interpreter before it"),
    ("exec", errno.E2BIG): ("{command!r} has more arguments and environment than the system accepts", "shorten them"),
}
"""What is wrong and what to do, by the stage in which the guard failed (see `guard.start`) and the system's error."""


class Spawn(NamedTuple):
    """A program to start, in bytes as the system wants it."""

    number: int
    argv: list[bytes]
    env: dict[bytes, bytes]
    cwd: bytes
    container: Container | None

    @property
    def message(self) -> tuple[Any, ...]:
        return "spawn", *self[:-1], self.container and self.container.parts

    def error(self, stage: str, code: int, path: str) -> SpawnError:
        """Why it did not start: the stage that failed, the system's error number, and the file in question."""
        command = os.fsdecode(self.argv[0])
        cwd = os.fsdecode(self.cwd)
        if code == errno.ENOENT and stage in ("search", "exec") and (split := suggest_args(command)):
            return _spawn_error(f"{command!r} has its arguments in the same text: {split}.", command, cwd, code)
        if (stage, code) == ("search", errno.ENOENT):
            return _spawn_error(f"{command!r} is not on PATH", command, cwd, code, fix=suggest_install())
        if (stage, code) not in _REASONS:
            return _spawn_error(f"{command!r} could not be started: {os.strerror(code)}.", command, cwd, code)
        template, way = _REASONS[stage, code]
        reason = template.format(command=command, cwd=cwd, path=path)
        return _spawn_error(f"{reason}: {way}.", command, cwd, code, for_model=f"{reason}.")


def prepare_spawn(number: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None) -> Spawn:
    """Check a program and make it ready for the guard.

    Raises:
        SpawnError: no system could start it.
    """
    command = argv[0] if argv else ""
    folder = cwd or "."
    try:
        folder = os.path.abspath(folder)
        argv, container = add_cidfile(list(argv), folder)
    except OSError as error:
        reason = f"{command!r} could not be prepared: {error}."
        raise _spawn_error(reason, command, folder, error.errno or 0) from error
    coding = sys.getfilesystemencoding(), "surrogateescape"  # like os.fsencode, in a fifth of the time
    try:
        words = [word.encode(*coding) for word in argv]
        variables = {name.encode(*coding): value.encode(*coding) for name, value in env.items()}
        folder.encode(*coding)
    except UnicodeEncodeError:
        reason = f"{command!r} cannot start: its command, arguments, folder or environment has an invalid character."
        raise _spawn_error(reason, command, folder, errno.EINVAL) from None
    _check(command, folder, words, variables)
    return Spawn(number, words, variables, os.fsencode(folder), container)


def _check(command: str, cwd: str, words: list[bytes], variables: dict[bytes, bytes]) -> None:
    # Refused here, because posix_spawn raises ValueError for these and the guard would die of it.
    if not command:
        raise _spawn_error("There is no command to start.", command, cwd, errno.EINVAL)
    everything = [*words, os.fsencode(cwd), *variables, *variables.values()]
    if b"\0" in b"".join(everything):
        reason = f"{command!r} cannot be started with a NUL character in its arguments, folder or environment."
        raise _spawn_error(reason, command, cwd, errno.EINVAL)
    for name in variables:
        if not name or b"=" in name:
            reason = f"{command!r} cannot be started: {os.fsdecode(name)!r} is not a valid variable name."
            raise _spawn_error(reason, command, cwd, errno.EINVAL)


def _spawn_error(reason: str, command: str, cwd: str, code: int, fix: str = "", for_model: str = "") -> SpawnError:
    cause = errno.errorcode.get(code, str(code))
    return SpawnError(reason, fix=fix, command=command, cwd=cwd, code=code, cause=cause, for_model=for_model)


STDERR_LIMIT: Final = 256 * 1024
"""How many bytes of a program's standard error are kept."""
LINE_LIMIT: Final = 64 * 1024
"""A longer line is passed on in pieces, so that a program that never ends one cannot fill our memory."""


class Tail:
    """Keeps the last `limit` bytes of a stream; every line also goes to `on_line`."""

    def __init__(self, limit: int, on_line: Callable[[str], None] | None) -> None:
        self._limit = limit
        self._on_line = on_line
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._line = b""

    def feed(self, data: bytes) -> None:
        self._chunks.append(data)
        self._size += len(data)
        # A chunk is dropped only if those after it are enough; `text` cuts the rest.
        while self._size - len(self._chunks[0]) >= self._limit:
            self._size -= len(self._chunks.popleft())
        if self._on_line:
            self._pass_on(self._on_line, data)

    def _pass_on(self, on_line: Callable[[str], None], data: bytes) -> None:
        *lines, self._line = (self._line + data).split(b"\n")
        if len(self._line) > LINE_LIMIT:
            lines.append(self._line)
            self._line = b""
        for line in lines:
            on_line(_decode(line))

    def end(self) -> None:
        """The stream has ended: a line without its newline is a line too."""
        if self._on_line and self._line:
            self._on_line(_decode(self._line))
        self._line = b""

    @property
    def text(self) -> str:
        """What is kept, from the beginning of a line on."""
        kept = b"".join(self._chunks)
        if len(kept) > self._limit:
            kept = kept[-self._limit :]
            _, _, whole_lines = kept.partition(b"\n")
            kept = whole_lines or kept
        return _decode(kept)


def _decode(data: bytes) -> str:
    return data.decode(errors="replace")


LOST: Final = 256
"""The result of `Child.exited`, instead of a return code, if the guard died and its children with it."""

EOF_GRACE: Final = 1.5
"""How many seconds a program may take to exit once its stdin has ended, before it is sent SIGTERM."""
TERM_GRACE: Final = 1.0
"""How many seconds it may take after SIGTERM, before SIGKILL."""
SLACK: Final = 2.0
"""How many seconds more the guard may take to report that it has done what it was asked."""


class Child:
    """A running program and whatever it starts.

    `stdin` and `stdout` are non-blocking descriptors for a transport to write and read, -1 once closed; they are
    closed by `close_stdin`, `discard_stdout` and `close`, and in no other way. Output may still wait in `stdout` when
    `exited` is done. `stderr` is always drained here, so that a program never blocks on it.
    """

    def __init__(
        self,
        request: Spawn,
        tail: Tail,
        *,
        end_tree: "Callable[[Child, float, float], None]",
        forget: "Callable[[Child], None]",
    ) -> None:
        """`end_tree` has the guard end it; `forget` is called once nothing more will be reported of it."""
        self._loop = asyncio.get_running_loop()
        self.request = request
        self.pid = 0
        self.stdin = self.stdout = self.stderr = -1
        self.started: asyncio.Future[None] = self._loop.create_future()
        self.exited: asyncio.Future[int] = self._loop.create_future()
        """The return code as `subprocess` has it, negative for a signal; or `LOST`."""
        self.gone: asyncio.Future[None] = self._loop.create_future()
        """Done when nothing is left of it or of what it started."""
        self._end_tree = end_tree
        self._forget = forget
        self._tail = tail
        self._closing = False
        self._is_question: Callable[[bytes], bool] = lambda data: False
        self._asks_in_vain = False
        """It asked something after its stdin was closed: no answer can reach it."""

    @property
    def stderr_tail(self) -> str:
        """The last that the program wrote to its standard error."""
        return self._tail.text

    async def close(self, grace: float = EOF_GRACE, term_grace: float = TERM_GRACE) -> None:
        """End the program and all that it started: close its stdin, then SIGTERM, then SIGKILL, each with a deadline.

        Everything is under way before the first await, so a cancelled close still ends the tree.
        """
        self.end(grace, term_grace)
        timeout = grace + term_grace + SLACK
        if self.request.container:
            timeout += REMOVAL_TIMEOUT
        try:
            await asyncio.wait([self.gone], timeout=timeout)
        finally:
            self._close_pipes()
            self._forget(self)

    def end(self, grace: float = EOF_GRACE, term_grace: float = TERM_GRACE) -> None:
        """Start to end it, without waiting as `close` does."""
        self._closing = True
        self.close_stdin()
        if not self.gone.done():
            self._end_tree(self, 0.0 if self._asks_in_vain else grace, term_grace)

    # --- its pipes ---------------------------------------------------------------------------------------------

    def open_pipes(self) -> list[int]:
        """Make the pipes, keep our ends and return the child's.

        Raises:
            OSError: this process has too many descriptors open.
        """
        made: list[int] = []
        try:
            for _ in range(3):
                made += os.pipe()
        except OSError:
            for fd in made:
                os.close(fd)
            raise
        stdin, self.stdin, self.stdout, stdout, self.stderr, stderr = made
        for fd in self.stdin, self.stdout, self.stderr:
            os.set_blocking(fd, False)
        self._loop.add_reader(self.stderr, self._drain)
        return [stdin, stdout, stderr]

    def close_stdin(self) -> None:
        self.stdin = self._close(self.stdin)

    def discard_stdout(self, is_question: Callable[[bytes], bool] | None = None) -> None:
        """Read what the program still writes, and forget it, until it ends or closes its output.

        A program that still asks something, by `is_question`, waits for an answer and not for its end: it is told to
        end at once. server-everything asks for the roots a third of a second after it was greeted, and after a short
        call it would otherwise be waited for until the end of its grace.

        A pipe that nobody reads breaks: Node servers that say something on their way out died of EPIPE, and left a
        stack trace in their log at nearly every end.
        """
        if is_question is not None:
            self._is_question = is_question
        if self.stdout >= 0:
            self._loop.remove_reader(self.stdout)
            self._loop.add_reader(self.stdout, self._discard)

    def _discard(self) -> None:
        try:
            data = os.read(self.stdout, 65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close_stdout()
        elif self.stdin < 0 and not self._asks_in_vain and self._is_question(data):
            self._asks_in_vain = True
            if self._closing and not self.gone.done():
                self._end_tree(self, 0.0, TERM_GRACE)

    def _close_stdout(self) -> None:
        self.stdout = self._close(self.stdout)

    def _close_stderr(self) -> None:
        self.stderr = self._close(self.stderr)
        self._tail.end()

    def _close_pipes(self) -> None:
        self.close_stdin()
        self._close_stdout()
        self._close_stderr()

    def _close(self, fd: int) -> int:
        if fd >= 0:
            self._loop.remove_reader(fd)
            self._loop.remove_writer(fd)
            os.close(fd)
        return -1

    def _drain(self) -> bool:
        """Read what is there, up to the capacity of a pipe; whether there was anything."""
        if self.stderr < 0:
            return False
        try:
            data = os.read(self.stderr, 65536)
        except BlockingIOError:
            return False
        if not data:
            self._close_stderr()
            return False
        self._tail.feed(data)
        return True

    # --- what the guard reports --------------------------------------------------------------------------------

    def on_started(self, pid: int) -> None:
        self.pid = pid
        _settle(self.started, None)

    def on_failed(self, error: MooringError) -> None:
        if self.request.container:
            self.request.container.forget()
        if not self.started.done():
            self.started.set_exception(error)
        self._closing = True
        self.on_gone()

    def on_exit(self, status: int) -> None:
        # What it wrote last is often the reason. Two reads empty the pipe; what a descendant still writes can wait.
        if self._drain():
            self._drain()
        _settle(self.exited, status)

    def on_gone(self) -> None:
        _settle(self.gone, None)
        if self._closing:
            self._close_pipes()
            self._forget(self)

    def on_lost(self, error: GuardLost) -> None:
        if self.pid:
            self.on_exit(LOST)
            self.on_gone()
        else:
            self.on_failed(error)


def _settle(future: asyncio.Future[Any], value: object) -> None:
    if not future.done():
        future.set_result(value)


_CHUNK = 64 * 1024
_MOST_LEFT = 64
"""How many reads empty a pipe for certain, unless somebody keeps filling it."""


class OutputReader:
    """Hands over what a child prints, piece by piece, until its output ends or nobody wants more."""

    def __init__(self, child: Child, take: Callable[[bytes], None]) -> None:
        self._child = child
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._stopped = False
        self._loop.add_reader(child.stdout, self._read)

    def drain(self) -> None:
        """Take what is left in the pipe.

        Not until end of file: a background process that the command left behind may hold the other end open, and may
        go on printing.
        """
        for _ in range(_MOST_LEFT):
            if not self._read():
                return

    def stop(self) -> None:
        if not self._stopped and self._child.stdout >= 0:
            self._loop.remove_reader(self._child.stdout)
        self._stopped = True

    def _read(self) -> bool:
        """Read once; whether there was anything."""
        if self._stopped or self._child.stdout < 0:
            return False
        try:
            data = os.read(self._child.stdout, _CHUNK)
        except BlockingIOError:
            return False
        if data:
            self._take(data)
        else:
            self._stopped = True
            self._child.discard_stdout()
        return bool(data)


async def feed_input(child: Child, data: bytes) -> None:
    """Write all of the data to a child's input, and end it. What a child does not read is dropped when it ends."""
    await write_input(child, data)
    child.close_stdin()


async def write_input(child: Child, data: bytes) -> bool:
    """Write all of the data to a child's input; whether it was taken. One writer at a time, or lines would mix."""
    rest = memoryview(data)
    try:
        while rest and child.stdin >= 0:
            try:
                rest = rest[os.write(child.stdin, rest) :]
            except BlockingIOError:
                await _wait_until_writable(child.stdin)
    except BrokenPipeError:
        return False
    return not rest


async def _wait_until_writable(handle: int) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_writer(handle, _settle, ready, None)
    try:
        await ready
    finally:
        loop.remove_writer(handle)
