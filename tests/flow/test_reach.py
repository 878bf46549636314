"""What is asked of a server besides calls passes the same gate: resources, prompts, completion, watches and lists."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from test_gatekeeping import Person, opened
from test_host import until

import mooring
from mooring.core.conversation.host_event import Updated
from mooring.core.conversation.question import Allow, Answer, No, Question
from mooring.host.host import Host
from mooring.permissions.audit import read_log
from support import Actor, Cli, Home, Pauses, live_server

LISTED, EXPANDED, UNLISTED = "actor://clock", "actor://notes/7", "actor://elsewhere?data=secret"
QUIET = {"server/discover", "initialize", "notifications/initialized", "tools/list", "ping"}
"""What a server is asked when it is connected, and nothing more."""


def make_actor(path: Path) -> Actor:
    return Actor(path, resources=[LISTED], templates=["actor://notes/{id}"], prompts=["greet"], tools=["link"])


@pytest.fixture
def two(home: Home, tmp_path: Path) -> tuple[Actor, Actor]:
    """Two servers of the person's own, `a` and `b`."""
    a, b = make_actor(tmp_path / "a.json"), make_actor(tmp_path / "b.json")
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"a": a.entry, "b": b.entry}})
    return a, b


def settings(home: Home, *rules: str, **more: Any) -> None:
    written = [dict(zip(("action", "tool", "pattern"), rule.split(), strict=False)) for rule in rules]
    home.write("home/.config/mooring/settings.json", {"permissions": written, **more})


Attempt = Callable[[Host, str], Awaitable[object]]

ATTEMPTS: dict[str, Attempt] = {
    "read": lambda host, name: host.read(name, LISTED),
    "subscribe": lambda host, name: host.subscribe(name, LISTED),
    "poll": lambda host, name: host.poll(name, uri=LISTED),
    "prompt": lambda host, name: host.prompt(name, "greet"),
    "complete": lambda host, name: host.complete(name, {"type": "ref/prompt", "name": "greet"}, "who", "w"),
    "resources": lambda host, name: host.resources(name),
    "templates": lambda host, name: host.templates(name),
    "prompts": lambda host, name: host.prompts(name),
}
DENIES = ["deny b.*", "deny mcp__b", "deny mcp__b__*", "deny b", "deny B.*", "deny *"]


@pytest.mark.parametrize("attempt", ATTEMPTS)
async def test_a_deny_of_a_server_covers_everything_that_can_be_asked_of_it(
    home: Home, two: tuple[Actor, Actor], attempt: str
) -> None:
    for rule in DENIES:
        settings(home, rule)
        async with opened(home, policy="allow") as host:
            with pytest.raises(mooring.Denied, match=r"b\.\S+ was not called: denied by your settings \(deny"):
                await ATTEMPTS[attempt](host, "b")
            if rule != "deny *":
                await ATTEMPTS[attempt](host, "a")
    assert set(two[1].done("asked")) <= QUIET


async def test_a_list_of_all_servers_leaves_out_those_that_are_denied(home: Home, two: tuple[Actor, Actor]) -> None:
    settings(home, "deny b.*")
    async with opened(home) as host:
        for found in (await host.resources(), await host.templates(), await host.prompts()):
            assert {item.server for item in found} == {"a"}
        async with host.conversation() as tools:
            listed = await tools.call("ListMcpResources", {})
            assert {each["server"] for each in json.loads(listed.text)} == {"a"}
            assert (await tools.call("ListMcpResources", {"server": "b"})).is_error
    assert two[1].done("asked") == []


MODEL = [
    ("ReadMcpResource", {}),
    ("ReadMcpResourceTool", {}),
    ("SubscribeMcpResource", {}),
    ("SubscribePolling", {"type": "resource"}),
]


@pytest.mark.parametrize(("tool", "more"), MODEL)
@pytest.mark.parametrize(
    "rule", ["deny b.*", "deny ReadMcpResource", "deny ReadMcpResourceTool", "deny ReadMcpResource uri=actor:*"]
)
async def test_a_model_is_refused_what_is_denied_however_it_reads(
    home: Home, two: tuple[Actor, Actor], tool: str, more: dict[str, str], rule: str
) -> None:
    settings(home, rule)
    async with opened(home, policy="allow") as host, host.conversation() as tools:
        outcome = await tools.call(tool, {"server": "b", "uri": LISTED, **more})
        assert outcome.is_error
        assert "your settings say" in outcome.text
    assert two[1].done("asked") == []


def test_the_command_line_is_refused_what_is_denied_and_reads_whatever_else_is_typed(
    home: Home, two: tuple[Actor, Actor], cli: Cli
) -> None:
    settings(home, "deny b.*")
    for words in (
        ("read", "b", LISTED),
        ("watch", "b", LISTED, "--count", "1"),
        ("watch", "b", LISTED, "--interval", "1", "--count", "1"),
        ("resources", "b"),
        ("resources", "b", "--templates"),
        ("prompts", "b"),
        ("prompt", "b", "greet"),
    ):
        refused = cli(*words, "--timeout", "20")
        assert refused.code != 0
        assert "denied by your settings (deny b.*)" in refused.err
    assert set(two[1].done("asked")) <= QUIET
    assert cli("read", "a", UNLISTED).code == 0
    for words in (("resources",), ("resources", "--templates"), ("prompts",)):
        assert cli(*words).err == "", "a list of all servers leaves out those that are denied, without a word"
    both = cli("resources", "--json").data
    assert ({each["server"] for each in both["resources"]}, both["failed"]) == ({"a"}, {})
    settings(home, "deny ReadMcpResource")
    assert "deny ReadMcpResource" in cli("read", "a", LISTED).err


