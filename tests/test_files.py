"""Disk as Mooring meets it: odd files, crashes in the middle, full disks, and other processes at the same file."""

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import dedent
from typing import Any, TypeVar

import pytest

from mooring import files
from mooring.errors import FileError
from support import umask

T = TypeVar("T")

PATIENCE = 100.0
HOUR = 3600
NOBODY = 65534

# What a child needs before it gives its rights away: the folder of the sources may be closed to others.
PRELUDE = """
import errno, fcntl, json, os, sys
from mooring import files
from mooring.files import write
from mooring.errors import FileError
"""
DROP = f"""
if os.getuid() == 0:
    os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
"""
# Counts the calls that change a disk, and does `strike(name)` before or after the one whose turn it is.
COUNTED = """
def count(strike, turn, moment="before"):
    made = []
    def wrapped(name, real):
        def call(*args, **options):
            made.append(name)
            mine = len(made) == turn
            if mine and moment == "before":
                strike(name)
            if name == "write":
                args = (args[0], args[1][:4096])
            result = real(*args, **options)
            if mine and moment == "after":
                strike(name)
            return result
        return call
    for name in ("open", "write", "fchmod", "fsync", "close", "replace"):
        setattr(os, name, wrapped(name, getattr(os, name)))
    return made
"""

OLD = b"old " * 4000
NEW = b"NEW " * 5000


def soon(act: Callable[[], T]) -> T:
    """What `act` gives or raises; fails when it has done neither after a while."""
    made: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            made.append(act())
        except BaseException as error:  # noqa: BLE001 - raised again below, in the thread of the test
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive(), "it hangs"
    if raised:
        raise raised[0]
    return made[0]


def child(code: str, *args: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PRELUDE + code, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE * 3)


def told(code: str, *args: object) -> Any:
    """What a child printed, as JSON."""
    done = child(code, *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(FileError) as caught:
        soon(act)
    return caught.value.reason


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that an unprivileged process can enter and owns, which `tmp_path` is not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    if os.getuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    try:
        yield folder
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


# --- read ---------------------------------------------------------------------------------------------------


def test_the_door_has_every_name_that_it_promises_and_no_other() -> None:
    assert all(callable(getattr(files, name)) for name in files.__all__ if name != "LIMIT")
    assert not hasattr(files, "no_such_name")


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a\r\n\x00\xff" * 1000)
    assert files.read(str(tmp_path / "f")) == b"a\r\n\x00\xff" * 1000


def test_an_empty_file_is_empty_and_not_missing(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    assert files.read(str(tmp_path / "f")) == b""


def test_a_missing_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    assert files.read(str(tmp_path / "f")) is None
    assert files.read(str(tmp_path / "no" / "folder")) is None
    assert files.read(str(tmp_path / "file" / "below")) is None
    assert files.read(str(tmp_path / "dangling")) is None


def test_a_named_pipe_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    assert refusal(lambda: files.read(str(tmp_path / "f"))) == "is a named pipe, not a file"


def test_a_named_pipe_with_a_writer_is_refused_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    both = os.open(tmp_path / "f", os.O_RDWR)
    try:
        os.write(both, b"data")
        assert refusal(lambda: files.read(str(tmp_path / "f"))) == "is a named pipe, not a file"
        assert os.read(both, 10) == b"data"
    finally:
        os.close(both)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert refusal(lambda: files.read(str(tmp_path))) == "is a folder, not a file"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_refused(device: str) -> None:
    assert refusal(lambda: files.read(device)) == "is a device, not a file"


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the whole path is too long for a socket's address
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert "socket" in refusal(lambda: files.read(str(tmp_path / "s")))


def test_a_link_to_a_file_is_read_and_a_link_to_a_pipe_is_not(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"data")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "good").symlink_to("file")
    (tmp_path / "bad").symlink_to("pipe")
    assert files.read(str(tmp_path / "good")) == b"data"
    assert refusal(lambda: files.read(str(tmp_path / "bad"))) == "is a named pipe, not a file"


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").symlink_to("f")
    assert "a link that leads to itself" in refusal(lambda: files.read(str(tmp_path / "f")))


@pytest.mark.parametrize("path", ["a\0b", "\0", "/\udfff\ud800", "x" * 5000])
def test_a_path_that_no_file_can_have_is_refused(path: str) -> None:
    assert refusal(lambda: files.read(path))


def test_an_unreadable_file_is_refused_as_such(open_folder: Path) -> None:
    (open_folder / "open").write_bytes(b"open")
    (open_folder / "closed").write_bytes(b"closed")
    (open_folder / "open").chmod(0o444)
    (open_folder / "closed").chmod(0)
    code = """
        answers = []
        for path in sys.argv[1:]:
            try:
                answers.append(files.read(path).decode())
            except FileError as error:
                answers.append(error.reason)
        print(json.dumps(answers))
    """
    answers = told(DROP + dedent(code), open_folder / "open", open_folder / "closed")
    assert answers == ["open", "cannot be opened: permission denied"]


def test_a_file_may_have_exactly_the_limit_and_not_a_byte_more(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 1000)
    assert files.read(str(tmp_path / "f"), 1000) == b"x" * 1000
    assert refusal(lambda: files.read(str(tmp_path / "f"), 999)) == "is larger than 999 bytes"


def test_the_limit_is_one_mebibyte_unless_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 1024 * 1024)
    assert len(files.read(str(tmp_path / "f")) or b"") == 1024 * 1024
    (tmp_path / "f").write_bytes(b"x" * (1024 * 1024 + 1))
    assert refusal(lambda: files.read(str(tmp_path / "f"))) == "is larger than 1 MiB"


