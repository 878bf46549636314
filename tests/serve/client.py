"""A client of `mooring serve` for tests: a process behind pipes, one JSON message a line, in either era."""

import asyncio
import json
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Mapping
from typing import Any, Literal

from support import Home
from warm import start_mooring

META = "io.modelcontextprotocol/"
SECONDS = 30.0
"""How long to wait for anything: only a hang takes as long."""
ALL = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
Json = dict[str, Any]
Era = Literal["handshake", "stateless"]
RAW = ("--names", "raw", "--permission-mode", "bypass")
"""The tools under their own names, and nothing asked about them."""


def accept(method: str, params: Json) -> Json:
    """Answers whatever a client is asked."""
    match method:
        case "elicitation/create" if "answer" in params["requestedSchema"]["properties"]:
            return {"action": "accept", "content": {"answer": "once"}}
        case "elicitation/create":
            return {"action": "accept", "content": {"name": "Ada"}}
        case "sampling/createMessage":
            return {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Written."}}
        case _:
            return {"roots": [{"uri": "file:///client", "name": "client"}]}


class ServeClient:
    """One client. Whatever it is asked, it answers with `answer`; what it was asked and notified of is kept.

    The process of `mooring serve` is a warm one, unless it shall be `real`.
    """

    def __init__(
        self,
        home: Home,
        *words: str,
        era: Era = "handshake",
        capabilities: Json | None = None,
        answer: Callable[[str, Json], Json] = accept,
        env: Mapping[str, str] | None = None,
        real: bool = False,
    ) -> None:
        self.era = era
        self.capabilities = ALL if capabilities is None else capabilities
        self.answer = answer
        self.asked: list[tuple[str, Json]] = []
        self.notes: list[tuple[str, Json]] = []
        self.noise: list[bytes] = []
        self._last = 0
        self._messages: queue.Queue[Json | None] = queue.Queue()
        pipe = subprocess.PIPE
        environment = {**home.env, **(env or {})}
        self.process = start_mooring(
            ["serve", *words], cwd=home.cwd, env=environment, real=real, stdin=pipe, stdout=pipe, stderr=pipe
        )
        self.errors: list[bytes] = []
        self._advice: queue.Queue[str] = queue.Queue()
        self._readers = [threading.Thread(target=each, daemon=True) for each in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> "ServeClient":
        if self.era == "handshake":
            self.initialize()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def initialize(self, version: str = "2025-11-25") -> Json:
        info = {"name": "test", "version": "1"}
        hello = self.request(
            "initialize", {"protocolVersion": version, "capabilities": self.capabilities, "clientInfo": info}
        )
        self.send({"method": "notifications/initialized"})
        return hello

    # --- requests -------------------------------------------------------------------------------------------------

    def request(self, method: str, params: Json | None = None, meta: Json | None = None) -> Json:
        """The result of a request, or its error; in the stateless era, after as many rounds as it takes."""
        params = params or {}
        more: Json = {}
        while True:
            reply = self.wait(self.begin(method, {**params, **more}, meta))
            result = reply.get("result")
            if result is None or result.get("resultType") != "input_required":
                return result if result is not None else {"error": reply["error"]}
            more = {"requestState": result["requestState"], "inputResponses": self._respond(result["inputRequests"])}

    def call(self, tool: str, meta: Json | None = None, **arguments: Any) -> Json:
        return self.request("tools/call", {"name": tool, "arguments": arguments}, meta)

    def begin(self, method: str, params: Json | None = None, meta: Json | None = None) -> int:
        """Send a request; returns its id."""
        self._last += 1
        carried = {**(params or {}), "_meta": {**(meta or {}), **self._own_meta()}}
        self.send({"id": self._last, "method": method, "params": carried})
        return self._last

    def cancel(self, key: int) -> None:
        self.send({"method": "notifications/cancelled", "params": {"requestId": key}})

    def send(self, message: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def _own_meta(self) -> Json:
        if self.era == "handshake":
            return {}
        return {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": self.capabilities}

    def _respond(self, requests: Json) -> Json:
        self.asked += [(request["method"], request.get("params", {})) for request in requests.values()]
        return {key: self.answer(request["method"], request.get("params", {})) for key, request in requests.items()}

    # --- what comes -----------------------------------------------------------------------------------------------

    def wait(self, key: int) -> Json:
        """The answer to a request; what comes before it is kept or answered."""
        return self._take_until(lambda message: message.get("id") == key and "method" not in message)

    def wait_note(self, method: str) -> Json:
        """The parameters of the first notification of a method, now or later."""
        for name, params in self.notes:
            if name == method:
                return params
        return self._take_until(lambda message: message.get("method") == method).get("params", {})

    def _take_until(self, is_wanted: Callable[[Json], bool]) -> Json:
        while True:
            message = self._messages.get(timeout=SECONDS)
            assert message is not None, f"mooring serve ended: {b''.join(self.errors).decode()}"
            self._take(message)
            if is_wanted(message):
                return message

    def _take(self, message: Json) -> None:
        method = message.get("method")
        if method is None:
            return
        params = message.get("params", {})
        if "id" in message:
            self.asked.append((method, params))
            self.send({"id": message["id"], "result": self.answer(method, params)})
        else:
            self.notes.append((method, params))

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                self._messages.put(json.loads(line))
            except ValueError:
                self.noise.append(line)
        self._messages.put(None)

    def wait_advice(self) -> str:
        """The next line on stderr, where a person is told what they can do."""
        return self._advice.get(timeout=SECONDS)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors.append(line)
            self._advice.put(line.decode())

    def close(self) -> int:
        """Close its input; returns the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self._finish()

    def kill(self) -> None:
        """End `mooring serve` as the kernel would, without a chance to clean up."""
        os.kill(self.process.pid, 9)
        self._finish()

    def _finish(self) -> int:
        code = self.process.wait(SECONDS)
        for reader in self._readers:
            reader.join(SECONDS)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        return code


async def call_tools(home: Home, era: Era, *tools: str) -> list[Any]:
    """What a client of an era gets from these tools, over stdin and stdout."""

    def talk() -> list[Any]:
        with ServeClient(home, *RAW, era=era) as client:
            return [client.call(tool) for tool in tools]

    return await asyncio.to_thread(talk)
