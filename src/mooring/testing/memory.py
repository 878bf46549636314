"""A server without a process: its tools are Python functions, and it talks to the real client."""

import asyncio
import inspect
from collections.abc import Callable
from itertools import count
from typing import Any, TypeAlias, TypeVar

from msgspec import to_builtins
from msgspec.json import decode, encode

from mooring.core.protocol.failure import Ending
from mooring.wire.rpc.message import Message
from mooring.wire.rpc.transport import Receiver, Transport
from mooring.wire.session.session import Session, connect

F = TypeVar("F", bound=Callable[..., Any])

Respond: TypeAlias = Callable[[dict[str, Any], "Call"], Any]
"""Answers a request: takes its parameters and the call, returns a result or an awaitable of one."""

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


class Refused(Exception):
    """Raise this in a method of a server to answer with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error: dict[str, Any] = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


class Call:
    """A request under way, as the server sees it. It is passed to tools that have a parameter `call`."""

    def __init__(self, server: "MemoryServer", params: dict[str, Any]) -> None:
        self.server = server
        self.params = params

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress to the client, if it asked for progress."""
        token = self.params.get("_meta", {}).get("progressToken")
        if token is not None:
            step = {"progressToken": token, "progress": progress, "total": total, "message": message}
            self.server.notify("notifications/progress", step)


