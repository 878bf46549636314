"""`mooring mcp enable` and `disable`: in Mooring's own file, or in the person's record if another tool's file has it."""

import json

import pytest

from support import Cli, Home

OWN = "home/.config/mooring/mcp.json"
RECORD = "home/.local/state/mooring/overlay.json"


def is_on(cli: Cli, name: str = "x") -> bool:
    rows = json.loads(cli("mcp", "list", "--json").out)["servers"]
    return bool(next(row["enabled"] for row in rows if row["name"] == name))


def test_a_server_of_mooring_is_switched_in_its_file_and_every_other_byte_stays(home: Home, cli: Cli) -> None:
    text = '// mine\n{\n\t"mcpServers": {\n\t\t"x": {\n\t\t\t"command": "a" // it\n\t\t}\n\t}\n}\n'
    path = home.write(OWN, text)
    done = cli("mcp", "disable", "X")
    assert (done.code, done.out, done.err) == (0, "Disabled x in ~/.config/mooring/mcp.json.\n", "")
    assert '"enabled": false' in path.read_text()
    assert not is_on(cli)
    assert cli("mcp", "disable", "x").out == "x is disabled already.\n"
    assert cli("mcp", "enable", "x").out == "Enabled x in ~/.config/mooring/mcp.json.\n"
    assert path.read_text() == text
    assert is_on(cli)
    assert not (home.folder / RECORD).exists()


def test_another_tools_file_stays_as_it_is_in_both_directions(home: Home, cli: Cli) -> None:
    entries = {"x": {"command": "a"}, "off": {"command": "b", "disabled": True}}
    path = home.write("home/.codeium/windsurf/mcp_config.json", {"mcpServers": entries})
    before = path.read_bytes()
    done = cli("mcp", "disable", "x")
    assert (done.code, done.out) == (0, "Disabled x in Mooring; ~/.codeium/windsurf/mcp_config.json stays as it is.\n")
    assert not is_on(cli)
    assert "disabled by `mooring mcp disable`" in cli("mcp", "why", "x").out
    assert cli("mcp", "enable", "x").code == 0
    assert is_on(cli)
    assert json.loads((home.folder / RECORD).read_text())["user"] == {}
    assert cli("mcp", "enable", "off").code == 0
    assert is_on(cli, "off")
    assert cli("mcp", "disable", "off").code == 0
    assert not is_on(cli, "off")
    assert path.read_bytes() == before


def test_a_switch_for_one_project_holds_there_alone_and_wins_there(home: Home, cli: Cli) -> None:
    home.configure(x={"command": "a"})
    (home.folder / "other" / ".git").mkdir(parents=True)
    done = cli("mcp", "disable", "x", "-s", "project")
    assert done.out == "Disabled x in Mooring, for this project; ~/.mcp.json stays as it is.\n"
    elsewhere = cli("--cwd", str(home.folder / "other"), "mcp", "list", "--json").out
    assert (is_on(cli), json.loads(elsewhere)["servers"][0]["enabled"]) == (False, True)
    assert list(home.project.iterdir()) == [home.project / ".git"]
    cli("mcp", "enable", "x")
    assert is_on(cli)


def test_a_disabled_server_is_not_started_and_it_says_how_to_enable_it(home: Home, cli: Cli) -> None:
    home.configure(x={"command": "a"})
    cli("mcp", "disable", "x")
    done = cli("call", "x.tool")
    assert done.code == 2
    assert 'Server "x" is disabled (`mooring mcp disable`). Run `mooring mcp enable x` first.' in done.err


def test_what_a_policy_refuses_stays_refused(home: Home, cli: Cli) -> None:
    home.configure(x={"command": "a"})
    home.write("home/.claude/settings.json", {"deniedMcpServers": [{"serverName": "x"}]})
    done = cli("mcp", "enable", "x")
    assert done.code == 1
    assert done.err.startswith("x stays disabled by ")


def test_enabling_a_projects_server_does_not_approve_it(home: Home, cli: Cli) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"x": {"command": "a", "enabled": False}}})
    done = cli("mcp", "enable", "x")
    assert (done.code, done.err) == (0, "It comes from the project and is not approved: mooring mcp approve x\n")
    assert json.loads(cli("mcp", "list", "--json").out)["servers"][0]["status"] == "unapproved"


@pytest.mark.parametrize("verb", ["enable", "disable"])
def test_what_cannot_be_switched_is_said(verb: str, home: Home, cli: Cli) -> None:
    home.write(OWN, {"mcpServers": {"bad": {"command": 1}}})
    assert cli("mcp", verb, "bad").err.startswith("mooring: bad cannot be used: it `command` should be text")
    assert cli("mcp", verb, "nobody").code == 2


def test_a_damaged_record_is_a_problem_and_is_not_written_over(home: Home, cli: Cli) -> None:
    home.configure(x={"command": "a"})
    record = home.write(RECORD, "{")
    listed = json.loads(cli("mcp", "list", "--json").out)
    assert listed["problems"][0]["message"] == "The record of disabled servers is damaged, so all servers are disabled"
    assert listed["servers"][0]["status"] == "disabled"
    for verb in ("disable", "enable"):
        done = cli("mcp", verb, "x")
        assert (
            done.code,
            f"{home.shorten(record)}: is damaged; to start a new one: mv {home.shorten(record)}" in done.err,
        ) == (2, True)
    assert record.read_text() == "{"
