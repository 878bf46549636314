"""What a project's files would start needs a person's word, and the word binds exactly what they saw."""

import json
import os
import stat
import time
from typing import Any

import pytest
from msgspec.structs import replace

from mooring import files
from mooring.core.definitions.approved import AllowRule
from mooring.core.definitions.paths import here
from mooring.display.text import problem_line
from mooring.errors import ConfigError, FileError, UnknownServer
from mooring.inventory.approval import UNCHECKED, decide, list_questions, list_undecided
from mooring.permissions import trust
from support import Home

ENTRY = {"command": "npx", "args": ["-y", "server"], "env": {"K": "v"}, "cwd": "tools"}


def project(home: Home, entry: Any, name: str = "x") -> None:
    home.write("project/.mcp.json", {"mcpServers": {name: entry}})


def standing(home: Home, name: str = "x") -> str:
    return home.inventory().find(name).standing


def approve(home: Home, *names: str, verdict: bool = True) -> tuple[str, ...]:
    inventory = home.inventory()
    return decide(inventory, list_questions(inventory, names, home.where), home.where, verdict)


def test_a_project_server_is_unseen_until_approved(home: Home) -> None:
    project(home, ENTRY)
    assert standing(home) == "unseen"
    assert approve(home, "x") == ("x",)
    assert standing(home) == "approved"


def test_a_rejection_is_remembered_until_the_definition_changes(home: Home) -> None:
    project(home, ENTRY)
    approve(home, "x", verdict=False)
    assert standing(home) == "rejected"
    assert list_undecided(home.inventory()) == ()
    project(home, {**ENTRY, "args": ["other"]})
    assert standing(home) == "changed"
    assert [definition.name for definition in list_undecided(home.inventory())] == ["x"]


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


def claude_approves(home: Home, *names: str) -> None:
    """What Claude Code writes into the person's own file when they approve servers of this project there."""
    home.write("home/.claude.json", {"projects": {str(home.project): {"enabledMcpjsonServers": names}}})


GLOBAL_SWITCHES: list[dict[str, Any]] = [{"enabledMcpjsonServers": ["x"]}, {"enableAllProjectMcpServers": True}]


@pytest.mark.parametrize("switch", GLOBAL_SWITCHES)
def test_a_switch_of_claudes_for_every_project_is_information_and_approves_nothing(
    switch: dict[str, Any], home: Home
) -> None:
    home.write("home/.claude/settings.json", switch)
    project(home, ENTRY)
    assert standing(home) == "unseen"
    assert not (home.home / ".local/state/mooring/approvals.json").exists()
    [question] = list_questions(home.inventory(), ["x"], home.where)
    assert question.trusted_by == f"`{next(iter(switch))}` in {home.home}/.claude/settings.json"


def test_claudes_record_about_this_project_counts_for_what_was_first_seen(home: Home) -> None:
    claude_approves(home, "x")
    project(home, ENTRY)
    assert standing(home) == "approved"
    assert home.inventory().adopted_from(home.inventory().find("x").definition) == "claude-code"
    project(home, {**ENTRY, "command": "evil"})
    assert standing(home) == "changed"


def test_an_adopted_approval_is_bound_to_the_program_that_was_there(home: Home) -> None:
    tool = home.write("project/bin/tool", "#!/bin/sh\n")
    tool.chmod(0o755)
    claude_approves(home, "x")
    project(home, {"command": "./bin/tool"})
    choice = home.inventory().find("x")
    approved = trust.admit(home.inventory().approvals, str(home.project), choice.definition.config)  # type: ignore[arg-type]
    assert approved is not None
    assert approved.target == str(tool)


RUNS_OR_READS: dict[str, Any] = {
    "a command in env": {"command": "x", "env": {"A": "!touch marker"}},
    "a command in a header": {"type": "http", "url": "https://x", "headers": {"X-Team": "!touch marker"}},
    "a helper for headers": {"type": "http", "url": "https://x", "headersHelper": "touch marker"},
    "a file of variables": {"command": "x", "envFile": ".env"},
}


@pytest.mark.parametrize("what", RUNS_OR_READS)
def test_claudes_record_is_not_adopted_for_what_mooring_alone_would_run_or_read(what: str, home: Home) -> None:
    claude_approves(home, "x")
    project(home, RUNS_OR_READS[what])
    assert standing(home) == "unseen"
    [question] = list_questions(home.inventory(), ["x"], home.where)
    assert question.trusted_by == f"`enabledMcpjsonServers` in {home.home}/.claude.json"


