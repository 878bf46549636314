"""`/mcp VERB …` in the chat: real servers added, removed, switched, tested and reloaded while a conversation runs."""

import json
import re
import sys
import time
from pathlib import Path

import pytest

from chat.terminal import Person
from chat.test_plain import READY, SETTINGS, leave
from mooring.chat.mcp.verbs import spell_for_chat
from support import DEMO, Actor, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

OWN = "home/.config/mooring/mcp.json"
KEEP, REMOVE = "Keep it? [Y/n]: ", "Remove it? [y/N]: "
DEMO_WORDS = " ".join([DEMO["command"], *DEMO["args"]])


def own_servers(home: Home) -> dict[str, object]:
    found: dict[str, object] = json.loads((home.folder / OWN).read_text())["mcpServers"]
    return found


def show_of(person: Person, line: str) -> str:
    """What is shown for a line, up to the next prompt."""
    person.types(line)
    person.sees(line)
    return person.sees(READY)


# --- add ------------------------------------------------------------------------------------------------------------


def test_a_server_that_is_added_can_be_used_at_the_next_line(home: Home) -> None:
    with Person(home, "chat", "--allow", "*") as person:
        person.sees(READY)
        person.types(f"/mcp add demo {DEMO_WORDS}")
        person.sees("Added demo to ~/.config/mooring/mcp.json.")
        shown = person.sees(KEEP)
        assert "● demo · connected · 7 tools" in shown
        assert "tools: add, ask, echo" in shown
        assert "demo was added to ~/.config/mooring/mcp.json and works." in shown
        person.types("")
        person.answers((READY, "/call demo.echo text=here"))
        person.sees("\nhere")
        person.sees(READY)
        leave(person)
    assert own_servers(home) == {"demo": DEMO}


def test_what_was_added_is_undone_by_a_no_and_its_process_ends(home: Home) -> None:
    home.configure(other=DEMO)
    with Person(home) as person:
        person.sees(READY)
        before = len(person.left())
        person.types(f"/mcp add demo -e WHICH=second -- {DEMO_WORDS}")
        person.answers((KEEP, "n"))
        person.sees("Removed demo from ~/.config/mooring/mcp.json.")
        person.sees(READY)
        assert "○ demo" not in show_of(person, "/mcp")
        assert "MCP server 'demo' not found." in show_of(person, "/mcp why demo")
        until = time.monotonic() + 100
        while len(person.left()) != before:
            assert time.monotonic() < until, person.left()
            time.sleep(0.05)
        leave(person)
    assert own_servers(home) == {}


def test_a_server_that_cannot_be_connected_says_why_and_may_be_undone(home: Home) -> None:
    with Person(home) as person:
        person.sees(READY)
        person.types("/mcp add gone no-such-program")
        person.sees("Added gone to ~/.config/mooring/mcp.json.")
        shown = person.sees(KEEP)
        assert 'Failed to connect to "gone": ' in shown
        assert shown.count("no-such-program") == 1, "the reason is told once"
        assert "gone was added to ~/.config/mooring/mcp.json and could not be connected." in shown
        person.types("n")
        person.sees("Removed gone from ~/.config/mooring/mcp.json.")
        person.sees(READY)
        leave(person)


def test_without_words_a_person_is_asked_for_the_server_piece_by_piece(home: Home) -> None:
    with Person(home, "chat", "--allow", "*") as person:
        person.answers((READY, "/mcp add"), ("Name: ", "demo"), ("Program or address [program]: ", ""))
        person.answers(("Command line: ", DEMO_WORDS), ("KEY=VALUE (Enter to go on): ", ""))
        person.answers(("Scope [user]: ", ""), ("Tool [mooring]: ", ""), ("Add it? [Y/n]: ", "y"))
        person.sees("Added demo to ~/.config/mooring/mcp.json.")
        person.answers((KEEP, "y"), (READY, "/call demo.echo text=asked"))
        person.sees("\nasked")
        person.sees(READY)
        leave(person)
    assert own_servers(home) == {"demo": DEMO}


