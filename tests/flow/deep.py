"""A server over stdio, on the standard library, that sends something deeply nested: `deep.py PLACE LEVELS`.

The place is where it is: in what the server says of itself, in its lists, in what it answers or in what it sends
unasked. Its tool `plain` has nothing to do with any of it.
"""

import json
import sys

PLACE, LEVELS = sys.argv[1], int(sys.argv[2])
HALF = LEVELS // 2
OBJECTS = '{"a":' * LEVELS + "1" + "}" * LEVELS
LISTS = "[" * LEVELS + "]" * LEVELS
SCHEMA = '{"type":"object","properties":{"a":' * HALF + '{"type":"string"}' + "}}" * HALF


def send(**message):
    line = json.dumps({"jsonrpc": "2.0", **message})
    for name, text in (("OBJECTS", OBJECTS), ("LISTS", LISTS), ("SCHEMA", SCHEMA)):
        line = line.replace(f'"{name}"', text)
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def at(place, **fields):
    return fields if place == PLACE else {}


def call(id):
    match PLACE:
        case "log":
            send(method="notifications/message", params={"level": "error", "data": "OBJECTS"})
        case "unknown notice":
            send(method="notifications/odd", params="OBJECTS")
        case "question":
            send(id="q", method="elicitation/create", params={"message": "What?", "requestedSchema": "SCHEMA"})
        case "id of a question":
            send(id="LISTS", method="ping")
        case "data of an error":
            send(id=id, error={"code": -7, "message": "out of paper", "data": "OBJECTS"})
            return
        case "failed result":
            send(id=id, result={"content": text("jammed"), "structuredContent": "OBJECTS", "isError": True})
            return
    content = text("printed", **at("block", _meta="OBJECTS"))
    if PLACE == "unusual":
        content.append({"type": "video", "frames": "LISTS"})
    structured = {
        **at("structured", structuredContent="OBJECTS"),
        **at("lists", structuredContent={"a": "LISTS"}),
        **at("unusual", structuredContent="OBJECTS"),
    }
    send(id=id, result={"content": content, **structured})


def text(words, **more):
    return [{"type": "text", "text": words, **more}]


def list_tools():
    schema = {"type": "object"}
    deep = {
        "name": "deep",
        "inputSchema": "SCHEMA" if PLACE == "schema" else schema,
        **at("output schema", outputSchema="SCHEMA"),
        **at("tool", _meta="OBJECTS"),
    }
    return {"tools": [deep, {"name": "plain", "inputSchema": schema}]}


for line in sys.stdin:
    message = json.loads(line)
    id = message.get("id")
    match message.get("method"):
        case "initialize":
            capabilities = {"tools": {}, "resources": {}, "logging": {}, **at("hello", experimental="OBJECTS")}
            hello = {"protocolVersion": "2025-06-18", "capabilities": capabilities}
            send(id=id, result={**hello, "serverInfo": {"name": "deep", "version": "1"}})
        case "tools/list":
            send(id=id, result=list_tools())
        case "tools/call" if message["params"]["name"] == "deep":
            call(id)
        case "tools/call":
            send(id=id, result={"content": text("plain")})
        case "resources/list":
            found = [{"uri": "deep://a", "name": "a", **at("resource", _meta="OBJECTS")}]
            send(id=id, result={"resources": [*found, {"uri": "deep://b", "name": "b"}]})
        case "resources/read":
            contents = [{"uri": "deep://a", "text": "pages", **at("contents", _meta="OBJECTS")}]
            send(id=id, result={"contents": contents, **at("contents", _meta="OBJECTS")})
        case str() if id is not None and id != "q":
            send(id=id, error={"code": -32601, "message": "Method not found"})
