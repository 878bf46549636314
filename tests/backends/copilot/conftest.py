"""Tests with the real Copilot: after each of them, none of its processes is left."""

import os
import signal
import time
from collections.abc import Iterator

import pytest

from support import running

SETTLING = 15.0


@pytest.fixture(scope="session", autouse=True)
def libraries() -> None:
    """Nothing here needs the libraries of model providers, which other tests of backends load."""


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
    while (left := list_processes(nonce)) and time.monotonic() < until:
        time.sleep(0.02)
    return left


def list_processes(nonce: str) -> list[str]:
    """The processes of a test, without this one: that was started before the mark was set."""
    return [pid for pid in running(nonce) if pid != str(os.getpid())]