async def test_an_address_that_no_list_names_is_asked_about_once_and_others_never(
    home: Home, two: tuple[Actor, Actor]
) -> None:
    person = Person(Allow("once"))
    async with opened(home, ask=person) as host, host.conversation() as tools:
        for uri in (LISTED, EXPANDED):
            assert not (await tools.call("ReadMcpResource", {"server": "a", "uri": uri})).is_error
        assert person.asked == []
        for tool, more in MODEL:
            assert not (await tools.call(tool, {"server": "a", "uri": UNLISTED, **more})).is_error
    assert [(each.server, each.tool) for each in person.asked] == [
        ("a", "ReadMcpResource"),
        ("a", "ReadMcpResource"),
        ("a", "SubscribeMcpResource"),
        ("a", "SubscribePolling"),
    ]
    assert person.asked[0].arguments == {"server": "a", "uri": UNLISTED}
    assert person.asked[0].why == "a does not list this address"


async def test_a_no_or_nobody_to_ask_reads_nothing_and_says_which_rule_would_allow_it(
    home: Home, two: tuple[Actor, Actor]
) -> None:
    async with opened(home, ask=Person(No("not that"))) as host:
        with pytest.raises(mooring.Denied, match="not that"):
            await host.read("a", UNLISTED)
    async with opened(home) as host:
        with pytest.raises(mooring.Denied, match=r"nobody to ask. To allow it: mooring allow a.ReadMcpResource"):
            await host.read("a", UNLISTED)
    assert two[0].done("reads") == []
    for rule in ("allow a.ReadMcpResource", "allow mcp__a", "allow ReadMcpResource"):
        settings(home, rule)
        async with opened(home) as host:
            await host.read("a", UNLISTED)


async def test_a_link_names_an_address_of_its_own_server_in_its_own_conversation(
    home: Home, two: tuple[Actor, Actor]
) -> None:
    settings(home, "allow a.link")
    read = {"server": "a", "uri": UNLISTED}
    async with opened(home) as host, host.conversation(follow=True) as one, host.conversation(follow=True) as other:
        await host.ready()
        assert (await one.call("ReadMcpResource", read)).is_error
        assert not (await one.call("mcp__a__link", {"uri": UNLISTED})).is_error
        assert not (await one.call("ReadMcpResource", read)).is_error
        assert "b does not list" in (await one.call("ReadMcpResource", {**read, "server": "b"})).text
        assert "a does not list" in (await other.call("ReadMcpResource", read)).text
    assert two[1].done("reads") == []


async def test_in_plan_mode_only_trusted_servers_are_asked_for_what_they_list(
    home: Home, two: tuple[Actor, Actor]
) -> None:
    settings(home, "allow *", trustedServers=["a"])
    async with opened(home, policy="plan", ask=Person(Allow("once"))) as host:
        for attempt in ATTEMPTS.values():
            await attempt(host, "a")
            with pytest.raises(mooring.Denied, match="in plan mode, only trusted servers"):
                await attempt(host, "b")
        with pytest.raises(mooring.Denied, match="in plan mode, only addresses that their server lists are read"):
            await host.read("a", UNLISTED)
    assert two[1].done("asked") == []
    assert UNLISTED not in two[0].done("reads")


async def test_a_rule_that_asks_is_asked_once_for_each_read(home: Home, two: tuple[Actor, Actor]) -> None:
    for rule in ("ask ReadMcpResource", "ask *", "ask a.*", "ask ReadMcpResourceTool"):
        settings(home, rule)
        person = Person(Allow("once"))
        async with opened(home, ask=person) as host, host.conversation() as tools:
            assert not (await tools.call("ReadMcpResource", {"server": "a", "uri": LISTED})).is_error
        assert len(person.asked) == 1


@pytest.mark.parametrize("interval", [None, 1.0])
async def test_a_watch_ends_when_its_server_is_denied(
    home: Home, two: tuple[Actor, Actor], interval: float | None
) -> None:
    async with opened(home, policy="allow", sleep=Pauses()) as host:
        events = host.events()
        watch = await (host.subscribe("b", LISTED) if interval is None else host.poll("b", uri=LISTED))
        await until(lambda: two[1].done("reads") != [])
        settings(home, "deny mcp__b")
        await host.reload()
        # A subscription is looked at when the server announces a change.
        await live_server(host, "b").call("update")
        ended = await anext(event async for event in events if isinstance(event, Updated) and event.ended)
        assert (ended.watch, "deny mcp__b" in (ended.error or "")) == (watch.id, True)
        assert host.watches == ()


async def test_every_request_leaves_a_line_in_the_log(home: Home, two: tuple[Actor, Actor]) -> None:
    settings(home, "deny b.*")
    async with opened(home, policy="allow") as host:
        await host.read("a", LISTED)
        await host.prompt("a", "greet")
        await ATTEMPTS["complete"](host, "a")
        with pytest.raises(mooring.Denied):
            await host.read("b", LISTED)
    assert [(entry.server, entry.tool, entry.outcome) for entry in read_log(home.where)] == [
        ("a", "ReadMcpResource", "ok"),
        ("a", "GetMcpPrompt", "ok"),
        ("a", "CompleteMcpArgument", "ok"),
        ("b", "ReadMcpResource", "denied"),
    ]


async def test_closing_the_host_ends_a_read_that_waits_for_an_answer(home: Home, two: tuple[Actor, Actor]) -> None:
    asked = asyncio.Event()

    async def ponder(question: Question) -> Answer:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with opened(home, ask=ponder) as host:
        reading = asyncio.ensure_future(host.read("a", UNLISTED))
        await asked.wait()
    with pytest.raises(mooring.Closed):
        await reading
