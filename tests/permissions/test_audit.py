"""The log of calls: complete, readable by its owner alone, bounded, and without anything that could be a secret."""

import json
import os
import resource
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.core.conversation.verdict import ProposedCall, Rule, Verdict
from mooring.core.definitions.problem import Problem
from mooring.permissions.audit import AuditLog, describe_shape, log_path, read_log
from support import Home

ALLOWED = Verdict("allow", "because", "user", Rule("mcp__x__*", "allow", "canary-pattern"))


def log(home: Home) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(log_path(home.where)).read_text().splitlines()]


def test_a_call_is_on_record_with_what_decided_and_how_it_ended(home: Home) -> None:
    audit = AuditLog(home.where, "s1")
    audit.add(ProposedCall("x", "t", {"n": 3, "on": True, "text": "hello"}, None, ".mcp.json"), ALLOWED, "ok", 0.25)
    audit.add(ProposedCall(None, "ReadMcpResource"), Verdict("deny", "no"), "denied")
    audit.close()
    first, second = log(home)
    assert first.pop("time")[-1] == "Z"
    assert first == {
        "session": "s1", "server": "x", "tool": "t", "verdict": "allow", "outcome": "ok", "seconds": 0.25,
        "level": "user", "rule": "mcp__x__*", "origin": ".mcp.json",
        "arguments": {"n": 3, "on": True, "text": "str(5)"},
    }  # fmt: skip
    assert (second["server"], second["tool"], second["outcome"]) == (None, "ReadMcpResource", "denied")


KEYS = st.sampled_from(["token", "path", "a.b", "é", "x" * 300])
SECRET = st.text(max_size=20).map(lambda text: f"canary-{text}")
VALUES = st.recursive(
    SECRET
    | st.integers()
    | st.floats()
    | st.booleans()
    | st.none()
    | st.binary(max_size=3).map(lambda b: b"canary-" + b),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150)
@given(arguments=st.dictionaries(KEYS, VALUES, max_size=4))
def test_no_text_of_any_argument_is_in_its_shape(arguments: dict[str, Any]) -> None:
    text = json.dumps(describe_shape(arguments))
    assert "canary" not in text
    assert list(json.loads(text))[:1] == [key[:200] + "…" * (len(key) > 200) for key in arguments][:1] or not arguments


def test_no_line_holds_a_secret_wherever_it_stood(home: Home) -> None:
    audit = AuditLog(home.where, "s")
    for value in (
        "canary-1",
        ["canary-2"],
        {"deep": {"er": {"and": {"on": "canary-3"}}}},
        {"k": ("canary-4",)},
        object(),
    ):
        audit.add(ProposedCall("x", "t", {"token": value}), ALLOWED, "ok")
    audit.close()
    text = Path(log_path(home.where)).read_text()
    assert (text.count("\n"), "canary" in text, audit.lost) == (5, False, 0)


@pytest.mark.parametrize(
    "arguments",
    [{"x": list(range(100_000))}, {f"k{n}": "v" for n in range(100_000)}, {"x" * 100_000: "y"}, {"x": 10**5_000}],
    ids=["a long list", "many keys", "a long key", "a long number"],
)
def test_a_line_is_short_however_large_the_arguments(arguments: dict[str, Any], home: Home) -> None:
    audit = AuditLog(home.where, "s")
    audit.add(ProposedCall("x" * 100_000, "t" * 100_000, arguments, None, "o" * 100_000), ALLOWED, "ok")
    audit.close()
    assert len(Path(log_path(home.where)).read_bytes()) < 4_096
    assert audit.lost == 0


def test_deep_and_endless_arguments_do_no_harm() -> None:
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    assert describe_shape(loop) == {"loop": {"loop": {"loop": {"loop": "object(1)"}}}}


