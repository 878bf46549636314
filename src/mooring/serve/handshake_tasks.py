"""Calls that a client of the handshake era makes as tasks (2025-11-25), and what it asks about them."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Raw

from mooring.core.conversation.question import Answer, Ask, Question
from mooring.errors import RpcError, ServerError
from mooring.serve.asking import NOBODY, ClientCapabilities, make_client_request, read_answer
from mooring.serve.held import HeldRequest
from mooring.serve.params import CLIENT, Params
from mooring.serve.results import add_meta
from mooring.serve.tasks import ServedTask, ServedTasks, describe_old_task
from mooring.serve.upstream import VisitTerms
from mooring.wire.rpc.message import INVALID_PARAMS
from mooring.wire.rpc.peer import Peer
from mooring.wire.session.answers import return_raw
from mooring.wire.session.client import META

CAPABILITY: Final[Mapping[str, Any]] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
METHODS: Final = ("tasks/get", "tasks/result", "tasks/list", "tasks/cancel")
_RELATED: Final = f"{META}related-task"
_NO_ANSWER: Final = Raw(b"null")


class TaskCaller(HeldRequest):
    """A call that becomes a task: what its client has to be asked is kept until there is a request to ask it with."""

    def __init__(self, capabilities: ClientCapabilities, asker: Ask, visit_terms: VisitTerms | None) -> None:
        """`asker` is that of the client: a question about this call is a question to it."""
        super().__init__(None, capabilities)
        self._asker = asker
        self._visit_terms = visit_terms

    @property
    def asker(self) -> Ask:
        return self._asker

    @property
    def visit_terms(self) -> VisitTerms | None:
        return self._visit_terms

    async def put(self, question: Question) -> Answer:
        request = make_client_request(question, self._capabilities)
        if request is None or not request.can_be_put:
            return NOBODY
        return read_answer(question, await self._require(request.method, request.params, request.key))


class HandshakeTasks:
    """The tasks of one client of this era. No other client has a way to them."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._tasks = ServedTasks(self._on_change)

    def close(self) -> None:
        self._tasks.close()

    async def begin(self, caller: TaskCaller, ttl: float | None) -> dict[str, Any]:
        """Wait until a task is made of a call, and say which. A call that is answered at once is a task that has ended.

        Raises: what the call raises, if it fails before there is a task.
        """
        try:
            while await caller.wait() == "asking":
                await self._ask(caller, {})
        except asyncio.CancelledError:
            caller.drop()
            raise
        if caller.work.done():
            caller.result()
        return {"task": describe_old_task(self._tasks.keep(caller, ttl))}

    async def answer(self, method: str, params: Params) -> Any:
        """Answer a request about tasks. Raises: RpcError."""
        if method == "tasks/list":
            return {"tasks": [describe_old_task(task) for task in self._tasks]}
        task = self._tasks.find(params.task_id)
        match method:
            case "tasks/get":
                return describe_old_task(task)
            case "tasks/result":
                return await self._wait_for_result(task)
            case _:
                return await self._cancel(task)

    async def _wait_for_result(self, task: ServedTask) -> Any:
        """Wait for the end of a task. What its client has to be asked meanwhile is asked on the way of this request."""
        related = {_RELATED: {"taskId": task.id}}
        async with task.turn:
            while await task.held.wait_for_task() == "asking":
                await self._ask(task.held, related)
        return add_meta(task.result(), related)

    async def _cancel(self, task: ServedTask) -> Any:
        if task.held.work.done():
            raise RpcError(CLIENT, INVALID_PARAMS, f"Invalid params: the task has ended already, as {task.status}")
        task.held.drop()
        await asyncio.wait({task.held.work})
        task.update()
        return describe_old_task(task)

    async def _ask(self, held: HeldRequest, related: Mapping[str, Any]) -> None:
        """Ask the client all that a call needs to know."""
        requests = held.asked
        asking = [self._ask_one(held, key, each, related) for key, each in requests.items()]
        await asyncio.gather(*asking)

    async def _ask_one(
        self, held: HeldRequest, key: str, request: Mapping[str, Any], related: Mapping[str, Any]
    ) -> None:
        """Ask one thing, for as long as the call needs to know it."""
        asking = asyncio.ensure_future(self._request(request["method"], request["params"], related))
        needing = asyncio.ensure_future(held.wait_settled(key))
        try:
            await asyncio.wait({asking, needing}, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                held.give({key: asking.result()})
        finally:
            asking.cancel()
            needing.cancel()

    async def _request(self, method: str, params: Mapping[str, Any], related: Mapping[str, Any]) -> Raw:
        if related:
            params = {**params, "_meta": {**params.get("_meta", {}), **related}}
        try:
            return await self._peer.request(method, params, return_raw)
        except ServerError:
            # It refused, or is gone: nobody has said yes.
            return _NO_ANSWER

    def _on_change(self, task: ServedTask) -> None:
        self._peer.notify("notifications/tasks/status", describe_old_task(task))
