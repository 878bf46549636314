"""What tests share: sample homes laid out in a folder of their own, and a loop of its own for each async test."""

import asyncio
import gc
import inspect
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import HOMES, NO_KEYRING, Cli, Home, Swift


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--accept", action="store_true", help="write what was found as what is expected; then read the diff"
    )


def pytest_collection_finish() -> None:
    """Take what was collected out of the garbage collector's sight.

    One pass over thousands of tests takes 0.2 s, and falls into whichever test happens to measure its CPU.
    """
    gc.collect()
    gc.freeze()


RECORD = {f"sessions.db{suffix}" for suffix in ("", "-wal", "-shm")}


def refuse_to_open_the_record(event: str, values: tuple[Any, ...]) -> None:
    """Fail if anything but SQLite opens the record of conversations: its locks would be gone once that is closed.

    SQLite opens files without telling Python. A file that was not there can be made.
    """
    if event != "open" or not isinstance(values[0], str | bytes):
        return
    path, _, flags = values
    is_ours = "/mooring/" in sys._getframe(1).f_code.co_filename
    if is_ours and os.path.basename(os.fsdecode(path)) in RECORD and not flags & os.O_EXCL:
        raise AssertionError(f"{os.fsdecode(path)} was opened")


sys.addaudithook(refuse_to_open_the_record)

ASYNC_SECONDS = 20.0

# Nothing that a test stores goes into the keyring of whoever runs it.
os.environ["PYTHON_KEYRING_BACKEND"] = NO_KEYRING


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an async test, and no longer than it should take."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    given = {name: value for name, value in pyfuncitem.funcargs.items() if name in wanted}
    loop = Swift if pyfuncitem.get_closest_marker("swift") else None
    slow = pyfuncitem.get_closest_marker("timeout")
    seconds = slow.args[0] if slow else ASYNC_SECONDS
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(asyncio.wait_for(pyfuncitem.obj(**given), seconds))
    return True


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An empty home and an empty project."""
    return Home(tmp_path / "machine")


def samples() -> Iterator[str]:
    yield from sorted(entry.name for entry in os.scandir(HOMES) if entry.is_dir())


@pytest.fixture(params=list(samples()))
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    """Each sample home in turn."""
    return Home(tmp_path / request.param, HOMES / request.param)


@pytest.fixture
def cli(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """The command line in an empty home."""
    return Cli(home, monkeypatch, capfd)


@pytest.fixture
def sample_cli(sample: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """The command line in each sample home in turn."""
    return Cli(sample, monkeypatch, capfd)
