"""The command line's promises: data on stdout, words on stderr, exit codes, and one clear sentence for bad input."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mooring.display.text import width
from support import DEMO, MOORING, Actor, Cli, Home, run_at_terminal
from warm import run_mooring

GOOD = {"command": "sh"}


def real(home: Home, *args: str, **options: object) -> "subprocess.CompletedProcess[str]":
    env = {**home.env, **options.pop("env", {})}  # type: ignore[dict-item]
    return subprocess.run(
        [MOORING, *args], cwd=home.cwd, env=env, capture_output=True, text=True, timeout=100, **options
    )  # type: ignore[call-overload,no-any-return]


def test_where_nothing_is_configured_the_list_says_what_to_try(cli: Cli) -> None:
    result = cli("mcp", "list")
    assert result.code == 0
    assert "No MCP servers are configured" in result.out
    assert "mooring --demo" in result.out
    assert "~/.config/mooring/mcp.json" in result.out


def test_without_a_command_it_is_the_list(cli: Cli) -> None:
    assert cli("--demo").out == cli("mcp", "list", "--demo").out == cli("mcp", "--demo", "ls").out
    assert "demo" in cli("--demo").out


def test_the_json_of_the_list_has_exactly_the_promised_keys(cli: Cli) -> None:
    cli.home.write("home/.mcp.json", {"mcpServers": {"a": {**GOOD, "timeout": 60000}, "b": {"url": "https://x"}}})
    cli.home.write("home/.copilot/mcp-config.json", {"mcpServers": {"a": GOOD}})
    data = cli("mcp", "list", "--json").data
    assert list(data) == ["version", "servers", "problems"]
    a, b = data["servers"]
    assert list(a) == [
        "name", "transport", "command", "args", "url", "source", "enabled", "approved", "status", "error",
        "serverInfo", "tools", "timeout", "shadows", "shadowedBy", "proposed", "aliases",
    ]  # fmt: skip
    assert list(data["problems"][0]) == ["path", "server", "line", "message", "hint"]
    assert a["source"] == {"tool": "copilot-cli", "scope": "user", "path": f"{cli.home.home}/.copilot/mcp-config.json"}
    assert a["shadows"] == [{"tool": "claude-code", "path": f"{cli.home.home}/.mcp.json"}]
    assert (b["command"], b["args"], b["url"], b["transport"]) == (None, [], "https://x", "auto")


def test_all_adds_a_row_for_each_shadowed_definition(cli: Cli) -> None:
    cli.home.write("home/.mcp.json", {"mcpServers": {"a": {**GOOD, "timeout": 60000}}})
    cli.home.write("home/.copilot/mcp-config.json", {"mcpServers": {"a": GOOD}})
    winner, shadowed = cli("mcp", "list", "--all", "--json").data["servers"]
    assert winner["shadowedBy"] is None
    assert shadowed["shadowedBy"] == winner["source"]
    assert shadowed["timeout"] == 60.0
    assert len(cli("mcp", "list", "--json").data["servers"]) == 1


def test_an_unapproved_server_beside_the_persons_own_is_shown_as_a_proposal(cli: Cli) -> None:
    cli.home.write("home/.mcp.json", {"mcpServers": {"a": GOOD}})
    cli.home.write("project/.mcp.json", {"mcpServers": {"a": {"command": "theirs"}, "b": GOOD}})
    a, b = cli("mcp", "list", "--json").data["servers"]
    assert (a["source"]["scope"], a["status"], a["approved"]) == ("user", "idle", True)
    assert a["proposed"]["command"] == "theirs"
    assert a["proposed"]["source"]["path"] == f"{cli.home.project}/.mcp.json"
    assert (b["enabled"], b["approved"], b["status"]) == (True, False, "unapproved")


def test_problems_stand_below_the_list_with_file_line_and_hint_and_do_not_fail_it(cli: Cli) -> None:
    cli.home.write("project/.mcp.json", '{"mcpServers": {\n "a": {"command": "x", "url": "y"}\n}}')
    result = cli("mcp", "list")
    assert result.code == 0
    assert ".mcp.json:2  a: has both a command and a url; keep the one you mean" in result.err
    assert "Problems" not in cli("mcp", "list", "-q").err


@pytest.mark.parametrize("before", [True, False])
def test_global_options_are_accepted_before_and_after_the_command(before: bool, cli: Cli) -> None:
    cli.home.write("project/.mcp.json", {"mcpServers": {"theirs": GOOD}})
    options = ["--json", "--demo", "--no-project", "--cwd", str(cli.home.project)]
    words = ["mcp", "list"]
    data = cli(*(options + words if before else words + options)).data
    assert [server["name"] for server in data["servers"]] == ["demo"]


def test_a_file_named_on_the_command_line_counts_before_everything(cli: Cli) -> None:
    cli.home.write("home/.mcp.json", {"mcpServers": {"a": GOOD}})
    given = cli.home.write("project/extra.json", {"mcpServers": {"a": {"command": "given"}}})
    [row] = cli("mcp", "list", "--json", "--config", "extra.json").data["servers"]
    assert row["command"] == "given"
    assert row["source"] == {"tool": "mooring", "scope": "cli", "path": str(given)}
    assert row["approved"]
    cli.home.write("project/broken.json", "{")
    for name, words in (("broken.json", "not valid JSON"), (".", "is a folder")):
        refused = cli("mcp", "list", "--config", name)
        assert (refused.code, words in refused.err) == (2, True)
    odd = cli.home.write("project/w*x${NO}{xdg}.json", {"mcpServers": {"odd": GOOD}})
    both = cli("mcp", "list", "--json", "--no-project", "--config", str(odd)).data["servers"]
    assert [row["name"] for row in both] == ["a", "odd"]
    missing = cli("mcp", "list", "--config", "nope.json")
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    assert "nope.json does not exist" in missing.err


def test_names_match_without_regard_to_case_unless_that_is_ambiguous(cli: Cli) -> None:
    cli.home.write("home/.mcp.json", {"mcpServers": {"GitHub": GOOD, "x": GOOD, "X": GOOD}})
    assert "GitHub" in cli("mcp", "get", "github").out
    assert cli("mcp", "get", "X", "--json").data["server"]["name"] == "X"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("mcp", "get", "githb"), "No server is called 'githb'. Did you mean github?"),
        (("mcp", "why", "zzz"), "`mooring mcp list` shows the known ones"),
        (("mcp", "fly"), "no command 'fly'"),
        (("fly",), "no command 'fly'"),
        (("lits",), "There is no command 'lits'. Did you mean mooring mcp list?"),
        (("list",), "There is no command 'list'. Did you mean mooring mcp list?"),
        (("mcp", "logs", "x"), "There is no command 'logs'. Did you mean mooring logs?"),
        (("mcp", "lits"), "Did you mean mooring mcp list?"),
        (("tols",), "Did you mean mooring tools?"),
        (("mcp", "list", "--jsn"), "There is no option --jsn. Did you mean --json?"),
        (("--jsn",), "There is no option --jsn. Did you mean --json?"),
        (("completion",), "Missing SHELL: bash, zsh or fish."),
        (("mcp", "list", "--colour"), "--colour"),
        (("mcp", "get"), "NAME"),
        (("mcp", "approve"), "Name the servers to decide about, or give --all."),
        (("mcp", "list", "--cwd", "nowhere"), "nowhere is not a folder"),
        (("settings", "colour"), "colour is not a setting"),
        (("completion", "powershell"), "powershell"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(args: tuple[str, ...], words: str, cli: Cli) -> None:
    cli.home.write("home/.mcp.json", {"mcpServers": {"github": GOOD}})
    result = cli(*args)
    assert result.code == 2
    assert result.out == ""
    assert words in result.err
    assert result.err.startswith("mooring: ")
    assert "Traceback" not in result.err


def test_get_masks_every_value_and_names_missing_variables(cli: Cli) -> None:
    env = {"A": "hidden-a", "B": "${UNSET_ONE}", "C": "${X:-hidden-c}"}
    cli.home.write("home/.mcp.json", {"mcpServers": {"x": {**GOOD, "env": env}}})
    out = cli("mcp", "get", "x").out
    assert "A=•••" in out
    assert "B=${UNSET_ONE}" in out
    assert "C=${X:-•••}" in out
    assert "UNSET_ONE is not set" in out
    assert "hidden" not in out


def test_why_says_which_definition_wins_and_by_which_rule(cli: Cli) -> None:
    cli.home.write("home/.mcp.json", {"mcpServers": {"x": GOOD}})
    cli.home.write("home/.omp/mcp.json", {"mcpServers": {"x": GOOD}})
    cli.home.write("project/.mcp.json", {"mcpServers": {"x": {"command": "theirs"}}})
    data = cli("mcp", "why", "x", "--json").data
    assert [(c["source"]["tool"], c["wins"]) for c in data["candidates"]] == [
        ("claude-code", False), ("omp", True), ("claude-code", False),
    ]  # fmt: skip
    text = cli("mcp", "why", "x").out
    assert "not approved" in text
    assert "omp wins over .mcp.json" in text


def test_why_shows_what_differs_from_the_definition_that_wins_and_no_secret(cli: Cli) -> None:
    first = {"command": "npx", "args": ["-y", "one", "--api-key", "hidden-arg"], "env": {"A": "hidden-a", "B": "hidden-b", "C": "same"}}  # fmt: skip
    second = {"command": "npx", "args": ["-y", "two"], "env": {"A": "hidden-z", "C": "same", "D": "${D}"}}
    remote = {"url": "https://example.com/mcp?token=hidden-url", "headers": {"X-Key": "hidden-key"}}
    cli.home.write("home/.copilot/mcp-config.json", {"mcpServers": {"x": first}})
    cli.home.write("home/.mcp.json", {"mcpServers": {"x": second}})
    cli.home.write("home/.cursor/mcp.json", {"mcpServers": {"x": remote}})
    cli.home.write("home/.gemini/settings.json", {"mcpServers": {"x": first}})
    text = cli("mcp", "why", "x").out
    assert "    args: -y two (winner: -y one --api-key '•••')\n" in text
    assert "    env.A: not the same value as the winner's\n" in text
    assert "    env.B: none (winner: •••)\n" in text
    assert "    env.D: ${D} (winner: none)\n" in text
    assert "    command: none (winner: npx)\n" in text
    assert "    url: https://example.com/mcp?token=••• (winner: none)\n" in text
    assert "    headers.X-Key: ••• (winner: none)\n" in text
    assert "env.C: not" not in text
    data = cli("mcp", "why", "x", "--json")
    differences = {each["source"]["path"]: each["differences"] for each in data.data["candidates"]}
    assert (
        differences[f"{cli.home.home}/.copilot/mcp-config.json"]
        == differences[f"{cli.home.home}/.gemini/settings.json"]
        == []
    )
    found = differences[f"{cli.home.home}/.mcp.json"]
    assert found[0] == {"field": "args", "here": ["-y", "two"], "winner": ["-y", "one", "--api-key", "•••"]}
    assert [each["field"] for each in found] == ["args", "env.A", "env.B", "env.D"]
    assert "hidden" not in text + data.out


def test_doctor_names_what_is_wrong_and_the_command_that_fixes_it(cli: Cli) -> None:
    servers = {"a": {"command": "no-such-program"}, "b": {"command": "sh", "env": {"T": "${UNSET_TWO}"}}}
    cli.home.write("home/.mcp.json", {"mcpServers": servers})
    cli.home.write("project/.mcp.json", {"mcpServers": {"c": GOOD}})
    result = cli("mcp", "doctor")
    assert result.code == 1
    assert "no-such-program is not on PATH" in result.out
    assert "export UNSET_TWO=…" in result.out
    assert "mooring mcp approve c" in result.out
    fixes = [finding["fix"] for finding in cli("mcp", "doctor", "--json").data["findings"]]
    assert all(fixes)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("permissionMode", "bypass"),
        ("trustedServers", ["x"]),
        ("env", {"A": "b"}),
        ("sources", {"zed": False}),
        ("sources", 3),
    ],
)
def test_doctor_never_advises_to_adopt_what_a_project_may_not_set(cli: Cli, key: str, value: object) -> None:
    cli.home.write("project/.mooring/settings.json", {key: value})
    [finding] = cli("mcp", "doctor", "--json").data["findings"]
    assert finding["what"] == f"`{key}` cannot be set by a project; it is ignored"
    path = f"{cli.home.project}/.mooring/settings.json"
    assert finding["fix"] == f"${{EDITOR:-vi}} {path}  (nothing needs to be done; you can remove it)"


def test_doctor_offers_to_reject_a_projects_server_and_says_which_of_ones_own_it_would_replace(cli: Cli) -> None:
    cli.home.write("home/.config/mooring/mcp.json", {"mcpServers": {"a": GOOD}})
    cli.home.write("project/.mcp.json", {"mcpServers": {"a": {"command": "sh"}, "b": GOOD}})
    findings = {finding["server"]: finding for finding in cli("mcp", "doctor", "--json").data["findings"]}
    own = f"{cli.home.home}/.config/mooring/mcp.json"
    plain = "It comes from the project and is not approved"
    assert findings["a"]["what"] == f"{plain}; it would replace your own server of that name, from {own}"
    assert findings["b"]["what"] == plain
    assert findings["b"]["fix"] == "mooring mcp approve b  (to refuse it: mooring mcp reject b)"


def test_doctor_is_content_with_a_sound_home(cli: Cli) -> None:
    cli.home.write("home/.mcp.json", {"mcpServers": {"a": {"command": "sh"}}})
    result = cli("mcp", "doctor")
    assert (result.code, "Nothing to fix" in result.out) == (0, True)


def test_approving_prints_what_would_run_and_then_lets_it_run(cli: Cli) -> None:
    cli.home.write("project/.mcp.json", {"mcpServers": {"x": {"command": "env", "args": ["a b"]}}})
    assert "To look and decide" in cli("mcp", "list").err
    unasked = cli("mcp", "approve", "--all")
    assert (unasked.code, "To approve it: mooring mcp approve x" in unasked.err) == (4, True)
    assert cli("mcp", "list", "--json").data["servers"][0]["status"] == "unapproved"
    unasked = cli("mcp", "approve", "x")
    assert (unasked.code, unasked.out) == (4, "")
    assert cli("mcp", "list", "--json").data["servers"][0]["status"] == "unapproved"
    digest = unasked.err.rpartition("--digest ")[2].split()[0]
    result = cli("mcp", "approve", "x", "--digest", digest)
    assert result.out == "approved: x\n"
    assert "env 'a b'" in result.err
    assert "scripts inside the repository" in result.err
    assert cli("mcp", "list", "--json").data["servers"][0]["status"] == "idle"
    assert cli("mcp", "reject", "x").out == "rejected: x\n"
    assert cli("mcp", "list", "--json").data["servers"][0]["status"] == "rejected"
    assert cli("mcp", "approve", "--all", "--json").data == {"approved": []}
    assert "To look and decide" not in cli("mcp", "list").err
    assert cli("mcp", "approve", "x", "--yes", "--json").data == {"approved": ["x"]}


@pytest.mark.parametrize(
    ("file", "entry", "says"),
    [
        ("project/.mcp.json", {"mcpServers": {"x": {"command": "${HOME}/tool"}}}, "home/tool"),
        (
            "project/.mcp.json",
            {"mcpServers": {"x": {"command": "${NO_SUCH}/tool"}}},
            "not found; you will be asked again once it is there",
        ),
        (
            "project/.vscode/mcp.json",
            {"inputs": [{"id": "t", "type": "promptString"}], "servers": {"x": {"command": "${input:t}"}}},
            "known only when it starts",
        ),
    ],
)
def test_whoever_approves_sees_which_program_it_is_or_why_that_is_not_known(
    cli: Cli, file: str, entry: dict[str, Any], says: str
) -> None:
    cli.home.write("home/tool", "#!/bin/sh\n").chmod(0o755)
    cli.home.write(file, entry)
    [line] = [line for line in cli("mcp", "approve", "x").err.splitlines() if "which is" in line]
    assert says in line


def test_settings_show_each_value_with_its_origin_and_no_value_of_env(cli: Cli) -> None:
    path = cli.home.write("home/.config/mooring/settings.json", {"model": "m", "env": {"K": "hidden"}})
    data = cli("settings", "--json").data
    assert data["model"] == {"value": "m", "origin": "user", "path": str(path)}
    assert data["env"]["value"] == {"K": "•••"}
    assert cli("settings", "model").out.split() == ["model", '"m"', "~/.config/mooring/settings.json"]


def test_settings_show_the_permission_rules_of_every_level_with_their_files(cli: Cli) -> None:
    own = cli.home.write(
        "home/.config/mooring/settings.json", {"permissions": [{"tool": "a.read", "action": "allow", "pattern": "x*"}]}
    )
    theirs = cli.home.write("project/.mooring/settings.json", {"permissions": [{"tool": "a.write", "action": "deny"}]})
    answers = cli.home.write(
        "home/.local/state/mooring/rules.json",
        {"version": 1, "projects": {str(cli.home.project): [{"tool": "mcp__a__echo", "action": "allow"}]}},
    )
    for words in (["settings", "permissions"], ["settings", "permissions", "-v"]):
        lines = [line.strip() for line in cli(*words).out.splitlines()]
        assert lines[:10] == [
            "Permission rules, highest level first:",
            "",
            "your rules for this project · ~/.local/state/mooring/rules.json",
            "allow  mcp__a__echo",
            "",
            "your settings · ~/.config/mooring/settings.json",
            "allow  a.read  with x*",
            "",
            f"the project's settings · {theirs}",
            "deny  a.write",
        ]
    data = cli("settings", "permissions", "--json").data["permissions"]
    assert data["value"] == [
        {"tool": "mcp__a__echo", "action": "allow", "level": "local", "path": str(answers)},
        {"tool": "a.read", "action": "allow", "level": "user", "path": str(own), "pattern": "x*"},
        {"tool": "a.write", "action": "deny", "level": "project", "path": str(theirs)},
    ]
    rows = [line for line in cli("settings").out.splitlines() if line.startswith("permissions")]
    assert ["a.read" in rows[0], "a.write" in rows[1], len(rows)] == [True, True, 2]


def test_hostile_names_and_paths_cannot_steer_the_terminal(cli: Cli) -> None:
    name = "a\x1b[2J\x07\u202eb\x9b\u200b"
    cli.home.write("project/.mcp.json", {"mcpServers": {name: {"command": "\x1b]52;c;x\x07"}}})
    for args in (
        ["mcp", "list"],
        ["mcp", "get", name],
        ["mcp", "why", name],
        ["mcp", "doctor"],
        ["mcp", "approve", name],
    ):
        result = cli(*args)
        printed = result.out + result.err
        assert not [c for c in printed if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u200b"]
    assert "\\x1b[2J" in cli("mcp", "list").out


@pytest.mark.parametrize(("name", "shown"), [("$(reboot)", "'$(reboot)'"), ("a b", "'a b'"), ("-x", "-- -x")])
def test_a_command_to_copy_means_what_it_says(name: str, shown: str, cli: Cli) -> None:
    cli.home.write("project/.mcp.json", {"mcpServers": {name: GOOD}})
    out = cli("mcp", "doctor").out
    assert f"fix: mooring mcp approve {shown}  (" in out
    assert f"mooring mcp reject {shown})\n" in out


def test_get_names_the_command_that_shows_what_would_start(cli: Cli) -> None:
    cli.home.write("project/.mcp.json", {"mcpServers": {"a b": GOOD}})
    assert "not yet given; mooring mcp approve 'a b' shows what it would start" in cli("mcp", "get", "a b").out


def test_a_hostile_path_is_made_visible_wherever_it_shows(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "a\x1b]0;x\x07b"
    (folder / ".git").mkdir(parents=True)
    (folder / ".claude").mkdir()
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"x": GOOD, "bad": 3}}))
    (folder / ".claude/settings.json").write_text(json.dumps({"disabledMcpjsonServers": ["x"]}))
    for args in (["mcp", "list"], ["mcp", "get", "x"], ["mcp", "why", "x"], ["mcp", "doctor", "-v"]):
        result = cli(*args, "--cwd", str(folder))
        assert "\x1b" not in result.out + result.err


def test_every_problem_says_what_to_do(sample_cli: Cli) -> None:
    problems = sample_cli("mcp", "list", "--json").data["problems"]
    assert [problem for problem in problems if not problem["hint"]] == []


def test_a_password_in_an_address_is_not_shown(cli: Cli) -> None:
    cli.home.write("home/.mcp.json", {"mcpServers": {"x": {"type": "http", "url": "https://me:hidden@host/mcp"}}})
    for args in (["mcp", "list", "--json"], ["mcp", "get", "x"], ["mcp", "get", "x", "--json"]):
        out = cli(*args).out
        assert "hidden" not in out
        assert "host/mcp" in out


def test_lone_surrogates_break_nothing(cli: Cli) -> None:
    cli.home.write("home/.mcp.json", '{"mcpServers": {"\\ud800": {"command": "\\udfff"}}}')
    assert cli("mcp", "list").code == 0
    assert cli("mcp", "list", "--json").data["servers"][0]["name"] == "\ud800"


# --- as a real process --------------------------------------------------------------------------------------


def test_version_and_help(home: Home) -> None:
    assert real(home, "--version").stdout.startswith("mooring 0.")
    help = real(home, "--help").stdout
    assert all(word in help for word in ("mcp", "settings", "completion", "--demo", "--json"))
    assert "approve" in real(home, "mcp", "--help").stdout


def test_help_lists_commands_without_loading_them(home: Home) -> None:
    code = (
        "import sys; from mooring.cli.app import run; run(['mcp', '--help'])\n"
        "print([name for name in sys.modules if name.startswith('mooring.verbs.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], env=home.env, capture_output=True, text=True, timeout=100)
    assert done.stdout.splitlines()[-1] == (
        "['mooring.verbs.verb', 'mooring.verbs.parse', 'mooring.verbs.rows', 'mooring.verbs.mcp_rows']"
    )


def test_a_reader_that_goes_away_is_no_error(home: Home) -> None:
    home.write("home/.mcp.json", {"mcpServers": {f"s{n}": GOOD for n in range(1000)}})
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{MOORING} mcp list --json | head -1"],
        cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "{\n", "")


def test_no_color_and_dumb_terminals_get_plain_text(home: Home) -> None:
    out = real(home, "--demo", env={"NO_COLOR": "1"}).stdout
    assert "\x1b" not in out


def test_an_ascii_terminal_gets_no_traceback(home: Home) -> None:
    done = real(home, "--demo", env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("redirect", [">/dev/full", ">&-", "2>&-", ">&- 2>&-"])
def test_output_that_cannot_be_written_is_no_traceback(redirect: str, home: Home) -> None:
    script = f"{MOORING} --demo {redirect}; echo code $? >&3"
    done = subprocess.run(
        ["bash", "-c", f"exec 3>&1; {script}"], cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=100
    )
    assert "Traceback" not in done.stderr + done.stdout
    assert ("code 1" if "full" in redirect else "code 0") in done.stdout


def test_a_narrow_terminal_cuts_long_names_and_shows_where_each_server_comes_from_in_full(home: Home) -> None:
    home.write("home/.mcp.json", {"mcpServers": {"x" * 300: GOOD, "名前": GOOD, "short": GOOD}})
    shown, _ = run_at_terminal(home, "mcp", "list", cells=70)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    assert max(map(width, lines)) <= 70
    assert [" ".join(line.split()) for line in lines[1:3]] == [
        "● short idle stdio — claude-code, user:",
        "~/.mcp.json",
    ]
    wider, _ = run_at_terminal(home, "mcp", "list", cells=100)
    assert len(wider.splitlines()) == 4, wider


def test_a_folder_that_is_gone_is_one_sentence(home: Home) -> None:
    script = f"mkdir gone && cd gone && rmdir ../gone && {MOORING} mcp list"
    done = subprocess.run(["sh", "-c", script], cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2
    assert done.stderr == "mooring: The current folder no longer exists; name another with --cwd.\n"


def test_an_interrupt_ends_with_130_and_no_traceback(home: Home) -> None:
    code = (
        "import os, signal, sys; from mooring.inventory import load as inventory; from mooring.cli import app\n"
        "def interrupt(*_, **__): os.kill(os.getpid(), signal.SIGINT); signal.pause()\n"
        "inventory.load = interrupt\n"
        "sys.exit(app.run(['mcp', 'list']))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=home.env, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr.strip()) == (130, "")


# --- completion ---------------------------------------------------------------------------------------------


def complete(home: Home, shell: str, words: list[str]) -> list[str]:
    """What a shell is offered for the last of the words."""
    env = {"_MOORING_COMPLETE": f"{shell}_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    if shell == "fish":
        env["COMP_CWORD"] = words[-1]
    out = run_mooring(cwd=home.cwd, env={**home.env, **env}).stdout
    if shell == "zsh":  # type, value and help on three lines
        return out.splitlines()[1::3]
    return [line.split(",", 1)[1].split("\t")[0] for line in out.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_offers_commands_and_server_names(shell: str, home: Home) -> None:
    home.write("home/.mcp.json", {"mcpServers": {"github": GOOD, "gitlab": GOOD, "other": GOOD}})
    assert "why" in complete(home, shell, ["mooring", "mcp", "w"])
    assert complete(home, shell, ["mooring", "mcp", "get", "gi"]) == ["github", "gitlab"]
    assert complete(home, shell, ["mooring", "settings", "mo"]) == ["model", "models"]
    script = real(home, "completion", shell).stdout
    assert "_MOORING_COMPLETE" in script


def test_a_real_bash_completes_server_names(home: Home) -> None:
    home.write("home/.mcp.json", {"mcpServers": {"github": GOOD, "gitlab": GOOD}})
    script = f"""
        PATH={Path(MOORING).parent}:$PATH
        eval "$(mooring completion bash)"
        COMP_WORDS=(mooring mcp get git) COMP_CWORD=3
        _mooring_completion mooring && echo "${{COMPREPLY[@]}}"
    """
    env = {**home.env, "PATH": os.environ["PATH"]}
    done = subprocess.run(["bash", "-c", script], cwd=home.cwd, env=env, capture_output=True, text=True, timeout=100)
    assert done.stdout.split() == ["github", "gitlab"], done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_offers_what_is_known_of_tools_and_resources(shell: str, home: Home, tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {
            "color": {"enum": ["red", "rose", "sky blue", "$(reboot)"]},
            "dry": {"type": "boolean"},
            "tags": {"type": "array", "items": {"enum": ["x", "y"]}},
        },
    }
    actor = Actor(tmp_path / "a.json", tools=["paint"], shape={"paint": {"inputSchema": schema}}, resources=[])
    home.configure(actor=actor.entry, demo=DEMO)
    for words in (["tools"], ["resources", "demo"], ["prompts", "demo"]):
        real(home, *words)
    starts = actor.done("starts")

    def offered(*words: str) -> list[str]:
        return complete(home, shell, ["mooring", *words])

    # A shell passes an empty word on as nothing at all, and the tests of bash below have that.
    assert offered("call", "demo.add", "a") == ["a="]
    assert offered("call", "demo", "pic") == ["picture"]
    assert offered("call", "demo", "add", "b") == ["b="]
    assert offered("call", "paint", "co") == ["color="]
    assert offered("call", "actor.paint", "color=r") == ["color=red", "color=rose"]
    assert offered("call", "actor.paint", "color=") == ["color=red", "color=rose"]
    assert offered("call", "actor.paint", "dry=") == ["dry=yes", "dry=no"]
    assert offered("call", "actor.paint", "tags=x", "t") == ["tags="]
    assert offered("call", "actor.paint", "dry=yes", "d") == []
    assert offered("tools", "demo", "pic") == ["picture"]
    assert offered("tools", "demo.pic") == ["demo.picture"]
    assert offered("read", "demo", "demo://c") == ["demo://clock"]
    assert offered("watch", "demo", "demo://c") == ["demo://clock"]
    assert offered("watch", "demo", "pi") == ["picture"]
    assert offered("prompt", "demo", "e") == ["explain"]
    assert offered("prompt", "demo", "explain", "t") == ["topic="]
    assert actor.done("starts") == starts


BASH = """
PATH={folder}:$PATH
eval "$(mooring completion bash)"
COMP_LINE='{line}' COMP_POINT={point} COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
_mooring_completion mooring 2>/dev/null; echo "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize(
    ("line", "replies"),
    [
        ("mooring call demo.add ", ["a=", "b="]),
        ("mooring call demo.add a=1 ", ["b="]),
        ("mooring read demo ", ["demo://readme", "demo://clock", "demo://notes", "demo://picture"]),
        # Bash keeps what is before the last colon or equals sign.
        ("mooring read demo demo://cl", ["//clock"]),
        ("mooring call act.paint color=ro", ["rose"]),
        ("mooring mcp get de", ["demo"]),
    ],
)
def test_a_real_bash_completes_arguments_and_addresses(
    line: str, replies: list[str], home: Home, tmp_path: Path
) -> None:
    schema = {"type": "object", "properties": {"color": {"enum": ["red", "rose"]}}}
    actor = Actor(tmp_path / "a.json", tools=["paint"], shape={"paint": {"inputSchema": schema}})
    home.configure(act=actor.entry, demo=DEMO)
    for words in (["tools"], ["resources", "demo"]):
        real(home, *words)
    script = BASH.format(folder=Path(MOORING).parent, line=line, point=len(line))
    env = {**home.env, "PATH": os.environ["PATH"]}
    done = subprocess.run(["bash", "-c", script], cwd=home.cwd, env=env, capture_output=True, text=True, timeout=100)
    assert done.stdout.split() == replies, done.stderr


