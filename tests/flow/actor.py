"""A server for the tests of the host, over stdio, on the standard library: it does what it is told.

Its first argument is a file of JSON: `tools` are further tools that only answer with their name, `describe` what is
said of some, `shape` further fields of their definitions, `die` ends it at its start, `late` is how many seconds it takes to begin, `deaf` lets subscriptions go
unanswered, `bare` has it offer no resources, `mute` lets
pings go unanswered, `resources`, `templates` and `prompts` are what it lists, and a further tool `link` answers with a link to
the address it is given, a further tool `void` answers with nothing, `roots` has it ask for the roots as it starts, as server-filesystem does: a further tool `where`
answers with those it works in by then; `structured` is what it answers with besides the text, `says` that text; `instructions` how it is to be used; `content` is what it answers when a resource is read. It notes every method that it is asked for in `<file>.asked`. It appends its process id to `<file>.starts`, for each nap to `<file>.naps`, the name of
each tool that has answered to `<file>.answers`, the arguments of each call to `<file>.arguments`, what its client can do to `<file>.capabilities`, what is read to `<file>.reads`, and what is subscribed to and no longer
to `<file>.subscriptions`.
"""

import json
import os
import sys
import threading
import time

PATH = sys.argv[1]
OUT = threading.Lock()
ROOTS = []
HINTS = {"whoami": {"readOnlyHint": True}, "fragile": {"readOnlyHint": True}}


def script():
    with open(PATH) as file:
        return json.load(file)


def note(kind, text):
    with open(f"{PATH}.{kind}", "a") as file:
        file.write(f"{text}\n")


def send(message):
    with OUT:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def tools():
    names = ["whoami", "die", "nap", "count", "fragile", "change", "update", "complain", *script().get("tools", [])]
    empty = {"type": "object", "properties": {}}
    words = script().get("describe", {})
    shape = script().get("shape", {})
    return [
        {
            "name": name,
            "inputSchema": empty,
            "annotations": HINTS.get(name, {}),
            "description": words.get(name, name),
            **shape.get(name, {}),
        }
        for name in names
    ]


def call(key, name, arguments):
    text = name
    note("arguments", json.dumps(arguments))
    if name == "whoami":
        text = str(os.getpid())
    elif name == "die":
        os._exit(int(arguments.get("code", 3)))
    elif name == "nap":
        note("naps", os.getpid())
        time.sleep(float(arguments.get("seconds", 1)))
    elif name == "count":
        note("counts", os.getpid())
        if arguments.get("die"):
            os._exit(4)
    elif name == "fragile":
        note("counts", os.getpid())
        if not os.path.exists(f"{PATH}.broken"):
            note("broken", "once")
            os._exit(5)
    elif name == "change":
        for _ in range(int(arguments.get("times", 1))):
            send({"method": "notifications/tools/list_changed"})
    elif name == "update":
        send({"method": "notifications/resources/updated", "params": {"uri": "actor://clock"}})
    elif name == "complain":
        sys.stderr.write("this is stderr\n")
        sys.stderr.flush()
        send(
            {
                "method": "notifications/message",
                "params": {
                    "level": "warning",
                    "data": f"this is a message{os.environ.get(arguments.get('about', ''), '')}",
                },
            }
        )
    elif name == "where":
        text = " ".join(ROOTS) or "nowhere"
    content = {"type": "text", "text": script().get("says", {}).get(name, text)}
    if name == "link":
        content = {"type": "resource_link", "uri": arguments["uri"], "name": "x"}
    structured = script().get("structured", {}).get(name)
    more = {} if structured is None else {"structuredContent": structured}
    # Before the answer: whoever has it may end this process at once.
    note("answers", name)
    send({"id": key, "result": {"content": [] if name == "void" else [content], **more}})


LISTS = {
    "resources/list": ("resources", lambda uri: {"uri": uri, "name": uri}),
    "resources/templates/list": ("templates", lambda uri: {"uriTemplate": uri, "name": uri}),
    "prompts/list": ("prompts", lambda name: {"name": name}),
}


def work_in(roots):
    time.sleep(0.01)  # server-filesystem looks each of them up on the disk, and takes calls meanwhile
    ROOTS[:] = [root["uri"] for root in roots]


def offer(key, method):
    kind, make = LISTS[method]
    called = "resourceTemplates" if kind == "templates" else kind
    send({"id": key, "result": {called: [make(each) for each in script().get(kind, [])]}})


def main():
    note("starts", os.getpid())
    told = script()
    if told.get("die"):
        sys.stderr.write("I was told to die\n")
        sys.exit(7)
    time.sleep(told.get("late", 0))
    for line in sys.stdin:
        message = json.loads(line)
        method, key, params = message.get("method"), message.get("id"), message.get("params") or {}
        note("asked", method)
        if method == "initialize":
            offered = {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "logging": {}}
            if script().get("bare"):
                del offered["resources"]
            if script().get("prompts"):
                offered |= {"prompts": {}, "completions": {}}
            told = {
                "protocolVersion": "2025-06-18",
                "capabilities": offered,
                "serverInfo": {"name": "actor", "version": "1"},
                **({"instructions": script()["instructions"]} if "instructions" in script() else {}),
            }
            note("capabilities", json.dumps(params["capabilities"], sort_keys=True).replace(" ", ""))
            send({"id": key, "result": told})
        elif method == "notifications/initialized" and script().get("roots"):
            send({"id": "roots", "method": "roots/list"})
        elif key == "roots" and method is None:
            threading.Thread(target=work_in, args=(message["result"]["roots"],), daemon=True).start()
        elif method == "tools/list":
            note("lists", time.time())
            send({"id": key, "result": {"tools": tools()}})
        elif method == "resources/read" and params["uri"] == "actor://secret":
            send({"id": key, "error": {"code": -32000, "message": f"no: {os.environ.get('API_TOKEN')}"}})
        elif method == "resources/read":
            note("reads", params["uri"])
            content = script().get("content", {"text": str(time.time())})
            send({"id": key, "result": {"contents": [{"uri": params["uri"], **content}]}})
        elif method in ("resources/subscribe", "resources/unsubscribe"):
            note("subscriptions", f"{method.partition('/')[2]}:{params['uri']}")
            if not script().get("deaf"):
                send({"id": key, "result": {}})
        elif method in LISTS and script().get(LISTS[method][0]) is not None:
            offer(key, method)
        elif method == "prompts/get":
            send({"id": key, "result": {"messages": []}})
        elif method == "completion/complete":
            send({"id": key, "result": {"completion": {"values": ["x"]}}})
        elif method == "ping":
            note("pings", os.getpid())
            if not script().get("mute"):
                send({"id": key, "result": {}})
        elif method == "tools/call":
            threading.Thread(
                target=call, args=(key, params["name"], params.get("arguments") or {}), daemon=True
            ).start()
        elif key is not None:
            send({"id": key, "error": {"code": -32601, "message": "Method not found"}})


if __name__ == "__main__":
    main()
