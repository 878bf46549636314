"""A model for agents to talk to: a program on the loopback that calls a tool, and then says what came back."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench.drive import Broken
from bench.ground import HERE, ROOT

SCRIPT = HERE / "script.py"


@contextmanager
def start_model(script: Path) -> Iterator[dict[str, str]]:
    """One process for all agents: its addresses by the APIs. Raises: Broken."""
    command = [sys.executable, "-m", "tests.models", "--script", str(script)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as model:
        assert model.stdout is not None
        try:
            line = model.stdout.readline()
            if not line:
                raise Broken("the fake model did not start.")
            yield msgspec.json.decode(line, type=dict[str, str])
        finally:
            model.terminate()
