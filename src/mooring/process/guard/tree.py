"""A child and its descendants, and the steps in which they are ended."""

import time

from .halves import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .container import Container

KILLED = 0.5
"""How long a killed process may take to vanish before it is given up (it hangs in the kernel)."""
ERRAND = 3.0
"""How long the removal of a container may take."""


class Tree:
    """What the guard knows of one child; `steps` are the waits and signals that remain once it is to end."""

    def __init__(self, number: int, pid: int, env: dict[bytes, bytes], cwd: bytes) -> None:
        self.number = number
        self.pid = pid
        self.env = env
        self.cwd = cwd
        self.container: Container | None = None
        self.errand = False
        self.status: int | None = None
        self.steps: list[tuple[float, int]] = []
        self.due: float | None = None

    def end(self, patience: float, grace: float) -> None:
        """Begin to end, or end sooner than was planned; never later."""
        steps = [(patience, signal.SIGTERM), (grace, signal.SIGKILL), (KILLED, 0)]
        if self.due is not None:
            steps = steps[len(steps) - len(self.steps) :]
        soon = time.monotonic() + (steps[0][0] if steps else 0)
        self.steps = steps
        self.due = soon if self.due is None else min(self.due, soon)

    def step(self) -> int:
        """The signal that is due now; 0 when there is nothing left to try."""
        if not self.steps:
            return 0
        _, number = self.steps.pop(0)
        self.due = time.monotonic() + (self.steps[0][0] if self.steps else 0)
        return number
