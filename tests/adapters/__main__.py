"""`make adapters`: each adapter beside its framework. What it does, its types, and the programs on its page."""

import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.peers import install

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guides" / "adapters.md"
# What awaits outside of functions, as notebooks do, is no program to a type checker.
LIBRARY = [
    ROOT / "docs/guides/library.md",
    *sorted(page for page in ROOT.glob("docs/guides/library/*.md") if page.stem != "notebooks"),
]
MYPY_CACHE = ROOT / ".cache" / "adapters"
FRAMEWORKS = ("anthropic", "fastmcp", "langchain", "openai_agents", "pydantic_ai")
PATIENCE = 600
AT_ONCE = 2


class Job(NamedTuple):
    """A command, and what it prints if it looked at all it was given."""

    name: str
    command: Sequence[str]
    expected: str = ""


class Check(NamedTuple):
    """How a command ended: how many tests passed and failed in it, and what it printed."""

    name: str
    passed: int
    failed: int
    output: str
    seconds: float


def main() -> int:
    try:
        install.install_adapters(_say)
    except install.CannotInstall as error:
        _say(f"adapters: {error}")
        return 1
    with TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as workers:
        jobs = [job for framework in FRAMEWORKS for job in _list_jobs(framework, Path(folder))]
        checks = [_show(check) for check in workers.map(_run, jobs)]
    failed = sum(check.failed for check in checks)
    _print(f"{sum(check.passed for check in checks)} passed, {failed} failed")
    return 1 if failed else 0


def _list_jobs(framework: str, folder: Path) -> list[Job]:
    """The commands for one framework: its tests, and both type checkers over its adapter and its programs."""
    python = install.python(f"adapter-{framework.replace('_', '-')}")
    pyright = str(install.CACHE / "pyright/node_modules/.bin/pyright")
    sources = [f"src/mooring/adapters/{framework}.py", *_write_programs(framework, folder)]
    tests = ["tests/adapters/test_page.py", f"tests/adapters/test_{framework}.py"]
    mypy = [python, "-m", "mypy", "--cache-dir", str(MYPY_CACHE / framework), *sources]
    # Files in folders with a dot in front of their name would be left out, without a word.
    found = f"Found {len(sources)} source file"
    return [
        Job(f"{framework}: behavior", [python, "-m", "pytest", "-q", *tests, "-k", framework]),
        Job(f"{framework}: mypy", mypy),
        Job(f"{framework}: pyright", [pyright, "--stats", "--pythonpath", python, *sources], found),
    ]


def _write_programs(framework: str, folder: Path) -> list[str]:
    """The framework's program as a file; and with the first of them, those of the pages about the library."""
    pages = [PAGE, *LIBRARY] if framework == FRAMEWORKS[0] else [PAGE]
    files = []
    for page in pages:
        for number, program in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.S)):
            if "mooring.adapters." in program and f"mooring.adapters.{framework} " not in program:
                continue
            file = folder / f"{framework}_{page.stem.replace('-', '_')}_{number}.py"
            file.write_text(program)
            files.append(str(file))
    return files


def _run(job: Job) -> Check:
    began = time.monotonic()
    try:
        done = subprocess.run(
            job.command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return Check(job.name, 0, 1, f"took more than {PATIENCE} s", time.monotonic() - began)
    output = done.stdout + done.stderr
    # The last line of pytest; the type checkers pass as a whole.
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", output)}
    failed = counts.get("failed", 0) + counts.get("error", 0)
    if done.returncode or job.expected not in output:
        failed = max(failed, 1)
    passed = counts.get("passed", 0 if failed else 1)
    return Check(job.name, passed, failed, output, time.monotonic() - began)


def _show(check: Check) -> Check:
    if check.failed:
        _print(check.output)
    _print(f"{check.name}: {check.passed} passed, {check.failed} failed, {check.seconds:.0f} s")
    return check


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
