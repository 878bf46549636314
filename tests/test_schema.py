"""The published schemas say what the code does."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec import Struct

from mooring.agents.local.writing import WriteArguments
from mooring.conversation import function
from mooring.core.definitions.config import ServerConfig
from mooring.discovery.formats.mooring import FORMAT
from mooring.settings import SETTINGS, UNUSED, load
from support import Home

SCHEMAS = Path(__file__).parents[1] / "docs" / "reference" / "schema"


def validator(name: str) -> Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_the_schema_of_servers_has_exactly_the_keys_that_are_read() -> None:
    assert set(validator("mcp").schema["$defs"]["server"]["properties"]) == set(FORMAT.fields)


def test_the_schema_of_settings_has_exactly_the_settings_there_are() -> None:
    assert set(validator("settings").schema["properties"]) - {"$schema"} == {*SETTINGS, *UNUSED}


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "x"},
        {"command": "x", "args": ["a", 1], "env": {"A": "${B}", "N": 3, "G": None}, "timeout": 0},
        {"type": "http", "url": "https://x", "headers": {"A": "b"}, "oauth": False},
        {"url": "https://x", "lifecycle": "eager", "allowedTools": []},
        {"command": "x", "url": "y"},
        {"args": []},
        {"type": "pigeon", "command": "x"},
        {"command": ["x"]},
        {"command": "x", "args": "y"},
        {"command": "x", "env": []},
        "text",
    ],
)
def test_the_schema_accepts_an_entry_exactly_when_the_reader_does(entry: Any, home: Home) -> None:
    document = {"mcpServers": {"x": entry}}
    home.write("home/.config/mooring/mcp.json", document)
    inventory = home.inventory()
    accepted = isinstance(inventory.find("x").definition.config, ServerConfig)
    assert validator("mcp").is_valid(document) == accepted


@pytest.mark.parametrize(
    "value",
    [
        {"hooks": {"PreToolUse": [{"command": "x"}]}, "sandbox": True},
        {"sources": {"codex": False}},
        {"sources": []},
        {"permissions": [{"tool": "x"}]},
        {"permissions": [{"tool": "x", "action": "deny", "pattern": "rm *"}]},
        {"permissions": [{"tool": "x", "action": "deny", "patern": "rm *"}]},
        {"permissions": [{"tool": "", "action": "deny"}]},
        {"permissions": [{"tool": "x" * 1001, "action": "deny"}]},
        {"permissionMode": "plan"},
        {"permissionMode": "yolo"},
        {"trustedServers": ["github"]},
        {"trustedServers": "github"},
        {"toolNames": "x"},
        {"toolBudget": 0},
        {"toolBudget": 101},
        {"alwaysLoad": ["github.*"]},
        {"alwaysLoad": "github.*"},
        {"resultTokens": 5000},
        {"resultTokens": {"github.*": 5000}},
        {"resultTokens": {"github.*": "all"}},
        {"resultTokens": -1},
        {"resultTokens": True},
        {"backgroundAfter": 0.5},
        {"backgroundAfter": None},
        {"z": 1},
    ],
)
def test_the_schema_accepts_settings_exactly_when_the_reader_does(value: Any, home: Home) -> None:
    home.write("home/.config/mooring/settings.json", value)
    wrong = [problem for problem in load(home.where, None).problems if problem.level != "note"]
    assert validator("settings").is_valid(value) == (not wrong)


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("a", True),
        ("A_b.c-9", True),
        ("x" * 100, True),
        ("", False),
        ("x" * 101, False),
        ("a b", False),
        ("ü", False),
        ("a/b", False),
    ],
)
def test_names_that_are_written_are_plain_and_those_that_are_read_are_tolerated(
    name: str, fits: bool, home: Home
) -> None:
    document = {"mcpServers": {name: {"command": "x"}}}
    assert validator("mcp").is_valid(document) == fits
    home.write("home/.config/mooring/mcp.json", document)
    assert [choice.name for choice in home.inventory().choices] == ([name] if name else [])


@pytest.mark.parametrize("name", ["turn-event", "headless"])
def test_the_schemas_of_what_a_turn_prints_are_those_that_its_types_make(name: str) -> None:
    made = runpy.run_path(str(SCHEMAS.parents[1] / "schemas.py"))["pages"]()
    assert (SCHEMAS / f"{name}.schema.json").read_text() == made[name], "run: make docs"
    assert not validator(name).is_valid({"type": "Started"})


def test_the_schemas_of_our_own_tools_are_those_that_their_arguments_make() -> None:
    made = runpy.run_path(str(SCHEMAS.parents[1] / "schemas.py"))["write_argument_schemas"]()
    assert Path(function.SCHEMAS).read_text() == made, "run: make docs"


def test_a_tool_of_ours_is_described_by_what_was_written_down_and_a_program_s_by_its_types() -> None:
    written = json.loads(Path(function.SCHEMAS).read_text())
    name = f"{WriteArguments.__module__}.{WriteArguments.__qualname__}"
    assert (
        function.make_schema(WriteArguments, "Write") == written[name] == function.write_schema(WriteArguments, "Write")
    )

    class Own(Struct):
        path: str

    assert function.make_schema(Own, "own")["properties"] == {"path": {"type": "string"}}
