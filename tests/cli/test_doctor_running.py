"""Doctor says which servers run more than once at this moment, and under which programs."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from chat.terminal import Person
from mooring.process.table import list_processes, parse_ps
from mooring.verbs.doctor.running import find_running
from support import Home, run_beside

NOBODY = 65534
# Starts a server and waits, as an agent does; the server gets no end of input before the agent ends.
AGENT = "import subprocess, sys; subprocess.run(sys.argv[1:], stdin=sys.stdin)"


@contextmanager
def started(*commands: list[str], user: int | None = None) -> Iterator[None]:
    """These programs, up and running until the end."""
    with ExitStack() as stack:
        for argv in commands:
            program = stack.enter_context(
                subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, user=user)
            )
            assert program.stdout is not None
            assert program.stdout.readline() == "up\n"
        yield


def make_agent(home: Home, name: str, server: list[str]) -> list[str]:
    """The command of a program of that name that starts the server."""
    return [sys.executable, str(home.write(f"bin/{name}", AGENT)), *server]


def make_server(*words: str) -> list[str]:
    """The command of a program that says when it is up, and ends with its input."""
    return ["/bin/sh", "-c", "echo up; read line; true", "some-server", str(time.time()), *words]


def findings(home: Home) -> list[dict[str, Any]]:
    found = run_beside(home, "mcp", "doctor", "--json").data["findings"]
    return [finding for finding in found if "times at this moment" in finding["what"]]


def test_a_server_that_two_programs_started_is_named_with_both(home: Home) -> None:
    command, *args = server = make_server("--token", "canary-in-argv")
    home.configure(files={"command": command, "args": args}, other={"command": command, "args": [*args, "x"]})
    with started(make_agent(home, "claude", server)):
        assert findings(home) == []
        with started(make_agent(home, "codex", server)):
            [finding] = findings(home)
    assert finding["server"] == "files"
    assert finding["what"].startswith("It runs 2 times at this moment, under claude (pid ")
    assert " and codex (pid " in finding["what"]
    assert finding["unhealthy"] is False
    assert "canary" not in json.dumps(finding)


def test_what_two_chats_started_runs_under_mooring(home: Home) -> None:
    home.configure(plain={"command": sys.executable, "args": ["-m", "mooring.testing", "plain", str(os.getpid())]})
    # By the name of the process, which is that of the program only if it was executed.
    with Person(home, real=True) as one, Person(home, real=True) as two:
        for person in (one, two):
            person.answers(("2 tools", ""), ("> ", "/tools plain"))
            person.sees("plain.echo")
        [finding] = findings(home)
        assert finding["what"].startswith("It runs 2 times at this moment, under mooring (pid ")
        assert " and mooring (pid " in finding["what"]
        for person in (one, two):
            person.types("/quit")
            assert person.ended() == 0
    assert findings(home) == []


def test_what_another_user_runs_is_nobodys_business(home: Home) -> None:
    listed = list_processes()
    assert listed is not None
    assert os.getpid() in {process.pid for process in listed}
    # Whoever runs this may start processes of another user, or finds some of root's.
    other = NOBODY if os.geteuid() == 0 else None
    if other is None:
        assert 1 not in {process.pid for process in listed}
        return
    command, *args = server = make_server()
    home.configure(files={"command": command, "args": args})
    with started(make_agent(home, "claude", server)), started(server, server, user=other):
        assert findings(home) == []


# --- the same on made-up machines -----------------------------------------------------------------------------------


class Machine:
    """A folder like /proc with made-up processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def run(self, pid: int, parent: int, *argv: str, title: str = "") -> None:
        entry = self.folder / str(pid)
        entry.mkdir()
        (entry / "cmdline").write_bytes((title or "\0".join(argv)).encode() + b"\0")
        (entry / "stat").write_text(f"{pid} (a) b) S {parent} 1 1 0 -1\n")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "proc")


def owners(home: Home, machine: Machine, name: str) -> list[str]:
    processes = list_processes(str(machine.folder))
    assert processes is not None
    return [instance.program for instance in find_running(home.inventory(), processes).get(name, ())]


