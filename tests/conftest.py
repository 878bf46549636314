"""What tests share: sample homes laid out in a folder of their own, and a loop of its own for each async test."""

import asyncio
import gc
import inspect
import os
from collections.abc import Generator, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

from hearing import restore_signals
from support import HOMES, NO_KEYRING, WATCHED, Cli, Home, Swift, take_record_openings
from tiers import COLLECTED, read_slow


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--accept", action="store_true", help="write what was found as what is expected; then read the diff"
    )


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Load the files of tests from the last to the first in one of two workers, which each need all of them.

    In a fresh clone, pytest rewrites the assertions of every file when it is first loaded, which takes longer than all
    else before the tests: so each worker does it for one half, and finds the other half done.
    """
    report = yield
    if isinstance(collector, pytest.Directory) and os.environ.get("PYTEST_XDIST_WORKER") == "gw1":
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests into one order, however they were loaded, and mark those that `slow.txt` names."""
    items.sort(key=lambda item: item.path.parts)
    slow = read_slow()
    collected = config.stash.setdefault(COLLECTED, [])
    for item in items:
        name = item.path.name, item.name.partition("[")[0]
        if name in slow:
            item.add_marker("slow")
        collected.append((*name, name in slow))


def pytest_collection_finish() -> None:
    """Take what was collected out of the garbage collector's sight.

    One pass over thousands of tests takes 0.2 s, and falls into whichever test happens to measure its CPU.
    """
    gc.collect()
    gc.freeze()


restore_signals()

# The environments of other agents' programs have no hypothesis, and need none.
with suppress(ImportError):
    from hypothesis import settings

    # An example takes as long as the machine is busy.
    settings.register_profile("mooring", deadline=None)
    settings.load_profile("mooring")

# This process is watched too, and whatever it starts with its own environment.
os.environ.update(WATCHED)
import_module("watching.sitecustomize")


@pytest.fixture(autouse=True)
def nothing_but_sqlite_opens_the_record() -> Iterator[None]:
    """Fail a test during which any process opened the record of conversations, itself or one that it started."""
    yield
    assert take_record_openings() == []


ASYNC_SECONDS = 200.0

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
