"""A file that other programs write too: changed in one step, and nobody's edit is lost, whatever happens on the way."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from mooring import files
from mooring.errors import FileError, ParseError
from mooring.syntax.document import Kind
from mooring.syntax.edit import edit_bytes, put_value
from mooring.syntax.parse import parse

ADD_MANY = """
import sys
from mooring import files
from mooring.syntax.edit import edit_bytes, put_value

path, locks, kind, worker = sys.argv[1:]
for number in range(20):
    def change(data):
        return edit_bytes(data, lambda text: put_value(text, kind, ("servers", f"s{worker}-{number}"), {"command": "x"}))
    files.update(path, change, locks)
"""

COMMENTED = {
    "json": '// mine\n{\n\t"servers": { // all of them\n\t\t"first": {"command": "a"}, // keep\n\t\t/* last */\n\t}\n}\n',
    "toml": '# mine\n[servers.first] # all of them\ncommand = "a" # keep\n\n# last\n',
    "yaml": "# mine\nservers: # all of them\n    first:\n        command: a # keep\n# last\n",
}


# YAML's parser makes twenty times twenty edits slow; the lock does not know what kind of file it is for.
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("kind", "count"), [("json", 20), ("toml", 5), ("yaml", 5)])
def test_many_processes_add_twenty_servers_each_and_every_comment_stays(kind: Kind, count: int, tmp_path: Path) -> None:
    path = tmp_path / f"config.{kind}"
    path.write_text(COMMENTED[kind])
    command = [sys.executable, "-c", ADD_MANY, str(path), str(tmp_path / "locks"), kind]
    workers = [subprocess.Popen([*command, str(worker)]) for worker in range(count)]
    assert [worker.wait(timeout=150) for worker in workers] == [0] * count
    text = path.read_text()
    assert len(parse(text.encode(), kind).data["servers"]) == 1 + 20 * count
    rest = iter(text)
    assert all(character in rest for character in COMMENTED[kind])
    assert [entry.name for entry in tmp_path.iterdir() if entry.name != "locks"] == [path.name]


def add(name: str, data: bytes) -> bytes:
    return edit_bytes(data, lambda text: put_value(text, "json", ("servers", name), {}))


def test_what_another_program_writes_in_the_meantime_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("{}")
    seen: list[bytes] = []

    def change(data: bytes) -> bytes:
        # Another program, which knows no locks of ours, is faster twice.
        if len(seen) < 2:
            path.write_bytes(add(f"theirs{len(seen)}", data))
        seen.append(data)
        return add("ours", data)

    assert files.update(str(path), change, str(tmp_path / "locks"))
    assert set(json.loads(path.read_text())["servers"]) == {"theirs0", "theirs1", "ours"}
    assert len(seen) == 3


def test_a_file_that_never_rests_is_an_error_and_keeps_what_others_wrote(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    count = 0

    def change(data: bytes) -> bytes:
        nonlocal count
        count += 1
        path.write_text(str(count))
        return b"ours"

    with pytest.raises(FileError, match="is being changed by another program: try again"):
        files.update(str(path), change, str(tmp_path / "locks"))
    assert path.read_text() == str(count)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["config.json", "locks"]


def test_a_change_that_is_refused_or_changes_nothing_leaves_the_file_untouched(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("{")
    before = path.stat()
    with pytest.raises(ParseError):
        files.update(str(path), lambda data: add("x", data), str(tmp_path / "locks"))
    assert not files.update(str(path), lambda data: data, str(tmp_path / "locks"))
    after = path.stat()
    # Not when it was last read, which reading it may change.
    assert (after.st_ino, after.st_mode, after.st_mtime_ns) == (before.st_ino, before.st_mode, before.st_mtime_ns)


def test_a_linked_file_stays_a_link_with_its_mode_and_a_new_one_is_its_owners_alone(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "config.json"
    target.parent.mkdir()
    target.write_text("{}")
    target.chmod(0o640)
    link = tmp_path / "config.json"
    link.symlink_to(target)
    files.update(str(link), lambda data: add("x", data), str(tmp_path / "locks"))
    assert link.is_symlink()
    assert json.loads(target.read_text()) == {"servers": {"x": {}}}
    assert target.stat().st_mode & 0o777 == 0o640
    files.update(str(tmp_path / "new" / "config.json"), lambda data: add("x", data), str(tmp_path / "locks"))
    assert (tmp_path / "new" / "config.json").stat().st_mode & 0o777 == 0o600


# --- a disk that fails, and a process that is killed --------------------------------------------------------

# Fails or kills at the n-th call into the system that has to do with files, counted from when it is armed.
PRELOAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <dirent.h>
#include <unistd.h>

static int left = -1, fault = 0;
void arm(int calls, int with) { left = calls; fault = with; }
int remaining(void) { return left; }

static int fails(void) {
    if (left < 0 || left-- > 0) return 0;
    if (fault == SIGKILL + 1000) raise(SIGKILL);
    errno = fault;
    return 1;
}
#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)

#define OPENING(name) \
    int name(const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); int mode = va_arg(rest, int); va_end(rest); \
        REAL(name); return fails() ? -1 : real(path, flags, mode); }
OPENING(open)
OPENING(open64)
ssize_t write(int file, const void *data, size_t size) {
    REAL(write);
    // A full disk takes part of the data first.
    if (fails()) { if (size > 1) { int why = errno; real(file, data, size / 2); errno = why; } return -1; }
    return real(file, data, size); }
ssize_t read(int file, void *data, size_t size) { REAL(read); return fails() ? -1 : real(file, data, size); }
int fsync(int file) { REAL(fsync); return fails() ? -1 : real(file); }
int fchmod(int file, mode_t mode) { REAL(fchmod); return fails() ? -1 : real(file, mode); }
int rename(const char *from, const char *to) { REAL(rename); return fails() ? -1 : real(from, to); }
int unlink(const char *path) { REAL(unlink); return fails() ? -1 : real(path); }
int close(int file) { REAL(close); int failed = fails(), why = errno; int done = real(file); if (failed) { errno = why; return -1; } return done; }
DIR *opendir(const char *path) { REAL(opendir); return fails() ? NULL : real(path); }
int flock(int file, int operation) { REAL(flock); return fails() ? -1 : real(file, operation); }
"""

