"""`data/fresh.json` and `data/typed.json` ask for tools in words written by somebody who did not know the search: whole,
true to the tools, and never asked before."""

import re
from collections import Counter

from bench.search import DATA, load_requests, load_tools

COUNTS = {
    "keywords": 40,
    "sentences": 60,
    "paraphrases": 60,
    "typos": 40,
    "german": 12,
    "spanish": 12,
    "french": 12,
    "chinese": 12,
}
MOST = 6
"""Rows of a kind that one server may have."""

FRESH = load_requests(DATA / "fresh.json")
TYPED = load_requests(DATA / "typed.json")


def test_each_kind_has_its_number_of_requests() -> None:
    assert Counter(request.kind for request in FRESH) == COUNTS


def test_every_second_of_a_kind_is_held_back() -> None:
    halves = {kind: [request.half for request in FRESH if request.kind == kind] for kind in COUNTS}
    assert halves == {kind: ["tune", "held"] * (count // 2) for kind, count in COUNTS.items()}


def test_every_tool_that_would_do_exists() -> None:
    tools = load_tools()
    asked = [*FRESH, *TYPED]
    assert [request.words for request in asked if not request.right or not request.right <= tools.keys()] == []


def test_what_people_type_is_asked_in_every_kind() -> None:
    assert len(TYPED) > 150
    assert {request.kind for request in TYPED} == set(COUNTS)


def test_no_server_has_too_many_requests_of_a_kind() -> None:
    rows = Counter((request.kind, server) for request in FRESH for server in {server for server, _ in request.right})
    assert max(rows.values()) <= MOST


def test_no_request_is_asked_twice() -> None:
    asked = Counter(_plain(request.words) for request in [*FRESH, *TYPED, *load_requests()])
    assert [words for words, times in asked.items() if times > 1] == []


def _plain(words: str) -> str:
    """Without case, punctuation and spacing, in which alone a copy might differ."""
    return " ".join(re.findall(r"\w+", words.casefold()))
