"""Words taken apart, stemmed, translated, and their near spellings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.tools import synonyms
from mooring.tools.languages import FOREIGN
from mooring.tools.lexicon import lexicon
from mooring.tools.spelling import Spelling, distance
from mooring.tools.translation import translated
from mooring.tools.words import prose, split, spoken, stem

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
def test_names_are_split_and_folded(text: str, words: list[str]) -> None:
    assert list(split(text)) == words


def test_a_product_is_one_word_in_a_request_and_in_halves_in_a_description() -> None:
    assert spoken("Show URLs on GitHub, then createIssue") == [
        "show",
        "urls",
        "on",
        "github",
        "then",
        "create",
        "issue",
    ]
    assert prose("Lists URLs on GitHub") == ["lists", "urls", "on", "git", "hub"]
    assert spoken("Événement: 删除") == prose("Événement: 删除") == ["evenement", "删除"]


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


def test_every_meaning_has_a_name_and_something_else_that_says_it() -> None:
    known = lexicon()
    said = [meaning for meanings in known.meanings.values() for meaning in meanings]
    assert [terms for meaning, terms in known.terms.items() if said.count(meaning) < 2] == []
    assert {meaning for meanings in known.named.values() for meaning in meanings} == set(known.terms)


def test_every_phrase_of_the_tables_has_words() -> None:
    known = lexicon()
    phrases = {*known.meanings, *known.puts, *(term for terms in known.terms.values() for term in terms)}
    assert [phrase for phrase in phrases if not phrase or "_" in phrase or "  " in phrase] == []


def test_every_line_of_sayings_says_what_tools_would_say_instead() -> None:
    lines = [line for line in synonyms.SAYINGS.replace("\n    ", " ").split("\n") if line and line[0] != "#"]
    assert [line for line in lines if line.count(" : ") != 1] == []
    assert [line for line in lines if "_" in line.partition(" : ")[0]] == []


def test_english_words_of_the_tables_do_not_hide_those_of_other_languages() -> None:
    hidden = {"lies", "spat", "son", "portable"} & lexicon().words
    assert hidden == set()


@pytest.mark.parametrize(
    ("one", "other", "edits"), [("serach", "search", 1), ("delte", "delete", 1), ("cat", "dog", 3), ("", "ab", 2)]
)
def test_an_edit_is_a_letter_more_less_other_or_swapped(one: str, other: str, edits: int) -> None:
    assert distance(one, other) == edits


@given(one=WORDS, other=WORDS)
def test_the_distance_is_the_same_both_ways_and_nothing_only_between_equals(one: str, other: str) -> None:
    assert distance(one, other) == distance(other, one)
    assert (distance(one, other) == 0) == (one == other)


@given(one=WORDS, other=WORDS, most=st.integers(0, 3))
def test_a_distance_is_exact_up_to_the_most_that_is_asked_for(one: str, other: str, most: int) -> None:
    assert min(distance(one, other, most), most + 1) == min(distance(one, other), most + 1)


@given(word=st.text("abcdefgh", min_size=4, max_size=12), at=st.integers(0, 11))
def test_a_word_that_lost_a_letter_is_found_again(word: str, at: int) -> None:
    at %= len(word)
    assert word in Spelling([word, "zzzz"]).near(word[:at] + word[at + 1 :])


def test_only_the_nearest_words_are_taken() -> None:
    assert set(Spelling(["collections", "connections"]).near("colections")) == {"collections"}
