"""Server objects of `fastmcp` and of every generation of `mcp`, passed to a host of the same program."""

import json
import subprocess
import sysconfig
from pathlib import Path

import pytest
from install import python

import mooring
from support import Home

PROGRAM = Path(__file__).parent / "in_process.py"
OWN = [str(Path(mooring.__file__).parents[1]), sysconfig.get_path("purelib")]
KINDS = [
    ("fastmcp", "fastmcp"),
    ("mcp-1.2", "mcp-1"),
    ("mcp-1.6", "mcp-1"),
    ("mcp-1.12", "mcp-1"),
    ("mcp-1.30", "mcp-1"),
    ("mcp-1.30", "lowlevel-1"),
    ("mcp-2.3", "mcp-2"),
    ("mcp-2.3", "lowlevel-2"),
]


@pytest.mark.parametrize(("room", "kind"), KINDS)
def test_a_server_object_of_another_package_is_a_server_like_any_other(home: Home, room: str, kind: str) -> None:
    done = subprocess.run(
        [python(room), str(PROGRAM), kind, *OWN], cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout)
    assert seen["errors"] == {}
    assert seen["tools"] == ["mcp__own__add", "mcp__own__fail", "mcp__own__hang"]
    assert (seen["status"], seen["sum"], seen["tide"], seen["again"]) == ("Connected", "42", "high", "2")
    assert seen["failed"]
    assert seen["hung"]
    assert seen["names"] == ["objects"]
    assert "there is nobody to ask" in seen["refused"]
    assert seen["session"] == "7"
    assert seen["left"] == []
