"""What servers write, on disk: bounded, whole lines, whoever else writes, reads or removes the files."""

import asyncio
import os
import re
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.core.definitions.paths import Paths
from mooring.servers import log
from mooring.servers.log import LogEntry, ServerLog, file_name, follow, read
from support import Home

PATIENCE = 100.0


def texts(entries: list[LogEntry]) -> list[str]:
    return [entry.text for entry in entries]


def logs(where: Paths) -> Path:
    return Path(where.state, "logs")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- lines --------------------------------------------------------------------------------------------------


def test_an_entry_is_a_line_with_its_time_level_and_text(home: Home) -> None:
    ServerLog(home.where).write("github", "error", "no such table: x")
    written = (logs(home.where) / "github.log").read_text()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z error no such table: x\n", written)


@settings(max_examples=60)
@given(written=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_any_text_comes_back_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, written: list[str]) -> None:
    where = Paths(str(tmp_path_factory.mktemp("home")))
    kept = ServerLog(where)
    for text in written:
        kept.write("s", "info", text)
    kept.close()
    assert texts(read(where, "s")) == written
    assert kept.dropped == 0


def test_nothing_a_server_sends_begins_a_line_of_its_own(home: Home) -> None:
    ServerLog(home.where).write(
        "s", "in fo\n2026-01-01T00:00:00.000Z", "one\n2026-01-01T00:00:00.000Z error forged\r\n\\n"
    )
    (entry,) = read(home.where, "s")
    assert entry.level == "info20260101T000"
    assert entry.text == "one\n2026-01-01T00:00:00.000Z error forged\r\n\\n"
    assert (logs(home.where) / "s.log").read_bytes().count(b"\n") == 1


def test_half_a_character_is_no_obstacle(home: Home) -> None:
    ServerLog(home.where).write("s", "", "before \ud800 after")
    assert read(home.where, "s") == [LogEntry(read(home.where, "s")[0].time, "info", "before ? after")]


@pytest.mark.parametrize("text", ["x" * 10_000_000, "é" * 60_000, "x\\" * 60_000, "\n" * 60_000])
def test_a_text_that_is_too_long_is_cut_visibly(home: Home, text: str) -> None:
    ServerLog(home.where).write("s", "info", text)
    (entry,) = read(home.where, "s")
    assert (logs(home.where) / "s.log").stat().st_size <= log.MAX_TEXT + 64
    assert entry.text.endswith("…")
    assert text.startswith(entry.text[:-1])
    assert len(entry.text) > 30_000


def test_only_the_last_lines_are_read(home: Home) -> None:
    kept = ServerLog(home.where)
    for number in range(20):
        kept.write("s", "info", str(number))
    assert texts(read(home.where, "s", lines=3)) == ["17", "18", "19"]
    assert read(home.where, "s", lines=0) == []


def test_a_server_that_wrote_nothing_has_no_entries_and_no_file(home: Home) -> None:
    kept = ServerLog(home.where)
    assert read(home.where, "s") == []
    kept.close()
    assert not logs(home.where).exists()


def test_lines_of_somebody_else_are_passed_over(home: Home) -> None:
    kept = ServerLog(home.where)
    kept.write("s", "info", "one")
    with (logs(home.where) / "s.log").open("ab") as file:
        file.write(b"\xff\xfe binary\n\njust some words\n" + b"z" * 1_000_000)
    assert texts(read(home.where, "s")) == ["one"]


def test_files_are_closed_to_others(home: Home) -> None:
    before = os.umask(0)
    try:
        ServerLog(home.where).write("s", "info", "x")
    finally:
        os.umask(before)
    assert mode(logs(home.where) / "s.log") == 0o600
    assert mode(logs(home.where)) == mode(Path(home.where.state)) == 0o700


# --- names --------------------------------------------------------------------------------------------------

ODD = ["GitHub", "github", "a/b", "a-b", "../../etc/passwd", ".", "..", ".hidden", "", " ", "x" * 300, "x" * 301, "naïve",
       "naive", "日本語", "nul", "con.txt", "a\0b", "a\nb", "-rf", "a.log", "a", "a.log.1", "\ud800", "a+b"]  # fmt: skip


