"""How deeply JSON may be nested: one limit, whichever Python this is and whatever stands in its texts."""

import json
import random
import time
from typing import Any

import pytest

from mooring.core.protocol.raw import DEEPEST, is_too_deep

LET_THROUGH = 64
"""How many levels more are not noticed."""
TRICKY = ["[[[{{", ']]}"', '\\"[[', "\\\\", "\\", '"', "]", "{", 'a"[\\', "ü[", "\u0000{"]


@pytest.mark.parametrize("levels", [1, 2, 100, DEEPEST, 10 * DEEPEST])
@pytest.mark.parametrize(
    ("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"]":', "}]"), ('["]",', "]"), (" [\n", "]")]
)
def test_it_is_too_deep_from_the_limit_on(opening: str, closing: str, levels: int) -> None:
    repeated = levels // (opening.count("[") + opening.count("{"))
    text = opening * repeated + "1" + closing * repeated
    assert is_too_deep(text.encode()) == (levels > DEEPEST)


def test_brackets_in_texts_are_not_counted() -> None:
    for words in TRICKY:
        assert not is_too_deep(json.dumps([words * 5000, {words * 5000: words}]).encode())


def test_closing_brackets_in_texts_hide_nothing() -> None:
    deep = "[" * 5000 + "]" * 5000
    for words in TRICKY:
        assert is_too_deep(f"[{json.dumps(words * 5000)}, {deep}]".encode())
        assert is_too_deep((f"[{json.dumps(words)}," * 5000 + "1" + "]" * 5000).encode())


def test_a_long_list_is_not_deep() -> None:
    rows = [{"id": number, "of": [[number], {"more": []}]} for number in range(20_000)]
    assert not is_too_deep(json.dumps(rows).encode())


def test_any_json_is_judged_by_its_levels() -> None:
    rng = random.Random(11)
    for _ in range(1500):
        levels = rng.choice([rng.randrange(1, 30), rng.randrange(DEEPEST - 50, DEEPEST + 2 * LET_THROUGH)])
        found = is_too_deep(json.dumps(make_nested(rng, levels), ensure_ascii=rng.random() < 0.5).encode())
        if levels <= DEEPEST:
            assert not found
        elif levels > DEEPEST + LET_THROUGH:
            assert found


def make_nested(rng: random.Random, levels: int) -> Any:
    made: Any = rng.choice(TRICKY)
    for _ in range(levels):
        beside = rng.choices(TRICKY, k=rng.randrange(3))
        made = [*beside, made, *beside] if rng.random() < 0.5 else {**dict.fromkeys(beside), rng.choice(TRICKY): made}
    return made


@pytest.mark.parametrize(
    "text", ["[" * 8_000_000, "[" * 1000 + '"",' * 4_000_000, '["' + '\\"[' * 4_000_000, '"["' * 4_000_000]
)
def test_the_longest_message_is_judged_at_once(text: str) -> None:
    data = text.encode()
    began = time.process_time()
    is_too_deep(data)
    # A quarter of a second: a message of this size takes as long to decode.
    assert time.process_time() - began < 1.25
