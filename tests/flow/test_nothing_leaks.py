"""No value of env, headers, tokens or OAuth reaches any output, and a listing touches nothing but configuration."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from support import Cli, Home

CANARY = re.compile(r"canary-[a-z0-9-]+")


def commands(home: Home) -> list[list[str]]:
    # The command line sees the real machine, not the sample's own managed files.
    names = [choice.name for choice in home.inventory(where=replace(home.where, system="")).choices]
    each = [[verb, name] for name in names for verb in ("get", "why")]
    reads = [["list"], ["list", "--all"], ["doctor"], ["doctor", "-v"], *each]
    return [
        *(["mcp", *words, *flag] for words in reads for flag in ([], ["--json"])),
        ["settings"],
        ["settings", "--json"],
    ]


def test_the_sample_homes_hold_canaries() -> None:
    homes = Path(__file__).parents[1] / "homes"
    found = {canary for path in homes.rglob("*") if path.is_file() for canary in CANARY.findall(path.read_text())}
    assert len(found) >= 25


def test_no_secret_of_the_person_is_printed_when_asked_for_approval(sample_cli: Cli) -> None:
    folders = sample_cli.home.home, sample_cli.home.folder / "system"
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    own = {canary for path in files for canary in CANARY.findall(path.read_text())} | {"canary-environment"}
    # What the project's own files say is shown in full: it is nobody's secret, and could be what matters.
    for words in (["mcp", "approve", "--all"], ["mcp", "approve", "--all", "--json"]):
        result = sample_cli(*words)
        assert own.intersection(CANARY.findall(result.out + result.err)) == set()
    state = sample_cli.home.home / ".local/state/mooring/approvals.json"
    assert not state.exists() or CANARY.findall(state.read_text()) == []


def test_no_secret_value_is_in_the_repr_of_what_was_found(sample: Home) -> None:
    inventory = sample.inventory()
    assert CANARY.findall(repr(inventory)) == []
    assert CANARY.findall(str(inventory.problems)) == []


WATCHED = """
import contextlib, io, json, os, sys
events = []
STARTS = ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.fork", "os.forkpty", "os.system", "os.startfile",
          "socket.connect", "socket.bind", "pty.spawn", "ctypes.dlopen")
def hook(event, args):
    if event == "open":
        events.append(["open", os.fsdecode(args[0]) if isinstance(args[0], (str, bytes)) else ""])
    elif event in STARTS:
        events.append([event, ""])
from mooring.cli.app import run
import mooring.verbs.config.definition, mooring.verbs.config.why, mooring.cli.mcp.doctor, mooring.verbs.config.settings, mooring.cli.completion
sys.addaudithook(hook)
for job in map(json.loads, sys.stdin):
    os.environ.clear()
    os.environ |= job["env"]
    os.chdir(job["cwd"])
    events.clear()
    printed, codes = [], []
    for args in job["commands"]:
        sink = io.TextIOWrapper(io.BytesIO())
        with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
            codes.append(run(args))
        sink.flush()
        printed.append(sink.buffer.getvalue().decode())
    os.environ |= {"_MOORING_COMPLETE": "bash_complete", "COMP_WORDS": "mooring mcp get ", "COMP_CWORD": "3"}
    with contextlib.redirect_stdout(sink), contextlib.suppress(SystemExit):
        run([])
    print(json.dumps([printed, codes, events]), flush=True)
"""

REFERENCED = [".secrets/a", ".files.env", ".env", "bin/tool", "bin/files"]


class Seen(NamedTuple):
    """What commands printed, how each ended, and what they made the interpreter do."""

    printed: list[str]
    codes: list[int]
    events: list[list[str]]


@pytest.fixture(scope="module")
def watched() -> Iterator[Callable[[Home], Seen]]:
    """All commands that only read, in a home; one interpreter for all of them."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", WATCHED], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def watch(home: Home) -> Seen:
            job = {"cwd": str(home.cwd), "env": home.env, "commands": commands(home)}
            print(json.dumps(job), file=process.stdin, flush=True)
            return Seen(*json.loads(process.stdout.readline()))

        yield watch
        process.stdin.close()
        assert process.wait(100) == 0


def test_reading_prints_no_secret_starts_no_process_and_opens_no_file_that_a_definition_names(
    sample: Home, watched: Callable[[Home], Seen]
) -> None:
    for folder in (sample.home, sample.project):
        for name in REFERENCED:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#!/bin/sh\ntouch marker\n")
            path.chmod(0o755)
    known = {*sample.inventory().files}
    printed, codes, events = watched(sample)
    assert [text for text in printed if CANARY.search(text)] == []
    assert all(printed)
    assert {*codes} <= {0, 1}
    assert [event for event, _ in events if event != "open"] == []
    opened = {path for _, path in events if path.startswith(str(sample.folder))}
    assert [path for path in opened if path.endswith(tuple(f"/{name}" for name in REFERENCED))] == []
    assert known - opened == {path for path in known if "/system/" in path}
    assert not list(sample.folder.rglob("marker"))
    # Doctor sees whether something can be stored in our own folder, where there is one.
    unknown = {path for path in opened - known if "/.local/state/mooring/.probe-" not in path}
    assert all(re.search(r"(json|jsonc|toml|ya?ml|lua|crushrc)$", path) for path in unknown), unknown
