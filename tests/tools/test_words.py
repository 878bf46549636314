"""Words taken apart, stemmed, translated, and their near spellings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.tools.spelling import Spelling, distance
from mooring.tools.synonyms import FOREIGN
from mooring.tools.words import lexicon, split, stem, translated

WORDS = st.text("abcdefgh", max_size=8)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("create_pull-request", ["create", "pull", "request"]),
        ("getHTMLPage", ["get", "html", "page"]),
        ("Größe, Événement!", ["grosse", "evenement"]),
        ("删除 file", ["删除", "file"]),
    ],
)
def test_names_and_texts_are_split_and_folded(text: str, words: list[str]) -> None:
    assert split(text) == words


@pytest.mark.parametrize(
    "forms",
    [
        ("list", "lists", "listing", "listed"),
        ("create", "creates", "created", "creating", "creation"),
        ("query", "queries"),
        ("branch", "branches"),
        ("stop", "stopped", "stopping"),
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len(set(map(stem, forms))) == 1


@pytest.mark.parametrize(("one", "other"), [("status", "stat"), ("process", "proce"), ("news", "ness")])
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize(
    ("word", "english"),
    [
        ("erstelle", [("create",)]),
        ("textdatei", [("text",), ("file",)]),
        ("archivo", [("file",)]),
        ("合并请求列表", [("merge_request",), ("list",)]),
        ("xyzzy", []),
    ],
)
def test_words_of_other_languages_and_their_compounds_are_translated(word: str, english: list[tuple[str, ...]]) -> None:
    assert [choice[:1] for choice in translated(word)] == english


def test_every_line_of_the_tables_of_other_languages_gives_a_word_and_its_english() -> None:
    entries = [entry.split() for table in FOREIGN.values() for entry in table.replace("\n", ";").split(";") if entry]
    assert [entry for entry in entries if len(entry) < 2] == []


def test_a_meaning_is_shared_by_at_least_two_words() -> None:
    assert [group for group in lexicon().groups.values() if len(group) < 2] == []


@pytest.mark.parametrize(
    ("one", "other", "edits"), [("serach", "search", 1), ("delte", "delete", 1), ("cat", "dog", 3), ("", "ab", 2)]
)
def test_an_edit_is_a_letter_more_less_other_or_swapped(one: str, other: str, edits: int) -> None:
    assert distance(one, other) == edits


@given(one=WORDS, other=WORDS)
def test_the_distance_is_the_same_both_ways_and_nothing_only_between_equals(one: str, other: str) -> None:
    assert distance(one, other) == distance(other, one)
    assert (distance(one, other) == 0) == (one == other)


@given(word=st.text("abcdefgh", min_size=4, max_size=12), at=st.integers(0, 11))
def test_a_word_that_lost_a_letter_is_found_again(word: str, at: int) -> None:
    at %= len(word)
    assert word in Spelling([word, "zzzz"]).near(word[:at] + word[at + 1 :])


def test_only_the_nearest_words_are_taken() -> None:
    assert set(Spelling(["collections", "connections"]).near("colections")) == {"collections"}