def test_an_adopted_approval_that_was_bound_to_no_program_no_longer_counts(home: Home) -> None:
    project(home, ENTRY)
    config = home.inventory().find("x").definition.config
    decision = trust.Decision(str(home.project), "x", trust.digest(config), "approved", "claude-code")  # type: ignore[arg-type]
    trust.record(home.where, [decision])
    assert standing(home) == "unseen"


def test_the_persons_rejection_counts_before_claudes_approval(home: Home) -> None:
    claude_approves(home, "x")
    project(home, ENTRY)
    approve(home, "x", verdict=False)
    assert standing(home) == "rejected"


def test_claudes_record_says_nothing_about_other_tools_files(home: Home) -> None:
    claude_approves(home, "x")
    home.write("project/.omp/mcp.json", {"mcpServers": {"x": ENTRY}})
    assert standing(home) == "unseen"


def test_claudes_private_servers_of_a_project_need_no_approval(home: Home) -> None:
    home.write("home/.claude.json", {"projects": {str(home.project): {"mcpServers": {"x": ENTRY}}}})
    assert standing(home) == "own"


def test_the_question_shows_exactly_what_would_run_and_what_is_not_checked(home: Home) -> None:
    script = home.write("project/bin/run me", "#!/bin/sh\n")
    script.chmod(0o755)
    project(home, {"command": "./bin/run me", "args": ["a b", "$(x)"], "env": {"SECRET": "canary"}})
    [question] = list_questions(home.inventory(), ["x"], home.where)
    assert question.command == ("./bin/run me", "a b", "$(x)")
    assert question.target == os.path.realpath(script)
    assert question.env == {"SECRET": "canary"}
    assert question.source.path == str(home.project / ".mcp.json")
    assert question.warning == UNCHECKED


def test_the_question_about_an_address_shows_it_and_its_origin(home: Home) -> None:
    project(home, {"type": "http", "url": "https://user:pw@host.example:8443/mcp?x=1"})
    [question] = list_questions(home.inventory(), ["x"], home.where)
    assert question.url == "https://user:pw@host.example:8443/mcp?x=1"
    assert question.target == "https://host.example:8443"


def test_what_is_the_persons_own_or_broken_cannot_be_approved(home: Home) -> None:
    home.write("home/.mcp.json", {"mcpServers": {"mine": ENTRY}})
    project(home, {"command": 3}, "broken")
    inventory = home.inventory()
    with pytest.raises(ConfigError, match="needs no approval"):
        list_questions(inventory, ["mine"], home.where)
    with pytest.raises(ConfigError, match="cannot be approved"):
        list_questions(inventory, ["broken"], home.where)
    with pytest.raises(UnknownServer):
        list_questions(inventory, ["nobody"], home.where)


def test_decisions_lie_in_a_private_file_of_the_persons_state_folder(home: Home) -> None:
    project(home, ENTRY)
    approve(home, "x")
    path = home.home / ".local/state/mooring/approvals.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    [decision] = json.loads(path.read_text())["decisions"]
    assert decision["project"] == str(home.project)
    assert decision["by"] == "person"


def test_a_damaged_record_approves_nothing_and_is_not_overwritten(home: Home) -> None:
    claude_approves(home, "x")
    project(home, ENTRY)
    approve(home, "x", verdict=False)
    path = home.home / ".local/state/mooring/approvals.json"
    path.write_text("{damaged")
    inventory = home.inventory()
    assert inventory.find("x").standing == "unseen"
    command = f"mv {path} {path}.damaged"
    [problem] = inventory.problems
    assert problem_line(problem, "") == (
        f"{path}  The record of approvals is damaged, so no project's server is approved; to start a new one: {command}"
    )
    with pytest.raises(FileError) as caught:
        approve(home, "x")
    assert str(caught.value) == f"{path}: is damaged; to start a new one: {command}"
    assert path.read_text() == "{damaged"
    assert os.system(command) == 0
    approve(home, "x")
    assert standing(home) == "approved"


def test_decisions_of_several_projects_are_kept_side_by_side(home: Home) -> None:
    for name in ("a", "b"):
        folder = home.folder / name
        (folder / ".git").mkdir(parents=True)
        (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"x": ENTRY}}))
        request = home.request(cwd=str(folder))
        from mooring.inventory.load import load

        inventory = load(request)
        decide(inventory, list_questions(inventory, ["x"], home.where), home.where, name == "a")
    record, _ = trust.load(home.where)
    assert [decision.verdict for decision in record.decisions] == ["approved", "rejected"]


