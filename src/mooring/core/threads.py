"""Work in a thread of its own, for which nothing waits that doesn't want its result.

The threads of `asyncio.to_thread` are joined at the end of a program. What may wait for a person or for a network runs
here instead, so that Ctrl+C ends the program at once.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


async def run_in_thread(work: Callable[[], T]) -> T:
    """What the work returns or raises, without holding up the event loop. It goes on if the caller is canceled."""
    return await asyncio.wrap_future(_start(work))


def run_bounded(work: Callable[[], T], seconds: float) -> T:
    """What the work returns or raises, if that takes no longer than `seconds`.

    Raises:
        TimeoutError: it takes longer; it is left to itself.
    """
    return _start(work).result(seconds)


def _start(work: Callable[[], T]) -> Future[T]:
    outcome: Future[T] = Future()
    # From here on it can't be canceled: nobody could stop the thread.
    outcome.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - it is raised again where the result is wanted
            outcome.set_exception(error)
        else:
            outcome.set_result(result)

    Thread(target=run, name="mooring-thread", daemon=True).start()
    return outcome
