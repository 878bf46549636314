"""A terminal without a screen library: lines are read in the main thread, everything else happens in another.

Reading a line blocks, and Ctrl+C reaches the main thread alone: so that is where lines are read, and the event loop
runs beside it. Nothing ever waits for the keyboard but whoever asked for a line.
"""

import asyncio
import os
import signal
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from queue import SimpleQueue
from types import FrameType, ModuleType
from typing import Any, Literal, TypeAlias

Style: TypeAlias = Literal["bold", "dim", "red", "green", "yellow", "cyan"]

_CODES: Mapping[Style, int] = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
_WAKE = getattr(signal, "SIGUSR1", None)
"""Tells the main thread, while it reads a line, that there is something to show or that nobody waits for the line."""

_AGAIN = 0.05
"""After so many seconds it is told again."""


class Interrupted(Exception):
    """Ctrl+C instead of a line."""


class Ended(Exception):
    """Ctrl+D instead of a line: there will be no more."""


class _Request:
    """A line that is asked for."""

    def __init__(self, prompt: str, secret: bool, complete: Sequence[str], keep: bool) -> None:
        self.prompt, self.secret, self.complete, self.keep = prompt, secret, complete, keep
        self.withdrawn = False
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[str] = self.loop.create_future()

    def resolve(self, result: str | Exception) -> None:
        self.loop.call_soon_threadsafe(self._settle, result)

    def _settle(self, result: str | Exception) -> None:
        if self.answer.done():
            return
        if isinstance(result, str):
            self.answer.set_result(result)
        else:
            self.answer.set_exception(result)


