"""`mooring serve` makes no call that it cannot record, and a kill takes no more than the last second of the log."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from client import RAW, SECONDS, ServeClient
from web import serving, text

from mooring.permissions.audit import AuditEntry, log_path, read_log
from support import MOORING, Actor, Home

PROMISED = 1.0
"""Seconds of the log that a kill may cost at most."""


@pytest.fixture
def actor(home: Home, tmp_path: Path) -> Actor:
    acting = Actor(tmp_path / "script")
    home.configure(actor=acting.entry)
    return acting


@contextmanager
def full_disk(pid: int) -> Iterator[None]:
    """No file of a process can grow meanwhile, as if its disk were full."""
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


def wait_until(is_true: Callable[[], Any], seconds: float = SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def wait_for_line(client: ServeClient, words: str) -> None:
    wait_until(lambda: any(words in line.decode() for line in list(client.errors)))


def calls(home: Home, tool: str) -> list[AuditEntry]:
    return [entry for entry in read_log(home.where, tool=tool) if entry.outcome != "unfinished"]


def test_a_full_disk_stops_calls_until_they_can_be_recorded_and_none_that_ran_is_missing(
    home: Home, actor: Actor
) -> None:
    with ServeClient(home, *RAW) as client:
        assert client.call("count")["content"][0]["text"] == "count"
        with full_disk(client.process.pid):
            client.call("count")  # the one that finds out
            wait_for_line(
                client, "The log of calls cannot be used: file too large; no call is made until this is fixed"
            )
            ran = len(actor.done("counts"))
            for _ in range(3):
                refused = client.call("count")
                assert refused["isError"]
                assert "actor.count was not called: the log of calls cannot be used" in text(refused)
                assert log_path(home.where) in text(refused)
            # What is no call of a tool is recorded too, and refused likewise.
            asked = client.request("resources/read", {"uri": "test://x"})
            assert "was not called: the log of calls cannot be used" in asked["error"]["message"]
            assert client.request("ping") == {}
            assert len(actor.done("counts")) == ran
        wait_for_line(client, "The log of calls is being written again; it lacks no call")
        assert not client.call("count").get("isError")
    assert sum(entry.times for entry in calls(home, "count")) == len(actor.done("counts")) == ran + 1


async def test_over_http_each_client_is_refused_and_goes_on_afterwards(home: Home, actor: Actor) -> None:
    async with serving(home, *RAW) as server:
        one, two = await server.session(), await server.session()
        assert text((await one.call("count"))["result"]) == "count"
        assert server.process is not None
        assert server.process.stderr is not None
        with full_disk(server.pid):
            await one.call("count")
            assert b"no call is made until this is fixed" in await server.process.stderr.readline()
            # The call that finds out has run or has not, whichever of the two was faster.
            ran = len(actor.done("counts"))
            for session in (one, two):
                assert "was not called" in text((await session.call("count"))["result"])
            assert len(actor.done("counts")) == ran
        assert b"is being written again" in await server.process.stderr.readline()
        for session in (one, two):
            assert text((await session.call("count"))["result"]) == "count"
    assert sum(entry.times for entry in calls(home, "count")) == len(actor.done("counts")) == ran + 2


def test_a_log_that_can_not_be_opened_stops_the_very_first_call(home: Home, actor: Actor) -> None:
    place = Path(log_path(home.where))
    place.mkdir(parents=True)
    with ServeClient(home, *RAW) as client:
        assert "the log of calls is a folder, not a file" in text(client.call("count"))
        place.rmdir()
        wait_for_line(client, "The log of calls is being written again")
        assert text(client.call("count")) == "count"
    assert len(actor.done("counts")) == len(calls(home, "count")) == 1


def test_calls_are_recorded_by_a_process_that_can_open_nothing_more(home: Home, actor: Actor) -> None:
    with ServeClient(home, *RAW) as client:
        client.call("count")
        before = resource.prlimit(client.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(client.process.pid, resource.RLIMIT_NOFILE, (3, before[1]))
        client.call("count")
        wait_until(lambda: len(calls(home, "count")) == 2)
        # Another process moves the file away; there is no descriptor for the new one.
        os.replace(log_path(home.where), f"{log_path(home.where)}.1")
        client.call("count")
        wait_until(lambda: len(calls(home, "count")) == 3)
        resource.prlimit(client.process.pid, resource.RLIMIT_NOFILE, before)
        client.call("count")
        wait_until(lambda: len(calls(home, "count")) == 4)
        assert len(Path(log_path(home.where)).read_bytes().splitlines()) == 1
    assert client.errors == []


def test_a_log_that_was_removed_is_begun_anew(home: Home, actor: Actor) -> None:
    with ServeClient(home, *RAW) as client:
        client.call("count")
        wait_until(lambda: calls(home, "count"))
        for path in Path(log_path(home.where)).parent.glob("*audit*"):
            path.unlink()
        client.call("count")
        wait_until(lambda: len(calls(home, "count")) == 1)


def test_a_kill_costs_no_call_that_began_or_ended_a_second_before(home: Home, actor: Actor) -> None:
    client = ServeClient(home, *RAW)
    client.initialize()
    client.call("count")
    client.begin("tools/call", {"name": "nap", "arguments": {"seconds": 600}})
    wait_until(lambda: actor.done("naps"))
    for _ in range(20):
        client.call("count")
    wait_until(lambda: _count_recorded(home) == 22, 5 * PROMISED)
    client.kill()
    entries = list(read_log(home.where))
    assert [entry.tool for entry in entries if entry.outcome == "unfinished"] == ["nap"]
    assert sum(entry.times for entry in entries if (entry.tool, entry.outcome) == ("count", "ok")) == 21
    done = subprocess.run([MOORING, "history"], cwd=home.cwd, env=home.env, capture_output=True, text=True, check=True)
    [line] = [line for line in done.stdout.splitlines() if "actor.nap" in line]
    assert "unfinished" in line


def _count_recorded(home: Home) -> int:
    return sum(entry.times for entry in read_log(home.where))


def test_a_long_call_that_ends_has_one_entry(home: Home, actor: Actor) -> None:
    with ServeClient(home, *RAW) as client:
        key = client.begin("tools/call", {"name": "nap", "arguments": {"seconds": 2}})
        wait_until(lambda: list(read_log(home.where, tool="nap", outcome="unfinished")))
        client.wait(key)
    [entry] = read_log(home.where, tool="nap")
    assert (entry.outcome, entry.seconds > 1.9) == ("ok", True)


def test_eight_processes_and_kills_tear_no_line_and_lose_none_that_was_told(home: Home, actor: Actor) -> None:
    script = (
        "import os, sys, time\n"
        "from mooring.core.conversation.verdict import ProposedCall, Verdict\n"
        "from mooring.core.definitions.paths import here\n"
        "from mooring.permissions.audit import AuditLog\n"
        "log = AuditLog(here(os.environ), sys.argv[1], max_bytes=40_000, older_files=60)\n"
        "for number in range(100_000):\n"
        "    log.add(ProposedCall('x', str(number)), Verdict('allow', 'y'), 'ok')\n"
        "    log.flush()\n"
        "    print(number, flush=True)\n"
    )
    said: dict[str, int] = {}
    writers = {
        str(number): subprocess.Popen([sys.executable, "-c", script, str(number)], env=home.env, stdout=subprocess.PIPE)
        for number in range(8)
    }
    # Each is killed in the middle of its work, after another number of lines.
    for number, (name, process) in enumerate(writers.items()):
        assert process.stdout is not None
        for _ in range(20 + 5 * number):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        said[name] = 20 + 5 * number + len(process.stdout.read().split())
        process.wait()
        process.stdout.close()
    folder = Path(log_path(home.where)).parent
    lines = [line for file in folder.glob("audit.jsonl*") for line in file.read_bytes().split(b"\n") if line]
    whole = [_parse(line) for line in lines]
    # A kill may cut the one line short that is being written.
    assert whole.count(None) <= 8
    found = {(entry["session"], int(entry["tool"])) for entry in whole if entry is not None}
    assert len(found) == len(whole) - whole.count(None), "a line is there twice"
    kept = {name: {number for session, number in found if session == name} for name in said}
    assert {name: len(set(range(count)) - kept[name]) for name, count in said.items()} == dict.fromkeys(said, 0)


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        entry: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return entry
