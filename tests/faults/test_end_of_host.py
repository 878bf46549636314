"""Every server and every end of the host, in both ways of the guard: `make test` has the tests, and some of these."""

import pytest
from tests.process.test_guard import CELLS, SOME, escaped, leftovers

OTHERS = [cell for cell in CELLS if cell not in SOME]


@pytest.mark.timeout(180)
def test_nothing_is_left_after_any_end_of_the_host() -> None:
    assert leftovers(OTHERS) == {cell: escaped(cell) for cell in OTHERS}