def test_launchers_are_recognized_by_their_package(home: Home, machine: Machine) -> None:
    home.configure(
        npm={"command": "npx", "args": ["-y", "@scope/server", "--flag"]},
        uv={"command": "uvx", "args": ["--from", "git+https://x", "mcp-server-time"]},
        box={"command": "docker", "args": ["run", "-i", "--rm", "-e", "TOKEN", "mcp/github"]},
    )
    machine.run(10, 1, "/usr/bin/node", "/usr/local/bin/claude")
    machine.run(11, 10, title="npm exec @scope/server --flag")
    machine.run(12, 11, "sh", "-c", "server --flag")
    machine.run(13, 12, "node", "/home/x/.npm/_npx/1/node_modules/.bin/server", "--flag")
    machine.run(14, 10, title="npm exec @scope/server --other")
    machine.run(20, 1, "/opt/cursor/cursor", "--type=utility")
    machine.run(21, 20, "node", "/usr/bin/npx", "-y", "@scope/server", "--flag")
    machine.run(22, 20, "/usr/bin/uv", "tool", "uvx", "--from", "git+https://x", "mcp-server-time")
    machine.run(23, 20, "docker", "run", "-i", "--rm", "-e", "TOKEN", "mcp/github")
    assert owners(home, machine, "npm") == ["claude", "cursor"]
    assert owners(home, machine, "uv") == ["cursor"]
    assert owners(home, machine, "box") == ["cursor"]


def test_a_script_is_recognized_behind_its_interpreter_and_an_orphan_has_no_program(
    home: Home, machine: Machine
) -> None:
    home.configure(script={"command": "my-server", "args": ["--root", "${HOME}"]})
    machine.run(5, 1, "/usr/bin/python3", "/opt/bin/my-server", "--root", "/home/x")
    machine.run(6, 1, "grep", "my-server", "--root", "/home/x")
    machine.run(7, 8, "my-server", "--root", "/srv")
    machine.run(8, 9, "/bin/bash", "-c", "my-server --root /srv")
    machine.run(9, 1, "python3", "-m", "mooring")
    assert owners(home, machine, "script") == ["", "mooring"]


def test_a_path_is_that_program_and_no_other_of_its_name(home: Home, machine: Machine) -> None:
    home.configure(own={"command": "/opt/one/bin/python", "args": ["-m", "server"]})
    machine.run(3, 1, "/opt/one/bin/python", "-m", "server")
    machine.run(4, 1, "/opt/two/bin/python", "-m", "server")
    assert len(owners(home, machine, "own")) == 1


def test_no_word_of_a_program_that_may_be_a_secret_is_its_name(home: Home, machine: Machine) -> None:
    home.configure(own={"command": "my-server"})
    machine.run(3, 1, "env", "API_TOKEN=canary-one", "agent-one")
    machine.run(4, 3, "my-server")
    machine.run(5, 1, "node", "--api-key", "canary-two", "/usr/bin/agent-two")
    machine.run(6, 5, "my-server")
    machine.run(7, 1, title=" ")
    assert owners(home, machine, "own") == ["agent-one", "agent-two"]


def test_a_bare_interpreter_is_no_server(home: Home, machine: Machine) -> None:
    home.configure(shell={"command": "sh"})
    for pid in (3, 4):
        machine.run(pid, 1, "sh")
    assert owners(home, machine, "shell") == []


def test_processes_that_are_their_own_ancestors_are_walked_once(home: Home, machine: Machine) -> None:
    home.configure(loop={"command": "my-server"})
    machine.run(3, 4, "my-server")
    machine.run(4, 3, "claude")
    assert owners(home, machine, "loop") == ["claude"]


def test_ps_tells_the_same_on_macos() -> None:
    text = "  10     1   501 /usr/bin/node /usr/local/bin/claude\n  11    10     0 sshd: x\n\n  12    10   501 sh\n"
    assert [(each.pid, each.parent, each.argv[0]) for each in parse_ps(text, 501)] == [
        (10, 1, "/usr/bin/node"),
        (12, 10, "sh"),
    ]


def test_ten_times_the_processes_cost_at_most_about_ten_times(home: Home, tmp_path: Path) -> None:
    home.configure(**{f"server-{n}": {"command": "npx", "args": ["-y", f"package-{n}"]} for n in range(200)})
    inventory = home.inventory()
    spent = []
    for count in (500, 5000):
        machine = Machine(tmp_path / f"proc-{count}")
        for pid in range(2, count):
            machine.run(pid, 1, "node", "/usr/bin/npx", "-y", f"package-{pid % 400}")
        took = []
        for _ in range(3):
            began = time.process_time()
            processes = list_processes(str(machine.folder))
            assert processes is not None
            assert len(find_running(inventory, processes)) == 200
            took.append(time.process_time() - began)
        spent.append(min(took))
    assert spent[1] < 20 * spent[0]
    assert spent[1] < 5.0
