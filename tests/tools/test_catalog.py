"""The catalog, brought up to date server by server: the same as one made anew, and no other server's tools are touched."""

import json
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from mooring.core.protocol.tool import Tool
from mooring.tools.catalog.catalog import Catalog, ToolSource
from mooring.tools.catalog.names import Scheme, ToolNames, name_tools
from mooring.tools.search.index import Index

SCHEMES: list[Scheme] = ["mcp__server__tool", "mcp_server_tool", "mcp.server.tool"]

# Few and alike, so that names are shared, and some contain the separators themselves.
SERVERS = ["a", "A", "a.b", "a_b", "b", "mcp", "long" * 20]
TOOLS = ["b.c", "c", "b_c", "C", "a_c", "__", "x1", "x2"]
LISTS = st.lists(
    st.tuples(st.sampled_from(SERVERS), st.sets(st.sampled_from(TOOLS)), st.sets(st.sampled_from(TOOLS))), max_size=12
)
"""A server, the tools that it lists, and those of them that are held back."""


def tool(name: str, description: str = "") -> Tool:
    schema = {"type": "object", "properties": {"path": {}}}
    return Tool(name=name, description=description or None, input_schema=Raw(json.dumps(schema).encode()))


def source(server: str, tools: Iterable[str], held: Iterable[str] = ()) -> ToolSource:
    return ToolSource(server, tuple(map(tool, tools)), server, held=frozenset(held))


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=60)
@given(listed=LISTS)
def test_a_catalog_that_was_brought_up_to_date_is_the_one_made_anew(
    scheme: Scheme, listed: list[tuple[str, set[str], set[str]]]
) -> None:
    sources = [source(server, sorted(tools), held) for server, tools, held in listed]
    updated = Catalog(scheme=scheme)
    for each in sources:
        updated.put(each)
    anew = Catalog({each.server: each for each in sources}.values(), scheme)
    assert updated.entries == anew.entries
    assert [(entry.server, entry.tool) for entry in anew.entries] == sorted(
        (entry.server, entry.tool) for entry in anew.entries
    )
    pairs = [(entry.server, entry.tool) for entry in anew.entries]
    assert {(entry.server, entry.tool): entry.name for entry in updated.entries} == name_tools(pairs, scheme)
    for name in {*(entry.name for entry in anew.entries), *map(".".join, pairs), "a.b.c", "a.b", "."}:
        assert updated.get(name) == anew.get(name)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_tool_is_found_by_its_shown_name_and_by_server_and_tool(scheme: Scheme) -> None:
    catalog = Catalog([source("github", ["create", "list"]), source("a.b", ["c.d"])], scheme)
    for entry in catalog.entries:
        assert catalog.get(entry.name) is entry
        assert catalog.get(f"{entry.server}.{entry.tool}") is entry
    assert catalog.get("github.none") is None
    assert catalog.get("." * 100_000) is None


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_server_that_connects_leaves_the_entries_of_all_others_as_they_are(scheme: Scheme) -> None:
    catalog = Catalog([source(f"server{letter}", ["echo", "add"]) for letter in "abcdefgh"], scheme)
    before = {id(entry) for entry in catalog.entries}
    version = catalog.version
    catalog.put(source("serverc", ["echo", "add", "new"]))
    kept = [entry for entry in catalog.entries if id(entry) in before]
    assert {entry.server for entry in kept} == {f"server{letter}" for letter in "abdefgh"}
    assert catalog.version is not version


def test_among_many_that_share_a_name_only_those_that_come_are_named() -> None:
    names = ToolNames("mcp_server_tool")
    names.replace((), [(f"server{n}", "echo") for n in range(100)])
    # Digits are left out in this scheme: all of them share one plain name, and none may keep it.
    assert len(names.replace((), [("server100", "echo")])) == 1
    assert names.replace([(f"server{n}", "echo") for n in range(100)], ()) == {("server100", "echo"): "mcp_server_echo"}
    assert set(names.replace((), [("server7", "echo")])) == {("server7", "echo"), ("server100", "echo")}


def test_what_was_listed_does_not_change_with_the_catalog() -> None:
    catalog = Catalog([source("a", ["one"]), source("b", ["two"])])
    listed = catalog.list_by_server()
    catalog.put(source("a", ["other"]))
    catalog.put(source("c", ["three"]))
    assert {server: list(tools) for server, tools in listed.items()} == {"a": ["one"], "b": ["two"]}


# --- the search index ---------------------------------------------------------------------------------------------

WORDS = ["read file", "send an email", "list all issues", "reads files", "echo", "delete order"]
OFFERS = st.lists(
    st.tuples(
        st.sampled_from(["github", "files", "mail-box"]),
        st.dictionaries(st.sampled_from(["read_file", "send", "listIssues", "x"]), st.sampled_from(WORDS)),
    ),
    max_size=8,
)


@settings(max_examples=60)
@given(offers=OFFERS)
def test_an_index_whose_servers_were_replaced_finds_what_a_new_one_does(
    offers: list[tuple[str, dict[str, str]]],
) -> None:
    index = Index()
    latest: dict[str, Mapping[str, Tool]] = {}
    for server, described in offers:
        latest[server] = {name: tool(name, text) for name, text in described.items()}
        index.put(server, latest[server])
    anew = Index({(server, name): each for server, tools in latest.items() for name, each in tools.items()})
    for words in (*WORDS, "github", "raed fiel", "mail box", "autofit", "path"):
        assert index.search(words, 10) == anew.search(words, 10)


def test_a_search_knows_the_tools_of_a_server_that_was_put_in_since() -> None:
    catalog = Catalog([source("a", ["read_file"]), source("b", ["send_mail"])])
    assert [entry.tool for entry in catalog.search("send mail")] == ["send_mail"]
    catalog.put(source("b", ["delete_order"]))
    assert catalog.search("send mail") == []
    assert [entry.tool for entry in catalog.search("delete order")] == ["delete_order"]
