"""The two tiers of tests: what `make test` leaves out is little, and nothing is only tested by what it leaves out."""

from collections import Counter

import pytest

from tiers import COLLECTED, find_slow, read_slow


@pytest.fixture
def collected(request: pytest.FixtureRequest) -> list[tuple[str, str, bool]]:
    """File, function and whether it is slow, for every case of every test there is."""
    if request.config.args != request.config.getini("testpaths"):
        pytest.skip("only some tests were collected")
    return request.config.stash[COLLECTED]


def test_at_most_one_test_in_ten_is_slow(collected: list[tuple[str, str, bool]]) -> None:
    slow = sum(is_slow for _, _, is_slow in collected)
    assert slow <= len(collected) / 10


def test_every_file_has_a_test_that_is_not_slow(collected: list[tuple[str, str, bool]]) -> None:
    fast = Counter(file for file, _, is_slow in collected if not is_slow)
    assert {file for file, _, _ in collected} <= fast.keys()


def test_every_test_that_is_listed_as_slow_exists(collected: list[tuple[str, str, bool]]) -> None:
    assert read_slow().keys() - {(file, test) for file, test, _ in collected} == set()


def test_the_longest_are_slow_until_a_tenth_is_and_each_file_keeps_its_quickest() -> None:
    times = {("test_a.py", f"test_{number}"): [0.1] for number in range(96)}
    times |= {("test_b.py", "test_long"): [9.0], ("test_b.py", "test_longer"): [10.0]}
    times |= {("test_c.py", "test_many"): [5.0] * 20, ("test_c.py", "test_one"): [4.0]}
    assert find_slow(times) == {("test_b.py", "test_longer"): 10.0}
