"""One guard process as the host sees it: requests are queued and sent, and its reports reach the children."""

import asyncio
import os
import signal
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from mooring.errors import GuardLost
from mooring.process.child import SLACK, Child
from mooring.process.guard.boot import GuardProcess
from mooring.process.guard.cleanup import kill_leftovers
from mooring.process.guard.tree import REMOVAL_TIMEOUT


class Link:
    """The connection to one guard process, and the children that it started."""

    def __init__(self, guard: GuardProcess) -> None:
        self._loop = asyncio.get_running_loop()
        self._guard = guard
        self._channel = guard.channel
        self._children: dict[int, Child] = {}
        self._waiting: deque[Child] = deque()
        self._crash = ""
        self.ended: asyncio.Future[None] = self._loop.create_future()
        """Done when the guard is gone."""
        self._reports: dict[str, Callable[..., None]] = {
            "started": lambda number, pid: self._children[number].on_started(pid),
            "failed": self._on_failed,
            "exit": lambda number, status: self._children[number].on_exit(status),
            "gone": lambda number: self._children[number].on_gone(),
            "crash": self._on_crash,
        }
        self._loop.add_reader(self._channel.sock.fileno(), self._read)

    def spawn(self, child: Child) -> None:
        """Ask the guard to start this child."""
        self._children[child.request.number] = child
        self._waiting.append(child)
        self._write()

    def end(self, child: Child, grace: float, term_grace: float) -> None:
        """Ask the guard to end this child and all that it started."""
        if child in self._waiting:  # the guard does not know it yet
            self._waiting.remove(child)
            child.on_failed(guard_closed())
        elif not self.ended.done():
            self._channel.send(("end", child.request.number, grace, term_grace))
            self._write()

    def forget(self, child: Child) -> None:
        """Drop a child whose pipes are closed; one that is not gone yet will still be reported on."""
        if child.gone.done():
            self._children.pop(child.request.number, None)

    async def close(self, grace: float, term_grace: float) -> None:
        """End every child, then the guard."""
        closing = [child.close(grace, term_grace) for child in self._children.values()]
        try:
            await asyncio.gather(*closing)
        finally:
            self._send_eof()
        await asyncio.wait([self.ended], timeout=REMOVAL_TIMEOUT + SLACK)
        self._lose_guard()

    def lost(self) -> GuardLost:
        """The error for callers that need this guard after it died."""
        words = f" ({self._crash})" if self._crash else ""
        return GuardLost(f"The guard process died{words}, and its servers ended with it.")

    def _send_eof(self) -> None:
        """Have the guard end whatever is left, and then itself."""
        if not self.ended.done():
            with suppress(OSError):  # it has died already
                self._channel.sock.shutdown(socket.SHUT_WR)

    def _write(self) -> None:
        self._channel.flush()
        # Pipes are made only when their request can leave: hundreds that wait would take six descriptors each.
        while self._waiting and not self._channel.has_unsent:
            self._send_request(self._waiting.popleft())
        if self._channel.has_unsent:
            self._loop.add_writer(self._channel.sock.fileno(), self._write)
        else:
            self._loop.remove_writer(self._channel.sock.fileno())

    def _send_request(self, child: Child) -> None:
        try:
            fds = child.open_pipes()
        except OSError as error:
            child.on_failed(child.request.error("pipe", error.errno or 0, ""))
        else:
            self._channel.send(child.request.message, fds)

    def _read(self) -> None:
        try:
            for kind, *details in self._channel.receive():
                self._reports[kind](*details)
        except EOFError:
            self._lose_guard()

    def _on_failed(self, number: int, stage: str, code: int, path: bytes) -> None:
        child = self._children[number]
        child.on_failed(child.request.error(stage, code, os.fsdecode(path)))

    def _on_crash(self, words: str) -> None:
        self._crash = words

    def _lose_guard(self) -> None:
        """The guard is gone, or is killed now: end its children too, and notify their owners."""
        if self.ended.done():
            return
        self._loop.remove_reader(self._channel.sock.fileno())
        self._loop.remove_writer(self._channel.sock.fileno())
        self._channel.close()
        _kill_and_reap(self._guard.pid)
        self.ended.set_result(None)
        left = [child for child in self._children.values() if not child.gone.done()]
        if left:
            roots = [child.pid for child in left if child.pid]
            kill_leftovers(self._guard, roots)
        for child in left:
            child.on_lost(self.lost())


def guard_closed() -> GuardLost:
    """The error for callers that want a program from a closed guard."""
    return GuardLost("The guard is closed: open another one to start servers.")


def _kill_and_reap(pid: int) -> None:
    # Another part of this process may have waited for all children, and for the guard with them.
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