@pytest.mark.parametrize("answers", [0, 1, 3])
def test_ctrl_c_in_the_questions_leaves_everything_as_it_was(home: Home, answers: int) -> None:
    asked = [("Name: ", "demo"), ("[program]: ", ""), ("Command line: ", DEMO_WORDS), ("KEY=VALUE", "")]
    with Person(home) as person:
        person.answers((READY, "/mcp add"), *asked[:answers])
        person.sees(asked[answers][0])
        person.presses("\x03")
        person.sees("Nothing was added.")
        person.sees(READY)
        assert "No MCP servers found." in show_of(person, "/mcp")
        leave(person)
    assert not (home.folder / OWN).exists()


def test_what_is_added_to_the_project_is_approved_as_it_was_typed(home: Home) -> None:
    with Person(home, "chat", "--allow", "*") as person:
        person.sees(READY)
        person.types(f"/mcp add demo -s project {DEMO_WORDS}")
        shown = person.sees(KEEP)
        assert f"Added demo to {home.project}/.mooring/mcp.json." in shown
        assert "● demo · connected · 7 tools" in shown
        person.presses("\x03")
        person.sees(f"demo stays in {home.project}/.mooring/mcp.json; /mcp remove demo takes it out.")
        person.sees(READY)
        leave(person)


def test_what_a_removed_server_of_the_name_wrote_is_not_shown_with_the_new_one(home: Home) -> None:
    # The day it wrote that is long past, so that no clock matters here.
    home.write("home/.local/state/mooring/logs/demo.log", "2020-01-01T00:00:00.000Z stderr of another time\n")
    with Person(home) as person:
        person.sees(READY)
        person.types(f"/mcp add demo {DEMO_WORDS}")
        shown = person.sees(KEEP)
        assert "● demo · connected · 7 tools" in shown
        assert "of another time" not in shown
        person.types("y")
        person.sees(READY)
        assert "of another time" in show_of(person, "/mcp demo")
        leave(person)


def test_an_option_behind_the_servers_command_is_mentioned(home: Home) -> None:
    with Person(home) as person:
        person.sees(READY)
        shown = show_of(person, "/mcp add --no-test gone no-such-program --to gemini")
        assert "--to became an argument of no-such-program: options go before the server's command." in shown
        leave(person)
    assert own_servers(home) == {"gone": {"command": "no-such-program", "args": ["--to", "gemini"]}}


def test_without_a_test_it_is_only_written(home: Home) -> None:
    with Person(home) as person:
        person.sees(READY)
        assert "Failed" not in show_of(person, "/mcp add gone --no-test no-such-program")
        assert own_servers(home) == {"gone": {"command": "no-such-program"}}
        leave(person)


def test_a_definition_that_another_one_displaces_is_not_tried(home: Home) -> None:
    home.write(OWN, {"mcpServers": {"demo": DEMO}})
    with Person(home) as person:
        person.sees(READY)
        shown = show_of(person, "/mcp add demo --to cursor no-such-program")
        assert "Added demo to ~/.cursor/mcp.json." in shown
        assert "Another definition of demo wins: mooring, user: ~/.config/mooring/mcp.json." in shown
        assert "Failed" not in shown
        leave(person)


def test_the_demo_alone_takes_no_other_server_and_writes_nothing(home: Home) -> None:
    with Person(home, "--demo") as person:
        person.sees(READY)
        for line in ("/mcp add x npx", "/mcp add"):
            assert "--demo leaves all files out, so nothing is written" in show_of(person, line)
        leave(person)
    assert not (home.folder / OWN).exists()


