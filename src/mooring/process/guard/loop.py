"""The loop of the guard: requests come in, children are started and ended, and what became of them goes out."""

import select
import time

from .channel import Channel, close
from .native import os, signal
from .start import StartError, start
from .tree import REMOVAL_TIMEOUT, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from .container import Container, Parts
    from .linux import LinuxTracker
    from .portable import PortableTracker
    from .terminal import HostTerminal

    TreeTracker: TypeAlias = LinuxTracker | PortableTracker

MARK = b"MOORING_TREE"
"""The variable by which a process is known to belong to a tree, even if it left its session."""

HOST_GONE = 0.5, 1.0
"""How long a tree may take to exit when its stdin ends, then between SIGTERM and SIGKILL, once the host is gone."""
LEFTOVERS = 0.0, 0.5
"""The same for what a child leaves behind when it exits."""

_UNCERTAIN_MS = 10
"""How soon to look again at a process that cannot be assigned to a tree yet."""


class GuardLoop:
    """Sleeps until the host sends a request or ends, a child changes, or a step to end a tree is due."""

    def __init__(self, channel: Channel, tracker: "TreeTracker", mark: str) -> None:
        self._channel = channel
        self._tracker = tracker
        self._mark = mark.encode()
        self._trees: dict[int, Tree] = {}
        self._host: int | None = None
        self._leaving = False
        self._terminal: HostTerminal | None = None
        """What the host draws on."""
        self._ignored = [s for s in signal.valid_signals() if signal.getsignal(s) == signal.SIG_IGN]

    def run(self, host: int) -> None:
        """Serve the host until it is gone, then end every tree."""
        wake = _open_child_signals()
        if os.getppid() == host:
            self._host = self._tracker.watch_host(host)
        else:
            self._leave()  # it died before we were up, and its pid may be another's
        while self._trees or not self._leaving:
            ready = self._wait(wake)
            if wake in ready:
                os.read(wake, 4096)
            if self._host in ready and not self._leaving:
                self._read_last_words()
                self._leave()
            self._serve_host()
            only_requests = ready == [0]
            # Looking at every tree for every request took most of the time when many servers start at the same time.
            if not only_requests or self._timeout() == 0:
                self._update_trees()
        self._tracker.refresh({})
        self._tracker.kill_unassigned()

    def _wait(self, wake: int) -> list[int]:
        """Sleep until something happens; the descriptors that are ready."""
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        if not self._leaving:
            events = select.POLLIN
            if self._channel.has_unsent:
                events |= select.POLLOUT
            poll.register(0, events)
            if self._host is not None:
                poll.register(self._host, select.POLLIN)
        return [fd for fd, _ in poll.poll(self._timeout())]

    def _timeout(self) -> float | None:
        """Milliseconds until there is something to do; `None` if nothing is planned."""
        if self._tracker.is_uncertain():
            return _UNCERTAIN_MS
        dues = [tree.due for tree in self._trees.values() if tree.due is not None]
        if not dues:
            return None
        return max(0.0, min(dues) - time.monotonic()) * 1000

    def _leave(self) -> None:
        """The host is gone: end everything, then this loop."""
        self._leaving = True
        if self._terminal is not None:
            self._terminal.restore()
        for tree in self._trees.values():
            if not tree.is_removal:  # a container that is being removed would be left behind
                tree.end(*HOST_GONE)

    # --- what the host asks for --------------------------------------------------------------------------------

    def _serve_host(self) -> None:
        self._channel.flush()
        if self._leaving:
            return
        requests: dict[str, Callable[..., None]] = {
            "spawn": self._spawn,
            "end": self._end,
            "terminal": self._keep_terminal,
        }
        try:
            for kind, *details in self._channel.receive():
                requests[kind](*details)
        except EOFError:
            self._leave()

    def _spawn(
        self, number: int, argv: list[bytes], env: dict[bytes, bytes], cwd: bytes, container: "Parts | None"
    ) -> None:
        fds = self._channel.take(3)
        # Appended to what we inherited: a guard below another guard's child still belongs to that tree.
        env[MARK] = b"%b%b-%d;" % (os.environ.get(MARK, b""), self._mark, number)
        self._tracker.prepare(number)
        try:
            tree = Tree(number, start(argv, env, cwd, fds, self._ignored), env, cwd)
        except StartError as error:
            self._channel.send(("failed", number, *error.reply))
        else:
            tree.container = _load_container(container) if container else None
            self._trees[number] = tree
            self._channel.send(("started", number, tree.pid))
        finally:
            close(fds)

    def _keep_terminal(self, settings: "list[int | list[bytes | int]]", text: bytes) -> None:
        """Give the terminal back if the host is killed; without a text, the host has done so itself."""
        if self._terminal is not None:
            self._terminal.close()
            self._terminal = None
        if text:
            from .terminal import HostTerminal  # most hosts draw on none

            (fd,) = self._channel.take(1)
            self._terminal = HostTerminal(fd, settings, text)

    def _read_last_words(self) -> None:
        """What the host said of its terminal before it was gone. Nothing is started any more."""
        try:
            for kind, *details in self._channel.receive():
                if kind == "terminal":
                    self._keep_terminal(*details)
                elif kind == "spawn":
                    close(self._channel.take(3))
        except EOFError:
            pass

    def _end(self, number: int, patience: float, grace: float) -> None:
        if tree := self._trees.get(number):
            tree.end(patience, grace)

    # --- what happens to the trees -----------------------------------------------------------------------------

    def _update_trees(self) -> None:
        for tree in self._trees.values():
            if tree.status is None:
                self._check_exit(tree)
        # After the roots: the children of a root that has died are ours by now, and would be missed before.
        self._tracker.refresh(self._trees)
        for tree in list(self._trees.values()):
            root_exited = tree.status is not None
            if root_exited and not self._tracker.has_survivors(tree):
                self._finish(tree)
            elif tree.due is not None and tree.due <= time.monotonic():
                self._advance(tree)

    def _check_exit(self, tree: Tree) -> None:
        tree.status = self._tracker.exit_status(tree)
        if tree.status is None:
            return
        if not tree.is_removal:
            self._channel.send(("exit", tree.number, tree.status))
        tree.end(*LEFTOVERS)

    def _advance(self, tree: Tree) -> None:
        if number := tree.next_signal():
            self._tracker.signal(tree, number)
        else:
            self._finish(tree)

    def _finish(self, tree: Tree) -> None:
        """Nothing is left of the tree, or nothing that can be ended: remove its container, then report it gone."""
        del self._trees[tree.number]
        if tree.status is not None:
            self._tracker.reap(tree)
        removal = tree.container.removal_command() if tree.container else None
        if removal is None or not self._start_removal(removal, tree):
            self._channel.send(("gone", tree.number))

    def _start_removal(self, command: list[bytes], tree: Tree) -> bool:
        """Run the command in the ended tree's place, so that the tree is reported gone when the command is done."""
        try:
            pid = start(command, tree.env, tree.cwd, (1, 1, 1), self._ignored)
        except StartError:
            return False
        removal = Tree(tree.number, pid, tree.env, tree.cwd)
        removal.is_removal = True
        removal.end(REMOVAL_TIMEOUT, 0)
        self._trees[tree.number] = removal
        return True


def _load_container(parts: "Parts") -> "Container":
    from .container import Container  # most guards never see one; it loads the full `os`

    return Container(*parts)


def _open_child_signals() -> int:
    """A descriptor that becomes readable whenever a child has changed."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    # Python writes to the wake-up descriptor only for signals that have a handler.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading
