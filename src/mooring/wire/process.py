"""Children of the host, started and ended by a guard that outlives the host long enough to leave none behind."""

import asyncio
import errno
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

from mooring.errors import GuardLost, MooringError, SpawnError
from mooring.wire.guard import ERRAND, Begun, begin, sweep

LOST: Final = 256
"""What `Child.exited` says, instead of a return code, when the guard died and its children with it."""

EOF_GRACE: Final = 1.5
"""How long a program may take to exit once its stdin has ended, before it is sent SIGTERM."""
TERM_GRACE: Final = 1.0
"""How long after SIGTERM, before SIGKILL."""
SLACK: Final = 2.0
"""How much longer the guard may take to say so than what it was asked to do."""

STDERR_LIMIT: Final = 256 * 1024
LINE_LIMIT: Final = 64 * 1024

_Container: TypeAlias = tuple[list[bytes], bytes, bool]
_Request: TypeAlias = tuple[str, int, list[bytes], dict[bytes, bytes], bytes, _Container | None]


class Guard:
    """Starts programs, and ends each with all that descends from it, also when this process is killed.

    The guard process is started on the first spawn, or before by `begin` (`mooring.wire.guard.begin` does so
    without importing asyncio). If it dies its children do too; the next spawn starts another one, once.
    With `portable`, as on macOS, whatever leaves the process group of its program escapes.

    Raises:
        MooringError: on Windows, where programs cannot be kept.
    """

    def __init__(self, begun: Begun | None = None, *, portable: bool = False) -> None:
        if sys.platform == "win32":
            raise MooringError("On Windows mooring cannot start servers as programs yet: use an HTTP address.")
        self._begun = begun
        self._portable = portable or (begun is not None and begun.portable)
        self._links: list[_Link] = []
        self._closed = False
        self._numbers = count(1)

    def begin(self) -> Self:
        """Start the guard process without waiting for it."""
        self._begun = self._begun or _begin(self._portable)
        return self

    @property
    def pid(self) -> int | None:
        """The guard process, if one was started."""
        return self._begun.pid if self._begun else None

    async def spawn(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        on_stderr: Callable[[str], None] | None = None,
        stderr_limit: int = STDERR_LIMIT,
    ) -> "Child":
        """Start a program with pipes, in a session of its own; `env` is all it gets, by default our own.

        Raises:
            SpawnError: it could not be started.
            GuardLost: the guard died just now or for the second time, or was closed.
        """
        link = self._connect()
        request = _request(next(self._numbers), argv, os.environ if env is None else env, cwd)
        child = Child(link, request, _Tail(stderr_limit, on_stderr))
        link.spawn(child)
        try:
            await child._started
        except asyncio.CancelledError:
            child.end(0, 0)
            raise
        return child

    def _connect(self) -> "_Link":
        if self._closed:
            raise _closed()
        if self._links and self._links[-1].ended.done():
            if len(self._links) > 1:
                raise self._links[-1].lost()
            self._begun = None
        if self._begun is None or not self._links:
            self._begun = self._begun or _begin(self._portable)
            self._links.append(_Link(self._begun))
        return self._links[-1]

    async def close(self, grace: float = EOF_GRACE, term_grace: float = TERM_GRACE) -> None:
        """End every child, all at the same time, then the guard."""
        if self._begun and not self._links:
            self._connect()
        self._closed = True
        for link in self._links:
            await link.close(grace, term_grace)

    async def __aenter__(self) -> Self:
        return self.begin()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _begin(portable: bool) -> Begun:
    try:
        return begin(portable=portable)
    except OSError as error:
        raise GuardLost(f"The guard cannot be started with {sys.executable!r}: {error}.") from error


class Child:
    """A running program and whatever it starts.

    `stdin` and `stdout` are non-blocking descriptors for a transport to write and read, -1 once closed; they are
    closed by `close_stdin`, `close_stdout` and `close`, in no other way. Output may still wait in `stdout` when
    `exited` is done. `stderr` is drained here, at every moment, so that a program never blocks on it.
    """

    def __init__(self, link: "_Link", request: _Request, tail: "_Tail") -> None:
        self._loop = asyncio.get_running_loop()
        self.pid = 0
        self.stdin = self.stdout = self.stderr = -1
        self.exited: asyncio.Future[int] = self._loop.create_future()
        """The return code as `subprocess` has it, negative for a signal; or `LOST`."""
        self._link = link
        self._request = request
        self._tail = tail
        self._started: asyncio.Future[None] = self._loop.create_future()
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self._closing = False

    @property
    def stderr_tail(self) -> str:
        """The last of what the program wrote to its standard error."""
        return self._tail.text

    async def close(self, grace: float = EOF_GRACE, term_grace: float = TERM_GRACE) -> None:
        """End the program and all that it started: end of stdin, SIGTERM, SIGKILL, each step bounded.

        Everything is under way before the first wait, so a cancelled close still ends the tree.
        """
        self.end(grace, term_grace)
        bound = grace + term_grace + SLACK + (ERRAND if self._request[-1] else 0)
        try:
            await asyncio.wait([self._gone], timeout=bound)
        finally:
            self._close_pipes()
            self._link.forget(self)

    def end(self, grace: float = EOF_GRACE, term_grace: float = TERM_GRACE) -> None:
        """Begin what `close` waits for."""
        self._closing = True
        self.close_stdin()
        if not self._gone.done():
            self._link.end(self, grace, term_grace)

    def close_stdin(self) -> None:
        self.stdin = self._close(self.stdin)

    def close_stdout(self) -> None:
        self.stdout = self._close(self.stdout)

    def _close_stderr(self) -> None:
        self.stderr = self._close(self.stderr)
        self._tail.end()

    def _close_pipes(self) -> None:
        self.close_stdin()
        self.close_stdout()
        self._close_stderr()

    def _close(self, fd: int) -> int:
        if fd >= 0:
            self._loop.remove_reader(fd)
            self._loop.remove_writer(fd)
            os.close(fd)
        return -1

    def _open_pipes(self) -> list[int]:
        """Make the pipes, keep our ends and return the child's."""
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

    def _drain(self) -> bool:
        """Read what is there, up to the capacity of a pipe; false when that was nothing."""
        if self.stderr < 0:
            return False
        try:
            data = os.read(self.stderr, 65536)
        except BlockingIOError:
            return False
        if data:
            self._tail.feed(data)
        else:
            self._close_stderr()
        return bool(data)

    def _on_started(self, pid: int) -> None:
        self.pid = pid
        _settle(self._started, None)

    def _on_failed(self, error: MooringError) -> None:
        _forget_container(self._request[-1])
        if not self._started.done():
            self._started.set_exception(error)
        self._closing = True
        self._on_gone()

    def _on_exit(self, status: int) -> None:
        # its last words are often the reason; two reads empty the pipe, and what is still written may wait
        _ = self._drain() and self._drain()
        _settle(self.exited, status)

    def _on_gone(self) -> None:
        _settle(self._gone, None)
        if self._closing:
            self._close_pipes()
            self._link.forget(self)

    def _on_lost(self, error: GuardLost) -> None:
        if self.pid:
            self._on_exit(LOST)
            self._on_gone()
        else:
            self._on_failed(error)


def _settle(future: asyncio.Future[Any], value: object) -> None:
    if not future.done():
        future.set_result(value)


class _Tail:
    """The last bytes of a stream, in bounded memory; every line also goes to `on_line`."""

    def __init__(self, limit: int, on_line: Callable[[str], None] | None) -> None:
        self._limit = limit
        self._on_line = on_line
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._line = b""

    def feed(self, data: bytes) -> None:
        self._chunks.append(data)
        self._size += len(data)
        while self._size - len(self._chunks[0]) >= self._limit:
            self._size -= len(self._chunks.popleft())
        if self._on_line:
            self._tell(self._on_line, data)

    def _tell(self, on_line: Callable[[str], None], data: bytes) -> None:
        *lines, self._line = (self._line + data).split(b"\n")
        if len(self._line) > LINE_LIMIT:
            lines.append(self._line)
            self._line = b""
        for line in lines:
            on_line(_text(line))

    def end(self) -> None:
        """No more will come: an unfinished line counts as one."""
        if self._on_line and self._line:
            self._on_line(_text(self._line))
        self._line = b""

    @property
    def text(self) -> str:
        """What is kept, without the line that its beginning cuts."""
        kept = b"".join(self._chunks)
        if len(kept) > self._limit:
            kept = kept[-self._limit :]
            kept = kept.partition(b"\n")[2] or kept
        return _text(kept)


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


