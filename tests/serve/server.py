"""A server over stdio for the tests of `mooring serve`, on the standard library, of the era that its argument names.

With `both`, its first request decides for good, as with the official SDKs.

Its tools: `echo` answers with all kinds of content, `slow` reports progress until it is cancelled, `form` asks a person,
`write` asks a model, `both` asks both at once, `folders` asks for the client's folders, `log` writes log messages, `grow`
adds a tool, or describes all in other words, `update` says that a resource changed, `refuse` answers with an error of the protocol, `meta` with what came in
`_meta`, `pid` with its process id, `era` with the era it speaks, `nap` takes a while, and `shout` logs a lot. A second argument is a file for what was cancelled.
The variable SAYS describes its tools.
"""

import json
import os
import sys
import threading
import time

SPOKEN = {"era": sys.argv[1]}
NOTES = sys.argv[2] if len(sys.argv) > 2 else os.devnull
META = "io.modelcontextprotocol/"
NAMES = [
    "echo",
    "slow",
    "form",
    "write",
    "both",
    "folders",
    "log",
    "grow",
    "update",
    "refuse",
    "meta",
    "pid",
    "era",
    "nap",
    "shout",
]
OUT = threading.Lock()
CANCELLED = set()
ANSWERS = {}
ANSWERED = threading.Condition()
SUBSCRIPTION = []
WATCHED = set()
FORM = {
    "type": "object",
    "title": "You",
    "properties": {
        "name": {"type": "string", "title": "Your name", "description": "As it is\nin your passport"},
        "title": {"type": "string", "enum": ["Dr", "-"], "enumNames": ["Doctor", "None"], "default": "-"},
        "color": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}]},
        "days": {"type": "array", "items": {"anyOf": [{"const": "mo", "title": "Monday"}]}, "default": ["mo"]},
        "Mooring asks: may x be called?": {"type": "boolean"},
    },
    "required": ["name"],
}
QUESTIONS = {
    "form": ("elicitation/create", {"message": "Who are you?", "requestedSchema": FORM}),
    "write": (
        "sampling/createMessage",
        {"messages": [{"role": "user", "content": {"type": "text", "text": "Write."}}], "maxTokens": 5},
    ),
    "folders": ("roots/list", {}),
}
ECHO = {
    "content": [
        {"type": "text", "text": "ä 字", "annotations": {"priority": 0.5}, "_meta": {"a": 1}},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "resource_link", "uri": "test://linked", "name": "linked"},
        {"type": "hologram", "depth": 1e3},
    ],
    "structuredContent": {"big": 12345678901234567890, "none": None, "list": [1.0]},
    "_meta": {"example.org/trace": "kept"},
}


def send(message):
    with OUT:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def notify(method, params=None):
    send({"method": method, "params": params or {}})


def announce(method, params=None):
    """Say that something changed, to whoever listens in this era."""
    params = params or {}
    if "uri" in params and params["uri"] not in WATCHED:
        return
    if SPOKEN["era"] == "stateless":
        for key in SUBSCRIPTION:
            notify(method, {**params, "_meta": {f"{META}subscriptionId": key}})
    else:
        notify(method, params)


def note(words):
    with open(NOTES, "a") as file:
        file.write(words + "\n")


def ask(key, wanted):
    """Ask the client, as the handshake era does, and wait for its answers."""
    for name in wanted:
        method, params = QUESTIONS[name]
        send({"id": f"{key}-{name}", "method": method, "params": params})
    keys = {f"{key}-{name}" for name in wanted}
    with ANSWERED:
        ANSWERED.wait_for(lambda: keys <= ANSWERS.keys())
    return {name: ANSWERS[f"{key}-{name}"] for name in wanted}


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def question(key, wanted, params):
    """The answers to questions, or what asks for them in the stateless era."""
    if SPOKEN["era"] == "handshake":
        return text(json.dumps(ask(key, wanted), sort_keys=True))
    if params.get("requestState") == "so far":
        return text(json.dumps(params.get("inputResponses"), sort_keys=True))
    requests = {name: {"method": QUESTIONS[name][0], "params": QUESTIONS[name][1]} for name in wanted}
    return {"resultType": "input_required", "inputRequests": requests, "requestState": "so far"}


