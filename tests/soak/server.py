"""A server for long use, over stdio, on the standard library: it tells who it is, hangs, and changes its tools.

`pid` says its process id, `hang` never answers, `change` puts a tool of another name in the place of the last one and
says so as many times as it is told. Its argument is how many tools it has besides.
"""

import json
import os
import sys

SCHEMA = {"type": "object", "properties": {}}
OFFERS = {"tools": {"listChanged": True}}
generation = 0


def names():
    return ["pid", "hang", "change", f"generation_{generation}", *(f"tool_{n}" for n in range(int(sys.argv[1])))]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def call(name, arguments):
    global generation  # noqa: PLW0603 - the whole program is one server
    if name == "hang":
        return None
    if name == "change":
        generation += 1
        for _ in range(arguments["times"]):
            send({"method": "notifications/tools/list_changed"})
    return {"content": [{"type": "text", "text": str(os.getpid() if name == "pid" else generation)}]}


def answer(method, params):
    if method == "initialize":
        told = {"name": "soak", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": OFFERS, "serverInfo": told}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": SCHEMA} for name in names()]}
    return call(params["name"], params.get("arguments") or {})


for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") in ("initialize", "tools/list", "tools/call"):
        if (result := answer(message["method"], message.get("params") or {})) is not None:
            send({"id": message["id"], "result": result})
    elif "id" in message:
        send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
    sys.stdout.flush()