# --- remove ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["remove", "rm"])
def test_a_server_is_removed_only_after_a_yes_then_ends_and_its_tools_are_gone(home: Home, verb: str) -> None:
    home.write(OWN, {"mcpServers": {"demo": DEMO, "other": {"command": "no-such-program", "enabled": False}}})
    with Person(home, "chat", "--allow", "*") as person:
        person.answers((READY, f"/mcp {verb} DEMO"))
        person.sees("demo will be removed from ~/.config/mooring/mcp.json.")
        person.answers((REMOVE, ""))
        person.sees("demo stays in ~/.config/mooring/mcp.json.")
        person.answers((READY, f"/mcp {verb} demo"), (REMOVE, "y"))
        person.sees("Removed demo from ~/.config/mooring/mcp.json.")
        person.sees(READY)
        assert "demo" not in show_of(person, "/tools")
        assert "No server is called 'demo'. `/mcp list` shows the known ones." in show_of(
            person, "/call demo.echo text=x"
        )
        assert "Adds two numbers" not in show_of(person, "add two numbers")
        leave(person)
    assert list(own_servers(home)) == ["other"]


def test_a_server_that_is_added_again_is_not_the_one_that_was_turned_off(home: Home) -> None:
    home.write(OWN, {"mcpServers": {"demo": DEMO}})
    with Person(home) as person:
        person.sees(READY)
        show_of(person, "/mcp disable demo")
        person.types("/mcp rm demo")
        person.answers((REMOVE, "y"), (READY, f"/mcp add demo {DEMO_WORDS}"))
        assert "● demo · connected · 7 tools" in person.sees(KEEP)
        person.types("y")
        person.sees(READY)
        leave(person)


def test_what_another_tool_has_is_removed_only_if_that_tool_is_named(home: Home) -> None:
    home.write("home/.cursor/mcp.json", {"mcpServers": {"demo": DEMO}})
    with Person(home) as person:
        person.sees(READY)
        shown = show_of(person, "/mcp remove demo")
        assert "demo is not defined in Mooring's own file, but in cursor" in shown
        assert "To remove it there: /mcp remove demo --from cursor" in shown
        person.types("/mcp remove demo --from cursor -s user")
        person.answers((REMOVE, "y"))
        person.sees("Removed demo from ~/.cursor/mcp.json.")
        person.sees(READY)
        leave(person)


