"""What tools cost, and which are shown from the start."""

import json

from msgspec import Raw

from mooring.core.protocol.tool import Tool
from mooring.tools.catalog.catalog import Tools, defer, estimate_tokens, estimate_tool, estimate_tools


def tool(name: str, description: str = "", schema: object = None) -> Tool:
    return Tool(name=name, description=description, input_schema=Raw(json.dumps(schema or {}).encode()))


TOOLS: Tools = {
    (server, name): tool(name, "x" * 400)
    for server, name in [("b", "write"), ("a", "read"), ("b", "read"), ("a", "list")]
}


def test_four_bytes_are_about_a_token() -> None:
    assert [estimate_tokens(text) for text in ("", "abc", "abcd", "abcde", "日本", b"12345678")] == [0, 1, 1, 2, 2, 2]


def test_a_lone_surrogate_has_a_cost_too() -> None:
    assert estimate_tokens("\ud800") == 1


def test_name_description_and_schema_are_paid_for() -> None:
    assert estimate_tool(tool("name", "eight ch", {})) == 1 + 2 + 1
    assert estimate_tool(tool("name", "eight ch", {"type": "object"})) == 1 + 2 + 5


def test_all_are_shown_where_all_fit() -> None:
    shown, deferred = defer(TOOLS, budget=estimate_tools(TOOLS))
    assert list(shown) == sorted(TOOLS)
    assert not deferred


def test_one_token_too_many_defers_all_that_are_not_named() -> None:
    shown, deferred = defer(TOOLS, budget=estimate_tools(TOOLS) - 1)
    assert not shown
    assert list(deferred) == sorted(TOOLS)


def test_what_a_glob_names_is_shown_whatever_it_costs() -> None:
    shown, deferred = defer(TOOLS, budget=0, always=["*.read", "b.w*"])
    assert list(shown) == [("a", "read"), ("b", "read"), ("b", "write")]
    assert list(deferred) == [("a", "list")]


def test_the_order_does_not_depend_on_who_came_first() -> None:
    turned = dict(reversed(TOOLS.items()))
    assert [list(part) for part in defer(TOOLS, 0, ["a.*"])] == [list(part) for part in defer(turned, 0, ["a.*"])]
