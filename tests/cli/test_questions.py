"""On a terminal every command asks where asking is needed; without one it says what to run, and exits 4 or 3."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from chat.terminal import Person
from support import DEMO, MOORING, Actor, Cli, Home

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal")

ASKER = {"command": sys.executable, "args": ["-S", str(Path(__file__).with_name("asker.py"))]}
START, CHANGED = "Let it be started? [y/N]: ", "Let it be called as shown? [y/N]: "


def propose(home: Home, **servers: Any) -> None:
    """Servers that came with the project."""
    home.write("project/.mcp.json", {"mcpServers": servers})


def ask_for_token(home: Home, **part: Any) -> None:
    """A server of VS Code's file that needs an input."""
    inputs = [{"type": "promptString", "id": "tok", "description": "Your token", "password": True, **part}]
    entry = {"type": "stdio", **ASKER, "env": {"TOKEN": "${input:tok}"}}
    home.write("home/.config/Code/User/mcp.json", {"inputs": inputs, "servers": {"vault": entry}})


def run(home: Home, *words: str) -> subprocess.CompletedProcess[str]:
    """The command without a terminal."""
    return subprocess.run(
        [MOORING, *words], cwd=home.cwd, env=home.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )  # fmt: skip


# --- approvals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "then"),
    [
        (["tools", "linear"], "add(a: number, b: number)"),
        (["mcp", "test", "linear"], "✓ approval"),
        (["call", "linear.add", "a=40", "b=2"], '{"sum": 42}'),
        (["call", "linear", "add", "a=40", "b=2"], '{"sum": 42}'),
        (["tools", "linear.add"], "linear.add"),
        (["resources", "linear"], "demo://"),
    ],
)
def test_a_command_on_a_projects_server_asks_the_whole_question_and_goes_on(
    home: Home, words: list[str], then: str
) -> None:
    propose(home, linear={**DEMO, "env": {"MODE": "${MODE:-fast}"}})
    with Person(home, *words) as person:
        question = person.sees(START)
        assert "linear, asked for by this project" in question
        for part in ("runs", "-I -m mooring.demo", "which is", "MODE=${MODE:-fast}", "defined in", "is not checked"):
            assert part in question
        person.types("y")
        person.sees(then)
        assert person.ended() == 0, person.shown
    assert run(home, *words).returncode == 0, "the approval is on record"


@pytest.mark.parametrize(
    "words", [["tools", "linear"], ["mcp", "test", "linear"], ["call", "linear.add", "a=1", "b=1"]]
)
def test_a_no_starts_nothing_and_asks_once(home: Home, tmp_path: Path, words: list[str]) -> None:
    actor = Actor(tmp_path / "actor.json")
    propose(home, linear=actor.entry)
    with Person(home, *words) as person:
        person.types("y", "y")  # typed before the question, so it answers nothing
        person.answers((START, ""))
        assert person.ended() == 4
        assert person.shown.count(START) == 1
        assert "linear comes from the project and is not approved." in person.shown
        assert "mooring mcp approve linear" not in person.shown, "they have just decided"
    assert actor.done("starts") == []


