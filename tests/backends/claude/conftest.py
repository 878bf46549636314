"""Tests with the real Claude Code: after each of them, none of its processes is left."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from claude_talk import MarkedHome

from support import Home, running

SETTLING = 15.0


@pytest.fixture(scope="session", autouse=True)
def libraries() -> None:
    """Nothing here needs the libraries of model providers, which other tests of backends load."""


@pytest.fixture
def home(tmp_path: Path, nonce: str) -> Home:
    """An empty home and an empty project."""
    return MarkedHome(tmp_path / "machine")


@pytest.fixture(autouse=True)
def nonce(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Marks every process of a test; after it none may be left."""
    nonce = os.urandom(8).hex()
    monkeypatch.setenv("MOORING_TEST", nonce)
    yield nonce
    left = wait_for_end(nonce)
    for pid in left:
        os.kill(int(pid), signal.SIGKILL)
    assert left == []


def wait_for_end(nonce: str, seconds: float = SETTLING) -> list[str]:
    """The processes of a test that are still there after a while."""
    until = time.monotonic() + seconds
    while (left := _others(nonce)) and time.monotonic() < until:
        time.sleep(0.02)
    return left


def _others(nonce: str) -> list[str]:
    # What a process had in its environment when it was started: this one was started before the mark was set.
    return [pid for pid in running(nonce) if pid != str(os.getpid())]
