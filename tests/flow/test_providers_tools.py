"""Tools for a model of one provider: what it is given, that provider takes; what it sends, the server takes."""

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from test_gatekeeping import opened
from test_plane import settings, with_tools

import mooring
from mooring.tools.schema.adapt import PROVIDERS, Provider
from support import Home

TELLER = str(Path(__file__).with_name("teller.py"))
ODD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "filter[id]": {"type": "string"},
        "$top": {"type": ["integer", "null"], "description": "How many."},
        "sort": {"$ref": "#/$defs/sort"},
        "where": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
    "required": ["filter[id]"],
    "additionalProperties": False,
    "$defs": {"sort": {"enum": ["up", "down"]}},
}
UNION = {"oneOf": [{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}, {"type": "null"}]}
OPEN = {"type": "object", "additionalProperties": {"type": "string"}}


@pytest.fixture
def servers(tmp_path: Path) -> dict[str, Any]:
    tools = [
        {"name": "odd", "inputSchema": ODD, "description": "Finds. " * 400},
        {"name": "union", "inputSchema": UNION},
        {"name": "open", "inputSchema": OPEN},
    ]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": tools}))
    entry = {"command": sys.executable, "args": ["-S", TELLER, str(tmp_path / "tools.json")]}
    return {"teller.1": entry}


def find(tools: Any, tool: str) -> Any:
    return next(each for each in tools.definitions if each.tool == tool)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("scheme", ["mcp__server__tool", "mcp.server.tool"])