def test_a_huge_sparse_file_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "f").open("wb") as file:
        file.truncate(1 << 40)
    assert refusal(lambda: files.read(str(tmp_path / "f"))) == "is larger than 1 MiB"


def test_a_file_that_grows_for_ever_is_read_no_further_than_the_limit(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 10)
    code = """
        path, total, real = sys.argv[1], 0, os.read
        def growing(handle, size):
            global total
            with open(path, "ab") as file:
                file.write(b"x" * 300)
            data = real(handle, min(size, 300))
            total += len(data)
            return data
        os.read = growing
        try:
            files.read(path, 1000)
        except FileError as error:
            print(json.dumps([error.reason, total]))
    """
    assert told(dedent(code), tmp_path / "f") == ["is larger than 1000 bytes", 1001]


def test_reading_leaves_no_file_open(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 100)
    os.mkfifo(tmp_path / "pipe")
    first = os.open(tmp_path / "f", os.O_RDONLY)
    os.close(first)
    for path, limit in (("f", 100), ("f", 10), ("pipe", 10), ("missing", 10)):
        with suppress(FileError):
            files.read(str(tmp_path / path), limit)
    again = os.open(tmp_path / "f", os.O_RDONLY)
    os.close(again)
    assert again == first


# --- write --------------------------------------------------------------------------------------------------


def test_a_write_replaces_the_contents_and_leaves_nothing_else(tmp_path: Path) -> None:
    for data in (OLD, b"", NEW):
        files.write(str(tmp_path / "f"), data)
        assert (tmp_path / "f").read_bytes() == data
    assert names(tmp_path) == ["f"]


@pytest.mark.parametrize("bits", [0, 0o022, 0o077])
def test_a_new_file_is_its_owners_alone_whatever_the_umask(tmp_path: Path, bits: int) -> None:
    with umask(bits):
        files.write(str(tmp_path / "below" / "f"), NEW)
    assert mode(tmp_path / "below" / "f") == 0o600
    assert mode(tmp_path / "below") == 0o700


