"""One guard process as the host holds it: requests queued and sent, news of the children passed on."""

import asyncio
import os
import signal
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from mooring.errors import GuardLost
from mooring.process.child import SLACK, Child
from mooring.process.guard.begin import Begun
from mooring.process.guard.sweep import sweep
from mooring.process.guard.tree import ERRAND


class Link:
    """One guard process and the children it keeps."""

    def __init__(self, begun: Begun) -> None:
        self._loop = asyncio.get_running_loop()
        self._begun = begun
        self._line = begun.line
        self._children: dict[int, Child] = {}
        self._waiting: deque[Child] = deque()
        self._last_words = ""
        self.ended: asyncio.Future[None] = self._loop.create_future()
        """Done when the guard is gone."""
        self._loop.add_reader(self._line.sock.fileno(), self._read)

    def spawn(self, child: Child) -> None:
        self._children[child.request.number] = child
        self._waiting.append(child)
        self._write()

    def end(self, child: Child, grace: float, term_grace: float) -> None:
        if child in self._waiting:
            self._waiting.remove(child)
            child.on_failed(closed())
        elif not self.ended.done():
            self._line.send(("end", child.request.number, grace, term_grace))
            self._write()

    def forget(self, child: Child) -> None:
        """Its pipes are closed; what is still to be heard of it no longer matters."""
        if child.gone.done():
            self._children.pop(child.request.number, None)

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
            fds = child.open_pipes()
        except OSError as error:
            child.on_failed(child.request.failed("pipe", error.errno or 0, ""))
        else:
            self._line.send(child.request.message, fds)

    def _read(self) -> None:
        told: dict[str, Callable[..., None]] = {
            "started": lambda number, pid: self._children[number].on_started(pid),
            "failed": self._failed,
            "exit": lambda number, status: self._children[number].on_exit(status),
            "gone": lambda number: self._children[number].on_gone(),
            "crash": self._crash,
        }
        try:
            for kind, *details in self._line.receive():
                told[kind](*details)
        except EOFError:
            self._lose()

    def _failed(self, number: int, stage: str, code: int, path: bytes) -> None:
        child = self._children[number]
        child.on_failed(child.request.failed(stage, code, os.fsdecode(path)))

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
        left = [child for child in self._children.values() if not child.gone.done()]
        if left:
            sweep(self._begun.mark, [child.pid for child in left if child.pid], portable=self._begun.portable)
        for child in left:
            child.on_lost(self.lost())


def closed() -> GuardLost:
    return GuardLost("The guard is closed: open another one to start servers.")


def _bury(pid: int) -> None:
    with suppress(ProcessLookupError, ChildProcessError):  # somebody else in this process waited for it
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
