"""A server for the tests of secrets, over stdio, on the standard library: it repeats whatever it was given, in every form.

What it knows are the values of its variables that hold `canary`, and its arguments that do. It repeats them in the
errors of pings and of every other request, on stderr, in log messages, in progress and in failed results.
"""

import base64
import json
import os
import re
import sys
import urllib.parse


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def known():
    given = [*os.environ.values(), *sys.argv[1:]]
    return [value for value in given if "canary" in value]


def encode_base64(text):
    return base64.b64encode(text.encode()).decode()


FORMS = {
    "plain": lambda text: text,
    "json": lambda text: json.dumps({"value": text}),
    "json in json": lambda text: json.dumps(json.dumps({"value": text})),
    "php": lambda text: json.dumps(text).replace("/", "\\/"),
    "url": lambda text: urllib.parse.quote(text, safe=""),
    "path": urllib.parse.quote,
    "form": urllib.parse.quote_plus,
    "lower": lambda text: re.sub("%..", lambda code: code[0].lower(), urllib.parse.quote(text, safe="")),
    "base64": encode_base64,
    "base64 after one": lambda text: encode_base64("x" + text),
    "base64 after two": lambda text: encode_base64("xy" + text),
    "base64 within": lambda text: encode_base64(f"user:{text}:more"),
    "base64 for addresses": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "header": lambda text: f"Authorization: Bearer {text}",
    "basic": lambda text: f"Authorization: Basic {encode_base64('ana:' + text)}",
    "address": lambda text: f"https://host/{urllib.parse.quote(text, safe='')}/mcp#{urllib.parse.quote(text, safe='')}",
}


def tell(form):
    wanted = FORMS if form == "all" else [form]
    return " | ".join(FORMS[each](value) for each in wanted for value in known())


def tell_all():
    return tell("all")


def call(key, params):
    form = params["arguments"].get("form", "plain")
    token = params.get("_meta", {}).get("progressToken")
    if token is not None:
        send(
            {
                "method": "notifications/progress",
                "params": {"progressToken": token, "progress": 1, "message": tell(form)},
            }
        )
    send({"method": "notifications/message", "params": {"level": "error", "data": tell(form)}})
    sys.stderr.write(f"{tell(form)}\n")
    sys.stderr.flush()
    if params["name"] == "refuse":
        send({"id": key, "error": {"code": -32000, "message": tell(form), "data": {"was": tell(form)}}})
        return
    content = [{"type": "text", "text": tell(form)}, {"type": "resource_link", "uri": "x://y", "name": tell(form)}]
    send({"id": key, "result": {"content": content, "structuredContent": {"was": tell(form)}, "isError": True}})


def main():
    schema = {"type": "object", "properties": {"form": {"type": "string"}}}
    tools = [{"name": name, "description": name, "inputSchema": schema} for name in ("fail", "refuse")]
    for line in sys.stdin:
        message = json.loads(line)
        method, key, params = message.get("method"), message.get("id"), message.get("params") or {}
        if method == "initialize":
            info = {"name": f"leaker {tell_all()}", "version": "1"}
            offered = {"tools": {}, "logging": {}}
            send({"id": key, "result": {"protocolVersion": "2025-06-18", "capabilities": offered, "serverInfo": info}})
        elif method == "tools/list" and "--no-tools" in sys.argv:
            send({"id": key, "error": {"code": -32000, "message": tell_all()}})
        elif method == "tools/list":
            send({"id": key, "result": {"tools": tools}})
        elif method == "tools/call":
            call(key, params)
        elif key is not None:
            send({"id": key, "error": {"code": -32601, "message": f"no {method}: {tell_all()}"}})


main()