def test_every_name_has_a_file_of_its_own_inside_the_folder(home: Home) -> None:
    kept = ServerLog(home.where)
    for name in ODD:
        kept.write(name, "info", repr(name))
    kept.close()
    assert kept.dropped == 0
    assert [texts(read(home.where, name)) for name in ODD] == [[repr(name)] for name in ODD]
    assert len(list(logs(home.where).iterdir())) == len(ODD)


@settings(max_examples=60)
@given(st.text(max_size=100))
def test_any_name_is_made_safe_and_told_apart_from_what_it_looks_like(name: str) -> None:
    made = file_name(name)
    assert re.fullmatch(r"[a-z0-9_.+-]{1,64}", made)
    assert not made.startswith(".")
    assert made == name or "+" in made
    assert file_name(made) == made if made == name else file_name(made) != made


def test_a_name_that_needs_no_change_has_none() -> None:
    assert [file_name(name) for name in ("github", "my-server_2.0")] == ["github", "my-server_2.0"]
    assert file_name("GitHub").startswith("github+")


# --- when it is full ----------------------------------------------------------------------------------------


def test_a_full_file_is_moved_away_once_and_nothing_between_is_lost(home: Home) -> None:
    kept = ServerLog(home.where, full=10_000)
    for number in range(1000):
        kept.write("s", "info", f"{number} {'x' * 20}")
    newest, older = logs(home.where) / "s.log", logs(home.where) / "s.log.1"
    assert 10_000 <= older.stat().st_size < 10_100
    assert newest.stat().st_size < 10_100
    numbers = [int(text.split()[0]) for text in texts(read(home.where, "s", lines=1000))]
    assert numbers == list(range(numbers[0], 1000))
    assert len(numbers) > 200
    assert {path.name for path in logs(home.where).iterdir()} == {"s.log", "s.log.1", ".s.log.lock"}


def test_a_file_that_was_removed_is_begun_again(home: Home) -> None:
    kept = ServerLog(home.where)
    kept.write("s", "info", "one")
    (logs(home.where) / "s.log").unlink()
    kept.write("s", "info", "two")
    assert texts(read(home.where, "s")) == ["two"]


def test_many_servers_hold_few_files_open(home: Home) -> None:
    before = len(os.listdir("/dev/fd"))
    kept = ServerLog(home.where)
    for turn in range(2):
        for number in range(100):
            kept.write(f"s{number}", "info", str(turn))
    assert len(os.listdir("/dev/fd")) - before <= log.MAX_OPEN_FILES
    assert all(texts(read(home.where, f"s{number}")) == ["0", "1"] for number in range(100))
    kept.close()
    assert len(os.listdir("/dev/fd")) == before


# --- when it cannot be kept ---------------------------------------------------------------------------------


@pytest.mark.parametrize("obstacle", ["folder", "link", "pipe", "no folder"])
def test_what_cannot_be_kept_is_counted_and_no_error(home: Home, obstacle: str) -> None:
    target = logs(home.where) / "s.log"
    target.parent.parent.mkdir(parents=True)
    if obstacle == "no folder":
        target.parent.write_text("a file")
    else:
        target.parent.mkdir()
    match obstacle:
        case "folder":
            target.mkdir()
        case "link":
            target.symlink_to(home.home / "elsewhere")
        case "pipe":
            os.mkfifo(target)
    kept = ServerLog(home.where)
    kept.write("s", "info", "one")
    kept.write("s", "info", "two")
    kept.close()
    assert kept.dropped == 2
    assert read(home.where, "s") == []
    assert not (home.home / "elsewhere").exists()


