"""kill -9 at each write of a session: nothing that was said is lost, and no call is made twice."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

DRIVER = str(Path(__file__).with_name("killed.py"))

# Ends the process at its n-th call into the system that changes a file, counted from when it is armed. Half of what is
# written is on the disk then.
PRELOAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

static int left = -1;
void arm(int calls) { left = calls; }
static int ends(void) { return left >= 0 && left-- == 0; }
#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)
#define WRITING(name, offset) \\
    ssize_t name(int file, const void *data, size_t size, offset at) { \\
        REAL(name); \\
        if (ends()) { real(file, data, size / 2, at); raise(SIGKILL); } \\
        return real(file, data, size, at); }
#define CHANGING(name, given, passed) int name given { REAL(name); if (ends()) raise(SIGKILL); return real passed; }

WRITING(pwrite, off_t)
WRITING(pwrite64, off64_t)
CHANGING(ftruncate, (int file, off_t size), (file, size))
CHANGING(ftruncate64, (int file, off64_t size), (file, size))
CHANGING(fsync, (int file), (file))
CHANGING(fdatasync, (int file), (file))
CHANGING(unlink, (const char *path), (path))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, if there is any: the end of each process would wait for the disk."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else str(tmp_path)
    with tempfile.TemporaryDirectory(dir=memory) as made:
        yield Path(made)


def kill_everywhere(folder: Path, mode: str, **env: str) -> dict[str, int]:
    command = [sys.executable, DRIVER, str(folder), mode]
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    found: dict[str, int] = json.loads(done.stdout)
    return found


@pytest.mark.timeout(300)
def test_a_conversation_that_is_killed_before_any_statement_goes_on_without_losing_or_repeating_anything(
    folder: Path,
) -> None:
    found = kill_everywhere(folder, "statement")
    assert found["kills"] > 80
    assert found["resumed"] > 70
    assert found["waiting"] > 1, "a call that never ran has to be asked about again"
    assert found["interrupted"] > 1, "a call that may have run has to say so"


@pytest.mark.timeout(300)
@pytest.mark.skipif(
    not sys.platform.startswith("linux") or not shutil.which("cc"), reason="needs Linux and a C compiler"
)
def test_a_conversation_that_is_killed_in_the_middle_of_any_write_goes_on_without_losing_or_repeating_anything(
    folder: Path, tmp_path: Path
) -> None:
    source, library = tmp_path / "kill.c", tmp_path / "kill.so"
    source.write_text(PRELOAD)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True, timeout=100)
    found = kill_everywhere(folder, str(library), LD_PRELOAD=str(library))
    assert found["kills"] > 80
    assert found["resumed"] > 70
