"""The plain chat as a person meets it: real processes at a pseudo-terminal, with real servers."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chat.terminal import Person
from mooring.permissions.audit import read_log
from support import DEMO, MOORING, Actor, Home, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

WHICH, CALL_IT, READY = "Enter for none: ", 'because …"): ', "\n> "


ASKER = str(Path(__file__).parents[1] / "cli" / "asker.py")
SETTINGS = "home/.config/mooring/settings.json"


def leave(person: Person) -> None:
    """The chat ends as it should, and leaves nothing behind."""
    person.types("/quit")
    assert person.ended() == 0, person.shown
    assert "Traceback" not in person.raw
    assert person.left() == []


def greeted(person: Person, also: str) -> str:
    """What is shown at first, once this is shown too: with the rest, or when its server has come so far."""
    shown = person.sees("No model connected: describe a task and I'll suggest tools.")
    return shown if also in shown else shown + person.sees(also)


@pytest.mark.parametrize("real", [True, False], ids=["real", "warm"])
def test_a_tool_is_found_picked_filled_in_and_called_without_another_question(home: Home, real: bool) -> None:
    with Person(home, "--demo", real=real) as person:
        person.sees("7 tools")
        person.answers((READY, "add two numbers"), (WHICH, "1"), ("a (number, required): ", "2"))
        person.answers(("b (number, required): ", "40"))
        assert CALL_IT not in person.sees("✓ 🔌 demo / add a=2 b=40 · ")
        assert re.fullmatch(r"[0-9.]+ m?s\n", person.sees('{"sum": 42}'))
        person.sees(READY)
        leave(person)


def test_a_rule_that_denies_holds_for_a_call_that_the_person_filled_in(home: Home) -> None:
    with Person(home, "chat", "--demo", "--deny", "demo.add") as person:
        person.answers((READY, "demo.add"), ("a (number, required): ", "2"), ("b (number, required): ", "40"))
        assert '"sum"' not in person.sees("denied")
        person.answers((READY, "/call demo.add a=2"), ("b (number, required): ", "40"))
        assert '"sum"' not in person.sees("denied")
        leave(person)
    assert {entry.outcome for entry in read_log(home.where)} == {"denied"}


def test_a_call_that_was_typed_in_one_line_is_asked_about(home: Home) -> None:
    with Person(home, "--demo") as person:
        person.answers((READY, "/call demo.add a=2 b=40"))
        asked = person.sees(CALL_IT)
        assert "🔌 demo / add" in asked
        assert "asked because no rule matches it" in asked
        assert '{"tool": "mcp__demo__add", "action": "allow"}' in asked
        person.types("o")
        person.sees('{"sum": 42}')
        person.sees(READY)
        leave(person)


def test_a_wrong_value_is_a_sentence_and_asked_for_again(home: Home) -> None:
    with Person(home, "chat", "--plain", "--demo", "--allow", "demo.*") as person:
        person.answers((READY, "demo.slow"), ("seconds (number, required): ", "soon"))
        assert "seconds must be a number" in person.sees("seconds (number, required): ")
        person.answers(("", ""), ("seconds is required", ""), ("seconds (number, required): ", "0.1"))
        person.answers(("steps (whole number, Enter for 4): ", ""))
        person.sees("Took 0.1 seconds in 4 steps.")
        person.answers((READY, "demo.slow"), ("required): ", '{"seconds": 0.2, "steps": 2}'))
        person.sees("Took 0.2 seconds in 2 steps.")
        person.sees(READY)
        leave(person)


def test_a_no_with_a_reason_is_told_and_nothing_is_called(home: Home) -> None:
    with Person(home, "--demo") as person:
        person.answers((READY, "/call demo.echo text=hello"), (CALL_IT, "x"), (CALL_IT, "N"), ("Because: ", "not now"))
        person.sees("Not called: not now")
        person.answers((READY, "/call demo.echo text=hello"), (CALL_IT, "no, it is late"))
        person.sees("Not called: it is late")
        person.answers((READY, "/call demo.echo text=hello"), (CALL_IT, "s"), ("\nhello", ""))
        person.answers((READY, "/call demo.echo text=again"))
        assert "Call it?" not in person.sees("\nagain")
        leave(person)
    assert [entry.outcome for entry in read_log(home.where)] == ["denied", "denied", "ok", "ok"]


def test_what_was_typed_ahead_answers_no_question(home: Home) -> None:
    with Person(home, "--demo") as person:
        person.sees(READY)
        # As a paste comes, at once: the command, and lines that would allow it once, for the session and always.
        person.presses("/call demo.echo text=hello\ro\rs\ra\rp\r")
        person.sees(CALL_IT)
        person.types("n")
        person.sees("Not called.")
        person.sees("> o")
        person.presses("\x15")  # it went to the input line, and is not meant
        person.types("/call demo.echo text=again")
        person.sees(CALL_IT)
        person.types("o")
        person.sees("\nagain")
        leave(person)
    assert [entry.outcome for entry in read_log(home.where)] == ["denied", "ok"]


def test_the_chat_goes_on_with_a_log_that_cannot_be_written_and_says_when_it_can_again(home: Home) -> None:
    place = home.home / ".local/state/mooring/audit.jsonl"
    place.mkdir(parents=True)
    with Person(home, "chat", "--plain", "--demo", "--allow", "demo.*") as person:
        person.answers((READY, "/call demo.echo text=first"), ("\nfirst", ""))
        person.sees(
            "The log of calls is a folder, not a file; calls continue, but are not recorded until this is fixed"
        )
        person.answers(("", "/call demo.echo text=second"), ("\nsecond", ""))
        place.rmdir()
        person.sees("The log of calls is being written again; it lacks no call")
        leave(person)
    assert [entry.arguments for entry in read_log(home.where)] == [{"text": "str(5)"}, {"text": "str(6)"}]


def test_always_in_this_project_is_kept_outside_of_it(home: Home) -> None:
    with Person(home, "--demo") as person:
        person.answers((READY, "/call demo.echo text=x"), (CALL_IT, "a"), ("[p]roject? ", "p"), ("\nx", ""))
        leave(person)
    rules = json.loads((home.home / ".local/state/mooring/rules.json").read_text())
    assert list(rules["projects"].values()) == [[{"tool": "mcp__demo__echo", "action": "allow"}]]
    with Person(home, "--demo") as person:
        person.answers((READY, "/call demo.echo text=again"))
        assert "Call it?" not in person.sees("\nagain")
        leave(person)


def test_what_is_denied_is_not_even_asked_about(home: Home) -> None:
    with Person(home, "chat", "--demo", "--deny", "demo.echo", "--dangerously-skip-permissions") as person:
        person.answers((READY, "/call demo.echo text=x"))
        assert "Call it?" not in person.sees(
            "demo.echo was not called: denied by a rule for this session (deny demo.echo)."
        )
        person.answers((READY, "/call demo.fail"))
        person.sees("Error: This tool is meant to fail, and it did.")
        leave(person)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("\r", "The person answered: blue"),
        ("Hamburg\r", "The person answered: Hamburg"),
        ("n\r", "declined to answer"),
        ("\x03", "closed the question"),
    ],
)
def test_what_a_server_asks_is_put_to_the_person(home: Home, keys: str, said: str) -> None:
    with Person(home, "chat", "--demo", "--allow", "demo.*") as person:
        person.answers((READY, "/call demo.ask question='Which colour?'"))
        person.sees("demo asks:\ndemo │ Which colour?\ndemo │   answer: text\n")
        person.sees("n to decline: ")
        person.presses(keys)
        if keys == "\r":
            person.answers(("answer (text, required): ", "blue"))
        person.sees(said)
        leave(person)


def test_a_question_that_its_server_takes_back_is_gone(home: Home) -> None:
    home.configure(demo=DEMO, asker={"command": sys.executable, "args": ["-S", ASKER]})
    with Person(home, "chat", "--allow", "*.*") as person:
        person.answers((READY, "/call asker.impatient"), ("n to decline: ", ""))
        person.sees("required): ")
        person.sees("never mind")
        person.answers((READY, "/call demo.echo text='it goes on'"))
        person.sees("\nit goes on")
        person.sees(READY)
        leave(person)


def test_ctrl_c_ends_the_call_and_not_the_chat(home: Home) -> None:
    with Person(home, "chat", "--demo", "--allow", "demo.*") as person:
        person.answers((READY, "/call demo.slow seconds=60 steps=100"))
        person.sees("step 1 of 100")
        person.presses("\x03")
        person.sees("Stopped.")
        person.answers((READY, "/call demo.echo text='still here'"))
        person.sees("\nstill here")
        person.sees(READY)
        person.presses("half a line\x03")
        person.sees("Ctrl+C again leaves")
        person.presses("\x03")
        assert person.ended() == 0, person.shown
        assert person.left() == []


def test_servers_are_shown_as_they_stand(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json", die=True)
    home.configure(demo=DEMO, actor=actor.entry, off={"command": "no-such-program", "disabled": True})
    home.write("project/.mcp.json", {"mcpServers": {"theirs": {"type": "http", "url": "https://their.example/mcp"}}})
    with Person(home) as person:
        assert "theirs: unapproved · `/approve theirs`" in greeted(person, "actor: failed")
        person.answers((READY, "/mcp"))
        shown = person.sees("\n\nUse `/mcp enable <name>` or `/mcp disable <name>` to toggle.")
        assert "MCP Servers\n\n" in shown
        assert "  ● demo (stdio) · connected · 7 tools\n    " in shown
        assert "  ✗ actor (stdio) · failed" in shown
        off = "disabled (`disabled` in its entry) · `/mcp enable off` turns it on for this session"
        assert f"  ○ off (stdio) · {off}\n    no-such-program" in shown
        assert "  ? theirs (http) · unapproved" in shown
        assert "\n    https://their.example/mcp" in shown
        person.answers((READY, "/mcp theirs"))
        person.sees("from claude-code: ")
        person.answers((READY, "/mcp enable nobody"))
        person.sees("MCP server 'nobody' not found. Run /mcp to see available servers.")
        person.answers((READY, "/mcp ACTOR"))
        person.sees("it wrote last:")
        person.sees("I was told to die")
        actor.tell()
        person.answers((READY, "/mcp reload actor"))
        person.sees("tools: change, complain, count, die, fragile, nap, update, whoami")
        person.answers((READY, "/mcp disable demo"))
        assert "configuration changed" not in person.sees("MCP server 'demo' disabled for this session.")
        for line in ("/call demo.echo text=x", "demo.echo"):
            person.answers((READY, line))
            person.sees('Server "demo" is disabled. Run /mcp enable demo first.')
        person.answers((READY, "/mcp enable demo"), ("MCP server 'demo' enabled for this session.", ""))
        leave(person)


def test_whoever_looks_for_tools_too_early_is_told_what_is_still_connecting(home: Home) -> None:
    home.configure(**{f"late{number}": {"command": "sleep", "args": [f"6{number}"]} for number in range(7)})
    late = "Still connecting: late0, late1, late2, late3, late4 and 2 more."
    with Person(home) as person:
        person.answers((READY, "/tools"))
        person.sees(f"No tools are known yet. /mcp shows the servers. {late}")
        person.answers((READY, "/tools read a file"))
        person.sees(f"No tool matches read a file. {late}")
        leave(person)


def test_a_configuration_that_changes_meanwhile_is_told_in_words(home: Home) -> None:
    home.configure(demo=DEMO, helper={**DEMO, "env": {"B": "1"}}, notes={**DEMO, "env": {"A": "1"}})
    with Person(home) as person:
        person.sees(READY)
        home.configure(demo=DEMO, notes={**DEMO, "env": {"A": "2"}}, broken={"args": []})
        person.sees("configuration changed: helper removed, notes changed; 1 problem: mooring mcp doctor\n")
        leave(person)


def test_a_server_that_its_file_switches_off_can_be_had_for_a_session(home: Home) -> None:
    home.configure(demo={**DEMO, "disabled": True})
    theirs = {"command": "no-such-program", "disabled": True}
    home.write("project/.mcp.json", {"mcpServers": {"theirs": theirs}})
    with Person(home, "chat", "--allow", "demo.*") as person:
        person.answers((READY, "demo.echo"))
        person.sees('Server "demo" is disabled. Run /mcp enable demo first.')
        person.answers((READY, "/mcp enable demo"), ("MCP server 'demo' enabled for this session.", ""))
        person.answers((READY, "/call demo.echo text=there"))
        person.sees("\nthere")
        person.answers((READY, "/mcp enable theirs"))
        person.sees("theirs comes from the project and is not approved")
        leave(person)
    assert json.loads((home.home / ".mcp.json").read_text())["mcpServers"]["demo"]["disabled"] is True


def test_tools_that_are_held_back_are_named_at_the_start_and_with_their_server(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json", tools=["x"])
    home.configure(actor=actor.entry)
    with Person(home, "chat", "--allow", "*") as person:
        person.answers((READY, "/call actor.x"), ("\nx", ""))
        leave(person)
    actor.tell(tools=["x"], describe={"x": "evil"})
    says = "1 tool held back: changed or new since your approval; `/pins actor` shows them"
    with Person(home, "chat", "--allow", "*") as person:
        person.answers((READY, "/mcp reload actor"))
        person.sees(says)
        leave(person)
    with Person(home) as person:
        person.sees(f"actor: {says}")
        person.sees(READY)
        leave(person)


def test_a_server_that_stays_down_is_told_of_once(home: Home, tmp_path: Path) -> None:
    home.configure(demo=DEMO, down=Actor(tmp_path / "down.json", die=True).entry)
    with Person(home) as person:
        greeted(person, "down: failed")
        person.answers((READY, "/mcp reload down"))
        assert "down: failed" not in person.sees("before it answered anything")
        person.answers((READY, "/resources"))
        assert "failed" not in person.sees("demo://")
        leave(person)


def test_a_call_that_takes_long_goes_on_in_the_background_and_is_shown_when_it_ends(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {"backgroundAfter": 0.3})
    with Person(home, "chat", "--demo", "--allow", "*") as person:
        person.answers((READY, "/call demo.slow seconds=2 steps=1"))
        person.sees("demo / slow goes on in the background; its result will be shown.")
        person.answers((READY, "/call demo.echo text=meanwhile"))
        person.sees("\nmeanwhile")
        person.sees("✓ 🔌 demo / slow seconds=2 steps=1 · ")
        person.sees("Took 2 seconds in 1 steps.")
        leave(person)


def test_a_server_that_comes_late_is_told_above_what_is_being_typed(home: Home, tmp_path: Path) -> None:
    home.configure(late=Actor(tmp_path / "late.json", late=2.5).entry)
    with Person(home) as person:
        person.sees("late: connecting")
        person.sees(READY)
        person.presses("late.who")
        person.sees("late is connected now: 8 tools")
        person.sees("> late.who")
        person.types("ami")
        person.sees("✓ 🔌 late / whoami · ")
        leave(person)


def test_what_a_server_has_to_go_without_is_said(home: Home) -> None:
    entry = {**DEMO, "env": {"TOKEN": "!exit 3"}}
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"demo": entry}})
    with Person(home) as person:
        person.sees("demo: env.TOKEN was left out: it comes from a command that ended with exit code 3.")
        person.sees(READY)
        leave(person)


def test_an_input_that_is_secret_is_asked_for_and_never_shown(home: Home) -> None:
    command = [sys.executable, "-S", "-c", "import os, sys; sys.exit('got ' + os.environ['TOKEN'][::-1])"]
    entry = {"type": "stdio", "command": command[0], "args": command[1:], "env": {"TOKEN": "${input:token}"}}
    inputs = [{"type": "promptString", "id": "token", "description": "Your token", "password": True}]
    home.write("home/.config/Code/User/mcp.json", {"inputs": inputs, "servers": {"vault": entry}})
    with Person(home) as person:
        person.sees("vault: needs input (token) · asked for when you use it")
        person.answers((READY, "/mcp reload vault"))
        person.sees("vault needs a value for token")
        person.answers(("token: ", "hush-hush"))
        person.sees("exit code 1")
        leave(person)
        assert "hush-hush" not in person.raw


LINES = [
    "/", "/mpc", "/mcp nobody", "/mcp reload nobody", "/mcp enable", "/mcp enable nobody", "/call nothing", "/call 'x",
    "/call demo.echo text", "/call demo.echo txt=1", "/read", "/read demo", "/read nobody x://y", "/read demo x://y",
    "/resources nobody", "/tools zzzqqq", "zzzqqq", "\x01\x02\x1b[31m", "(", "*", '{"a": 1}', "ä" * 3000,
]  # fmt: skip


def test_bad_input_is_answered_in_a_sentence(home: Home) -> None:
    with Person(home, "chat", "--demo", "--allow", "*") as person:
        for line in LINES:
            person.sees("> ")
            person.types(line)
        person.answers(("", "/tools"), ("demo.echo", ""), ("", "/help"), ("/call [SERVER.TOOL", ""))
        leave(person)
        assert "There is no command /mpc. Did you mean /mcp?" in person.shown


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_without_colours_nothing_is_coloured(home: Home, env: dict[str, str]) -> None:
    with Person(home, "chat", "--demo", "--allow", "*", **env) as person:
        person.answers((READY, "/call demo.slow seconds=0.2 steps=2"))
        person.sees("Took 0.2 seconds")
        person.answers((READY, "/mcp"), ("7 tools", ""))
        leave(person)
        assert "\x1b[1m" not in person.raw
        assert ("\x1b" in person.raw) == ("TERM" not in env)


def test_what_a_server_writes_cannot_steer_the_terminal(home: Home, tmp_path: Path) -> None:
    evil = "\x1b]0;gone\x07 \u202etxt"
    home.configure(evil=Actor(tmp_path / "evil.json", tools=["speak"], describe={"speak": evil}).entry)
    with Person(home) as person:
        person.answers((READY, "speak"), (WHICH, ""), (READY, "/tools"), ("evil.speak", ""))
        leave(person)
        assert "\x1b]0;" not in person.raw
        assert "\u202e" not in person.raw
        assert "\\x1b]0;gone\\x07 \\u202etxt" in person.raw


def test_a_picture_is_kept_and_its_file_named(home: Home) -> None:
    with Person(home, "chat", "--demo", "--allow", "*") as person:
        person.answers((READY, "/call demo.picture"))
        person.sees("kept in ")
        path = person.sees(".png]")
        assert Path(f"{path}.png").read_bytes().startswith(b"\x89PNG")
        leave(person)


def test_the_end_of_input_leaves(home: Home) -> None:
    with Person(home, "--demo") as person:
        person.sees(READY)
        person.presses("\x04")
        assert person.ended() == 0, person.shown
        assert person.left() == []


def test_a_window_that_is_closed_leaves_nothing_behind(home: Home) -> None:
    with Person(home, "chat", "--demo", "--allow", "*") as person:
        person.answers((READY, "/call demo.slow seconds=60"), ("step 0", ""))
        person.closes_the_window()
        until = time.monotonic() + 100
        while person.left() and time.monotonic() < until:
            time.sleep(0.05)
        assert person.left() == []


def test_without_a_terminal_there_is_the_list_and_no_chat(home: Home) -> None:
    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [MOORING, *words], cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=100
        )

    assert "demo" in run("--demo").stdout
    refused = run("chat", "--demo")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "mooring: A chat needs a terminal. Without one: mooring chat -p TEXT, or mooring call.\n"


def test_a_deny_rule_that_matches_no_known_server_is_pointed_out_once(home: Home) -> None:
    with Person(home, "chat", "--demo", "--deny", "demmo.*") as person:
        greeted(person, "The deny rule demmo.* matches no known server; did you mean demo?")
        leave(person)
        assert person.shown.count("matches no known server") <= 1


def test_a_server_that_was_rejected_is_no_longer_asked_about_when_a_chat_begins(home: Home) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"no": {"command": "sh"}}})
    assert run_beside(home, "mcp", "reject", "no").code == 0
    with Person(home, "chat") as person:
        assert "unapproved" not in person.sees("No model connected")
        person.types("/mcp")
        person.sees("rejected")
        leave(person)
