"""`mooring serve` between a client and a server of either era: what one sends, the other gets, whichever they speak."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from client import META, Era, ServeClient

from mooring.core.protocol.raw import DEEPEST
from support import Home

SERVER = Path(__file__).parent / "server.py"
CROSSINGS = [
    ("handshake", "handshake"),
    ("handshake", "stateless"),
    ("stateless", "handshake"),
    ("stateless", "stateless"),
]
"""The era of the client, then that of the server."""

Connect = Callable[..., ServeClient]


@pytest.fixture(params=CROSSINGS, ids=lambda pair: f"{pair[0]}-client-{pair[1]}-server")
def eras(request: pytest.FixtureRequest) -> tuple[Era, Era]:
    found: tuple[Era, Era] = request.param
    return found


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def connect(home: Home, eras: tuple[Era, Era], notes: Path) -> Iterator[Connect]:
    """Connects a client of one era to a server of the other, through `mooring serve`."""
    client_era, server_era = eras
    home.configure(box={"command": sys.executable, "args": [str(SERVER), server_era, str(notes)]})
    opened: list[ServeClient] = []

    def connect(*words: str, **options: Any) -> ServeClient:
        words = words or ("--permission-mode", "bypass")
        opened.append(ServeClient(home, "--names", "raw", *words, era=client_era, **options))
        return opened[-1].__enter__()

    yield connect
    for client in opened:
        client.close()


def text(result: Any) -> Any:
    return result["content"][0]["text"]


def test_everything_is_listed_read_and_completed(connect: Connect) -> None:
    client = connect()
    tools = {tool["name"]: tool for tool in client.request("tools/list")["tools"]}
    assert {"echo", "slow", "form", "write", "folders"} <= tools.keys()
    assert tools["echo"]["_meta"] == {"ui": {"x": 1}}
    assert [item["uri"] for item in client.request("resources/list")["resources"]] == ["test://static"]
    templates = client.request("resources/templates/list")["resourceTemplates"]
    assert [item["uriTemplate"] for item in templates] == ["test://item/{id}"]
    read = client.request("resources/read", {"uri": "test://item/7"})
    assert read["contents"] == [{"uri": "test://item/7", "text": "read test://item/7"}]
    assert read["_meta"] == {"b": 2}
    assert [prompt["name"] for prompt in client.request("prompts/list")["prompts"]] == ["greet"]
    filled = client.request("prompts/get", {"name": "greet", "arguments": {"who": "Ada"}})
    assert filled["messages"][0]["content"]["text"] == "Hello Ada"
    ref = {"type": "ref/prompt", "name": "greet"}
    done = client.request("completion/complete", {"ref": ref, "argument": {"name": "who", "value": "A"}})
    assert done["completion"]["values"] == ["A!"]


def test_a_result_arrives_as_the_server_sent_it(connect: Connect) -> None:
    client = connect()
    result = client.call("echo")
    result.pop("resultType", None)
    assert [block["type"] for block in result["content"]] == ["text", "image", "resource_link", "hologram"]
    assert result["content"][0] == {"type": "text", "text": "ä 字", "annotations": {"priority": 0.5}, "_meta": {"a": 1}}
    assert result["structuredContent"] == {"big": 12345678901234567890, "none": None, "list": [1.0]}
    assert result["_meta"] == {"example.org/trace": "kept"}


def test_an_error_of_the_server_arrives_as_it_was_sent(connect: Connect) -> None:
    client = connect()
    assert client.call("refuse") == {"error": {"code": -32077, "message": "No.", "data": {"why": "so"}}}
    assert client.call("nothing")["error"]["code"] == -32602


def test_what_a_client_nests_too_deeply_is_refused_and_the_next_call_works(connect: Connect) -> None:
    client = connect()
    deep: Any = "here"
    for _ in range(2 * DEEPEST):
        deep = [deep]
    refused = client.call("echo", text=deep)["error"]
    assert (refused["code"], "nested too deeply" in refused["message"]) == (-32602, True)
    assert "content" in client.call("echo")


def test_trace_keys_reach_the_server_and_those_of_the_connection_do_not(connect: Connect) -> None:
    client = connect()
    seen = json.loads(text(client.call("meta", meta={"traceparent": "00-1", "example.org/a": 1, "progressToken": "t"})))
    assert seen["traceparent"] == "00-1"
    assert seen["example.org/a"] == 1
    assert seen["progressToken"] != "t"


def test_progress_carries_the_token_of_the_client(connect: Connect) -> None:
    client = connect()
    client.call("slow", meta={"progressToken": "mine"}, steps=4)
    steps = [params for method, params in client.notes if method == "notifications/progress"]
    assert [step["progress"] for step in steps] == [1, 2, 3]
    assert {step["progressToken"] for step in steps} == {"mine"}
    assert steps[0]["message"] == "step 1"
    client.notes.clear()
    client.call("slow", steps=3)
    assert [method for method, _ in client.notes] == []


def test_a_call_that_the_client_cancels_is_cancelled_at_the_server(connect: Connect, notes: Path) -> None:
    client = connect()
    key = client.begin("tools/call", {"name": "slow", "arguments": {"mark": "x"}}, {"progressToken": 1})
    client.wait_note("notifications/progress")
    client.cancel(key)
    while not (notes.exists() and notes.read_text()):
        assert client.call("pid")["content"]
    assert notes.read_text() == "cancelled x\n"


def test_questions_of_the_server_reach_the_client(connect: Connect) -> None:
    client = connect()
    answered = json.loads(text(client.call("form")))
    assert answered == {"form": {"action": "accept", "content": {"name": "Ada"}}}
    answered = json.loads(text(client.call("write")))
    assert answered["write"]["content"] == {"type": "text", "text": "Written."}
    answered = json.loads(text(client.call("both")))
    assert answered["form"]["content"] == {"name": "Ada"}
    assert answered["write"]["model"] == "m"
    methods = [method for method, _ in client.asked]
    assert sorted(methods) == ["elicitation/create"] * 2 + ["sampling/createMessage"] * 2
    assert client.asked[0][1]["message"] == "box │ Who are you?"


def test_every_text_of_a_servers_form_is_marked_as_the_servers_and_every_value_is_as_it_was(connect: Connect) -> None:
    client = connect()
    client.call("form")
    assert client.asked[0][1]["requestedSchema"] == {
        "type": "object",
        "title": "box │ You",
        "properties": {
            "name": {
                "type": "string",
                "title": "box │ Your name",
                "description": "box │ As it is\nbox │ in your passport",
            },
            "title": {
                "type": "string",
                "enum": ["Dr", "-"],
                "enumNames": ["box │ Doctor", "box │ None"],
                "default": "-",
            },
            "color": {"type": "string", "oneOf": [{"const": "r", "title": "box │ Red"}]},
            "days": {
                "type": "array",
                "items": {"anyOf": [{"const": "mo", "title": "box │ Monday"}]},
                "default": ["mo"],
            },
            "Mooring asks: may x be called?": {"type": "boolean", "title": "box │ Mooring asks: may x be called?"},
        },
        "required": ["name"],
    }


def test_a_stateless_server_is_told_the_folders_of_the_client(connect: Connect, eras: tuple[Era, Era]) -> None:
    client = connect()
    answered = json.loads(text(client.call("folders")))["folders"]
    folders = [root["uri"] for root in answered["roots"]]
    if eras[1] == "stateless":
        assert folders == ["file:///client"]
    else:
        # Its session is everybody's: it works where Mooring does.
        assert folders != ["file:///client"]


def test_a_client_that_cannot_be_asked_is_not(connect: Connect, eras: tuple[Era, Era]) -> None:
    client = connect(capabilities={})
    result = client.call("form")
    assert client.asked == []
    if eras[0] == "stateless":
        assert result["error"]["code"] == -32021
        assert result["error"]["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}
    else:
        assert json.loads(text(result)) == {"form": {"action": "cancel"}}


def test_a_call_that_has_to_be_asked_about_is_asked_about_through_the_client(connect: Connect) -> None:
    client = connect("--permission-mode", "ask")
    assert text(client.call("pid")).isdigit()
    [(method, params)] = client.asked
    assert method == "elicitation/create"
    assert "box.pid" in params["message"]
    client.answer = lambda method, params: {"action": "decline"}
    refused = client.call("pid")
    assert refused["isError"]
    assert "the answer was no" in text(refused)


def test_without_anybody_to_ask_the_model_reads_the_cause_and_the_person_the_rule_to_add(connect: Connect) -> None:
    client = connect("--permission-mode", "ask", capabilities={})
    refused = client.call("pid")
    assert refused["isError"]
    assert text(refused).endswith("there is nobody to ask. Trying again will not help; only the person can allow it.")
    assert client.wait_advice().endswith("there is nobody to ask. To allow it: mooring allow box.pid\n")


def test_rules_of_the_command_decide(connect: Connect) -> None:
    client = connect("--permission-mode", "ask", "--allow", "box.*", "--deny", "box.pid", capabilities={})
    assert text(client.call("nap", seconds=0, nonce="n")) == "n"
    assert "only the person can change that rule" in text(client.call("pid"))


def test_changes_of_lists_and_resources_are_announced(home: Home, connect: Connect, eras: tuple[Era, Era]) -> None:
    # Otherwise a tool that is new since the first call is held back.
    subprocess.run(
        [sys.executable, "-m", "mooring", "mcp", "pins", "box", "--off"], cwd=home.cwd, env=home.env, check=True
    )
    client = connect()
    client.request("tools/list")
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["test://static"]}
    if eras[0] == "stateless":
        key = client.begin("subscriptions/listen", {"notifications": wanted})
        granted = client.wait_note("notifications/subscriptions/acknowledged")
        assert granted == {"notifications": wanted, "_meta": {f"{META}subscriptionId": key}}
    else:
        assert client.request("resources/subscribe", {"uri": "test://static"}) == {}
    client.call("grow")
    client.wait_note("notifications/tools/list_changed")
    assert "grown" in [tool["name"] for tool in client.request("tools/list")["tools"]]
    client.call("update")
    assert client.wait_note("notifications/resources/updated")["uri"] == "test://static"


def test_log_messages_from_the_wanted_level_on_reach_the_client(connect: Connect, eras: tuple[Era, Era]) -> None:
    client = connect()
    meta: dict[str, Any] = {}
    if eras[0] == "stateless":
        client.call("log")
        assert client.notes == []
        meta = {f"{META}logLevel": "warning"}
    else:
        assert client.request("logging/setLevel", {"level": "warning"}) == {}
    client.call("log", meta=meta)
    assert client.wait_note("notifications/message") == {
        "level": "warning",
        "logger": "server",
        "data": {"said": "warning"},
    }
    assert [params["level"] for method, params in client.notes if method == "notifications/message"] == ["warning"]
