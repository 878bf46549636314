"""What the real OpenCode runs: commands that were permitted, each once and in its folder, and nothing that it never asked
about."""

import asyncio
import os
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from opencode_talk import OpenCodeHome, Stage, Talk, Turn, do, open_host, play, talk_on
from tests.backends.bridging import Person
from tests.models import Call, FakeModel
from tests.peers import install
from tests.peers.processes import marked

from mooring.backends.opencode.shell import PermittedShell
from mooring.core.conversation.question import Allow, No

pytestmark = pytest.mark.timeout(400)  # a busy machine takes its time to start the program

UNASKED = (
    "> made.txt",
    ">> made.txt",
    "x=1 > made.txt",
    "# nothing\n> made.txt",
    "cd . > made.txt",
    "declare -p HOME >> made.txt",
    "[[ -n x ]] > made.txt",
    "x=$(pwd) > made.txt",
    "$(echo touch made.txt)",
    "{ :; } > made.txt",
)


def run(command: str, **arguments: str) -> Call:
    return Call("bash", {"command": command, **arguments})


def get_shell(talk: Talk) -> PermittedShell:
    running = talk.backend._running
    assert running is not None
    assert running.shell is not None
    return running.shell


async def take_to_its_end(talk: Talk, text: str) -> Turn:
    """Take a turn that may be stopped. As in every conversation, that cancels the task that takes it."""
    turn, working = talk.begin(text)
    talk.bridge.reporter.on_limit = working.cancel
    with suppress(asyncio.CancelledError):
        await working
    talk.bridge.reporter.on_limit = lambda: None
    return turn


def wait_until_only(nonce: str, before: set[int], seconds: float = 10.0) -> set[int]:
    """What a test's processes are besides those that were there before, after a moment."""
    until = time.monotonic() + seconds
    while (more := set(marked(nonce)) - before) and time.monotonic() < until:
        time.sleep(0.02)
    return more


def find_shells(home: OpenCodeHome) -> list[Path]:
    return list((home.home / ".cache" / "mooring" / "shells").glob("*"))


@pytest.mark.parametrize("command", UNASKED)
def test_a_line_is_asked_about_or_not_run(stage: Stage, command: str) -> None:
    made = stage.home.cwd / "made.txt"
    turn = stage.say(do([run(command)], [Call("demo_echo", {"text": "still here"})]), No("Not that."))
    assert not made.exists()
    finished = turn.find_finished("bash")
    assert (finished.success, finished.denied) == (False, True)
    assert ("OpenCode asked no permission" in finished.error) != ("Not that." in finished.error)
    assert turn.failures == []
    # The model reads why, and goes on.
    assert turn.done.reason == "finished"
    assert "echo" in [finished.tool for finished in turn.done.denied]


def test_a_command_that_was_permitted_runs_once_in_its_folder(stage: Stage) -> None:
    (stage.home.cwd / "below").mkdir(exist_ok=True)
    (stage.home.cwd / "way").symlink_to(stage.home.cwd / "below")
    here = run("pwd -P; echo \"it's $0\"; yes | head -1; printf '%s' 'a\nb\\' ü")
    turn = stage.say(do([here, run("pwd -P", workdir="below")], [run("pwd -P", workdir="way")], [run("pwd -P")]))
    printed = [finished.outcome.text.splitlines() for finished in turn.find_all("bash")]
    folder, bash = os.path.realpath(stage.home.cwd), shutil.which("bash", path=stage.home.env["PATH"])
    assert sorted(printed) == sorted(
        [[folder, f"it's {bash}", "y", "a", "b\\ü"], [f"{folder}/below"], [f"{folder}/below"], [folder]]
    )
    assert len(stage.person.asked) == 4


