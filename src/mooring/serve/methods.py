"""The methods of the protocol that both eras share, and their results with what the client's era demands of them."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder
from msgspec.structs import replace

from mooring.core.protocol.raw import PARTS, as_one_line, read_parts
from mooring.core.protocol.result import Progress
from mooring.core.protocol.tool import Tool
from mooring.errors import BadArguments, Denied, MooringError, RpcError, UnknownTool
from mooring.serve.params import CLIENT, Params
from mooring.serve.upstream import RequestTerms, Upstream
from mooring.wire.rpc.message import INTERNAL_ERROR, INVALID_PARAMS

Report: TypeAlias = Callable[[Progress], None]

CAPABILITIES: Final[Mapping[str, Any]] = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
}
"""The same whatever servers there are: one that comes later may have what no other has."""


Method: TypeAlias = Callable[[Upstream, Params, RequestTerms, Report], Awaitable[Any]]
"""Answers one method."""


async def _call_tool(upstream: Upstream, params: Params, terms: RequestTerms, report: Report) -> Any:
    _require(params.name, "name")
    arguments = params.arguments or {}
    try:
        result = await upstream.call_tool(params.name, arguments, terms=terms, on_progress=report)
    except UnknownTool as error:
        raise RpcError(CLIENT, INVALID_PARAMS, f"Unknown tool: {params.name}") from error
    except RpcError:
        # The server's own answer, for the client to read as it is.
        raise
    except MooringError as error:
        # Why a call failed is for the model to read, which sees results and no errors of the protocol.
        return make_failure(error)
    return as_one_line(result)


async def _read_resource(upstream: Upstream, params: Params, terms: RequestTerms, report: Report) -> Any:
    _require(params.uri, "uri")
    return as_one_line(await upstream.read_resource(params.uri, terms))


async def _get_prompt(upstream: Upstream, params: Params, terms: RequestTerms, report: Report) -> Any:
    _require(params.name, "name")
    arguments = {name: str(value) for name, value in (params.arguments or {}).items()}
    return as_one_line(await upstream.get_prompt(params.name, arguments, terms))


async def _complete(upstream: Upstream, params: Params, terms: RequestTerms, report: Report) -> Any:
    known = params.context.arguments if params.context is not None else None
    argument = params.argument
    return as_one_line(await upstream.complete(params.ref, argument.name, argument.value, known, terms))


async def list_tools(upstream: Upstream, params: Params, *, with_tasks: bool) -> Any:
    """All tools; `with_tasks` says of each whether it may be called as a task. Raises: RpcError."""
    _refuse_cursor(params)
    tools = await upstream.list_tools()
    return {"tools": tools if with_tasks else [_hide_tasks(tool) for tool in tools]}


async def _list_tools(upstream: Upstream, params: Params, terms: RequestTerms, report: Report) -> Any:
    return await list_tools(upstream, params, with_tasks=False)


async def _list_resources(upstream: Upstream, params: Params, terms: RequestTerms, report: Report) -> Any:
    _refuse_cursor(params)
    return {"resources": await upstream.list_resources()}


async def _list_templates(upstream: Upstream, params: Params, terms: RequestTerms, report: Report) -> Any:
    _refuse_cursor(params)
    return {"resourceTemplates": await upstream.list_templates()}


async def _list_prompts(upstream: Upstream, params: Params, terms: RequestTerms, report: Report) -> Any:
    _refuse_cursor(params)
    return {"prompts": await upstream.list_prompts()}


METHODS: Final[Mapping[str, Method]] = {
    "tools/list": _list_tools,
    "tools/call": _call_tool,
    "resources/list": _list_resources,
    "resources/templates/list": _list_templates,
    "resources/read": _read_resource,
    "prompts/list": _list_prompts,
    "prompts/get": _get_prompt,
    "completion/complete": _complete,
}


async def answer_method(method: Method, upstream: Upstream, params: Params, terms: RequestTerms, report: Report) -> Any:
    """Answer one request. Raises: RpcError, whatever goes wrong."""
    try:
        return await method(upstream, params, terms, report)
    except RpcError:
        raise
    except BadArguments as error:
        raise RpcError(CLIENT, INVALID_PARAMS, str(error)) from error
    except MooringError as error:
        raise RpcError(CLIENT, INTERNAL_ERROR, str(error)) from error


def make_failure(error: MooringError) -> dict[str, Any]:
    """A call that failed on its way, as the result of its tool."""
    words = str(error)
    if isinstance(error, Denied) and error.for_model:
        words = error.for_model
    return {"content": [{"type": "text", "text": words}], "isError": True}


def _hide_tasks(tool: Tool) -> Tool:
    # Only one revision has tasks that clients ask for. In 2026-07-28, servers decide; before, there were none.
    return tool if tool.execution is None else replace(tool, execution=None)


def _require(given: str, key: str) -> None:
    if not given:
        raise RpcError(CLIENT, INVALID_PARAMS, f"Invalid params: {key} is missing")


def _refuse_cursor(params: Params) -> None:
    # Each list is sent whole, so there is no cursor that could have come from here.
    if params.cursor is not None:
        raise RpcError(CLIENT, INVALID_PARAMS, "Invalid params: the cursor is unknown")


UNCACHED: Final = {"ttlMs": 0, "cacheScope": "private"}
"""Nothing is to be kept: what the servers have may change at any time, and changes are announced to who listens."""
_CACHEABLE: Final = ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "resources/read")
_COMPLETE: Final = {"resultType": "complete"}


class _Failure(Struct, rename="camel"):
    is_error: bool = False


_failure = Decoder(_Failure)


def complete_result(method: str, result: Any) -> Any:
    """The same result with what the stateless era demands of it; a server of this era has said it itself."""
    demanded = {**_COMPLETE, **UNCACHED} if method in _CACHEABLE else _COMPLETE
    return {**demanded, **_split(result)}


def add_meta(result: Any, meta: Mapping[str, Any]) -> dict[str, Any]:
    """The same result with more keys in its `_meta`."""
    parts = _split(result)
    known = parts.get("_meta")
    return {**parts, "_meta": {**(_split(known) if known else {}), **meta}}


def is_failure(result: Any) -> bool:
    """Whether a tool says that it failed."""
    if isinstance(result, Raw):
        try:
            return read_parts(_failure, result).is_error
        except DecodeError:
            return False
    return bool(result.get("isError"))


def _split(result: Any) -> Mapping[str, Any]:
    """The parts of a result, which stay bytes if they are. Raises: RpcError."""
    if not isinstance(result, Raw):
        found: Mapping[str, Any] = result
        return found
    try:
        return read_parts(PARTS, result)
    except DecodeError as error:
        raise RpcError(CLIENT, INTERNAL_ERROR, "The server's answer cannot be read") from error
