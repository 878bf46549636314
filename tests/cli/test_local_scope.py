"""Claude Code's local scope, for one person in one project, goes by that name: shown, and taken by -s."""

import json
from typing import Any

import pytest

from support import DEMO, Cli, Home

STATE = "home/.claude.json"
SHARED = "project/.mcp.json"


def put_local(home: Home, **servers: Any) -> None:
    home.write(STATE, {"theme": "dark", "projects": {str(home.project): {"allowed": [], "mcpServers": servers}}})


def read_local(home: Home) -> Any:
    return json.loads((home.folder / STATE).read_text())["projects"][str(home.project)]["mcpServers"]


def test_a_local_server_is_shown_as_local_and_its_data_keeps_the_scope(home: Home, cli: Cli) -> None:
    put_local(home, it=DEMO)
    home.write(SHARED, {"mcpServers": {"it": {"command": "other"}}})
    assert "claude-code, local: ~/.claude.json" in cli("mcp", "list").out
    assert "claude-code, local: ~/.claude.json" in cli("mcp", "get", "it").out
    why = cli("mcp", "why", "it").out
    assert "● claude-code, local: ~/.claude.json\n    wins" in why
    assert "· claude-code, project: " in why
    [row] = cli("mcp", "list", "--json").data["servers"]
    assert row["source"]["scope"] == "project"


def test_the_local_one_of_two_is_removed_or_edited_by_its_scope(home: Home, cli: Cli) -> None:
    put_local(home, it=DEMO)
    shared = home.write(SHARED, {"mcpServers": {"it": {"command": "other"}}})
    before = shared.read_bytes()
    unclear = cli("mcp", "remove", "it", "--from", "claude-code")
    assert unclear.code == 2
    assert f"(local: ~/.claude.json, project: {shared}); choose one with -s." in unclear.err
    edited = cli("mcp", "edit", "--no-test", "it", "--in", "claude-code", "-s", "local", "-e", "A=1")
    assert edited.code == 0, edited.err
    assert read_local(home)["it"]["env"] == {"A": "1"}
    removed = cli("mcp", "remove", "it", "--from", "claude-code", "-s", "local")
    assert removed.code == 0, removed.err
    assert read_local(home) == {}
    assert shared.read_bytes() == before


def test_the_projects_own_one_of_two_is_removed_by_its_scope(home: Home, cli: Cli) -> None:
    put_local(home, it=DEMO)
    shared = home.write(SHARED, {"mcpServers": {"it": {"command": "other"}}})
    assert cli("mcp", "remove", "it", "--from", "claude-code", "-s", "project").code == 0
    assert json.loads(shared.read_text()) == {"mcpServers": {}}
    assert read_local(home) == {"it": DEMO}


@pytest.mark.parametrize("before", [None, {}, {"projects": {}}, {"projects": {"/elsewhere": {"mcpServers": {}}}}])
def test_a_server_is_added_where_claude_code_looks_for_it(before: Any, home: Home, cli: Cli) -> None:
    if before is not None:
        home.write(STATE, before)
    done = cli("mcp", "add", "--no-test", "--to", "claude-code", "-s", "local", "it", "--", "npx", "it")
    assert done.code == 0, done.err
    assert read_local(home)["it"]["command"] == "npx"
    assert "claude-code, local: ~/.claude.json" in cli("mcp", "list").out
    again = cli("mcp", "add", "--no-test", "--to", "claude-code", "-s", "local", "it", "--", "npx", "it")
    assert 'Server "it" already exists in ' in again.err


@pytest.mark.parametrize("tool", ["mooring", "cursor"])
def test_a_tool_without_a_local_scope_says_so(tool: str, home: Home, cli: Cli) -> None:
    done = cli("mcp", "add", "--no-test", "--to", tool, "-s", "local", "it", "--", "npx")
    assert (done.code, done.err) == (
        2,
        f"mooring: {tool} has no local scope. Use -s user (everywhere) or -s project (for the project).\n",
    )


def test_a_switch_for_this_project_takes_the_word_too(home: Home, cli: Cli) -> None:
    put_local(home, it=DEMO)
    assert cli("mcp", "disable", "it", "-s", "local").code == 0
    assert cli("mcp", "list", "--json").data["servers"][0]["status"] == "disabled"
    assert cli("mcp", "enable", "it", "-s", "local").code == 0
    assert cli("mcp", "list", "--json").data["servers"][0]["status"] != "disabled"


def test_doctor_names_the_scope_in_its_fix(home: Home, cli: Cli) -> None:
    put_local(home, it={"command": "no-such-program"})
    assert "fix: mooring mcp edit --in claude-code -s local it" in cli("mcp", "doctor").out
