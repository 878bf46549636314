"""Every server and every end of the host, in both ways of the guard: `make test` has the tests, and some of these."""

from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from tests.wire.test_guard import CELLS, SOME, Cell, check, leftovers_of

OTHERS = [cell for cell in CELLS if cell not in SOME]


@pytest.fixture(scope="module")
def leftovers() -> Iterator[dict[Cell, "Future[list[int]]"]]:
    yield from leftovers_of(OTHERS)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("cell", OTHERS, ids=" / ".join)
def test_nothing_is_left_after_any_end_of_the_host(cell: Cell, leftovers: dict[Cell, "Future[list[int]]"]) -> None:
    check(cell, leftovers[cell].result())
