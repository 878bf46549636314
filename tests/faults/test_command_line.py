"""Every fault of a server, seen from the command line: a sentence and an exit code, never a traceback."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mooring.testing.faults import FAULTS

MOORING = str(Path(sys.executable).parent / "mooring")
SIZES = {"big_line": 20_000_000, "endless_line": 20_000_000, "slow_start": 100, "stderr_flood": 1_000_000}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_no_fault_of_a_server_is_a_traceback(fault: str) -> None:
    server = f"{sys.executable} -m mooring.testing {fault} {SIZES.get(fault, 2000)}"
    command = [MOORING, "call", "--json", "--server", server, "fault", "--timeout", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode in (0, 1, 2, 5)
    assert "Traceback" not in done.stderr
    if done.returncode != 0:
        last = done.stderr.splitlines()[-1]
        assert json.loads(last)["error"]["code"] == done.returncode