def test_the_definition_below_the_removed_one_is_used_at_once(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json", tools=["below"])
    home.write(OWN, {"mcpServers": {"one": DEMO}})
    home.configure(one=actor.entry)
    with Person(home, "chat", "--allow", "*") as person:
        person.answers((READY, "/mcp rm one"), (REMOVE, "y"))
        person.sees("Still defined: claude-code, user: ~/.mcp.json.")
        person.answers((READY, "/call one.below"))
        person.sees("✓ 🔌 one / below")
        person.sees(READY)
        leave(person)


# --- import ---------------------------------------------------------------------------------------------------------


def test_servers_of_a_file_are_imported_after_a_look_and_can_be_used_at_once(home: Home) -> None:
    home.write("home/snippet.json", {"mcpServers": {"demo": DEMO, "gone": {"command": "no-such-program"}}})
    with Person(home, "chat", "--allow", "*") as person:
        person.answers((READY, "/mcp import --from ~/snippet.json"))
        shown = person.sees("Write it? [Y/n]: ")
        assert "2 servers will be written to ~/.config/mooring/mcp.json" in shown
        person.types("n")
        person.sees("Nothing was written to ~/.config/mooring/mcp.json yet. It would get 2 servers: demo, gone.")
        person.answers((READY, "/mcp import --from ~/snippet.json"), ("Write it? [Y/n]: ", ""))
        person.sees("Wrote 2 servers to ~/.config/mooring/mcp.json: demo, gone.")
        person.sees("demo: connected · 7 tools")
        person.sees('Failed to connect to "gone": ')
        person.answers((READY, "/call demo.echo text=imported"))
        person.sees("\nimported")
        person.sees(READY)
        assert "Skipped demo: " in show_of(person, "/mcp import demo --from ~/snippet.json")
        leave(person)


def test_another_tools_server_keeps_running_when_it_is_imported(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    home.write("home/.cursor/mcp.json", {"mcpServers": {"actor": actor.entry}})
    with Person(home) as person:
        person.sees(READY)
        shown = show_of(person, "/mcp import --dry-run")
        assert '+    "actor": {' in shown
        assert not (home.folder / OWN).exists()
        person.types("/mcp import actor")
        person.answers(("Write it? [Y/n]: ", "y"))
        person.sees("Wrote 1 server to ~/.config/mooring/mcp.json: actor.")
        person.sees(READY)
        assert "There is nothing to write" in show_of(person, "/mcp import")
        assert len(actor.done("starts")) == 1
        leave(person)


# --- enable and disable ---------------------------------------------------------------------------------------------


def test_a_switch_is_for_the_session_and_with_save_for_good(home: Home) -> None:
    home.write(OWN, {"mcpServers": {"demo": DEMO}})
    with Person(home, "chat", "--allow", "*") as person:
        person.sees(READY)
        assert "MCP server 'demo' disabled for this session." in show_of(person, "/mcp disable Demo")
        assert own_servers(home) == {"demo": DEMO}
        assert 'Server "demo" is disabled. Run /mcp enable demo first.' in show_of(person, "/call demo.echo text=x")
        leave(person)
    with Person(home, "chat", "--allow", "*") as person:
        person.answers((READY, "/mcp disable demo --save"))
        person.sees("Disabled demo in ~/.config/mooring/mcp.json.")
        person.sees(READY)
        assert 'Server "demo" is disabled.' in show_of(person, "/call demo.echo text=x")
        assert own_servers(home) == {"demo": {**DEMO, "enabled": False}}
        shown = show_of(person, "/mcp enable --save demo")
        assert "Enabled demo in ~/.config/mooring/mcp.json." in shown
        assert "demo: connected · 7 tools" in shown
        assert own_servers(home) == {"demo": DEMO}
        person.types("/call demo.echo text=back")
        person.sees("\nback")
        person.sees(READY)
        leave(person)


def test_what_is_saved_replaces_what_was_said_for_the_session(home: Home) -> None:
    home.configure(demo=DEMO)
    with Person(home) as person:
        person.sees(READY)
        show_of(person, "/mcp disable demo")
        shown = show_of(person, "/mcp enable demo --save")
        assert "demo is enabled already." in shown
        assert "demo: connected · 7 tools" in shown
        shown = show_of(person, "/mcp disable demo --save -s project")
        assert "Disabled demo in Mooring, for this project; ~/.mcp.json stays as it is." in shown
        assert "needs --save" in show_of(person, "/mcp enable demo -s user")
        assert "--scope must be user, project or local, not 'all'." in show_of(person, "/mcp enable demo --save -s all")
        leave(person)


# --- test, reload, get, why -----------------------------------------------------------------------------------------


def test_a_test_shows_each_step_and_leaves_the_running_server_alone(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json", tools=["one", "two"])
    home.configure(actor=actor.entry)
    with Person(home) as person:
        person.sees(READY)
        assert len(actor.done("starts")) == 1
        shown = show_of(person, "/mcp test ACTOR")
        steps = re.findall(r"✓ (\w+)", shown)
        assert steps == ["file", "approval", "variables", "command", "protocol", "tools", "ping", "close"]
        assert len(actor.done("starts")) == 2
        assert "● actor (stdio) · connected · 10 tools" in show_of(person, "/mcp")
        leave(person)


@pytest.mark.parametrize("verb", ["reload", "reconnect"])
def test_a_server_that_is_reloaded_has_the_tools_that_it_has_now(home: Home, tmp_path: Path, verb: str) -> None:
    actor = Actor(tmp_path / "actor.json", tools=["old"])
    home.configure(actor=actor.entry)
    with Person(home) as person:
        person.sees(READY)
        actor.tell(tools=["new"])
        shown = show_of(person, f"/mcp {verb} actor")
        assert shown.count("actor: 1 new tool, 1 tool removed") == 1
        assert "nap, new, update" in shown
        assert "actor.new" in show_of(person, "/tools")
        leave(person)


def test_a_server_that_fails_after_a_reload_says_why_once_and_the_chat_goes_on(home: Home, tmp_path: Path) -> None:
    marker = tmp_path / "broken"
    code = f"import os, sys; os.path.exists({str(marker)!r}) and sys.exit('no such table'); import mooring.demo as demo; demo.main()"
    home.configure(demo={"command": sys.executable, "args": ["-I", "-c", code]})
    with Person(home) as person:
        person.sees("7 tools")
        person.sees(READY)
        marker.touch()
        shown = show_of(person, "/mcp reload demo")
        assert 'Failed to connect to "demo": ' in shown
        assert shown.count("no such table") == 1, "nothing is said twice"
        marker.unlink()
        assert "● demo · connected · 7 tools" in show_of(person, "/mcp reload demo")
        leave(person)


def test_a_definition_is_explained_without_its_secrets(home: Home) -> None:
    home.write(OWN, {"mcpServers": {"demo": {**DEMO, "env": {"TOKEN": "canary-secret"}}}})
    home.configure(demo={"command": "other"})
    with Person(home) as person:
        person.sees(READY)
        shown = show_of(person, "/mcp get demo")
        assert "TOKEN=" in shown
        assert "mooring, user: ~/.config/mooring/mcp.json" in shown
        shown = show_of(person, "/mcp why demo")
        assert "● mooring, user: ~/.config/mooring/mcp.json\n    wins" in shown
        assert "· claude-code, user: ~/.mcp.json" in shown
        assert "canary" not in person.shown
        leave(person)


def test_doctor_says_what_to_fix_and_tries_a_server_that_is_named(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    home.write(OWN, {"mcpServers": {"actor": actor.entry, "gone": {"command": "no-such-program"}}})
    home.write("project/.mcp.json", {"mcpServers": {"theirs": {"command": "no-such-program"}}})
    with Person(home) as person:
        person.sees(READY)
        starts = len(actor.done("starts"))
        shown = show_of(person, "/mcp doctor")
        assert "3 servers configured." in shown
        assert "✗ gone: " in shown
        assert "/mcp approve theirs" in shown
        # A chat has no editor, so this is a command of the shell.
        assert "fix: mooring mcp edit gone" in shown
        assert "mooring mcp approve" not in shown
        assert len(actor.done("starts")) == starts
        shown = show_of(person, "/mcp doctor ACTOR")
        assert "✓ protocol" in shown
        assert "gone" not in shown
        assert len(actor.done("starts")) == starts + 1
        assert "✗ command" in show_of(person, "/mcp doctor gone")
        assert "● actor (stdio) · connected · 8 tools" in show_of(person, "/mcp")
        leave(person)


# --- the verbs themselves -------------------------------------------------------------------------------------------


def test_help_names_every_verb_once_and_each_of_them_works(home: Home) -> None:
    with Person(home, "chat", cells=80) as person:
        person.sees(READY)
        assert "View and toggle MCP servers; see /mcp help" in show_of(person, "/help")
        shown = show_of(person, "/mcp help")
        verbs = [line.split()[1] for line in shown.splitlines() if line.startswith("  /mcp ") and line[7].islower()]
        assert len(verbs) == len(set(verbs)), "each has a line"
        assert {"add", "remove", "enable", "disable", "test", "reload", "get", "why", "approve", "reject"} <= set(verbs)
        for verb in verbs:
            if verb in ("add", "help"):
                continue
            answer = show_of(person, f"/mcp {verb} nobody")
            assert "'nobody'" in answer or verb == "list", answer
        leave(person)


def test_a_name_with_blanks_or_quotes_can_be_typed_as_it_is_shown(home: Home) -> None:
    home.configure(**{"my server": DEMO, "bob's": {**DEMO, "env": {"WHOSE": "bob"}}})
    with Person(home) as person:
        person.sees(READY)
        assert "MCP server 'my server' disabled for this session." in show_of(person, "/mcp disable my server")
        assert "MCP server 'my server' enabled for this session." in show_of(person, "/mcp enable 'my server'")
        assert "MCP server 'bob's' disabled for this session." in show_of(person, "/mcp disable bob's")
        for line in ("/mcp reload my server", "/mcp reload 'my server'", "/mcp reload -- 'my server'"):
            assert "my server · connected · 7 tools" in show_of(person, line)
        leave(person)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("/mcp remove demo --form cursor", "There is no option --form. Did you mean --from?"),
        ("/mcp remove demo --from", "--from needs a value. /mcp help lists the options."),
        ("/mcp remove", "/mcp remove NAME [--from TOOL] [-s SCOPE]: take it out of its file"),
        ("/mcp add x --frob y", "There is no option --frob."),
        ("/mcp add x 'y", "Unbalanced quotes."),
        ("/mcp tets demo", "Did you mean /mcp test?"),
        ("/mcp aprove demo", "Did you mean /mcp approve?"),
        ("/mcp improve demo", "Did you mean /mcp remove?"),
        ("/mcp export --to codex", "In a shell: mooring mcp export"),
        ("/mcp edit demo", "In a shell: mooring mcp edit"),
    ],
)
def test_words_that_make_no_sense_are_answered_with_what_to_type(home: Home, line: str, answer: str) -> None:
    with Person(home, "--demo") as person:
        person.sees(READY)
        assert answer in show_of(person, line)
        leave(person)


def test_tab_completes_verbs_and_then_names(home: Home) -> None:
    home.configure(**{name: {**DEMO, "disabled": True} for name in ("alpha", "beta")})
    with Person(home) as person:
        person.sees(READY)
        person.presses("/mcp rem\tal\t\r")
        person.sees("alpha is not defined in Mooring's own file")
        person.sees(READY)
        person.presses("/mcp en\tbe\t\r")
        person.sees("MCP server 'beta' enabled for this session.")
        person.sees(READY)
        leave(person)


# --- beside other things --------------------------------------------------------------------------------------------


def test_a_call_of_another_server_goes_on_while_servers_come_and_go(home: Home) -> None:
    home.write(SETTINGS, {"backgroundAfter": 0.3})
    home.configure(other=DEMO)
    with Person(home, "chat", "--allow", "*") as person:
        person.answers((READY, "/call other.slow seconds=4 steps=2"))
        person.sees("goes on in the background")
        person.sees(READY)
        person.types(f"/mcp add demo -e WHICH=second -- {DEMO_WORDS}")
        person.answers((KEEP, ""), (READY, "/mcp rm demo"), (REMOVE, "y"))
        person.sees("Removed demo from ~/.config/mooring/mcp.json.")
        person.sees("Took 4 seconds in 2 steps.")
        leave(person)


def test_another_chat_in_the_same_home_gets_what_is_added_and_loses_what_is_removed(home: Home) -> None:
    with Person(home, "chat", "--allow", "*") as one, Person(home, "chat", "--allow", "*") as two:
        two.sees(READY)
        one.sees(READY)
        one.types(f"/mcp add demo {DEMO_WORDS}")
        one.answers((KEEP, "y"))
        two.sees("demo")
        two.types("")
        two.answers((READY, "/call demo.echo text=both"))
        two.sees("\nboth")
        one.answers((READY, "/mcp rm demo"), (REMOVE, "y"))
        one.sees("Removed demo")
        two.sees("demo")
        until = time.monotonic() + 100
        while "No server is called 'demo'" not in show_of(two, "/call demo.echo text=gone"):
            assert time.monotonic() < until
        one.sees(READY)
        leave(one)
        leave(two)


def test_another_persons_home_on_the_same_machine_is_not_touched(home: Home, tmp_path: Path) -> None:
    neighbor = Home(tmp_path / "neighbor")
    with Person(home) as one, Person(neighbor) as two:
        one.sees(READY)
        two.sees(READY)
        one.types(f"/mcp add demo {DEMO_WORDS}")
        one.answers((KEEP, "y"))
        one.sees(READY)
        assert "No MCP servers found." in show_of(two, "/mcp reload")
        leave(one)
        leave(two)
    assert not (neighbor.folder / OWN).exists()


def test_ctrl_c_gives_up_what_is_under_way_and_the_chat_goes_on(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json", late=30)
    home.configure(demo=DEMO)
    with Person(home) as person:
        person.sees(READY)
        person.types(f"/mcp add slow {' '.join([actor.entry['command'], *actor.entry['args']])}")
        person.sees("connecting slow …")
        while not actor.done("starts"):
            time.sleep(0.05)
        person.presses("\x03")
        person.sees("slow stays in ~/.config/mooring/mcp.json; /mcp remove slow takes it out.")
        person.sees("Stopped.")
        person.sees(READY)
        person.types("/mcp remove slow")
        person.sees(REMOVE)
        person.presses("\x03")
        person.sees("slow stays in ~/.config/mooring/mcp.json.")
        person.sees(READY)
        person.types("/mcp test slow")
        person.sees("✓ variables")
        person.presses("\x03")
        person.sees("Stopped.")
        person.sees(READY)
        person.types("/mcp rm slow")
        person.answers((REMOVE, "y"))
        person.sees("Removed slow")
        person.sees(READY)
        assert "● demo (stdio) · connected · 7 tools" in show_of(person, "/mcp")
        leave(person)


def test_a_server_of_the_project_that_is_enabled_still_needs_approval(home: Home) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"theirs": DEMO}})
    with Person(home) as person:
        person.sees(READY)
        show_of(person, "/mcp disable theirs --save")
        shown = show_of(person, "/mcp enable theirs --save")
        assert "It comes from the project and is not approved: /mcp approve theirs" in shown
        person.types("/mcp approve theirs")
        person.answers(("Let it be started? [y/N]: ", "y"))
        person.sees("Approved: theirs · 7 tools")
        person.sees(READY)
        leave(person)