class _Link:
    """One guard process and the children it keeps."""

    def __init__(self, begun: Begun) -> None:
        self._loop = asyncio.get_running_loop()
        self._begun = begun
        self._line = begun.line
        self._children: dict[int, Child] = {}
        self._waiting: deque[Child] = deque()
        self._last_words = ""
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(self._line.sock.fileno(), self._read)

    def spawn(self, child: Child) -> None:
        self._children[child._request[1]] = child
        self._waiting.append(child)
        self._write()

    def end(self, child: Child, grace: float, term_grace: float) -> None:
        if child in self._waiting:
            self._waiting.remove(child)
            child._on_failed(_closed())
        elif not self.ended.done():
            self._line.send(("end", child._request[1], grace, term_grace))
            self._write()

    def forget(self, child: Child) -> None:
        """Its pipes are closed; what is still to be heard of it no longer matters."""
        if child._gone.done():
            self._children.pop(child._request[1], None)

    async def close(self, grace: float, term_grace: float) -> None:
        closing = [child.close(grace, term_grace) for child in self._children.values()]
        try:
            await asyncio.gather(*closing)
        finally:
            self._hang_up()
        await asyncio.wait([self.ended], timeout=ERRAND + SLACK)
        self._lose()

    def lost(self) -> GuardLost:
        words = f" ({self._last_words})" if self._last_words else ""
        return GuardLost(f"The guard process died{words} and its servers were ended: start mooring again.")

    def _hang_up(self) -> None:
        """Let the guard end whatever is left and then itself."""
        if not self.ended.done():
            with suppress(OSError):  # it has died by itself
                self._line.sock.shutdown(socket.SHUT_WR)

    def _write(self) -> None:
        self._line.flush()
        # pipes are made only when their request can leave, or many requests would need six descriptors each
        while self._waiting and not self._line.pending:
            self._request(self._waiting.popleft())
        if self._line.pending:
            self._loop.add_writer(self._line.sock.fileno(), self._write)
        else:
            self._loop.remove_writer(self._line.sock.fileno())

    def _request(self, child: Child) -> None:
        try:
            fds = child._open_pipes()
        except OSError as error:
            self._failed(child._request[1], "pipe", error.errno or 0, b"")
        else:
            self._line.send(child._request, fds)

    def _read(self) -> None:
        told: dict[str, Callable[..., None]] = {
            "started": lambda number, pid: self._children[number]._on_started(pid),
            "failed": self._failed,
            "exit": lambda number, status: self._children[number]._on_exit(status),
            "gone": self._gone,
            "crash": self._crash,
        }
        try:
            for kind, *details in self._line.receive():
                told[kind](*details)
        except EOFError:
            self._lose()

    def _failed(self, number: int, stage: str, code: int, path: bytes) -> None:
        child = self._children[number]
        child._on_failed(_spawn_error(child._request, stage, code, os.fsdecode(path)))

    def _gone(self, number: int) -> None:
        self._children[number]._on_gone()

    def _crash(self, words: str) -> None:
        self._last_words = words

    def _lose(self) -> None:
        """The guard is gone, or must be: so are its children."""
        if self.ended.done():
            return
        self._loop.remove_reader(self._line.sock.fileno())
        self._loop.remove_writer(self._line.sock.fileno())
        self._line.close()
        _bury(self._begun.pid)
        self.ended.set_result(None)
        left = [child for child in self._children.values() if not child._gone.done()]
        if left:
            sweep(self._begun.mark, [child.pid for child in left if child.pid], portable=self._begun.portable)
        for child in left:
            child._on_lost(self.lost())


def _closed() -> GuardLost:
    return GuardLost("The guard is closed: open another one to start servers.")


def _bury(pid: int) -> None:
    with suppress(ProcessLookupError, ChildProcessError):  # somebody else in this process waited for it
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _request(number: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None) -> _Request:
    command, folder = argv[0] if argv else "", cwd or "."
    try:
        folder = os.path.abspath(folder)
        argv, container = _contained(list(argv))
    except OSError as error:
        raise _refused(f"{command!r} could not be prepared: {error}.", command, folder, error.errno or 0) from error
    coding = sys.getfilesystemencoding(), "surrogateescape"  # as os.fsencode, in a fifth of the time
    try:
        words = [word.encode(*coding) for word in argv]
        variables = {name.encode(*coding): value.encode(*coding) for name, value in env.items()}
        folder.encode(*coding)
    except UnicodeEncodeError:
        reason = f"{command!r} cannot be started: its command, arguments, folder or environment hold half a character."
        raise _refused(reason, command, folder, errno.EINVAL) from None
    _check(command, folder, words, variables)
    return "spawn", number, words, variables, os.fsencode(folder), container


