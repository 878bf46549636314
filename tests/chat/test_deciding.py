"""What a person decides inside the chat: which servers of the project may start, which tools that changed may be called,
and what a server is told that only they know. Each decision takes effect in the running conversation."""

import sys
from pathlib import Path
from typing import Any

import pytest

from chat.terminal import Person
from support import DEMO, Actor, Home, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

READY, START, CHANGED = "\n> ", "Let it be started? [y/N]: ", "Let it be called as shown? [y/N]: "
APPLY = "Apply it to this server? [y/N]: "
ASKER = {"command": sys.executable, "args": ["-S", str(Path(__file__).parents[1] / "cli" / "asker.py")]}


def propose(home: Home, **servers: Any) -> None:
    home.write("project/.mcp.json", {"mcpServers": servers})


def leave(person: Person) -> None:
    person.types("/quit")
    assert person.ended() == 0, person.shown
    assert "Traceback" not in person.raw
    assert person.left() == []


# --- servers of the project -------------------------------------------------------------------------------------------


def test_a_server_of_the_project_is_approved_inside_the_chat_and_its_tools_are_there(home: Home) -> None:
    propose(home, linear={**DEMO, "env": {"MODE": "${MODE:-fast}"}})
    with Person(home, "chat", "--allow", "linear.*") as person:
        person.sees("linear: unapproved · `/approve linear`")
        person.answers((READY, "/approve"))
        question = person.sees(START)
        for part in ("linear, asked for by this project", "mooring.demo", "MODE=${MODE:-fast}", "is not checked"):
            assert part in question
        person.types("y")
        person.sees("Approved: linear · 7 tools")
        person.answers((READY, "/call linear.add a=40 b=2"))
        person.sees('{"sum": 42}')
        person.answers((READY, "/approve"))
        person.sees("No server of this project waits for approval.")
        person.sees(READY)
        leave(person)
    with Person(home) as person:
        assert "approval" not in person.sees(READY)
        leave(person)


