"""Filters over tools: every place that takes globs reads them alike, and what cannot be told is never let through."""

import time
import timeit
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from mooring.conversation.scope import ToolScope
from mooring.core.protocol.tool import Tool
from mooring.core.text.glob import Glob, GlobSet
from mooring.tools.catalog.catalog import ToolSource, defer
from mooring.tools.results.outcome import DEFAULT_TOKENS, find_budget

COSTLY = "*" + "a?" * 50 + "*"
LONG = "a" * 200_000
"""Whether `COSTLY` matches this would take too long to tell."""

NAMES = ["search_code", "search", "read", "write", "a.b", "[x]", "READ", ""]
GLOBS = ["*", "search*", "?ead", "[rw]*", "[!rw]*", "[[]x]", "read", "*.*", ""]


def source(allow: tuple[str, ...] | None = None, deny: tuple[str, ...] = ()) -> ToolSource:
    return ToolSource("server", (), "", allow, deny)


@pytest.mark.parametrize("glob", GLOBS)
def test_an_ordinary_glob_filters_as_the_standard_library_would(glob: str) -> None:
    expected = [fnmatchcase(name, glob) for name in NAMES]
    assert [source(allow=(glob,)).offers(name) for name in NAMES] == expected
    assert [not source(deny=(glob,)).offers(name) for name in NAMES] == expected
    assert [not ToolScope(deny=(glob,)).allows_builtin(name) for name in NAMES] == expected
    assert [find_budget({glob: 1}, None, name) == 1 for name in NAMES] == expected


@given(globs=st.lists(st.text("ab*?[]!", max_size=5)), text=st.text("ab*[", max_size=5))
def test_several_globs_match_what_one_of_them_does(globs: list[str], text: str) -> None:
    assert GlobSet(globs).matches(text) == any(Glob(glob).matches(text) for glob in globs)


def test_a_hundred_times_the_plain_globs_cost_next_to_nothing() -> None:
    def measure(count: int) -> float:
        globs = GlobSet([f"server-{n}.{end}" for n in range(count) for end in ("*", "tool")])
        return min(timeit.repeat(lambda: globs.matches("server-x.tool"), number=2_000, repeat=3))

    assert measure(5_000) < 5 * measure(50)


def test_what_cannot_be_told_is_denied_and_not_allowed() -> None:
    assert not source(allow=(COSTLY,)).offers(LONG)
    assert not source(deny=(COSTLY,)).offers(LONG)
    assert not ToolScope(allow=(COSTLY,)).allows_server(LONG)
    assert not ToolScope(deny=(COSTLY,)).allows_server(LONG)
    assert not ToolScope(deny=(COSTLY,)).allows_builtin(LONG)


def test_what_cannot_be_told_is_neither_always_shown_nor_given_more_room() -> None:
    shown, deferred = defer({("server", LONG): Tool(LONG, Raw(b"{}"))}, 0, [COSTLY])
    assert not shown
    assert deferred
    assert find_budget({COSTLY: 1}, None, LONG) == DEFAULT_TOKENS


def test_a_filter_is_compiled_once_for_all_tools() -> None:
    globs = tuple(f"tool_{number}_[a-z]*" for number in range(300))
    filtered = source(allow=globs)
    names = [f"other_{number}" for number in range(1_000)]
    taken = timeit.timeit(lambda: [filtered.offers(name) for name in names], timer=time.thread_time, number=1)
    assert taken < 2  # compiling 300 globs for each of 1,000 tools takes more than ten times as long
