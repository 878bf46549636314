"""Globs: what they match is what a plain reading says, and no glob or text makes them slow."""

import re
import time
import timeit
from fnmatch import fnmatchcase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.core.text.glob import WORK, Glob, GlobSet, folded, literal, star_glob

ELEMENTS = st.sampled_from(["a", "b", ".", "*", "?", "[ab]", "[!a]", "[a-c]", "[*]", "[?]", "[[]", "[]]"])
TEXTS = st.text(alphabet="abcA.*?[]", max_size=10)


def reference(elements: list[str], text: str) -> bool:
    """The same, by backtracking."""
    parts = {"*": "(?s:.*)", "?": "(?s:.)", "[!a]": "[^a]", "[[]": r"\[", "[]]": r"\]"}
    pattern = "".join(parts.get(e, e if len(e) > 1 else re.escape(e)) for e in elements)
    return re.fullmatch(pattern, text) is not None


@settings(max_examples=300)
@given(elements=st.lists(ELEMENTS, max_size=8), texts=st.lists(TEXTS, min_size=5, max_size=5))
def test_a_glob_matches_what_a_plain_reading_says(elements: list[str], texts: list[str]) -> None:
    glob = Glob("".join(elements))
    assert [glob.matches(text) for text in texts] == [reference(elements, text) for text in texts]


@settings(max_examples=500)
@given(glob=st.text(alphabet="abz-!^*?[].", max_size=10), texts=st.lists(TEXTS, min_size=5, max_size=5))
def test_a_glob_matches_what_a_shell_would(glob: str, texts: list[str]) -> None:
    ready = Glob(glob)
    assert [ready.matches(text) for text in texts] == [fnmatchcase(text, glob) for text in texts]


@pytest.mark.parametrize(
    "glob", ["github.*", "*.search_*", "?.list", "fs.[rw]*", "fs.[!r]*", "[*].a", "*", "fs.read", ""]
)
def test_filters_over_tools_match_what_they_did_by_the_standard_library(glob: str) -> None:
    texts = ["github.search_code", "fs.read", "fs.write", "fs.list", "*.a", "a.list", "GitHub.x", "", "a\nb"]
    assert [GlobSet([glob]).matches(text) for text in texts] == [fnmatchcase(text, glob) for text in texts]


@settings(max_examples=300)
@given(pattern=st.text(alphabet="ab*?[]!", max_size=8), text=TEXTS)
def test_in_a_pattern_of_stars_nothing_else_is_special(pattern: str, text: str) -> None:
    expected = re.fullmatch(re.escape(pattern).replace(r"\*", "(?s:.*)"), text) is not None
    assert Glob(star_glob(pattern)).matches(text) is expected


def test_a_set_of_globs_matches_where_one_of_them_matches_one_text() -> None:
    globs = GlobSet(["a*", "*z"])
    assert globs.matches("b", "z") is True
    assert globs.matches("b", "c") is False
    assert globs.matches() is False
    assert GlobSet([]).matches("a") is False


def test_a_set_of_globs_says_when_it_cannot_tell() -> None:
    costly, long = "*" + "a?" * 50 + "*", "a" * WORK
    assert Glob(costly).matches(long) is None
    assert GlobSet(["b", costly]).matches(long) is None
    assert GlobSet([costly, "a*"]).matches(long) is True


def test_a_glob_of_brackets_that_never_close_is_compiled_at_once() -> None:
    began = time.thread_time()
    Glob("[" * 200_000)
    assert time.thread_time() - began < 2


@settings(max_examples=200)
@given(elements=st.lists(ELEMENTS, max_size=8), text=TEXTS)
def test_what_matches_to_the_letter_matches_loosely(elements: list[str], text: str) -> None:
    glob = "".join(elements)
    assert Glob(glob, loosely=True).matches(folded(text)) or not Glob(glob).matches(text)


@settings(max_examples=200)
@given(text=st.text(max_size=12) | TEXTS, other=st.text(max_size=12) | TEXTS)
def test_a_literal_matches_its_text_alone(text: str, other: str) -> None:
    glob = Glob(literal(text))
    assert glob.matches(text) is True
    assert glob.matches(other) is (text == other)


@pytest.mark.parametrize("text", ["", "[", "[]", "[!]", "[a", "a]", "[a-", "***", "[!"])
def test_an_unfinished_class_is_plain_text_and_never_an_error(text: str) -> None:
    assert Glob(text).matches(text.replace("*", "x")) is True


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("GitHub", "ｇｉｔｈｕｂ"),
        ("straße", "STRASSE"),
        ("a\u200bb", "AB"),
        ("ﬁle", "file"),
        ("e\u0301", "É"),
        ("\u212a", "k"),
    ],
)
def test_folding_sees_what_an_eye_might_take_for_the_same(one: str, other: str) -> None:
    assert folded(one) == folded(other)
    assert folded(folded(one)) == folded(one)


HOSTILE = ["*a" * 300 + "b", "*" + "a?" * 300 + "b*", "*[a]" * 200 + "c*", "a*" * 400, "*?" * 400, "*[a-z]" * 100 + "1",
           "*" + "[a-z]" * 150 + "1*", "*aaab*", "*" + "a" * 25 + "b" + "a" * 25 + "*", "*a?a?[!a]*", "*" * 1_000 + "b"]  # fmt: skip


@pytest.mark.parametrize("glob", HOSTILE, ids=lambda glob: glob[:12])
def test_no_glob_takes_more_than_a_millisecond_on_what_is_searched(glob: str) -> None:
    ready, text = Glob(glob), "a" * 64 * 1024
    taken = timeit.repeat(lambda: ready.matches(text), timer=time.thread_time, number=1, repeat=5)
    assert min(taken) < 0.005  # five times the promise: the machine may be slow