def test_a_permission_is_for_one_line_in_one_folder_once(stage: Stage) -> None:
    (stage.home.cwd / "below").mkdir(exist_ok=True)
    stage.say(do([run("pwd")]))
    shell = get_shell(stage.talk)
    places = {"here": stage.home.cwd / "made.txt", "below": stage.home.cwd / "below" / "made.txt"}
    for permitted, folder in (("> made.txt", "below"), (">  made.txt", ""), ("> made.txt ", ""), (": > made.txt", "")):
        shell.permit("another call", permitted, folder)
        turn = stage.say(do([run("> made.txt")]))
        assert turn.find_finished("bash").denied, permitted
        assert not any(path.exists() for path in places.values())
    # The control: this very line is permitted in this very folder, so it runs. As nobody was asked, the turn ends.
    shell.permit("another call", "> made.txt", "below")
    turn = stage.run(take_to_its_end(stage.talk, do([run("> made.txt", workdir="below")])))
    assert [name for name, path in places.items() if path.exists()] == ["below"]
    assert turn.failures == ["OpenCode ran a command without asking: > made.txt"]
    places["below"].unlink()
    # Nothing is left of it.
    assert stage.say(do([run("> made.txt", workdir="below")])).find_finished("bash").denied
    assert not places["below"].exists()


def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(stage: Stage, nonce: str) -> None:
    before = set(marked(nonce))
    slow = Call("bash", {"command": "sleep 300 & sleep 300; echo late", "timeout": 500})
    turn = stage.say(do([slow]))
    text = turn.find_finished("bash").outcome.text
    assert "exceeding timeout" in text
    assert "late" not in text
    assert wait_until_only(nonce, before) == set()


async def test_conversations_share_no_permissions(tmp_path: Path) -> None:
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model)
        made = home.cwd / "made.txt"
        async with open_host(home) as host, talk_on(host, home) as one, talk_on(host, home) as other:
            await asyncio.gather(one.say(do([run("pwd")])), other.say(do([run("pwd")])))
            assert get_shell(one).path != get_shell(other).path
            assert len(find_shells(home)) == 2
            get_shell(one).permit("a call", "> made.txt", "")
            turn = await other.say(do([run("> made.txt")]))
            assert turn.find_finished("bash").denied
            assert not made.exists()
            await take_to_its_end(one, do([run("> made.txt")]))
            assert made.exists()
        assert find_shells(home) == []


async def test_a_person_s_own_shell_runs_the_commands(tmp_path: Path) -> None:
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model, shell="/bin/sh")
        home.own_env["SHELL"] = "/bin/bash"
        async with open_host(home) as host, talk_on(host, home) as talk:
            turn = await talk.say(do([run("echo $0; > unasked.txt")], [run("> unasked.txt")]))
            assert turn.find_all("bash")[0].outcome.text.strip() == "/bin/sh"


async def test_where_the_shell_is_not_ours_a_command_that_ran_unasked_ends_the_turn_and_is_told(tmp_path: Path) -> None:
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model)
        # What an organization says is merged over everything else.
        home.write("managed/opencode.json", {"shell": "/bin/sh"})
        home.own_env["OPENCODE_TEST_MANAGED_CONFIG_DIR"] = str(home.folder / "managed")
        person = Person(Allow("once"))
        async with open_host(home) as host, talk_on(host, home, person) as talk:
            turn = await take_to_its_end(talk, do([run("> made.txt")]))
            assert (home.cwd / "made.txt").exists()
            assert turn.failures == ["OpenCode ran a command without asking: > made.txt"]
            assert turn.done.reason == "failed"
            assert person.asked == []
            asked = await talk.say(do([run("echo $0")]))
            assert asked.find_all("bash")[-1].outcome.text.strip() == "/bin/sh"


def test_the_command_runs_nothing_unasked_either(tmp_path: Path) -> None:
    """Through `mooring chat -p`, where nobody can be asked, with a rule that allows one command."""
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model)
        calls = [run("> unasked.txt")], [run("echo x > asked.txt")], [run("touch ruled.txt")]
        command = [install.mooring("backends"), "chat", "-b", "opencode", "--allow", "Bash(touch *)", "-p", do(*calls)]
        done = subprocess.run(command, cwd=home.cwd, env=home.env, capture_output=True, text=True, check=False)
        assert "All done." in done.stdout, done.stderr
        made = [name for name in ("unasked.txt", "asked.txt", "ruled.txt") if (home.cwd / name).exists()]
        assert made == ["ruled.txt"]
        assert "OpenCode asked no permission" in done.stderr
        assert find_shells(home) == []
