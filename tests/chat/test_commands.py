"""What can be typed after a slash, as a person meets it: real processes at a pseudo-terminal."""

import sys
from pathlib import Path

import pytest

from chat.terminal import Person
from chat.test_plain import CALL_IT, READY, SETTINGS, WHICH, leave
from support import DEMO, Actor, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]


def test_call_alone_lets_a_tool_be_picked_and_asks_for_what_it_needs(home: Home) -> None:
    with Person(home, "chat", "--demo", "--allow", "*") as person:
        person.answers((READY, "/call"))
        assert "1  demo / add      Adds two numbers." in person.sees(WHICH)
        person.types("give the text back")
        person.answers((WHICH, "echo"), ("text (text, required): ", "found"))
        person.sees("\nfound")
        person.answers((READY, "/call"), (WHICH, ""), (READY, "/call demo.echo"))
        person.answers(("text (text, required): ", "named"))
        person.sees("\nnamed")
        person.answers((READY, '/call demo.echo {"text": "as JSON"}'))
        person.sees("\nas JSON")
        person.answers((READY, "/call demo.echo"))
        person.sees("text (text, required): ")
        person.presses("\x03")
        person.sees("Canceled.")
        leave(person)


def test_call_asks_only_for_what_is_required_and_was_left_out(home: Home) -> None:
    with Person(home, "chat", "--demo", "--allow", "*") as person:
        for written in ("a=1", '{"a": 1}'):
            person.answers((READY, f"/call demo.add {written}"))
            assert "a (number" not in person.sees("b (number, required): ")
            person.types("41")
            person.sees('{"sum": 42}')
        person.answers((READY, "/call demo.slow seconds=0.1"))
        assert "steps (" not in person.sees("Took 0.1 seconds in ")
        person.answers((READY, "/call demo.add a=1"))
        person.sees("b (number, required): ")
        person.presses("\x03")
        person.sees("Canceled.")
        leave(person)


def test_ctrl_c_goes_one_field_back_and_keeps_what_was_filled_in(home: Home) -> None:
    with Person(home, "chat", "--demo", "--allow", "*") as person:
        person.answers((READY, "/call demo.add"), ("a (number, required): ", "4"))
        person.sees("b (number, required): ")
        person.presses("38\x03")
        person.sees("a (number, Enter for 4): ")
        person.types("")
        person.answers(("b (number, required): ", "38"))
        person.sees('{"sum": 42}')
        person.answers((READY, "/call demo.add"), ("a (number, required): ", "4"))
        person.sees("b (number, required): ")
        person.presses("\x03")
        person.answers(("a (number, Enter for 4): ", "5"))
        person.answers(("b (number, required): ", "1"))
        person.sees('{"sum": 6}')
        person.answers((READY, "/call demo.add"), ("a (number, required): ", "4"))
        person.sees("b (number, required): ")
        person.presses("\x03")
        person.sees("a (number, Enter for 4): ")
        person.presses("\x03")
        person.sees("Canceled.")
        leave(person)


def test_prompts_are_listed_and_filled_in(home: Home) -> None:
    with Person(home, "chat", "--demo") as person:
        person.answers((READY, "/prompts"))
        assert "demo.explain(topic)  Asks for an explanation of one part" in person.sees("`/prompt SERVER.PROMPT")
        for line in ("/prompt demo.explain topic=tides", "/prompt DEMO explain topic=tides"):
            person.answers((READY, line))
            person.sees("user:\nExplain tides in the Model Context Protocol")
        person.answers((READY, "/prompt demo.explain"), ("topic (text, required): ", "tides"))
        person.sees("user:\nExplain tides in the Model Context Protocol")
        person.answers((READY, "/prompt demo.explian"))
        person.sees("demo has no prompt 'explian'. Did you mean explain?")
        person.answers((READY, "/prompt demo.explain topic=x tpic=y"))
        person.sees("demo's prompt explain has no argument tpic. Did you mean topic?")
        person.answers((READY, "/prompt"))
        person.sees("Usage: /prompt SERVER.PROMPT [name=value …]. /prompts lists them.")
        leave(person)


def test_a_server_without_prompts_says_so(home: Home, tmp_path: Path) -> None:
    home.configure(actor=Actor(tmp_path / "actor.json").entry)
    with Person(home) as person:
        person.answers((READY, "/prompts"))
        person.sees("The connected servers offer no prompts.")
        person.answers((READY, "/prompts actor"))
        person.sees("actor offers no prompts.")
        leave(person)


def test_permissions_are_shown_in_the_order_that_decides_with_their_files(home: Home) -> None:
    rules = [{"tool": "mcp__demo__add", "action": "allow"}, {"tool": "shell.run", "pattern": "rm *", "action": "deny"}]
    home.write(SETTINGS, {"permissions": rules})
    home.write("project/.mooring/settings.json", {"permissions": [{"tool": "mcp__demo__*", "action": "ask"}]})
    with Person(home, "chat", "--demo", "--deny", "demo.fail") as person:
        person.answers((READY, "/call demo.echo text=x"), (CALL_IT, "s"), (READY, "/permissions"))
        shown = person.sees("For one chat: mooring chat --allow SERVER.TOOL")
        leave(person)
    lines = [line.strip() for line in shown.partition("Permission rules")[2].splitlines()]
    assert lines[:12] == [
        ", highest level first:",
        "",
        "this chat: --allow, --deny and your answers",
        "allow  mcp__demo__echo",
        "deny   demo.fail",
        "",
        "your settings · ~/.config/mooring/settings.json",
        "allow  mcp__demo__add",
        "deny   shell.run       with rm *",
        "",
        f"the project's settings · {home.project}/.mooring/settings.json",
        "ask  mcp__demo__*",
    ]
    without = "tools of trusted servers that say they only read are called; you are asked about the rest"
    assert f"Without a rule: {without} (mode: ask)." in lines
    assert "~/.config/mooring/settings.json" in shown.partition("To add a rule")[2]


