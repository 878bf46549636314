"""Names of tools: told apart whatever servers call themselves, at most 64 characters, the same every time."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.settings import NAMES
from mooring.tools.catalog.names import MAX_LENGTH, Scheme, name_tools

SCHEMES: list[Scheme] = ["mcp__server__tool", "mcp_server_tool", "mcp.server.tool"]


def one(server: str, tool: str, scheme: Scheme = "mcp__server__tool") -> str:
    return name_tools([(server, tool)], scheme)[server, tool]


def test_the_schemes_are_those_that_can_be_set() -> None:
    assert list(NAMES) == SCHEMES


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("github", "create_issue", "mcp__github__create_issue"),
        ("my-server", "get-thing", "mcp__my-server__get-thing"),
    ],
)
def test_plain_names_are_joined_by_double_underscores(server: str, tool: str, name: str) -> None:
    assert one(server, tool) == name


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("github", "create_issue", "mcp_github_create_issue"),
        ("GitHub", "github_create", "mcp_github_create"),
        ("my-server", "x.y", "mcp_my_server_x_y"),
        ("a1", "b2c", "mcp_a_b_c"),
        ("fs", "fs_", "mcp_fs_fs"),
    ],
)
def test_the_second_scheme_keeps_letters_alone_and_repeats_no_server(server: str, tool: str, name: str) -> None:
    assert one(server, tool, "mcp_server_tool") == name


def test_the_third_scheme_joins_by_dots() -> None:
    assert one("github", "create_issue", "mcp.server.tool") == "mcp.github.create_issue"


@pytest.mark.parametrize(
    "pairs",
    [
        [("a", "b__c"), ("a__b", "c")],
        [("foo.bar", "x"), ("foo_bar", "x")],
        [("a_", "b"), ("a", "_b")],
        [("A", "b"), ("a", "b")],
        [("s", "x" * 80 + "1"), ("s", "x" * 80 + "2")],
        [("é", "x"), ("e\u0301", "x"), ("e", "x")],
        [("a\u200bb", "x"), ("ab", "x")],
        [("my-server", "t"), ("my.server", "t")],
        [("a.b", "c"), ("a", "b.c")],
    ],
)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_names_that_could_meet_are_told_apart(pairs: list[tuple[str, str]], scheme: Scheme) -> None:
    assert len(set(name_tools(pairs, scheme).values())) == len(pairs)


text = st.text(alphabet="ab_.-/ AÉ\u200b1", min_size=1, max_size=8) | st.text(min_size=1, max_size=90)


@settings(max_examples=300)
@given(pairs=st.lists(st.tuples(text, text), unique=True, max_size=30), scheme=st.sampled_from(SCHEMES))
def test_no_two_pairs_ever_share_a_name_and_none_is_too_long(pairs: list[tuple[str, str]], scheme: Scheme) -> None:
    made = name_tools(pairs, scheme)
    assert len(set(made.values())) == len(pairs)
    assert max(map(len, made.values()), default=0) <= MAX_LENGTH
    assert name_tools(reversed(pairs), scheme) == made
    if scheme != "mcp.server.tool":
        assert all(re.fullmatch(r"[A-Za-z0-9_-]+", name) for name in made.values())


@settings(max_examples=200)
@given(pair=st.tuples(text, text), others=st.lists(st.tuples(text, text), max_size=10))
def test_in_the_first_scheme_a_name_does_not_depend_on_its_neighbours(
    pair: tuple[str, str], others: list[tuple[str, str]]
) -> None:
    assert name_tools([pair])[pair] == name_tools([pair, *others])[pair]


def test_a_server_cannot_grind_out_the_name_of_another_ones_tool() -> None:
    victim = one("foo.bar", "x")
    server, tool = victim.removeprefix("mcp__").split("__", 1)
    assert one(server, tool) != victim
