"""Ctrl+C in every command: it is never lost, and a second one ends the command at once."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.models import Call, FakeModel, Say
from tests.soak.interrupts import COMMANDS, LAUNCHER, Interrupted, open_interrupter

from backends.asking import MODELS, variables
from chat.terminal import Person
from mooring.verbs.mcp_rows import ROWS as MCP_ROWS
from mooring.verbs.rows import ROWS
from support import DEMO, MOORING, Actor, Home, running

TRIALS = 50
"""Interrupts of each command. `make soak` has thousands."""
BUSY_SECONDS = 60.0
"""How long a chat with a model may take to begin on a busy machine."""
STUBBORN = """
import json, os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    elif message.get("method") == "tools/list":
        result = {"tools": [{"name": "hang", "inputSchema": {"type": "object"}}]}
    elif message.get("method") == "tools/call":
        open(sys.argv[1], "a").write("called ")
        continue
    elif "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
open(sys.argv[1], "a").write("ending ")
while True:
    signal.pause()
"""
"""Hangs in its one tool, and ends neither when its input ends nor by SIGTERM."""


SILENT_NAMES = """
import pathlib, socket, time
find = socket.getaddrinfo

def wait(host, *more, **options):
    if not str(host).endswith(".example"):
        return find(host, *more, **options)
    pathlib.Path(__file__).with_name("asked").touch()
    time.sleep(300)

socket.getaddrinfo = wait
"""
"""What the system's resolver does while no name server answers, only longer."""


@pytest.mark.processes
@pytest.mark.timeout(300)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupt_at_any_moment_ends_a_command_with_130_and_leaves_nothing(command: str) -> None:
    # Where it was lost, while modules load, and anywhere in the first second.
    moments = [random.uniform(0, 0.15) if number % 4 else random.random() for number in range(TRIALS)]

    async def interrupt_all() -> list[Interrupted]:
        ended = []
        async with open_interrupter() as interrupter:
            while moments:
                few = [moments.pop() for _ in range(min(5, len(moments)))]
                trials = [interrupter.interrupt(command, moment, from_first_line=True) for moment in few]
                ended += await asyncio.gather(*trials)
        return ended

    ended = asyncio.run(interrupt_all())
    assert [done for done in ended if not done.is_right] == []
    assert len(ended) == TRIALS


GROUPS = ("mcp", "sessions", "secret")
EVERY_COMMAND = [(row.name,) for row in ROWS if row.name not in GROUPS] + [("mcp", row.name) for row in MCP_ROWS]


