"""`mooring tools SERVER` and `SERVER.TOOL`: what a tool takes, and an example that can be pasted."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chat.terminal import Person
from support import DEMO, Actor, Cli, Home

MOORING_FOLDER = str(Path(sys.executable).parent)


def properties(required: list[str] | None = None, **schemas: Any) -> dict[str, Any]:
    return {"type": "object", "properties": schemas, "required": list(schemas) if required is None else required}


TEXT = {"type": "string"}
TREE = {"type": "object", "properties": {"name": TEXT, "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}
ODD: dict[str, dict[str, Any]] = {
    "issue": properties(["title"], title=TEXT, body=TEXT, labels={"type": "array", "items": TEXT}),
    "maybe": properties(x={"anyOf": [{"type": "null"}, {"type": "integer"}]}),
    "referred": {**properties(color={"$ref": "#/$defs/color"}), "$defs": {"color": {"enum": ["red", "sky blue"]}}},
    "nested": properties(
        filter=properties(
            ["ids", "when"], ids={"type": "array", "items": {"type": "integer"}, "minItems": 2}, when=TEXT
        )
    ),
    "distinct": properties(tags={"type": "array", "items": TEXT, "minItems": 3, "uniqueItems": True}),
    "stepped": properties(n={"type": "integer", "minimum": 7, "multipleOf": 5}),
    "between": properties(n={"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 2}),
    "patterned": properties(sha={"type": "string", "pattern": "^[0-9a-f]{4,}$"}, currency={"pattern": "^[A-Z]{3}$"}),
    "constant": properties(kind={"const": "@home"}, say={"const": "it's $HOME"}),
    "either": {**properties([], a=TEXT, b=TEXT), "anyOf": [{"required": ["b"]}, {"required": ["a", "b"]}]},
    "some": {**properties([], a=TEXT, b=TEXT), "minProperties": 2},
    "formatted": properties(mail={"type": "string", "format": "email"}, day={"type": "string", "format": "date"}),
    "long": properties(code={"type": "string", "minLength": 20}, short={"type": "string", "maxLength": 2}),
    "switched": properties(on={"type": "boolean"}),
    "anything": properties(x={}),
    "pair": properties(at={"type": "array", "prefixItems": [{"type": "number"}, TEXT], "minItems": 2, "items": False}),
    "named": properties(**{"first name": TEXT, "-x": TEXT, "a=b": TEXT}),
    "parts": properties(x={"allOf": [{"type": "string"}, {"minLength": 12}]}),
    "tree": {**properties(root={"$ref": "#/$defs/tree"}), "$defs": {"tree": {**TREE, "required": ["name", "kids"]}}},
    "mixed": properties(x={"type": ["integer", "string"]}, y={"type": ["array", "string"]}),
    "open": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 0},
    "none": {"type": "object"},
}


@pytest.fixture
def odd(cli: Cli, tmp_path: Path) -> Actor:
    shape = {name: {"inputSchema": schema, "description": f"About {name}."} for name, schema in ODD.items()}
    actor = Actor(tmp_path / "odd.json", tools=list(ODD), shape=shape)
    cli.home.configure(odd=actor.entry)
    return actor


def find_example(text: str) -> str:
    found = re.search(r"^Example:\n  (.+)$", text, re.MULTILINE)
    assert found is not None, text
    return found[1]


def test_a_server_s_tools_have_a_signature_and_a_line_each(cli: Cli, odd: Actor) -> None:
    lines = cli("tools", "odd").out.splitlines()
    signatures = {line.partition("(")[0]: line for line in lines if not line.startswith(" ")}
    assert signatures["issue"] == "issue(title, body?, labels?: [text])"
    assert signatures["maybe"] == "maybe(x: integer)"
    assert signatures["referred"] == 'referred(color: red|"sky blue")'
    assert signatures["switched"] == "switched(on: yes|no)"
    assert signatures["anything"] == "anything(x: any)"
    assert signatures["mixed"] == "mixed(x: text|integer, y: text|[any])"
    assert signatures["none"] == "none()"
    assert lines[lines.index(signatures["issue"]) + 1] == "  About issue."


def test_one_tool_is_shown_with_types_limits_defaults_and_an_example(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    assert cli("tools", "demo.slow").out.splitlines() == [
        "demo.slow(seconds: number, steps?: integer)",
        "",
        "  Takes its time, can be cancelled.",
        "",
        "Parameters:",
        "  seconds: number, required, 0 to 600",
        "  steps: integer, optional, default 4, 1 to 100",
        "",
        "Example:",
        "  mooring call demo.slow seconds=1",
    ]
    assert cli("tools", "demo", "slow").out == cli("tools", "slow").out == cli("tools", "demo.slow").out
    assert "demo.slow" in cli("tools", "slow").err


def test_one_tool_as_data_has_its_signature_and_the_example_beside_its_schema(cli: Cli, odd: Actor) -> None:
    data = cli("tools", "odd.issue", "--json").data
    [tool] = data["tools"]
    assert (tool["server"], tool["tool"], tool["inputSchema"]) == ("odd", "issue", ODD["issue"])
    assert tool["signature"] == "odd.issue(title, body?, labels?: [text])"
    assert [parameter["name"] for parameter in tool["parameters"]] == ["title", "body", "labels"]
    assert tool["example"] == "mooring call odd.issue title=TITLE"
    assert [server["name"] for server in data["servers"]] == ["odd"]


def test_the_example_of_every_odd_schema_passes_its_validation(cli: Cli, odd: Actor) -> None:
    for name in ODD:
        example = find_example(cli("tools", "odd", name).out)
        command, *words = shlex.split(example)
        done = cli(*words)
        assert (command, done.code, done.out) == ("mooring", 0, f"{name}\n"), (example, done.err)


def test_the_example_of_every_tool_of_the_demo_can_be_pasted_into_a_shell(home: Home) -> None:
    env = {**home.env, "PATH": f"{MOORING_FOLDER}:/usr/bin:/bin"}

    def paste(line: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["bash", "-c", line], cwd=home.cwd, env=env, capture_output=True, text=True, timeout=60, check=False
        )

    tools = json.loads(paste("mooring tools --demo --json").stdout)["tools"]
    lines = [find_example(paste(f"mooring tools --demo demo.{tool['tool']}").stdout) for tool in tools]
    assert len(lines) == 7
    for line in lines:
        done = paste(line)
        assert done.returncode in (0, 1, 4), (line, done.stderr)


def test_the_example_of_an_ad_hoc_server_names_it(cli: Cli) -> None:
    server = shlex.join([sys.executable, "-I", "-m", "mooring.demo"])
    example = find_example(cli("tools", "--server", server, "echo").out)
    _, *words = shlex.split(example)
    assert cli(*words).out == "TEXT\n"


def test_hostile_words_of_a_server_cannot_steer_the_terminal(cli: Cli, tmp_path: Path) -> None:
    evil = "x\x1b[2J\u202e"
    schema = properties(**{evil: {"enum": [evil], "description": evil, "default": evil}})
    shape = {"t": {"inputSchema": schema, "description": evil}}
    cli.home.configure(odd=Actor(tmp_path / "odd.json", tools=["t"], shape=shape).entry)
    for words in (["tools", "odd"], ["tools", "odd.t"], ["tools"]):
        out = cli(*words).out
        assert "\x1b" not in out
        assert "\u202e" not in out
    # A command with escapes in it would mean something else.
    assert "Example:" not in cli("tools", "odd.t").out


def test_a_terminal_gets_whole_words_in_every_line(home: Home, tmp_path: Path) -> None:
    words = "Counts every wonderful word of this considerably long description and never breaks one of them"
    many = properties(**{f"parameter_number_{number}": {**TEXT, "description": words} for number in range(8)})
    shape = {"count": {"inputSchema": many, "description": words}}
    home.configure(odd=Actor(tmp_path / "odd.json", tools=["count"], shape=shape).entry)
    known = {*words.split(), *(f"parameter_number_{number}:" for number in range(8)), "…"}
    for command in (["tools"], ["tools", "odd"], ["tools", "odd.count"]):
        with Person(home, *command, cells=80) as person:
            assert person.ended() == 0
            # A command to paste stays on one line.
            shown = person.shown.replace("\r", "").partition("Example:")[0].splitlines()
        assert all(len(line) <= 80 for line in shown), shown
        described = [line.split() for line in shown if "wonderful" in line or "considerably" in line]
        assert described
        for line in described:
            assert set(line[-2:]) <= known, line
