"""What people meet with their first entry, and their first wrong word."""

import json

from support import DEMO, Cli


def test_a_command_with_its_arguments_in_one_text_is_shown_how_to_write_it(cli: Cli) -> None:
    cli.home.configure(memory={"command": "npx -y some-server"})
    advice = 'write "command": "npx", "args": ["-y", "some-server"]'
    for words in (("mcp", "list"), ("mcp", "test", "memory"), ("call", "memory.echo")):
        shown = cli(*words)
        assert advice in shown.out + shown.err, words
    assert "fix: mooring mcp edit --in claude-code memory -- npx -y some-server\n" in cli("mcp", "doctor").out


def test_an_absolute_path_with_a_blank_is_no_such_mistake(cli: Cli) -> None:
    cli.home.configure(odd={"command": "/opt/my tools/server"})
    assert "args" not in cli("mcp", "list").out


def test_a_failure_is_not_shown_for_another_name_of_the_same_program(cli: Cli) -> None:
    broken = {"command": "sh", "args": ["-c", "exit 3"]}
    cli.home.configure(old=broken)
    assert cli("mcp", "test", "old").code != 0
    assert json.loads(cli("mcp", "list", "--json").out)["servers"][0]["status"] == "failed"
    cli.home.configure(new=broken)
    row = json.loads(cli("mcp", "list", "--json").out)["servers"][0]
    assert (row["name"], row["status"], row["error"]) == ("new", "idle", None)


def test_a_server_that_is_configured_nowhere_and_asks_in_vain_exits_4_as_any_other(cli: Cli) -> None:
    command = " ".join([DEMO["command"], *DEMO["args"]])
    asked = cli("call", "--server", command, "ask", "question=who")
    assert asked.code == 4
    assert "there is no terminal to answer in" in asked.err


def test_no_wild_guess_leads_to_an_approval(cli: Cli) -> None:
    assert "approve" not in cli("mcp", "improve", "x").err
    assert "mooring mcp approve?" in cli("mcp", "aprove", "x").err


def test_an_empty_home_is_told_where_its_own_servers_go(cli: Cli) -> None:
    shown = cli("mcp", "list")
    assert "~/.config/mooring/mcp.json" in shown.out + shown.err