class Terminal:
    """One terminal. `run` belongs to the main thread, all else to the event loop that it runs."""

    def __init__(self, env: Mapping[str, str] = os.environ) -> None:
        self.on_interrupt: Callable[[], object] | None = None
        """What Ctrl+C does while no line is read; without it, the next line ends before it begins."""
        self.floor = asyncio.Lock()
        """Whoever converses holds it: two questions at once would mix."""
        self._live = env.get("TERM", "dumb") != "dumb"
        self._color = self._live and not env.get("NO_COLOR")
        self._requests: SimpleQueue[_Request | None] = SimpleQueue()
        self._reading: _Request | None = None
        self._open: _Request | None = None
        self._late: deque[str] = deque()
        self._drawn = False
        self._failure: BaseException | None = None
        self._heard, self._told = socket.socketpair()
        self._early = False
        self._pressed: _Request | None = None
        self._pressing: _Request | None = None
        self._nudging: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._readline = _readline()
        self._main = threading.get_ident()

    # --- the main thread ------------------------------------------------------------------------------------------

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do the work in an event loop of its own, and read lines for it until it is done. Raises: what it raises."""
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")
        self._main = threading.get_ident()
        beside = threading.Thread(target=self._beside, args=(work,), name="mooring-chat")
        with self._signals():
            beside.start()
            while (request := self._requests.get()) is not None:
                self._read(request)
            beside.join()
        if self._failure is not None:
            raise self._failure

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Have signals handled here; the event loop hears of each too, to see that none is missed."""
        with self._heard, self._told:
            self._heard.setblocking(False)
            self._told.setblocking(False)
            before = {number: signal.signal(number, self._signalled) for number in (signal.SIGINT, _WAKE) if number}
            fd = signal.set_wakeup_fd(self._told.fileno(), warn_on_full_buffer=False)
            try:
                yield
            finally:
                signal.set_wakeup_fd(fd)
                for number, handler in before.items():
                    signal.signal(number, handler)

    def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        async def begin() -> None:
            self._loop = asyncio.get_running_loop()
            if _WAKE is not None:
                self._loop.add_reader(self._heard, self._arrived)
            await work

        try:
            asyncio.run(begin())
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that reports errors
            self._failure = error
        finally:
            self._loop = None
            self._requests.put(None)

    def _read(self, request: _Request) -> None:
        result: str | Exception
        self._prepare(request)
        try:
            self._reading = request
            result = "" if request.withdrawn else _typed(request)
            self._reading = None
        except (KeyboardInterrupt, SystemError):  # the latter is what `input` makes of a signal at its very end
            result = Interrupted()
        except EOFError:
            result = Ended()
        finally:
            self._reading = None
        if not isinstance(result, str) or request.withdrawn:
            print()  # noqa: T201 - the cursor still stands behind the prompt
        elif request.keep and self._readline is not None and result.strip():
            self._readline.add_history(result)
        request.resolve(result)

    def _prepare(self, request: _Request) -> None:
        if self._readline is None:
            return
        words = sorted(request.complete)

        def complete(text: str, number: int) -> str | None:
            fits = [word for word in words if word.startswith(text)]
            return fits[number] if number < len(fits) else None

        self._readline.set_completer(complete)

    def _signalled(self, number: int, _: FrameType | None) -> None:
        """Ctrl+C only takes note; the wake-up is what ends a line, for of two handlers only the last may raise."""
        request = self._reading
        if number == signal.SIGINT and request is None:
            if (loop := self._loop) is not None:
                with suppress(RuntimeError):  # it has just ended
                    loop.call_soon_threadsafe(self._interrupted)
        elif number == signal.SIGINT:
            self._pressed = request
            self._wake()
        elif request is not None:
            self._woken(request)

    def _woken(self, request: _Request) -> None:
        if request is self._pressed or request.withdrawn:
            self._reading = None  # once for a line: more may come while this is dealt with
            raise KeyboardInterrupt
        self._above(request)

    def _above(self, request: _Request) -> None:
        """Show what came while a line was being typed, above it."""
        typed = "" if request.secret or self._readline is None else self._readline.get_line_buffer()
        while self._late:
            _write(("\r\x1b[K" if self._live else "\n") + self._late.popleft() + "\n" + request.prompt + typed)

    # --- the event loop -------------------------------------------------------------------------------------------

    async def line(self, prompt: str, *, secret: bool = False, complete: Sequence[str] = (), keep: bool = False) -> str:
        """What a person types; `keep` puts it into the history, `complete` is what Tab offers.

        Raises: Interrupted, Ended.
        """
        self.clear()
        if self._early:
            self._early = False
            raise Interrupted
        self._open = request = _Request(prompt, secret, complete, keep)
        self._requests.put(request)
        try:
            return await request.answer
        except asyncio.CancelledError:
            request.withdrawn = True
            self._nudge()
            raise
        finally:
            self._open = None
            while self._late:
                self.say(self._late.popleft())

    @property
    def is_reading(self) -> bool:
        """Whether somebody may be typing just now."""
        return self._open is not None

    def say(self, text: str = "") -> None:
        """Show some lines, above the one that is being typed."""
        if self._open is not None and _WAKE is not None:
            self._late.append(text)
            self._nudge()
            return
        self.clear()
        _write(text + "\n")

    def step(self, text: str) -> None:
        """Show how far something has come: one line that changes, or one line after another."""
        if self._open is not None or not self._live:
            self.say(text)
            return
        self._drawn = True
        width = _width()
        _write(f"\r\x1b[K{text[: width - 1]}")

    def clear(self) -> None:
        """Take away the line that changes."""
        if self._drawn:
            self._drawn = False
            _write("\r\x1b[K")

    def style(self, text: str, *styles: Style) -> str:
        if not self._color or not text:
            return text
        return f"\x1b[{';'.join(str(_CODES[style]) for style in styles)}m{text}\x1b[0m"

    def _interrupted(self) -> None:
        if self.on_interrupt is not None:
            self.on_interrupt()
        elif self._open is not None:  # it is just about to be read
            self._pressed = self._pressing = self._open
            self._nudge()
        else:
            self._early = True

    def _arrived(self) -> None:
        """A signal came. One that came just before the main thread waits for a key woke nobody."""
        with suppress(BlockingIOError):
            if signal.SIGINT in self._heard.recv(64):
                # A line that is about to be read, and was ended before it began, stays so.
                self._pressing = self._reading or self._pressing
                self._later()

    def _nudge(self) -> None:
        """Wake the main thread until it has seen what there is."""
        request = self._reading
        due = request is not None and (request is self._pressing or request.withdrawn or bool(self._late))
        soon = self._open is not None and (self._open is self._pressing or bool(self._late))
        if due:
            self._wake()
        if due or soon:
            self._later()

    def _wake(self) -> None:
        if _WAKE is not None:
            signal.pthread_kill(self._main, _WAKE)
        elif self._pressed is not None:
            self._woken(self._pressed)

    def _later(self) -> None:
        if self._nudging is not None:
            self._nudging.cancel()
        self._nudging = asyncio.get_running_loop().call_later(_AGAIN, self._nudge)


def _typed(request: _Request) -> str:
    if request.secret:
        from getpass import getpass  # only where something is secret

        return getpass(request.prompt)
    return input(request.prompt)


def _readline() -> ModuleType | None:
    """History and completion, where there are any."""
    try:
        import readline
    except ImportError:
        return None
    readline.set_auto_history(False)  # what is typed into a form may be private
    readline.set_completer_delims("\n")
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    return readline


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno())[0] or 80
    except (OSError, ValueError):
        return 80


def _write(text: str) -> None:
    with suppress(OSError):  # a terminal that is gone ends the next line, and with it the chat
        sys.stdout.write(text)
        sys.stdout.flush()
