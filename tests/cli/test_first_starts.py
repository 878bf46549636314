"""Servers whose tools were never seen, in an empty home: what `chat -p` waits for, what it remembers, what it says."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.backends.program_talk import patient
from tests.models import FakeModel, Say

from agent.doors import ask_command
from backends.asking import MODELS, variables
from mooring.testing import Issuer, Site
from mooring.testing.site import ReceivedRequest
from support import DEMO, Actor, Home, running
from warm import WarmProcess, run_mooring, start_mooring

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]

SETTINGS = "home/.config/mooring/settings.json"


def list_shown(fake: FakeModel, request: int = 0) -> Sequence[str]:
    """The servers whose tools the model was shown with a request."""
    names = [name for name in fake.requests[request].tool_names if name.startswith("mcp__")]
    return sorted({name.split("__")[1] for name in names})


def write_launcher(path: Path, actor: Actor) -> dict[str, Any]:
    """The entry of a server that is started by a launcher of this path."""
    command, *args = (actor.entry["command"], *actor.entry["args"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nexec {command} {' '.join(args)}\n")
    path.chmod(0o755)
    return {"command": str(path), "args": ["-y", "some-package"]}


@contextmanager
def begin_command(home: Home, fake: FakeModel) -> Iterator[WarmProcess | subprocess.Popen[bytes]]:
    """`mooring chat -p` as a process that goes on beside the test."""
    process = start_mooring(
        ["chat", "-m", MODELS["anthropic"], "-p", "Go"],
        cwd=home.cwd,
        env={**home.env, **variables(fake), "NONCE": str(home.folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_start(actor: Actor) -> None:
    until = time.monotonic() + 100
    while not actor.done("starts"):
        assert time.monotonic() < until, "the server was not started"
        time.sleep(0.02)


# --- servers that come ------------------------------------------------------------------------------------------------


def test_a_server_that_takes_three_seconds_has_its_tools_in_the_first_run(home: Home, tmp_path: Path) -> None:
    late = Actor(tmp_path / "late.json", late=3)
    home.configure(late=late.entry)
    with FakeModel([Say("Done."), Say("Done.")]) as fake:
        first = ask_command(home, fake, "-p", "Go")
        second = ask_command(home, fake, "-p", "Go")
    assert (first.code, first.out, first.err) == (0, "Done.\n", "")
    assert (second.code, second.out, second.err) == (0, "Done.\n", "")
    assert [list_shown(fake, 0), list_shown(fake, 1)] == [["late"], ["late"]]
    # What is remembered is not even started, as long as it is not called.
    assert len(late.done("starts")) == 1


@pytest.mark.timeout(240)
def test_a_server_that_takes_fifteen_seconds_is_remembered_after_the_answer(home: Home, tmp_path: Path) -> None:
    late = Actor(tmp_path / "late.json", late=15)
    home.configure(late=late.entry)
    with FakeModel([Say("Done."), Say("Done.")]) as fake:
        first = ask_command(home, fake, "-p", "Go")
        second = ask_command(home, fake, "-p", "Go")
    # It works in the end, so nobody is warned of it.
    assert (first.code, first.out, first.err) == (0, "Done.\n", "")
    assert (second.code, second.out, second.err) == (0, "Done.\n", "")
    assert [list_shown(fake, 0), list_shown(fake, 1)] == [[], ["late"]]


@pytest.mark.timeout(240)
def test_a_first_start_that_installs_may_take_six_times_as_long(home: Home, tmp_path: Path) -> None:
    home.write(SETTINGS, {"serverWait": 4})
    npx = write_launcher(tmp_path / "bin" / "npx", Actor(tmp_path / "npx.json", late=8))
    home.configure(installed=npx, plain=Actor(tmp_path / "plain.json", late=60).entry)
    with FakeModel([Say("Done.")]) as fake:
        done = ask_command(home, fake, "-p", "Go")
    assert done.code == 0, done.err
    assert list_shown(fake) == ["installed"]
    assert "plain did not connect within 4 s" in done.err
    assert "installed" not in done.err


def test_twenty_servers_that_are_new_are_all_there(home: Home, tmp_path: Path) -> None:
    names = [f"s{number:02}" for number in range(20)]
    home.configure(**{name: Actor(tmp_path / f"{name}.json", late=0.2).entry for name in names})
    with FakeModel([Say("Done.")]) as fake:
        done = ask_command(home, fake, "-p", "Go")
    assert (done.code, done.err) == (0, "")
    assert list_shown(fake) == names


def test_two_conversations_at_once_both_wait_for_a_server_that_is_new(home: Home, tmp_path: Path) -> None:
    late = Actor(tmp_path / "late.json", late=2)
    home.configure(late=late.entry)
    with (
        FakeModel([Say("Done."), Say("Done.")]) as fake,
        begin_command(home, fake) as one,
        begin_command(home, fake) as two,
    ):
        assert [process.communicate(timeout=120) for process in (one, two)] == [(b"Done.\n", b"")] * 2
        assert [list_shown(fake, 0), list_shown(fake, 1)] == [["late"], ["late"]]
    assert len(late.done("starts")) == 2


# --- servers that don't -----------------------------------------------------------------------------------------------


def test_a_server_that_crashes_is_named_as_crashed_and_the_others_are_there(home: Home, tmp_path: Path) -> None:
    crash = {"command": "sh", "args": ["-c", "echo no database >&2; exit 3"]}
    home.configure(demo=DEMO, crash=crash, absent={"command": "no-such-program"})
    with FakeModel([Say("Done.")]) as fake:
        done = ask_command(home, fake, "-p", "Go")
    assert (done.code, done.out) == (0, "Done.\n")
    assert list_shown(fake) == ["demo"]
    absent, crashed = done.err.splitlines()
    assert "no-such-program" in absent
    assert crashed.startswith("Warning: MCP startup error: crash ended with exit code 3 before it answered")
    assert "no database" in crashed
    assert crashed.endswith("`mooring mcp test crash` shows more.")
    assert "within" not in done.err


def test_a_server_that_failed_lately_is_tried_but_not_waited_for(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json", die=True)
    home.configure(actor=actor.entry)
    with FakeModel([Say("Done.")] * 3) as fake:
        first = ask_command(home, fake, "-p", "Go")
        actor.tell(late=600)
        second = ask_command(home, fake, "-p", "Go")
        actor.tell()
        assert home_cli(home, "tools", "actor").returncode == 0
        third = ask_command(home, fake, "-p", "Go")
    assert "actor ended with exit code" in first.err
    # It hangs now, and would have been waited for: the cause is still that of the first run.
    assert "actor ended with exit code" in second.err
    assert " ago; `mooring tools actor` tries again." in second.err
    assert (third.err, list_shown(fake, 2)) == ("", ["actor"])


def test_a_server_that_ran_out_of_time_is_not_waited_for_again(home: Home, tmp_path: Path) -> None:
    home.write(SETTINGS, {"serverWait": 1})
    home.configure(slow=Actor(tmp_path / "slow.json", late=600).entry)
    with FakeModel([Say("Done.")] * 2) as fake:
        first = ask_command(home, fake, "-p", "Go")
        home.write(SETTINGS, {"serverWait": 0.5})
        second = ask_command(home, fake, "-p", "Go")
    waited = "slow did not connect within 1 s"
    assert f"{waited} and was not waited for any longer; `mooring tools slow` waits until it does." in first.err
    assert waited in second.err
    assert " ago; `mooring tools slow` tries again." in second.err


def test_a_server_that_needs_an_input_or_an_approval_is_named_and_not_waited_for(home: Home) -> None:
    entry = {"type": "stdio", **DEMO, "env": {"TOKEN": "${input:token}"}}
    inputs = [{"type": "promptString", "id": "token", "description": "Your token"}]
    home.write("home/.config/Code/User/mcp.json", {"inputs": inputs, "servers": {"vault": entry}})
    home.write("project/.mcp.json", {"mcpServers": {"theirs": DEMO}})
    with FakeModel([Say("Done.")]) as fake:
        done = ask_command(home, fake, "-p", "Go")
    assert (done.code, list_shown(fake)) == (0, [])
    assert "vault" in done.err
    assert "token" in done.err
    assert "The project's files define theirs. To look and decide: mooring mcp approve --all" in done.err
    assert "within" not in done.err


@pytest.mark.timeout(240)
@patient
async def test_a_server_that_needs_a_login_is_named_and_not_waited_for(home: Home) -> None:
    async def refuse_later(heard: ReceivedRequest) -> None:
        await asyncio.sleep(600)

    async with Issuer() as issuer, Site(issuer=issuer) as site:
        home.configure(web={"type": "http", "url": site.url})
        with FakeModel([Say("Done.")] * 2) as fake:
            first = await asyncio.to_thread(ask_command, home, fake, "-p", "Go")
            site.issuer = None
            site.answers |= {"initialize": refuse_later, "server/discover": refuse_later}
            second = await asyncio.to_thread(ask_command, home, fake, "-p", "Go")
    assert (first.code, first.out) == (0, "Done.\n")
    assert first.err == "Warning: MCP startup error: web requires a login. Log in with: mooring mcp login web\n"
    # It hangs now, and would have been waited for: the cause is still that of the first run.
    assert (second.code, second.out) == (0, "Done.\n")
    assert "web requires a login" in second.err
    assert "mooring mcp login web" in second.err
    assert "within" not in second.err


# --- Ctrl+C -----------------------------------------------------------------------------------------------------------


def test_an_interrupt_ends_the_wait_and_the_command(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json", late=600)
    home.configure(actor=actor.entry)
    with FakeModel([]) as fake, begin_command(home, fake) as process:
        wait_for_start(actor)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (130, b""), err
        assert fake.requests == []
    assert b"Traceback" not in err
    assert running(f"NONCE={home.folder}") == []


def test_an_interrupt_after_the_answer_ends_the_first_start_that_is_under_way(home: Home, tmp_path: Path) -> None:
    home.write(SETTINGS, {"serverWait": 1})
    actor = Actor(tmp_path / "actor.json", late=600)
    npx = write_launcher(tmp_path / "bin" / "npx", actor)
    home.configure(installed=npx)
    with FakeModel([Say("Done.")]) as fake, begin_command(home, fake) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"Done.\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    assert running(f"NONCE={home.folder}") == []


def home_cli(home: Home, *words: str) -> subprocess.CompletedProcess[str]:
    return run_mooring(*words, cwd=home.cwd, env=home.env)
