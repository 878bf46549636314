"""What a project's files would start needs a person's word, and the word binds exactly what they saw."""

import json
import os
import stat
from typing import Any

import pytest
from msgspec.structs import replace

from conftest import Home
from mooring.actions.approve import UNCHECKED, decide, pending, questions
from mooring.errors import ConfigError, FileError, UnknownServer
from mooring.permissions import trust

ENTRY = {"command": "npx", "args": ["-y", "server"], "env": {"K": "v"}, "cwd": "tools"}


def project(home: Home, entry: Any, name: str = "x") -> None:
    home.write("project/.mcp.json", {"mcpServers": {name: entry}})


def standing(home: Home, name: str = "x") -> str:
    return home.inventory().find(name).standing


def approve(home: Home, *names: str, verdict: bool = True) -> tuple[str, ...]:
    inventory = home.inventory()
    return decide(inventory, questions(inventory, names, home.where), home.where, verdict)


def test_a_project_server_is_unseen_until_approved(home: Home) -> None:
    project(home, ENTRY)
    assert standing(home) == "unseen"
    assert approve(home, "x") == ("x",)
    assert standing(home) == "approved"


def test_a_rejection_is_remembered_until_the_definition_changes(home: Home) -> None:
    project(home, ENTRY)
    approve(home, "x", verdict=False)
    assert standing(home) == "rejected"
    assert pending(home.inventory()) == ()
    project(home, {**ENTRY, "args": ["other"]})
    assert standing(home) == "changed"
    assert [definition.name for definition in pending(home.inventory())] == ["x"]


MUTATIONS: dict[str, Any] = {
    "command": {**ENTRY, "command": "npx2"},
    "arguments": {**ENTRY, "args": ["-y", "server", "--more"]},
    "order of arguments": {**ENTRY, "args": ["server", "-y"]},
    "an env value": {**ENTRY, "env": {"K": "w"}},
    "an env name": {**ENTRY, "env": {"L": "v"}},
    "one more env": {**ENTRY, "env": {"K": "v", "NODE_OPTIONS": "x"}},
    "cwd": {**ENTRY, "cwd": "other"},
    "env file": {**ENTRY, "envFile": ".env"},
    "an address instead": {"type": "http", "url": "https://x"},
}


@pytest.mark.parametrize("what", MUTATIONS)
def test_an_approval_ends_when_what_would_be_started_changes(what: str, home: Home) -> None:
    project(home, ENTRY)
    approve(home, "x")
    project(home, MUTATIONS[what])
    assert standing(home) == "changed"


HTTP = {"type": "http", "url": "https://x/mcp", "headers": {"A": "b"}}


@pytest.mark.parametrize(
    "change",
    [
        {"url": "https://y/mcp"},
        {"headers": {"A": "c"}},
        {"headers": {}},
        {"type": "sse"},
        {"headersHelper": "x"},
        {"oauth": {"clientId": "c"}},
    ],
)
def test_an_approval_ends_when_the_address_or_what_is_sent_changes(change: dict[str, Any], home: Home) -> None:
    project(home, HTTP)
    approve(home, "x")
    project(home, {**HTTP, **change})
    assert standing(home) == "changed"


@pytest.mark.parametrize(
    "change", [{"timeout": 5000}, {"description": "new"}, {"enabled": False}, {"alwaysLoad": True}]
)
def test_an_approval_survives_what_starts_nothing_else(change: dict[str, Any], home: Home) -> None:
    project(home, ENTRY)
    approve(home, "x")
    project(home, {**ENTRY, **change})
    assert standing(home) == "approved"


def test_the_same_text_in_another_tools_file_is_another_definition(home: Home) -> None:
    project(home, {"command": "x", "env": {"A": "${B}"}})
    approve(home, "x")
    (home.project / ".mcp.json").unlink()
    home.write("project/.omp/mcp.json", {"mcpServers": {"x": {"command": "x", "env": {"A": "${B}"}}}})
    assert standing(home) == "changed"