@pytest.mark.processes
@pytest.mark.parametrize("words", [*EVERY_COMMAND, ("sessions",), ("secret", "list"), ()], ids=" ".join)
def test_an_interrupt_at_our_first_line_ends_every_command_with_130(words: tuple[str, ...], home: Home) -> None:
    launcher = home.write("mooring", LAUNCHER)
    told, tell = os.pipe()
    with subprocess.Popen(
        [sys.executable, launcher, *words],
        cwd=home.cwd,
        env={**home.env, "TOLD": str(tell)},
        pass_fds=[tell],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(tell)
        assert os.read(told, 1) == b"x"
        os.close(told)
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""


def wait_until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 100
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def make_stubborn(home: Home) -> tuple[dict[str, object], Path, str]:
    """An entry of a server that does not end, where it tells what it does, and what marks its processes."""
    log, mark = home.write("log", ""), os.urandom(8).hex()
    script = str(home.write("stubborn.py", STUBBORN))
    return {"command": sys.executable, "args": [script, str(log)], "env": {"NONCE": mark}}, log, mark


@pytest.mark.processes
@pytest.mark.parametrize("words", [("tools", "far"), ("chat", "-p", "Hi", "-m", MODELS["anthropic"], "--no-project")])
def test_an_interrupt_ends_a_command_while_no_name_server_answers(words: tuple[str, ...], home: Home) -> None:
    home.configure(far={"url": "https://server.example/mcp"})
    path = home.write("slow/sitecustomize.py", SILENT_NAMES).parent
    env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "https://model.example", "PYTHONPATH": str(path)}
    with subprocess.Popen(
        [MOORING, *words], cwd=home.cwd, env={**home.env, **env}, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        wait_until((path / "asked").exists)
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 130


@pytest.mark.processes
def test_a_second_interrupt_ends_at_once_a_command_that_waits_for_a_stubborn_server(home: Home) -> None:
    entry, log, mark = make_stubborn(home)
    home.configure(stubborn=entry)
    command = [MOORING, "call", "stubborn.hang"]
    with subprocess.Popen(command, cwd=home.cwd, env=home.env, stderr=subprocess.PIPE) as process:
        wait_until(lambda: "called" in log.read_text())
        process.send_signal(signal.SIGINT)
        wait_until(lambda: "ending" in log.read_text())
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 130
        # It did not wait for the server, which the guard now ends.
        assert running(mark)
        assert process.stderr is not None
        assert process.stderr.read().strip() == b""
    wait_until(lambda: not running(mark))


@pytest.mark.processes
def test_an_interrupt_ends_at_once_a_chat_that_is_being_left(home: Home) -> None:
    entry, log, mark = make_stubborn(home)
    home.configure(stubborn=entry)
    with Person(home, "chat", "-b", "manual") as person:
        person.sees("1 tool")
        person.types("/quit")
        wait_until(lambda: "ending" in log.read_text())
        person.presses("\x03")
        assert person.ended() == 130
        assert "Traceback" not in person.shown
    wait_until(lambda: not running(mark))


@pytest.mark.processes
@pytest.mark.timeout(300)
def test_a_second_interrupt_ends_at_once_a_chat_whose_turn_has_not_ended_and_nothing_is_lost(home: Home) -> None:
    entry, log, mark = make_stubborn(home)
    # A server of a sub-agent's own ends with the turn.
    header = f"name: worker\ndescription: Works.\nmcpServers: {json.dumps({'stubborn': entry})}"
    home.write("home/.config/mooring/agents/worker.md", f"---\n{header}\n---\nYou work.")
    task = {"description": "task", "subagent_type": "worker", "prompt": "Work"}
    script = {
        "Go": [[Say("I begin."), Call("Agent", task)], Say("Where were we?")],
        "Work": [Call("mcp__stubborn__hang", {})],
    }
    words = "chat", "-m", MODELS["anthropic"], "--allow", "stubborn.*"
    with FakeModel(script) as fake:
        with Person(home, *words, **variables(fake)) as person:
            person.sees("\n> ", BUSY_SECONDS)
            person.types("Go")
            wait_until(lambda: "called" in log.read_text())
            person.is_sent(signal.SIGINT)
            wait_until(lambda: "ending" in log.read_text())
            person.is_sent(signal.SIGINT)
            assert person.ended() == 130
            assert "Stopped." not in person.shown
            assert "Traceback" not in person.shown
            # It did not wait for the server, which the guard now ends.
            wait_until(lambda: not running(mark) and not person.left())
        with Person(home, "chat", "--continue", **variables(fake)) as again:
            again.sees("You: Go\nI begin.", BUSY_SECONDS)
            again.sees("Where were we?")
            again.answers(("\n> ", "/quit"))
            assert again.ended() == 0
    assert "may have run" in fake.requests[-1].all_results[0].text


def test_an_interrupt_is_ignored_where_the_caller_has_it_ignored(home: Home) -> None:
    actor = Actor(home.folder / "actor")
    home.configure(actor=actor.entry)
    command = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", MOORING, "call", "actor.nap", "seconds=1"]
    with subprocess.Popen(command, cwd=home.cwd, env=home.env, stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: actor.done("naps"))
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 0


IMPORTING = """
import signal, sys, time
import mooring
from mooring.cli.interrupts import begin_command
signal.signal(signal.SIGINT, mooring._end_at_once)
begin_command()
try:
    import interrupted_module
    time.sleep(20)
except KeyboardInterrupt:
    print("loaded:", sys.modules["interrupted_module"].IS_LOADED)
"""


def test_an_interrupt_while_a_command_imports_a_module_waits_for_the_module(tmp_path: Path) -> None:
    module = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nIS_LOADED = True\n"
    (tmp_path / "interrupted_module.py").write_text(module)
    command = [sys.executable, "-c", IMPORTING]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr) == ("loaded: True\n", "")


LIBRARY = """
import asyncio, json, signal, sys
import mooring
async def main():
    async with mooring.connect(sys.argv[1:]) as session:
        await session.call_tool("echo", {"text": "x"})
asyncio.run(main())
from mooring.cli.app import run
run(["mcp", "list"])
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def test_a_program_that_uses_mooring_keeps_its_own_handling_of_interrupts(home: Home) -> None:
    # Even under the name of our own command.
    script = home.write("mooring", LIBRARY)
    command = [sys.executable, str(script), DEMO["command"], *DEMO["args"]]
    done = subprocess.run(command, cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=100)
    assert done.stdout.splitlines()[-1] == "True", done.stderr


def test_python_dash_m_handles_interrupts_from_its_first_line_too(home: Home) -> None:
    told, tell = os.pipe()
    site = home.write("site/sitecustomize.py", LAUNCHER.partition("from mooring")[0])
    env = {**home.env, "TOLD": str(tell), "PYTHONPATH": str(site.parent)}
    command = [sys.executable, "-m", "mooring", "serve", "--server", json.dumps(DEMO["command"])]
    with subprocess.Popen(command, cwd=home.cwd, env=env, pass_fds=[tell], stdin=subprocess.PIPE) as process:
        os.close(tell)
        assert os.read(told, 1) == b"x"
        os.close(told)
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 130
