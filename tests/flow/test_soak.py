"""A hundredth of `make soak`, and that the soak would notice."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.soak.meter import Reading, missed
from tests.soak.parts import PARTS

ROOT = Path(__file__).parents[2]
HELD = Reading(memory=30.0, guard=9.0, objects=27_000, descriptors=13, tasks=4, threads=2, processes=2, zombies=0)


@pytest.mark.timeout(300)
def test_nothing_grows_and_nothing_is_left_after_a_hundredth_of_a_soak() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.soak", "--quick"], cwd=ROOT, capture_output=True, text=True, timeout=150
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" ok\n") == len(PARTS)


def test_one_descriptor_task_or_process_more_is_missed_and_a_zombie_always() -> None:
    assert list(missed(HELD, HELD)) == []
    for name in ("descriptors", "tasks", "processes", "zombies"):
        more = HELD._replace(**{name: getattr(HELD, name) + 1})
        assert any(name in fault for fault in missed(HELD, more)), name
    assert list(missed(HELD._replace(zombies=1), HELD._replace(zombies=1))) == ["1 zombies"]
    assert len(list(missed(HELD, HELD._replace(memory=35.1, objects=28_001)))) == 2