def call(key, params):
    name, arguments, meta = params["name"], params.get("arguments") or {}, params.get("_meta") or {}
    token = meta.get("progressToken")
    if name == "echo":
        return ECHO
    if name == "slow":
        for step in range(1, int(arguments.get("steps", 1000))):
            if key in CANCELLED:
                note(f"cancelled {arguments.get('mark', '')}")
                return None
            if token is not None:
                progress = {"progressToken": token, "progress": step, "total": 1000, "message": f"step {step}"}
                notify("notifications/progress", progress)
            time.sleep(0.02)
        return text("slow")
    if name in QUESTIONS:
        return question(key, [name], params)
    if name == "both":
        return question(key, ["form", "write"], params)
    if name == "log":
        for level in ("debug", "warning"):
            notify("notifications/message", {"level": level, "logger": "server", "data": {"said": level}})
        return text("logged")
    if name == "shout":
        notify("notifications/message", {"level": "error", "data": "x" * int(arguments["size"])})
        return text("shouted")
    if name == "grow":
        if "says" in arguments:
            os.environ["SAYS"] = arguments["says"]
        else:
            NAMES.append("grown")
        announce("notifications/tools/list_changed")
        return text("grown")
    if name == "update":
        announce("notifications/resources/updated", {"uri": "test://static"})
        return text("updated")
    if name == "era":
        return text(SPOKEN["era"])
    if name == "meta":
        return text(json.dumps(meta, sort_keys=True))
    if name == "nap":
        time.sleep(float(arguments["seconds"]))
        return text(arguments.get("nonce", "") * int(arguments.get("times", 1)))
    return text(str(os.getpid()) if name == "pid" else name)


def answer(key, method, params):
    if method == "tools/list":
        empty = {"type": "object", "properties": {}}
        says = os.environ.get("SAYS", "")
        return {
            "tools": [
                {"name": name, "description": says, "inputSchema": empty, "_meta": {"ui": {"x": 1}}} for name in NAMES
            ]
        }
    if method == "tools/call":
        return call(key, params)
    if method == "resources/list":
        return {"resources": [{"uri": "test://static", "name": "static"}]}
    if method == "resources/templates/list":
        return {"resourceTemplates": [{"uriTemplate": "test://item/{id}", "name": "item"}]}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "text": f"read {params['uri']}"}], "_meta": {"b": 2}}
    if method == "prompts/list":
        return {"prompts": [{"name": "greet", "arguments": [{"name": "who", "required": True}]}]}
    if method == "prompts/get":
        words = f"Hello {params['arguments']['who']}"
        return {"messages": [{"role": "user", "content": {"type": "text", "text": words}}], "description": "d"}
    if method == "completion/complete":
        return {"completion": {"values": [params["argument"]["value"] + "!"], "total": 1}}
    return {}


OFFERED = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {},
    "completions": {},
    "logging": {},
}


def work(key, method, params):
    result = answer(key, method, params)
    if result is None:
        return
    if SPOKEN["era"] == "stateless":
        result = {"resultType": "complete", **result}
    send({"id": key, "result": result})


def main():
    for line in sys.stdin:
        message = json.loads(line)
        method, key, params = message.get("method"), message.get("id"), message.get("params") or {}
        if SPOKEN["era"] == "both" and key is not None:
            SPOKEN["era"] = "handshake" if method == "initialize" else "stateless"
        if method is None:
            with ANSWERED:
                ANSWERS[key] = message.get("result", message.get("error"))
                ANSWERED.notify_all()
        elif method == "notifications/cancelled":
            CANCELLED.add(params["requestId"])
        elif method == "initialize" and SPOKEN["era"] == "handshake":
            info = {"name": "server", "version": "1"}
            hello = {"protocolVersion": "2025-11-25", "capabilities": OFFERED, "serverInfo": info}
            send({"id": key, "result": {**hello, "instructions": "Use it well."}})
        elif method == "server/discover" and SPOKEN["era"] == "stateless":
            found = {"supportedVersions": ["2026-07-28"], "capabilities": OFFERED, "instructions": "Use it well."}
            send({"id": key, "result": {"resultType": "complete", **found}})
        elif method in ("initialize", "server/discover"):
            send({"id": key, "error": {"code": -32601, "message": "Method not found"}})
        elif method == "subscriptions/listen":
            SUBSCRIPTION[:] = [key]
            WATCHED.clear()
            WATCHED.update(params["notifications"].get("resourceSubscriptions", ()))
            mark = {"notifications": params["notifications"], "_meta": {f"{META}subscriptionId": key}}
            notify("notifications/subscriptions/acknowledged", mark)
        elif method == "tools/call" and params["name"] == "refuse":
            send({"id": key, "error": {"code": -32077, "message": "No.", "data": {"why": "so"}}})
        elif key is not None:
            if method == "resources/subscribe":
                WATCHED.add(params["uri"])
            if method == "resources/unsubscribe":
                WATCHED.discard(params["uri"])
            threading.Thread(target=work, args=(key, method, params), daemon=True).start()


if __name__ == "__main__":
    main()
