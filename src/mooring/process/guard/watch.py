"""The loop of the guard: requests in, children started and ended, their fates out."""

import select
import time

from .halves import os, signal
from .line import Line, close
from .start import Unstarted, start
from .tree import ERRAND, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .container import Container, Parts
    from .kin import Kin

MARK = b"MOORING_TREE"

HOST_GONE = 0.5, 1.0
"""Patience for an exit on the end of stdin, then between SIGTERM and SIGKILL, once the host is gone."""
LEFTOVERS = 0.0, 0.5
"""The same for what a child leaves behind when it exits."""


class GuardLoop:
    """Sleeps until the host speaks or ends, a child changes, or a step towards the end of a tree is due."""

    def __init__(self, line: Line, kin: "Kin", mark: str) -> None:
        self._line = line
        self._kin = kin
        self._mark = mark.encode()
        self._trees: dict[int, Tree] = {}
        self._host: int | None = None
        self._leaving = False
        self._ignored = [s for s in signal.valid_signals() if signal.getsignal(s) == signal.SIG_IGN]

    def run(self, host: int) -> None:
        """Serve the host until it is gone, then end every tree."""
        wake = _child_signals()
        if os.getppid() == host:
            self._host = self._kin.watch(host)
        else:
            self._leave()
        while self._trees or not self._leaving:
            ready = self._wait(wake)
            if wake in ready:
                os.read(wake, 4096)
            if self._host in ready:
                self._leave()
            self._talk()
            if ready != [0] or self._timeout() == 0:  # looking at every tree for every request adds up
                self._tend()
        self._kin.look({})
        self._kin.clear()

    def _wait(self, wake: int) -> list[int]:
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        if not self._leaving:
            poll.register(0, select.POLLIN | (select.POLLOUT if self._line.pending else 0))
            if self._host is not None:
                poll.register(self._host, select.POLLIN)
        return [fd for fd, _ in poll.poll(self._timeout())]

    def _timeout(self) -> float | None:
        if self._kin.unsettled():
            return 10
        dues = [tree.due for tree in self._trees.values() if tree.due is not None]
        return max(0.0, min(dues) - time.monotonic()) * 1000 if dues else None

    def _leave(self) -> None:
        """The host is gone: end everything, then this loop."""
        self._leaving = True
        for tree in self._trees.values():
            if not tree.errand:
                tree.end(*HOST_GONE)

    # --- what the host asks ------------------------------------------------------------------------------------

    def _talk(self) -> None:
        self._line.flush()
        if self._leaving:
            return
        requests: dict[str, Callable[..., None]] = {"spawn": self._spawn, "end": self._end}
        try:
            for kind, *details in self._line.receive():
                requests[kind](*details)
        except EOFError:
            self._leave()

    def _spawn(
        self, number: int, argv: list[bytes], env: dict[bytes, bytes], cwd: bytes, container: "Parts | None"
    ) -> None:
        fds = self._line.take(3)
        env[MARK] = b"%b%b-%d;" % (os.environ.get(MARK, b""), self._mark, number)
        try:
            tree = Tree(number, self._start(argv, env, cwd, fds), env, cwd)
        except Unstarted as error:
            self._line.send(("failed", number, *error.reply))
        else:
            tree.container = _container(container) if container else None
            self._trees[number] = tree
            self._line.send(("started", number, tree.pid))
        finally:
            close(fds)

    def _start(self, argv: list[bytes], env: dict[bytes, bytes], cwd: bytes, fds: "Sequence[int]") -> int:
        return start(argv, env, cwd, fds, self._ignored)

    def _end(self, number: int, patience: float, grace: float) -> None:
        if tree := self._trees.get(number):
            tree.end(patience, grace)

    # --- what becomes of the trees -----------------------------------------------------------------------------

    def _tend(self) -> None:
        for tree in self._trees.values():
            if tree.status is None:
                self._check(tree)
        self._kin.look(self._trees)  # after the roots: what they leave has become ours by then
        for tree in list(self._trees.values()):
            if tree.status is not None and not self._kin.alive(tree):
                self._finish(tree)
            elif tree.due is not None and tree.due <= time.monotonic():
                self._step(tree)

    def _check(self, tree: Tree) -> None:
        tree.status = self._kin.exited(tree)
        if tree.status is None:
            return
        if not tree.errand:
            self._line.send(("exit", tree.number, tree.status))
        tree.end(*LEFTOVERS)

    def _step(self, tree: Tree) -> None:
        if number := tree.step():
            self._kin.signal(tree, number)
        else:
            self._finish(tree)

    def _finish(self, tree: Tree) -> None:
        del self._trees[tree.number]
        if tree.status is not None:
            self._kin.release(tree)
        errand = tree.container.errand() if tree.container else None
        if not (errand and self._run(errand, tree)):
            self._line.send(("gone", tree.number))

    def _run(self, errand: list[bytes], tree: Tree) -> bool:
        """Run a command in the name of an ended tree, whose end is told when the command's is."""
        try:
            pid = self._start(errand, tree.env, tree.cwd, (1, 1, 1))
        except Unstarted:
            return False
        after = Tree(tree.number, pid, tree.env, tree.cwd)
        after.errand = True
        after.end(ERRAND, 0)
        self._trees[tree.number] = after
        return True


def _container(parts: "Parts") -> "Container":
    from .container import Container  # loaded when the first is seen: most guards never do

    return Container(*parts)


def _child_signals() -> int:
    """A descriptor that can be read whenever a child has changed."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading
