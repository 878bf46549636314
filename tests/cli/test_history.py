"""`mooring history`: the calls that were made, in local time, since a moment that a person can type."""

import json
import sys
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from chat.terminal import Person
from mooring.conversation.calls import HELD_BACK
from mooring.errors import ConfigError
from mooring.verbs.use.history import parse_since
from support import DEMO, Actor, Cli, Home, run_beside

NOW = datetime(2026, 11, 16, 9, 30, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("30m", NOW - timedelta(minutes=30)),
        ("1h", NOW - timedelta(hours=1)),
        ("1h30m", NOW - timedelta(minutes=90)),
        ("2 days ago", NOW - timedelta(days=2)),
        ("1 week", NOW - timedelta(weeks=1)),
        ("90 Seconds", NOW - timedelta(seconds=90)),
        ("today", NOW.replace(hour=0, minute=0)),
        ("Yesterday", NOW.replace(day=15, hour=0, minute=0)),
        ("2026-11-01T09:30Z", datetime(2026, 11, 1, 9, 30, tzinfo=UTC)),
        ("2026-11-01T09:30:00+02:00", datetime(2026, 11, 1, 7, 30, tzinfo=UTC)),
    ],
)
def test_a_moment_is_a_span_a_day_or_a_date(text: str, moment: datetime) -> None:
    assert parse_since(text, NOW) == moment


@pytest.mark.parametrize("text", ["2026-11-01", "2026-11-01 09:30", "2026-11-01T09", "07:05"])
def test_a_date_without_a_zone_is_on_the_persons_own_clock(text: str) -> None:
    assert parse_since(text, NOW).utcoffset() is not None


@pytest.mark.parametrize("text", ["", "soon", "1y", "h", "-1h", "999999w", "2026-13-01", "25:00", "2999-01-01", "1h x"])
def test_what_is_no_moment_is_refused_in_one_sentence_with_examples(text: str, cli: Cli) -> None:
    with pytest.raises(ConfigError):
        parse_since(text, NOW)
    done = cli("history", "--since", text)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "such as 30m, 1h, 2d, today, yesterday, 2026-11-01" in done.err


def test_calls_are_shown_in_local_time_and_chosen_by_when_they_were_made(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        cli.home.configure(demo=DEMO)
        assert cli("history").err == "No calls have been made yet.\n"
        assert cli("call", "demo.echo", "text=x").code == 0
        [line] = cli("history", "--since", "1h").out.splitlines()
        [call] = cli("history", "--since", "today", "--json").data["calls"]
        shown = datetime.strptime(line[:19], "%Y-%m-%d %H:%M:%S")
        made = datetime.fromisoformat(call["time"]).replace(tzinfo=None)
        assert timedelta(hours=8, minutes=59) < shown - made < timedelta(hours=9, minutes=1)
        assert cli("history", "--since", "yesterday").out == cli("log").out == f"{line}\n"
        time.sleep(1.1)
        assert cli("history", "--since", "1s").err == "No calls match.\n"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_denied_call_says_once_that_it_was_denied_and_by_which_rule(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    cli.home.write("home/.config/mooring/settings.json", {"permissions": [{"tool": "demo.echo", "action": "allow"}]})
    cli.home.write("project/.mooring/settings.json", {"permissions": [{"tool": "demo.add", "action": "deny"}]})
    assert cli("call", "demo.add", "a=1", "b=2").code == 4
    assert cli("call", "demo.echo", "text=x").code == 0
    denied, allowed = cli("history").out.splitlines()
    assert denied.split()[2:] == ["demo.add", "denied", *["by", "the", "project's", "rule:", "deny", "demo.add"]]
    assert allowed.endswith("by your rule: allow demo.echo")


def test_a_call_of_a_tool_that_is_held_back_is_logged_with_the_reason(cli: Cli, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json", tools=["x"], describe={"x": "Harmless."})
    cli.home.configure(actor=actor.entry)
    assert cli("call", "actor.x").code == 0
    actor.tell(tools=["x"], describe={"x": "Different."})
    cli("mcp", "reload", "actor")
    assert cli("call", "actor.x").code == 4
    [line] = cli("history", "--outcome", "denied").out.splitlines()
    assert line.split()[2:] == ["actor.x", "denied", *HELD_BACK.why.split()]


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal")
@pytest.mark.parametrize("words", [("chat",), ("call", "--permission-mode", "ask", "demo.echo", "text=x")])
def test_a_question_that_nobody_answered_is_not_logged_as_a_no(cli: Cli, words: tuple[str, ...]) -> None:
    cli.home.configure(demo=DEMO)
    with Person(cli.home, *words) as person:
        if words == ("chat",):
            person.answers(("\n> ", "/call demo.echo text=x"))
        person.sees("Call it?")
        person.presses("\x03")
        if words == ("chat",):
            person.answers(("\n> ", "/quit"))
        person.ended()
    [line] = cli("history").out.splitlines()
    assert line.endswith("you were asked and did not answer")


def test_history_is_listed_and_its_older_name_is_not(cli: Cli) -> None:
    help = cli("--help").out
    assert "\n  history " in help
    assert "\n  log " not in help
    assert cli("log", "--help").code == 0


LOG = "home/.local/state/mooring/audit.jsonl"


def _make_log(home: Home, calls: int) -> Path:
    lines = [
        {"time": f"2026-11-01T09:30:{number:02d}.000Z", "session": "s", "server": "x", "tool": f"t{number}",
         "verdict": "allow", "outcome": "ok"}
        for number in range(calls)
    ]  # fmt: skip
    return home.write(LOG, "".join(f"{json.dumps(line)}\n" for line in lines))


def test_a_bad_byte_anywhere_costs_at_most_the_two_lines_beside_it_and_is_counted(home: Home) -> None:
    path = _make_log(home, 5)
    whole = path.read_bytes()
    for place in (0, 20, whole.index(b"t2"), whole.index(b"\n"), whole.rindex(b"t4"), len(whole) - 2):
        path.write_bytes(whole[:place] + b"\xff" + whole[place + 1 :])
        done = run_beside(home, "history", "--json")
        left = {call["tool"] for call in done.data["calls"]}
        assert (done.code, len(left) >= 3, left <= {f"t{n}" for n in range(5)}) == (0, True, True)
        assert done.data["skipped"] == 1
        assert (
            done.err
            == "~/.local/state/mooring/audit.jsonl  1 line of the log of calls cannot be read, and is skipped\n"
        )


def test_a_log_of_garbage_is_not_taken_for_an_empty_one(home: Home) -> None:
    home.write(LOG, bytes(range(256)) * 40)
    done = run_beside(home, "history")
    assert (done.code, done.out, "No calls" in done.err) == (0, "", False)
    assert "40 lines of the log of calls cannot be read, and are skipped" in done.err.replace("41", "40")
    # What is written afterwards is read all the same.
    home.configure(demo=DEMO)
    assert run_beside(home, "call", "demo.echo", "text=x").code == 0
    assert [call["tool"] for call in run_beside(home, "history", "--json").data["calls"]] == ["echo"]


def test_a_part_of_the_log_that_cannot_be_read_hides_no_other_and_fails_the_command(home: Home) -> None:
    path = _make_log(home, 2)
    Path(f"{path}.2").mkdir()
    done = run_beside(home, "history")
    assert (done.code, len(done.out.splitlines())) == (1, 2)
    assert done.err == "~/.local/state/mooring/audit.jsonl.2  A part of the log of calls is a folder, not a file\n"