def test_a_server_that_fails_after_its_approval_does_not_keep_the_next_one_waiting(home: Home) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"a-gone": {"command": "no-such-program"}, "theirs": DEMO}})
    with Person(home) as person:
        person.answers((READY, "/mcp approve"), ("Let it be started? [y/N]: ", "y"))
        person.sees('Failed to connect to "a-gone": ')
        person.answers(("Let it be started? [y/N]: ", "y"))
        person.sees("Approved: theirs · 7 tools")
        person.sees(READY)
        leave(person)


def test_with_five_hundred_servers_listing_and_completing_stay_quick(home: Home) -> None:
    # Disabled, so that the figures are about listing and completing them, not about starting them.
    entries = {f"server-{n:03}": {"command": "/bin/true", "args": [str(n)], "enabled": False} for n in range(500)}
    home.write(OWN, {"mcpServers": entries})
    with Person(home) as person:
        person.sees(READY, 60)
        began = time.monotonic()
        shown = show_of(person, "/mcp")
        assert shown.count("○ server-") == 500
        listed = time.monotonic() - began
        began = time.monotonic()
        person.presses("/mcp wh\tserver-49\t9\r")
        person.sees("wins, but is disabled by `enabled` in its entry")
        completed = time.monotonic() - began
        # Each takes about a tenth of a second.
        assert max(listed, completed) < 5, (listed, completed)
        person.sees(READY)
        leave(person)


def test_a_command_that_only_a_shell_understands_is_not_spelled_for_the_chat() -> None:
    assert spell_for_chat("fix: mooring mcp doctor web") == "fix: /mcp doctor web"
    for fix in ("fix: env -u all_proxy mooring mcp doctor web", "fix: mooring mcp edit --url … web"):
        assert spell_for_chat(fix) == fix