def test_a_program_that_is_another_one_now_is_asked_about_again(home: Home, tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    for folder in (first, second):
        folder.mkdir()
        (folder / "tool").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (folder / "tool").chmod(0o755)
    propose(home, linear={**ASKER, "command": "${WHERE}/tool"})
    with Person(home, "tools", "linear", WHERE=str(first)) as person:
        person.answers((START, "y"))
        assert person.ended() == 0
    with Person(home, "mcp", "test", "linear", WHERE=str(second)) as person:
        assert str(second) in person.sees(START)
        person.types("y")
        assert person.ended() == 0


def test_a_server_that_was_rejected_is_not_asked_about_again(home: Home) -> None:
    propose(home, linear=DEMO)
    assert run(home, "mcp", "reject", "linear").returncode == 0
    with Person(home, "tools", "linear") as person:
        assert person.ended() == 4
        assert "linear was rejected for this project. To change that: mooring mcp approve linear" in person.shown


@pytest.mark.parametrize(
    "words", [["tools", "linear"], ["mcp", "test", "linear"], ["call", "linear.add", "a=1", "b=1"]]
)
def test_without_a_terminal_the_approval_names_its_command(cli: Cli, words: list[str]) -> None:
    propose(cli.home, linear=DEMO)
    result = cli(*words)
    assert (result.code, "mooring mcp approve linear" in result.err) == (4, True)


def test_a_listing_of_everything_asks_nobody(home: Home) -> None:
    propose(home, linear=DEMO)
    ask_for_token(home)
    with Person(home, "tools") as person:
        assert person.ended() == 0
        assert START not in person.shown
        assert "tok: " not in person.shown


# --- tools that changed ---------------------------------------------------------------------------------------------


def test_a_changed_tool_is_shown_approved_and_called(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json", tools=["x"], describe={"x": "Harmless."})
    home.configure(actor=actor.entry)
    assert run(home, "call", "actor.x").stdout == "x\n"
    actor.tell(tools=["x"], describe={"x": "Different."})
    assert run(home, "call", "actor.x").returncode == 4
    with Person(home, "call", "actor.x") as person:
        person.answers((CHANGED, "n"))
        assert person.ended() == 4
    with Person(home, "call", "actor.x") as person:
        question = person.sees(CHANGED)
        assert "x is changed since you approved it:" in question
        assert "-description: Harmless." in question
        assert "+description: Different." in question
        person.types("y")
        person.sees("x\n")
        assert person.ended() == 0
    assert run(home, "call", "actor.x").returncode == 0


def test_the_command_for_pins_asks_about_what_is_held_back(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    home.configure(actor=actor.entry)
    assert run(home, "call", "actor.whoami").returncode == 0
    actor.tell(tools=["x"])
    run(home, "tools", "actor", "--refresh")
    assert "mooring mcp pins --approve actor" in run(home, "mcp", "pins", "actor").stdout
    with Person(home, "mcp", "pins", "actor") as person:
        assert "x is new since you approved its server:" in person.sees(CHANGED)
        person.types("y")
        person.sees("actor: 9 tools, approved")
        assert person.ended() == 0


# --- inputs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "then"),
    [
        (["tools", "vault"], "token()"),
        (["mcp", "test", "vault"], "✓ variables"),
        (["call", "vault.token"], "backwards: hsuh"),
    ],
)
def test_an_input_is_asked_for_when_its_server_is_used_and_never_shown(home: Home, words: list[str], then: str) -> None:
    ask_for_token(home)
    with Person(home, *words) as person:
        person.types("typed ahead")
        assert "vault needs a value for tok\nYour token" in person.sees("tok: ")
        person.types("hush")
        person.sees(then)
        assert person.ended() == 0, person.shown
        assert "hush" not in person.raw


def test_an_input_that_is_no_password_is_seen_while_it_is_typed(home: Home) -> None:
    ask_for_token(home, password=False, default="eu")
    with Person(home, "call", "vault.token") as person:
        person.answers(("tok [eu]: ", ""))
        person.sees("backwards: ue")
        assert person.ended() == 0


def test_after_an_input_that_is_hidden_the_terminal_shows_what_is_typed(home: Home) -> None:
    ask_for_token(home)
    import termios

    with Person(home, "call", "vault.token") as person:
        person.sees("tok: ")
        assert not termios.tcgetattr(person._master)[3] & termios.ECHO
        person.presses("\x03")
        assert person.ended() == 130
        assert termios.tcgetattr(person._master)[3] & termios.ECHO


UNHEARD = """
import signal, threading, time
from mooring.cli.interrupts import InterruptHandler, run_until_interrupted
from mooring.chat.plain.dialog import wait_for_line
signal.signal(signal.SIGINT, InterruptHandler())
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
print("ready", flush=True)
run_until_interrupted(wait_for_line())
"""
"""Waits for a line, and has signals come to another thread: they don't end the wait of this one by themselves."""


def test_ctrl_c_is_heard_even_if_it_does_not_interrupt_the_wait_for_a_line() -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", UNHEARD], **pipes) as process:  # type: ignore[call-overload]
        try:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(0.5)  # until it waits; too early would be heard anyway
            process.send_signal(signal.SIGINT)
            process.wait(100)
            assert b"KeyboardInterrupt" in process.stderr.read()
        finally:
            process.kill()


@pytest.mark.parametrize("words", [["tools", "vault"], ["mcp", "test", "vault"], ["call", "vault.token"]])
def test_without_a_terminal_an_input_says_what_to_run(cli: Cli, words: list[str]) -> None:
    ask_for_token(cli.home)
    result = cli(*words)
    assert result.code == 4
    assert "vault needs a value for 'tok'" in result.err
    hint = "Run this command again in a terminal to be asked for it, or give it with -e TOKEN=VALUE."
    assert hint in result.err


def test_the_variable_that_the_hint_about_an_input_names_gives_it_without_a_terminal(cli: Cli) -> None:
    ask_for_token(cli.home)
    result = cli("call", "vault.token", "-e", "TOKEN=hush")
    assert (result.code, "hsuh" in result.out) == (0, True)


def test_an_input_that_fills_more_than_variables_has_no_hint_about_them(cli: Cli) -> None:
    inputs = [{"type": "promptString", "id": "tok"}]
    entry = {**ASKER, "args": [*ASKER["args"], "${input:tok}"], "env": {"TOKEN": "${input:tok}"}}
    cli.home.write("home/.config/Code/User/mcp.json", {"inputs": inputs, "servers": {"vault": entry}})
    result = cli("call", "vault.token")
    assert "Run this command again in a terminal to be asked for it.\n" in result.err


@pytest.mark.parametrize("words", [["mcp", "list", "--check"], ["resources"], ["mcp", "reload"]])
def test_a_command_for_all_servers_says_how_to_be_asked_for_an_input(cli: Cli, words: list[str]) -> None:
    ask_for_token(cli.home)
    assert "Run `mooring tools vault` in a terminal to be asked for it" in cli(*words).err


def test_doctor_names_the_inputs_that_servers_wait_for_and_how_to_give_them(cli: Cli) -> None:
    ask_for_token(cli.home)
    report = cli("mcp", "doctor")
    assert "? vault: It needs the input tok" in report.out
    fix = "mooring secret set vault.tok && mooring mcp import -y --from vscode vault  (keeps it for a copy of yours; "
    assert f"fix: {fix}mooring tools vault asks for it in a terminal, and -e TOKEN=VALUE gives it " in report.out
    ask_for_token(cli.home, default="eu")
    assert "Nothing to fix" in cli("mcp", "doctor").out


def test_a_server_that_lacks_an_input_needs_input(cli: Cli) -> None:
    ask_for_token(cli.home)
    assert cli("tools").code == 0
    [row] = cli("mcp", "list", "--json").data["servers"]
    assert row["status"] == "needs-input", "a listing of all tools does not make it a failure"
    assert "needs input (tok)" in cli("mcp", "list").out
    ask_for_token(cli.home, default="eu")
    [row] = cli("mcp", "list", "--json").data["servers"]
    assert row["status"] == "idle", "it can be started without an answer"


# --- progress -------------------------------------------------------------------------------------------------------


def lack_a_value(home: Home) -> None:
    """A server that has to go without a value, and takes long to start."""
    slow = {
        "command": sys.executable,
        "args": ["-S", "-c", "import time; time.sleep(60)"],
        "env": {"B": "NO_SUCH_NAME"},
    }
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"slow": slow}})


