"""A folder that the person may not look into."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import MOORING, Home

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="takes a right away as Linux does")

_DROP_FROM_BOUNDING_SET = 24
_IGNORE_MODES = (1, 2)
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: with them, root reads every folder."""


def _drop_rights() -> None:
    library = ctypes.CDLL(None)
    for right in _IGNORE_MODES:
        library.prctl(_DROP_FROM_BOUNDING_SET, right, 0, 0, 0)


def run_as_anybody(home: Home, *words: str) -> str:
    done = subprocess.run(
        [MOORING, *words],
        cwd="/",
        env=home.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=_drop_rights if os.geteuid() == 0 else None,
    )
    return done.stdout + done.stderr


@pytest.fixture
def closed(home: Home) -> Iterator[Path]:
    """A project that has files of many tools and cannot be looked into."""
    home.configure(mine={"command": "sh"})
    home.write("project/.mcp.json", {"mcpServers": {"theirs": {"command": "sh"}}})
    home.project.chmod(0)
    yield home.project
    home.project.chmod(0o755)


def test_a_folder_that_cannot_be_opened_is_one_problem_with_the_command_that_opens_it(home: Home, closed: Path) -> None:
    listed = run_as_anybody(home, "mcp", "list", "--cwd", str(closed))
    problem = f"The folder {closed} cannot be opened: permission denied; let yourself in: chmod u+rx {closed}"
    servers, settings = (line for line in reversed(listed.splitlines()) if "permission denied" in line)
    assert servers.endswith(problem)
    assert ".mooring/settings.json" in settings
    assert "mine" in listed
    assert f"    fix: chmod u+rx {closed}\n" in run_as_anybody(home, "mcp", "doctor", "--cwd", str(closed))
