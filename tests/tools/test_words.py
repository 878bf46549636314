"""Words taken apart, stemmed, translated, and their near spellings."""

import pytest
from bench.search import load_tools
from hypothesis import given
from hypothesis import strategies as st

from mooring.errors import FileError
from mooring.tools.search.lexicon import (
    load_lexicon,
    read_lines,
    read_translations,
    split_name,
    split_prose,
    split_request,
    stem,
    stem_phrase,
    translate,
)
from mooring.tools.search.request import KnownWords, edit_distance

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
    assert list(split_name(text)) == words


def test_a_product_is_one_word_in_a_request_and_in_halves_in_a_description() -> None:
    assert split_request("Show URLs on GitHub, then createIssue") == [
        "show",
        "urls",
        "on",
        "github",
        "then",
        "create",
        "issue",
    ]
    assert split_prose("Lists URLs on GitHub") == ["lists", "urls", "on", "git", "hub"]
    assert split_request("Événement: 删除") == split_prose("Événement: 删除") == ["evenement", "删除"]


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
        ("exportiert", [("export",)]),
        ("archivo", [("file",)]),
        ("archivos", [("file",)]),
        ("enviame", [("send",)]),
        ("reuniones", [("meeting",)]),
        ("supprimez", [("delete",)]),
        ("arrete", [("stop",)]),
        ("仪表盘", [("dashboard",)]),
        ("合并请求列表", [("merge_request",), ("list",)]),
        ("xyzzy", []),
    ],
)
def test_words_of_other_languages_are_translated(word: str, english: list[tuple[str, ...]]) -> None:
    assert [choice[:1] for choice in translate(word)] == english


def test_every_line_of_the_table_of_other_languages_gives_english_and_at_most_four_columns_of_words() -> None:
    assert [line for line in read_translations() if not all(line)] == []
    lines = read_lines("languages")
    assert [line for line in lines if line.count(" : ") != 1 or line.count("|") > 3] == []


def test_comments_are_left_out_of_a_table_and_continued_lines_joined() -> None:
    lines = read_lines("actions")
    assert [line for line in lines if line.startswith(("#", " "))] == []
    [create] = [line for line in lines if line.startswith("create ")]
    assert create.endswith(" report_problem")


def test_a_table_that_is_missing_is_an_error_with_its_path() -> None:
    with pytest.raises(FileError, match=r"tables.nowhere\.txt: no such file"):
        read_lines("nowhere")


def test_every_meaning_has_a_name_and_something_else_that_says_it() -> None:
    known = load_lexicon()
    said = [meaning for meanings in known.concepts.values() for meaning in meanings]
    assert [terms for meaning, terms in known.terms.items() if said.count(meaning) < 2] == []
    assert {meaning for meanings in known.named.values() for meaning in meanings} == set(known.terms)


def test_every_phrase_of_the_tables_has_words() -> None:
    known = load_lexicon()
    phrases = {*known.concepts, *(term for terms in known.terms.values() for term in terms)}
    assert [phrase for phrase in phrases if not phrase or "_" in phrase or "  " in phrase] == []


def test_no_word_of_another_language_is_an_english_one_of_the_tables_or_a_tool_that_means_something_else() -> None:
    known, named = load_lexicon(), {word for pair in load_tools() for name in pair for word in split_name(name)}
    english = named.union(known.known_words, known.stop_words)
    choices: dict[str, set[str]] = {}
    for meant, words in read_translations():
        for word in words:
            choices.setdefault(word, set()).update(meant)
    assert {word: meant for word, meant in choices.items() if word in english and not _agree(word, meant)} == {}


def _agree(word: str, english: set[str]) -> bool:
    """Whether one of these means the same, or all say nothing."""
    known = load_lexicon()
    senses = {stem(word), *known.concepts.get(stem(word), ())}
    others = {sense for other in english for sense in (stem_phrase(other), *known.concepts.get(stem_phrase(other), ()))}
    return not senses.isdisjoint(others) or known.stop_words.issuperset({word, *english})


@pytest.mark.parametrize(
    ("one", "other", "edits"), [("serach", "search", 1), ("delte", "delete", 1), ("cat", "dog", 3), ("", "ab", 2)]
)
def test_an_edit_is_a_letter_more_less_other_or_swapped(one: str, other: str, edits: int) -> None:
    assert edit_distance(one, other) == edits


@given(one=WORDS, other=WORDS)
def test_the_distance_is_the_same_both_ways_and_nothing_only_between_equals(one: str, other: str) -> None:
    assert edit_distance(one, other) == edit_distance(other, one)
    assert (edit_distance(one, other) == 0) == (one == other)


@given(one=WORDS, other=WORDS, most=st.integers(0, 3))
def test_a_distance_is_exact_up_to_the_most_that_is_asked_for(one: str, other: str, most: int) -> None:
    assert min(edit_distance(one, other, most), most + 1) == min(edit_distance(one, other), most + 1)


@given(word=st.text("abcdefgh", min_size=4, max_size=12), at=st.integers(0, 11))
def test_a_word_that_lost_a_letter_is_found_again(word: str, at: int) -> None:
    at %= len(word)
    assert word in KnownWords([word, "zzzz"]).suggest(word[:at] + word[at + 1 :])


def test_only_the_nearest_words_are_taken() -> None:
    assert set(KnownWords(["collections", "connections"]).suggest("colections")) == {"collections"}