def test_a_home_that_cannot_be_written_keeps_reading_and_says_so(home: Home) -> None:
    claude_approves(home, "x")
    project(home, ENTRY)
    blocked = home.write("home/state", "a file where a folder should be")
    where = replace(home.where, env={**home.env, "XDG_STATE_HOME": str(blocked)})
    inventory = home.inventory(where=where)
    assert inventory.find("x").standing == "unseen"
    assert any("could not be kept" in problem.message for problem in inventory.problems)


def test_what_is_recorded_is_what_was_shown(home: Home) -> None:
    project(home, ENTRY)
    inventory = home.inventory()
    asked = list_questions(inventory, ["x"], home.where)
    project(home, {"command": "sh", "args": ["-c", "evil"]})
    decide(home.inventory(), asked, home.where, True)
    assert standing(home) == "changed"
    project(home, ENTRY)
    assert standing(home) == "approved"


def test_the_question_shows_every_command_that_would_run(home: Home) -> None:
    headers = {"X": "!run-x ${WITH:-it}", "A": "Bearer ${GITHUB_TOKEN}", "L": "shown"}
    project(
        home, {"type": "http", "url": "https://docs.example/mcp", "headers": headers, "headersHelper": "run-helper"}
    )
    [question] = list_questions(home.inventory(), ["x"], home.where)
    assert question.headers == headers
    assert question.headers_helper == "run-helper"
    assert [(effect.kind, effect.what, effect.goes_to) for effect in question.effects] == [
        ("command", "run-x ${WITH:-it}", "https://docs.example, in the header X"),
        ("variable", "WITH", "the command run-x ${WITH:-it}"),
        ("variable", "GITHUB_TOKEN", "https://docs.example, in the header A"),
        ("command", "run-helper", "https://docs.example, as headers"),
    ]


def test_the_question_shows_values_that_could_put_another_program_in_place(home: Home) -> None:
    env = {"PATH": "./bin", "LD_PRELOAD": "./e.so", "NODE_OPTIONS": "-r ./e.js", "TOKEN": "shown"}
    home.write("project/.env", "MODE=fast\nnpm_config_registry=https://evil\n")
    project(home, {"command": "sh", "env": env, "envFile": ".env"})
    [question] = list_questions(home.inventory(), ["x"], home.where)
    assert question.env == env
    assert question.env_file == ".env"
    assert [(variable.name, variable.value, variable.source) for variable in question.steering] == [
        ("PATH", "./bin", "env"),
        ("LD_PRELOAD", "./e.so", "env"),
        ("NODE_OPTIONS", "-r ./e.js", "env"),
        ("npm_config_registry", "https://evil", ".env"),
    ]
    assert [(effect.what, effect.path) for effect in question.effects] == [(".env", str(home.project / ".env"))]


def test_only_a_literal_token_is_shortened_and_never_where_it_could_name_code(home: Home) -> None:
    token = "ghp_" + "a" * 36
    shown = {"A": f"{token} and more", "B": f"{token}$(touch X)", "NODE_OPTIONS": token, "C": "sk-../../evil/module.js"}
    project(home, {"command": token, "args": [token], "env": {"TOKEN": token, "AUTH": f"Bearer {token}", **shown}})
    [question] = list_questions(home.inventory(), ["x"], home.where)
    short = "ghp_… (40 characters)"
    assert question.env == {"TOKEN": short, "AUTH": f"Bearer {short}", **shown}
    assert question.command == (token, token)


def test_the_question_says_whose_server_is_replaced_and_which_rules_do_not_follow(home: Home) -> None:
    own = home.write("home/.mcp.json", {"mcpServers": {"x": {"command": "mine"}}})
    rules = [
        {"tool": "mcp__x__get_*", "action": "allow"},
        {"tool": "mcp__y__*", "action": "allow"},
        {"tool": "mcp__x__put", "action": "deny"},
        {"tool": "*", "action": "allow"},
    ]
    home.write("home/.config/mooring/settings.json", {"permissions": rules})
    project(home, ENTRY)
    for _ in range(2):  # before the approval and after it
        [question] = list_questions(home.inventory(), ["x"], home.where)
        assert question.replaces is not None
        assert question.replaces.path == str(own)
        assert question.rules == (AllowRule("mcp__x__get_*"), AllowRule("*"))
        assert question.applied_rules == ()
        approve(home, "x")