def test_an_approval_counts_in_its_own_project_only(home: Home) -> None:
    project(home, ENTRY)
    approve(home, "x")
    other = home.folder / "other"
    (other / ".git").mkdir(parents=True)
    (other / ".mcp.json").write_text((home.project / ".mcp.json").read_text())
    assert home.inventory(cwd=str(other)).find("x").standing == "unseen"


def test_a_link_to_the_project_is_the_same_project(home: Home) -> None:
    project(home, ENTRY)
    approve(home, "x")
    link = home.folder / "link"
    link.symlink_to(home.project)
    assert home.inventory(cwd=str(link)).find("x").standing == "approved"


def test_an_approved_server_displaces_the_persons_own_and_an_unapproved_one_does_not(home: Home) -> None:
    home.write("home/.mcp.json", {"mcpServers": {"x": {"command": "mine"}}})
    project(home, ENTRY)
    before = home.inventory().find("x")
    assert (before.definition.origin.scope, before.proposed is not None) == ("user", True)
    approve(home, "x")
    after = home.inventory().find("x")
    assert (after.definition.origin.scope, after.proposed) == ("project", None)


GRANTS = {
    "claude settings in the repository": (
        "project/.claude/settings.json",
        {"enableAllProjectMcpServers": True, "enabledMcpjsonServers": ["x"]},
    ),
    "claude local settings in the repository": (
        "project/.claude/settings.local.json",
        {"enableAllProjectMcpServers": True, "enabledMcpjsonServers": ["x"]},
    ),
    "our settings in the repository": (
        "project/.mooring/settings.json",
        {"permissions": [{"tool": "*", "action": "allow"}], "env": {"XDG_STATE_HOME": "."}, "sources": {"omp": False}},
    ),
    "a record of approvals in the repository": (
        "project/.local/state/mooring/approvals.json",
        {"version": 1, "decisions": [{"project": "$PROJECT", "name": "x", "digest": "", "verdict": "approved"}]},
    ),
    "a .env file": ("project/.env", "HOME=.\nXDG_STATE_HOME=.\nCLAUDE_CONFIG_DIR=.claude\n"),
    "another home": ("project/.claude.json", {"projects": {"$PROJECT": {"enabledMcpjsonServers": ["x"]}}}),
    "codex trust": ("home/.codex/config.toml", '[projects."$PROJECT"]\ntrust_level = "trusted"\n'),
}


@pytest.mark.parametrize("what", GRANTS)
def test_nothing_but_the_persons_word_approves(what: str, home: Home) -> None:
    path, content = GRANTS[what]
    text = content if isinstance(content, str) else json.dumps(content)
    home.write(path, text.replace("$PROJECT", str(home.project)))
    project(home, ENTRY)
    assert standing(home) == "unseen"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("home/.claude/settings.json", {"enabledMcpjsonServers": ["x"]}),
        ("home/.claude/settings.json", {"enableAllProjectMcpServers": True}),
        ("home/.claude.json", {"projects": {"$PROJECT": {"enabledMcpjsonServers": ["x"]}}}),
    ],
)
def test_claudes_record_in_the_persons_own_files_counts_for_what_was_first_seen(
    path: str, content: Any, home: Home
) -> None:
    home.write(path, json.dumps(content).replace("$PROJECT", str(home.project)))
    project(home, ENTRY)
    assert standing(home) == "approved"
    project(home, {**ENTRY, "command": "evil"})
    assert standing(home) == "changed"


def test_the_persons_rejection_counts_before_claudes_approval(home: Home) -> None:
    home.write("home/.claude/settings.json", {"enabledMcpjsonServers": ["x"]})
    project(home, ENTRY)
    approve(home, "x", verdict=False)
    assert standing(home) == "rejected"


def test_claudes_record_says_nothing_about_other_tools_files(home: Home) -> None:
    home.write("home/.claude/settings.json", {"enableAllProjectMcpServers": True})
    home.write("project/.omp/mcp.json", {"mcpServers": {"x": ENTRY}})
    assert standing(home) == "unseen"


