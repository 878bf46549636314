"""A peer speaks whatever protocol its dialect knows; JSON-RPC itself knows no words of any."""

import asyncio
import re
from collections import deque
from pathlib import Path
from types import MappingProxyType

import pytest
from msgspec import json

import mooring.wire.rpc
from mooring.core.protocol.limits import Limits, Timeout
from mooring.errors import RpcError, TimedOut
from mooring.wire.rpc.dialect import ProtocolDialect
from mooring.wire.rpc.message import Notification, encode
from mooring.wire.rpc.peer import Peer

pytestmark = pytest.mark.swift

WORDS = re.compile(r"notifications/|initialize|\bping\b|_meta|progressToken|Mcp-")


class AgentDialect(ProtocolDialect):
    """An editor and an agent: updates name a session, and a cancellation takes back its prompt."""

    immediate_results = MappingProxyType({"session/alive": {"alive": True}})
    uncancellable = frozenset({"authenticate"})

    def __init__(self):
        self.updates = deque()
        self.is_closed = False

    def start(self, connection):
        self.connection = connection

    def receive_notification(self, method, params):
        body = json.decode(params)
        match method:
            case "session/update":
                self.updates.append(body["update"])
                listener = self.connection.prolong(body["turn"])
                if listener is not None:
                    listener(body["update"])
            case "session/cancel":
                self.connection.cancel_answer(body["turn"])
            case _:
                self.connection.anomalies.malformed += 1

    def add_progress_token(self, params, key):
        return {**params, "turn": key}

    def make_cancellation(self, key, reason):
        return Notification("session/cancel", {"turn": key, "why": reason})

    def close(self):
        self.is_closed = True


class Pipe:
    """One end of a connection in memory; `sent` has every message that left it."""

    takes_headers = False

    def __init__(self):
        self.sent = []
        self.other = None
        self.receiver = None

    def start(self, receiver):
        self.receiver = receiver

    def send(self, message):
        line = encode(message)
        self.sent.append(json.decode(line))
        asyncio.get_running_loop().call_soon(self.other.receiver.receive, [line])

    def withdraw(self, key):
        return "running"

    def close(self):
        """Nothing is open here."""

    async def wait_closed(self):
        """Nothing is open here."""


class Both:
    """An editor and an agent on the two ends of a pipe; `plain` is JSON-RPC without any protocol."""

    def __init__(self, answers, plain=False):
        self.here, there = Pipe(), Pipe()
        self.here.other, there.other = there, self.here
        self.dialect = ProtocolDialect() if plain else AgentDialect()
        self.agent_dialect = ProtocolDialect() if plain else AgentDialect()
        self.editor = Peer(self.here, server="agent", limits=Limits(), answers={}, dialect=self.dialect)
        self.agent = Peer(there, server="editor", limits=Limits(), answers=answers, dialect=self.agent_dialect)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *error):
        await self.editor.close()
        await self.agent.close()

    def request(self, method, params=None, **options):
        return self.editor.request(method, params or {}, lambda server, about, raw: json.decode(raw), **options)


def make_prompt():
    """An agent that begins to answer a prompt and never ends: what it was asked, and what became of it."""
    events = []

    async def prompt(raw):
        events.append(json.decode(raw))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            events.append("stopped")
            raise

    return prompt, events


async def wait_until(condition):
    while not condition():  # noqa: ASYNC110 - the other end tells nobody what it has read
        await asyncio.sleep(0.001)


def test_json_rpc_has_no_words_of_a_protocol():
    folder = Path(mooring.wire.rpc.__file__).parent
    found = {path.name: WORDS.findall(path.read_text("utf-8")) for path in folder.glob("*.py")}
    assert {name: words for name, words in found.items() if words} == {}


async def test_updates_reach_the_request_they_are_for():
    async def prompt(raw):
        turn = json.decode(raw)["turn"]
        for word in ("one", "two"):
            both.agent.notify("session/update", {"turn": turn, "update": word})
        return {"stopReason": "end_turn"}

    heard = []
    async with Both({"session/prompt": prompt}) as both:
        answer = await both.request("session/prompt", {"text": "hi"}, on_progress=heard.append)
    assert (answer, heard) == ({"stopReason": "end_turn"}, ["one", "two"])
    assert both.here.sent[0]["params"] == {"text": "hi", "turn": 1}


async def test_updates_keep_a_request_alive():
    async def prompt(raw):
        turn = json.decode(raw)["turn"]
        for _ in range(5):
            await asyncio.sleep(0.05)
            both.agent.notify("session/update", {"turn": turn, "update": "still here"})
        return "done"

    async with Both({"session/prompt": prompt}) as both:
        within = Timeout(0.15, 5)
        assert await both.request("session/prompt", within=within, on_progress=lambda step: None) == "done"


async def test_a_request_is_taken_back_in_the_words_of_its_protocol():
    prompt, events = make_prompt()
    async with Both({"session/prompt": prompt}) as both:
        asking = asyncio.ensure_future(both.request("session/prompt", {"text": "hi"}))
        await wait_until(lambda: events)
        asking.cancel()
        await wait_until(lambda: events[-1] == "stopped")
        assert both.here.sent[-1]["method"] == "session/cancel"
        assert both.here.sent[-1]["params"] == {"turn": 1, "why": "The caller no longer waits"}


async def test_what_cannot_be_taken_back_is_only_given_up():
    prompt, events = make_prompt()
    async with Both({"authenticate": prompt}) as both:
        with pytest.raises(TimedOut):
            await both.request("authenticate", within=Timeout(0.05, 0.05))
        assert [message["method"] for message in both.here.sent] == ["authenticate"]
        assert events == [{}]


async def test_some_requests_are_answered_by_the_peer_itself():
    async with Both({}) as both:
        assert await both.request("session/alive") == {"alive": True}
        with pytest.raises(RpcError, match="Method not found: ping"):
            await both.request("ping")


async def test_a_dialect_is_closed_with_its_peer():
    async with Both({}) as both:
        assert not both.dialect.is_closed
    assert both.dialect.is_closed


async def test_without_a_protocol_nothing_is_added_and_nothing_taken_back():
    prompt, events = make_prompt()
    async with Both({"wait": prompt}, plain=True) as both:
        both.editor.notify("anything", {})
        asking = asyncio.ensure_future(both.request("wait", {"a": 1}, on_progress=lambda step: None))
        await wait_until(lambda: events)
        asking.cancel()
        await asyncio.wait({asking})
        assert [message.get("params") for message in both.here.sent] == [{}, {"a": 1}]
        assert events == [{"a": 1}]
