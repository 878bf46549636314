"""What a page writes in place of a value is noticed: asked for at a terminal, refused where nobody can be asked."""

import asyncio
import json
import sys
from typing import Any

import pytest

from chat.terminal import Person
from mooring.auth.store import SecretStore
from mooring.testing.site import Site
from mooring.verbs.config.stand_ins import find_stand_ins
from support import DEMO, Cli, Home

OWN = "home/.config/mooring/mcp.json"
TOKEN = "tok-canaryCanaryCanary0123456789"

terminal = pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal")


def servers(home: Home) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home.folder / OWN).read_text())["mcpServers"]
    return found


def read_secret(home: Home, name: str) -> str | None:
    return asyncio.run(SecretStore(home.where).get("secret", name))


NOTICED = {
    "YOUR_GITHUB_PAT": "YOUR_GITHUB_PAT",
    "<your-api-key>": "<your-api-key>",
    "<YOUR API KEY>": "<YOUR API KEY>",
    "Bearer <token>": "<token>",
    "Bearer ...": "...",
    "your_api_key_here": "your_api_key_here",
    "my-token-here": "my-token-here",
    "xxx": "xxx",
    "ghp_xxxxxxxxxxxx": "xxxxxxxxxxxx",
    "sk-...": "sk-...",
    "...": "...",
    "CHANGE_ME": "CHANGE_ME",
    "INSERT_TOKEN": "INSERT_TOKEN",
    "/path/to/your/folder": "/path/to/your/folder",
}
MEANT = (
    TOKEN, "ghp_canaryCanaryCanary0123456789abcdefAB", "${YOUR_TOKEN}", "Bearer ${API_KEY}", "11", "", "debug", "yours",
    "https://yourself.example", "exxxon", "here", "a < b > c", "./...", "*", "true", "info,mcp=debug",
)  # fmt: skip


@pytest.mark.parametrize("text", NOTICED)
def test_what_stands_for_a_value_is_noticed(text: str) -> None:
    raw = {"command": "npx", "env": {"API_TOKEN": text}}
    assert [(each.key, each.text) for each in find_stand_ins("s", raw)] == [("env.API_TOKEN", NOTICED[text])]


@pytest.mark.parametrize("text", MEANT)
def test_what_is_meant_as_it_is_written_is_left_alone(text: str) -> None:
    raw = {"command": "npx", "env": {"API_TOKEN": text}, "args": [text]}
    assert find_stand_ins("s", raw) == ()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["-e", "PAT=YOUR_PAT", "--", "npx"], "env.PAT (YOUR_PAT) of gh is a placeholder"),
        (["https://a.example", "-H", "X-Key: <key>"], "headers.X-Key (<key>) of gh is a placeholder"),
        (["https://a.example/?key=YOUR_KEY"], "url (YOUR_KEY) of gh is a placeholder"),
        (
            ["-e", "PAT=xxx", "--", "npx", "-y", "/path/to/dir"],
            "env.PAT (xxx), args[1] (/path/to/dir) of gh are placeholders",
        ),
    ],
)
def test_without_a_terminal_each_is_named_and_nothing_is_written(
    words: list[str], named: str, home: Home, cli: Cli
) -> None:
    done = cli("mcp", "add", "--no-test", "gh", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"mooring: Nothing was written: {named}.")
    assert "mooring secret set gh." in done.err
    assert done.err.count("\n") == 1
    assert not (home.folder / OWN).exists()


def test_every_way_to_add_notices_them(home: Home, cli: Cli) -> None:
    entry = {"command": "npx", "env": {"PAT": "YOUR_PAT"}}
    whole = json.dumps({"mcpServers": {"gh": entry}})
    path = home.write("home/page.json", whole)
    for words in (["add-json", "gh", json.dumps(entry)], ["add", whole], ["import", "-y", "--from", str(path)]):
        done = cli("mcp", *words)
        assert done.code == 2, done.out
        assert "env.PAT" in done.err
        assert "mooring secret set gh.PAT" in done.err
    assert not (home.folder / OWN).exists()