class MemoryServer:
    """Talks to one client at a time. `received` holds every message from it, in order."""

    def __init__(self, name: str = "memory", instructions: str = "") -> None:
        self.name = name
        self.instructions = instructions
        self.received: list[dict[str, Any]] = []
        self.capabilities: dict[str, Any] = {}
        self._tools: dict[str, tuple[dict[str, Any], Callable[..., Any]]] = {}
        self._methods: dict[str, Respond] = {
            "initialize": self._initialize,
            "ping": lambda params, call: {},
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
        }
        self._tasks: dict[Any, asyncio.Task[Any]] = {}
        self._asked: dict[str, asyncio.Future[Any]] = {}
        self._keys = count(1)
        self._receiver: Receiver | None = None

    def tool(self, function: F) -> F:
        """Offer a function as a tool, described by its name, its docstring and its parameters."""
        described = {"name": function.__name__, "description": function.__doc__, "inputSchema": _schema(function)}
        self._tools[function.__name__] = (described, function)
        self.capabilities.setdefault("tools", {})
        return function

    def answer(self, method: str, respond: Respond) -> None:
        """Answer a method of the protocol with `respond`, and declare its capability."""
        self._methods[method] = respond
        family = method.split("/")[0]
        capability = "completions" if family == "completion" else family
        if capability in {"tools", "resources", "prompts", "completions", "logging", "tasks"}:
            self.capabilities.setdefault(capability, {})

    async def session(self, **options: Any) -> Session:
        """A client's session with this server; the options are those of `mooring.wire.session.session.connect`."""
        return await connect(Wire(self), server=self.name, **options)

    def open_transport(self) -> "Wire":
        """A connection to this server, as `mooring.open` and `mooring.connect` make it."""
        return Wire(self)

    def notify(self, method: str, params: Any = None) -> None:
        """Send the client a notification."""
        self.write(_message(method, params))

    async def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """Send the client a request; returns the whole answer, error or not."""
        key = f"{self.name}-{next(self._keys)}"
        future = self._asked[key] = asyncio.get_running_loop().create_future()
        self.write({"id": key, **_message(method, params)})
        try:
            answer: dict[str, Any] = await future
        finally:
            del self._asked[key]
        return answer

    def write(self, message: dict[str, Any]) -> None:
        """Send any message, valid or not."""
        self.say(encode({"jsonrpc": "2.0", **message}))

    def say(self, line: bytes) -> None:
        """Send any line of bytes, valid or not."""
        # In the next turn of the loop, as over a real transport: never inside the client's own `send`.
        asyncio.get_running_loop().call_soon(self._deliver, line)

    def die(self, ending: Ending | None = None) -> None:
        """End the connection from the server's side."""
        if self._receiver is not None:
            asyncio.get_running_loop().call_soon(self._receiver.end, ending or Ending("it ended"))
        self.close()

    def open(self, receiver: Receiver) -> None:
        self._receiver = receiver

    def close(self) -> None:
        self._receiver = None
        for task in self._tasks.values():
            task.cancel()

    def take(self, line: bytes) -> None:
        """Handle a message from the client."""
        message = decode(line)
        self.received.append(message)
        match message:
            case {"id": key, "method": str(method)}:
                self._begin(key, method, message.get("params", {}))
            case {"method": "notifications/cancelled", "params": {"requestId": key}}:
                if key in self._tasks:
                    self._tasks.pop(key).cancel()
            case {"id": key} if key in self._asked:
                self._asked[key].set_result(message)
            case _:
                pass

    def _deliver(self, line: bytes) -> None:
        if self._receiver is not None:
            self._receiver.receive([line])

    def _begin(self, key: Any, method: str, params: dict[str, Any]) -> None:
        if method not in self._methods:
            self.write({"id": key, "error": {"code": -32601, "message": f"Method not found: {method}"}})
            return
        task = asyncio.ensure_future(_respond(self._methods[method], params, Call(self, params)))
        self._tasks[key] = task
        task.add_done_callback(lambda task: self._finish(key, task))

    def _finish(self, key: Any, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(key, None)
        if task.cancelled():
            return
        match task.exception():
            case None:
                self.write({"id": key, "result": task.result()})
            case Refused() as refused:
                self.write({"id": key, "error": refused.error})
            case error:
                self.write({"id": key, "error": {"code": -32603, "message": repr(error)}})

    def _initialize(self, params: dict[str, Any], call: Call) -> dict[str, Any]:
        info = {"name": self.name, "version": "1"}
        version = params["protocolVersion"]
        hello = {"protocolVersion": version, "capabilities": self.capabilities, "serverInfo": info}
        return {**hello, "instructions": self.instructions} if self.instructions else hello

    def _list_tools(self, params: dict[str, Any], call: Call) -> dict[str, Any]:
        return {"tools": [described for described, _ in self._tools.values()]}

    async def _call_tool(self, params: dict[str, Any], call: Call) -> dict[str, Any]:
        if params["name"] not in self._tools:
            raise Refused(-32602, f"Unknown tool: {params['name']}")
        _, function = self._tools[params["name"]]
        arguments = dict(params.get("arguments", {}))
        if "call" in inspect.signature(function).parameters:
            arguments["call"] = call
        answer = function(**arguments)
        if inspect.isawaitable(answer):
            answer = await answer
        return _as_result(answer)


class Wire(Transport):
    """The transport between a client and a server in the same event loop."""

    def __init__(self, server: MemoryServer) -> None:
        self._server = server
        self._open = True

    def start(self, receiver: Receiver) -> None:
        self._server.open(receiver)

    def send(self, message: Message) -> None:
        line = encode(message)
        if self._open:
            asyncio.get_running_loop().call_soon(self._server.take, line)

    def close(self) -> None:
        self._open = False
        self._server.close()


async def _respond(respond: Respond, params: dict[str, Any], call: Call) -> Any:
    answer = respond(params, call)
    return await answer if inspect.isawaitable(answer) else answer


def _message(method: str, params: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"method": method}
    if params is not None:
        message["params"] = params
    return message


def _as_result(answer: Any) -> dict[str, Any]:
    match answer:
        case {"content": _}:
            return dict(answer)
        case str():
            return {"content": [{"type": "text", "text": answer}]}
        case _:
            text = encode(answer).decode()
            structured = {"result": to_builtins(answer)}
            return {"content": [{"type": "text", "text": text}], "structuredContent": structured}


def _schema(function: Callable[..., Any]) -> dict[str, Any]:
    parameters = dict(inspect.signature(function).parameters)
    parameters.pop("call", None)
    return {
        "type": "object",
        "properties": {name: _type_schema(parameter.annotation) for name, parameter in parameters.items()},
        "required": [name for name, parameter in parameters.items() if parameter.default is parameter.empty],
    }


def _type_schema(annotation: Any) -> dict[str, str]:
    return {"type": _TYPES[annotation]} if annotation in _TYPES else {}
