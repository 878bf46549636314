"""Calls that a server carries out as tasks, as in revision 2025-11-25: polled, and cancelled with the caller."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder, encode

from mooring.core.protocol.raw import ABSENT, read_as
from mooring.core.protocol.result import TaskState
from mooring.errors import ProtocolError, TimedOut
from mooring.wire.rpc.peer import Peer
from mooring.wire.session.client import report_task
from mooring.wire.session.dialect import McpDialect

Ask: TypeAlias = Callable[[str, dict[str, Any], float | None], Awaitable[Raw]]
"""Requests a method with parameters; the last argument is how many seconds of silence are allowed."""

STATUS = "notifications/tasks/status"
_POLL = 1.0
"""How many seconds to wait between two polls if the server names no interval."""
_POLL_FLOOR = 0.05
"""A server that asks to be polled more often than this is not."""


class Task(Struct, rename="camel"):
    """The state of a task."""

    task_id: str
    status: str
    poll_interval: float | None = None
    status_message: str | None = None

    def report(self) -> None:
        """Tell whoever listens."""
        report_task(TaskState(self.status, self.status_message, self.poll_interval))


class _Created(Struct):
    task: Task | None = None


class _Content(Struct, rename="camel"):
    content: Raw = ABSENT
    structured_content: Raw = ABSENT


_created = Decoder(_Created)
_content = Decoder(_Content)
_task = Decoder(Task)


class Tasks:
    """The tasks under way on one connection."""

    def __init__(self, dialect: McpDialect) -> None:
        self.follow_progress = dialect.follow_progress
        self._polls = Polls()

    def on_status(self, params: Raw) -> None:
        """The server reports the state of a task: the call that waits for the task polls it immediately."""
        try:
            task = read_as(_task, params)
        except DecodeError:
            return
        self._polls.wake(task.task_id)

    async def finish(self, peer: Peer, created: Raw, ask: Ask, idle: float | None, until: float) -> Raw:
        """Wait for a task that was just created, and fetch its result; cancel it if the caller gives up.

        Raises: what `ask` raises.
        """
        task = _read(peer.server, _created, created).task
        if task is None:
            return created  # it answered with the result itself, though it was asked for a task
        task_id = {"taskId": task.task_id}
        try:
            task.report()
            while task.status == "working":
                await self._polls.pause(task.task_id, task.poll_interval, until)
                task = _read(peer.server, _task, await ask("tasks/get", task_id, idle))
                task.report()
            # A task that needs a person's input answers once it has it: silence is allowed up to the whole deadline.
            result = await ask("tasks/result", task_id, None)
            if task.status == "failed" and _is_empty(peer.server, result):
                return _failed_result(task)
            return result
        except (asyncio.CancelledError, TimedOut):
            peer.post("tasks/cancel", task_id)
            raise


class Polls:
    """The waits between two polls of the tasks of one connection."""

    def __init__(self) -> None:
        self._sleepers: dict[str, list[asyncio.Future[None]]] = {}

    async def pause(self, task_id: str, interval_ms: float | None, until: float) -> None:
        """Wait as long as the server asks, until `until` at the latest, or until `wake`."""
        loop = asyncio.get_running_loop()
        sleeper: asyncio.Future[None] = loop.create_future()
        # A server may give two calls the same id, so each has a future of its own.
        same_id = self._sleepers.setdefault(task_id, [])
        same_id.append(sleeper)
        timer = loop.call_at(min(until, loop.time() + _seconds(interval_ms)), _wake, sleeper)
        try:
            await sleeper
        finally:
            timer.cancel()
            same_id.remove(sleeper)
            # By then another call may have started a new list under the same id.
            if not same_id and self._sleepers.get(task_id) is same_id:
                del self._sleepers[task_id]

    def wake(self, task_id: str) -> None:
        """End the waits for this task."""
        for sleeper in self._sleepers.get(task_id, ()):
            _wake(sleeper)


def _seconds(interval_ms: float | None) -> float:
    if interval_ms is None:
        return _POLL
    return max(_POLL_FLOOR, interval_ms / 1000)


def _wake(sleeper: "asyncio.Future[None]") -> None:
    if not sleeper.done():
        sleeper.set_result(None)


def _is_empty(server: str, result: Raw) -> bool:
    content = _read(server, _content, result)
    return not (content.content or content.structured_content)


def _failed_result(task: Task) -> Raw:
    """The result of a tool that failed, made from the status of its task.

    Tasks of the Python SDK's experiment can fail without a result; it was once taken for an empty success.
    """
    text = task.status_message or "the task failed and did not say why"
    return Raw(encode({"content": [{"type": "text", "text": text}], "isError": True}))


def _read(server: str, decoder: Decoder[Any], raw: Raw) -> Any:
    try:
        return read_as(decoder, raw)
    except DecodeError as error:
        raise ProtocolError(server, f"its description of a task is invalid: {error}") from error
