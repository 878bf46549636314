"""Narrow terminals: lines are broken between words, in everything that a person reads."""

import re

import pytest

from chat.terminal import Person
from mooring.display.text import width
from support import DEMO, Cli, Home

READY = "> "
BROKEN = {
    "demo": DEMO,
    "gone": {"command": "no-such-program"},
    "unset": {"command": "sh", "env": {"TOKEN": "${SOME_TOKEN_THAT_IS_NOT_SET}"}},
    "both": {"command": "sh", "url": "https://example.com"},
    "slip": {"command": "sh", "agrs": ["one"]},
    "a-server-with-a-rather-long-name": {"command": "sh", "args": ["two"]},
}


@pytest.fixture
def broken(home: Home) -> Home:
    """A home with several broken things in it."""
    home.configure(**BROKEN)
    home.write("home/.cursor/mcp.json", {"mcpServers": {"demo": {"command": "sh", "args": ["-c", "some other words"]}}})
    home.write("home/.gemini/settings.json", '{"mcpServers": {')
    home.write("project/.mcp.json", {"mcpServers": {"theirs": {"command": "sh", "args": ["three"]}}})
    return home


def check_lines(shown: str, cells: int, known: str) -> None:
    """See that each line fits, unless it is one long word, and that each word is one of those that are known."""
    lines = shown.splitlines()
    assert lines
    too_long = [line for line in lines if width(line) > cells and len(line.split()) > 1]
    assert too_long == []
    words = set(known.split())
    # A long name or path may lose its middle.
    assert [word for word in shown.split() if word not in words and "…" not in word] == []


@pytest.mark.parametrize("cells", [40, 60])
@pytest.mark.parametrize(
    "words",
    [
        ["mcp", "list"],
        ["mcp", "doctor"],
        ["mcp", "why", "demo"],
        ["mcp", "get", "unset"],
        ["mcp", "--help"],
        ["tools", "--help"],
        ["mcp", "approve", "--help"],
        ["settings", "permissions"],
        ["call", "demmo.echo"],
    ],
)
def test_no_word_is_broken_at_the_edge_of_a_narrow_terminal(
    cells: int, words: list[str], broken: Home, cli: Cli
) -> None:
    done = cli(*words)
    with Person(broken, *words, cells=cells) as person:
        assert person.ended() == done.code
        check_lines(person.shown, cells, done.out + done.err)


@pytest.mark.parametrize("words", [["tools"], ["tools", "demo"], ["tools", "demo.ask"], ["mcp", "test", "demo"]])
def test_what_a_server_says_is_broken_between_words_as_well(words: list[str], home: Home) -> None:
    home.configure(demo=DEMO)
    with Person(home, *words, "-q", cells=40) as person:
        assert person.ended() == 0
        # A command that is to be copied stays on one line.
        lines = [line for line in person.shown.splitlines() if not line.startswith("  mooring call ")]
        assert [line for line in lines if width(line) > 40 and len(line.split()) > 1] == []


def test_the_chat_breaks_its_lines_and_its_questions_between_words(home: Home) -> None:
    home.configure(demo=DEMO)
    with Person(home, cells=40) as person:
        for line in ("/help", "/mcp", "/tools", "/permissions", "/mcp nobody"):
            person.answers((READY, line))
        person.answers((READY, "/call demo.echo text=a"))
        question = person.sees('because …"): ')
        assert re.search(r"\[s\]ession · (\[r\]eads · )?\[a\]lways", " ".join(question.split()))
        person.types("n")
        person.sees(READY)
        person.types("/quit")
        assert person.ended() == 0
        # What was typed is behind the prompt.
        lines = [line for line in person.shown.splitlines() if "[n]o (or" not in line and "because …" not in line]
        # A rule and a command may be copied, and stay in one piece.
        prose = [line for line in lines if not line.startswith("    ") and '{"tool"' not in line]
        # What is drawn anew is cleared first, which is not seen here.
        prose = [line.rpartition("Ctrl+C ends it")[2] for line in prose]
        assert [line for line in prose if width(line) > 40 and len(line.split()) > 1] == []


def test_a_message_without_a_style_is_nothing_but_its_text(home: Home) -> None:
    with Person(home, "call", "nobody.x", NO_COLOR="1") as person:
        assert person.ended() == 2
        assert "\x1b" not in person.raw