def test_a_warning_does_not_end_up_behind_the_line_that_shows_progress(home: Home) -> None:
    lack_a_value(home)
    with Person(home, "mcp", "reload", "--timeout", "2") as person:
        person.sees("starting the servers …")
        assert person.ended() == 1
        assert "\x1b[KWarning: MCP config error: slow: env.B was left out" in person.raw


def test_what_is_said_after_an_interrupt_is_on_a_line_of_its_own(home: Home) -> None:
    lack_a_value(home)
    with Person(home, "mcp", "list", "--check") as person:
        person.sees("connecting slow …")
        person.presses("\x03")
        assert person.ended() == 130
        assert "\x1b[KWarning: MCP config error: slow: env.B was left out" in person.raw


# --- what servers ask -----------------------------------------------------------------------------------------------


def test_a_form_in_a_call_sends_the_defaults_that_it_shows_and_checks_formats(home: Home) -> None:
    home.configure(asker=ASKER)
    with Person(home, "call", "asker.form") as person:
        person.sees("asker asks:\nasker │ Who are you?")
        person.answers(("n to decline: ", ""))
        email = "email (an email address such as ada@example.com, required): "
        person.answers((email, "notmail"))
        assert "email must be an email address such as ada@example.com, not 'notmail'." in person.sees(email)
        person.types("ada@example.com")
        person.answers(("when (a date such as 2026-01-31, Enter skips): ", "31.1."))
        person.sees("when must be a date")
        person.answers(("Enter skips): ", "2026-01-31"), ("Enter for 42): ", ""), ("Enter for blue): ", ""))
        person.answers(("note (text, Enter skips): ", ""))
        person.sees('{"action"')
        assert person.ended() == 0
        sent = json.loads(person.shown[person.shown.index('{"action"') :])
    content = {"email": "ada@example.com", "when": "2026-01-31", "count": 42, "color": "blue"}
    assert sent == {"action": "accept", "content": content}


