"""Ctrl+C in a command: the first one ends it in order, and a second one ends it at once.

Until a command begins, `mooring/__init__.py` has it end at once: nothing is there yet that could be put in order.
Python's own way, to raise KeyboardInterrupt wherever it happens to be, loses it where nothing can be raised, such as in
a callback of importlib.
"""

from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from mooring import _end_at_once as end_at_once
from mooring.cli import INTERRUPTED

if TYPE_CHECKING:
    import asyncio
    import signal
else:
    import _signal as signal  # `signal` itself takes a millisecond to load

T = TypeVar("T")

_LATER = 0.01
"""Seconds until a Ctrl+C that came while a module was being imported is acted on, or put off again."""
_MOST_SIGNALS = 64


class InterruptHandler:
    """What SIGINT does from when a command begins until it ends."""

    def __init__(self) -> None:
        self.presses = 0
        self._is_put_off = False
        self._is_async = False
        self._task: asyncio.Task[Any] | None = None

    def __call__(self, _: int, frame: FrameType | None) -> None:
        self.presses += 1
        if self.presses > 1:
            end_at_once()
        elif self._is_async:
            self._end_task()
        elif hasattr(signal, "setitimer") and _is_importing(frame):
            self._put_off()
        else:
            raise KeyboardInterrupt

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work in an event loop. Raises: KeyboardInterrupt if Ctrl+C came, or else what the work raises."""
        # Loaded here: commands that only read files do without them.
        import asyncio

        from mooring.verbs.use.deadline import StopAwareLoop

        self._is_async = True
        try:
            with asyncio.Runner(loop_factory=StopAwareLoop) as runner:
                result = runner.run(self._do(work))
        except (Exception, asyncio.CancelledError):
            self._raise_if_pressed()
            raise
        finally:
            self._is_async, self._task = False, None
        self._raise_if_pressed()
        return result

    async def _do(self, work: Coroutine[Any, Any, T]) -> T:
        import asyncio

        self._task = asyncio.current_task()
        if self.presses:
            work.close()
            raise asyncio.CancelledError
        with _wake_by_signals(asyncio.get_running_loop()):
            return await work

    def _end_task(self) -> None:
        """Cancel the work; if it is done, all there is to put in order is."""
        if self._task is None:
            return  # it has not begun yet, and looks for itself
        if self._task.done():
            end_at_once()
        self._task.cancel()

    def _put_off(self) -> None:
        self._is_put_off = True
        signal.signal(signal.SIGALRM, self._on_alarm)
        signal.setitimer(signal.ITIMER_REAL, _LATER)

    def _on_alarm(self, *_: object) -> None:
        """Give the signal to whatever handles it by now: the editor or the chat may have begun."""
        if self._is_put_off:
            self._is_put_off = False
            self.presses -= 1
            signal.raise_signal(signal.SIGINT)

    def _raise_if_pressed(self) -> None:
        if self.presses:
            self._is_put_off = False
            raise KeyboardInterrupt


def begin_command() -> None:
    """From now on, Ctrl+C ends the command in order; not if another program handles it, or has it ignored."""
    if signal.getsignal(signal.SIGINT) is end_at_once:
        signal.signal(signal.SIGINT, InterruptHandler())


def end_command(code: int) -> int:
    """From now on, Ctrl+C ends the program at once; the exit code, which is another one if Ctrl+C came before."""
    handler = signal.getsignal(signal.SIGINT)
    if not isinstance(handler, InterruptHandler):
        return code
    signal.signal(signal.SIGINT, end_at_once)
    return INTERRUPTED if handler.presses else code


def run_until_interrupted(work: Coroutine[Any, Any, T]) -> T:
    """Do the work in an event loop until Ctrl+C cancels it. Raises: what it raises, KeyboardInterrupt."""
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, InterruptHandler):
        return handler.run(work)
    import asyncio

    return asyncio.run(work)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


@contextmanager
def _wake_by_signals(loop: "asyncio.AbstractEventLoop") -> Iterator[None]:
    """Have a signal end the loop's wait.

    Python handles a signal between two steps of its own. One that comes when the last step before the wait is over
    would be handled after the wait, and nothing else may end that: Ctrl+C would be lost.
    """
    from socket import socketpair  # loaded with the event loop

    heard, told = socketpair()
    heard.setblocking(False)
    told.setblocking(False)
    before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    loop.add_reader(heard, heard.recv, _MOST_SIGNALS)
    try:
        yield
    finally:
        loop.remove_reader(heard)
        signal.set_wakeup_fd(before)
        heard.close()
        told.close()
