"""Every file that Mooring writes, and every fault it may meet: damage, a full disk, other processes, a kill.

What somebody decided or stored is never lost, never read as empty and never written over. What can be learned again is.
"""

import json
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from mooring.permissions import pins, rules
from mooring.permissions.pins import PinKey
from support import DEMO, MOORING, NO_KEYRING, Home, Result, run_beside
from warm import WarmProcess, start_mooring, start_python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits processes from outside")

STATE = ".local/state/mooring"
SEED = 18
BEHIND = {"PYTHON_KEYRING_BACKEND": NO_KEYRING}
KEY = PinKey("user", "demo", "d")


class OwnFile(NamedTuple):
    """A file that holds what a person decided or stored."""

    path: str
    write: Callable[[Home, str], Sequence[str]]
    """The command that adds something of that name."""
    read: Callable[[Home], set[str]]
    """The names that are in it, as a command tells."""
    says: str = ""
    """What is said of it when it is damaged."""
    typed: str = ""
    """What the command reads from stdin; `NAME` stands for the name."""


def mooring(home: Home, *words: str) -> Result:
    return run_beside(home, *words, **BEHIND)


def _run_python(code: str, *words: str) -> Sequence[str]:
    return [sys.executable, "-c", f"import os, sys\nfrom mooring.core.definitions.paths import here\n{code}", *words]


def _approve(home: Home, name: str) -> Sequence[str]:
    # By its answer: there is no terminal.
    shown = json.loads(mooring(home, "mcp", "approve", name, "--json").out)
    return [MOORING, "mcp", "approve", "--digest", shown["waiting"][0]["digest"], name]


def _list_approved(home: Home) -> set[str]:
    rows = mooring(home, "mcp", "list", "--json").data["servers"]
    return {row["name"] for row in rows if row["name"].startswith("p") and row["status"] != "unapproved"}


def _list_disabled(home: Home) -> set[str]:
    rows = mooring(home, "mcp", "list", "--json").data["servers"]
    return {row["name"] for row in rows if row["name"].startswith("p") and row["status"] == "disabled"}


def _list_rules(home: Home) -> set[str]:
    level, problem = rules.load_project_rules(home.where, str(home.project))
    return set() if problem else {rule.tool.rpartition("__")[2] for rule in level.rules}


def _list_settings(home: Home) -> set[str]:
    level = mooring(home, "settings", "permissions", "--json")
    return {name for name in NAMES if f"mcp__demo__{name}" in level.out}


def _list_pins(home: Home) -> set[str]:
    pin, problem = pins.load(home.where, KEY)
    return set() if problem or pin is None else set(pin.tools)


def _list_secrets(home: Home) -> set[str]:
    code = (
        "import asyncio\nfrom mooring.auth.store import SecretStore\nasync def show():\n"
        "  store = SecretStore(here(os.environ))\n"
        "  for each in await store.list('secret'):\n"
        "    print(each.name, await store.get('secret', each.name))\n"
        "asyncio.run(show())"
    )
    env = {**home.env, **BEHIND}
    source = _run_python(code)[-1]
    process = start_python(source, cwd=home.cwd, env=env, stdout=subprocess.PIPE)
    shown, _ = process.communicate(timeout=100)
    assert process.returncode == 0
    pairs = [line.split() for line in shown.decode().splitlines()]
    return {name for name, value in pairs if value == f"value-of-{name}"}


NAMES = tuple(f"p{number}" for number in range(8))
SAVE = (
    "from mooring.permissions.rules import save_allow\n"
    "save_allow(here(os.environ), sys.argv[1], 'demo', sys.argv[3], sys.argv[2])"
)
PIN = (
    "from mooring.permissions.pins import PinKey, ToolChange, approve\n"
    "approve(here(os.environ), PinKey('user', 'demo', 'd'), [ToolChange(sys.argv[1], '{}')])"
)
FILES = {
    "approvals": OwnFile(f"{STATE}/approvals.json", _approve, _list_approved, "The record of approvals"),
    "overlay": OwnFile(
        f"{STATE}/overlay.json",
        lambda home, name: [MOORING, "mcp", "disable", name],
        _list_disabled,
        "The record of disabled servers",
    ),
    "rules": OwnFile(
        f"{STATE}/rules.json",
        lambda home, name: _run_python(SAVE, str(home.project), "project-local", name),
        _list_rules,
        "The record of rules for projects",
    ),
    "settings": OwnFile(
        ".config/mooring/settings.json",
        lambda home, name: _run_python(SAVE, str(home.project), "user", name),
        _list_settings,
        "settings.json",
    ),
    "pins": OwnFile(
        f"{STATE}/pins/*.json", lambda home, name: _run_python(PIN, name), _list_pins, "a record of its approved tools"
    ),
    "index of secrets": OwnFile(
        f"{STATE}/secrets/index.json",
        lambda home, name: [MOORING, "secret", "set", name],
        _list_secrets,
        typed="value-of-NAME",
    ),
    "values of secrets": OwnFile(
        f"{STATE}/secrets/values.json",
        lambda home, name: [MOORING, "secret", "set", name],
        _list_secrets,
        typed="value-of-NAME",
    ),
}
each_file = pytest.mark.parametrize("file", FILES.values(), ids=FILES)