def test_completion_offers_no_name_that_a_shell_would_run(home: Home) -> None:
    home.write(
        "home/.mcp.json", {"mcpServers": {"ok": GOOD, "$(reboot)": GOOD, "a;b": GOOD, "c d": GOOD, "e\nf": GOOD}}
    )
    assert complete(home, "bash", ["mooring", "mcp", "get", ""]) == ["ok"]


def test_completion_is_silent_about_errors(home: Home) -> None:
    env = {"_MOORING_COMPLETE": "bash_complete", "COMP_WORDS": "mooring --cwd nope mcp get ", "COMP_CWORD": "5"}
    done = real(home, env=env)
    assert (done.stdout.strip(), done.stderr) == ("", "")


def test_completion_records_nothing(home: Home) -> None:
    home.write("home/.claude/settings.json", {"enabledMcpjsonServers": ["x"]})
    home.write("project/.mcp.json", {"mcpServers": {"x": GOOD}})
    assert complete(home, "bash", ["mooring", "mcp", "get", ""]) == ["x"]
    assert not (home.home / ".local").exists()


def test_json_is_plain_ascii(home: Home) -> None:
    home.write("home/.mcp.json", {"mcpServers": {"ü": GOOD}})
    out = real(home, "mcp", "list", "--json").stdout
    assert out.isascii()
    assert json.loads(out)["servers"][0]["name"] == "ü"


def test_a_clones_modules_do_not_run_in_place_of_ours(home: Home) -> None:
    for name in ("click", "msgspec", "json", "typing", "shlex", "aiohttp", "keyring", "yaml"):
        home.write(f"project/{name}.py", f"open({str(home.folder / 'ran')!r}, 'a').write({name!r})\n")
    words = [sys.executable, "-m", "mooring", "--demo", "tools", "--refresh"]
    done = subprocess.run(words, cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "demo" in done.stdout
    assert not (home.folder / "ran").exists()