def test_arguments_that_no_json_can_hold_cost_their_shape_and_not_the_line(home: Home) -> None:
    class Odd(int):
        pass

    audit = AuditLog(home.where, "s")
    audit.add(ProposedCall("x", "t", {"n": Odd(3)}), ALLOWED, "ok")
    audit.close()
    assert [(entry.tool, entry.arguments) for entry in read_log(home.where)] == [("t", "unreadable")]
    assert audit.lost == 0


def test_the_first_line_does_not_wait_for_others(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mooring.permissions.audit.WRITE_SECONDS", 600.0)
    audit = AuditLog(home.where, "s1")
    audit.add(ProposedCall("x", "first"), ALLOWED, "ok")
    while not list(read_log(home.where)):
        time.sleep(0.01)
    # Those that come while the thread pauses wait, and `hurry` and `close` end the pause.
    audit.add(ProposedCall("x", "second"), ALLOWED, "ok")
    audit.hurry()
    while len(list(read_log(home.where))) < 2:
        time.sleep(0.01)
    audit.add(ProposedCall("x", "third"), ALLOWED, "ok")
    audit.close()
    assert [entry.tool for entry in read_log(home.where)] == ["first", "second", "third"]


def test_lines_are_written_within_a_second_or_so_without_closing(home: Home) -> None:
    audit = AuditLog(home.where, "s")
    audit.add(ProposedCall("x", "t"), ALLOWED, "ok")
    written = threading.Event()
    for _ in range(500):
        if Path(log_path(home.where)).exists() and log(home):
            break
        written.wait(0.01)
    assert [line["tool"] for line in log(home)] == ["t"]
    audit.close()


def test_the_log_is_for_its_owner_alone_whatever_the_umask(home: Home) -> None:
    before = os.umask(0)
    try:
        audit = AuditLog(home.where, "s")
        audit.add(ProposedCall("x", "t"), ALLOWED, "ok")
        audit.close()
    finally:
        os.umask(before)
    assert Path(log_path(home.where)).stat().st_mode & 0o777 == 0o600


def test_the_log_is_bounded_and_the_youngest_lines_stay(home: Home) -> None:
    audit = AuditLog(home.where, "s", max_bytes=2_000, older_files=3)
    for number in range(200):
        audit.add(ProposedCall("x", f"t{number}"), ALLOWED, "ok")
        if number % 7 == 0:
            audit.flush()
    audit.close()
    found = sorted(Path(log_path(home.where)).parent.glob("audit.jsonl*"))
    assert [file.name for file in found] == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2", "audit.jsonl.3"]
    assert all(file.stat().st_size <= 2_000 for file in found)
    tools = [entry.tool for entry in read_log(home.where)]
    assert tools == [f"t{number}" for number in range(200 - len(tools), 200)]
    assert audit.lost == 0


def test_many_threads_and_two_logs_lose_and_tear_nothing(home: Home) -> None:
    audits = [AuditLog(home.where, name) for name in ("a", "b")]

    def work(audit: AuditLog, thread: int) -> None:
        for number in range(500):
            audit.add(ProposedCall("x", f"{thread}-{number}"), ALLOWED, "ok")
            if number % 100 == 0:
                audit.flush()

    threads = [threading.Thread(target=work, args=(audit, n)) for audit in audits for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for audit in audits:
        audit.close()
    assert len({(entry.session, entry.tool) for entry in read_log(home.where)}) == len(log(home)) == 3_000


def test_a_line_that_was_cut_short_costs_no_other(home: Home) -> None:
    home.write("home/.local/state/mooring/audit.jsonl", '{"time": "2026')
    audit = AuditLog(home.where, "s")
    audit.add(ProposedCall("x", "t"), ALLOWED, "ok")
    audit.close()
    assert [entry.tool for entry in read_log(home.where)] == ["t"]


@pytest.mark.parametrize("obstacle", ["folder", "link", "file instead of the folder"])
def test_a_log_that_cannot_be_written_is_counted_told_once_and_never_raised(obstacle: str, home: Home) -> None:
    target = Path(log_path(home.where))
    match obstacle:
        case "folder":
            target.mkdir(parents=True)
        case "link":
            target.parent.mkdir(parents=True)
            target.symlink_to(home.write("project/victim", ""))
        case _:
            home.write("home/.local/state/mooring", "")
    problems: list[Problem] = []
    audit = AuditLog(home.where, "s", on_problem=problems.append)
    for _ in range(3):
        audit.add(ProposedCall("x", "t"), ALLOWED, "ok")
        audit.flush()
    audit.close()
    assert audit.lost == 3
    [problem] = problems
    assert (problem.path, problem.level) == (log_path(home.where), "warning")
    assert problem.message.startswith("The log of calls ")
    assert not (home.project / "victim").exists() or (home.project / "victim").read_text() == ""


@pytest.mark.parametrize(
    ("wanted", "tools"),
    [
        ({}, ["a", "b", "c"]),
        ({"server": "x"}, ["a", "b"]),
        ({"tool": "b"}, ["b"]),
        ({"session": "s", "outcome": "denied"}, ["c"]),
        ({"since": "2999"}, []),
        ({"since": "2000"}, ["a", "b", "c"]),
    ],
)
def test_the_log_can_be_read_by_what_one_looks_for(wanted: dict[str, Any], tools: list[str], home: Home) -> None:
    audit = AuditLog(home.where, "s")
    audit.add(ProposedCall("x", "a"), ALLOWED, "ok")
    audit.add(ProposedCall("x", "b"), ALLOWED, "is_error")
    audit.add(ProposedCall("y", "c"), Verdict("deny", "no"), "denied")
    audit.close()
    assert [entry.tool for entry in read_log(home.where, **wanted)] == tools


def test_lines_that_could_not_be_written_are_written_later_once_and_both_is_told(home: Home) -> None:
    target = Path(log_path(home.where))
    target.mkdir(parents=True)
    problems: list[Problem] = []
    audit = AuditLog(home.where, "s", on_problem=problems.append)
    for number in range(3):
        audit.add(ProposedCall("x", f"t{number}"), ALLOWED, "ok")
        audit.flush()
    target.rmdir()
    audit.flush()
    audit.close()
    assert [entry.tool for entry in read_log(home.where)] == ["t0", "t1", "t2"]
    assert [(problem.message, problem.hint, problem.level) for problem in problems] == [
        (
            "The log of calls is a folder, not a file",
            "calls continue, but are not recorded until this is fixed",
            "warning",
        ),
        ("The log of calls is being written again", "it lacks no call", "note"),
    ]
    assert audit.lost == 0


def test_a_disk_that_fills_up_within_a_line_leaves_no_half_of_it(home: Home) -> None:
    audit = AuditLog(home.where, "s")
    audit.add(ProposedCall("x", "t0"), ALLOWED, "ok")
    audit.flush()
    size = Path(log_path(home.where)).stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, before[1]))
    try:
        audit.add(ProposedCall("x", "t1"), ALLOWED, "ok")
        audit.flush()
        assert Path(log_path(home.where)).stat().st_size == size
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    audit.close()
    assert [line["tool"] for line in log(home)] == ["t0", "t1"]


def test_the_ends_of_long_calls_are_never_merged_into_a_flood(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mooring.permissions.audit.LONG_CALL_SECONDS", 0.0)
    audit = AuditLog(home.where, "s")
    records = [audit.begin(ProposedCall("x", "t"), ALLOWED) for _ in range(250)]
    audit.flush()
    assert [entry.outcome for entry in read_log(home.where)] == ["unfinished"] * 250
    for record in records:
        audit.end(record, "ok")
    for _ in range(250):
        audit.add(ProposedCall("x", "t"), ALLOWED, "ok")
    audit.close()
    entries = list(read_log(home.where))
    assert {entry.outcome for entry in entries} == {"ok"}
    assert sum(entry.times for entry in entries) == 500