def test_a_model_that_a_server_wants_is_the_person(home: Home) -> None:
    home.configure(asker=ASKER)
    with Person(home, "call", "asker.write") as person:
        person.sees("user: Write a line.")
        person.answers(("Enter alone refuses.\n  ", "A line."))
        assert '"text": "A line."' in person.sees("endTurn")
        assert person.ended() == 0


@pytest.mark.parametrize(
    ("tool", "said"), [("form", "asker asked 'Who are you?'"), ("write", "asker wanted a model to write something")]
)
def test_without_a_terminal_what_a_server_asks_is_named(home: Home, tool: str, said: str) -> None:
    home.configure(asker=ASKER)
    result = run(home, "call", f"asker.{tool}")
    assert result.returncode == 4
    assert f"{said}, and there is no terminal to answer in. Run the same command in one." in result.stderr


# --- calls ----------------------------------------------------------------------------------------------------------


def test_an_answer_for_good_is_kept(home: Home) -> None:
    words = ("call", "--permission-mode", "ask", "demo.add", "a=1", "b=1")
    home.configure(demo=DEMO)
    with Person(home, *words) as person:
        person.answers(('because …"): ', "a"), ("in this [p]roject? ", "e"))
        assert person.ended() == 0
    with Person(home, *words) as person:
        assert person.ended() == 0
        assert "Call it?" not in person.shown


def test_without_a_terminal_a_call_that_must_be_asked_about_says_what_would_allow_it(home: Home) -> None:
    home.configure(demo=DEMO)
    result = run(home, "call", "--permission-mode", "ask", "demo.add", "a=1", "b=1")
    assert (result.returncode, "To allow it: mooring allow demo.add" in result.stderr) == (4, True)


def test_the_line_that_shows_progress_never_draws_over_a_question(home: Home) -> None:
    ask_for_token(home)
    with Person(home, "call", "vault.token") as person:
        person.sees("tok: ")
        with pytest.raises(AssertionError, match=r"was not shown|ended without"):
            person.sees("starting", seconds=1.5)
        person.types("x")
        person.sees("backwards: x")
        assert person.ended() == 0


def test_a_person_may_take_longer_to_answer_than_a_server_may_be_silent(home: Home) -> None:
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"asker": {**ASKER, "timeout": 1000}}})
    with Person(home, "call", "asker.write") as person:
        person.sees("Enter alone refuses.\n  ")
        with pytest.raises(AssertionError):
            person.sees("within", seconds=2.5)
        person.types("A line.")
        person.sees("endTurn")
        assert person.ended() == 0


def test_a_call_asks_about_a_held_back_tool_as_its_server_describes_it_now(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json", tools=["x"], describe={"x": "Harmless."})
    home.configure(actor=actor.entry)
    assert run(home, "call", "actor.x").returncode == 0
    actor.tell(tools=["x"], describe={"x": "Earlier."})
    assert run(home, "mcp", "reload", "actor").returncode == 0
    actor.tell(tools=["x"], describe={"x": "Latest."})
    with Person(home, "call", "actor.x") as person:
        question = person.sees(CHANGED)
        assert ("+description: Latest." in question, "Earlier." in question) == (True, False)
        person.types("y")
        assert person.ended() == 0, person.shown
        assert "[y/N]" not in person.sees("x\n"), "one yes is enough"
