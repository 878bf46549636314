"""Programs in the documents that need the package of somebody else, against an API on loopback."""

import json
import re
import subprocess
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from install import python

import mooring
from support import Home

ROOT = Path(__file__).parents[2]
OWN = [str(Path(mooring.__file__).parents[1]), sysconfig.get_path("purelib")]


class Api(BaseHTTPRequestHandler):
    """A model that adds two numbers with a tool, and then says what came of it."""

    requests: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append(request)
        body = json.dumps(make_reply(request["messages"])).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the test looks at what was sent."""


def make_reply(messages: list[dict[str, Any]]) -> dict[str, Any]:
    last = messages[-1]["content"]
    if isinstance(last, str):
        content = {"type": "tool_use", "id": "toolu_1", "name": "mcp__demo__add", "input": {"a": 2, "b": 40}}
        return {**MESSAGE, "content": [content], "stop_reason": "tool_use"}
    text = f"The tool says: {last[0]['content'][0]['text']}"
    return {**MESSAGE, "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}


MESSAGE = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip


@contextmanager
def serve() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_the_agent_of_the_documents_calls_a_tool_and_answers(home: Home) -> None:
    page = (ROOT / "docs" / "library" / "agents.md").read_text()
    program, *_ = re.findall(r"```python\n(.*?)```", page, re.S)
    # After the peer's own packages: where both have one, the peer's is used.
    program = f"import sys\nsys.path += {OWN!r}\n{program}"
    # The program starts the demo server with its own interpreter, which has no package of ours.
    program = program.replace('"-I", "-m", "mooring.demo"', f"{str(Path(mooring.__file__).parent / 'demo.py')!r}")
    with serve() as address:
        env = {**home.env, "ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "none"}
        done = subprocess.run(
            [python("providers"), "-c", program], cwd=home.cwd, env=env, capture_output=True, text=True, timeout=60
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == 'The tool says: {"sum": 42}'
    first, second = Api.requests
    assert "mcp__demo__add" in [tool["name"] for tool in first["tools"]]
    assert '<server-instructions server="demo">' in first["system"]
    assert second["messages"][-1]["content"][0]["is_error"] is False
