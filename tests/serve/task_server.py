"""A server over stdio that runs calls as tasks, on the standard library, of the era that its argument names.

Its tool `job` answers with its argument `text`. With `gate`, it works until a file of that name exists; with `ask`, it
asks a person first; with `fail`, it ends as a failed result or as an error. `plain` is never a task. The second
argument is a file for what was cancelled and what was asked about each task.
"""

import json
import os
import sys
import threading
import time

ERA, NOTES = sys.argv[1], sys.argv[2]
META = "io.modelcontextprotocol/"
TASKS = f"{META}tasks"
RELATED = f"{META}related-task"
STAMP = "2026-01-01T00:00:00Z"
OPEN = ("working", "input_required")
FORM = {
    "message": "Who are you?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}
OUT = threading.Lock()
NEWS = threading.Condition()
JOBS = {}
ANSWERS = {}


def send(message):
    with OUT:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def note(words):
    with open(NOTES, "a") as file:
        file.write(words + "\n")


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


class Job:
    """One task."""

    def __init__(self, params):
        self.arguments = params.get("arguments") or {}
        self.token = (params.get("_meta") or {}).get("progressToken")
        self.status, self.message, self.result, self.error, self.answer = "working", "begun", None, None, None
        self.id = f"job-{len(JOBS) + 1}"
        JOBS[self.id] = self

    def describe(self):
        interval, ttl = ("pollIntervalMs", "ttlMs") if ERA == "stateless" else ("pollInterval", "ttl")
        stamps = {"createdAt": STAMP, "lastUpdatedAt": STAMP, interval: 50, ttl: 60000}
        return {"taskId": self.id, "status": self.status, "statusMessage": self.message, **stamps}

    def describe_in_detail(self):
        more = {}
        if self.status == "input_required":
            more = {"inputRequests": {"name": {"method": "elicitation/create", "params": FORM}}}
        elif self.status == "completed":
            more = {"result": {"resultType": "complete", **self.result}}
        elif self.status == "failed":
            more = {"error": self.error}
        return {**self.describe(), **more}

    def change(self, status, message):
        with NEWS:
            if self.status not in OPEN:
                return
            self.status, self.message = status, message
            NEWS.notify_all()
        if ERA == "handshake":
            send({"method": "notifications/tasks/status", "params": self.describe()})

    def run(self):
        if self.token is not None:
            progress = {"progressToken": self.token, "progress": 1, "total": 2, "message": "half"}
            send({"method": "notifications/progress", "params": progress})
        words = self.arguments.get("text", "")
        if self.arguments.get("ask"):
            self.change("input_required", "needs a name")
            with NEWS:
                NEWS.wait_for(lambda: self.answer is not None or self.status not in OPEN)
            words = json.dumps(self.answer, sort_keys=True)
            self.change("working", "has a name")
        gate = self.arguments.get("gate")
        while gate and not os.path.exists(gate):
            if self.status not in OPEN:
                note(f"cancelled {words}")
                return
            time.sleep(0.02)
        self.end(words)

    def end(self, words):
        kind = self.arguments.get("fail")
        if kind == "error":
            self.error = {"code": -32077, "message": words}
            self.change("failed", "an error")
        elif kind == "result":
            self.result = text(words, isError=True)
            self.change("failed" if ERA == "handshake" else "completed", "a failure")
        else:
            self.result = text(words, _meta={"kept": 1})
            self.change("completed", "done")


def begin(params):
    job = Job(params)
    threading.Thread(target=job.run, daemon=True).start()
    return job


def give_result(key, job):
    """Answer `tasks/result`, which waits for the end of the task and asks what it needs meanwhile."""
    with NEWS:
        NEWS.wait_for(lambda: job.status != "working")
    if job.status == "input_required":
        send({"id": job.id, "method": "elicitation/create", "params": {**FORM, "_meta": {RELATED: {"taskId": job.id}}}})
        with NEWS:
            NEWS.wait_for(lambda: job.id in ANSWERS)
            job.answer = ANSWERS[job.id]
            NEWS.notify_all()
            NEWS.wait_for(lambda: job.status not in OPEN)
    if job.error is not None:
        send({"id": key, "error": job.error})
    else:
        send({"id": key, "result": {**job.result, "_meta": {RELATED: {"taskId": job.id}, "kept": 1}}})


def call(key, params):
    if params["name"] == "plain":
        return text("plain")
    if ERA == "stateless":
        declared = params["_meta"][f"{META}clientCapabilities"]
        assert TASKS in declared["extensions"], declared
        return {"resultType": "task", **begin(params).describe()}
    if "task" in params:
        return {"task": begin(params).describe()}
    return text("not a task")


def answer(key, method, params):
    if method == "tools/list":
        schema = {"type": "object", "properties": {}}
        job = {"name": "job", "inputSchema": schema}
        if ERA == "handshake":
            job["execution"] = {"taskSupport": "required"}
        return {"tools": [job, {"name": "plain", "inputSchema": schema}]}
    if method == "tools/call":
        return call(key, params)
    job = JOBS.get(params.get("taskId"))
    if method == "tasks/get":
        return job.describe() if ERA == "handshake" else job.describe_in_detail()
    if method == "tasks/update":
        with NEWS:
            job.answer = params["inputResponses"]["name"]
            NEWS.notify_all()
    if method == "tasks/cancel":
        job.change("cancelled", "as asked")
        return job.describe() if ERA == "handshake" else {}
    return {}


def greet(key, method):
    if method == "initialize" and ERA == "handshake":
        offered = {"tools": {}, "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}}
        info = {"name": "tasks", "version": "1"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": offered, "serverInfo": info}
        send({"id": key, "result": hello})
    elif method == "server/discover" and ERA == "stateless":
        offered = {"tools": {}, "extensions": {TASKS: {}}}
        hello = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": offered}
        send({"id": key, "result": hello})
    else:
        send({"id": key, "error": {"code": -32601, "message": "Method not found"}})


def main():
    for line in sys.stdin:
        message = json.loads(line)
        method, key, params = message.get("method"), message.get("id"), message.get("params") or {}
        if method is None:
            with NEWS:
                ANSWERS[key] = message.get("result", message.get("error"))
                NEWS.notify_all()
        elif method in ("initialize", "server/discover"):
            greet(key, method)
        elif method == "tasks/result":
            threading.Thread(target=give_result, args=(key, JOBS[params["taskId"]]), daemon=True).start()
        elif key is not None:
            result = answer(key, method, params)
            send({"id": key, "result": {"resultType": "complete", **result} if ERA == "stateless" else result})


if __name__ == "__main__":
    main()