@pytest.fixture
def home(home: Home) -> Home:
    """A person with a server of their own, and a project with eight more."""
    home.configure(demo=DEMO)
    # A stand-in for each: what is approved is another program for each name.
    servers = {name: {"command": sys.executable, "args": ["-I", "-m", "mooring.demo", name]} for name in NAMES}
    home.write("project/.mcp.json", {"mcpServers": servers})
    return home


def begin(
    home: Home, file: OwnFile, command: Sequence[str], *, real: bool = False
) -> "WarmProcess | subprocess.Popen[bytes]":
    env = {**home.env, **BEHIND}
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    program, *words = command
    if real:
        process: WarmProcess | subprocess.Popen[bytes] = subprocess.Popen(command, cwd=home.cwd, env=env, **streams)
    elif program == MOORING:
        process = start_mooring(words, cwd=home.cwd, env=env, **streams)
    else:
        process = start_python(*words[1:], cwd=home.cwd, env=env, **streams)
    assert process.stdin is not None
    process.stdin.write(file.typed.replace("NAME", command[-1]).encode())
    process.stdin.close()
    return process


def finish(process: "WarmProcess | subprocess.Popen[bytes]") -> tuple[int, str]:
    assert process.stderr is not None
    with process.stderr as errors:
        err = errors.read().decode()
    return process.wait(), err


def write(home: Home, file: OwnFile, name: str) -> tuple[int, str]:
    return finish(begin(home, file, file.write(home, name)))


def find(home: Home, file: OwnFile) -> Path:
    [path] = home.home.glob(file.path)
    return path


@each_file
def test_of_eight_processes_that_write_at_once_none_loses_what_another_wrote(home: Home, file: OwnFile) -> None:
    commands = [file.write(home, name) for name in NAMES]
    writers = [begin(home, file, command) for command in commands]
    assert [finish(writer)[0] for writer in writers] == [0] * 8
    assert file.read(home) == set(NAMES)


@each_file
def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new_one(home: Home, file: OwnFile) -> None:
    chance = random.Random(SEED)
    assert write(home, file, "p0")[0] == 0
    commands = {name: file.write(home, name) for name in NAMES[1:5]}
    for command in commands.values():
        victim = begin(home, file, command, real=True)
        # Where it dies is chance: most of the time it loads Python, and it writes last.
        time.sleep(chance.uniform(0.1, 0.5))
        victim.send_signal(signal.SIGKILL)
        finish(victim)
        assert "p0" in file.read(home)
    # Nobody has to wait for what a dead process held.
    assert all(finish(begin(home, file, command))[0] == 0 for command in commands.values())
    assert file.read(home) == {"p0", *commands}


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "one byte flipped in a name": lambda data: data.replace(b"p0", b"q0", 1),
    "one byte that is no text": lambda data: data[:40] + b"\xff" + data[41:],
    "cut off": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "garbage": lambda data: bytes(range(256)) * 4,
    "another shape": lambda data: (
        b'{"version": 1, "decisions": 3, "user": 3, "projects": 3, "tools": 3, "values": 3, '
        b'"entries": 3, "permissions": 3, "key": 3}'
    ),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@each_file
def test_what_is_damaged_is_reported_and_never_written_over(
    home: Home, file: OwnFile, damage: Callable[[bytes], bytes]
) -> None:
    assert write(home, file, "p0")[0] == 0
    path = find(home, file)
    damaged = damage(path.read_bytes())
    if file is FILES["settings"] and damaged in (b"", path.read_bytes().replace(b"p0", b"q0", 1)):
        pytest.skip("a person writes it: an empty file, or another name, is what they may have meant")
    path.write_bytes(damaged)
    if file is FILES["pins"]:
        # Approving again replaces it: everything was held back, and has been shown.
        pin, problem = pins.load(home.where, KEY)
        assert (pin, problem is not None) == (pins.Pin(KEY), True)
        assert path.read_bytes() == damaged
        return
    code, err = write(home, file, "p1")
    assert code != 0
    # What no command writes, a program of ours does, which has the error as it was raised.
    is_program = file in (FILES["rules"], FILES["settings"])
    name = str(path) if is_program else home.shorten(path)
    assert "Traceback" not in err or is_program
    assert path.read_bytes() == damaged
    assert len([line for line in err.splitlines() if name in line]) == 1


