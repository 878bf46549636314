"""Calls that a server carries out as tasks (2025-11-25): polled as often as it asks, cancelled with the caller."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder, encode

from mooring.core.raw import ABSENT, read_as
from mooring.errors import ProtocolError, TimedOut
from mooring.wire.rpc.peer import Peer

Ask: TypeAlias = Callable[[str, dict[str, Any], float | None], Awaitable[Raw]]
"""Asks a method with parameters, waiting at most so long for a sign of life."""

STATUS = "notifications/tasks/status"
_POLL = 1.0
_POLL_FLOOR = 0.05


class Task(Struct, rename="camel"):
    """How a task stands."""

    task_id: str
    status: str
    poll_interval: float | None = None
    status_message: str | None = None

    @property
    def pause(self) -> float:
        """How many seconds to leave the server alone."""
        return _POLL if self.poll_interval is None else max(_POLL_FLOOR, self.poll_interval / 1000)


class _Created(Struct):
    task: Task | None = None


class _Told(Struct, rename="camel"):
    content: Raw = ABSENT
    structured_content: Raw = ABSENT


_created = Decoder(_Created)
_told = Decoder(_Told)
_task = Decoder(Task)


class Tasks:
    """The tasks under way on one connection."""

    def __init__(self) -> None:
        self._sleepers: dict[str, list[asyncio.Future[None]]] = {}

    def told(self, params: Raw) -> None:
        """A server says how a task stands: whoever waits for it looks at once."""
        try:
            task = read_as(_task, params)
        except DecodeError:
            return
        for sleeper in self._sleepers.get(task.task_id, ()):
            _wake(sleeper)

    async def finish(self, peer: Peer, created: Raw, ask: Ask, idle: float | None, until: float) -> Raw:
        """Wait for a task that was just made, and fetch its result; whoever gives up, cancels it.

        Raises: what `ask` raises.
        """
        task = _read(peer.server, _created, created).task
        if task is None:
            return created  # it answered at once, though it was asked for a task
        named = {"taskId": task.task_id}
        try:
            while task.status == "working":
                await self._pause(task, until)
                task = _read(peer.server, _task, await ask("tasks/get", named, idle))
            # A task that waits for a person's input answers when it has it: only the whole deadline counts.
            result = await ask("tasks/result", named, None)
            if task.status == "failed" and _is_empty(peer.server, result):
                return _failure(task)
            return result
        except (asyncio.CancelledError, TimedOut):
            peer.post("tasks/cancel", named)
            raise

    async def _pause(self, task: Task, until: float) -> None:
        loop = asyncio.get_running_loop()
        sleeper: asyncio.Future[None] = loop.create_future()
        # A server may give two calls the same id; each waits for itself.
        asleep = self._sleepers.setdefault(task.task_id, [])
        asleep.append(sleeper)
        timer = loop.call_at(min(until, loop.time() + task.pause), _wake, sleeper)
        try:
            await sleeper
        finally:
            timer.cancel()
            asleep.remove(sleeper)
            if not asleep and self._sleepers.get(task.task_id) is asleep:
                del self._sleepers[task.task_id]


def _wake(sleeper: "asyncio.Future[None]") -> None:
    if not sleeper.done():
        sleeper.set_result(None)


def _is_empty(server: str, result: Raw) -> bool:
    told = _read(server, _told, result)
    return not (told.content or told.structured_content)


def _failure(task: Task) -> Raw:
    """What a tool would have said: some servers know of a failure only in the status of its task."""
    words = task.status_message or "the task failed, and does not say why"
    return Raw(encode({"content": [{"type": "text", "text": words}], "isError": True}))


def _read(server: str, decoder: Decoder[Any], raw: Raw) -> Any:
    try:
        return read_as(decoder, raw)
    except DecodeError as error:
        raise ProtocolError(server, f"what it says of a task makes no sense: {error}") from error
