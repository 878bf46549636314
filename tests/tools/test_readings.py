"""A name that can be read as tools of two servers is refused, and each has a spelling of its own."""

import pytest
from msgspec import Raw

from mooring.core.protocol.tool import Tool
from mooring.errors import AmbiguousTool, UnknownServer
from mooring.tools.catalog.catalog import Catalog, CatalogEntry, ToolSource, UnlistedTool


def tool(name: str) -> Tool:
    return Tool(name=name, input_schema=Raw(b"{}"))


def catalog(**servers: tuple[str, ...] | None) -> Catalog:
    """Servers with their tools; `None` for one that was never asked. Two underscores stand for a dot."""
    return Catalog(
        ToolSource(name.replace("__", "."), tuple(map(tool, tools or ())), name, known=tools is not None)
        for name, tools in servers.items()
    )


@pytest.mark.parametrize(
    "found",
    [
        catalog(a=("b.c",), a__b=("c",)),
        catalog(a=("b.c",), a__b=None),
        catalog(a=None, a__b=("c",)),
        catalog(a=None, a__b=None),
        catalog(a=(), a__b=("c",)),
        catalog(A=("b.c",), a__b=("c",)),
    ],
)
def test_a_name_with_two_readings_is_refused(found: Catalog) -> None:
    assert found.get("a.b.c") is None
    with pytest.raises(AmbiguousTool, match=r"Write [aA]/b\.c or a\.b/c\."):
        found.find("a.b.c")


def test_a_slash_and_a_pair_say_which_one_is_meant() -> None:
    found = catalog(a=("b.c",), a__b=("c",))
    pairs = [("a", "b.c"), ("a.b", "c")]
    for pair in pairs:
        for name in ("/".join(pair), pair):
            entry = found.find(name)
            assert isinstance(entry, CatalogEntry)
            assert (entry.server, entry.tool) == pair
    assert catalog(a=None, a__b=None).find("a/b.c") == UnlistedTool("a", "b.c")


def test_a_shown_name_is_always_unambiguous() -> None:
    found = catalog(a=("b.c",), a__b=("c",))
    for entry in found.entries:
        assert found.find(entry.name) is entry


def test_where_two_slashes_could_end_the_server_the_shown_name_is_offered() -> None:
    found = Catalog(
        [ToolSource("a", (tool("b/c"),), "1"), ToolSource("a/b", (tool("c"),), "2")],
    )
    with pytest.raises(AmbiguousTool, match="Write mcp__a__") as raised:
        found.find("a/b/c")
    for written in raised.value.near:
        assert isinstance(found.find(written), CatalogEntry)


def test_dots_in_a_tool_or_a_server_alone_are_read_as_before() -> None:
    for found, name in (
        (catalog(a=("b.c",)), "a.b.c"),
        (catalog(a__b=("c",)), "a.b.c"),
        (catalog(a__b=("c",)), "A.B.c"),
    ):
        assert isinstance(found.find(name), CatalogEntry)


def test_a_case_that_fits_two_servers_names_neither() -> None:
    found = Catalog([ToolSource(name, (tool("t"),), name) for name in ("GitHub", "github")])
    with pytest.raises(UnknownServer):
        found.find("GITHUB.t2")