async def test_names_and_descriptions_are_those_that_the_provider_takes_and_are_understood_again(
    home: Home, servers: dict[str, Any], provider: Provider, scheme: str
) -> None:
    settings(home, toolNames=scheme)

    @mooring.tool(name="2 words")
    def shout(text: str) -> str:
        return text.upper()

    async with opened(home, servers=servers, policy="allow") as host:
        await host.ready()
        async with host.conversation(provider=provider, more=[shout]) as tools:
            names = [each.name for each in tools.definitions]
            assert len(set(names)) == len(names)
            assert [name for name in names if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", name)] == []
            assert "_2_words" in names
            assert (await tools.call("_2_words", {"text": "ahoy"})).text == "AHOY"
            odd = find(tools, "odd")
            assert (odd.server, odd.name in tools.pairs) == ("teller.1", True)
            assert (len(odd.description) <= 1024) == provider.startswith("openai")
            new = next(name for name in odd.schema["properties"] if "filter" in name)
            outcome = await tools.call(odd.name, {new: "a"})
            assert (outcome.server, outcome.tool) == ("teller.1", "odd")
            assert json.loads(outcome.text) == {"filter[id]": "a"}


@pytest.mark.parametrize(
    ("provider", "sent"),
    [
        ("anthropic", {"filter_id_": "a", "_top": None, "sort": "up", "where": {"city": "x"}}),
        ("openai", {"filter[id]": "a", "$top": None, "sort": "up", "where": {"city": "x"}}),
        ("openai-strict", {"filter[id]": "a", "$top": None, "sort": "up", "where": {"city": "x", "zip": None}}),
        ("gemini", {"filter_id_": "a", "_top": None, "sort": "up", "where": {"city": "x"}}),
        ("ollama", {"filter[id]": "a", "$top": None, "sort": "up", "where": {"city": "x"}}),
    ],
)
async def test_the_server_gets_its_own_parameters_however_they_had_to_be_renamed_or_widened(
    home: Home, servers: dict[str, Any], provider: Provider, sent: dict[str, Any]
) -> None:
    async with opened(home, servers=servers, policy="allow") as host:
        await host.ready()
        async with host.conversation(provider=provider) as tools:
            odd = find(tools, "odd")
            assert set(sent) == set(odd.schema["properties"])
            outcome = await tools.call(odd.name, json.dumps(sent))
            assert json.loads(outcome.text) == {"filter[id]": "a", "$top": None, "sort": "up", "where": {"city": "x"}}
            assert outcome.notes == ()
            if provider == "openai-strict":
                nothing = {**dict.fromkeys(sent), "filter[id]": "a"}
                assert json.loads((await tools.call(odd.name, nothing)).text) == {"filter[id]": "a", "$top": None}


async def test_openai_is_held_to_a_schema_only_where_there_is_a_strict_form_of_it(
    home: Home, servers: dict[str, Any]
) -> None:
    async with opened(home, servers=servers, policy="allow") as host:
        await host.ready()
        async with host.conversation(provider="openai-strict") as strict, host.conversation(provider="openai") as loose:
            assert find(strict, "odd").strict
            assert not find(strict, "open").strict
            assert find(strict, "open").schema == find(loose, "open").schema
            assert not [each for each in loose.definitions if each.strict]


async def test_what_a_search_finds_and_a_refusal_names_is_adapted_too(home: Home, servers: dict[str, Any]) -> None:
    settings(home, toolNames="mcp.server.tool")
    async with opened(home, servers=servers, policy="allow") as host:
        await host.ready()
        async with host.conversation(provider="gemini", budget=0) as tools:
            early = await tools.call("mcp_teller_1_union", {"id": 1})
            assert "mcp_teller_1_union was not called" in early.text
            assert "oneOf" not in early.text
            found = json.loads((await tools.call("ToolSearch", {"query": "odd"})).text)
            [odd] = [each for each in found if each["name"] == "mcp_teller_1_odd"]
            assert {"filter_id_", "_top"} <= odd["inputSchema"]["properties"].keys()
            assert tools.loaded[0] == "mcp.teller.1.union"
            assert "mcp.teller.1.odd" in tools.loaded
            loaded = tools.loaded
        async with host.conversation(provider="anthropic", budget=0, loaded=loaded) as resumed:
            assert "mcp_teller_1_odd" in [each.name for each in resumed.definitions]


async def test_openai_is_never_given_more_tools_than_it_takes(home: Home, tmp_path: Path) -> None:
    many = [{"name": f"tool_{number}", "inputSchema": {"type": "object"}} for number in range(200)]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": many}))
    entry = {"command": sys.executable, "args": ["-S", TELLER, str(tmp_path / "tools.json")]}
    async with opened(home, servers={"teller": entry}, policy="allow") as host:
        await host.ready()
        async with host.conversation(provider="anthropic") as tools:
            assert len(tools.definitions) > 200
        async with host.conversation(provider="openai") as tools, host.conversation(provider="openai") as beside:
            assert "ToolSearch" in [each.name for each in tools.definitions]
            for number in range(150):
                assert tools.show(f"mcp__teller__tool_{number}").tool == f"tool_{number}"
                assert len(tools.definitions) <= 128
            # What was found first has to be found again.
            assert [each.tool for each in tools.definitions][-1] == "tool_149"
            assert (await tools.call("mcp__teller__tool_149", {})).text == "{}"
            assert "was not called" in (await tools.call("mcp__teller__tool_0", {})).text
            assert beside.loaded == ()


async def test_the_gate_is_asked_about_the_arguments_that_the_server_would_get(
    home: Home, servers: dict[str, Any]
) -> None:
    settings(home, permissions=[{"tool": "teller.1/odd", "action": "deny", "pattern": "filter[[]id]=secret*"}])
    async with opened(home, servers=servers, policy="allow") as host:
        await host.ready()
        async with host.conversation(provider="gemini") as tools:
            name = find(tools, "odd").name
            for value in ("secret-1", "open-1"):
                verdict = tools.may(name, {"filter_id_": value})
                assert (verdict.action == "deny") == (value == "secret-1")
                assert (await tools.call(name, {"filter_id_": value})).is_error == (value == "secret-1")


async def test_who_changes_a_schema_changes_it_for_nobody_else(home: Home, servers: dict[str, Any]) -> None:
    async with opened(home, servers=servers) as host:
        await host.ready()
        async with host.conversation(provider="anthropic") as one, host.conversation(provider="anthropic") as other:
            find(one, "odd").schema["properties"].clear()
            assert find(other, "odd").schema["properties"]


async def test_an_unknown_provider_is_an_error_that_names_the_known_ones(home: Home) -> None:
    async with opened(home, servers={}) as host:
        with pytest.raises(mooring.ConfigError, match="'openapi' is no provider"):
            host.conversation(provider="openapi")  # type: ignore[arg-type]


async def test_five_hundred_tools_are_adapted_once_for_all_conversations(home: Home, tmp_path: Path) -> None:
    with_tools(tmp_path, 500)
    entry = {"command": sys.executable, "args": ["-S", TELLER, str(tmp_path / "teller.json")]}
    async with opened(home, servers={"teller": entry}) as host:
        await host.ready()
        began = time.process_time()
        first = host.conversation(provider="openai-strict", budget=None)
        made = time.process_time() - began
        assert len(first.definitions) > 500
        adapted = time.process_time() - began
        again = min(_measure(host) for _ in range(5))
        each = min(_measure_twenty(host) for _ in range(5)) / 20
    print(f"made {made:.4f}, adapted {adapted:.4f}, again {again:.4f}, each registry {each:.5f}")  # noqa: T201
    assert each < 0.002
    assert again < adapted / 3


def _measure_twenty(host: mooring.Host) -> float:
    began = time.process_time()
    for _ in range(20):
        host.conversation(provider="openai-strict", budget=None)
    return time.process_time() - began


def _measure(host: mooring.Host) -> float:
    began = time.process_time()
    assert len(host.conversation(provider="openai-strict", budget=None).definitions) > 500
    return time.process_time() - began


async def test_schemas_of_a_server_that_take_too_long_to_adapt_allow_any_object_and_still_check_the_call(
    home: Home, tmp_path: Path
) -> None:
    bomb = {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}, "required": ["a"]}
    tools = [{"name": f"bomb_{number}", "inputSchema": bomb} for number in range(2000)]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": tools}))
    entry = {"command": sys.executable, "args": ["-S", TELLER, str(tmp_path / "tools.json")]}
    async with opened(home, servers={"teller": entry}, policy="allow") as host:
        await host.ready()
        began = time.process_time()
        async with host.conversation(provider="gemini", budget=None) as tools_of_all:
            definitions = [each for each in tools_of_all.definitions if each.tool.startswith("bomb")]
            assert time.process_time() - began < 5
            assert len(definitions) == 2000
            assert definitions[0].schema["properties"].keys() == {"a", "b"}
            assert [each for each in definitions if not each.schema["properties"]]
            assert max(len(json.dumps(each.schema)) for each in definitions) < 200_000
            assert "it needs a" in (await tools_of_all.call("mcp__teller__bomb_1999", {})).text
