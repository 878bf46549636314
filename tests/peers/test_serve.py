"""`mooring serve` for the official SDK's own client, in either era."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from install import mooring, python

CLIENT = Path(__file__).with_name("served_client.py")


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_lists_reads_calls_and_is_asked(tmp_path: Path, mode: str, version: str) -> None:
    done = subprocess.run(
        [python("mcp-2.3"), str(CLIENT), mode, mooring(), "serve", "--demo", "--names", "raw", "--permission-mode", "ask"],
        env={**os.environ, "HOME": str(tmp_path)}, cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout)
    assert seen["version"] == version
    assert {"add", "echo", "slow"} <= set(seen["tools"])
    # The call was asked about, and the client accepted.
    assert seen["sum"] == {"sum": 3}
    assert seen["read"]
