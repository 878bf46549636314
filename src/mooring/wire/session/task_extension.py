"""Calls that a server carries out as tasks, as in the tasks extension: polled, given input, and cancelled."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from mooring.core.protocol.limits import Timeout
from mooring.core.protocol.raw import ABSENT, read_as
from mooring.core.protocol.result import TaskState
from mooring.errors import ProtocolError, RpcError, TimedOut
from mooring.wire.rpc.message import read_fault
from mooring.wire.rpc.peer import Ask, Peer
from mooring.wire.session import answers
from mooring.wire.session.client import report_task
from mooring.wire.session.dialect import CANCELLED
from mooring.wire.session.tasks import Polls

T = TypeVar("T")

STATUS: Final = "notifications/tasks"

AddMeta: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Adds what every request must carry to its parameters."""


GatherInput: TypeAlias = Callable[[Any, str, float], Awaitable[dict[str, Any]]]
"""Answers what a server asks of this side, for a method, by a time of the event loop's clock."""


class _InputRequest(Struct):
    method: str
    params: Raw = Raw(b"{}")


class _Task(Struct, rename="camel"):
    task_id: str
    status: str
    poll_interval_ms: float | None = None
    status_message: str | None = None
    input_requests: dict[str, _InputRequest] | None = None
    result: Raw = ABSENT
    error: Raw = ABSENT

    def report(self) -> None:
        """Tell whoever listens."""
        report_task(TaskState(self.status, self.status_message, self.poll_interval_ms))


_task = Decoder(_Task)


class TaskExtension:
    """The tasks under way on one connection."""

    def __init__(self) -> None:
        self._polls = Polls()

    def on_status(self, params: Raw) -> None:
        """The server reports the state of a task: the call that waits for the task polls it immediately."""
        try:
            task = read_as(_task, params)
        except DecodeError:
            return
        self._polls.wake(task.task_id)

    async def finish(
        self,
        peer: Peer,
        request: Ask,
        created: Raw,
        add_meta: AddMeta,
        gather: GatherInput,
        within: Timeout,
        until: float,
    ) -> Raw:
        """Wait for a task that was just created, and return its result; cancel it if the caller gives up.

        Raises: RpcError if it failed or was cancelled, and what a request raises.
        """
        task = _read(peer.server, created)
        task_id = {"taskId": task.task_id}
        answered: set[str] = set()

        async def ask(method: str, params: Mapping[str, Any]) -> Raw:
            return await request(method, add_meta(params), answers.return_raw, within=within, until=until)

        try:
            if _has_ended_early(task):
                task = _read(peer.server, await ask("tasks/get", task_id))
            task.report()
            while task.status in ("working", "input_required"):
                if task.status == "input_required":
                    await self._give_input(task, answered, ask, gather, until)
                await self._polls.pause(task.task_id, task.poll_interval_ms, until)
                task = _read(peer.server, await ask("tasks/get", task_id))
                task.report()
        except (asyncio.CancelledError, TimedOut):
            peer.post("tasks/cancel", add_meta(task_id))
            raise
        return _final_result(peer.server, task)

    async def _give_input(
        self,
        task: _Task,
        answered: set[str],
        ask: Callable[[str, Mapping[str, Any]], Awaitable[Raw]],
        gather: GatherInput,
        until: float,
    ) -> None:
        """Answer what the task asks for, each question once."""
        # A poll may still show a question that was just answered; nobody is to be asked twice.
        requests = task.input_requests or {}
        new = {key: request for key, request in requests.items() if key not in answered}
        if not new:
            return
        responses = await gather(new, "tools/call", until)
        await ask("tasks/update", {"taskId": task.task_id, "inputResponses": responses})
        answered.update(new)


def _has_ended_early(task: _Task) -> bool:
    """Whether a task had ended when it was created. What came of it is not said then, only when it is asked for."""
    is_open = task.status in ("working", "input_required")
    return not is_open and task.result is ABSENT and task.error is ABSENT


def _final_result(server: str, task: _Task) -> Raw:
    match task.status:
        case "completed" if task.result is not ABSENT:
            return task.result
        case "failed" if task.error is not ABSENT:
            error = read_fault(task.error)
            raise RpcError(server, error.code, error.message, error.data)
        case "cancelled":
            raise RpcError(server, CANCELLED, task.status_message or "The task was cancelled")
        case _:
            raise ProtocolError(server, f"its task ended as {task.status[:50]!r}, without a result")


def _read(server: str, raw: Raw) -> _Task:
    try:
        return read_as(_task, raw)
    except DecodeError as error:
        raise ProtocolError(server, f"its description of a task is invalid: {error}") from error
