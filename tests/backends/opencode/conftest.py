"""Tests with the real OpenCode: after each module of them, none of its processes is left."""

import os
import signal
import time
from collections.abc import Iterator

import pytest
from opencode_talk import DEMO, OpenCodeHome, Stage, play
from tests.models import FakeModel
from tests.peers.processes import marked

SETTLING = 5.0


@pytest.fixture(scope="module", autouse=True)
def nonce() -> Iterator[str]:
    """Marks every process of a module; after it none may be left."""
    nonce = os.urandom(8).hex()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOORING_TEST", nonce)
        yield nonce
    left = wait_until_gone(nonce)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


@pytest.fixture(scope="module", params=["shared", "native"])
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, nonce: str) -> Iterator[Stage]:
    """One conversation for all tests of a module: OpenCode takes some seconds to start."""
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path_factory.mktemp("home"), model)
        home.configure(demo=DEMO)
        with Stage(home, model, request.param) as stage:
            yield stage


def wait_until_gone(nonce: str, seconds: float = SETTLING) -> list[int]:
    """What is left of a test's processes, after a moment."""
    until = time.monotonic() + seconds
    while (left := marked(nonce)) and time.monotonic() < until:
        time.sleep(0.02)
    return left
