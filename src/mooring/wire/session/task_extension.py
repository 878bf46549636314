"""Calls that a server carries out as tasks (the tasks extension): polled, fed with what they ask for, cancelled."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from mooring.core.limits import Timeout
from mooring.core.raw import ABSENT, read_as
from mooring.errors import ProtocolError, RpcError, TimedOut
from mooring.wire.rpc.message import CANCELLED, fault
from mooring.wire.rpc.peer import Peer
from mooring.wire.session import answers

T = TypeVar("T")

EXTENSION: Final = "io.modelcontextprotocol/tasks"
STATUS: Final = "notifications/tasks"
_POLL: Final = 1.0
_POLL_FLOOR: Final = 0.05

Stamp: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]


class ServerRequest(Protocol):
    """Something that a server asks this side for."""

    method: str
    params: Raw


class GatherInput(Protocol):
    """Gathers what a server asks for, by a moment of the loop's clock."""

    def __call__(self, requests: Any, method: str, until: float) -> Awaitable[dict[str, Any]]: ...


class _Asked(Struct):
    method: str
    params: Raw = Raw(b"{}")


class _Task(Struct, rename="camel"):
    task_id: str
    status: str
    poll_interval_ms: float | None = None
    status_message: str | None = None
    input_requests: dict[str, _Asked] | None = None
    result: Raw = ABSENT
    error: Raw = ABSENT

    @property
    def pause(self) -> float:
        """How many seconds to leave the server alone."""
        return _POLL if self.poll_interval_ms is None else max(_POLL_FLOOR, self.poll_interval_ms / 1000)


_task = Decoder(_Task)


class TaskExtension:
    """The tasks under way on one connection."""

    def __init__(self) -> None:
        self._sleepers: dict[str, asyncio.Future[None]] = {}

    def told(self, params: Raw) -> None:
        """A server says how a task stands: whoever waits for it looks at once."""
        try:
            sleeper = self._sleepers.get(read_as(_task, params).task_id)
        except DecodeError:
            return
        _wake(sleeper)

    async def finish(
        self, peer: Peer, created: Raw, stamp: Stamp, gather: GatherInput, within: Timeout, until: float
    ) -> Raw:
        """Wait for a task that was just made, and return its result; whoever gives up, cancels it.

        Raises: RpcError where it failed or was cancelled, and what a request raises.
        """
        task = _read(peer.server, created)
        named = {"taskId": task.task_id}
        given: set[str] = set()

        async def ask(method: str, params: Mapping[str, Any]) -> Raw:
            return await peer.request(method, stamp(params), answers.unread, within=within, until=until)

        try:
            while task.status in ("working", "input_required"):
                if task.status == "input_required":
                    await self._feed(task, given, ask, gather, until)
                await self._pause(task, until)
                task = _read(peer.server, await ask("tasks/get", named))
        except (asyncio.CancelledError, TimedOut):
            peer.post("tasks/cancel", stamp(named))
            raise
        return _outcome(peer.server, task)

    async def _feed(
        self,
        task: _Task,
        given: set[str],
        ask: Callable[[str, Mapping[str, Any]], Awaitable[Raw]],
        gather: GatherInput,
        until: float,
    ) -> None:
        """Answer what the task asks for, each question once."""
        new = {key: asked for key, asked in (task.input_requests or {}).items() if key not in given}
        if new:
            responses = await gather(new, "tools/call", until)
            await ask("tasks/update", {"taskId": task.task_id, "inputResponses": responses})
            given.update(new)

    async def _pause(self, task: _Task, until: float) -> None:
        loop = asyncio.get_running_loop()
        sleeper = self._sleepers[task.task_id] = loop.create_future()
        timer = loop.call_at(min(until, loop.time() + task.pause), _wake, sleeper)
        try:
            await sleeper
        finally:
            timer.cancel()
            del self._sleepers[task.task_id]


def _outcome(server: str, task: _Task) -> Raw:
    match task.status:
        case "completed" if task.result is not ABSENT:
            return task.result
        case "failed" if task.error is not ABSENT:
            told = fault(task.error)
            raise RpcError(server, told.code, told.message, told.data)
        case "cancelled":
            raise RpcError(server, CANCELLED, task.status_message or "The task was cancelled")
        case _:
            raise ProtocolError(server, f"its task ended as {task.status[:50]!r}, with nothing to show for it")


def _wake(sleeper: "asyncio.Future[None] | None") -> None:
    if sleeper is not None and not sleeper.done():
        sleeper.set_result(None)


def _read(server: str, raw: Raw) -> _Task:
    try:
        return read_as(_task, raw)
    except DecodeError as error:
        raise ProtocolError(server, f"what it says of a task makes no sense: {error}") from error
