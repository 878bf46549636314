"""An MCP server on stdio that puts one text, the first line of a file, wherever a server can put any.

`go` reports progress with it, asks with it and returns it; `fail` writes it to stderr and fails with it; `flood`
returns it in 100,000 lines. A further tool, a resource and a prompt have it as their names and descriptions.
"""

import json
import sys
from typing import Any

TEXT: str = json.loads(open(sys.argv[1]).read())  # noqa: SIM115  # read once, at the start of a short program
LINES = 100_000
FORM = {"type": "object", "properties": {"answer": {"type": "string", "title": TEXT, "description": TEXT}}}


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def describe(name: str, title: str = "plain", text: str = "plain") -> dict[str, Any]:
    return {"name": name, "title": title, "description": text, "inputSchema": {"type": "object", "properties": {}}}


def list_things(method: str) -> dict[str, Any]:
    match method:
        case "tools/list":
            named = {**describe(TEXT, TEXT, TEXT), "outputSchema": {"type": "object"}}
            return {"tools": [describe("go", TEXT, TEXT), describe("fail"), describe("flood"), named]}
        case "resources/list":
            return {"resources": [{"uri": f"file:///{TEXT}", "name": TEXT, "title": TEXT, "description": TEXT}]}
        case "prompts/list":
            return {"prompts": [{"name": TEXT, "title": TEXT, "description": TEXT, "arguments": [{"name": TEXT}]}]}
        case _:
            return {"resourceTemplates": []}


def call(request: dict[str, Any]) -> dict[str, Any]:
    """Do what a tool does; what it returns."""
    params = request["params"]
    match params["name"]:
        case "fail":
            sys.stderr.write(f"{TEXT}\n")
            sys.stderr.flush()
            return {"content": [{"type": "text", "text": TEXT}], "isError": True}
        case "flood":
            return {"content": [{"type": "text", "text": "\n".join([TEXT[:80]] * LINES)}]}
        case _:
            report(params)
            send(id="asked", method="elicitation/create", params={"message": TEXT, "requestedSchema": FORM})
            json.loads(sys.stdin.readline())
            return {"content": [{"type": "text", "text": TEXT}]}


def report(params: dict[str, Any]) -> None:
    token = params.get("_meta", {}).get("progressToken")
    if token is not None:
        progress = {"progressToken": token, "progress": 1, "total": 2, "message": TEXT}
        send(method="notifications/progress", params=progress)
    send(method="notifications/message", params={"level": "error", "logger": TEXT, "data": TEXT})


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if request["method"] == "initialize":
        offers: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}, "logging": {}}
        info = {"name": TEXT, "title": TEXT, "version": TEXT[:100]}
        version = request["params"]["protocolVersion"]
        return {"protocolVersion": version, "capabilities": offers, "serverInfo": info, "instructions": TEXT}
    return call(request) if request["method"] == "tools/call" else list_things(request["method"])


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked and "method" in asked:
        known = asked["method"] in ("initialize", "ping", "tools/call") or asked["method"].endswith("/list")
        if known:
            send(id=asked["id"], result={} if asked["method"] == "ping" else answer(asked))
        else:
            send(id=asked["id"], error={"code": -32601, "message": TEXT})
