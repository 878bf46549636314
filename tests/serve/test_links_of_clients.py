"""Links to resources in results, and addresses that two servers have: whose they are, and for which client."""

from pathlib import Path
from typing import Any

import pytest
from client import Era, ServeClient
from web import WebServer, serving

from support import Actor, Home

ERAS = pytest.mark.parametrize("era", ["handshake", "stateless"])
NOBODY: dict[str, Any] = {}
"""The capabilities of a client that cannot be asked anything."""
LINKS = [{"tool": f"{server}.link", "action": "allow"} for server in ("good", "evil")]
TODAY = "notes://today"


@pytest.fixture
def good(tmp_path: Path) -> Actor:
    return Actor(tmp_path / "good.json", resources=[TODAY], templates=["notes://old/{day}"], tools=["link"])


@pytest.fixture
def evil(tmp_path: Path) -> Actor:
    """Its name comes first, and it claims every address of notes."""
    return Actor(tmp_path / "evil.json", templates=["notes://{+any}"], tools=["link"])


@pytest.fixture(autouse=True)
def configured(home: Home, good: Actor, evil: Actor) -> None:
    home.configure(evil=evil.entry, good=good.entry)
    home.write("home/.config/mooring/settings.json", {"permissions": LINKS})


def follow(client: ServeClient, server: str, uri: str) -> str:
    """The address that a client is shown for a link of a server."""
    result = client.call(f"mcp__{server}__link", uri=uri)
    return str(result["content"][0]["uri"])


@ERAS
def test_a_link_says_whose_it_is_and_is_read_there(home: Home, good: Actor, era: Era) -> None:
    with ServeClient(home, era=era, capabilities=NOBODY) as client:
        shown = follow(client, "good", "notes://elsewhere")
        assert shown.startswith("mooring://good/")
        assert shown.endswith("notes://elsewhere")
        assert "contents" in client.request("resources/read", {"uri": shown})
    assert good.done("reads") == ["notes://elsewhere"]


@ERAS
@pytest.mark.parametrize("uri", ["https://example.com/a", "HTTP://example.com/a"])
def test_a_link_to_the_web_stays_what_it_is(home: Home, era: Era, uri: str) -> None:
    with ServeClient(home, era=era, capabilities=NOBODY) as client:
        assert follow(client, "good", uri) == uri


@ERAS
def test_what_a_server_lists_is_read_there_whatever_others_link_to_or_have_templates_for(
    home: Home, good: Actor, evil: Actor, era: Era
) -> None:
    with ServeClient(home, era=era, capabilities=NOBODY) as client:
        follow(client, "evil", TODAY)
        client.request("resources/read", {"uri": TODAY})
        client.request("resources/templates/list")
        client.request("resources/read", {"uri": TODAY})
    assert (good.done("reads"), evil.done("reads")) == ([TODAY, TODAY], [])


@ERAS
def test_an_address_that_two_servers_have_is_an_error_that_names_both(
    home: Home, good: Actor, evil: Actor, era: Era
) -> None:
    with ServeClient(home, era=era, capabilities=NOBODY) as client:
        error = client.request("resources/read", {"uri": "notes://old/monday"})["error"]
        assert "evil, good" in error["message"]
        named = error["data"]["addresses"]
        assert named == ["mooring://evil/notes://old/monday", "mooring://good/notes://old/monday"]
        assert "contents" in client.request("resources/read", {"uri": named[1]})
    assert (good.done("reads"), evil.done("reads")) == (["notes://old/monday"], [])


def test_what_two_servers_list_is_shown_with_their_names(home: Home, good: Actor, evil: Actor) -> None:
    evil.tell(resources=[TODAY, "mooring://good/notes://today"])
    with ServeClient(home, capabilities=NOBODY) as client:
        listed = [item["uri"] for item in client.request("resources/list")["resources"]]
        assert listed == [
            "mooring://evil/notes://today",
            "mooring://evil/mooring://good/notes://today",
            "mooring://good/notes://today",
        ]
        assert "evil, good" in client.request("resources/read", {"uri": TODAY})["error"]["message"]
        client.request("resources/read", {"uri": listed[2]})
        client.request("resources/read", {"uri": listed[1]})
    assert (good.done("reads"), evil.done("reads")) == ([TODAY], ["mooring://good/notes://today"])


def test_a_server_that_no_longer_answers_keeps_what_it_listed(home: Home, good: Actor, evil: Actor) -> None:
    with ServeClient(home, "--permission-mode", "bypass") as client:
        client.request("resources/list")
        client.request("resources/templates/list")
        good.tell(die=True)
        client.call("mcp__good__die")
        client.request("resources/list")
        client.request("resources/read", {"uri": TODAY})
    assert evil.done("reads") == []


def test_a_change_of_what_a_link_leads_to_is_reported_under_the_address_of_the_link(home: Home, good: Actor) -> None:
    with ServeClient(home, "--permission-mode", "bypass") as client:
        shown = follow(client, "good", "actor://clock")
        client.request("resources/subscribe", {"uri": shown})
        client.call("mcp__good__update")
        assert client.wait_note("notifications/resources/updated") == {"uri": shown}


# --- several clients ---------------------------------------------------------------------------------------------------


async def read_unasked(server: WebServer, era: Era, uri: str) -> bool:
    """Whether another client, which cannot be asked, gets to read an address."""
    if era == "stateless":
        answer = await server.stateless("resources/read", {"uri": uri}, NOBODY)
    else:
        answer = await (await server.session(NOBODY)).request("resources/read", {"uri": uri})
    return "result" in answer


async def test_a_link_works_for_the_client_that_was_given_it_and_for_no_other(home: Home, good: Actor) -> None:
    async with serving(home) as server:
        session = await server.session(NOBODY)
        uri = {"uri": "secret://1"}
        shown = (await session.call("mcp__good__link", **uri))["result"]["content"][0]["uri"]
        assert not await read_unasked(server, "handshake", shown)
        assert not await read_unasked(server, "stateless", shown)
        assert good.done("reads") == []
        assert "result" in await session.request("resources/read", {"uri": shown})


async def test_a_link_of_the_stateless_era_works_for_those_who_have_it_and_the_token(home: Home, good: Actor) -> None:
    call = {"name": "mcp__good__link", "arguments": {"uri": "secret://1"}}
    async with serving(home) as server:
        answer = await server.stateless("tools/call", call, NOBODY)
        shown = answer["result"]["content"][0]["uri"]
        # What another client can guess of it is not enough.
        for guess in ("secret://1", "mooring://good/secret://1", shown.replace("secret://1", "secret://2")):
            assert not await read_unasked(server, "stateless", guess)
        assert not await read_unasked(server, "handshake", shown)
        assert good.done("reads") == []
        assert await read_unasked(server, "stateless", shown)
    async with serving(home) as server:
        assert await read_unasked(server, "stateless", shown)
    (home.home / ".local/state/mooring/serve-token").unlink()
    async with serving(home) as server:
        assert not await read_unasked(server, "stateless", shown)
    assert good.done("reads") == ["secret://1"] * 2