def test_claudes_private_servers_of_a_project_need_no_approval(home: Home) -> None:
    home.write("home/.claude.json", {"projects": {str(home.project): {"mcpServers": {"x": ENTRY}}}})
    assert standing(home) == "own"


def test_the_question_shows_exactly_what_would_run_and_what_is_not_checked(home: Home) -> None:
    script = home.write("project/bin/run me", "#!/bin/sh\n")
    script.chmod(0o755)
    project(home, {"command": "./bin/run me", "args": ["a b", "$(x)"], "env": {"SECRET": "canary"}})
    [question] = questions(home.inventory(), ["x"], home.where)
    assert question.command == ("./bin/run me", "a b", "$(x)")
    assert question.target == os.path.realpath(script)
    assert question.env == ("SECRET",)
    assert question.source.path == str(home.project / ".mcp.json")
    assert question.warning == UNCHECKED
    assert "canary" not in repr(question)


def test_the_question_about_an_address_shows_it_and_its_origin(home: Home) -> None:
    project(home, {"type": "http", "url": "https://user:pw@host.example:8443/mcp?x=1"})
    [question] = questions(home.inventory(), ["x"], home.where)
    assert question.url == "https://user:pw@host.example:8443/mcp?x=1"
    assert question.target == "https://host.example:8443"


def test_what_is_the_persons_own_or_broken_cannot_be_approved(home: Home) -> None:
    home.write("home/.mcp.json", {"mcpServers": {"mine": ENTRY}})
    project(home, {"command": 3}, "broken")
    inventory = home.inventory()
    with pytest.raises(ConfigError, match="needs no approval"):
        questions(inventory, ["mine"], home.where)
    with pytest.raises(ConfigError, match="cannot be approved"):
        questions(inventory, ["broken"], home.where)
    with pytest.raises(UnknownServer):
        questions(inventory, ["nobody"], home.where)


def test_decisions_lie_in_a_private_file_of_the_persons_state_folder(home: Home) -> None:
    project(home, ENTRY)
    approve(home, "x")
    path = home.home / ".local/state/mooring/approvals.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    [decision] = json.loads(path.read_text())["decisions"]
    assert decision["project"] == str(home.project)
    assert decision["by"] == "person"


def test_a_damaged_record_approves_nothing_and_is_not_overwritten(home: Home) -> None:
    project(home, ENTRY)
    approve(home, "x")
    path = home.home / ".local/state/mooring/approvals.json"
    path.write_text("{damaged")
    inventory = home.inventory()
    assert inventory.find("x").standing == "unseen"
    assert any("record of approvals" in problem.message for problem in inventory.problems)
    with pytest.raises(FileError, match="damaged"):
        approve(home, "x")
    assert path.read_text() == "{damaged"


def test_decisions_of_several_projects_are_kept_side_by_side(home: Home) -> None:
    for name in ("a", "b"):
        folder = home.folder / name
        (folder / ".git").mkdir(parents=True)
        (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"x": ENTRY}}))
        request = home.request(cwd=str(folder))
        from mooring.inventory import load

        inventory = load(request)
        decide(inventory, questions(inventory, ["x"], home.where), home.where, name == "a")
    ledger, _ = trust.load(home.where)
    assert [decision.verdict for decision in ledger.decisions] == ["approved", "rejected"]


def test_a_home_that_cannot_be_written_keeps_reading_and_says_so(home: Home) -> None:
    home.write("home/.claude/settings.json", {"enabledMcpjsonServers": ["x"]})
    project(home, ENTRY)
    blocked = home.write("home/state", "a file where a folder should be")
    where = replace(home.where, env={**home.env, "XDG_STATE_HOME": str(blocked)})
    inventory = home.inventory(where=where)
    assert inventory.find("x").standing == "approved"
    assert any("could not be kept" in problem.message for problem in inventory.problems)