def test_a_no_leaves_it_as_it_is_and_names_the_command_of_the_chat(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    propose(home, linear=actor.entry)
    with Person(home) as person:
        person.answers((READY, "/approve linear"), (START, "n"))
        person.sees("Not approved: linear. It stays undecided; /reject linear refuses it until it changes.")
        person.answers((READY, "/call linear.whoami"), (START, "n"))
        person.sees("linear comes from the project and is not approved.")
        assert "To look and decide" not in person.sees(READY)
        person.types("")
        person.answers((READY, "/approve nobody"), ("not found", ""), (READY, ""))
        leave(person)
    assert actor.done("starts") == []


def test_a_no_to_a_server_that_is_approved_says_that_it_stays_approved(home: Home) -> None:
    propose(home, linear=DEMO)
    with Person(home) as person:
        person.answers((READY, "/approve linear"), (START, "y"))
        person.sees("Approved: linear")
        person.answers((READY, "/approve linear"))
        assert "You approved this already." in person.sees(START)
        person.types("n")
        person.sees("linear stays approved; to withdraw: /reject linear")
        person.sees(READY)
        leave(person)


def test_a_server_that_is_rejected_in_the_chat_ends_and_nobody_is_asked_about_it_again(
    home: Home, tmp_path: Path
) -> None:
    actor = Actor(tmp_path / "actor.json")
    propose(home, linear=actor.entry)
    home.configure(mine=DEMO)
    with Person(home, "chat", "--allow", "linear.*") as person:
        person.answers((READY, "/approve linear"), (START, "y"))
        person.sees("Approved: linear")
        person.answers((READY, "/reject linear"))
        person.sees("Rejected: linear. It does not start until its definition changes, or you approve it.")
        person.answers((READY, "/call linear.whoami"))
        person.sees("linear was rejected")
        person.answers((READY, "/approve"))
        person.sees("No server of this project waits for approval.")
        person.answers((READY, "/reject"), ("Usage: /reject NAME", ""), (READY, "/reject mine"))
        person.sees("mine is in your own configuration")
        person.answers((READY, "/reject nobody"))
        person.sees("MCP server 'nobody' not found.")
        person.sees(READY)
        leave(person)
    assert len(actor.done("starts")) == 1


def test_a_tool_of_a_server_that_is_not_approved_asks_for_the_approval_first(home: Home) -> None:
    propose(home, linear=DEMO)
    with Person(home, "chat", "--allow", "linear.*") as person:
        person.answers((READY, "linear.add"), (START, "y"))
        person.answers(("a (number, required): ", "40"), ("b (number, required): ", "2"))
        person.sees('{"sum": 42}')
        person.sees(READY)
        leave(person)


def test_ones_own_server_needs_no_approval(home: Home) -> None:
    home.configure(demo=DEMO)
    with Person(home) as person:
        person.answers((READY, "/approve demo"))
        person.sees("so it needs no approval")
        person.sees(READY)
        leave(person)


def test_a_question_about_a_projects_server_proposes_only_what_works_for_it(home: Home) -> None:
    rules = [{"tool": "mcp__linear__echo", "action": "allow"}]
    home.write("home/.config/mooring/settings.json", {"permissions": rules})
    propose(home, linear=DEMO)
    with Person(home) as person:
        person.answers((READY, "/call linear.echo text=x"), (START, "y"), (APPLY, "n"))
        question = person.sees("Call it?")
        assert "your rule to allow mcp__linear__echo is for your own servers" in question
        assert "to stop being asked: answer always, or add --allow mcp__linear__echo to the command" in question
        assert "a rule that would answer" not in question
        person.types("a")
        person.answers((READY, "/call linear.echo text=again"))
        person.sees("\nagain")
        person.answers((READY, "/permissions"))
        advice = person.sees("For one chat:")
        assert "For a server of this project: mooring allow --project" in advice
        assert "To apply your rules to it when you approve it: mooring mcp approve SERVER\n" in advice
        person.sees(READY)
        leave(person)


def test_a_rule_that_is_applied_in_the_chat_holds_at_once_and_until_the_definition_changes(home: Home) -> None:
    rules = [{"tool": "linear.*", "action": "allow"}]
    home.write("home/.config/mooring/settings.json", {"permissions": rules})
    propose(home, linear=DEMO)
    with Person(home) as person:
        person.answers((READY, "/approve linear"), (START, "y"))
        assert "Your rule `allow linear.*` would let its tools run without asking." in person.sees(APPLY)
        person.types("y")
        person.sees("Approved: linear · 7 tools")
        person.answers((READY, "/call linear.echo text=once"))
        assert "Call it?" not in person.sees("\nonce")
        person.answers((READY, "/permissions"))
        assert "also for this project's linear" in person.sees("For one chat:")
        person.sees(READY)
        propose(home, linear={**DEMO, "env": {"A": "b"}})
        person.sees("configuration changed")
        person.answers((READY, "/call linear.echo text=again"), (START, "y"), (APPLY, ""))
        assert "is for your own servers" in person.sees("Call it?")
        person.types("n")
        person.sees(READY)
        leave(person)


def test_a_conversation_that_runs_takes_what_is_applied_and_withdrawn_beside_it(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {"permissions": [{"tool": "linear.*", "action": "allow"}]})
    propose(home, linear=DEMO)
    assert run_beside(home, "mcp", "approve", "linear", "--yes").code == 0
    with Person(home) as person:
        person.answers((READY, "/call linear.echo text=x"), ("Call it?", "n"))
        person.sees(READY)
        for words, asks in ((["approve", "--yes", "--apply-rules"], False), (["reset"], True)):
            assert run_beside(home, "mcp", *words, "linear").code == 0
            person.types("/mcp reload")
            person.answers((READY, "/call linear.echo text=later"))
            person.sees(START if asks else "\nlater")
            if asks:
                person.types("n")
            person.sees(READY)
        leave(person)


# --- tools that changed -----------------------------------------------------------------------------------------------


def pin_and_change(home: Home, actor: Actor) -> None:
    """Have the tools of a server pinned by a first call, and change one of them."""
    home.configure(actor=actor.entry)
    with Person(home, "call", "actor.x") as person:
        assert person.ended() == 0
    actor.tell(tools=["x"], describe={"x": "Different."})


def test_changed_tools_are_decided_about_inside_the_chat(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json", tools=["x"], describe={"x": "Harmless."})
    pin_and_change(home, actor)
    with Person(home, "chat", "--allow", "actor.*") as person:
        person.answers((READY, "/mcp reload actor"))
        person.sees("1 tool held back: changed or new since your approval; `/pins actor` shows them")
        person.answers((READY, "/pins"), (CHANGED, "n"))
        person.sees("Not approved: x")
        person.answers((READY, "/pins actor"))
        question = person.sees(CHANGED)
        for part in ("x is changed since you approved it", "-description: Harmless.", "+description: Different."):
            assert part in question
        person.types("y")
        person.sees("Approved: x")
        person.answers((READY, "/call actor.x"))
        person.sees("\nx")
        person.answers((READY, "/pins actor"))
        person.sees("actor: 9 tools, approved")
        person.sees(READY)
        leave(person)


def test_a_call_of_a_changed_tool_asks_about_it(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json", tools=["x"], describe={"x": "Harmless."})
    pin_and_change(home, actor)
    with Person(home, "chat", "--allow", "actor.*") as person:
        person.answers((READY, "/mcp reload actor"), (READY, "/call actor.x"), (CHANGED, "n"))
        person.sees("actor's tool 'x' is held back. To look and decide: /pins actor")
        person.answers((READY, "/call actor.x"), (CHANGED, "y"))
        person.sees("\nx")
        person.sees(READY)
        leave(person)


# --- inputs -----------------------------------------------------------------------------------------------------------


def test_nothing_is_asked_before_a_server_is_used_and_no_typed_command_becomes_a_password(home: Home) -> None:
    inputs = [{"type": "promptString", "id": "tok", "description": "Your token", "password": True}]
    entry = {"type": "stdio", **ASKER, "env": {"TOKEN": "${input:tok}"}}
    home.write("home/.config/Code/User/mcp.json", {"inputs": inputs, "servers": {"vault": entry}})
    home.configure(demo=DEMO)
    with Person(home, "chat", "--allow", "*.*") as person:
        person.types("/mcp")  # typed before the chat is there: a command, and nothing else
        assert "tok: " not in person.sees("MCP Servers")
        person.sees("? vault (stdio) · needs input (tok) · asked for when you use it")
        person.answers((READY, "/resources"))
        person.sees(READY)
        # In one go, so that the last two are certainly typed before the question: they answer nothing.
        person.presses("/call vault.token\r/mcp\r/quit\r")
        assert "vault needs a value for tok\nYour token" in person.sees("tok: ")
        person.types("hush")
        person.sees("backwards: hsuh")
        person.sees("> /mcp")
        person.presses("\x15")
        person.types("/mcp")
        person.sees("vault (stdio) · connected · 4 tools")
        person.sees(READY)
        leave(person)
        assert "hush" not in person.raw


def test_an_input_that_is_not_given_is_asked_for_at_the_next_use(home: Home) -> None:
    entry = {"type": "stdio", **ASKER, "env": {"TOKEN": "${input:tok}"}}
    inputs = [{"type": "promptString", "id": "tok"}]
    home.write("home/.config/Code/User/mcp.json", {"inputs": inputs, "servers": {"vault": entry}})
    with Person(home, "chat", "--allow", "*.*") as person:
        person.answers((READY, "/call vault.token"), ("tok: ", ""))
        person.answers(("A value is needed; Ctrl+C leaves.\ntok: ", ""))
        person.sees("vault needs a value for 'tok'")
        person.answers((READY, "/mcp vault"))
        person.sees("? vault · needs input (tok)")
        person.answers((READY, "/call vault.token"), ("tok: ", "given"))
        person.sees("backwards: nevig")
        person.sees(READY)
        leave(person)


@pytest.mark.parametrize("key", ["\x03", "\x04"])
@pytest.mark.parametrize("line", ["/resources vault", "/call vault.token", "/mcp reload vault"])
def test_whoever_leaves_the_question_for_an_input_is_asked_nothing_more(home: Home, line: str, key: str) -> None:
    inputs = [{"type": "promptString", "id": name, "password": True} for name in ("tok", "other")]
    entry = {"type": "stdio", **ASKER, "env": {"TOKEN": "${input:tok}", "OTHER": "${input:other}"}}
    home.write("home/.config/Code/User/mcp.json", {"inputs": inputs, "servers": {"vault": entry}})
    with Person(home, "chat", "--allow", "*.*") as person:
        person.answers((READY, line))
        person.sees("tok: ")
        person.presses(key)
        shown = person.sees(READY)
        assert "vault needs a value for 'tok'" in shown
        assert "tok: " not in shown
        assert "other: " not in shown
        leave(person)
