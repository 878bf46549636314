"""What commands list fits the terminal, with long names, long paths and wide characters."""

import re

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, variables
from chat.terminal import Person
from mooring.display.text import width
from support import DEMO, Home, run_beside

LONG = "a-server-with-a-rather-long-name"
WIDE = "日本語のサーバー"
REVIEWER = """---
name: reviewer-of-many-things
description: Reviews code for correctness, style and tests; use it after each change of more than a few lines.
tools: Read, Grep
model: sonnet
---
You review.
"""
FULL = [{"tool": f"{LONG}.*", "action": "allow"}, {"tool": "demo.echo", "action": "deny", "pattern": "text=*secret*"}]
LISTS = (
    ("mcp", "list"),
    ("mcp", "list", "--all"),
    ("mcp", "get", "demo"),
    ("mcp", "why", "demo"),
    ("mcp", "pins"),
    ("mcp", "reload"),
    ("mcp", "doctor"),
    ("mcp", "test", LONG),
    ("history",),
    ("resources",),
    ("resources", "--templates"),
    ("prompts",),
    ("tools",),
    ("tools", LONG),
    ("tools", f"{LONG}.slow"),
    ("tools", "--cost"),
    ("agents",),
    ("agents", "show", "reviewer-of-many-things"),
    ("backends",),
    ("sessions",),
    ("sessions", "--all"),
    ("rules",),
    ("rules", f"{LONG}.echo"),
    ("settings",),
    ("secret", "list"),
)


@pytest.fixture
def full(home: Home) -> Home:
    """A home that has something to show for every command."""
    home.configure(demo={"command": "sh", "args": ["-c", "x"]}, gone={"command": "no-such-program"})
    home.write("home/.cursor/mcp.json", {"mcpServers": {"demo": DEMO, LONG: DEMO, WIDE: DEMO}})
    home.write("project/.mcp.json", {"mcpServers": {"theirs": {"command": "sh", "args": ["three"]}}})
    home.write("home/.claude/agents/reviewer.md", REVIEWER)
    home.write("home/.config/mooring/settings.json", {"permissions": FULL})
    assert run_beside(home, "call", f"{LONG}.echo", "text=hello").code == 0
    assert run_beside(home, "call", "demo.echo", "text=a secret").code == 4
    with FakeModel([Say("A reply.")]) as fake:
        words = ("-p", "Say something about a subject that takes rather many words to describe.")
        assert run_beside(home, "chat", "-m", MODELS["anthropic"], *words, **variables(fake)).code == 0
    return home


def read_lines(raw: str) -> list[str]:
    """The lines that stay on a screen, without colors and without what was drawn over."""
    drawn = [line.rpartition("\r")[2] for line in raw.replace("\r\n", "\n").split("\n")]
    return [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in drawn]


def is_to_be_copied(line: str) -> bool:
    """Whether it is whole for that reason: a path, an address or a command."""
    return len(line.split()) <= 1 or line.startswith("  mooring call ")


@pytest.mark.parametrize("cells", [80, 60])
def test_no_line_of_a_command_is_longer_than_the_terminal(full: Home, cells: int) -> None:
    too_long: list[tuple[tuple[str, ...], str]] = []
    for words in LISTS:
        with Person(full, *words, cells=cells) as person:
            person.ended()
            lines = read_lines(person.raw)
        assert any(lines), words
        too_long += [(words, line) for line in lines if width(line) > cells and not is_to_be_copied(line)]
    assert too_long == []


def show(home: Home, *words: str, cells: int) -> list[str]:
    with Person(home, *words, cells=cells) as person:
        person.ended()
        return read_lines(person.raw)


def test_a_description_goes_below_its_row_where_a_long_name_leaves_it_no_room(home: Home) -> None:
    home.configure(**{f"{LONG}-that-is-even-longer": DEMO})
    lines = show(home, "resources", cells=80)
    assert f"{LONG}-that-is-even-longer  demo://clock" in lines
    assert "    The time in UTC, every second" in lines


def test_a_list_is_laid_out_in_one_way_if_most_of_its_rows_have_too_little_room(home: Home) -> None:
    own = {f"{LONG}-of-a-{word}": DEMO for word in ("a", "b", "c")}
    home.write("home/.config/mooring/mcp.json", {"mcpServers": own})
    home.write("home/.cursor/mcp.json", {"mcpServers": {f"{LONG}-of-a-a": {"command": "sh"}}})
    lines = show(home, "mcp", "list", "--all", cells=80)
    assert "    FROM" in lines
    assert lines.count("    mooring, user: ~/.config/mooring/mcp.json") == 3
    assert lines.count("    cursor, user: ~/.cursor/mcp.json") == 1


def test_a_long_word_in_a_fix_begins_further_left_instead_of_passing_the_edge(home: Home) -> None:
    program = "a-program-with-a-name-of-many-words"
    home.configure(gone={"command": program})
    lines = show(home, "mcp", "doctor", cells=60)
    [fix] = [line for line in lines if line.startswith(f"      {program}")]
    assert width(fix) <= 60
