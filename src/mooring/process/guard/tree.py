"""A child and its descendants, and the steps in which they are ended."""

import time

from .native import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .container import Container

KILL_TIMEOUT = 0.5
"""How long a killed process may take to vanish before the guard gives up on it (it hangs in the kernel)."""
REMOVAL_TIMEOUT = 3.0
"""How long the removal of a container may take."""


class Tree:
    """What the guard knows of one child and its descendants."""

    def __init__(self, number: int, pid: int, env: dict[bytes, bytes], cwd: bytes) -> None:
        self.number = number
        self.pid = pid
        self.env = env
        self.cwd = cwd
        self.container: Container | None = None
        self.is_removal = False
        """Whether this is not a server but the command that removes a server's container."""
        self.status: int | None = None
        """The return code of the root, once it has exited."""
        self.due: float | None = None
        """When the next step is to be taken; `None` while the tree may live on."""
        self._steps: list[tuple[float, int]] = []
        """The waits and signals that remain, once it is to end; signal 0 means giving up."""

    def end(self, patience: float, grace: float) -> None:
        """Start to end the tree, or end it sooner than planned; never later."""
        steps = [(patience, signal.SIGTERM), (grace, signal.SIGKILL), (KILL_TIMEOUT, 0)]
        if self.due is not None:
            # Signals that were sent already are not sent again.
            steps = steps[len(steps) - len(self._steps) :]
        self._steps = steps
        due = self._next_due()
        self.due = due if self.due is None else min(self.due, due)

    def next_signal(self) -> int:
        """Take the step that is due now: the signal to send, or 0 when there is nothing left to try."""
        if not self._steps:
            return 0
        _, number = self._steps.pop(0)
        self.due = self._next_due()
        return number

    def _next_due(self) -> float:
        wait = self._steps[0][0] if self._steps else 0
        return time.monotonic() + wait
