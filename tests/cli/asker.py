"""A server over stdio, on the standard library, whose tools ask the person: `form` for values, `write` for a text.

`form` answers with what it was sent, `write` with the reply, `impatient` takes its question back, and `token` with its variable TOKEN, backwards.
"""

import json
import os
import sys
import time

FORM = {
    "type": "object",
    "properties": {
        "email": {"type": "string", "format": "email"},
        "when": {"type": "string", "format": "date"},
        "count": {"type": "integer", "default": 42},
        "color": {"type": "string", "enum": ["red", "blue"], "default": "blue"},
        "note": {"type": "string"},
    },
    "required": ["email"],
}
TEXT = {"role": "user", "content": {"type": "text", "text": "Write a line."}}
ASKS = {
    "form": ("elicitation/create", {"message": "Who are you?", "requestedSchema": FORM}),
    "write": ("sampling/createMessage", {"messages": [TEXT], "maxTokens": 10}),
}


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(message):
    """The answer to a request of the client."""
    match message["method"]:
        case "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": "asker", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            empty = {"type": "object", "properties": {}}
            return {"tools": [{"name": name, "inputSchema": empty} for name in (*ASKS, "impatient", "token")]}
        case "tools/call":
            return {"content": [{"type": "text", "text": call(message["params"]["name"])}]}
    return {}


def call(name):
    if name == "token":
        return "backwards: " + os.environ.get("TOKEN", "")[::-1]
    method, params = ASKS["form" if name == "impatient" else name]
    send({"id": "asked", "method": method, "params": params})
    if name == "impatient":
        time.sleep(2)
        send({"method": "notifications/cancelled", "params": {"requestId": "asked"}})
        return "never mind"
    reply = json.loads(sys.stdin.readline())
    return json.dumps(reply.get("result", reply.get("error")))


for line in sys.stdin:
    received = json.loads(line)
    if "id" in received and "method" in received:
        send({"id": received["id"], "result": answer(received)})