def test_an_import_takes_the_server_once_its_secret_is_stored(home: Home, cli: Cli) -> None:
    servers_of_page = {"gh": {"command": "npx", "env": {"PAT": "YOUR_PAT"}}, "other": {"command": "npx"}}
    path = home.write("home/page.json", {"mcpServers": servers_of_page})
    first = cli("mcp", "import", "-y", "--from", str(path))
    assert "Store it, then try again: mooring secret set gh.PAT" in first.err
    assert set(servers(home)) == {"other"}
    asyncio.run(SecretStore(home.where).set("secret", "gh.PAT", TOKEN, "preferred"))
    second = cli("mcp", "import", "-y", "--from", str(path))
    assert second.code == 0, second.err
    assert servers(home)["gh"]["env"] == {"PAT": "${keyring:gh.PAT}"}
    assert "plain text" not in second.out + second.err


@terminal
def test_at_a_terminal_the_value_is_asked_for_and_stored(home: Home) -> None:
    words = ("-e", "PAT=YOUR_PAT", "-e", "ROOT=/path/to/dir", "--", DEMO["command"], *DEMO["args"])
    with Person(home, "mcp", "add", "--no-test", "gh", *words) as person:
        shown = person.sees("env.PAT: ")
        assert "YOUR_PAT stands for it" in shown
        person.types(TOKEN)
        person.sees("env.ROOT: ")
        person.types("/srv")
        assert person.ended() == 0
        assert TOKEN not in person.shown
    assert servers(home)["gh"]["env"] == {"PAT": "${keyring:gh.PAT}", "ROOT": "/srv"}
    assert read_secret(home, "gh.PAT") == TOKEN


@terminal
async def test_the_wizard_asks_for_what_a_pasted_entry_leaves_open(home: Home) -> None:
    def paste(url: str) -> None:
        entry = {"url": url, "headers": {"Authorization": "Bearer <token>", "X-Key": "YOUR_KEY"}}
        with Person(home, "mcp", "add") as person:
            person.answers(
                ("Name: ", json.dumps({"mcpServers": {"docs": entry}})),
                ("headers.Authorization: ", TOKEN),
                ("headers.X-Key: ", "xyz"),
                ("Scope [user]: ", ""),
                ("Tool [mooring]: ", ""),
                ("Add it? [Y/n]: ", ""),
                ("Keep it? [Y/n]: ", ""),
            )
            assert person.ended() == 0
            assert TOKEN not in person.shown

    async with Site() as site:
        await asyncio.to_thread(paste, site.url)
        sent = {heard.headers.get("Authorization") for heard in site.heard}
    assert sent == {f"Bearer {TOKEN}"}
    assert servers(home)["docs"]["headers"] == {
        "Authorization": "Bearer ${keyring:docs.Authorization}",
        "X-Key": "${keyring:docs.X-Key}",
    }


@terminal
def test_whoever_has_no_value_adds_nothing_and_stores_nothing(home: Home) -> None:
    words = ("-e", "PAT=YOUR_PAT", "-e", "KEY=<key>", "--", "npx")
    with Person(home, "mcp", "add", "gh", *words) as person:
        person.answers(("env.PAT: ", TOKEN), ("env.KEY: ", ""), ("env.KEY: ", ""))
        person.sees("Nothing was added.")
        assert person.ended() == 0
    assert not (home.folder / OWN).exists()
    assert read_secret(home, "gh.PAT") is None


@terminal
def test_a_chat_asks_for_the_value_too(home: Home) -> None:
    with Person(home) as person:
        person.types(f"/mcp add --no-test gh -e PAT=YOUR_PAT -- {DEMO['command']} {' '.join(DEMO['args'])}")
        person.answers(("env.PAT: ", TOKEN))
        person.sees("Added gh")
        person.types("/quit")
        assert person.ended() == 0
    assert servers(home)["gh"]["env"] == {"PAT": "${keyring:gh.PAT}"}
