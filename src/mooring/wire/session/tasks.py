"""Calls that a server carries out as tasks, as in revision 2025-11-25 and as in the tasks extension."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import DecodeError, Raw, Struct, field
from msgspec.json import Decoder, encode

from mooring.core.protocol.limits import Timeout
from mooring.core.protocol.raw import ABSENT, read_as
from mooring.core.protocol.result import TaskState
from mooring.errors import ProtocolError, RpcError, TimedOut
from mooring.wire.rpc.message import read_fault
from mooring.wire.rpc.peer import Ask, Peer
from mooring.wire.session import answers
from mooring.wire.session.client import report_task
from mooring.wire.session.dialect import CANCELLED, McpDialect

T = TypeVar("T")

TaskAsk: TypeAlias = Callable[[str, dict[str, Any], float | None], Awaitable[Raw]]
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


class PolledTasks:
    """The tasks under way on one connection, each asked for its state again and again."""

    def __init__(self) -> None:
        self._sleepers: dict[str, list[asyncio.Future[None]]] = {}

    def on_status(self, params: Raw) -> None:
        """The server reports the state of a task: the call that waits for the task polls it immediately."""
        try:
            task = read_as(_task, params)
        except DecodeError:
            return
        for sleeper in self._sleepers.get(task.task_id, ()):
            _wake(sleeper)

    async def pause(self, task: Task, until: float) -> None:
        """Wait as long as the server asks, until `until` at the latest, or until it reports the state of the task."""
        loop = asyncio.get_running_loop()
        sleeper: asyncio.Future[None] = loop.create_future()
        # A server may give two calls the same id, so each has a future of its own.
        same_id = self._sleepers.setdefault(task.task_id, [])
        same_id.append(sleeper)
        seconds = _POLL if task.poll_interval is None else max(_POLL_FLOOR, task.poll_interval / 1000)
        timer = loop.call_at(min(until, loop.time() + seconds), _wake, sleeper)
        try:
            await sleeper
        finally:
            timer.cancel()
            same_id.remove(sleeper)
            # By then another call may have started a new list under the same id.
            if not same_id and self._sleepers.get(task.task_id) is same_id:
                del self._sleepers[task.task_id]


class Tasks(PolledTasks):
    """Tasks as in revision 2025-11-25."""

    def __init__(self, dialect: McpDialect) -> None:
        super().__init__()
        self.follow_progress = dialect.follow_progress

    async def finish(self, peer: Peer, created: Raw, ask: TaskAsk, idle: float | None, until: float) -> Raw:
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
                await self.pause(task, until)
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


def _read(server: str, decoder: Decoder[T], raw: Raw) -> T:
    try:
        return read_as(decoder, raw)
    except DecodeError as error:
        raise ProtocolError(server, f"its description of a task is invalid: {error}") from error


EXTENSION_STATUS: Final = "notifications/tasks"

AddMeta: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Adds what every request must carry to its parameters."""


GatherInput: TypeAlias = Callable[[Any, str, float], Awaitable[dict[str, Any]]]
"""Answers what a server asks of this side, for a method, by a time of the event loop's clock."""


class InputRequest(Struct):
    """Something that a server asks of this side."""

    method: str
    params: Raw = Raw(b"{}")


class _ExtensionTask(Task, rename="camel"):
    poll_interval: float | None = field(default=None, name="pollIntervalMs")
    input_requests: dict[str, InputRequest] | None = None
    result: Raw = ABSENT
    error: Raw = ABSENT


_extension_task = Decoder(_ExtensionTask)


class TaskExtension(PolledTasks):
    """Tasks as in the extension of the stateless era."""

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
        task = _read(peer.server, _extension_task, created)
        task_id = {"taskId": task.task_id}
        answered: set[str] = set()

        async def ask(method: str, params: Mapping[str, Any]) -> Raw:
            return await request(method, add_meta(params), answers.return_raw, within=within, until=until)

        try:
            if _has_ended_early(task):
                task = _read(peer.server, _extension_task, await ask("tasks/get", task_id))
            task.report()
            while task.status in ("working", "input_required"):
                if task.status == "input_required":
                    await self._give_input(task, answered, ask, gather, until)
                await self.pause(task, until)
                task = _read(peer.server, _extension_task, await ask("tasks/get", task_id))
                task.report()
        except (asyncio.CancelledError, TimedOut):
            peer.post("tasks/cancel", add_meta(task_id))
            raise
        return _final_result(peer.server, task)

    async def _give_input(
        self,
        task: _ExtensionTask,
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


def _has_ended_early(task: _ExtensionTask) -> bool:
    """Whether a task had ended when it was created. What came of it is not said then, only when it is asked for."""
    is_open = task.status in ("working", "input_required")
    return not is_open and task.result is ABSENT and task.error is ABSENT


def _final_result(server: str, task: _ExtensionTask) -> Raw:
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
