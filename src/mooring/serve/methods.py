"""The methods of the protocol that both eras share: their parameters, and results as the client's era wants them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import DecodeError, Raw, Struct, field
from msgspec.json import Decoder
from msgspec.structs import replace

from mooring.core.protocol.raw import ABSENT, PARTS, as_one_line, read_as, read_parts
from mooring.core.protocol.result import Progress
from mooring.core.protocol.tool import Tool
from mooring.errors import BadArguments, MooringError, RpcError, UnknownTool
from mooring.serve.upstream import RequestTerms, Upstream
from mooring.wire.rpc.message import INTERNAL_ERROR, INVALID_PARAMS
from mooring.wire.session.client import META

CLIENT: Final = "The client"
"""What the other side is called in errors."""
_PROGRESS: Final = "progressToken"


class CompletedArgument(Struct, frozen=True):
    """The argument that is being typed."""

    name: str = ""
    value: str = ""


class CompletionContext(Struct, frozen=True):
    """The arguments that are known already."""

    arguments: dict[str, str] | None = None


class WantedNotices(Struct, frozen=True, rename="camel"):
    """What a client of the stateless era wants to be notified of."""

    tools_list_changed: bool = False
    resources_list_changed: bool = False
    prompts_list_changed: bool = False
    resource_subscriptions: list[str] = []
    task_ids: list[str] = []


class TaskTerms(Struct, frozen=True):
    """How a client of the handshake era wants a call to be made as a task."""

    ttl: float | None = None
    """For how many milliseconds it is to be kept."""


# One struct for all methods, like `Frame` for all messages: what a method does not use is simply not there.
class Params(Struct, frozen=True, rename="camel"):
    """What came with a request."""

    meta: dict[str, Any] = field(default_factory=dict, name="_meta")
    name: str = ""
    uri: str = ""
    cursor: str | None = None
    arguments: dict[str, Any] | None = None
    level: str = ""
    ref: dict[str, str] = {}
    argument: CompletedArgument = CompletedArgument()
    context: CompletionContext | None = None
    protocol_version: str = ""
    capabilities: dict[str, Any] = {}
    request_state: str | None = None
    input_responses: dict[str, Raw] = {}
    notifications: WantedNotices = WantedNotices()
    task: TaskTerms | None = None
    task_id: str = ""

    @property
    def stateless_version(self) -> Any:
        """The revision that the request names, as only the stateless era does; `None` if it names none."""
        return self.meta.get(f"{META}protocolVersion")

    @property
    def progress_token(self) -> str | int | float | None:
        """What the client wants its reports of progress to name; `None` if it wants none."""
        token = self.meta.get(_PROGRESS)
        is_token = isinstance(token, str | int | float) and not isinstance(token, bool)
        return token if is_token else None

    @property
    def passed_meta(self) -> Mapping[str, Any]:
        """What is passed on of `_meta`: all that is not between the two ends of this one connection."""
        return {key: value for key, value in self.meta.items() if key != _PROGRESS and not key.startswith(META)}


_params = Decoder(Params)
_NO_PARAMS: Final = Params()


def read_params(raw: Raw) -> Params:
    """Read what came with a request. Raises: RpcError if it has the wrong shape."""
    if raw is ABSENT or bytes(raw) == b"null":
        return _NO_PARAMS
    try:
        return read_as(_params, raw)
    except DecodeError as error:
        raise RpcError(CLIENT, INVALID_PARAMS, f"Invalid params: {error}") from error


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


async def list_tools(
    upstream: Upstream, params: Params, terms: RequestTerms, report: Report, *, with_tasks: bool = False
) -> Any:
    """All tools; `with_tasks` says of each whether it may be called as a task. Raises: RpcError."""
    _refuse_cursor(params)
    tools = await upstream.list_tools()
    return {"tools": tools if with_tasks else [_hide_tasks(tool) for tool in tools]}


def _list(key: str, fetch: Callable[[Upstream], Awaitable[Sequence[Any]]]) -> Method:
    """The method that lists what stands under this key of its result."""

    async def answer(upstream: Upstream, params: Params, terms: RequestTerms, report: Report) -> Any:
        _refuse_cursor(params)
        return {key: await fetch(upstream)}

    return answer


METHODS: Final[Mapping[str, Method]] = {
    "tools/list": list_tools,
    "tools/call": _call_tool,
    "resources/list": _list("resources", lambda upstream: upstream.list_resources()),
    "resources/templates/list": _list("resourceTemplates", lambda upstream: upstream.list_templates()),
    "resources/read": _read_resource,
    "prompts/list": _list("prompts", lambda upstream: upstream.list_prompts()),
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
        raise RpcError(CLIENT, INTERNAL_ERROR, error.describe_for_model()) from error


def make_failure(error: MooringError) -> dict[str, Any]:
    """A call that failed on its way, as the result of its tool: a model reads it, so it has no advice for a person."""
    return {"content": [{"type": "text", "text": error.describe_for_model()}], "isError": True}


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
