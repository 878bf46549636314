"""Servers behind a URL that speak both eras, through `mooring serve`: each client is passed on in its own."""

import asyncio
import sys
from typing import Any

import pytest
from client import RAW, call_tools
from dual import STATIC, run_dual
from web import ask_in_rounds, ask_in_session, events, serving, text

from support import Home


async def test_a_client_of_the_handshake_is_asked_in_the_middle_of_a_call(home: Home) -> None:
    async with run_dual() as server:
        home.configure(box={"url": server.url})
        era, answer = await call_tools(home, "handshake", "era", "ask")
    assert text(era) == "handshake"
    assert '"name": "Ada"' in text(answer)
    # One connection was enough, and nothing was asked in the other era.
    assert server.count("handshake", "initialize") == 1
    assert {era for era, _ in server.heard} == {"handshake"}


async def test_a_stateless_client_is_asked_between_two_rounds(home: Home) -> None:
    async with run_dual() as server:
        home.configure(box={"url": server.url})
        era, answer = await call_tools(home, "stateless", "era", "round")
    assert text(era) == "stateless"
    assert '"name": "Ada"' in text(answer)
    assert {era for era, _ in server.heard} == {"stateless"}


@pytest.mark.parametrize("first", ["handshake", "stateless"])
async def test_clients_of_both_eras_get_their_own_answers_at_the_same_time(home: Home, first: str) -> None:
    async with run_dual() as box, home_serving(home, box.url) as server:
        sessions = [await server.session() for _ in range(10)]
        if first == "handshake":
            await sessions[0].call("era")
        else:
            await server.stateless("tools/call", {"name": "era"})
        asked = [ask_in_session(session, f"hand-{number}") for number, session in enumerate(sessions)]
        rounds = [ask_in_rounds(server, f"state-{number}") for number in range(10)]
        answers = await asyncio.gather(*asked, *rounds)
    wanted = [f"hand-{number}" for number in range(10)] + [f"state-{number}" for number in range(10)]
    assert [name for answer, name in zip(answers, wanted, strict=True) if f'"{name}"' not in answer] == []
    # All clients of an era share one connection.
    assert box.count("handshake", "initialize") == 1


async def test_whatever_is_asked_is_asked_in_the_era_of_the_client(home: Home) -> None:
    requests: list[tuple[str, dict[str, Any]]] = [
        ("resources/read", {"uri": STATIC}),
        ("prompts/get", {"name": "greet", "arguments": {"who": "Ada"}}),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "who", "value": ""}},
        ),
    ]
    async with run_dual() as box, home_serving(home, box.url) as server:
        session = await server.session()
        for method, params in requests:
            stateless = await server.stateless(method, params)
            handshake = await session.request(method, params)
            assert '"stateless"' in str(stateless).replace("'", '"')
            assert '"handshake"' in str(handshake).replace("'", '"')


async def test_a_changed_resource_is_reported_once_to_each_client_whatever_its_era(home: Home) -> None:
    wanted = {"notifications": {"resourceSubscriptions": [STATIC]}}
    async with run_dual() as box, home_serving(home, box.url) as server:
        session = await server.session()
        await server.stateless("tools/call", {"name": "era"})
        async with await server.open_stateless("subscriptions/listen", wanted) as listening:
            stateless_notes = events(listening)
            assert (await anext(stateless_notes))["method"] == "notifications/subscriptions/acknowledged"
            async with await session.listen() as stream:
                handshake_notes = events(stream)
                await session.request("resources/subscribe", {"uri": STATIC})
                assert box.count("handshake", "resources/subscribe") == 1
                await session.call("touch")
                for notes in (stateless_notes, handshake_notes):
                    note = await asyncio.wait_for(anext(notes), 100)
                    assert note["method"] == "notifications/resources/updated"
                    with pytest.raises(TimeoutError):
                        await asyncio.wait_for(anext(notes), 0.5)
                await session.request("resources/unsubscribe", {"uri": STATIC})
                await session.call("era")
                assert box.count("handshake", "resources/unsubscribe") == 1


async def test_a_server_without_the_era_of_a_client_is_bridged_and_asked_for_it_only_once(home: Home) -> None:
    async with run_dual("stateless") as server:
        home.configure(box={"url": server.url})
        era, answer = await call_tools(home, "handshake", "era", "round")
        assert text(era) == "stateless"
        assert '"name": "Ada"' in text(answer)
        refused = server.count("handshake", "initialize")
        assert text((await call_tools(home, "handshake", "era"))[0]) == "stateless"
        assert server.count("handshake", "initialize") == refused == 1


async def test_a_server_that_refuses_a_second_connection_is_reached_over_its_own(home: Home) -> None:
    async with run_dual("stateless") as box, home_serving(home, box.url) as server:
        await server.stateless("tools/call", {"name": "era"})
        session = await server.session()
        for _ in range(3):
            assert text((await session.call("era"))["result"]) == "stateless"
        assert box.count("handshake", "initialize") == 1


async def test_a_session_that_the_server_forgot_is_begun_anew_in_the_same_era(home: Home) -> None:
    async with run_dual() as box, home_serving(home, box.url) as server:
        await server.stateless("tools/call", {"name": "era"})
        session = await server.session()
        assert '"Ada"' in await ask_in_session(session, "Ada")
        box.sessions.clear()
        assert '"Eve"' in await ask_in_session(session, "Eve")
        assert box.count("handshake", "initialize") == 2
        assert text((await server.stateless("tools/call", {"name": "era"}))["result"]) == "stateless"


async def test_what_was_served_in_the_handshake_era_is_called_in_the_stateless_one_afterwards(home: Home) -> None:
    async with run_dual() as server:
        home.configure(box={"url": server.url})
        await call_tools(home, "handshake", "era")
        words = [sys.executable, "-m", "mooring", "call", "box.era"]
        done = await asyncio.create_subprocess_exec(*words, cwd=home.cwd, env=home.env, stdout=asyncio.subprocess.PIPE)
        said, _ = await done.communicate()
    assert said.decode().strip() == "stateless"


def home_serving(home: Home, url: str) -> Any:
    """`mooring serve --http` in front of a server behind a URL."""
    home.configure(box={"url": url})
    return serving(home, *RAW)


async def test_a_server_that_takes_one_request_at_a_time_has_one_connection(home: Home) -> None:
    async with run_dual() as box:
        definition = {"url": box.url, "maxInFlight": 1}
        home.write("home/.config/mooring/mcp.json", {"mcpServers": {"box": definition}})
        async with serving(home, *RAW) as server:
            await server.stateless("tools/call", {"name": "era"})
            session = await server.session()
            assert text((await session.call("era"))["result"]) == "stateless"
    assert box.count("handshake", "initialize") == 0
