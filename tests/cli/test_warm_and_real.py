"""Every command once as the installed program and once warm: what most tests start does what people start."""

import os
import sys

import pytest

from mooring.verbs.rows import ROWS
from support import DEMO, Home, Result, run_at_terminal, run_beside
from warm import start_mooring

pytestmark = [pytest.mark.processes, pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, all are real")]

COMMANDS = {
    "chat": ("chat", "-p", "Hello", "-m", "nobody:model"),
    "mcp": ("mcp", "get", "demo"),
    "tools": ("tools", "demo"),
    "call": ("call", "demo.add", "a=1", "b=2"),
    "resources": ("resources", "demo"),
    "read": ("read", "demo", "demo://notes"),
    "prompts": ("prompts", "demo"),
    "prompt": ("prompt", "demo.greet", "--json"),
    "watch": ("watch", "demo.echo", "text=x", "--timeout", "1"),
    "serve": ("serve",),
    "backends": ("backends", "nobody"),
    "logs": ("logs", "demo"),
    "history": ("history",),
    "agents": ("agents",),
    "sessions": ("sessions",),
    "secret": ("secret", "list"),
    "allow": ("allow", "demo.echo"),
    "deny": ("deny", "demo.note", "--project"),
    "ask": ("ask", "nobody.x"),
    "rules": ("rules", "demo.echo"),
    "settings": ("settings",),
    "completion": ("completion", "bash"),
}


def see(result: Result) -> tuple[int, str, str]:
    return result.code, result.out, result.err


def test_no_command_is_missing() -> None:
    assert list(COMMANDS) == [row.name for row in ROWS]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_does_the_same_warm_and_real(home: Home, command: str) -> None:
    home.configure(demo=DEMO)
    results = [run_beside(home, *COMMANDS[command], real=real) for real in (False, True)]
    assert "Traceback" not in results[0].err
    assert see(results[0]) == see(results[1])
    assert results[0].out or results[0].err or command == "serve"


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("mcp", "list"), ("nix",), ("call",)], ids=" ".join)
def test_a_terminal_is_used_the_same_warm_and_real(home: Home, words: tuple[str, ...]) -> None:
    home.configure(demo=DEMO)
    shown = [run_at_terminal(home, *words, cells=60, real=real) for real in (False, True)]
    assert shown[0] == shown[1]
    assert shown[0][0]


@pytest.mark.parametrize("real", [True, False], ids=["real", "warm"])
def test_it_is_a_process_that_can_be_killed(home: Home, real: bool) -> None:
    with open(os.devnull, "wb") as nowhere:
        read, write = os.pipe()
        process = start_mooring(["serve"], cwd=home.cwd, env=home.env, real=real, stdin=read, stdout=nowhere.fileno())
        os.close(read)
        assert process.poll() is None
        process.kill()
        assert process.wait(30) == -9
        os.close(write)
