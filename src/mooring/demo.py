"""The bundled demo server: MCP over stdio, with a harmless example of everything that a server can offer."""

import binascii
import itertools
import json
import os
import signal
import struct
import sys
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeGuard, TypeVar

Json = dict[str, Any]
Id = str | int
T = TypeVar("T")
Method = Callable[["DemoRequest"], Json]
Tool = Callable[["DemoServer", "DemoRequest", Json], Json]

INFO = {"name": "mooring-demo", "title": "Mooring demo", "version": "1"}
OFFERS = {"tools": {}, "resources": {"subscribe": True}, "prompts": {}, "completions": {}, "logging": {}}
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
BATCHING = "2025-03-26"  # the only revision in which a line may hold several messages
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
LONG = ("slow", "ask")  # tools that wait, and must not hold up the others
MOST = 256  # long calls at a time: each runs in a thread
CLOCK, NOTES, GREETING = "demo://clock", "demo://notes", "demo://greeting/{name}"

INSTRUCTIONS = "A server to try things on. It touches no file and no network. Start with demo://readme."
README = """# Mooring demo

A small MCP server that comes with Mooring, so that there is always one to try. It touches no file and no
network, and what the tool `note` keeps is gone when the process ends.

- Tools: `echo`, `add`, `slow`, `fail`, `picture`, `ask`, `note`
- Resources: `demo://clock` (changes every second), `demo://notes`, `demo://picture`, `demo://greeting/{name}`
- Prompt: `explain`, about a `topic`
"""


def tool(title: str, description: str, hints: Json, **properties: Json) -> Json:
    needed = [name for name, what in properties.items() if "default" not in what]
    schema = {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}
    return {"title": title, "description": description, "inputSchema": schema, "annotations": hints}


READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
ASKS = READS | {"openWorldHint": True}
KEEPS = READS | {"readOnlyHint": False, "idempotentHint": False}
TEXT = {"type": "string"}
ADDEND = {"type": "number", "minimum": -1e15, "maximum": 1e15}
SECONDS = {"type": "number", "minimum": 0, "maximum": 600}
STEPS = {"type": "integer", "minimum": 1, "maximum": 100, "default": 4}
SUM = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}
ANSWER = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}

TOOLS: dict[str, Json] = {
    "echo": tool("Echo", "Gives the text back, unchanged.", READS, text=TEXT),
    "add": tool("Add", "Adds two numbers.", READS, a=ADDEND, b=ADDEND) | {"outputSchema": SUM},
    "slow": tool("Slow", "Takes its time, can be cancelled.", READS, seconds=SECONDS, steps=STEPS),
    "fail": tool("Fail", "Always fails, to show what a tool's own error looks like.", READS),
    "picture": tool("Picture", "Gives a small PNG picture.", READS),
    "ask": tool("Ask a person", "Asks the person a question through the client.", ASKS, question=TEXT),
    "note": tool("Keep a note", "Adds a line to demo://notes, gone when this server ends.", KEEPS, text=TEXT),
}

RESOURCES: dict[str, Json] = {
    "demo://readme": {"name": "readme", "title": "What this server is", "mimeType": "text/markdown"},
    CLOCK: {"name": "clock", "title": "The time in UTC, every second", "mimeType": "text/plain"},
    NOTES: {"name": "notes", "title": "What the tool `note` kept", "mimeType": "text/plain"},
    "demo://picture": {"name": "picture", "title": "A small picture", "mimeType": "image/png"},
}
TEMPLATE = {"uriTemplate": GREETING, "name": "greeting", "title": "A greeting", "mimeType": "text/plain"}

PROMPT: Json = {
    "name": "explain",
    "title": "Explain",
    "description": "Asks for an explanation of one part of the Model Context Protocol.",
    "arguments": [{"name": "topic", "description": "What to explain.", "required": True}],
}