def test_without_rules_permissions_say_so_and_how_to_add_one(home: Home) -> None:
    with Person(home, "chat", "--demo", "--permission-mode", "plan") as person:
        person.answers((READY, "/permissions"))
        shown = person.sees("For one chat:")
        assert "There are no permission rules." in shown
        assert "(mode: plan)" in shown
        leave(person)


def test_a_server_that_is_enabled_is_connected_and_its_tools_are_there_for_the_next_line(home: Home) -> None:
    home.configure(demo={**DEMO, "disabled": True})
    with Person(home, "chat", "--allow", "*") as person:
        person.answers((READY, "/call demo.echo text=x"))
        person.sees('Server "demo" is disabled. Run /mcp enable demo first.')
        person.answers((READY, "/mcp"))
        person.sees("`/mcp enable demo` turns it on for this session")
        person.answers((READY, "/mcp enable demo"))
        person.sees("MCP server 'demo' enabled for this session.\nconnecting demo …")
        person.sees("demo: connected · 7 tools")
        person.answers((READY, "add two numbers"), (WHICH, ""))
        assert "demo / add" in person.shown
        leave(person)


def test_a_server_that_cannot_be_connected_says_why_when_it_is_enabled(home: Home) -> None:
    home.configure(gone={"command": "no-such-program", "disabled": True})
    with Person(home) as person:
        person.answers((READY, "/mcp enable gone"))
        person.sees("MCP server 'gone' enabled for this session.\nconnecting gone …")
        assert "no-such-program" in person.sees(READY)
        leave(person)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("/mcp frob", "Usage: /mcp, /mcp enable <server>, /mcp disable <server>\n"),
        ("/mcp enable", "Usage: /mcp, /mcp enable <server>, /mcp disable <server>\n"),
        ("/mcp disabel demo", "/mcp disable <server>\nDid you mean /mcp disable?\n"),
        ("/mcp nope", "/mcp disable <server>\nNo server is called nope. /mcp help lists every verb.\n"),
        ("/mcp dmeo", "\nNo server is called dmeo. Did you mean /mcp demo?\n"),
        ("/mcp relaod", "/mcp disable <server>\nDid you mean /mcp reload?\n"),
        ("/permi", "There is no command /permi. Did you mean /permissions?"),
        ("/MCP", "There is no command /MCP. Did you mean /mcp?"),
        ("/sessions --all", "Unexpected argument '--all'. Usage: /sessions"),
        ("/agent nobody", "There is no agent named 'nobody'. /agents lists them."),
        ("/call nothing-like-it", "There is no tool 'nothing-like-it'. /tools lists all of them."),
        ("/call demo.echo text", "'text' is not an argument: write name=value, or all of them as JSON in {…}."),
        ("/read demo", "Usage: /read SERVER URI. /resources lists them."),
        ("/tools zzqq", "No tool matches zzqq."),
        ("x" * 500, f"No tool matches '{'x' * 60}…'."),
    ],
)
def test_a_line_that_means_nothing_says_what_to_type(home: Home, line: str, answer: str) -> None:
    with Person(home, "chat", "--demo") as person:
        person.answers((READY, line))
        person.sees(answer)
        leave(person)


def test_help_lists_every_command_and_none_twice(home: Home) -> None:
    with Person(home, "chat", "--demo") as person:
        person.answers((READY, "/help"))
        shown = person.sees("/quit ")
        listed = [line.split()[0] for line in shown.splitlines() if line.startswith("  /")]
        assert {"/mcp", "/call", "/prompts", "/prompt", "/permissions", "/help"} <= set(listed)
        assert len(listed) == len(set(listed))
        leave(person)


def test_tab_completes_the_new_commands_too(home: Home) -> None:
    with Person(home, "chat", "--demo") as person:
        person.sees(READY)
        person.presses("/permi\t")
        person.sees("/permissions")
        person.types("")
        person.sees("There are no permission rules.")
        leave(person)


@pytest.mark.parametrize(
    ("text", "structured", "shown"),
    [
        ("fine weather", {"content": "fine weather"}, ["fine weather"]),
        ('{\n  "wind": 5\n}', {"wind": 5}, ["{", '  "wind": 5', "}"]),
        ("windy", {"wind": 5}, ["windy", '{"wind": 5}']),
        ("windy", {"content": "windy", "wind": 5}, ["windy", '{"content": "windy", "wind": 5}']),
    ],
)
def test_what_also_comes_as_structured_content_is_shown_once(
    home: Home, tmp_path: Path, text: str, structured: object, shown: list[str]
) -> None:
    actor = Actor(tmp_path / "a.json", tools=["say"], says={"say": text}, structured={"say": structured})
    home.configure(actor=actor.entry)
    with Person(home, "chat", "--allow", "*") as person:
        person.answers((READY, "/call actor.say"))
        person.sees("✓ 🔌 actor / say · ")
        person.sees("\n")
        lines = person.sees(READY).splitlines()
        leave(person)
    assert [line for line in lines if line] == shown
