"""Calls that go on after their requests were answered: tasks, as the clients of either era see them.

Whatever the server makes of the call, the task of the client is one of ours. So its id means nothing to any other
client, and a client of one era can have a task of a server of the other.
"""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from secrets import token_urlsafe
from typing import Any, Final, Literal, TypeAlias

from mooring.errors import RpcError
from mooring.serve.held import HeldRequest, ignore_progress
from mooring.serve.methods import CLIENT, complete_result, is_failure
from mooring.wire.rpc.inbound import BUSY
from mooring.wire.rpc.message import INTERNAL_ERROR, INVALID_PARAMS, Fault
from mooring.wire.session.dialect import CANCELLED

TaskStatus: TypeAlias = Literal["working", "input_required", "completed", "failed", "cancelled"]

KEEP: Final = 3600.0
"""For how many seconds a task is kept from its creation, if its client names no time."""
LONGEST_KEEP: Final = 24 * 3600.0
MOST_TASKS: Final = 1000
"""How many tasks are kept at a time; for one more, the oldest that has ended is dropped."""
_POLL: Final = 1000.0
"""How many milliseconds a client should wait between two questions, if the server does not say."""


class ServedTask:
    """One task of a client, and the work behind it."""

    def __init__(self, held: HeldRequest, seconds: float) -> None:
        # Not to be guessed: clients of the stateless era have nothing else by which they could be told apart.
        self.id = token_urlsafe(24)
        self.held = held
        self.seconds = seconds
        """For how long it is kept."""
        self.created_at = self.updated_at = datetime.now(UTC)
        self.turn = asyncio.Lock()
        """Taken by the request that asks the client what the work needs, one at a time."""
        self._shown: tuple[TaskStatus, str | None] = (self.status, self.message)

    @property
    def status(self) -> TaskStatus:
        work = self.held.work
        if not work.done():
            return "input_required" if self.held.asked else "working"
        if work.cancelled():
            return "cancelled"
        return "completed" if work.exception() is None else "failed"

    @property
    def message(self) -> str | None:
        """What the server says about it."""
        return None if self.held.task is None else self.held.task.message

    @property
    def poll_interval(self) -> float:
        state = self.held.task
        return _POLL if state is None or state.poll_interval is None else state.poll_interval

    def update(self) -> bool:
        """Take note of what changed; whether anything did that its client can see."""
        shown = (self.status, self.message)
        has_changed, self._shown = shown != self._shown, shown
        if has_changed:
            self.updated_at = datetime.now(UTC)
        return has_changed

    def result(self) -> Any:
        """The answer to the call. Raises: RpcError, also if the task was cancelled."""
        if self.held.work.cancelled():
            raise RpcError(CLIENT, CANCELLED, "The task was cancelled")
        return self.held.result()


class ServedTasks:
    """The tasks of one client; of the stateless era, those of all. Each is known by its id alone."""

    def __init__(self, on_change: Callable[[ServedTask], None]) -> None:
        self._on_change = on_change
        self._tasks: dict[str, ServedTask] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def keep(self, held: HeldRequest, ttl: float | None = None) -> ServedTask:
        """Make a task of a request; `ttl` is how many milliseconds the client wants it to be kept.

        Raises: RpcError if there are too many that have not ended.
        """
        if len(self._tasks) >= MOST_TASKS:
            self._drop_oldest(held)
        seconds = KEEP if ttl is None else min(max(ttl, 0.0) / 1000, LONGEST_KEEP)
        task = ServedTask(held, seconds)
        # Its request has been answered, and progress belongs to requests.
        held.report = ignore_progress
        self._tasks[task.id] = task
        self._timers[task.id] = asyncio.get_running_loop().call_later(seconds, self._drop, task.id)
        held.on_change = lambda: self._update(task)
        held.work.add_done_callback(lambda _: self._update(task))
        return task

    def has(self, id: str) -> bool:
        return id in self._tasks

    def find(self, id: str) -> ServedTask:
        """The task of that id. Raises: RpcError."""
        found = self._tasks.get(id)
        if found is None:
            raise RpcError(CLIENT, INVALID_PARAMS, "Invalid params: there is no such task, or it has expired")
        return found

    def __iter__(self) -> Iterator[ServedTask]:
        return iter(tuple(self._tasks.values()))

    def close(self) -> None:
        for id in tuple(self._tasks):
            self._drop(id)

    def _update(self, task: ServedTask) -> None:
        if task.id in self._tasks and task.update():
            self._on_change(task)

    def _drop_oldest(self, held: HeldRequest) -> None:
        for task in self:
            if task.held.work.done():
                self._drop(task.id)
                return
        held.drop()
        raise RpcError(CLIENT, BUSY, f"There are {MOST_TASKS} tasks under way; wait for one to end")

    def _drop(self, id: str) -> None:
        self._timers.pop(id).cancel()
        self._tasks.pop(id).held.drop()


def describe_task(task: ServedTask) -> dict[str, Any]:
    """A task as the stateless era has it."""
    return {**_describe(task), "ttlMs": round(task.seconds * 1000), "pollIntervalMs": round(task.poll_interval)}


def describe_task_in_detail(task: ServedTask) -> dict[str, Any]:
    """The same with what it asks for, or what came of it."""
    found = describe_task(task)
    match task.status:
        case "input_required":
            found["inputRequests"] = task.held.asked
        case "completed":
            found["result"] = complete_result("tools/call", task.result())
        case "failed":
            found["error"] = _describe_error(task.held.work.exception())
        case "working" | "cancelled":
            pass
    return found


def describe_old_task(task: ServedTask) -> dict[str, Any]:
    """A task as the handshake era has it, where a tool that says that it failed is a task that failed."""
    found = {**_describe(task), "ttl": round(task.seconds * 1000), "pollInterval": round(task.poll_interval)}
    if task.status == "completed" and is_failure(task.result()):
        found["status"] = "failed"
    return found


def _describe(task: ServedTask) -> dict[str, Any]:
    found: dict[str, Any] = {
        "taskId": task.id,
        "status": task.status,
        "createdAt": task.created_at.isoformat(timespec="milliseconds"),
        "lastUpdatedAt": task.updated_at.isoformat(timespec="milliseconds"),
    }
    if task.message:
        found["statusMessage"] = task.message
    return found


def _describe_error(error: BaseException | None) -> Fault:
    if isinstance(error, RpcError):
        return Fault(error.code, error.message, error.data)
    # The client is told nothing more: the text of an unforeseen error may hold what it must not know.
    return Fault(INTERNAL_ERROR, "Internal error")
