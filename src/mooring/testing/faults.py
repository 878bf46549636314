"""An MCP server over stdio that does one thing wrong; it needs only the standard library.

Its tool `echo` returns its argument `text`; its tool `fault` does what the fault's name says. Faults of the start,
of the handshake and of the list need no call.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

TOOLS: list[dict[str, Any]] = [
    {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}},
    {"name": "fault", "inputSchema": {"type": "object"}},
]


class FaultyServer:
    """Answers correctly, except for the methods that a fault overrides. `size` is how large the fault is."""

    def __init__(self, size: int | None = None) -> None:
        self.size = size

    def run(self) -> None:
        """Serve until stdin ends."""
        self.start()
        for line in sys.stdin.buffer:
            self.take(json.loads(line))
        self.end()

    def take(self, message: dict[str, Any]) -> None:
        """Answer one message."""
        match message.get("method"):
            case "initialize":
                self.initialize(message)
            case "tools/list":
                self.list(message)
            case "tools/call" if message["params"]["name"] == "fault":
                self.fault(message)
            case "tools/call":
                self.reply(message, message["params"]["arguments"].get("text", ""))
            case "ping":
                self.answer(message, {})
            case str() if "id" in message:
                self.write({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})

    def start(self) -> None: ...

    def end(self) -> None: ...

    def initialize(self, message: dict[str, Any]) -> None:
        info = {"name": "faulty", "version": "1"}
        version = message["params"]["protocolVersion"]
        self.answer(message, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})

    def list(self, message: dict[str, Any]) -> None:
        self.answer(message, {"tools": TOOLS})

    def fault(self, message: dict[str, Any]) -> None:
        self.reply(message, "no fault")

    def reply(self, message: dict[str, Any], text: str) -> None:
        self.answer(message, result(text))

    def answer(self, message: dict[str, Any], result: Any) -> None:
        self.write({"id": message["id"], "result": result})

    def write(self, message: dict[str, Any]) -> None:
        self.put(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def put(self, data: bytes) -> None:
        """Write these bytes, whether they are a message or not."""
        view = memoryview(data)
        while view:
            view = view[os.write(1, view) :]


def result(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def hang(*_: Any) -> NoReturn:
    while True:
        signal.pause()


class ExitAtOnce(FaultyServer):
    def start(self) -> None:
        sys.stderr.write("fatal: no such table: widgets\n")
        sys.exit(3)


class SlowStart(FaultyServer):
    def start(self) -> None:
        time.sleep((self.size or 25_000) / 1000)


class HangInit(FaultyServer):
    def initialize(self, message: dict[str, Any]) -> None: ...


class HalfLineInit(FaultyServer):
    def initialize(self, message: dict[str, Any]) -> None:
        self.put(b'{"jsonrpc":"2.0","id":%d,"resu' % message["id"])


class WrongVersion(FaultyServer):
    def initialize(self, message: dict[str, Any]) -> None:
        self.answer(message, {"protocolVersion": "1999-01-01", "capabilities": {}})


class HangList(FaultyServer):
    def list(self, message: dict[str, Any]) -> None: ...


class OneBadTool(FaultyServer):
    def list(self, message: dict[str, Any]) -> None:
        good = [{"name": f"tool{i}", "inputSchema": {"type": "object"}} for i in range(99)]
        self.answer(message, {"tools": [*good[:50], {"name": "bad", "inputSchema": "a string"}, *good[50:]]})


class EndlessPages(FaultyServer):
    def list(self, message: dict[str, Any]) -> None:
        page = int(message.get("params", {}).get("cursor", 0))
        tool = {"name": f"tool{page}", "inputSchema": {"type": "object"}}
        self.answer(message, {"tools": [tool], "nextCursor": str(page + 1)})


class RepeatedCursor(FaultyServer):
    def list(self, message: dict[str, Any]) -> None:
        self.answer(message, {"tools": TOOLS, "nextCursor": "again"})


class StdoutNoise(FaultyServer):
    def start(self) -> None:
        self.put(b'Listening on stdio\n\n\r\n[]\nnull\n42\n"text"\n{}\n{"level":"info"}\n\0\0\n\x1b[31mred\x1b[0m\n')

    def fault(self, message: dict[str, Any]) -> None:
        self.put(b"a print without its newline: ")
        self.reply(message, "after noise")


class Crlf(FaultyServer):
    def put(self, data: bytes) -> None:
        super().put(data.replace(b"\n", b"\r\n"))


class NeverReadsStdin(FaultyServer):
    def list(self, message: dict[str, Any]) -> None:
        super().list(message)
        hang()


class IgnoreEofTerm(FaultyServer):
    def start(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def end(self) -> None:
        hang()


class Grandchild(FaultyServer):
    """Leaves a child behind; the tool `fault` returns its process id."""

    session = False

    def start(self) -> None:
        sleeper = [sys.executable, "-c", "import signal; signal.pause()"]
        child = subprocess.Popen(sleeper, stdin=subprocess.DEVNULL, start_new_session=self.session)
        self.child = child.pid

    def fault(self, message: dict[str, Any]) -> None:
        self.reply(message, str(self.child))


class SetsidGrandchild(Grandchild):
    session = True


class Plain(FaultyServer):
    """Has no fault at all."""


class FaultOfCall(FaultyServer):
    """Does what one of the methods below says, in a call of `fault`: each is a fault by the method's name."""

    def __init__(self, size: int | None, name: str) -> None:
        super().__init__(size)
        self.fault_name = name

    def fault(self, message: dict[str, Any]) -> None:
        getattr(self, self.fault_name)(message)

    def kill9_midcall(self, message: dict[str, Any]) -> None:
        sys.stderr.write("about to be killed\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)

    def last_words(self, message: dict[str, Any]) -> None:
        """Answers without a newline at the end, and exits."""
        self.put(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result("last words")}).encode())
        sys.exit(0)

    def exit_midcall(self, message: dict[str, Any]) -> None:
        sys.exit(0)

    def hang_call(self, message: dict[str, Any]) -> None: ...

    def half_line(self, message: dict[str, Any]) -> None:
        self.put(b'{"jsonrpc":"2.0","id":%d,"resu' % message["id"])

    def bad_utf8(self, message: dict[str, Any]) -> None:
        self.put(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"a\xffb"}]}}\n' % message["id"])

    def big_line(self, message: dict[str, Any]) -> None:
        self.reply(message, "x" * (self.size or 100_000_000))

    def endless_line(self, message: dict[str, Any]) -> None:
        for _ in range((self.size or 200_000_000) // 65536):
            self.put(b"x" * 65536)
        self.put(b"\n")

    def deep_json(self, message: dict[str, Any]) -> None:
        depth = self.size or 200_000
        self.put(b'{"jsonrpc":"2.0","id":%d,"result":%b%b}\n' % (message["id"], b"[" * depth, b"]" * depth))

    def long_number(self, message: dict[str, Any]) -> None:
        digits = b"9" * (self.size or 100_000)
        self.put(b'{"jsonrpc":"2.0","id":%d,"result":{"structuredContent":{"n":%b}}}\n' % (message["id"], digits))

    def lone_surrogate(self, message: dict[str, Any]) -> None:
        self.reply(message, "a\ud800b")

    def wrong_id(self, message: dict[str, Any]) -> None:
        for wrong in (message["id"] + 1000, -1, "x", True, {"a": 1}, [1], 1.5):
            self.write({"id": wrong, "result": result("wrong")})
        self.reply(message, "right")

    def string_id(self, message: dict[str, Any]) -> None:
        self.write({"id": str(message["id"]), "result": result("by string")})

    def null_id_error(self, message: dict[str, Any]) -> None:
        self.write({"id": None, "error": {"code": -32700, "message": "Parse error"}})

    def result_and_error(self, message: dict[str, Any]) -> None:
        error = {"code": -32000, "message": "both"}
        self.write({"id": message["id"], "result": result("both"), "error": error})

    def neither(self, message: dict[str, Any]) -> None:
        self.write({"id": message["id"]})

    def duplicate_reply(self, message: dict[str, Any]) -> None:
        self.reply(message, "first")
        self.reply(message, "second")

    def batch(self, message: dict[str, Any]) -> None:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result("in a batch")}
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "note"}}
        self.put(json.dumps([note, answer]).encode() + b"\n")

    def log_flood(self, message: dict[str, Any]) -> None:
        self._flood(
            message, lambda i: {"method": "notifications/message", "params": {"level": "info", "data": f"line {i}"}}
        )

    def progress_flood(self, message: dict[str, Any]) -> None:
        token = message["params"].get("_meta", {}).get("progressToken", "none")
        self._flood(
            message, lambda i: {"method": "notifications/progress", "params": {"progressToken": token, "progress": i}}
        )

    def list_changed_flood(self, message: dict[str, Any]) -> None:
        self._flood(message, lambda i: {"method": "notifications/tools/list_changed"})

    def ping_flood(self, message: dict[str, Any]) -> None:
        self._flood(message, lambda i: {"id": f"ping{i}", "method": "ping"})

    def request_flood(self, message: dict[str, Any]) -> None:
        self._flood(message, lambda i: {"id": i, "method": "roots/list"})

    def stderr_flood(self, message: dict[str, Any]) -> None:
        for i in range((self.size or 50_000_000) // 50):
            sys.stderr.write(f"{i:049}\n")
        self.reply(message, "after the flood")

    def close_stdout(self, message: dict[str, Any]) -> None:
        os.close(1)
        hang()

    def close_stdin(self, message: dict[str, Any]) -> None:
        os.close(0)
        self.reply(message, "deaf from now on")
        hang()

    def pipe_grandchild(self, message: dict[str, Any]) -> None:
        """Exits in a call, leaving a child that holds its output open."""
        child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], stdin=subprocess.DEVNULL)
        self.write({"method": "notifications/message", "params": {"level": "info", "data": child.pid}})
        sys.exit(5)

    def _flood(self, message: dict[str, Any], note: Callable[[int], dict[str, Any]]) -> None:
        """Send `size` messages at once, then the answer."""
        lines = [json.dumps({"jsonrpc": "2.0", **note(i)}) for i in range(self.size or 100_000)]
        self.put("\n".join(lines).encode() + b"\n")
        self.reply(message, "after the flood")


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


_CLASSES = (*FaultyServer.__subclasses__(), SetsidGrandchild)
FAULTS: dict[str, Callable[[int | None], FaultyServer]] = {
    **{_snake_case(fault.__name__): fault for fault in _CLASSES if fault is not FaultOfCall},
    **{name: partial(FaultOfCall, name=name) for name in vars(FaultOfCall) if not name.startswith(("_", "fault"))},
}
"""Every fault by the name that it has on the command line: `HangInit` is `hang_init`."""


def main() -> None:
    arguments = sys.argv[1:]
    name = arguments[0] if arguments else "plain"
    if name not in FAULTS:
        sys.exit(f"No fault is called {name!r}. There are: {', '.join(sorted(FAULTS))}.")
    size = int(arguments[1]) if len(arguments) > 1 else None
    FAULTS[name](size).run()
