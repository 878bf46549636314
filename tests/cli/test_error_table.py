"""What a person sees of each failure, row by row of the table that specifies it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mooring
from mooring.errors import ServerDied
from support import DEMO, Actor, Cli, Home, running

MOORING = str(Path(sys.executable).parent / "mooring")

UNLISTED = """
import json, sys
answers = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}},
                   "serverInfo": {"name": "unlisted", "version": "1"}},
    "resources/list": {"resources": [{"uri": "x://y", "name": "y"}]},
}
for line in sys.stdin:
    message = json.loads(line)
    method, key = message.get("method"), message.get("id")
    if method in answers:
        print(json.dumps({"jsonrpc": "2.0", "id": key, "result": answers[method]}), flush=True)
    elif key is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": key, "error": {"code": -32603, "message": "out of order"}}), flush=True)
"""


@pytest.fixture
def actor(tmp_path: Path) -> Actor:
    return Actor(tmp_path / "actor.json")


def faulty(fault: str) -> dict[str, object]:
    return {"command": sys.executable, "args": ["-m", "mooring.testing", fault]}


def test_a_file_that_is_missing_is_no_word_worth(cli: Cli) -> None:
    done = cli("tools")
    assert (done.code, done.out, done.err.count("\n")) == (0, "", 1)
    assert cli("tools", "--json").data == {"tools": [], "servers": []}


def test_a_file_that_cannot_be_parsed_is_a_warning_and_the_others_go_on(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    cli.home.write("home/.cursor/mcp.json", '{"mcpServers": {')
    done = cli("tools")
    assert (done.code, len(done.out.splitlines())) == (0, 7)
    assert done.err.startswith("Warning: MCP config error: ~/.cursor/mcp.json")
    assert done.err.count("\n") == 1


def test_a_program_that_cannot_be_started_is_a_warning_and_the_others_go_on(cli: Cli) -> None:
    cli.home.configure(demo=DEMO, nowhere={"command": "no-such-program"})
    done = cli("tools")
    assert (done.code, len(done.out.splitlines())) == (0, 7)
    assert done.err.startswith("Warning: MCP startup error: nowhere: 'no-such-program' is not on PATH")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("fault", ["exit_at_once", "hang_init"])
def test_a_handshake_that_fails_is_a_warning_and_the_others_go_on(fault: str, cli: Cli) -> None:
    cli.home.configure(demo=DEMO, faulty=faulty(fault))
    done = cli("tools", "--timeout", "1.5")
    assert (done.code, len(done.out.splitlines())) == (0, 7)
    assert done.err.startswith("Warning: MCP startup error: faulty ")
    assert done.err.count("\n") == 1


def test_a_list_of_tools_that_fails_is_a_warning_and_the_server_is_there_without_any(cli: Cli) -> None:
    script = cli.home.write("unlisted.py", UNLISTED)
    cli.home.configure(demo=DEMO, unlisted={"command": sys.executable, "args": ["-S", str(script)]})
    done = cli("tools", "--json")
    assert (done.code, len(done.data["tools"])) == (0, 7)
    assert done.err == (
        "Warning: MCP startup error: unlisted: Its tools could not be listed: unlisted answered: out of order (-32603)\n"
    )
    server = next(server for server in done.data["servers"] if server["name"] == "unlisted")
    assert (server["status"], server["tools"], "out of order" in server["note"]) == ("connected", 0, True)
    assert cli("resources", "unlisted").out == "unlisted  x://y\n"
    assert cli("tools", "unlisted").code == 1
    assert cli("tools", "--server", f"{sys.executable} -S {script}").code == 1
    called = cli("call", "unlisted.anything")
    assert (called.code, "out of order" in called.err) == (2, True)


def test_a_tool_that_fails_is_an_error(cli: Cli) -> None:
    cli.home.configure(demo=DEMO, faulty=faulty("exit_midcall"))
    failed = cli("call", "demo.fail")
    assert (failed.code, failed.out) == (1, "This tool is meant to fail, and it did.\n")
    died = cli("call", "faulty.fault")
    assert (died.code, died.out) == (1, "")
    assert died.err.startswith("mooring: faulty ")


async def test_a_server_that_crashes_fails_the_call_under_way_and_is_there_again_for_the_next(
    home: Home, actor: Actor
) -> None:
    home.configure(actor=actor.entry)
    async with mooring.open(request=home.request(), policy="allow") as host:
        with pytest.raises(ServerDied, match="exit code 3"):
            await host.call("actor.die")
        assert (await host.call("actor.whoami")).text == actor.done("starts")[-1]
    assert len(actor.done("starts")) == 2


def test_a_crash_in_a_call_from_the_command_line_is_a_sentence(cli: Cli, actor: Actor) -> None:
    cli.home.configure(actor=actor.entry)
    done = cli("call", "actor.die")
    assert (done.code, "actor ended with exit code 3 before it answered tools/call" in done.err) == (1, True)


@pytest.mark.parametrize("words", [["tools"], ["mcp", "list", "--check"], ["mcp", "test", "actor"]])
def test_ctrl_c_leaves_no_process(words: list[str], home: Home, actor: Actor) -> None:
    actor.tell(late=60)
    nonce = os.urandom(8).hex()
    home.configure(actor={**actor.entry, "env": {"NONCE": nonce}})
    process = subprocess.Popen([MOORING, *words], cwd=home.cwd, env=home.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    deadline = time.monotonic() + 100
    while not actor.done("starts"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=100)
    assert (process.returncode, err.strip()) == (130, b"")
    assert running(nonce) == []
