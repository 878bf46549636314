"""Times and paths have one form wherever a person reads them, and data has what programs need."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, variables
from chat.terminal import Person
from support import DEMO, Home, run_beside

FAR = "FAR-14"
"""A time zone 14 hours ahead of UTC, as the variable TZ has it."""
TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"


@pytest.fixture
def used(home: Home) -> Home:
    """A home in which something of everything happened, within the last minutes."""
    home.configure(demo=DEMO, dead={"command": "sh", "args": ["-c", "echo oh >&2; exit 3"]})
    assert run_beside(home, "call", "demo.echo", "text=hello").code == 0
    assert run_beside(home, "mcp", "test", "dead").code == 1
    with Person(home, "secret", "set", "TOKEN") as person:
        person.sees("TOKEN")
        person.types("hush")
        assert person.ended() == 0
    with FakeModel([Say("A reply.")]) as fake:
        assert run_beside(home, "chat", "-m", MODELS["anthropic"], "-p", "Say it.", **variables(fake)).code == 0
    return home


def test_every_time_is_on_the_users_own_clock_and_in_one_form(used: Home) -> None:
    now = datetime.now(timezone(timedelta(hours=14)))
    id = run_beside(used, "sessions", "--json").data["sessions"][0]["id"]
    for words in (
        ("history",),
        ("logs", "dead"),
        ("mcp", "pins"),
        ("secret", "list"),
        ("sessions",),
        ("sessions", "--all"),
        ("sessions", "show", id),
    ):
        shown = run_beside(used, *words, TZ=FAR).out
        times = re.findall(TIME, shown)
        assert times, (words, shown)
        for time in times:
            moment = datetime.strptime(time, "%Y-%m-%d %H:%M:%S").replace(tzinfo=now.tzinfo)
            assert abs(now - moment) < timedelta(minutes=10), (words, shown)
        rest = re.sub(TIME, "", shown)
        assert not re.search(r"\d{4}-\d\d-\d\d|\d\d:\d\d", rest), (words, shown)


def test_data_has_times_in_utc(used: Home) -> None:
    now = datetime.now(UTC)
    [call] = run_beside(used, "history", "--json", TZ=FAR).data["calls"]
    assert abs(now - datetime.fromisoformat(call["time"])) < timedelta(minutes=10)
    [session] = run_beside(used, "sessions", "--json", TZ=FAR).data["sessions"]
    assert abs(now - datetime.fromisoformat(session["used"])) < timedelta(minutes=10)


# --- paths ----------------------------------------------------------------------------------------------------------


def test_paths_below_the_home_begin_with_a_tilde_in_messages_and_in_commands_to_copy(home: Home) -> None:
    home.configure(demo=DEMO, gone={"command": "no-such-program"})
    settings = home.write("home/.config/mooring/settings.json", {"permissions": "all", "toolBudgets": 1})
    broken = home.write("home/.cursor/mcp.json", '{"mcpServers": {')
    for words in (
        ("mcp", "list"),
        ("mcp", "doctor"),
        ("mcp", "doctor", "gone"),
        ("mcp", "get", "nobody"),
        ("call", "demo.echo", "text=x"),
        ("rules",),
        ("settings",),
        ("mcp", "add", "demo", "--to", "cursor", "--no-test", "--", "sh"),
        ("settings", "model", "x:y"),
        ("mcp", "import", "--dry-run"),
        ("mcp", "export", "--to", "codex", "--dry-run"),
        ("mcp", "export", "--to", "codex", "-y"),
        ("mcp", "export", "demo", "gone", "--to", "codex"),
    ):
        done = run_beside(home, *words)
        shown = done.out + done.err
        assert str(home.home) not in shown, (words, shown)
    data = run_beside(home, "mcp", "doctor", "--json").data
    assert {str(settings), str(broken)} <= {finding["path"] for finding in data["findings"]}


def test_the_chat_shortens_paths_as_well(home: Home) -> None:
    home.configure(demo=DEMO)
    home.write("home/.cursor/mcp.json", '{"mcpServers": {')
    with Person(home) as person:
        person.sees("> ")
        person.types("/mcp get nobody", "/mcp doctor")
        person.sees("~/.cursor/mcp.json")
        person.types("/call demo.echo text=x")
        person.sees("from claude-code: ~/.mcp.json")
        person.sees("Call it?")
        person.types("n")
        person.sees("> ")
        person.types("/quit")
        assert person.ended() == 0
    assert str(home.home) not in person.shown
