"""A stored secret that nothing names any more is offered for removal with the server that named it."""

import asyncio
import json
import sys

import pytest

from chat.terminal import Person
from mooring.auth.store import SecretStore
from support import DEMO, Cli, Home

OWN = "home/.config/mooring/mcp.json"

terminal = pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal")


@pytest.fixture
def stored(home: Home) -> Home:
    """A home with two servers: one names two secrets, and the other one of these."""
    for name in ("gh.PAT", "shared"):
        asyncio.run(SecretStore(home.where).set("secret", name, "value", "preferred"))
    env = {"PAT": "${keyring:gh.PAT}", "OTHER": "${keyring:shared}", "NEVER": "${keyring:never}"}
    other = {**DEMO, "env": {"OTHER": "${keyring:shared}"}}
    home.write(OWN, {"mcpServers": {"gh": {**DEMO, "env": env}, "other": other}})
    return home


def list_stored(home: Home) -> set[str]:
    return {each.name for each in asyncio.run(SecretStore(home.where).list("secret"))}


def test_without_a_terminal_the_secret_stays_and_the_command_is_named(stored: Home, cli: Cli) -> None:
    done = cli("mcp", "remove", "gh")
    assert done.code == 0
    assert done.err == "The secret gh.PAT is still stored. To remove it: mooring secret rm gh.PAT\n"
    assert list_stored(stored) == {"gh.PAT", "shared"}


def test_its_name_is_in_the_data(stored: Home, cli: Cli) -> None:
    done = cli("mcp", "remove", "gh", "--json")
    assert (done.err, done.data["removed"]["unusedSecrets"]) == ("", ["gh.PAT"])


def test_a_secret_that_another_definition_names_is_not_mentioned(stored: Home, cli: Cli) -> None:
    done = cli("mcp", "remove", "other")
    assert (done.code, done.err) == (0, "")


def test_another_tools_server_of_that_name_keeps_nothing(stored: Home, cli: Cli) -> None:
    entry = {**DEMO, "env": {"PAT": "${keyring:gh.PAT}"}}
    stored.write("project/.mooring/mcp.json", {"mcpServers": {"twin": entry}})
    done = cli("mcp", "remove", "gh")
    # Another definition names it, whoever may read it.
    assert "gh.PAT" not in done.err


@terminal
@pytest.mark.parametrize(
    ("typed", "left"),
    [
        ("", {"gh.PAT", "shared"}),
        ("no", {"gh.PAT", "shared"}),
        ("yes", {"shared"}),
        ("n", {"gh.PAT", "shared"}),
        ("y", {"shared"}),
        ("Y", {"shared"}),
    ],
)
def test_at_a_terminal_the_person_decides(typed: str, left: set[str], stored: Home) -> None:
    with Person(stored, "mcp", "remove", "gh") as person:
        assert "Nothing else names gh.PAT." in person.sees("[no]: ")
        person.types(typed)
        assert person.ended() == 0
    assert list_stored(stored) == left
    assert set(json.loads((stored.folder / OWN).read_text())["mcpServers"]) == {"other"}


@terminal
def test_a_chat_asks_too(stored: Home) -> None:
    with Person(stored) as person:
        person.types("/mcp remove gh")
        person.answers(("Remove it? ", "y"), ("[no]: ", "yes"))
        person.sees("Removed the secret gh.PAT.")
        person.types("/quit")
        assert person.ended() == 0
    assert list_stored(stored) == {"shared"}
