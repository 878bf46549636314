"""The addresses of two model providers, on loopback: each request is answered with the next turn of a script."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

Json = dict[str, Any]
Calls = Sequence[tuple[str, Json]]
Respond = Callable[[Json], str | Calls]
"""Takes a request, and says what the model answers or which tools it calls."""


class Api(BaseHTTPRequestHandler):
    respond: Respond
    numbers: "count[int]"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        make = _make_openai if self.path.endswith("/responses") else _make_anthropic
        answer = make(self.respond(request), next(self.numbers))
        is_stream = request.get("stream") is True
        body = b"".join(_stream_anthropic(answer)) if is_stream else json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the tests look at what was sent."""


@contextmanager
def serve(respond: Respond) -> Iterator[str]:
    kind = type("OneApi", (Api,), {"respond": staticmethod(respond), "numbers": count(1)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _make_anthropic(turn: str | Calls, number: int) -> Json:
    content: list[Json]
    if isinstance(turn, str):
        content = [{"type": "text", "text": turn}]
    else:
        content = [
            {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": arguments}
            for place, (name, arguments) in enumerate(turn)
        ]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": content,
        "stop_reason": "end_turn" if isinstance(turn, str) else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _stream_anthropic(message: Json) -> Iterator[bytes]:
    yield _event("message_start", message={**message, "content": [], "stop_reason": None})
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield _event("content_block_start", index=index, content_block=start)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=end, usage=message["usage"])
    yield _event("message_stop")


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def _make_openai(turn: str | Calls, number: int) -> Json:
    output: list[Json]
    if isinstance(turn, str):
        text = {"type": "output_text", "text": turn, "annotations": []}
        output = [
            {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [text]}
        ]
    else:
        output = [
            {"type": "function_call", "id": f"fc_{number}_{place}", "call_id": f"call_{number}_{place}", "name": name,
             "arguments": json.dumps(arguments), "status": "completed"}
            for place, (name, arguments) in enumerate(turn)
        ]  # fmt: skip
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "model": "scripted",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "completed",
    }