def test_a_full_disk_costs_lines_and_breaks_none(home: Home) -> None:
    before, limits = signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.getrlimit(resource.RLIMIT_FSIZE)
    kept = ServerLog(home.where)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        for number in range(50):
            kept.write("s", "info", f"{number} {'x' * 50}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert (logs(home.where) / "s.log").stat().st_size == 1000
    assert kept.dropped > 30
    kept.write("s", "info", "room again")
    found = texts(read(home.where, "s"))
    assert found[0].startswith("0 x")
    assert found[-1] == "room again"
    assert len(found) >= 50 - kept.dropped + 1


# --- several processes --------------------------------------------------------------------------------------

WRITER = """
import sys
from mooring.core.definitions.paths import Paths
from mooring.servers.log import ServerLog
kept = ServerLog(Paths(sys.argv[1]), full=int(sys.argv[3]))
for number in range(2000):
    kept.write("s", "info", f"{sys.argv[2]} {number} " + "x" * (number % 97))
assert kept.dropped == 0
"""


def written_by_three(where: Paths, full: int) -> list[str]:
    words = [sys.executable, "-c", WRITER, where.home]
    children = [subprocess.Popen([*words, who, str(full)]) for who in "abc"]
    assert [child.wait(PATIENCE) for child in children] == [0, 0, 0]
    return texts(read(where, "s", lines=10_000))


def test_processes_that_write_at_the_same_time_break_no_line(home: Home) -> None:
    found = written_by_three(home.where, log.MAX_FILE_SIZE)
    for who in "abc":
        assert [text for text in found if text[0] == who] == [f"{who} {n} {'x' * (n % 97)}" for n in range(2000)]


def test_processes_that_find_the_file_full_at_the_same_time_keep_the_last_of_it(home: Home) -> None:
    found = written_by_three(home.where, 50_000)
    sizes = [path.stat().st_size for path in logs(home.where).glob("s.log*")]
    assert len(sizes) == 2
    assert all(size < 55_000 for size in sizes)
    assert len(found) > 500
    assert all(
        re.fullmatch(r"[abc] (\d+) x*", text) and len(text.split(" ")[2]) == int(text.split()[1]) % 97 for text in found
    )


# --- following ----------------------------------------------------------------------------------------------


async def some(entries: AsyncIterator[LogEntry], count: int) -> list[str]:
    return [(await anext(entries)).text for _ in range(count)]


async def test_following_shows_the_last_lines_and_then_each_as_it_comes(home: Home) -> None:
    kept = ServerLog(home.where)
    for number in range(5):
        kept.write("s", "info", str(number))
    followed = follow(home.where, "s", lines=2)
    assert await some(followed, 2) == ["3", "4"]
    waiting = asyncio.ensure_future(some(followed, 2))
    kept.write("s", "info", "5")
    kept.write("other", "info", "not this")
    kept.write("s", "info", "6")
    assert await waiting == ["5", "6"]


async def test_following_begins_before_there_is_anything_to_follow(home: Home) -> None:
    waiting = asyncio.ensure_future(some(follow(home.where, "s"), 1))
    await asyncio.sleep(0)
    ServerLog(home.where).write("s", "info", "first")
    assert await waiting == ["first"]


async def test_following_goes_on_when_files_are_moved_away(home: Home) -> None:
    kept = ServerLog(home.where, full=2000)
    followed = follow(home.where, "s", lines=1000)
    seen: list[str] = []
    for batch in range(4):
        # Up to two full files between two looks: nothing may be missed.
        for number in range(60):
            kept.write("s", "info", f"{batch} {number}")
        seen += await some(followed, 60)
    assert seen == [f"{batch} {number}" for batch in range(4) for number in range(60)]


async def test_following_goes_on_when_the_file_is_removed_and_shows_nothing_twice(home: Home) -> None:
    kept = ServerLog(home.where, full=300)
    for number in range(12):
        kept.write("s", "info", f"{number}")
    followed = follow(home.where, "s", lines=1)
    assert await some(followed, 1) == ["11"]
    assert (logs(home.where) / "s.log.1").exists()
    (logs(home.where) / "s.log").unlink()
    kept.write("s", "info", "after")
    assert await some(followed, 1) == ["after"]