# 3: an error was raised; 0: what failed did not matter; -9: killed; 7: no call was left to fail.
FAULTS = """
import ctypes, json, os, sys
from hashlib import sha256  # loaded before anything fails
from mooring import files
from mooring.errors import FileError

library = ctypes.CDLL(sys.argv[1])
path, locks, fault = sys.argv[2], sys.argv[3], int(sys.argv[4])
OLD, NEW = b"{}" * 100, b"[]" * 3000
outcomes = []
for calls in range(200):
    with open(path, "wb") as file:
        file.write(OLD)
    child = os.fork()
    if not child:
        library.arm(calls, fault)
        try:
            files.update(path, lambda data: NEW, locks)
            code = 0
        except FileError:
            code = 3
        remaining = library.remaining()
        library.arm(-1, 0)
        os._exit(code if remaining < 0 else 7)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    with open(path, "rb") as file:
        found = file.read()
    assert found in (OLD, NEW), (calls, code, found[:40])
    left_over = [name for name in os.listdir(os.path.dirname(path)) if name.endswith(".tmp")]
    assert code == -9 or not left_over, (calls, code, left_over)
    for name in left_over:
        os.unlink(os.path.join(os.path.dirname(path), name))
    outcomes.append((code, found == NEW))
    if code == 7:
        break
print(json.dumps([len(outcomes), sorted({code for code, _ in outcomes}), outcomes[-1]]))
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or not shutil.which("cc"), reason="needs Linux and a C compiler"
)
@pytest.mark.parametrize(
    ("fault", "codes"), [(28, [0, 3, 7]), (5, [0, 3, 7]), (1009, [-9, 7])], ids=["ENOSPC", "EIO", "SIGKILL"]
)
def test_a_write_that_fails_or_is_killed_at_any_call_leaves_the_old_file_or_the_new_one(
    fault: int, codes: list[int], tmp_path: Path
) -> None:
    source, library = tmp_path / "fault.c", tmp_path / "fault.so"
    source.write_text(PRELOAD)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True, timeout=100)
    folder = tmp_path / "work"
    folder.mkdir()
    command = [sys.executable, "-c", dedent(FAULTS), library, folder / "config.json", tmp_path / "locks", str(fault)]
    done = subprocess.run(
        command, env={**os.environ, "LD_PRELOAD": str(library)}, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    calls, found, last = json.loads(done.stdout)
    assert calls > 10, "too few calls were seen"
    assert found == sorted(codes)
    assert last == [7, True], "without a fault, the file is written"
