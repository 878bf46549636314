"""docs/how-it-works/security.md has a row for every attack of the suite and an attack for every row; the tests it names exist."""

import re
from pathlib import Path

import pytest
from tests.attacks.__main__ import find_attacks

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how-it-works" / "security.md").read_text()
ROWS = {found[1]: found[0] for found in re.finditer(r"^\| (A\d+) \|.*$", PAGE, re.M)}
NAMED = sorted(set(re.findall(r"`(tests/[\w/.]+\.py)(?:::(\w+))?`", PAGE)))


@pytest.mark.parametrize(("file", "test"), NAMED, ids=["::".join(filter(None, named)) for named in NAMED])
def test_a_test_that_the_page_names_exists(file: str, test: str) -> None:
    text = (ROOT / file).read_text()
    assert not test or re.search(rf"^ *(?:async )?def {test}\(", text, re.M)


def test_every_attack_has_a_row_and_every_promise_an_attack() -> None:
    assert {attack.id for attack in find_attacks([])} == set(ROWS)


def test_the_rows_are_in_order() -> None:
    assert list(ROWS) == [f"A{number}" for number in range(1, len(ROWS) + 1)]


@pytest.mark.parametrize("id", ROWS)
def test_a_row_names_a_test_or_says_why_there_is_none(id: str) -> None:
    assert "tests/" in ROWS[id] or "not built" in ROWS[id]
