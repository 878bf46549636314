"""Real servers: installed before the first test, and after each test none of their processes is left."""

import os
import signal
import sys
import time
from collections.abc import Iterator

import install
import pytest
from processes import marked

SETTLING = 5.0


def pytest_collection_finish(session: pytest.Session) -> None:
    """Install here, where it may take minutes and be seen: not in a test, which has its time."""
    is_worker = hasattr(session.config, "workerinput")
    if not is_worker and session.items and not session.config.option.collectonly:
        _install(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Install once, before the workers that use it begin."""
    _install(config)


def _install(config: pytest.Config) -> None:
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        try:
            install.install(_say)
        except install.CannotInstall as error:
            raise pytest.UsageError(str(error)) from None


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


@pytest.fixture(autouse=True)
def nonce(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Marks every process of a test; after it none may be left, nor a descriptor of ours."""
    nonce = os.urandom(8).hex()
    monkeypatch.setenv("MOORING_TEST", nonce)
    before = _descriptors()
    yield nonce
    left = _left(nonce)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []
    assert _descriptors() == before


def _left(nonce: str) -> list[int]:
    until = time.monotonic() + SETTLING
    while (left := marked(nonce)) and time.monotonic() < until:
        time.sleep(0.02)
    return left


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))
