"""`mooring history`: the calls that were made, in local time, since a moment that a person can type."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest

from mooring.actions.since import parse_since
from mooring.errors import ConfigError
from support import DEMO, Cli

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
        assert cli("history").err == "No calls were made yet.\n"
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


def test_history_is_listed_and_its_older_name_is_not(cli: Cli) -> None:
    help = cli("--help").out
    assert "\n  history " in help
    assert "\n  log " not in help
    assert cli("log", "--help").code == 0