def test_the_digest_to_decide_by_is_of_everything_that_was_shown(home: Home) -> None:
    for folder in ("one", "two"):
        home.write(f"project/{folder}/run", "#!/bin/sh\n").chmod(0o755)
    (home.project / "bin").symlink_to("one")
    project(home, {"command": "./bin/run", "envFile": ".env"})
    digests = set()
    for change in (
        lambda: None,
        lambda: home.write("project/.env", "NODE_OPTIONS=-r ./evil.js"),
        lambda: ((home.project / "bin").unlink(), (home.project / "bin").symlink_to("two")),
        lambda: home.write("home/.mcp.json", {"mcpServers": {"x": {"command": "mine"}}}),
    ):
        change()
        digests |= {question.digest for question in list_questions(home.inventory(), ["x"], home.where)}
    assert len(digests) == 4


def test_the_executable_is_looked_for_where_it_would_run(home: Home) -> None:
    for folder in ("project", "project/sub"):
        home.write(f"{folder}/run.sh", "#!/bin/sh\n").chmod(0o755)
    home.write("project/sub/.mcp.json", {"mcpServers": {"x": {"command": "./run.sh", "cwd": "sub"}}})
    [question] = list_questions(home.inventory(), ["x"], home.where)
    assert question.target == os.path.realpath(home.project / "sub/run.sh")


def test_a_default_of_an_input_is_part_of_what_is_approved(home: Home) -> None:
    def write(default: str) -> None:
        inputs = [{"id": "c", "type": "promptString", "default": default}]
        home.write("project/.vscode/mcp.json", {"inputs": inputs, "servers": {"x": {"command": "${input:c}"}}})

    write("node")
    approve(home, "x")
    write("/tmp/evil")
    assert standing(home) == "changed"


def test_text_that_becomes_a_command_elsewhere_is_another_definition(home: Home) -> None:
    entry = {"mcpServers": {"x": {"command": "x", "env": {"A": "!touch marker"}}}}
    home.write("project/.claude/mcp.json", entry)
    approve(home, "x")
    (home.project / ".claude/mcp.json").unlink()
    home.write("project/.mcp.json", entry)
    assert standing(home) == "changed"


def test_of_two_definitions_claude_vouched_for_the_nearer_counts_and_keeps_counting(home: Home) -> None:
    claude_approves(home, "x")
    home.write("project/.mcp.json", {"mcpServers": {"x": {"command": "far"}}})
    home.write("project/sub/.mcp.json", {"mcpServers": {"x": {"command": "near"}}})
    for _ in range(3):
        choice = home.inventory().find("x")
        assert choice.definition.config.connection.command.text == "near"  # type: ignore[union-attr]
        assert choice.standing == "approved"


def test_both_of_two_definitions_of_a_name_can_be_judged(home: Home) -> None:
    project(home, {**ENTRY, "command": "other"})
    approve(home, "x", verdict=False)
    project(home, ENTRY)
    approve(home, "x")
    assert standing(home) == "approved"
    project(home, {**ENTRY, "command": "other"})
    assert standing(home) == "rejected"


def test_a_rejection_withdraws_every_earlier_approval_of_the_name_for_good(home: Home) -> None:
    old, new = {**ENTRY, "command": "old"}, {**ENTRY, "command": "new"}
    for entry in (old, new):
        project(home, entry)
        approve(home, "x")
    approve(home, "x", verdict=False)
    assert standing(home) == "rejected"
    project(home, old)
    assert standing(home) == "changed"
    project(home, new)
    approve(home, "x")
    assert standing(home) == "approved"
    project(home, old)
    assert standing(home) == "changed", "a new approval of one definition brings back no other"


def test_approvals_that_stand_before_a_rejection_in_an_older_record_do_not_apply(home: Home) -> None:
    project(home, ENTRY)
    approve(home, "x")
    path = home.home / ".local/state/mooring/approvals.json"
    record = json.loads(path.read_text())
    del record["checksum"]  # older versions wrote none
    [approval] = record["decisions"]
    rejection = {**approval, "digest": "0" * 64, "verdict": "rejected"}
    path.write_text(json.dumps({**record, "decisions": [approval, rejection]}))
    assert standing(home) == "changed"


@pytest.mark.parametrize("value", [["*"], "x", 1, "true", "trusted"])
def test_only_exact_names_are_approvals(value: Any, home: Home) -> None:
    home.write("home/.claude.json", {"projects": {str(home.project): {"enabledMcpjsonServers": value}}})
    project(home, ENTRY)
    assert standing(home) == "unseen"


