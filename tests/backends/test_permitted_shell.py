"""The shell that OpenCode is given: beside the shell itself, for whatever was permitted, and for whatever was not."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mooring.backends.opencode.permitted import NOT_EXECUTED, REFUSAL
from mooring.backends.opencode.shell import PermittedShell, find_real_shell, make_shell

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no guard on Windows, and no OpenCode here")
ENV = {"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "OTHER": "a b"}


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[PermittedShell]:
    (tmp_path / "project" / "below").mkdir(parents=True)
    shell = make_shell(str(tmp_path / "a cache's"), ENV, str(tmp_path / "project"))
    assert shell is not None
    yield shell
    shell.close()
    assert not os.path.exists(shell.path)


def run(shell: str, command: str, cwd: Path, env: Mapping[str, str] = ENV) -> tuple[int, bytes, bytes]:
    """What a shell makes of a command, started as OpenCode does."""
    done = subprocess.run(
        [shell, "-c", command], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, start_new_session=True
    )
    return done.returncode, done.stdout, done.stderr


COMMANDS = (
    "pwd; echo $0 $# $-",
    "exit 7",
    "kill -9 $$",
    "yes | head -1",
    "trap '' PIPE; trap",
    "nosuchcommand",
    "cat; echo \"it's\" 'a \"b\"' $'x' `echo y` \\\\",
    "cd below && pwd",
    "echo 'a\nb\n\n' ü \t *",
    "env | grep -v '^_=\\|SHLVL' | sort",
    "umask; ulimit -n; ps -o pgid= -p $$ | tr -d ' ' | grep -qx $$ && echo leads",
    f"echo {'x' * 100_000} | wc -c",
    "",
    " ",
    "-c",
)


@pytest.mark.parametrize("command", COMMANDS, ids=range(len(COMMANDS)))
@pytest.mark.parametrize(
    "extra", [{}, {"LC_ALL": "C"}, {"LC_CTYPE": "C"}, {"LC_CTYPE": "C.UTF-8", "LANG": "C"}], ids=str
)
def test_what_was_permitted_runs_as_in_the_shell_itself(
    shell: PermittedShell, tmp_path: Path, command: str, extra: Mapping[str, str]
) -> None:
    env, project = {**ENV, **extra}, tmp_path / "project"
    shell.permit("1", command, "")
    assert run(shell.path, command, project, env) == run("/bin/sh", command, project, env)


def test_nothing_else_runs(shell: PermittedShell, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "way").symlink_to(project / "below")
    shell.permit("1", "touch made", "below")
    refused = (NOT_EXECUTED, b"", f"{REFUSAL}\n".encode())
    for command, place in (("touch made", project), ("touch made ", project / "below"), ("> made", project / "below")):
        assert run(shell.path, command, place) == refused
    for words in ([], ["touch made"], ["-lc", "touch made"], ["-c", "touch made", "x"], ["-i"]):
        done = subprocess.run([shell.path, *words], cwd=project / "below", env=ENV, input=b"touch made", check=False)
        assert done.returncode == NOT_EXECUTED
    assert list(project.rglob("made")) == []
    # The control, by another way to the same folder; then it is used up.
    assert run(shell.path, "touch made", project / "way") == (0, b"", b"")
    assert (project / "below" / "made").exists()
    assert run(shell.path, "touch made", project / "below") == refused


def test_what_is_withdrawn_or_of_an_earlier_turn_does_not_run(shell: PermittedShell, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shell.permit("1", "echo x", "")
    shell.withdraw("1")
    assert run(shell.path, "echo x", project)[0] == NOT_EXECUTED
    shell.permit("2", "echo x", "")
    shell.end_turn()
    assert run(shell.path, "echo x", project)[0] == NOT_EXECUTED
    shell.permit("2", "echo x", "")
    shell.permit("2", "echo x", "")
    assert run(shell.path, "echo x", project)[0] == 0
    assert run(shell.path, "echo x", project)[0] == NOT_EXECUTED


def test_of_many_at_once_as_many_run_as_were_permitted(shell: PermittedShell, tmp_path: Path) -> None:
    for number in range(5):
        shell.permit(str(number), "echo x", "")
    with ThreadPoolExecutor(8) as workers:
        ends = list(workers.map(lambda _: run(shell.path, "echo x", tmp_path / "project")[0], range(16)))
    assert ends.count(0) == 5


def test_a_signal_to_its_group_ends_it_with_all_that_it_started(shell: PermittedShell, tmp_path: Path) -> None:
    command = "sleep 300 & sleep 300 & echo $!; wait"
    shell.permit("1", command, "")
    started = subprocess.Popen(
        [shell.path, "-c", command], cwd=tmp_path / "project", env=ENV, stdout=subprocess.PIPE, start_new_session=True
    )
    assert started.stdout is not None
    assert started.stdout.readline().strip().isdigit()
    os.killpg(started.pid, signal.SIGTERM)
    assert started.wait(100) == -signal.SIGTERM
    # Whoever is left would hold the pipe open.
    assert started.stdout.read() == b""
    started.stdout.close()


@pytest.mark.parametrize(
    ("env", "found"),
    [
        ({"SHELL": "/bin/sh"}, "/bin/sh"),
        ({"SHELL": "/usr/bin/fish"}, "bash"),
        ({"SHELL": "/nowhere/zsh"}, "bash"),
        ({}, "bash"),
        ({"SHELL": "/nowhere", "OPENCODE_CONFIG_CONTENT": '{"shell": "/bin/sh"}'}, "/bin/sh"),
        ({"OPENCODE_CONFIG_CONTENT": '{"shell": "sh"}'}, "/usr/bin/sh"),
    ],
)
def test_the_shell_is_the_one_that_opencode_would_use(env: Mapping[str, str], found: str) -> None:
    real = find_real_shell({"PATH": "/usr/bin:/bin", **env})
    assert found in (real, os.path.basename(real))


@pytest.mark.parametrize(
    "env",
    [
        {"PATH": ".:tools:/usr/bin:/bin"},
        {"SHELL": "tools/bash"},
        {"SHELL": "bash", "PATH": ":tools:/usr/bin:/bin"},
        {"OPENCODE_CONFIG_CONTENT": '{"shell": "./bash"}'},
    ],
)
def test_the_shell_is_never_a_program_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, env: Mapping[str, str]
) -> None:
    for path in (tmp_path / "bash", tmp_path / "tools/bash"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\ntouch ran\n")
        path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    shell = make_shell(str(tmp_path / "cache"), {"PATH": "/usr/bin:/bin", **env}, str(tmp_path))
    assert shell is not None
    shell.permit("one", "true", "")
    subprocess.run([shell.path, "-c", "true"], env=ENV, check=True)
    assert not (tmp_path / "ran").exists()


def test_where_none_can_be_made_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    assert make_shell(str(tmp_path / "cache"), ENV, str(tmp_path)) is None
    assert make_shell(str(tmp_path / "other"), ENV, str(tmp_path)) is not None


def test_what_a_killed_conversation_left_is_removed_in_the_end(tmp_path: Path) -> None:
    left, kept, new = (make_shell(str(tmp_path), ENV, str(tmp_path)) for _ in range(3))
    assert left is not None
    assert kept is not None
    assert new is not None
    os.utime(os.path.join(os.path.dirname(left.path), "permitted"), (0, 0))
    assert make_shell(str(tmp_path), ENV, str(tmp_path)) is not None
    assert [os.path.exists(each.path) for each in (left, kept, new)] == [False, True, True]