CHOICES: dict[tuple[str, str, str], tuple[str, ...]] = {
    ("ref/resource", GREETING, "name"): ("Ada", "Alan", "Barbara", "Grace", "Linus", "Margaret"),
    ("ref/prompt", "explain", "topic"): ("elicitation", "progress", "prompts", "resources", "tools"),
}

KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "string": ("a string", lambda value: isinstance(value, str)),
    "number": ("a number", lambda value: type(value) in (int, float)),
    "integer": ("a whole number", lambda value: type(value) in (int, float) and value % 1 == 0),
}


class DemoError(Exception):
    """A request is answered with this JSON-RPC error."""

    def __init__(self, code: int, message: str, **data: str) -> None:
        super().__init__(message)
        self.body: Json = {"code": code, "message": message}
        if data:
            self.body["data"] = data


class ToolError(Exception):
    """A tool call is answered with a result that has isError, which the model sees."""


def main() -> int:
    """Serve stdin and stdout until stdin ends, the client is gone, or a signal tells it to stop."""
    # os._exit, because threads of long calls may still be running.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    server = DemoServer()
    with suppress(ConnectionError):
        for line in sys.stdin.buffer:
            server.receive(line)
    return 0


class DemoRequest:
    """One request under way; `woken` wakes the thread that works on it."""

    def __init__(self, key: Id, method: str, params: Json) -> None:
        self.key = key
        self.method = method
        self.params = params
        self.woken = threading.Event()
        self.cancelled = False
        self.reply: Json = {}

    @property
    def is_long(self) -> bool:
        return self.method == "tools/call" and self.params.get("name") in LONG