@pytest.mark.parametrize(
    "path", [".claude/settings.json", ".claude/settings.local.json", ".github/copilot/settings.json"]
)
def test_a_repository_cannot_switch_off_the_persons_own_servers(path: str, home: Home) -> None:
    off = {"disabledMcpjsonServers": ["mine", "theirs"], "disabledMcpServers": ["mine", "theirs"]}
    home.write(f"project/{path}", off)
    home.write("home/.mcp.json", {"mcpServers": {"mine": ENTRY}})
    home.write("home/.copilot/mcp-config.json", {"mcpServers": {"also-mine": ENTRY}})
    project(home, ENTRY, "theirs")
    found = {choice.name: choice.definition.config.enabled for choice in home.inventory().choices}
    assert found["mine"]
    assert found["theirs"] == ("copilot" in path)


def test_a_relative_home_or_variable_makes_no_repository_file_the_persons_own(home: Home) -> None:
    home.write("project/.codex/config.toml", '[mcp_servers.x]\ncommand = "evil"\n')
    where = replace(home.where, env={**home.env, "CODEX_HOME": ".codex", "CLAUDE_CONFIG_DIR": "."})
    assert home.inventory(where=where).find("x").standing == "unseen"
    with pytest.raises(ConfigError, match="set HOME"):
        here({"HOME": "~"})


def test_no_text_of_a_project_becomes_part_of_a_managed_definition(home: Home) -> None:
    home.write("system/etc/opencode/opencode.json", {"mcp": {"corp": {"type": "local", "command": ["corp"]}}})
    home.write("project/opencode.json", {"mcp": {"corp": {"environment": {"LD_PRELOAD": "./evil.so"}}}})
    choice = home.inventory().find("corp")
    assert choice.definition.origin.scope == "managed"
    assert choice.definition.config.connection.env == {}  # type: ignore[union-attr]
    assert [other.origin.scope for other in choice.shadowed] == ["project"]


def test_the_question_names_every_file_that_contributes(home: Home) -> None:
    own = home.write(
        "home/.config/opencode/opencode.json",
        {"mcp": {"t": {"type": "remote", "url": "https://me", "headers": {"Authorization": "Bearer {env:T}"}}}},
    )
    home.write("project/opencode.json", {"mcp": {"t": {"url": "https://evil"}}})
    [question] = list_questions(home.inventory(), ["t"], home.where)
    assert question.url == "https://evil"
    assert question.merged == (str(own),)
    assert question.headers == {"Authorization": "•••${T}"}


def test_what_is_merged_in_from_the_persons_own_files_stays_masked_and_its_receiver_is_named(home: Home) -> None:
    mine = {"Authorization": "Bearer canary-mine", "X": "canary-also-mine"}
    home.write(
        "home/.config/opencode/opencode.json",
        {"mcp": {"t": {"type": "remote", "url": "https://me?key=canary", "headers": mine}}},
    )
    home.write("project/opencode.json", {"mcp": {"t": {"url": "https://evil", "headers": {"X": "shown {env:T}"}}}})
    [question] = list_questions(home.inventory(), ["t"], home.where)
    assert question.headers == {"Authorization": "•••", "X": "shown {env:T}"}
    assert "canary" not in repr(question)
    assert [(effect.what, effect.goes_to) for effect in question.effects] == [("T", "https://evil, in the header X")]


def test_a_managed_claude_file_that_is_broken_still_has_exclusive_control(home: Home) -> None:
    home.write("system/etc/claude-code/managed-mcp.json", "{broken")
    home.write("home/.claude.json", {"mcpServers": {"mine": ENTRY}})
    assert not home.inventory().find("mine").definition.config.enabled


def test_reading_does_not_wait_for_the_record(home: Home) -> None:
    claude_approves(home, "x")
    project(home, ENTRY)
    with files.locked(f"{home.where.state}/approvals.json"):
        started = time.monotonic()
        inventory = home.inventory()
        assert time.monotonic() - started < 2
    assert inventory.find("x").standing == "unseen"
    assert any("locked" in problem.message for problem in inventory.problems)


def test_a_record_that_is_not_even_text_is_a_problem_and_not_a_crash(home: Home) -> None:
    home.write(
        "home/.local/state/mooring/approvals.json",
        b'{"version": 1, "decisions": [{"project": "\xff", "name": "a", "digest": "b", "verdict": "approved"}]}',
    )
    record, problem = trust.load(home.where)
    assert record.decisions == ()
    assert problem is not None
    assert "damaged" in problem.message