def _check(command: str, cwd: str, words: list[bytes], variables: dict[bytes, bytes]) -> None:
    if not command:
        raise _refused("There is no command to start: name one.", command, cwd, errno.EINVAL)
    if b"\0" in b"".join([*words, os.fsencode(cwd), *variables, *variables.values()]):
        reason = f"{command!r} cannot be started with a NUL character in its arguments, folder or environment."
        raise _refused(reason, command, cwd, errno.EINVAL)
    for name in variables:
        if not name or b"=" in name:
            reason = f"{command!r} cannot be started: {os.fsdecode(name)!r} cannot be the name of a variable."
            raise _refused(reason, command, cwd, errno.EINVAL)


def _contained(argv: list[str]) -> tuple[list[str], _Container | None]:
    """For a `docker run`: the same with a file for the container's id, and how to remove that container."""
    at = _run_verb(argv)
    if at is None:
        return argv, None
    remove = [os.fsencode(word) for word in [*argv[:at], "rm", "-f"]]
    given = _option("--cidfile", argv[at + 1 :])
    if given:
        return argv, (remove, os.fsencode(os.path.abspath(given)), False)
    folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"mooring-{os.urandom(8).hex()}")
    os.mkdir(folder, 0o700)
    file = os.path.join(folder, "cid")
    return [*argv[: at + 1], "--cidfile", file, *argv[at + 1 :]], (remove, os.fsencode(file), True)


def _forget_container(container: _Container | None) -> None:
    """The folder for the id of a container that never came to be."""
    if container is not None and container[2]:
        with suppress(OSError):
            os.rmdir(os.path.dirname(container[1]))


def _run_verb(argv: list[str]) -> int | None:
    """Where `run` stands in `docker [options] [container] run`, options with and without a value."""
    if not argv or os.path.basename(argv[0]) not in ("docker", "podman"):
        return None
    verbs = [at for at, word in enumerate(argv) if word == "run"]
    return next((at for at in verbs if _only_options(argv[1:at])), None)


def _only_options(words: list[str]) -> bool:
    if words and words[-1] == "container":
        words = words[:-1]
    return all(
        word.startswith("-") or (at and words[at - 1].startswith("-") and "=" not in words[at - 1])
        for at, word in enumerate(words)
    )


def _option(name: str, words: list[str]) -> str | None:
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == name:
            return following
        if word.startswith(f"{name}="):
            return word.removeprefix(f"{name}=")
    return None


_REASONS: Final = {
    ("cwd", errno.ENOENT): "The folder {cwd} for {command!r} does not exist: create it or correct `cwd`.",
    ("cwd", errno.ENOTDIR): "{cwd} is not a folder, so {command!r} cannot start there: correct `cwd`.",
    ("cwd", errno.EACCES): "The folder {cwd} for {command!r} may not be entered: correct `cwd` or its mode.",
    (
        "search",
        errno.ENOENT,
    ): "{command!r} is in no folder of PATH ({PATH}): install it or give its full path.",
    (
        "search",
        errno.EACCES,
    ): "{path} is on PATH but not executable: `chmod +x` it, or give another full path.",
    (
        "interpreter",
        errno.ENOENT,
    ): "{path} asks in its first line for an interpreter that does not exist: install it.",
    ("exec", errno.ENOENT): "{path} does not exist: correct the command.",
    ("exec", errno.EACCES): "{path} is not an executable file: `chmod +x` it or correct the command.",
    ("exec", errno.ENOEXEC): "{path} is no program and has no `#!` line: put its interpreter before it.",
    (
        "exec",
        errno.E2BIG,
    ): "{command!r} has more arguments and environment than the system takes: shorten them.",
}


def _spawn_error(request: _Request, stage: str, code: int, path: str) -> SpawnError:
    command, cwd = os.fsdecode(request[2][0]), os.fsdecode(request[4])
    search = os.fsdecode(request[3].get(b"PATH", os.fsencode(os.defpath)))
    reason = _REASONS.get((stage, code), f"{{command!r}} could not be started: {os.strerror(code)}.")
    return _refused(reason.format(command=command, cwd=cwd, path=path, PATH=search), command, cwd, code)


def _refused(reason: str, command: str, cwd: str, code: int) -> SpawnError:
    return SpawnError(reason, command=command, cwd=cwd, code=code, cause=errno.errorcode.get(code, str(code)))
