"""Requests from the other side: each is answered by a task of its own, a bounded number at once."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeAlias

from msgspec import Raw

from mooring.core.protocol.limits import Limits
from mooring.errors import RpcError
from mooring.wire.rpc.anomalies import Anomalies
from mooring.wire.rpc.dialect import RequestId
from mooring.wire.rpc.message import INTERNAL_ERROR, METHOD_NOT_FOUND, Fault, Frame, Message, Refusal, Response

Responder: TypeAlias = Callable[[Raw], Awaitable[Any]]
"""Answers requests of one method: raw parameters in, the result out; an RpcError refuses."""
FindAnswers: TypeAlias = Callable[[], Mapping[str, Responder]]
"""What answers the other side while it works on one of our requests; what is missing there is answered as always."""

BUSY = -32000

current_request: ContextVar[RequestId | None] = ContextVar("current_request", default=None)
"""The id of the other side's request that the current task answers. A transport with several ways back needs it."""


class Inbound:
    """Answers the other side's requests. `reply` must take a message without waiting."""

    def __init__(
        self,
        answers: Mapping[str, Responder],
        reply: Callable[[Message], None],
        limits: Limits,
        anomalies: Anomalies,
        immediate_results: Mapping[str, Any],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._answers = answers
        self._reply = reply
        self._limit = limits.inbound
        self._anomalies = anomalies
        self._immediate_results = immediate_results
        self.asked: set[str] = set()
        """The methods that were asked for, of those that can be answered."""
        # What still has to be answered, by id; and every task that has not ended, including those that were cancelled
        # and are on their way out.
        self._tasks: dict[RequestId, asyncio.Task[None]] = {}
        self._running: set[asyncio.Task[None]] = set()

    def begin_answer(self, frame: Frame, find_answers: FindAnswers | None) -> None:
        """Begin to answer a request, or refuse it at once; `find_answers` is of the request of ours it belongs to."""
        method = frame.method or ""
        if method in self._immediate_results:
            self._reply(Response(frame.id, self._immediate_results[method]))
            return
        responder = self._answers.get(method)
        if responder is None:
            self._reply(Refusal(frame.id, Fault(METHOD_NOT_FOUND, f"Method not found: {method}")))
        elif len(self._tasks) >= self._limit or frame.id in self._tasks:
            self._anomalies.refused += 1
            self._reply(Refusal(frame.id, Fault(BUSY, "Too many requests at a time, or a duplicate id")))
        else:
            own = find_answers() if find_answers is not None else {}
            self.asked.add(method)
            task = self._loop.create_task(self._answer(frame, own.get(method, responder)))
            self._tasks[frame.id] = task
            self._running.add(task)
            task.add_done_callback(partial(self._finish, frame.id))

    def is_answering(self) -> bool:
        """Whether the other side waits for an answer."""
        return bool(self._tasks)

    def cancel(self, key: RequestId) -> None:
        """Stop a request that the other side took back: no answer is sent."""
        if task := self._tasks.pop(key, None):
            task.cancel()

    def stop(self) -> None:
        """Cancel everything under way, unanswered."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()

    async def wait_stopped(self, seconds: float) -> None:
        """Wait until what was cancelled has ended, but no longer than so many seconds."""
        # An answer may itself close the connection; it must not wait for its own task.
        ending = {task for task in self._running if task is not asyncio.current_task()}
        if ending:
            await asyncio.wait(ending, timeout=seconds)

    async def _answer(self, frame: Frame, responder: Responder) -> None:
        current_request.set(frame.id)
        # A task needs a coroutine; a responder may return any awaitable, or fail before it returns one.
        result = await responder(frame.params)
        # Sent from here, not from `_finish`, which runs a turn of the loop later.
        if self._is_wanted(frame.id, asyncio.current_task()):
            self._reply(Response(frame.id, result))
            del self._tasks[frame.id]

    def _finish(self, key: RequestId, task: asyncio.Task[None]) -> None:
        """Refuse the request of a task that failed; one that did not has answered already."""
        self._running.discard(task)
        # Asking for the exception marks it as retrieved, also where nobody wants the answer any more.
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is not None and self._is_wanted(key, task):
            del self._tasks[key]
            self._reply(Refusal(key, _make_fault(error, task)))

    def _is_wanted(self, key: RequestId, task: asyncio.Task[None] | None) -> bool:
        # By now another request may go by the same id, if this one was taken back.
        return self._tasks.get(key) is task


def _make_fault(error: BaseException, task: asyncio.Task[None]) -> Fault:
    if isinstance(error, RpcError):
        return Fault(error.code, error.message, error.data)
    # The other side is told nothing more: the text of an unforeseen error may hold what it must not know.
    context = {"message": "A server's request could not be answered", "exception": error, "task": task}
    task.get_loop().call_exception_handler(context)
    return Fault(INTERNAL_ERROR, "Internal error")