@pytest.mark.parametrize("kept", [0o600, 0o644, 0o640, 0o755, 0o400])
def test_an_existing_file_keeps_its_mode(tmp_path: Path, kept: int) -> None:
    (tmp_path / "f").write_bytes(OLD)
    (tmp_path / "f").chmod(kept)
    with umask(0):
        files.write(str(tmp_path / "f"), NEW)
    assert mode(tmp_path / "f") == kept
    assert (tmp_path / "f").read_bytes() == NEW


def test_a_linked_dotfile_stays_a_link_and_its_target_changes(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "real").write_bytes(OLD)
    (tmp_path / "link").symlink_to("dotfiles/real")
    files.write(str(tmp_path / "link"), NEW)
    assert os.readlink(tmp_path / "link") == "dotfiles/real"
    assert (tmp_path / "dotfiles" / "real").read_bytes() == NEW
    assert names(tmp_path) == ["dotfiles", "link"]
    assert names(tmp_path / "dotfiles") == ["real"]


def test_a_link_to_nothing_yet_gets_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("dotfiles/real")
    files.write(str(tmp_path / "link"), NEW)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "dotfiles" / "real").read_bytes() == NEW


def test_another_name_of_the_same_file_keeps_the_old_contents(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(OLD)
    os.link(tmp_path / "f", tmp_path / "backup")
    files.write(str(tmp_path / "f"), NEW)
    assert (tmp_path / "backup").read_bytes() == OLD


def test_the_new_file_is_made_in_the_folder_of_the_one_it_replaces(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "link").symlink_to("dotfiles/f")
    (tmp_path / "dotfiles" / "f").write_bytes(OLD)
    crash(tmp_path / "link", "before", turn=3)
    (left,) = set(names(tmp_path / "dotfiles")) - {"f"}
    assert left.startswith(".f.")
    assert left.endswith(".tmp")
    assert mode(tmp_path / "dotfiles" / left) == 0o600
    assert names(tmp_path) == ["dotfiles", "link"]


@pytest.mark.parametrize("path", ["folder", "loop", "file/below", "a\0b", "x" * 300])
def test_what_cannot_be_written_is_refused_and_nothing_is_left(tmp_path: Path, path: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_bytes(OLD)
    before = names(tmp_path)
    assert refusal(lambda: files.write(str(tmp_path / path), NEW))
    assert names(tmp_path) == before
    assert (tmp_path / "file").read_bytes() == OLD


@pytest.mark.parametrize("linked", [False, True])
def test_a_write_never_puts_a_file_in_the_place_of_a_pipe_or_device(tmp_path: Path, linked: bool) -> None:
    """A settings file linked to /dev/null is common, and root could replace /dev/null."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    assert refusal(lambda: files.write(str(tmp_path / ("link" if linked else "pipe")), NEW))
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert names(tmp_path) == ["link", "pipe"]


def test_a_read_only_folder_keeps_its_file_and_gains_nothing(open_folder: Path) -> None:
    (open_folder / "f").write_bytes(OLD)
    open_folder.chmod(0o555)
    code = """
        try:
            files.write(sys.argv[1], b"new")
            print(json.dumps("written"))
        except FileError as error:
            print(json.dumps(error.reason))
    """
    assert "permission denied" in told(DROP + dedent(code), open_folder / "f")
    assert (open_folder / "f").read_bytes() == OLD
    assert names(open_folder) == ["f"]


def test_an_unprivileged_process_writes_its_own_folder(open_folder: Path) -> None:
    code = """
        files.write(sys.argv[1], b"new")
        print(json.dumps(os.getuid() != 0))
    """
    assert told(DROP + dedent(code), open_folder / "f") is True
    assert (open_folder / "f").read_bytes() == b"new"


def crash(path: Path, moment: str, turn: int) -> int:
    code = """
        count(lambda name: os._exit(9), int(sys.argv[2]), sys.argv[3])
        files.write(sys.argv[1], b"NEW " * 5000)
    """
    done = child(COUNTED + dedent(code), path, turn, moment)
    assert done.returncode in (0, 9), done.stderr
    return done.returncode


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_writer_killed_at_any_step_leaves_the_old_file_or_the_new_one(tmp_path: Path, moment: str) -> None:
    path, seen = tmp_path / "f", []
    path.write_bytes(OLD)
    turn = 1
    while crash(path, moment, turn) == 9:
        seen.append(path.read_bytes())
        path.write_bytes(OLD)
        turn += 1
    assert path.read_bytes() == NEW
    assert turn > 10, "the writer made fewer steps than a whole write has"
    assert {OLD, NEW} == set(seen)
    assert seen == sorted(seen, reverse=True), "once the new file is there it stays"


def test_what_a_killed_writer_left_is_swept_after_an_hour_and_no_sooner(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(OLD)
    crash(path, "before", 3)
    (left,) = set(names(tmp_path)) - {"f"}
    other = tmp_path / ".g.0123456789abcdef.tmp"
    other.touch()
    os.utime(other, (0, 0))
    os.utime(tmp_path / left, (time.time() - HOUR + 60,) * 2)
    files.write(str(path), NEW)
    assert names(tmp_path) == sorted([left, other.name, "f"])
    os.utime(tmp_path / left, (time.time() - HOUR - 60,) * 2)
    files.write(str(path), OLD)
    assert names(tmp_path) == [other.name, "f"]


@pytest.mark.parametrize("fault", ["ENOSPC", "EIO", "EROFS", "EDQUOT"])
def test_a_disk_that_fails_at_any_step_is_an_error_and_leaves_no_temporary_file(tmp_path: Path, fault: str) -> None:
    code = """
        path, number = sys.argv[1], getattr(errno, sys.argv[2])
        def fail(name):
            raise OSError(number, os.strerror(number))
        real = {name: getattr(os, name) for name in ("open", "write", "fchmod", "fsync", "close", "replace")}
        rounds, done = [], False
        while not done:
            with open(path, "wb") as file:
                file.write(b"old " * 4000)
            made = count(fail, len(rounds) + 1)
            try:
                files.write(path, b"NEW " * 5000)
                done = True
            except FileError as error:
                reason = error.reason
            for name in real:
                setattr(os, name, real[name])
            with open(path, "rb") as file:
                content = file.read()
            told = "done" if done else reason
            rounds.append([told, made, content[:4].decode(), len(content), os.listdir(os.path.dirname(path))])
        print(json.dumps(rounds))
    """
    rounds = told(COUNTED + dedent(code), tmp_path / "f", fault)
    assert len(rounds) > 10, "the writer made fewer steps than a whole write has"
    assert rounds.pop()[0] == "done"
    for reason, made, start, size, left in rounds:
        replaced = "replace" in made[:-1]
        assert (start, size) == (("NEW ", len(NEW)) if replaced else ("old ", len(OLD))), made
        assert left == ["f"], made
        assert reason not in ("", "done"), made


def test_two_writers_at_once_leave_one_of_their_files_whole(tmp_path: Path) -> None:
    code = """
        for _ in range(50):
            files.write(sys.argv[1], sys.argv[2].encode() * 20000)
    """
    command = [sys.executable, "-c", PRELUDE + dedent(code), str(tmp_path / "f")]
    writers = [subprocess.Popen([*command, letter]) for letter in "ab"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        seen.add(files.read(str(tmp_path / "f")))
    assert [writer.returncode for writer in writers] == [0, 0]
    seen.add(files.read(str(tmp_path / "f")))
    assert seen <= {None, b"a" * 20000, b"b" * 20000}
    assert names(tmp_path) == ["f"]


# --- locked -------------------------------------------------------------------------------------------------

HOLD = """
with files.locked(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A child that holds the lock until its input ends."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", PRELUDE + HOLD, str(path)], stdin=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_processes_that_hold_the_lock_exclude_each_other(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("0")
    code = """
        print("ready", flush=True)
        sys.stdin.read()
        for _ in range(200):
            with files.locked(sys.argv[1], 60):
                with open(sys.argv[1]) as file:
                    number = int(file.read())
                os.sched_yield()
                with open(sys.argv[1], "w") as file:
                    file.write(str(number + 1))
    """
    command = [sys.executable, "-c", PRELUDE + dedent(code), str(tmp_path / "count")]
    pipe = subprocess.PIPE
    counters = [subprocess.Popen(command, stdin=pipe, stdout=pipe) for _ in range(4)]
    try:
        assert [counter.stdout and counter.stdout.readline() for counter in counters] == [b"ready\n"] * 4
        for counter in counters:
            assert counter.stdin is not None
            counter.stdin.close()
        assert [counter.wait(PATIENCE * 4) for counter in counters] == [0] * 4
    finally:
        for counter in counters:
            counter.kill()
            counter.wait()
            assert counter.stdout is not None
            counter.stdout.close()
    assert (tmp_path / "count").read_text() == "800"


def test_a_lock_held_too_long_is_an_error(tmp_path: Path) -> None:
    with holder(tmp_path / "f"):

        def take() -> None:
            with files.locked(str(tmp_path / "f"), 0.05):
                pass

        assert refusal(take) == "has been locked by another process for more than 0.05 seconds"


def test_the_lock_of_a_killed_holder_is_free(tmp_path: Path) -> None:
    with holder(tmp_path / "f") as process:
        process.kill()
        process.wait(PATIENCE)
        with files.locked(str(tmp_path / "f"), 0):
            assert process.returncode == -9


def test_a_waiting_process_gets_the_lock_when_it_is_let_go(tmp_path: Path) -> None:
    with holder(tmp_path / "f") as process:
        assert process.stdin is not None
        process.stdin.close()
        with files.locked(str(tmp_path / "f"), PATIENCE):
            assert process.wait(PATIENCE) == 0


def test_a_file_and_a_link_to_it_have_one_lock(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("f")
    with holder(tmp_path / "f"), pytest.raises(FileError), files.locked(str(tmp_path / "link"), 0):
        pass


def test_the_lock_is_let_go_when_its_body_fails_and_the_failure_passes_through(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="of the body"), files.locked(str(tmp_path / "f"), 0):
        raise OSError("of the body")
    with files.locked(str(tmp_path / "f"), 0):
        assert (tmp_path / ".f.lock").exists()


def test_a_lock_neither_makes_nor_changes_the_file_it_goes_with(tmp_path: Path) -> None:
    with files.locked(str(tmp_path / "f")):
        assert names(tmp_path) == [".f.lock"]
        assert mode(tmp_path / ".f.lock") == 0o600


def test_a_lock_never_follows_a_link_planted_in_its_place(tmp_path: Path) -> None:
    (tmp_path / ".f.lock").symlink_to("planted")

    def take() -> None:
        with files.locked(str(tmp_path / "f"), 0):
            pass

    assert refusal(take)
    assert names(tmp_path) == [".f.lock"]


def test_a_path_that_no_file_can_have_cannot_be_locked() -> None:
    def take() -> None:
        with files.locked("a\0b", 0):
            pass

    assert refusal(take) == "is not a usable path"


def test_a_file_system_without_locks_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    code = """
        def none(handle, flags):
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
        fcntl.flock = none
        try:
            with files.locked(sys.argv[1]):
                pass
        except FileError as error:
            print(json.dumps(error.path))
    """
    assert told(dedent(code), tmp_path / "f") == str(tmp_path / "f")


# --- which --------------------------------------------------------------------------------------------------


def executable(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_a_bare_command_is_the_first_executable_file_along_the_path(tmp_path: Path) -> None:
    (tmp_path / "a" / "tool").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "tool").write_text("not executable")
    (tmp_path / "b" / "tool").chmod(0o644)
    found = executable(tmp_path / "c" / "tool")
    executable(tmp_path / "d" / "tool")
    path = os.pathsep.join(str(tmp_path / name) for name in ("missing", "a", "b", "c", "d"))
    assert files.which("tool", path, "/") == found


def test_a_bare_command_is_never_looked_for_in_the_working_folder(tmp_path: Path) -> None:
    executable(tmp_path / "tool")
    assert files.which("tool", "", str(tmp_path)) is None
    assert files.which("tool", os.pathsep, str(tmp_path)) is None


def test_a_command_with_a_folder_is_looked_for_from_the_working_folder_alone(tmp_path: Path) -> None:
    executable(tmp_path / "bin" / "tool")
    assert files.which("bin/tool", "", str(tmp_path)) == str(tmp_path / "bin" / "tool")
    assert files.which("bin/tool", str(tmp_path), "/") is None
    assert files.which(str(tmp_path / "bin" / "tool"), "", "/") == str(tmp_path / "bin" / "tool")


def test_a_command_may_begin_with_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    found = executable(tmp_path / "bin" / "tool")
    assert files.which("~/bin/tool", "", "/") == found


def test_a_relative_folder_on_the_path_counts_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server starts in `cwd`, so that is where its system looks too."""
    found = executable(tmp_path / "project" / "bin" / "tool")
    executable(tmp_path / "elsewhere" / "bin" / "tool")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert files.which("tool", "bin", str(tmp_path / "project")) == found


@pytest.mark.parametrize("command", ["", "a\0b", "a/\0", "no-such-command", "./no-such-command", "."])
def test_a_command_that_stands_for_nothing_is_none(command: str) -> None:
    assert files.which(command, "/usr/bin:/bin", "/") is None


# --- matches ------------------------------------------------------------------------------------------------


def test_a_star_stands_for_file_names_in_order(tmp_path: Path) -> None:
    for name in ("b.json", "a.json", "c.txt", "json"):
        (tmp_path / name).touch()
    assert files.match_paths(f"{tmp_path}/*.json", 10) == [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    assert files.match_paths(f"{tmp_path}/*", 10) == [str(tmp_path / name) for name in names(tmp_path)]


def test_a_star_stands_for_folder_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c.d"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / "mcp.json").touch()
    found = [str(tmp_path / name / "sub" / "mcp.json") for name in ("a", "b", "c.d")]
    assert files.match_paths(f"{tmp_path}/*/sub/mcp.json", 10) == found
    assert files.match_paths(f"{tmp_path}/*.d/sub/mcp.json", 10) == found[2:]


def test_at_most_so_many_matches_are_given(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.json").touch()
    assert files.match_paths(f"{tmp_path}/*.json", 3) == [str(tmp_path / f"{number}.json") for number in range(3)]
    assert files.match_paths(f"{tmp_path}/*.json", 0) == []


def test_folders_without_the_file_neither_match_nor_take_the_place_of_those_with_it(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    (tmp_path / "c" / "mcp.json").touch()
    assert files.match_paths(f"{tmp_path}/*/mcp.json", 10) == [str(tmp_path / "c" / "mcp.json")]
    assert files.match_paths(f"{tmp_path}/*/mcp.json", 1) == [str(tmp_path / "c" / "mcp.json")]


@pytest.mark.parametrize("folder", ["missing", "file", "a\0b"])
def test_a_pattern_below_no_folder_matches_nothing(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    assert files.match_paths(f"{tmp_path}/{folder}/*.json", 10) == []


def test_a_file_that_grows_is_moved_aside_and_the_oldest_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = files.GrowingFile(str(path), most=4, kept=1)
    for number in range(6):
        log.append(f"{number}\n".encode())
    log.close()
    assert {file.name: file.read_text() for file in tmp_path.iterdir() if "lock" not in file.name} == {
        "log": "4\n5\n",
        "log.1": "2\n3\n",
    }
    assert path.stat().st_mode & 0o777 == 0o600


def test_nothing_is_added_to_what_is_no_file_or_lies_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("v")
    (tmp_path / "link").symlink_to(tmp_path / "victim")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(FileError):
            files.GrowingFile(str(tmp_path / name), most=100, kept=1).append(b"x\n")
    assert (tmp_path / "victim").read_text() == "v"
