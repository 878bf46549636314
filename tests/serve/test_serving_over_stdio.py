"""`mooring serve` as a program: what it is started with, the names it shows, and how it ends."""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from client import ALL, SECONDS, ServeClient

from mooring.permissions.audit import read_log
from support import DEMO, Actor, Cli, Home, running

SERVER = str(Path(__file__).parent / "server.py")
BYPASS = ("--permission-mode", "bypass")


def entry(*words: str, **more: object) -> dict[str, object]:
    return {"command": sys.executable, "args": [SERVER, "handshake", *words], **more}


def names(client: ServeClient) -> list[str]:
    return [tool["name"] for tool in client.request("tools/list")["tools"]]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_each_revision_of_the_handshake_is_answered_in_kind(home: Home, version: str) -> None:
    home.configure(box=entry())
    client = ServeClient(home)
    hello = client.initialize(version)
    assert hello["protocolVersion"] == version
    assert hello["serverInfo"]["name"] == "mooring"
    assert "Use it well." in hello["instructions"]
    assert client.close() == 0


def test_an_unknown_revision_is_answered_with_the_newest_of_the_handshake(home: Home) -> None:
    with ServeClient(home) as client:
        assert client.initialize("2031-01-01")["protocolVersion"] == "2025-11-25"


def test_nothing_is_answered_before_initialize_but_a_ping(home: Home) -> None:
    client = ServeClient(home)
    assert client.request("tools/list")["error"]["code"] == -32600
    assert client.request("ping") == {}
    client.initialize()
    assert client.request("tools/list") == {"tools": []}
    client.close()


def test_a_request_of_an_unknown_revision_is_told_the_known_ones(home: Home) -> None:
    with ServeClient(home, era="stateless") as client:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2031-01-01",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        client.send({"id": 1, "method": "server/discover", "params": {"_meta": meta}})
        error = client.wait(1)["error"]
        assert (error["code"], error["data"]) == (-32022, {"supported": ["2026-07-28"], "requested": "2031-01-01"})
        client.send({"id": 2, "method": "server/discover", "params": {}})
        assert client.wait(2)["error"]["code"] == -32602
        assert client.request("initialize")["error"]["code"] == -32601


def test_two_servers_share_neither_names_nor_addresses(home: Home) -> None:
    home.configure(one=entry(), two=entry("/dev/null"))
    with ServeClient(home, *BYPASS, "--names", "full") as client:
        assert {"mcp__one__pid", "mcp__two__pid"} <= set(names(client))
        pids = {client.call(f"mcp__{server}__pid")["content"][0]["text"] for server in ("one", "two")}
        assert len(pids) == 2
        uris = [item["uri"] for item in client.request("resources/list")["resources"]]
        assert uris == ["mooring://one/test://static", "mooring://two/test://static"]
        read = client.request("resources/read", {"uri": uris[1]})
        assert read["contents"][0]["text"] == "read test://static"
        prompts = [prompt["name"] for prompt in client.request("prompts/list")["prompts"]]
        assert prompts == ["mcp__one__greet", "mcp__two__greet"]
        missing = client.request("resources/read", {"uri": "test://nowhere"})
        assert missing["error"]["code"] == -32002


def test_raw_names_are_the_servers_own_where_no_two_are_the_same(home: Home) -> None:
    home.configure(box=entry(), demo=DEMO)
    with ServeClient(home, *BYPASS, "--names", "raw") as client:
        shown = names(client)
        assert {"mcp__box__echo", "mcp__demo__echo", "add", "pid"} <= set(shown)
        assert "echo" not in shown
        assert client.call("add", a=1, b=2)["structuredContent"] == {"sum": 3}


def test_only_the_named_servers_are_offered(home: Home) -> None:
    home.configure(box=entry(), demo=DEMO)
    with ServeClient(home, "DEMO") as client:
        assert {name.split("__")[1] for name in names(client)} == {"demo"}


def test_a_server_that_is_configured_nowhere_can_be_named_by_its_command(home: Home) -> None:
    home.configure(box=entry())
    command = f"{sys.executable} -I -m mooring.demo"
    with ServeClient(home, *BYPASS, "--names", "raw", "--server", command) as client:
        assert "add" in names(client)
        assert "pid" not in names(client)


