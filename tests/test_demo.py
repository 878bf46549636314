"""The demo server as a client meets it: a real child process, one line of JSON at a time."""

import ast
import base64
import json
import os
import select
import signal
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mooring import demo

Json = dict[str, Any]
PATIENCE = 100.0
HINTS = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}


class Client:
    """A child process and the frames it has sent that no test has asked for yet."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-m", "mooring.demo"], stdin=pipe, stdout=pipe, stderr=pipe
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr
        self.keys = iter(range(1, 10_000))
        self.unread = b""
        self.frames: list[Json] = []

    def write(self, line: bytes) -> None:
        self.stdin.write(line + b"\n")
        self.stdin.flush()

    def send(self, **message: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def request(self, method: str, **params: Any) -> int:
        key = next(self.keys)
        self.send(id=key, method=method, params=params)
        return key

    def initialize(self, revision: str = demo.REVISIONS[-1], **capabilities: Any) -> Json:
        info = {"name": "test", "version": "1"}
        return self.ask("initialize", protocolVersion=revision, capabilities=capabilities, clientInfo=info)

    def ask(self, method: str, **params: Any) -> Json:
        return result(self.reply(self.request(method, **params)))

    def refusal(self, method: str, **params: Any) -> Json:
        error = self.reply(self.request(method, **params))["error"]
        assert isinstance(error, dict)
        return error

    def call_later(self, tool: str, token: str | int | None = None, **arguments: Any) -> int:
        meta = {} if token is None else {"_meta": {"progressToken": token}}
        return self.request("tools/call", name=tool, arguments=arguments, **meta)

    def call(self, tool: str, **arguments: Any) -> Json:
        return result(self.reply(self.call_later(tool, **arguments)))

    def cancel(self, key: int) -> None:
        self.send(method="notifications/cancelled", params={"requestId": key})

    def reply(self, key: int | None) -> Json:
        return self.until(lambda frame: frame.get("id", "none") == key and "method" not in frame)

    def notice(self, method: str) -> Json:
        """The parameters of the next notification or request of that kind."""
        params = self.until(lambda frame: frame.get("method") == method)["params"]
        assert isinstance(params, dict)
        return params

    def until(self, wanted: Callable[[Json], bool]) -> Json:
        for kept in self.frames:
            if wanted(kept):
                self.frames.remove(kept)
                return kept
        while (frame := self.read()) is not None:
            if wanted(frame):
                return frame
            self.frames.append(frame)
        raise AssertionError(f"the server ended; it had sent {self.frames}")

    def read(self) -> Json | None:
        """The next frame, or None when the server has closed its side."""
        deadline = time.monotonic() + PATIENCE
        while b"\n" not in self.unread:
            ready, _, _ = select.select([self.stdout], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"no frame for {PATIENCE} s; before that {self.frames}"
            if not (data := os.read(self.stdout.fileno(), 65536)):
                assert not self.unread, "the last frame is cut off"
                return None
            self.unread += data
        line, self.unread = self.unread.split(b"\n", 1)
        frame: Json = json.loads(line)
        assert frame.pop("jsonrpc") == "2.0"
        return frame

    def rest(self) -> list[Json]:
        """End the server by closing its stdin, and give everything that it still had to say."""
        self.stdin.close()
        while (frame := self.read()) is not None:
            self.frames.append(frame)
        return self.frames

    def exit(self) -> tuple[int, bytes]:
        """Wait for the end, which a test has brought about: the exit code and what stands on stderr."""
        code = self.process.wait(PATIENCE)
        return code, self.stderr.read()

    def close(self) -> None:
        try:
            self.stdin.close()
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
            self.stdout.close()
            self.stderr.close()


def result(reply: Json) -> Json:
    assert "error" not in reply, reply
    assert isinstance(reply["result"], dict)
    return reply["result"]


def text(outcome: Json) -> str:
    assert not outcome.get("isError"), outcome
    return str(outcome["content"][-1]["text"])


def complaint(outcome: Json) -> str:
    assert outcome["isError"] is True
    return str(outcome["content"][0]["text"])


@pytest.fixture
def start() -> Iterator[Callable[[], Client]]:
    clients: list[Client] = []

    def started() -> Client:
        clients.append(Client())
        return clients[-1]

    yield started
    for client in clients:
        client.close()


@pytest.fixture
def client(start: Callable[[], Client]) -> Iterator[Client]:
    """An initialized client without capabilities, whose server ends without a word when its stdin does."""
    client = start()
    client.initialize()
    client.send(method="notifications/initialized")
    yield client
    client.stdin.close()
    assert client.exit() == (0, b"")


@pytest.fixture
def person(client: Client) -> Client:
    """The same client, now saying that it can put questions to a person."""
    client.initialize(elicitation={})
    return client


# The handshake


@pytest.mark.parametrize("revision", demo.REVISIONS)
def test_a_revision_it_knows_is_the_one_spoken(start: Callable[[], Client], revision: str) -> None:
    assert start().initialize(revision)["protocolVersion"] == revision


@pytest.mark.parametrize("revision", ["2026-07-28", "1", ""])
def test_a_revision_it_does_not_know_is_answered_with_its_latest(client: Client, revision: str) -> None:
    assert client.initialize(revision)["protocolVersion"] == "2025-11-25"


def test_it_says_who_it_is_and_offers_what_it_has(client: Client) -> None:
    about = client.initialize()
    assert about["serverInfo"]["name"] == "mooring-demo"
    assert about["serverInfo"]["version"] == "1"
    assert about["capabilities"]["resources"] == {"subscribe": True}
    assert set(about["capabilities"]) == {"tools", "resources", "prompts", "completions", "logging"}
    assert "demo://readme" in about["instructions"]


def test_a_ping_is_answered(client: Client) -> None:
    assert client.ask("ping") == {}


def test_a_string_id_comes_back_as_it_was(client: Client) -> None:
    client.send(id="seven", method="ping")
    assert client.until(lambda frame: frame.get("id") == "seven") == {"id": "seven", "result": {}}


# The tools


def test_every_tool_says_what_it_is_and_what_it_does_to_the_world(client: Client) -> None:
    tools = {tool["name"]: tool for tool in client.ask("tools/list")["tools"]}
    assert set(tools) == {"echo", "add", "slow", "fail", "picture", "ask", "note"}
    for tool in tools.values():
        assert tool["title"]
        assert tool["description"].endswith(".")
        assert tool["inputSchema"]["type"] == "object"
        assert set(tool["annotations"]) == HINTS
        assert tool["annotations"]["destructiveHint"] is False
    assert [name for name in tools if not tools[name]["annotations"]["readOnlyHint"]] == ["note"]
    assert [name for name in tools if tools[name]["annotations"]["openWorldHint"]] == ["ask"]


@pytest.mark.parametrize("words", ["hello", "", "two\nlines", "żółw 🐢", "\ud800", "x" * 200_000])
def test_echo_gives_any_text_back_unchanged(client: Client, words: str) -> None:
    assert text(client.call("echo", text=words)) == words


@pytest.mark.parametrize(("a", "b", "total"), [(2, 3, 5), (0.5, 0.25, 0.75), (-1e15, 1, -999999999999999)])
def test_add_gives_the_sum_as_structure_and_as_text(client: Client, a: float, b: float, total: float) -> None:
    outcome = client.call("add", a=a, b=b)
    assert outcome["structuredContent"] == {"sum": total}
    assert json.loads(text(outcome)) == {"sum": total}


def test_fail_says_that_it_is_meant_to(client: Client) -> None:
    assert "meant to fail" in complaint(client.call("fail"))


def test_picture_is_a_sound_png_with_words_beside_it(client: Client) -> None:
    image, words = client.call("picture")["content"]
    assert (image["type"], image["mimeType"], words["type"]) == ("image", "image/png", "text")
    chunks = dict(png_chunks(base64.b64decode(image["data"], validate=True)))
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 2)
    assert len(zlib.decompress(chunks[b"IDAT"])) == height * (1 + 3 * width)


def png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at = 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body, (check,) = data[at + 8 : at + 8 + length], struct.unpack_from(">I", data, at + 8 + length)
        assert zlib.crc32(kind + body) == check
        yield kind, body
        at += 12 + length


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("echo", {}, "echo needs the argument 'text'."),
        ("echo", {"text": 1}, "'text' must be a string."),
        ("echo", {"text": "a", "loud": True}, "echo has no argument 'loud'; it takes text."),
        ("fail", {"x": 1}, "fail has no argument 'x'; it takes none."),
        ("add", {"a": 1, "b": "2"}, "'b' must be a number."),
        ("add", {"a": True, "b": 2}, "'a' must be a number."),
        ("add", {"a": 10**400, "b": 2}, "'a' must be between"),
        ("slow", {"seconds": -1}, "'seconds' must be between 0 and 600."),
        ("slow", {"seconds": 0, "steps": 1.5}, "'steps' must be a whole number."),
        ("slow", {"seconds": 0, "steps": 0}, "'steps' must be between 1 and 100."),
        ("ask", {"question": None}, "'question' must be a string."),
    ],
)
def test_a_wrong_argument_is_an_error_that_a_model_can_mend(
    client: Client, tool: str, arguments: Json, words: str
) -> None:
    assert words in complaint(client.call(tool, **arguments))


def test_a_tool_that_is_not_there_is_refused_with_those_that_are(client: Client) -> None:
    error = client.refusal("tools/call", name="erase", arguments={})
    assert error["code"] == -32602
    assert "'erase'" in error["message"]
    assert "echo" in error["message"]


def test_a_tool_without_arguments_needs_none_given(client: Client) -> None:
    assert complaint(client.ask("tools/call", name="fail"))
    assert complaint(client.ask("tools/call", name="fail", arguments=None))


# Long calls


@pytest.mark.parametrize("token", ["mine", 0])
def test_slow_reports_each_step_before_it_answers(client: Client, token: str | int) -> None:
    outcome = result(client.reply(client.call_later("slow", token, seconds=0.05, steps=3.0)))
    assert text(outcome) == "Took 0.05 seconds in 3 steps."
    steps = [frame["params"] for frame in client.frames]
    assert [(step["progressToken"], step["progress"], step["total"]) for step in steps] == [
        (token, step, 3) for step in range(4)
    ]


def test_slow_reports_nothing_to_who_did_not_ask(client: Client) -> None:
    client.call("slow", seconds=0.01)
    assert client.frames == []


def test_others_are_answered_while_slow_takes_its_time(client: Client) -> None:
    client.call_later("slow", seconds=600)
    assert text(client.call("echo", text="meanwhile")) == "meanwhile"


def test_a_cancelled_call_stops_and_is_never_answered(client: Client) -> None:
    key = client.call_later("slow", "t", seconds=1, steps=1)
    client.notice("notifications/progress")
    client.cancel(key)
    client.call("slow", seconds=1.2)  # the cancelled one would have ended by then
    assert client.rest() == []


@pytest.mark.parametrize("params", [{"requestId": 99}, {"requestId": [1]}, {}, [], None])
def test_a_cancellation_of_nothing_is_ignored(client: Client, params: object) -> None:
    client.send(method="notifications/cancelled", params=params)
    assert client.ask("ping") == {}
    assert client.rest() == []


def test_frames_of_many_calls_at_once_are_never_torn(client: Client) -> None:
    keys = [client.call_later("slow", f"t{n}", seconds=0.1, steps=50) for n in range(20)]
    for key in keys:
        result(client.reply(key))
    for n in range(20):
        steps = [frame["params"] for frame in client.frames if frame["params"]["progressToken"] == f"t{n}"]
        assert [step["progress"] for step in steps] == list(range(51))


def test_one_long_call_too_many_is_refused_and_the_rest_go_on(client: Client) -> None:
    for _ in range(demo.MOST):
        last = client.call_later("slow", seconds=600)
    assert client.refusal("tools/call", name="slow", arguments={"seconds": 0})["code"] == -32000
    client.cancel(last)
    assert client.ask("ping") == {}


# Asking the person


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"action": "accept", "content": {"answer": "blue"}}, "The person answered: blue"),
        ({"action": "decline"}, "The person declined to answer."),
        ({"action": "cancel"}, "The person closed the question without answering."),
    ],
)
def test_ask_reports_what_the_person_did(person: Client, reply: Json, words: str) -> None:
    key = person.call_later("ask", question="Which colour?")
    asked = person.until(lambda frame: frame.get("method") == "elicitation/create")
    assert asked["params"]["message"] == "Which colour?"
    assert asked["params"]["requestedSchema"]["required"] == ["answer"]
    person.send(id=asked["id"], result=reply)
    assert text(result(person.reply(key))) == words


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"error": {"code": -1, "message": "no screen"}}, "The client could not ask: no screen"),
        ({"error": "odd"}, "neither an answer nor a refusal"),
        ({"result": None}, "neither an answer nor a refusal"),
        ({"result": {"action": ["accept"]}}, "neither an answer nor a refusal"),
        ({"result": {"action": "accept", "content": {"answer": 5}}}, "neither an answer nor a refusal"),
    ],
)
def test_ask_fails_in_words_when_the_client_cannot_ask(person: Client, reply: Json, words: str) -> None:
    key = person.call_later("ask", question="Which?")
    asked = person.until(lambda frame: frame.get("method") == "elicitation/create")
    person.send(id=asked["id"], **reply)
    assert words in complaint(result(person.reply(key)))


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"elicitation": True}])
def test_without_the_capability_nobody_is_asked(client: Client, capabilities: Json) -> None:
    client.initialize(**capabilities)
    assert "elicitation" in complaint(client.call("ask", question="Which?"))
    assert client.rest() == []


def test_a_client_that_names_the_form_mode_is_asked(client: Client) -> None:
    client.initialize(elicitation={"form": {}, "url": {}})
    client.call_later("ask", question="Which?")
    assert client.notice("elicitation/create")["message"] == "Which?"


def test_two_questions_are_told_apart(person: Client) -> None:
    keys = {name: person.call_later("ask", question=name) for name in ("first", "second")}
    asked = [person.until(lambda frame: frame.get("method") == "elicitation/create") for _ in keys]
    for question in reversed(asked):
        answer = {"answer": question["params"]["message"].upper()}
        person.send(id=question["id"], result={"action": "accept", "content": answer})
    for name, key in keys.items():
        assert text(result(person.reply(key))) == f"The person answered: {name.upper()}"


def test_a_cancelled_ask_withdraws_its_question(person: Client) -> None:
    key = person.call_later("ask", question="Which?")
    asked = person.until(lambda frame: frame.get("method") == "elicitation/create")
    person.cancel(key)
    assert person.notice("notifications/cancelled")["requestId"] == asked["id"]
    person.send(id=asked["id"], result={"action": "decline"})
    assert person.ask("ping") == {}
    assert person.rest() == []


# Resources


def test_every_listed_resource_can_be_read_as_what_it_says_it_is(client: Client) -> None:
    resources = {resource["uri"]: resource for resource in client.ask("resources/list")["resources"]}
    assert set(resources) == {"demo://readme", "demo://clock", "demo://notes", "demo://picture"}
    for uri, resource in resources.items():
        (content,) = client.ask("resources/read", uri=uri)["contents"]
        assert (content["uri"], content["mimeType"]) == (uri, resource["mimeType"])
        assert ("blob" in content) == (uri == "demo://picture")


def test_the_readme_names_every_tool(client: Client) -> None:
    (content,) = client.ask("resources/read", uri="demo://readme")["contents"]
    assert content["mimeType"] == "text/markdown"
    assert all(f"`{tool['name']}`" in content["text"] for tool in client.ask("tools/list")["tools"])


def test_the_picture_is_the_same_as_a_tool_result_and_as_a_resource(client: Client) -> None:
    (content,) = client.ask("resources/read", uri="demo://picture")["contents"]
    assert content["blob"] == client.call("picture")["content"][0]["data"]


@pytest.mark.parametrize("uri", ["demo://none", "demo://greeting/", "demo://greeting/a/b", "file:///x", ""])
@pytest.mark.parametrize("method", ["resources/read", "resources/subscribe"])
def test_a_resource_that_is_not_there_is_refused_by_name(client: Client, method: str, uri: str) -> None:
    error = client.refusal(method, uri=uri)
    assert (error["code"], error["data"]) == (-32002, {"uri": uri})


def test_a_note_is_kept_and_told_to_who_subscribed(client: Client) -> None:
    assert client.ask("resources/subscribe", uri="demo://notes") == {}
    client.call("note", text="first")
    assert client.notice("notifications/resources/updated") == {"uri": "demo://notes"}
    client.call("note", text="second")
    (content,) = client.ask("resources/read", uri="demo://notes")["contents"]
    assert content["text"] == "first\nsecond\n"


def test_a_note_is_told_to_nobody_else(client: Client) -> None:
    client.ask("resources/subscribe", uri="demo://readme")
    client.ask("resources/subscribe", uri="demo://notes")
    client.ask("resources/unsubscribe", uri="demo://notes")
    client.call("note", text="quiet")
    assert client.rest() == []


def test_the_clock_ticks_for_who_subscribed_and_has_moved_on_by_then(client: Client) -> None:
    (before,) = client.ask("resources/read", uri="demo://clock")["contents"]
    client.ask("resources/subscribe", uri="demo://clock")
    for _ in range(2):
        assert client.notice("notifications/resources/updated") == {"uri": "demo://clock"}
    (after,) = client.ask("resources/read", uri="demo://clock")["contents"]
    assert after["text"] > before["text"]


def test_the_clock_falls_silent_once_unsubscribed(client: Client) -> None:
    client.ask("resources/subscribe", uri="demo://clock")
    client.ask("resources/subscribe", uri="demo://clock")
    client.notice("notifications/resources/updated")
    client.ask("resources/unsubscribe", uri="demo://clock")
    client.frames.clear()
    client.call("slow", seconds=1.2)  # no second is longer
    assert client.rest() == []


def test_unsubscribing_from_what_was_never_subscribed_changes_nothing(client: Client) -> None:
    assert client.ask("resources/unsubscribe", uri="demo://clock") == {}


def test_the_template_greets_whoever_is_named(client: Client) -> None:
    (template,) = client.ask("resources/templates/list")["resourceTemplates"]
    uri = template["uriTemplate"].replace("{name}", "Zo%C3%AB%20B")
    (content,) = client.ask("resources/read", uri=uri)["contents"]
    assert content == {"uri": uri, "mimeType": "text/plain", "text": "Hello, Zoë B!"}


# Prompts and completion


def test_the_prompt_speaks_of_its_topic(client: Client) -> None:
    (prompt,) = client.ask("prompts/list")["prompts"]
    assert [(one["name"], one["required"]) for one in prompt["arguments"]] == [("topic", True)]
    (message,) = client.ask("prompts/get", name=prompt["name"], arguments={"topic": "roots"})["messages"]
    assert message["role"] == "user"
    assert "roots" in message["content"]["text"]


@pytest.mark.parametrize(
    ("ref", "name", "typed", "values"),
    [
        ({"type": "ref/resource", "uri": "demo://greeting/{name}"}, "name", "a", ["Ada", "Alan"]),
        ({"type": "ref/resource", "uri": "demo://greeting/{name}"}, "name", "zz", []),
        ({"type": "ref/prompt", "name": "explain"}, "topic", "pro", ["progress", "prompts"]),
    ],
)
def test_what_was_typed_is_completed(client: Client, ref: Json, name: str, typed: str, values: Any) -> None:
    found = client.ask("completion/complete", ref=ref, argument={"name": name, "value": typed})
    assert found == {"completion": {"values": values, "total": len(values), "hasMore": False}}


# Logging


def test_at_level_debug_each_call_is_logged_and_above_it_none(client: Client) -> None:
    client.call("echo", text="secret")
    client.ask("logging/setLevel", level="debug")
    client.call("echo", text="secret")
    client.ask("logging/setLevel", level="info")
    client.call("echo", text="secret")
    (logged,) = client.rest()
    assert logged["method"] == "notifications/message"
    assert logged["params"] == {"level": "debug", "logger": "mooring-demo", "data": "echo was called"}


# Bad input


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("initialize", {}),
        ("initialize", {"protocolVersion": 1, "capabilities": {}}),
        ("initialize", {"protocolVersion": "1", "capabilities": []}),
        ("tools/list", {"cursor": "2"}),
        ("resources/list", {"cursor": 1}),
        ("resources/templates/list", {"cursor": ""}),
        ("prompts/list", {"cursor": "x"}),
        ("tools/call", {}),
        ("tools/call", {"name": ["slow"]}),
        ("tools/call", {"name": "echo", "arguments": [1]}),
        ("tools/call", {"name": "slow", "arguments": "now"}),
        ("resources/read", {}),
        ("resources/read", {"uri": 1}),
        ("resources/subscribe", {"uri": {}}),
        ("resources/unsubscribe", {}),
        ("prompts/get", {"name": "sing", "arguments": {}}),
        ("prompts/get", {"name": "explain"}),
        ("prompts/get", {"name": "explain", "arguments": {"topic": 1}}),
        ("completion/complete", {"ref": {"type": "ref/prompt"}, "argument": {"name": "a", "value": ""}}),
        ("completion/complete", {"ref": {"type": "x", "name": "a"}, "argument": {"name": "b", "value": ""}}),
        ("completion/complete", {"ref": 1, "argument": 2}),
        ("logging/setLevel", {"level": "loud"}),
        ("logging/setLevel", {"level": ["debug"]}),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(client: Client, method: str, params: Json) -> None:
    error = client.refusal(method, **params)
    assert error["code"] == -32602
    assert error["message"].endswith(".")


@pytest.mark.parametrize("method", ["server/discover", "sampling/createMessage", "", "tools"])
def test_a_method_that_is_not_there_is_refused_by_name(client: Client, method: str) -> None:
    error = client.refusal(method)
    assert error["code"] == -32601
    assert repr(method) in error["message"]


@pytest.mark.parametrize(
    ("line", "key", "code"),
    [
        (b"hello", None, -32700),
        (b'{"jsonrpc":"2.0","id":500,"method":"ping"', None, -32700),
        (b'{"jsonrpc":"2.0","id":500,"method":"ping","params":{"x":NaN}}', None, -32700),
        (b'"\xff\xfe"', None, -32700),
        (b"[" * 200_000, None, -32700),
        (b"1" * 5_000, None, -32700),
        (b"[]", None, -32600),
        (b"null", None, -32600),
        (b'[{"jsonrpc":"2.0","id":500,"method":"ping"}]', None, -32600),
        (b"{}", None, -32600),
        (b'{"jsonrpc":"1.0","id":500,"method":"ping"}', 500, -32600),
        (b'{"jsonrpc":"2.0","id":500,"method":7}', 500, -32600),
        (b'{"jsonrpc":"2.0","id":500}', 500, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":500,"method":"ping","params":[1]}', 500, -32602),
        (b'{"jsonrpc":"2.0","id":500,"method":"ping","params":null}', 500, -32602),
    ],
)
def test_a_bad_line_gets_its_error_and_the_server_goes_on(
    client: Client, line: bytes, key: int | None, code: int
) -> None:
    client.write(line)
    assert client.reply(key)["error"]["code"] == code
    assert client.ask("ping") == {}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"  \r",
        b'{"jsonrpc":"2.0","method":"notifications/unheard"}',
        b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"note","arguments":{"text":"x"}}}',
        b'{"jsonrpc":"2.0","id":99,"result":{}}',
        b'{"jsonrpc":"2.0","id":[99],"result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"?"}}',
    ],
)
def test_what_wants_no_answer_gets_none(client: Client, line: bytes) -> None:
    client.write(line)
    assert client.ask("ping") == {}
    assert client.rest() == []


def test_a_batch_is_taken_in_the_one_revision_that_has_them(client: Client) -> None:
    client.initialize("2025-03-26")
    client.write(b'[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"nope"}]')
    assert client.until(lambda frame: frame.get("id") == "a")["result"] == {}
    assert client.until(lambda frame: frame.get("id") == "b")["error"]["code"] == -32601


# The end


def test_it_ends_at_once_when_stdin_does_whatever_is_under_way(client: Client) -> None:
    client.initialize(elicitation={})
    client.ask("resources/subscribe", uri="demo://clock")
    client.call_later("slow", "t", seconds=600)
    client.notice("notifications/progress")
    client.call_later("ask", question="Which?")
    client.notice("elicitation/create")
    client.stdin.close()
    assert client.exit() == (0, b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_without_a_word(client: Client, number: signal.Signals) -> None:
    client.call_later("slow", "t", seconds=600)
    client.notice("notifications/progress")
    client.process.send_signal(number)
    assert client.exit() == (0, b"")


@pytest.mark.parametrize("tool", ["echo", "slow"])
def test_a_client_that_no_longer_listens_ends_it_without_a_word(client: Client, tool: str) -> None:
    arguments: Json = {"text": "hello"} if tool == "echo" else {"seconds": 0}
    client.stdout.close()
    client.call_later(tool, **arguments)
    assert client.exit() == (0, b"")


def test_a_last_line_without_its_newline_is_still_answered(client: Client) -> None:
    client.stdin.write(b'{"jsonrpc":"2.0","id":"last","method":"ping"}')
    assert client.rest() == [{"id": "last", "result": {}}]


# What it costs


def test_it_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(demo.__file__).read_text(encoding="utf-8"))
    named = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in named} <= sys.stdlib_module_names


def test_it_is_ready_within_five_times_the_tenth_of_a_second_it_promises(start: Callable[[], Client]) -> None:
    def seconds() -> float:
        began = time.perf_counter()
        start().initialize()
        return time.perf_counter() - began

    assert any(seconds() < 0.5 for _ in range(20))