class DemoServer:
    """Serves one client."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # held while a frame is written
        self.revision = REVISIONS[-1]
        self.elicits = False
        self.level = "info"
        self.notes: list[str] = []
        self.keys = itertools.count(1)
        self.working: dict[Id, DemoRequest] = {}  # those in a thread, by the client's id
        self.asking: dict[Id, DemoRequest] = {}  # those that wait for the client, by our id
        self.subscribed: dict[str, threading.Event] = {}  # set when the subscription ends
        self.methods: dict[str, Method] = {
            "initialize": self.initialize,
            "ping": lambda request: {},
            "logging/setLevel": self.set_level,
            "tools/list": listing("tools", [{"name": name, **what} for name, what in TOOLS.items()]),
            "tools/call": self.call,
            "resources/list": listing("resources", [{"uri": uri, **what} for uri, what in RESOURCES.items()]),
            "resources/templates/list": listing("resourceTemplates", [TEMPLATE]),
            "resources/read": self.read,
            "resources/subscribe": self.subscribe,
            "resources/unsubscribe": self.unsubscribe,
            "prompts/list": listing("prompts", [PROMPT]),
            "prompts/get": prompt,
            "completion/complete": complete,
        }
        self.tools: dict[str, Tool] = {
            "echo": lambda server, request, args: say(args["text"]),
            "add": add,
            "slow": slow,
            "fail": fail,
            "picture": picture,
            "ask": ask,
            "note": note,
        }
        self.contents: dict[str, Callable[[], Json]] = {
            "demo://readme": lambda: {"text": README},
            CLOCK: lambda: {"text": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())},
            NOTES: lambda: {"text": "".join(f"{text}\n" for text in self.notes)},
            "demo://picture": lambda: {"blob": png()},
        }

    def receive(self, line: bytes) -> None:
        """Take one line from the client, whatever it holds."""
        if not line.strip():
            return
        try:
            message = json.loads(line.decode(), parse_constant=int)  # int refuses NaN and Infinity
        except (ValueError, RecursionError):
            self.refuse(None, -32700, "The line is not JSON.")
            return
        batch = isinstance(message, list) and message and self.revision == BATCHING
        for one in message if batch else [message]:
            self.route(one)

    def route(self, message: Any) -> None:
        """Tell requests, notifications and answers apart."""
        match message:
            case {"jsonrpc": "2.0", "method": str(method), "id": key} if is_id(key):
                self.on_request(key, method, message.get("params", {}))
            case {"jsonrpc": "2.0", "method": str(method)} if "id" not in message:
                self.on_notification(method, message.get("params"))
            case {"jsonrpc": "2.0", "id": key, "result": _} | {"jsonrpc": "2.0", "id": key, "error": _}:
                self.on_answer(key, message)
            case _:
                key = message.get("id") if isinstance(message, dict) else None
                self.refuse(key if is_id(key) else None, -32600, "This is no message of JSON-RPC 2.0.")

    def on_request(self, key: Id, method: str, params: object) -> None:
        if not isinstance(params, dict):
            self.refuse(key, -32602, "'params' must be an object.")
            return
        request = DemoRequest(key, method, params)
        if not request.is_long:
            self.answer(request)
        elif len(self.working) >= MOST:
            self.refuse(key, -32000, f"{MOST} calls are under way already; wait for one to end.")
        else:
            self.working[key] = request
            threading.Thread(target=self.answer, args=(request,), daemon=True).start()

    def on_notification(self, method: str, params: object) -> None:
        key = params.get("requestId") if isinstance(params, dict) else None
        if method == "notifications/cancelled" and is_id(key) and (request := self.working.get(key)):
            request.cancelled = True
            request.woken.set()

    def on_answer(self, key: object, message: Json) -> None:
        if is_id(key) and (request := self.asking.pop(key, None)):
            request.reply = message
            request.woken.set()

    def answer(self, request: DemoRequest) -> None:
        try:
            method = self.methods.get(request.method)
            if method is None:
                raise DemoError(-32601, f"There is no method {request.method!r} here.")
            body: Json = {"result": method(request)}
        except DemoError as error:
            body = {"error": error.body}
        self.working.pop(request.key, None)
        if not request.cancelled:
            self.send({"id": request.key, **body})

    def refuse(self, key: Id | None, code: int, message: str) -> None:
        self.send({"id": key, "error": {"code": code, "message": message}})

    def notify(self, method: str, params: Json) -> None:
        self.send({"method": method, "params": params})

    def send(self, message: Json) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"
        try:
            with self.lock:
                while data:
                    data = data[os.write(1, data) :]
        except ConnectionError:
            os._exit(0)  # nobody listens any more; sys.exit would end only this thread

    def notify_updated(self, uri: str) -> None:
        with self.lock:  # so that no notification follows the answer to an unsubscribe
            if uri in self.subscribed:
                self.notify("notifications/resources/updated", {"uri": uri})

    def initialize(self, request: DemoRequest) -> Json:
        wanted = need(request.params, "protocolVersion", str)
        elicitation = need(request.params, "capabilities", dict).get("elicitation")
        self.revision = wanted if wanted in REVISIONS else REVISIONS[-1]
        # An empty object means forms too: that is what clients sent before there was a mode.
        self.elicits = isinstance(elicitation, dict) and (not elicitation or "form" in elicitation)
        about = {"serverInfo": INFO, "capabilities": OFFERS, "instructions": INSTRUCTIONS}
        return {"protocolVersion": self.revision, **about}

    def set_level(self, request: DemoRequest) -> Json:
        level = need(request.params, "level", str)
        if level not in LEVELS:
            raise DemoError(-32602, f"'level' must be one of {', '.join(LEVELS)}.")
        self.level = level
        return {}

    def call(self, request: DemoRequest) -> Json:
        name = need(request.params, "name", str)
        args = arguments(request.params)
        if name not in TOOLS:
            raise DemoError(-32602, f"There is no tool {name!r}; there are {', '.join(TOOLS)}.")
        if self.level == "debug":
            params = {"level": "debug", "logger": INFO["name"], "data": f"{name} was called"}
            self.notify("notifications/message", params)
        try:
            return self.tools[name](self, request, check_arguments(name, args))
        except ToolError as error:
            return say(str(error)) | {"isError": True}

    def read(self, request: DemoRequest) -> Json:
        uri = need(request.params, "uri", str)
        return {"contents": [{"uri": uri, **self.content(uri)}]}

    def content(self, uri: str) -> Json:
        if uri in self.contents:
            return {"mimeType": RESOURCES[uri]["mimeType"], **self.contents[uri]()}
        if name := greeted_name(uri):
            return {"mimeType": TEMPLATE["mimeType"], "text": f"Hello, {name}!"}
        raise DemoError(-32002, f"There is no resource {uri!r} here.", uri=uri)

    def subscribe(self, request: DemoRequest) -> Json:
        uri = need(request.params, "uri", str)
        self.content(uri)  # raises if there is none
        if uri not in self.subscribed:
            self.subscribed[uri] = ended = threading.Event()
            if uri == CLOCK:
                threading.Thread(target=self.tick, args=(ended,), daemon=True).start()
        return {}

    def unsubscribe(self, request: DemoRequest) -> Json:
        if ended := self.subscribed.pop(need(request.params, "uri", str), None):
            ended.set()
        return {}

    def tick(self, ended: threading.Event) -> None:
        """Notify at every full second until the subscription ends."""
        while not ended.wait(1 - time.time() % 1):
            self.notify_updated(CLOCK)

    def elicit(self, request: DemoRequest, question: str) -> Json:
        """Ask the person a question; the reply is empty if the call is cancelled meanwhile."""
        key = next(self.keys)
        self.asking[key] = request
        params = {"message": question, "requestedSchema": ANSWER}
        self.send({"id": key, "method": "elicitation/create", "params": params})
        request.woken.wait()
        if self.asking.pop(key, None):
            self.notify("notifications/cancelled", {"requestId": key, "reason": "The call was cancelled."})
        return request.reply


def add(server: DemoServer, request: DemoRequest, args: Json) -> Json:
    total = {"sum": args["a"] + args["b"]}
    return say(json.dumps(total)) | {"structuredContent": total}


def slow(server: DemoServer, request: DemoRequest, args: Json) -> Json:
    seconds = args["seconds"]
    steps = int(args["steps"])
    token = progress_token(request)
    for step in range(steps + 1):
        if step and request.woken.wait(seconds / steps):
            break
        if token is not None:
            params = {"progressToken": token, "progress": step, "total": steps}
            server.notify("notifications/progress", params | {"message": f"step {step} of {steps}"})
    return say(f"Took {seconds} seconds in {steps} steps.")


def fail(server: DemoServer, request: DemoRequest, args: Json) -> Json:
    raise ToolError("This tool is meant to fail, and it did.")


def picture(server: DemoServer, request: DemoRequest, args: Json) -> Json:
    image = {"type": "image", "data": png(), "mimeType": "image/png"}
    return {"content": [image, {"type": "text", "text": "A square that runs from blue to orange."}]}


def ask(server: DemoServer, request: DemoRequest, args: Json) -> Json:
    if not server.elicits:
        raise ToolError("The client did not declare the elicitation capability, so nobody can be asked.")
    match server.elicit(request, args["question"]):
        case {"result": {"action": "accept", "content": {"answer": str(answer)}}}:
            return say(f"The person answered: {answer}")
        case {"result": {"action": "decline"}}:
            return say("The person declined to answer.")
        case {"result": {"action": "cancel"}}:
            return say("The person closed the question without answering.")
        case {"error": {"message": str(why)}}:
            raise ToolError(f"The client could not ask: {why}")
        case _:
            raise ToolError("The client's reply holds neither an answer nor a refusal.")


def note(server: DemoServer, request: DemoRequest, args: Json) -> Json:
    server.notes.append(args["text"])
    server.notify_updated(NOTES)
    return say(f"Kept; {NOTES} now holds {len(server.notes)}.")


def listing(name: str, items: list[Json]) -> Method:
    def page(request: DemoRequest) -> Json:
        if request.params.get("cursor") is not None:
            raise DemoError(-32602, "Unknown 'cursor': every list here is one page.")
        return {name: items}

    return page


def prompt(request: DemoRequest) -> Json:
    name = need(request.params, "name", str)
    args = arguments(request.params)
    if name != PROMPT["name"]:
        raise DemoError(-32602, f"There is no prompt {name!r}; there is {PROMPT['name']}.")
    topic = need(args, "topic", str)
    text = f"Explain {topic} in the Model Context Protocol to a developer, in three short paragraphs."
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def complete(request: DemoRequest) -> Json:
    ref = need(request.params, "ref", dict)
    argument = need(request.params, "argument", dict)
    kind = need(ref, "type", str)
    name = need(argument, "name", str)
    typed = need(argument, "value", str)
    target = need(ref, "uri" if kind == "ref/resource" else "name", str)
    if (kind, target, name) not in CHOICES:
        raise DemoError(-32602, f"There is no {name!r} of {target!r} to complete.")
    choices = CHOICES[kind, target, name]
    found = [choice for choice in choices if choice.lower().startswith(typed.lower())]
    return {"completion": {"values": found, "total": len(found), "hasMore": False}}


def is_id(value: object) -> TypeGuard[Id]:
    # In Python a bool is an int; in JSON-RPC it is no id.
    return isinstance(value, str | int) and not isinstance(value, bool)


def progress_token(request: DemoRequest) -> Id | None:
    meta = request.params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if is_id(token) else None


def need(params: Json, name: str, kind: type[T]) -> T:
    """A parameter that must be there, and of this type. Raises: DemoError."""
    value = params.get(name)
    if not isinstance(value, kind):
        raise DemoError(-32602, f"{name!r} must be {'a string' if kind is str else 'an object'}.")
    return value


def arguments(params: Json) -> Json:
    if params.get("arguments") is None:
        return {}
    return need(params, "arguments", dict)


def check_arguments(tool: str, args: Json) -> Json:
    """The arguments with defaults filled in. A mistake is a ToolError, so that the model sees and fixes it."""
    known: dict[str, Json] = TOOLS[tool]["inputSchema"]["properties"]
    if unknown := args.keys() - known:
        raise ToolError(f"{tool} has no argument {min(unknown)!r}; it takes {', '.join(known) or 'none'}.")
    return {name: check_argument(tool, name, what, args) for name, what in known.items()}


def check_argument(tool: str, name: str, what: Json, args: Json) -> Any:
    if name not in args and "default" not in what:
        raise ToolError(f"{tool} needs the argument {name!r}.")
    value = args.get(name, what.get("default"))
    kind, fits = KINDS[what["type"]]
    if not fits(value):
        raise ToolError(f"{name!r} must be {kind}.")
    if "minimum" in what and not what["minimum"] <= value <= what["maximum"]:
        raise ToolError(f"{name!r} must be between {what['minimum']} and {what['maximum']}.")
    return value


def say(text: str) -> Json:
    return {"content": [{"type": "text", "text": text}]}


def greeted_name(uri: str) -> str | None:
    from urllib.parse import unquote  # slow to load, and few calls need it

    name = uri.removeprefix("demo://greeting/")
    return None if name == uri or "/" in name else unquote(name)


def png(side: int = 64) -> str:
    """A square from blue to orange, in Base64 as the protocol carries pictures."""
    ramp = [i * 255 // (side - 1) for i in range(side)]
    row = b"\0" + bytes(value for red in ramp for value in (red, red // 2, 255 - red))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(row * side)) + chunk(b"IEND", b"")
    return binascii.b2a_base64(b"\x89PNG\r\n\x1a\n" + chunks, newline=False).decode()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


if __name__ == "__main__":
    sys.exit(main())