def test_a_misspelled_server_is_named_and_nothing_is_served(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    done = cli("serve", "dmo")
    assert done.code == 2
    assert "demo" in done.err
    assert done.out == ""


def test_a_tool_that_changed_since_it_was_approved_is_held_back(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor", tools=["stable", "shifty"])
    home.configure(actor=actor.entry)
    with ServeClient(home, *BYPASS) as client:
        client.call("mcp__actor__stable")
    actor.tell(tools=["stable", "shifty"], describe={"shifty": "Now for something else."})
    with ServeClient(home, *BYPASS) as client:
        client.call("mcp__actor__stable")
        assert "mcp__actor__shifty" not in names(client)
        assert client.call("mcp__actor__shifty")["error"]["code"] == -32602


def test_with_search_a_client_finds_tools_and_calls_what_it_found(home: Home) -> None:
    home.configure(box=entry(), demo=DEMO)
    with ServeClient(home, "--search", "--allow", "demo.*", capabilities={}) as client:
        assert names(client) == ["ToolSearch", "ToolCall"]
        found = json.loads(client.call("ToolSearch", query="add two numbers", limit=3)["content"][0]["text"])
        assert found[0]["name"] == "mcp__demo__add"
        assert set(found[0]["inputSchema"]["properties"]) == {"a", "b"}
        added = client.call("ToolCall", name=found[0]["name"], arguments={"a": 1, "b": 2})
        assert added["structuredContent"] == {"sum": 3}
        # What is found is judged as what is listed.
        assert "nobody to ask" in client.call("ToolCall", name="mcp__box__pid")["content"][0]["text"]
        assert client.call("ToolCall", name="nowhere")["error"]["code"] == -32602
        assert "limit" in client.call("ToolSearch", query="x", limit=0)["content"][0]["text"]


def test_calls_of_clients_are_on_record(home: Home) -> None:
    home.configure(box=entry())
    with ServeClient(home, *BYPASS) as client:
        client.call("mcp__box__pid")
    done = subprocess.run(
        [sys.executable, "-m", "mooring", "history", "--json"],
        cwd=home.cwd, env=home.env, capture_output=True, check=True,
    )  # fmt: skip
    assert b'"pid"' in done.stdout


@pytest.mark.parametrize("real", [True, False], ids=["real", "warm"])
def test_the_end_of_its_input_ends_everything(home: Home, real: bool) -> None:
    nonce = secrets.token_hex(8)
    home.configure(box=entry(env={"NONCE": nonce}))
    client = ServeClient(home, *BYPASS, real=real)
    client.initialize()
    client.begin("tools/call", {"name": "mcp__box__slow", "arguments": {}}, {"progressToken": 1})
    client.wait_note("notifications/progress")
    assert len(running(nonce)) == 1
    assert client.close() == 0
    assert running(nonce) == []
    assert client.errors == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_client_that_ends_it_by_a_signal_leaves_nothing_and_loses_no_line_of_the_log(
    home: Home, number: signal.Signals
) -> None:
    nonce = secrets.token_hex(8)
    home.configure(box=entry(env={"NONCE": nonce}))
    client = ServeClient(home, *BYPASS, real=True)
    client.initialize()
    for _ in range(3):
        client.call("mcp__box__pid")
    client.process.send_signal(number)
    assert client.process.wait(SECONDS) == 0
    client.close()
    assert running(nonce) == []
    assert len(list(read_log(home.where, tool="pid"))) == 3


@pytest.mark.parametrize(("program", "processes"), [("server.py", 1), ("stubborn.py", 2)])
def test_nothing_is_left_after_it_was_killed(home: Home, program: str, processes: int) -> None:
    nonce = secrets.token_hex(8)
    script = str(Path(__file__).with_name(program))
    home.configure(box={"command": sys.executable, "args": [script, "handshake"], "env": {"NONCE": nonce}})
    client = ServeClient(home, *BYPASS, real=True)
    client.initialize()
    client.call("mcp__box__pid")
    assert len(running(nonce)) == processes
    client.kill()
    deadline = time.monotonic() + SECONDS
    while running(nonce):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_nothing_but_messages_is_on_stdout(home: Home, tmp_path: Path) -> None:
    home.configure(box=entry(), broken={"command": "/nowhere/at/all"}, loud=Actor(tmp_path / "actor").entry)
    with ServeClient(home, *BYPASS, "-v") as client:
        client.call("mcp__loud__complain")
        assert "mcp__box__pid" in names(client)
    assert client.noise == []


def test_a_file_as_its_input_is_served_to_its_end(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "requests"
    path.write_text(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n")
    with path.open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "mooring", "serve"],
            stdin=file, cwd=home.cwd, env=home.env, capture_output=True, timeout=SECONDS,
        )  # fmt: skip
    assert done.returncode == 0
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_request_held_for_its_client_can_be_resumed_by_it_alone_and_once(home: Home) -> None:
    home.configure(box=entry())
    with ServeClient(home, *BYPASS, "--names", "raw", era="stateless", capabilities=ALL) as client:
        asked = client.wait(client.begin("tools/call", {"name": "form", "arguments": {}}))["result"]
        assert asked["resultType"] == "input_required"
        state, [key] = asked["requestState"], asked["inputRequests"]
        given = {"requestState": state, "inputResponses": {key: {"action": "accept", "content": {"name": "Ada"}}}}
        other = client.wait(client.begin("tools/call", {"name": "write", "arguments": {}, **given}))
        assert other["error"]["code"] == -32602
        # In the middle: at its end, the last bits of a character may stand for nothing.
        at = len(state) // 2
        forged = {**given, "requestState": f"{state[:at]}{'x' if state[at] != 'x' else 'y'}{state[at + 1 :]}"}
        assert client.wait(client.begin("tools/call", {"name": "form", "arguments": {}, **forged}))["error"]
        empty = {"name": "form", "arguments": {}, "requestState": state, "inputResponses": {}}
        again = client.wait(client.begin("tools/call", empty))["result"]
        assert list(again["inputRequests"]) == [key]
        given["requestState"] = again["requestState"]
        done = client.wait(client.begin("tools/call", {"name": "form", "arguments": {}, **given}))["result"]
        assert "Ada" in done["content"][0]["text"]
        assert client.wait(client.begin("tools/call", {"name": "form", "arguments": {}, **given}))["error"]


def test_five_hundred_tools_are_listed_at_little_cost(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor", tools=[f"tool-{number}" for number in range(500)])
    home.configure(actor=actor.entry)
    with ServeClient(home, *BYPASS) as client:
        assert len(names(client)) > 500
        before = _cpu_seconds(client.process.pid)
        for _ in range(20):
            names(client)
        assert (_cpu_seconds(client.process.pid) - before) / 20 < 0.05


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
