"""Clients of the stateless era (2026-07-28): each request says who makes it, and is answered by itself.

A client of this era cannot be asked in the middle of a request. What it has to be asked is the answer to its request,
which it then makes again with what was asked for. Until then the work is held.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from contextvars import copy_context
from typing import Any, Final

from msgspec import Struct

from mooring.core.protocol.era import EraName
from mooring.core.protocol.result import LOG_LEVELS
from mooring.errors import MooringError, RpcError
from mooring.serve.asking import read_capabilities
from mooring.serve.caller import CallerQuestions, Notify, ServeOptions, make_log_listener, make_report
from mooring.serve.held import HeldRequest, HeldRequests
from mooring.serve.methods import (
    CAPABILITIES,
    CLIENT,
    METHODS,
    UNCACHED,
    Method,
    Params,
    WantedNotices,
    answer_method,
    complete_result,
)
from mooring.serve.tasks import ServedTask, ServedTasks, describe_task, describe_task_in_detail
from mooring.serve.upstream import RequestTerms, Upstream
from mooring.wire.rpc.dialect import RequestId
from mooring.wire.rpc.inbound import current_request
from mooring.wire.rpc.message import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from mooring.wire.session.client import META, TASKS, ListName
from mooring.wire.session.dialect import MISSING_CAPABILITY, UNSUPPORTED_VERSION

VERSIONS: Final = ("2026-07-28",)
LISTEN: Final = "subscriptions/listen"
OWN_METHODS: Final = ("server/discover", LISTEN, "tasks/update")
"""The methods that only this era has."""
TASK_METHODS: Final = ("tasks/get", "tasks/update", "tasks/cancel")

_MAY_NEED_INPUT: Final = ("tools/call", "prompts/get", "resources/read")
_OLD_NOT_FOUND: Final = -32002


class StatelessClients(CallerQuestions):
    """All requests of this era on one connection, or on all of an HTTP server. They share one upstream."""

    era: EraName = "stateless"

    def __init__(self, options: ServeOptions) -> None:
        super().__init__(options)
        self._held = HeldRequests()
        self._tasks = ServedTasks(self._on_task)
        self._listening: dict[_Listening, None] = {}
        self._watched: Counter[str] = Counter()

    async def close(self) -> None:
        self._held.close()
        self._tasks.close()
        for listening in self._listening:
            listening.end()
        upstream, self._upstream = self._upstream, None
        if upstream is not None:
            await upstream.close()

    # --- requests -------------------------------------------------------------------------------------------------

    async def answer(self, method: str, params: Params, notify: Notify) -> Any:
        """Answer one request: in this era, each begins and ends here. Raises: RpcError."""
        check_meta(params)
        try:
            result = await self._answer(method, params, notify)
        except RpcError as error:
            if error.code != _OLD_NOT_FOUND:
                raise
            raise RpcError(CLIENT, INVALID_PARAMS, error.message, error.data) from error
        return complete_result(method, result)

    async def _answer(self, method: str, params: Params, notify: Notify) -> Any:
        if method == "server/discover":
            return await self._discover()
        if method == LISTEN:
            if params.notifications.task_ids:
                _require_tasks(params)
            return await self._listen(params.notifications, notify)
        if method in TASK_METHODS:
            return await self._answer_about_task(method, params)
        found = METHODS.get(method)
        if found is None:
            raise RpcError(CLIENT, METHOD_NOT_FOUND, f"Method not found: {method}")
        if method in _MAY_NEED_INPUT:
            return await self._answer_in_rounds(method, found, params, notify)
        terms = RequestTerms(params.passed_meta, _read_declared(params))
        return await answer_method(found, self._find_upstream(), params, terms, make_report(params, notify))

    async def _discover(self) -> Any:
        program = self._options.program
        found: dict[str, Any] = {
            "supportedVersions": list(VERSIONS),
            "capabilities": {**CAPABILITIES, "extensions": {TASKS: {}}},
            "_meta": {f"{META}serverInfo": {"name": program.name, "version": program.version}},
            **UNCACHED,
        }
        if instructions := await self._find_upstream().find_instructions():
            found["instructions"] = instructions
        return found

    def _find_upstream(self) -> Upstream:
        if self._upstream is None:
            self._upstream = self._options.open_upstream(self)
        return self._upstream

    async def _answer_in_rounds(self, method: str, found: Method, params: Params, notify: Notify) -> Any:
        """Answer a request, or say what its client has to be asked first; then the work is held until it is back."""
        subject = (method, params.name, params.uri, params.arguments)
        if params.request_state is None:
            held = self._begin(subject, found, params)
        else:
            held = self._held.take(params.request_state, subject)
            held.give(params.input_responses)
        held.report = make_report(params, notify)
        upstream, level = self._find_upstream(), params.meta.get(f"{META}logLevel")
        if level in LOG_LEVELS:
            await upstream.follow_logs(held.asker, level, make_log_listener(notify))
        try:
            state = await held.wait()
        except asyncio.CancelledError:
            held.drop()
            raise
        finally:
            upstream.unfollow_logs(held.asker)
        match state:
            case "ended":
                return held.result()
            case "task":
                return {"resultType": "task", **describe_task(self._tasks.keep(held))}
            case "asking":
                return {
                    "resultType": "input_required",
                    "inputRequests": held.asked,
                    "requestState": self._held.keep(held),
                }

    def _begin(self, subject: Any, found: Method, params: Params) -> HeldRequest:
        declared = _read_declared(params)
        held = HeldRequest(subject, read_capabilities(declared))
        # A server may make a task of the request only if its client says that it knows what that is.
        on_task = held.update_task if _knows_tasks(params) else None
        terms = RequestTerms(params.passed_meta, declared, on_task)
        held.begin(answer_method(found, self._find_upstream(), params, terms, held.pass_progress))
        return held

    # --- tasks ----------------------------------------------------------------------------------------------------

    async def _answer_about_task(self, method: str, params: Params) -> Any:
        _require_tasks(params)
        task = self._tasks.find(params.task_id)
        match method:
            case "tasks/get":
                return describe_task_in_detail(task)
            case "tasks/update":
                task.held.give(params.input_responses)
            case _:
                task.held.drop()
        return {}

    def _on_task(self, task: ServedTask) -> None:
        for listening in tuple(self._listening):
            if task.id in listening.task_ids:
                listening.send("notifications/tasks", describe_task_in_detail(task))

    # --- what no request asked for (ClientSide) -------------------------------------------------------------------

    async def _listen(self, wanted: WantedNotices, notify: Notify) -> Any:
        """Hold a subscription until the client ends it. Its request is answered only if this side does."""
        key = current_request.get()
        if key is None:
            raise RpcError(CLIENT, INTERNAL_ERROR, "A subscription needs an id")
        upstream = self._find_upstream()
        uris = await self._subscribe(upstream, wanted.resource_subscriptions)
        task_ids = frozenset(filter(self._tasks.has, wanted.task_ids))
        listening = _Listening(key, wanted, frozenset(uris), task_ids, notify)
        self._listening[listening] = None
        try:
            listening.acknowledge()
            await listening.wait_ended()
        finally:
            del self._listening[listening]
            await self._unsubscribe(upstream, uris)
        return {"_meta": {f"{META}subscriptionId": key}}

    async def _subscribe(self, upstream: Upstream, uris: Iterable[str]) -> list[str]:
        """Subscribe to resources, as many listen to them as may; returns those that can be listened to."""
        granted: list[str] = []
        for uri in dict.fromkeys(uris):
            self._watched[uri] += 1
            try:
                await upstream.subscribe(uri)
            except MooringError:
                self._watched[uri] -= 1
            else:
                granted.append(uri)
        return granted

    async def _unsubscribe(self, upstream: Upstream, uris: Iterable[str]) -> None:
        for uri in uris:
            self._watched[uri] -= 1
            if not self._watched[uri]:
                del self._watched[uri]
                await upstream.unsubscribe(uri)

    def on_visited(self, id: str) -> None:
        """Tell nobody: a client of this era comes back by itself."""

    def on_list_changed(self, kind: ListName) -> None:
        for listening in tuple(self._listening):
            if getattr(listening.wanted, f"{kind}_list_changed"):
                listening.send(f"notifications/{kind}/list_changed", {})

    def on_updated(self, uri: str) -> None:
        for listening in tuple(self._listening):
            if any(uri == each or uri.startswith(f"{each.rstrip('/')}/") for each in listening.uris):
                listening.send("notifications/resources/updated", {"uri": uri})


class _Listening(Struct, eq=False, dict=True):
    """One subscription: what a client wants to hear of, and the way there."""

    key: RequestId
    wanted: WantedNotices
    uris: frozenset[str]
    task_ids: frozenset[str]
    notify: Notify

    def __post_init__(self) -> None:
        self._context = copy_context()
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def acknowledge(self) -> None:
        """Say what this subscription is to: the first message of it."""
        kinds = ("tools", "resources", "prompts")
        granted: dict[str, Any] = {
            f"{kind}ListChanged": True for kind in kinds if getattr(self.wanted, f"{kind}_list_changed")
        }
        if self.uris:
            granted["resourceSubscriptions"] = sorted(self.uris)
        if self.task_ids:
            granted["taskIds"] = sorted(self.task_ids)
        self.send("notifications/subscriptions/acknowledged", {"notifications": granted})

    def send(self, method: str, params: Mapping[str, Any]) -> None:
        # By the way of the request that began it, whoever calls this.
        marked = {**params, "_meta": {f"{META}subscriptionId": self.key}}
        self._context.run(self.notify, method, marked)

    async def wait_ended(self) -> None:
        await self._ended

    def end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)


def check_meta(params: Params) -> None:
    """Raises: RpcError if a request lacks what every request of this era has to say, or is of another revision."""
    version = params.stateless_version
    if not isinstance(version, str):
        raise RpcError(CLIENT, INVALID_PARAMS, f"Invalid params: _meta has no {META}protocolVersion")
    if version not in VERSIONS:
        data = {"supported": list(VERSIONS), "requested": version}
        raise RpcError(CLIENT, UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    if not isinstance(params.meta.get(f"{META}clientCapabilities"), dict):
        raise RpcError(CLIENT, INVALID_PARAMS, f"Invalid params: _meta has no {META}clientCapabilities")


def _read_declared(params: Params) -> Mapping[str, Any]:
    declared: Mapping[str, Any] = params.meta[f"{META}clientCapabilities"]
    return declared


def _knows_tasks(params: Params) -> bool:
    extensions = _read_declared(params).get("extensions")
    return isinstance(extensions, dict) and TASKS in extensions


def _require_tasks(params: Params) -> None:
    """Raises: RpcError if the client does not say that it knows tasks."""
    if not _knows_tasks(params):
        data: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        raise RpcError(CLIENT, MISSING_CAPABILITY, f"Tasks need the extension {TASKS}", data)