@pytest.mark.parametrize("name", ["approvals", "overlay", "rules"])
def test_a_damaged_decision_is_told_by_each_listing_and_lets_nothing_through(home: Home, name: str) -> None:
    file = FILES[name]
    assert write(home, file, "p0")[0] == 0
    path = find(home, file)
    path.write_bytes(DAMAGES["one byte flipped in a name"](path.read_bytes()))
    doctor = mooring(home, "mcp", "doctor")
    assert f"{file.says} is damaged, or was edited: its checksum does not match" in doctor.out
    assert 'if you edited it, remove the line with "checksum"' in doctor.out
    if name == "approvals":
        assert _list_approved(home) == set()
    if name == "overlay":
        assert _list_disabled(home) | {"demo"} == {"demo", *NAMES}
        assert mooring(home, "call", "demo.echo", "text=x").code == 2
    if name == "rules":
        refused = mooring(home, "call", "--permission-mode", "ask", "demo.echo", "text=x")
        assert refused.code == 4


def test_a_record_that_a_person_edited_is_read_again_without_its_checksum(home: Home) -> None:
    file = FILES["overlay"]
    assert write(home, file, "p0")[0] == 0
    path = find(home, file)
    record = json.loads(path.read_text())
    del record["checksum"]
    record["user"]["p1"] = False
    path.write_text(json.dumps(record))
    assert _list_disabled(home) == {"p0", "p1"}
    assert write(home, file, "p2")[0] == 0
    assert "checksum" in json.loads(path.read_text())


@each_file
def test_a_full_disk_leaves_what_was_there(home: Home, file: OwnFile) -> None:
    assert write(home, file, "p0")[0] == 0
    command = file.write(home, "p1")
    path = find(home, file)
    before = path.read_bytes()

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = subprocess.run(
        command,
        cwd=home.cwd,
        env={**home.env, **BEHIND},
        input=file.typed.replace("NAME", "p1"),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=fill,
    )
    assert done.returncode != 0
    assert "file too large" in done.stderr
    assert path.read_bytes() == before
    assert not list(path.parent.glob(".*.tmp"))
    assert write(home, file, "p1")[0] == 0
    assert file.read(home) == {"p0", "p1"}


@pytest.mark.parametrize("damage", ["one byte that is no text", "cut off", "empty", "garbage"])
@pytest.mark.parametrize("pattern", [f"{STATE}/catalog.key", ".cache/mooring/catalog/*"])
def test_what_can_be_learned_again_is_rebuilt_without_a_word(home: Home, pattern: str, damage: str) -> None:
    assert mooring(home, "call", "demo.echo", "text=x").code == 0
    for path in home.home.glob(pattern):
        data = DAMAGES[damage](path.read_bytes())
        path.write_bytes(data)
    done = mooring(home, "call", "demo.echo", "text=x")
    assert (done.code, done.out, done.err) == (0, "x\n", "")
    assert "demo" in mooring(home, "tools").out
    for path in home.home.glob(pattern):
        assert path.stat().st_size


@pytest.mark.parametrize("damage", ["empty", "garbage", "one byte that is no text"])
def test_a_damaged_token_is_refused_and_never_replaced_by_another(home: Home, damage: str) -> None:
    path = home.write(f"home/{STATE}/serve-token", "x" * 43)
    path.chmod(0o600)
    path.write_bytes(damaged := DAMAGES[damage](path.read_bytes()))
    done = mooring(home, "serve", "--http", "127.0.0.1:0")
    assert (done.code, path.read_bytes()) == (2, damaged)
    short = home.shorten(path)
    assert done.err == f"mooring: {short}: is damaged; to start a new one: mv {short} {short}.damaged\n"


def test_calls_go_on_where_nothing_can_be_written(home: Home) -> None:
    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = subprocess.run(
        [MOORING, "call", "demo.echo", "text=x"],
        cwd=home.cwd, env={**home.env, **BEHIND}, capture_output=True, text=True, check=False, preexec_fn=fill,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "x\n")
    pins_line, log_line = done.stderr.splitlines()
    assert "has tools that could not be pinned, so changes to them go unnoticed" in pins_line
    assert "The log of calls cannot be used: file too large; calls continue" in log_line
