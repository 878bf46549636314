"""A program at a pseudo-terminal that answers: keys go in, and what is drawn comes out, with the moment it came."""

import fcntl
import os
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from bench.drive import Broken

SECONDS = 60.0
CELLS, ROWS = 120, 40
FRAME_END = b"\x1b[?2026l"
FOCUS_LOST, FOCUS_GAINED = "\x1b[O", "\x1b[I"
_QUERY, _ANSWER = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
"""Whether frames may be marked as such: terminals of today say that they may."""
_MOST = 1 << 20


class Terminal:
    """A window with one program in it. It ends with the block."""

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self._master, slave = os.openpty()
        self._resize(CELLS, ROWS)
        environment = {**env, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            # No thread of ours is at work by now; a program in between that does this would be measured too.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(slave)
        self.drawn = b""
        """What was written since the last `forget`."""
        self.frames: list[float] = []
        """When each frame was complete, since the last `forget`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._process.terminate()
        with suppress(Broken):
            self.wait_for_end()
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    # --- what a person does ---------------------------------------------------------------------------------------

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def resize(self, cells: int, rows: int = ROWS) -> None:
        self._resize(cells, rows)

    def _resize(self, cells: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cells, 0, 0))

    # --- what a person sees ---------------------------------------------------------------------------------------

    def forget(self) -> None:
        """Look at what is drawn from now on."""
        self.drawn = b""
        self.frames = []

    def wait_for(self, text: str, seconds: float = SECONDS) -> float:
        """Wait until this is drawn; the time then. Raises: Broken."""
        wanted, until = text.encode(), time.perf_counter() + seconds
        while wanted not in self.drawn:
            left = until - time.perf_counter()
            if left <= 0 or not self._read(left):
                raise Broken(f"{text!r} was not drawn, but:\n{self.drawn[-2000:]!r}")
        return time.perf_counter()

    def wait_for_frame(self, seconds: float = SECONDS) -> None:
        """Wait until a frame is complete. Raises: Broken."""
        self.wait_for(FRAME_END.decode(), seconds)

    def settle(self, seconds: float = 0.2) -> None:
        """Wait until nothing was drawn for so long."""
        while self._read(seconds):
            pass

    def watch(self, seconds: float) -> None:
        """Look at it for so long."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            self._read(left)

    def wait_for_end(self) -> None:
        """Wait until the program has ended. Raises: Broken."""
        until = time.perf_counter() + SECONDS
        while self._process.poll() is None:
            if time.perf_counter() > until:
                raise Broken("The program does not end.")
            self._read(0.05)

    def _read(self, seconds: float) -> bool:
        """Whether something was written within that time; it is answered if it asks."""
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._master, _MOST)
        except OSError:
            return False
        if _QUERY in data:
            os.write(self._master, _ANSWER)
        self.frames += [time.perf_counter()] * data.count(FRAME_END)
        self.drawn += data
        return bool(data)

    # --- what it takes --------------------------------------------------------------------------------------------

    @property
    def cpu(self) -> float:
        """The CPU that the program has taken so far, in seconds, without that of its children."""
        # The clock of another process, as `clock_getcpuclockid` names it: it counts threads that have ended too.
        return time.clock_gettime((~self._process.pid << 3) | 2)

    @property
    def memory(self) -> float:
        """The program's own share of the memory, in MB."""
        lines = Path(f"/proc/{self._process.pid}/smaps_rollup").read_text().splitlines()
        (kilobytes,) = [int(line.split()[1]) for line in lines if line.startswith("Pss:")]
        return kilobytes / 1024
