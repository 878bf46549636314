"""A file named on the command line, and servers that are configured nowhere, in every command that takes a server."""

import sys

import pytest

from support import DEMO, Cli

COMMANDS = {
    "tools": ([], 0, "add"),
    "call": (["add", "a=1", "b=2"], 0, '{"sum": 3}'),
    "resources": ([], 0, "demo://readme"),
    "read": (["demo://readme"], 0, "# Mooring demo"),
    "prompts": ([], 0, "explain"),
    "prompt": (["explain", "topic=x"], 0, "user:"),
    "watch": (["demo://clock", "--count", "1"], 0, "T"),
    "mcp test": ([], 0, "✓ close"),
}
"""What follows the server, how it ends, and what is printed."""
CONFIGURED = {
    **COMMANDS,
    "mcp get": ([], 0, "extra"),
    "mcp why": ([], 0, "extra.json"),
    "mcp reload": ([], 0, "7 tools"),
    "mcp pins": ([], 0, ""),
    "logs": ([], 0, ""),
}


def of(command: str, server: str, rest: list[str]) -> list[str]:
    if command == "call":
        return [command, f"{server}.{rest[0]}", *rest[1:]]
    return [*command.split(), server, *rest]


@pytest.mark.parametrize("command", CONFIGURED)
def test_a_server_of_a_file_named_on_the_command_line_is_one_like_any_other(command: str, cli: Cli) -> None:
    rest, code, words = CONFIGURED[command]
    file = cli.home.write("elsewhere/extra.json", {"mcpServers": {"extra": DEMO}})
    done = cli(*of(command, "extra", rest), "--config", str(file))
    assert (done.code, words in done.out) == (code, True), done.err
    assert cli(*of(command, "extra", rest)).code == 2, "and without the file there is none"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_server_named_by_its_command_is_used_without_any_configuration(command: str, cli: Cli) -> None:
    rest, code, words = COMMANDS[command]
    done = cli(*command.split(), "--server", f"{sys.executable} -I -m mooring.demo", *rest)
    assert (done.code, words in done.out) == (code, True), done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_server_named_by_its_address_is_tried_in_every_command(command: str, cli: Cli) -> None:
    rest, _, _ = COMMANDS[command]
    done = cli(*command.split(), "--url", "http://127.0.0.1:9/mcp", *rest)
    assert (done.code, "http://127.0.0.1:9/mcp cannot be reached: Connection refused" in done.err) == (1, True)


def test_a_file_named_on_the_command_line_is_checked_with_the_rest(cli: Cli) -> None:
    file = cli.home.write("extra.json", {"mcpServers": {"extra": DEMO}})
    rows = cli("mcp", "list", "--check", "--json", "--config", str(file)).data["servers"]
    assert [(row["name"], row["status"], row["source"]["scope"]) for row in rows] == [("extra", "connected", "cli")]


def test_a_server_that_is_tried_ad_hoc_is_helped_on_in_its_own_terms_and_leaves_nothing(cli: Cli) -> None:
    slow = cli("mcp", "test", "--server", "sleep 60", "--timeout", "1")
    assert (slow.code, "It may need longer: try with --timeout." in slow.err) == (5, True)
    assert cli("mcp", "test", "--server", "sleep 60", "demo", "more").code == 2
    assert cli("mcp", "test").code == 2
    assert not (cli.home.home / ".cache").exists()
    given = [sys.executable, "-S", "-c", "import os, sys; sys.exit('has ' + os.environ.get('MINE', 'none'))"]
    cli.home.configure(x={"command": given[0], "args": given[1:]})
    assert "has yes" in cli("mcp", "test", "x", "-e", "MINE=yes").err
    assert "has none" in cli("mcp", "test", "x").err
