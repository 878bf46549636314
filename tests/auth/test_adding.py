"""`add` offers to keep a token out of the file that it writes: the store has it, and the file a reference."""

import asyncio
import json
import sys
from typing import Any

from auth.machine import Machine
from chat.terminal import Person
from mooring.testing.site import Site
from support import Home

TOKEN = "ghp_canaryCanaryCanary0123456789abcdefAB"
OWN = "home/.config/mooring/mcp.json"
DEMO = [sys.executable, "-I", "-m", "mooring.demo"]


def servers(home: Home) -> Any:
    return json.loads((home.folder / OWN).read_text())["mcpServers"]


async def test_a_token_typed_into_the_wizard_goes_to_the_store_and_from_there_to_the_server(home: Home) -> None:
    machine = Machine(home, "Working")

    def describe(url: str) -> str:
        with Person(home, "mcp", "add", "docs", **machine.env) as person:
            person.answers(
                ("Program or address [program]: ", url),
                ("Transport [auto]: ", "http"),
                ("Header, as NAME: VALUE (Enter to go on): ", ""),
                ("Bearer token, not shown (Enter to go on): ", TOKEN),
                ("Write it as [Bearer ${keyring:docs.Authorization}]: ", ""),
                ("Scope [user]: ", ""),
                ("Tool [mooring]: ", "claude-code"),
                (
                    "claude-code cannot read ${keyring:docs.Authorization}; only Mooring's own file can.\nTool [mooring]: ",
                    "",
                ),
                ("Add it? [Y/n]: ", ""),
            )
            person.sees("Stored docs.Authorization in the system keyring.")
            person.sees("Keep it? [Y/n]: ")
            person.types("")
            assert person.ended() == 0
            return person.shown

    async with Site() as site:
        shown = await asyncio.to_thread(describe, site.url)
        assert {heard.headers.get("Authorization") for heard in site.heard} == {f"Bearer {TOKEN}"}
    assert TOKEN not in shown
    assert servers(home)["docs"]["headers"] == {"Authorization": "Bearer ${keyring:docs.Authorization}"}
    assert machine.kept == [TOKEN]
    assert machine.files_with(TOKEN) == []


def test_the_quick_form_asks_at_a_terminal_what_becomes_of_a_token(home: Home) -> None:
    machine = Machine(home, "Working")
    with Person(home, "mcp", "add", "demo", "-e", f"API_KEY={TOKEN}", "--", *DEMO, **machine.env) as person:
        person.answers(("Write it as [${keyring:demo.API_KEY}]: ", ""), ("Keep it? [Y/n]: ", "n"))
        person.sees("Removed demo from")
        assert person.ended() == 0
    assert servers(home) == {}
    assert machine.kept == [], "what was stored for a server goes with it"
    with Person(
        home, "mcp", "add", "demo", "--no-test", "-e", f"API_KEY={TOKEN}", "--", *DEMO, **machine.env
    ) as person:
        person.answers(("Write it as [${keyring:demo.API_KEY}]: ", "3"))
        assert person.ended() == 0
        assert "To keep it out" not in person.shown
    assert servers(home)["demo"]["env"] == {"API_KEY": TOKEN}
    assert machine.kept == []


def test_leaving_the_question_adds_and_stores_nothing(home: Home) -> None:
    machine = Machine(home, "Working")
    with Person(home, "mcp", "add", "demo", "-e", f"API_KEY={TOKEN}", "--", *DEMO, **machine.env) as person:
        person.sees("Write it as")
        person.presses("\x03")
        person.sees("Nothing was added.")
        person.ended()
    assert not (home.folder / OWN).exists()
    assert machine.kept == []


def test_without_a_terminal_the_commands_that_keep_it_out_are_said(home: Home) -> None:
    machine = Machine(home, "Working")
    entry = json.dumps({"url": "https://a.example", "headers": {"Authorization": f"Bearer {TOKEN}"}})
    added = machine.run("mcp", "add-json", "docs", entry, "--no-test")
    assert added.code == 0
    assert added.err == (
        "headers.Authorization is in the file as plain text. To keep it out: mooring secret set docs.Authorization, "
        "and write Bearer ${keyring:docs.Authorization} in its place.\n"
    )
    assert machine.kept == []
    # No other tool could read such a reference.
    assert machine.run("mcp", "add-json", "other", entry, "--no-test", "--to", "cursor").err == ""


def test_a_name_that_is_taken_is_refused_before_anybody_is_asked_and_its_secret_stays(home: Home) -> None:
    machine = Machine(home, "Working")
    machine.run("secret", "set", "demo.API_KEY", given="the first")
    words = ("mcp", "add", "demo", "--no-test", "-e")
    machine.run(*words, "API_KEY=${keyring:demo.API_KEY}", "--", *DEMO)
    with Person(home, *words, f"API_KEY={TOKEN}", "--", *DEMO, **machine.env) as person:
        assert person.ended() == 2
        assert "Write it as" not in person.shown
    assert machine.kept == ["the first"]


def test_the_chat_asks_too_and_takes_what_it_stored_with_the_server(home: Home) -> None:
    machine = Machine(home, "Working")
    line = f"/mcp add demo -e API_KEY={TOKEN} -- {' '.join(DEMO)}"
    with Person(home, "chat", **machine.env) as person:
        person.answers(("> ", line), ("Write it as [${keyring:demo.API_KEY}]: ", ""))
        person.sees("Stored demo.API_KEY in the system keyring.")
        person.sees("Keep it? [Y/n]: ")
        assert machine.kept == [TOKEN]
        person.types("n")
        person.sees("Removed demo from")
        person.answers(("> ", "/quit"))
        person.ended()
    assert servers(home) == {}
    assert machine.kept == []
