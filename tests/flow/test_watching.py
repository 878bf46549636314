"""Resources, prompts, questions, subscriptions and polling, through the host, with the bundled demo server."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from test_host import Actor, Listener, until

import mooring
from mooring.core.conversation.host_event import Updated
from mooring.core.conversation.question import Answer, Form, No, Question, Yes
from mooring.core.conversation.status import Idle
from mooring.core.protocol.limits import Limits
from mooring.core.protocol.result import Reading, Result
from mooring.errors import ConfigError, RpcError, UnknownServer
from mooring.host.host import Host
from mooring.servers.watch import MAX_WATCHES
from support import Home, Pauses, live_server

DEMO = {"demo": {"command": sys.executable, "args": ["-I", "-m", "mooring.demo"]}}


CLOCK = "actor://clock"


@pytest.fixture
def actor(tmp_path: Path) -> Actor:
    return Actor(tmp_path / "actor.json")


@asynccontextmanager
async def opened(home: Home, servers: Any = DEMO, **options: Any) -> AsyncIterator[Host]:
    async with mooring.open(request=home.request(), servers=servers, policy="allow", **options) as host:
        yield host


async def test_resources_templates_and_prompts_of_all_servers_are_listed_with_the_server_that_has_them(
    home: Home, tmp_path: Path
) -> None:
    dead = Actor(tmp_path / "dead.json", die=True)
    async with opened(home, {**DEMO, "dead": dead.entry}) as host:
        resources, templates = await host.resources(), await host.templates()
        prompts = await host.prompts()
        assert {item.server for item in (*resources, *templates, *prompts)} == {"demo"}
        assert [item.item.uri for item in resources]
        assert [item.item.uri_template for item in templates]
        assert [item.item.name for item in prompts]
        with pytest.raises(mooring.ServerDied):
            await host.resources("dead")
        with pytest.raises(UnknownServer):
            await host.resources("nobody")


async def test_a_resource_is_read_a_prompt_filled_and_an_argument_completed(home: Home) -> None:
    async with opened(home) as host:
        first = (await host.resources("demo"))[0].item
        assert (await host.read("demo", first.uri)).contents[0].text
        prompt = (await host.prompts("demo"))[0].item
        argument = prompt.arguments[0].name
        assert (await host.prompt("demo", prompt.name, {argument: "Ada"})).messages
        found = await host.complete("demo", {"type": "ref/prompt", "name": prompt.name}, argument, "")
        assert isinstance(found.values, tuple)
        with pytest.raises(RpcError):
            await host.read("demo", "demo://nothing/there")


async def test_a_question_of_a_server_is_put_to_the_person(home: Home) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> Answer:
        asked.append(question)
        assert isinstance(question, Form)
        return Yes(dict.fromkeys(question.schema["properties"], "blue"))

    async with opened(home, ask=ask) as host:
        result = await host.call("demo.ask", {"question": "Which colour?"})
        assert "blue" in result.text
        assert [type(question) for question in asked] == [Form]
        assert asked[0].server == "demo"


@pytest.mark.parametrize(("how", "words"), [("decline", "declined to answer"), ("cancel", "closed the question")])
async def test_a_person_may_refuse_to_answer(home: Home, how: Any, words: str) -> None:
    async def ask(question: Question) -> Answer:
        return No("not now", how)

    async with opened(home, ask=ask) as host:
        result = await host.call("demo.ask", {"question": "Which colour?"})
        assert words in result.text


async def test_without_a_person_a_server_that_asks_is_told_that_nobody_answered(home: Home) -> None:
    async with opened(home) as host:
        result = await host.call("demo.ask", {"question": "Which colour?"})
        assert not result.is_error
        assert "closed the question without answering" in result.text


async def test_a_subscription_tells_of_each_change_with_what_it_is_now(home: Home, actor: Actor) -> None:
    async with opened(home, {"actor": actor.entry}, sleep=Pauses()) as host:
        listener = Listener(host)
        watch = await host.subscribe("actor", CLOCK)
        assert watch.interval is None
        await until(lambda: actor.done("reads"))
        for told in range(1, 3):
            await host.call("actor.update")
            await until(lambda told=told: len(listener.of(Updated)) == told)
        contents = [event.content for event in listener.of(Updated)]
        assert all(isinstance(content, Reading) for content in contents)
        assert len({content.contents[0].text for content in contents}) == len(contents)
        assert await host.unsubscribe(watch.id)
        assert not await host.unsubscribe(watch.id)
        assert host.watches == ()


async def test_a_subscription_outlives_the_server_it_was_made_with(home: Home, actor: Actor) -> None:
    async with opened(home, {"actor": actor.entry}, sleep=Pauses()) as host:
        listener = Listener(host)
        await host.subscribe("actor", CLOCK)
        await until(lambda: actor.done("reads"))
        await host.call("actor.update")
        await until(lambda: len(listener.of(Updated)) == 1)
        await live_server(host, "actor").restart()
        await until(lambda: len(listener.of(Updated)) == 2)  # what it became while nobody could tell
        assert actor.done("subscriptions").count(f"subscribe:{CLOCK}") == 3
        await host.call("actor.update")
        await until(lambda: len(listener.of(Updated)) == 3)


async def test_a_resource_is_looked_at_where_its_server_does_not_tell_and_only_changes_are_told(
    home: Home, actor: Actor
) -> None:
    async with opened(home, {"actor": actor.entry}, sleep=Pauses()) as host:
        listener = Listener(host)
        clock = await host.poll("actor", uri=CLOCK, interval=1.0)
        still = await host.poll("actor", tool="count", interval=1.0)
        await until(lambda: len(listener.of(Updated)) >= 2 and len(actor.done("counts")) >= 3)
        assert {event.watch for event in listener.of(Updated)} == {clock.id}
        assert await host.unsubscribe(server="actor", target="count")
        assert [watch.id for watch in host.watches] == [clock.id]
        assert still.kind == "tool"


async def test_a_tool_that_is_polled_tells_its_new_result(home: Home, actor: Actor) -> None:
    pauses = Pauses()
    async with opened(home, {"actor": actor.entry}, sleep=pauses) as host:
        listener = Listener(host)
        await host.poll("actor", tool="whoami", interval=1.0)
        await until(lambda: bool(pauses.asked))
        await host.reload("actor")
        # a look in the middle of the reload fails, and says so
        await until(lambda: any(event.content for event in listener.of(Updated)))
        [content] = [event.content for event in listener.of(Updated) if event.content]
        assert isinstance(content, Result)
        assert content.text == actor.done("starts")[-1]


async def test_a_failure_is_told_once_and_looked_at_less_and_less(home: Home) -> None:
    pauses = Pauses()
    async with opened(home, sleep=pauses) as host:
        listener = Listener(host)
        await host.poll("demo", uri="demo://nothing", interval=1.0)
        await until(lambda: len(pauses.asked) >= 10)
        assert pauses.asked[:10] == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
        assert len(listener.of(Updated)) == 1
        assert listener.of(Updated)[0].error


async def test_a_server_that_fails_is_looked_at_less_and_less_often_and_as_often_as_before_once_it_is_well(
    home: Home, tmp_path: Path
) -> None:
    actor = Actor(tmp_path / "actor.json", bare=True)
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    async with opened(home, {"actor": actor.entry, **DEMO}, sleep=sleep) as host:
        await host.poll("demo", uri="demo://nothing", interval=2.0)
        await until(lambda: len(pauses) >= 10)
        assert pauses[:10] == [4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
        assert await host.unsubscribe(server="demo", target="demo://nothing")
        pauses.clear()
        await host.poll("actor", tool="whoami", interval=2.0)
        await until(lambda: len(pauses) >= 3)
        assert all(1 < pause < 2 for pause in pauses)


async def test_the_time_that_a_look_takes_is_part_of_the_interval(home: Home) -> None:
    pauses = Pauses()
    async with opened(home, sleep=pauses) as host:
        await host.poll("demo", tool="slow", arguments={"seconds": 0.3}, interval=1.0)
        await until(lambda: len(pauses.asked) >= 3)
    assert all(pause < 0.75 for pause in pauses.asked)


async def test_looks_that_take_longer_than_the_interval_are_not_made_up_for(home: Home) -> None:
    pauses = Pauses()
    async with opened(home, sleep=pauses) as host:
        await host.poll("demo", tool="slow", arguments={"seconds": 1.1}, interval=1.0)
        await until(lambda: len(pauses.asked) >= 2)
    assert set(pauses.asked) == {0.0}


async def test_so_much_is_watched_at_once_and_no_more(home: Home) -> None:
    async with opened(home) as host:
        for number in range(MAX_WATCHES):
            await host.poll("demo", uri=f"demo://greeting/{number}", interval=60)
        with pytest.raises(ConfigError, match="64 things are being watched already; stop one of them first"):
            await host.poll("demo", uri="demo://clock")
        assert await host.unsubscribe(server="demo", target="demo://greeting/7")
        await host.poll("demo", uri="demo://clock")
        assert not await host.unsubscribe(server="demo", target="demo://greeting/7")
        assert await host.unsubscribe(server="demo"), "all of a server's"
        assert host.watches == ()


async def test_what_cannot_be_watched_is_refused_in_a_sentence(home: Home) -> None:
    async with opened(home) as host:
        with pytest.raises(ConfigError, match="at least 1 s"):
            await host.poll("demo", uri="demo://clock", interval=0.5)
        with pytest.raises(ConfigError, match="Say what to watch"):
            await host.poll("demo")
        with pytest.raises(mooring.UnknownTool):
            await host.poll("demo", tool="nothing")


async def test_closing_ends_all_that_is_watched(home: Home) -> None:
    before = asyncio.all_tasks()
    async with opened(home) as host:
        await host.subscribe("demo", "demo://clock")
        await host.poll("demo", uri="demo://clock")
    assert asyncio.all_tasks() == before


async def test_a_watch_ends_with_a_word_when_its_server_is_no_longer_configured(home: Home) -> None:
    async with opened(home) as host:
        listener = Listener(host)
        await host.poll("demo", uri="demo://clock")
        await host.apply({})
        await until(lambda: any(event.ended for event in listener.of(Updated)))
        assert host.watches == ()


async def test_tools_and_errors_come_side_by_side_for_programs_without_a_person(home: Home, tmp_path: Path) -> None:
    dead = Actor(tmp_path / "dead.json", die=True)
    servers = {**DEMO, "dead": dead.entry}
    async with mooring.discover_and_load(servers=servers, request=home.request()) as loaded:
        assert list(loaded.errors) == ["dead"]
        assert "mcp__demo__add" in [tool.name for tool in loaded.tools]
        with pytest.raises(mooring.Denied, match="nobody to ask"):
            await loaded.host.call("demo.add", {"a": 1, "b": 2})


async def test_a_server_is_asked_once_for_what_changes_often_and_told_when_nobody_listens_any_more(
    home: Home, actor: Actor
) -> None:
    async with opened(home, {"actor": actor.entry}, sleep=Pauses()) as host:
        listener = Listener(host)
        watch, other = await host.subscribe("actor", CLOCK), await host.subscribe("actor", CLOCK)
        for _ in range(5):
            seen = len(listener.of(Updated))
            await host.call("actor.update")
            await until(lambda seen=seen: len(listener.of(Updated)) >= seen + 2)
        assert await host.unsubscribe(other.id)
        assert f"unsubscribe:{CLOCK}" not in actor.done("subscriptions")
        assert await host.unsubscribe(watch.id)
    asked = actor.done("subscriptions")
    assert asked.count(f"subscribe:{CLOCK}") <= 4  # each of the two begins with one, and one more for its session
    assert asked[-1] == f"unsubscribe:{CLOCK}"
    assert asked.count(f"unsubscribe:{CLOCK}") == 1


async def test_whoever_no_longer_waits_for_a_subscription_does_not_keep_its_server_open(
    home: Home, tmp_path: Path
) -> None:
    deaf = Actor(tmp_path / "deaf.json", deaf=True)
    async with opened(home, {"deaf": deaf.entry}, limits=Limits(unused=0.2)) as host:
        waiting = asyncio.create_task(host.subscribe("deaf", CLOCK))
        await until(lambda: bool(deaf.done("subscriptions")))
        waiting.cancel()
        await until(lambda: host.status() == {"deaf": Idle()})


async def test_what_is_watched_of_a_new_server_outlives_the_end_of_the_old_one_of_its_name(home: Home) -> None:
    async with opened(home) as host:
        listener = Listener(host)
        old = await host.poll("demo", uri="demo://clock", interval=1.0)
        await host.apply({"demo": {**DEMO["demo"], "env": {"MODE": "new"}}})
        new = await host.poll("demo", uri="demo://clock", interval=1.0)
        await until(lambda: any(event.ended for event in listener.of(Updated)))
        await until(lambda: any(event.watch == new.id for event in listener.of(Updated)))
        assert host.watches == (new,)
        assert {event.watch for event in listener.of(Updated) if event.ended} == {old.id}
