"""A server for the tests of the registry, over stdio, on the standard library: it answers what it is asked to answer.

`tell` gives back the result that it is called with, `flood` a text of so many bytes, `nap` sleeps, `count` counts.
Its first argument is a file of JSON: `tools` are further tools, as the protocol has them, which answer with what they
were called with.
"""

import json
import sys
import threading
import time

ANY = {"type": "object"}
COUNT = [0]
OUT = threading.Lock()


def tools():
    with open(sys.argv[1]) as file:
        more = json.load(file).get("tools", [])
    own = [{"name": name, "inputSchema": ANY} for name in ("tell", "flood", "nap", "count")]
    return [*own, *more]


def answer(name, arguments):
    if name == "tell":
        return arguments
    if name == "count":
        COUNT[0] += 1
        return say(str(COUNT[0]))
    if name == "nap":
        time.sleep(arguments["seconds"])
        return say("rested")
    return say(json.dumps(arguments))


def say(text):
    return {"content": [{"type": "text", "text": text}]}


def flood(key, size, unit="x"):
    """A line as long as is wanted, of which only pieces are in memory."""
    write = sys.stdout.buffer.write
    with OUT:
        write(f'{{"jsonrpc":"2.0","id":{key},"result":{{"content":[{{"type":"text","text":"'.encode())
        piece = (unit * 65536)[:65536].encode()
        for at in range(0, size, len(piece)):
            write(piece[: size - at])
        write(b'"}]}}\n')
        sys.stdout.buffer.flush()


def send(key, result):
    with OUT:
        sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", "id": key, "result": result}).encode() + b"\n")
        sys.stdout.buffer.flush()


def handle(message):
    key, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if method == "initialize":
        info = {"name": "teller", "version": "1"}
        send(key, {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        send(key, {"tools": tools()})
    elif method == "tools/call" and params["name"] == "flood":
        flood(key, params["arguments"]["bytes"])
    elif method == "tools/call":
        send(key, answer(params["name"], params.get("arguments", {})))
    elif key is not None:
        send(key, {})


for line in sys.stdin.buffer:
    threading.Thread(target=handle, args=(json.loads(line),), daemon=True).start()
