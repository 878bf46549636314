"""A client of the handshake era: known from `initialize` on, asked by requests of ours; its calls may be tasks."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Raw

from mooring.core.conversation.question import Answer, Ask, Question
from mooring.core.protocol.era import EraName
from mooring.core.protocol.raw import read
from mooring.core.protocol.result import LOG_LEVELS
from mooring.errors import RpcError, ServerError, UnknownTool
from mooring.serve.asking import NOBODY, ClientCapabilities, make_client_request, read_answer, read_capabilities
from mooring.serve.caller import CallerQuestions, ServeOptions, current_caller, make_log_listener, make_report
from mooring.serve.held import HeldRequest
from mooring.serve.methods import (
    CAPABILITIES,
    CLIENT,
    METHODS,
    Method,
    Params,
    Report,
    TaskTerms,
    add_meta,
    answer_method,
    list_tools,
)
from mooring.serve.tasks import ServedTask, ServedTasks, describe_old_task
from mooring.serve.upstream import ListRoots, RequestTerms, Upstream, VisitTerms
from mooring.wire.rpc.message import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from mooring.wire.rpc.peer import Peer
from mooring.wire.session.answers import return_raw
from mooring.wire.session.client import META, ListName
from mooring.wire.session.handshake import VERSIONS

TASK_CAPABILITY: Final[Mapping[str, Any]] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
TASK_METHODS: Final = ("tasks/get", "tasks/result", "tasks/list", "tasks/cancel")
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


INITIALIZED: Final = "notifications/initialized"
OWN_METHODS: Final = ("initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", *TASK_METHODS)
"""The methods that this era has beside those of both."""
_HAS_TASKS: Final = ("2025-11-25",)
"""The revisions of this era that have tasks."""


class HandshakeClient(CallerQuestions):
    """One client of this era. It is both what an upstream calls and what is asked about each of its requests."""

    era: EraName = "handshake"

    def __init__(self, options: ServeOptions) -> None:
        super().__init__(options)
        self._capabilities = ClientCapabilities()
        """What the client declared: nothing before `initialize`."""
        self._is_initialized = False
        self._knows_tasks = False
        self._peer: Peer
        self._tasks: HandshakeTasks
        self._own_methods: Mapping[str, Method] = {
            "logging/setLevel": self._set_level,
            "resources/subscribe": _subscribe,
            "resources/unsubscribe": _unsubscribe,
            "tools/list": self._list_tools,
        }

    def attach(self, peer: Peer) -> None:
        """Take the way to the client, before its first request."""
        self._peer = peer
        self._tasks = HandshakeTasks(peer)

    def on_initialized(self, _: Raw) -> None:
        self._is_initialized = True

    async def close(self) -> None:
        self._tasks.close()
        upstream, self._upstream = self._upstream, None
        if upstream is not None:
            upstream.unfollow_logs(self.asker)
            await upstream.close()

    # --- requests -------------------------------------------------------------------------------------------------

    async def answer(self, method: str, params: Params) -> Any:
        """Answer one request: in this era, each begins and ends here. Raises: RpcError."""
        if method == "initialize":
            return await self._initialize(params)
        if self._upstream is None:
            raise RpcError(CLIENT, INVALID_REQUEST, "This connection is not initialized; send initialize first")
        if method in TASK_METHODS:
            return await self._tasks.answer(method, params)
        found = self._own_methods.get(method) or METHODS.get(method)
        if found is None:
            raise RpcError(CLIENT, METHOD_NOT_FOUND, f"Method not found: {method}")
        if method == "tools/call" and params.task is not None and self._knows_tasks:
            return await self._call_as_task(self._upstream, params, params.task)
        current_caller.set(self)
        report = make_report(params, self._peer.notify)
        return await answer_method(found, self._upstream, params, RequestTerms(params.passed_meta), report)

    async def _initialize(self, params: Params) -> Any:
        self._capabilities = read_capabilities(params.capabilities)
        if self._upstream is None:
            self._upstream = self._options.open_upstream(self)
            # The level is the servers' own until the client names one.
            await self._upstream.follow_logs(self.asker, "", make_log_listener(self._peer.notify))
        is_known = params.protocol_version in VERSIONS
        version = params.protocol_version if is_known else VERSIONS[0]
        self._knows_tasks = version in _HAS_TASKS
        program = self._options.program
        answer: dict[str, Any] = {
            "protocolVersion": version,
            "capabilities": {**CAPABILITIES, "tasks": TASK_CAPABILITY} if self._knows_tasks else CAPABILITIES,
            "serverInfo": {"name": program.name, "version": program.version},
        }
        if instructions := await self._upstream.find_instructions():
            answer["instructions"] = instructions
        return answer

    async def _list_tools(self, upstream: Upstream, params: Params, terms: RequestTerms, report: Report) -> Any:
        return await list_tools(upstream, params, terms, report, with_tasks=self._knows_tasks)

    async def _call_as_task(self, upstream: Upstream, params: Params, task: TaskTerms) -> Any:
        try:
            can_be_task = await upstream.runs_tasks(params.name)
        except UnknownTool as error:
            raise RpcError(CLIENT, INVALID_PARAMS, f"Unknown tool: {params.name}") from error
        if not can_be_task:
            raise RpcError(CLIENT, METHOD_NOT_FOUND, f"{params.name} cannot be called as a task")
        caller = TaskCaller(self._capabilities, self.asker, self.visit_terms)
        terms = RequestTerms(params.passed_meta, on_task=caller.update_task)
        report = make_report(params, self._peer.notify)
        caller.begin(answer_method(METHODS["tools/call"], upstream, params, terms, report))
        return await self._tasks.begin(caller, task.ttl)

    async def _set_level(self, upstream: Upstream, params: Params, terms: RequestTerms, report: Report) -> Any:
        if params.level not in LOG_LEVELS:
            raise RpcError(CLIENT, INVALID_PARAMS, f"Invalid params: level is one of {', '.join(LOG_LEVELS)}")
        await upstream.follow_logs(self.asker, params.level, make_log_listener(self._peer.notify))
        return {}

    # --- questions (Caller) ---------------------------------------------------------------------------------------

    @property
    def asker(self) -> Ask:
        return self.put

    @property
    def list_roots(self) -> ListRoots | None:
        return self._list_roots if self._capabilities.roots else None

    @property
    def visit_terms(self) -> VisitTerms | None:
        return VisitTerms(self._options.visit_patience) if self._capabilities.visits else None

    async def put(self, question: Question) -> Answer:
        caller = current_caller.get()
        if isinstance(caller, TaskCaller):
            # The request that it was called with has been answered: there has to be another one to ask with.
            return await caller.put(question)
        request = make_client_request(question, self._capabilities)
        if request is None or not request.can_be_put:
            return NOBODY
        try:
            raw = await self._peer.request(request.method, request.params, return_raw)
        except ServerError:
            # It refused, or is gone: nobody has said yes.
            return NOBODY
        return read_answer(question, raw)

    async def _list_roots(self) -> list[Any]:
        found = read(await self._peer.request("roots/list", {}, return_raw))
        roots = found.get("roots") if isinstance(found, dict) else None
        return roots if isinstance(roots, list) else []

    # --- what no request asked for (ClientSide) -------------------------------------------------------------------

    def on_visited(self, id: str) -> None:
        self._peer.notify("notifications/elicitation/complete", {"elicitationId": id})

    def on_list_changed(self, kind: ListName) -> None:
        # Before that, the client has not listed anything yet.
        if self._is_initialized:
            self._peer.notify(f"notifications/{kind}/list_changed")

    def on_updated(self, uri: str) -> None:
        self._peer.notify("notifications/resources/updated", {"uri": uri})


async def _subscribe(upstream: Upstream, params: Params, terms: RequestTerms, report: Report) -> Any:
    await upstream.subscribe(params.uri)
    return {}


async def _unsubscribe(upstream: Upstream, params: Params, terms: RequestTerms, report: Report) -> Any:
    await upstream.unsubscribe(params.uri)
    return {}
