"""Requests from a server: each answered by a task of its own, a bounded number at once."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from msgspec import Raw

from mooring.core.limits import Limits
from mooring.errors import RpcError
from mooring.wire.rpc.message import INTERNAL_ERROR, METHOD_NOT_FOUND, Fault, Frame, Message, Refusal, Response
from mooring.wire.rpc.oddities import Oddities

Answer: TypeAlias = Callable[[Raw], Awaitable[Any]]

BUSY = -32000


class Inbound:
    """Answers a server's requests. `reply` must take a message without waiting."""

    def __init__(
        self,
        answers: Mapping[str, Answer],
        reply: Callable[[Message], None],
        limits: Limits,
        oddities: Oddities,
    ) -> None:
        self._answers = answers
        self._reply = reply
        self._limit = limits.inbound
        self._oddities = oddities
        self._tasks: dict[int | str | float, asyncio.Task[Any]] = {}
        self._running: set[asyncio.Task[Any]] = set()

    def take(self, frame: Frame) -> None:
        method = frame.method or ""
        if method == "ping":
            self._reply(Response(frame.id, {}))
        elif (answer := self._answers.get(method)) is None:
            self._reply(Refusal(frame.id, Fault(METHOD_NOT_FOUND, f"Method not found: {method}")))
        elif len(self._tasks) >= self._limit or frame.id in self._tasks:
            self._oddities.refused += 1
            self._reply(Refusal(frame.id, Fault(BUSY, "Too many requests at once, or an id twice")))
        else:
            self._begin(frame, answer)

    def cancel(self, key: int | str | float) -> None:
        """The server has lost interest: no answer is sent."""
        if task := self._tasks.pop(key, None):
            task.cancel()

    def stop(self) -> None:
        """Cancel everything under way; nothing of it is answered."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()

    async def stopped(self, seconds: float) -> None:
        """Wait until what was cancelled has ended, but no longer than so many seconds."""
        ending = {task for task in self._running if task is not asyncio.current_task()}
        if ending:
            await asyncio.wait(ending, timeout=seconds)

    def _begin(self, frame: Frame, answer: Answer) -> None:
        task = asyncio.ensure_future(_run(answer, frame.params))
        self._tasks[frame.id] = task
        self._running.add(task)
        task.add_done_callback(partial(self._finish, frame.id))

    def _finish(self, key: int | str | float, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        wanted = self._tasks.get(key) is task
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if wanted:
            del self._tasks[key]
            self._reply(Refusal(key, _fault(error, task)) if error else Response(key, task.result()))


async def _run(answer: Answer, params: Raw) -> Any:
    return await answer(params)


def _fault(error: BaseException, task: asyncio.Task[Any]) -> Fault:
    if isinstance(error, RpcError):
        return Fault(error.code, error.message, error.data)
    # The server is not told: the words of an unforeseen error may hold what it must not know.
    context = {"message": "A server's request could not be answered", "exception": error, "task": task}
    task.get_loop().call_exception_handler(context)
    return Fault(INTERNAL_ERROR, "Internal error")
