"""Whoever opens the record of conversations beside SQLite fails the test, also in a process that the test starts."""

import subprocess
import sys
from pathlib import Path

import pytest

from support import WATCHED, Home, take_record_openings

OPENING = """
import sys
from pathlib import Path

code = compile("def look(path): return Path(path).read_bytes()", sys.argv[1], "exec")
names = {"Path": Path}
exec(code, names)
try:
    names["look"](sys.argv[2])
except AssertionError:
    pass  # as code that goes on whatever happens
"""


def open_in_a_process(home: Home, code: str, name: str) -> list[str]:
    """Who opened the record if code of that file opens a file beside it."""
    path = Path(home.where.record).with_name(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    command = [sys.executable, "-c", OPENING, code, str(path)]
    subprocess.run(command, env={**home.env, **WATCHED}, check=True, timeout=100)
    return take_record_openings()


@pytest.mark.parametrize("name", ["sessions.db", "sessions.db-wal", "sessions.db-shm"])
@pytest.mark.parametrize("folder", ["/home/me/src", "/usr/lib/python3/site-packages"])
def test_our_code_is_found_out_in_another_process(home: Home, folder: str, name: str) -> None:
    (line,) = open_in_a_process(home, f"{folder}/mooring/files/reading.py", name)
    assert line.endswith(f"{name} was opened by {folder}/mooring/files/reading.py:1")


def test_neither_the_code_of_others_nor_another_file_is_found_out(home: Home) -> None:
    assert open_in_a_process(home, "/usr/bin/backup.py", "sessions.db") == []
    assert open_in_a_process(home, "/home/me/src/mooring/files/reading.py", "sessions.db.lock") == []
