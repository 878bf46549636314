"""Which tests are slow: `make test` leaves them out, and `make test-all` has them.

`slow.txt` names them, chosen by measured time. To choose anew, on a machine that does nothing else:

    make test-all PYTEST="--junitxml=.cache/times.xml"
    python -m tests.tiers .cache/times.xml
"""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

LIST = Path(__file__).parent / "slow.txt"
HEADER = "# Made by `python -m tests.tiers`: the file, the test, and the seconds that one of its cases takes.\n"
SHARE = 0.098
"""How many tests may be slow: a bit less than the tenth that a test allows, as tests come and go."""
ENOUGH = 0.2
"""What takes fewer seconds than this is fast."""

COLLECTED = pytest.StashKey[list[tuple[str, str, bool]]]()
"""Every test that was collected, before any is left out: its file, its function, and whether it is slow."""

Name = tuple[str, str]
"""A file, without its folders, and a function: the names of files of tests are unique, and folders change."""


def read_slow() -> dict[Name, float]:
    slow = {}
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            file, test, seconds = line.split()
            slow[file, test] = float(seconds)
    return slow


def find_slow(times: Mapping[Name, Sequence[float]]) -> dict[Name, float]:
    """The tests that take longest, but for the quickest of each file: nothing is only tested by slow ones."""
    total = sum(map(len, times.values()))
    kept = _find_quickest(times)
    slow: dict[Name, float] = {}
    count = 0
    for name in sorted(times, key=lambda name: -_average(times[name])):
        cases = len(times[name])
        if _average(times[name]) < ENOUGH:
            break
        if name not in kept and count + cases <= SHARE * total:
            slow[name] = _average(times[name])
            count += cases
    return slow


def _find_quickest(times: Mapping[Name, Sequence[float]]) -> set[Name]:
    quickest: dict[str, Name] = {}
    for name in sorted(times, key=lambda name: -sum(times[name])):
        quickest[name[0]] = name
    return set(quickest.values())


def _average(seconds: Sequence[float]) -> float:
    return sum(seconds) / len(seconds)


def read_times(report: Path) -> dict[Name, list[float]]:
    times: dict[Name, list[float]] = defaultdict(list)
    for case in ElementTree.parse(report).iter("testcase"):
        module = case.attrib["classname"].rpartition(".")[2]
        test = case.attrib["name"].partition("[")[0]
        times[f"{module}.py", test].append(float(case.attrib["time"]))
    return times


def write_slow(slow: Mapping[Name, float]) -> None:
    lines = [f"{file} {test} {seconds:.1f}\n" for (file, test), seconds in sorted(slow.items())]
    LIST.write_text(HEADER + "".join(lines))


if __name__ == "__main__":
    write_slow(find_slow(read_times(Path(sys.argv[1]))))
