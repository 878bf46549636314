"""Globs: what they match is what a plain reading says, and no glob or text makes them slow."""

import re
import time
import timeit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.core.glob import Glob, folded, literal

ELEMENTS = st.sampled_from(["a", "b", ".", "*", "?", "[ab]", "[!a]", "[a-c]", "[*]", "[?]", "[[]", "[]]"])
TEXTS = st.text(alphabet="abcA.*?[]", max_size=10)


def reference(elements: list[str], text: str) -> bool:
    """The same, by backtracking."""
    parts = {"*": "(?s:.*)", "?": "(?s:.)", "[!a]": "[^a]", "[[]": r"\[", "[]]": r"\]"}
    pattern = "".join(parts.get(e, e if len(e) > 1 else re.escape(e)) for e in elements)
    return re.fullmatch(pattern, text) is not None


@settings(max_examples=300, deadline=None)
@given(elements=st.lists(ELEMENTS, max_size=8), texts=st.lists(TEXTS, min_size=5, max_size=5))
def test_a_glob_matches_what_a_plain_reading_says(elements: list[str], texts: list[str]) -> None:
    glob = Glob("".join(elements))
    assert [glob.matches(text) for text in texts] == [reference(elements, text) for text in texts]


@settings(max_examples=200, deadline=None)
@given(elements=st.lists(ELEMENTS, max_size=8), text=TEXTS)
def test_what_matches_to_the_letter_matches_loosely(elements: list[str], text: str) -> None:
    glob = "".join(elements)
    assert Glob(glob, loosely=True).matches(folded(text)) or not Glob(glob).matches(text)


@settings(max_examples=200, deadline=None)
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
