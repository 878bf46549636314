"""The host from its door: real child processes, nothing replaced."""

import asyncio
import gc
import json
import os
import resource
import signal
import sys
import time
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import mooring
from mooring.core.conversation.host_event import HostEvent, Logged, Reloaded, StatusChanged, ToolsChanged
from mooring.core.conversation.status import Connected, Connecting, Disabled, Failed, Idle, Unapproved, status_word
from mooring.core.protocol.limits import Limits
from mooring.errors import Denied, NotApproved, ServerDied, Stale, Suspended, TimedOut, UnknownServer, UnknownTool
from mooring.host.host import Host
from mooring.host.runtime import POLL_SECONDS, SETTLE_SECONDS
from mooring.inventory.approval import decide, list_questions
from support import Actor, Home, Pauses, live_server


@pytest.fixture
def actor(tmp_path: Path) -> Actor:
    return Actor(tmp_path / "actor.json")


@asynccontextmanager
async def opened(home: Home, **options: Any) -> AsyncIterator[Host]:
    async with mooring.open(request=home.request(), policy="allow", **options) as host:
        yield host


async def until(fact: Callable[[], bool], seconds: float = 100) -> None:
    """Wait for something that must come true by itself."""
    deadline = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < deadline, "it never came true"
        await asyncio.sleep(0.01)


async def pid(host: Host, server: str = "actor") -> int:
    return int((await host.call(f"{server}.whoami")).text)


def gone(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)
    while not gone(process):
        time.sleep(0.001)


class Listener:
    """Everything that a host tells."""

    def __init__(self, host: Host) -> None:
        self.events: list[HostEvent] = []
        self._task = asyncio.create_task(self._listen(host))

    async def _listen(self, host: Host) -> None:
        async for event in host.events():
            self.events.append(event)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


# --- starting nothing that need not be ------------------------------------------------------------------------------


async def test_opening_starts_nothing(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        assert host.status() == {"actor": Idle()}
        assert host.tools == ()
    assert actor.done("starts") == []


async def test_a_cold_call_connects_first(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        process = await pid(host)
        assert actor.done("starts") == [str(process)]
        assert isinstance(host.status()["actor"], Connected)
    assert gone(process)


async def test_tools_are_known_at_once_the_second_time_and_nothing_is_started_for_them(
    home: Home, actor: Actor
) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        assert await host.ready() == {}
        first = [entry.name for entry in host.tools]
    assert "mcp__actor__whoami" in first
    async with opened(home, servers={"actor": actor.entry}) as host:
        assert [entry.name for entry in host.tools] == first
        assert await host.ready() == {}
    assert len(actor.done("starts")) == 1


async def test_another_definition_knows_nothing_of_the_tools_of_the_first(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        await host.ready()
    other = {**actor.entry, "env": {"MODE": "other"}}
    async with opened(home, servers={"actor": other}) as host:
        assert host.tools == ()


async def test_what_the_catalog_remembers_wrongly_is_listed_anew_before_a_tool_is_called_unknown(
    home: Home, actor: Actor
) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        await host.ready()
    actor.tell(tools=["newborn"])
    async with opened(home, servers={"actor": actor.entry}) as host:
        assert (await host.call("actor.newborn")).text == "newborn"
        with pytest.raises(UnknownTool, match="Did you mean newborn"):
            await host.call("actor.newborm")


async def test_an_eager_server_is_started_at_once(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": {**actor.entry, "lifecycle": "eager"}}) as host:
        await until(lambda: isinstance(host.status()["actor"], Connected))


async def test_a_lazy_server_is_closed_when_nobody_used_it_for_a_while_and_comes_back_when_needed(
    home: Home, actor: Actor
) -> None:
    async with opened(home, servers={"actor": actor.entry}, limits=Limits(unused=0.2)) as host:
        first = await pid(host)
        await until(lambda: gone(first))
        await until(lambda: host.status() == {"actor": Idle()})
        assert host.tools != ()
        assert await pid(host) != first


async def test_a_definition_may_say_how_long_its_server_stays_open(home: Home, actor: Actor) -> None:
    home.write("home/.atomic/agent/mcp.json", {"mcpServers": {"actor": {**actor.entry, "idleTimeout": 0.005}}})
    async with opened(home) as host:
        first = await pid(host)
        await until(lambda: gone(first))


async def test_a_long_call_keeps_its_server_open(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": actor.entry}, limits=Limits(unused=0.1)) as host:
        assert (await host.call("actor.nap", {"seconds": 0.6})).text == "nap"
    assert len(actor.done("starts")) == 1


async def test_a_program_that_may_have_to_be_downloaded_says_so_the_first_time_and_is_given_longer(
    home: Home, tmp_path: Path
) -> None:
    late = Actor(tmp_path / "late.json", late=0.6)
    npx = tmp_path / "npx"
    npx.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    npx.chmod(0o755)
    servers = {"late": {"command": str(npx), "args": late.entry["args"][1:], "timeout": 300}}
    async with opened(home, servers=servers) as host:
        starting = asyncio.create_task(host.ready())
        await until(lambda: isinstance(host.status()["late"], Connecting))
        status = host.status()["late"]
        assert isinstance(status, Connecting)
        assert status.installing
        assert status_word(status) == "pending"
        assert await starting == {}
    async with opened(home, servers=servers) as host:
        assert list(await host.ready(refresh=True)) == ["late"]


async def test_one_bad_server_costs_the_others_nothing(home: Home, actor: Actor, tmp_path: Path) -> None:
    servers = {
        "good": actor.entry,
        "dies": Actor(tmp_path / "dies.json", die=True).entry,
        "absent": {"command": "/no/such/program"},
        "nonsense": {"args": ["what?"]},
    }
    async with opened(home, servers=servers) as host:
        errors = await host.ready()
        assert sorted(errors) == ["absent", "dies", "nonsense"]
        assert "I was told to die" in str(errors["dies"])
        assert "no/such/program" in str(errors["absent"])
        assert {status_word(status) for name, status in host.status().items() if name != "good"} == {"failed"}
        assert {entry.server for entry in host.tools} == {"good"}


async def test_who_is_late_is_named_and_comes_in_the_background(home: Home, actor: Actor, tmp_path: Path) -> None:
    late = Actor(tmp_path / "late.json", late=0.7)
    async with opened(home, servers={"prompt": actor.entry, "late": late.entry}) as host:
        errors = await host.ready(timeout=0.35)
        assert list(errors) == ["late"]
        assert isinstance(errors["late"], TimedOut)
        await until(lambda: any(entry.server == "late" for entry in host.tools))


async def test_whoever_no_longer_waits_for_the_servers_leaves_no_task_and_no_unheard_error(
    home: Home, actor: Actor, tmp_path: Path
) -> None:
    unheard: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context))
    servers = {"late": Actor(tmp_path / "late.json", late=30).entry, "dies": Actor(tmp_path / "d.json", die=True).entry}
    before = asyncio.all_tasks()
    async with opened(home, servers=servers) as host:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await host.ready()
    assert asyncio.all_tasks() == before
    gc.collect()
    assert unheard == []


# --- healing --------------------------------------------------------------------------------------------------------


async def test_a_server_killed_between_two_calls_answers_the_second(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        for _ in range(3):
            kill(await pid(host))
        assert len(set(actor.done("starts"))) == 3
        await pid(host)


async def test_a_crash_under_a_call_fails_that_call_with_the_cause_and_the_next_one_succeeds(
    home: Home, actor: Actor
) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        with pytest.raises(ServerDied, match="exit code 3") as caught:
            await host.call("actor.die")
        assert caught.value.may_have_run
        await pid(host)
    assert len(actor.done("starts")) == 2


async def test_all_calls_under_way_fail_at_once_when_their_server_dies(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        await pid(host)
        naps = [asyncio.create_task(host.call("actor.nap", {"seconds": 30})) for _ in range(20)]
        await until(lambda: len(actor.done("naps")) == 20)
        with pytest.raises(ServerDied):
            await host.call("actor.die")
        outcomes = await asyncio.gather(*naps, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {ServerDied}


async def test_a_call_that_may_do_harm_is_never_made_twice(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        with pytest.raises(ServerDied):
            await host.call("actor.count", {"die": True})
        await pid(host)
    assert len(actor.done("counts")) == 1


async def test_a_call_marked_as_read_only_is_made_once_more(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        assert (await host.call("actor.fragile")).text == "fragile"
    assert len(actor.done("counts")) == 2


async def test_an_eager_server_comes_back_by_itself_and_says_so(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": {**actor.entry, "lifecycle": "eager"}}) as host:
        listener = Listener(host)
        first = await pid(host)
        kill(first)
        await until(lambda: len(actor.done("starts")) == 2)
        await until(lambda: isinstance(host.status()["actor"], Connected))
        await until(lambda: listener.of(StatusChanged)[-1].status == host.status()["actor"])
        words = [status_word(event.status) for event in listener.of(StatusChanged)]
        assert words[-2:] == ["pending", "connected"]


async def test_an_eager_server_that_is_begun_anew_is_brought_back_at_once(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": {**actor.entry, "lifecycle": "eager"}}) as host:
        first = await pid(host)
        await host.reload("actor")
        await until(lambda: isinstance(host.status()["actor"], Connected))
        assert gone(first)


async def test_a_server_to_be_kept_alive_is_felt_for_its_pulse_and_connected_anew_when_it_has_none(
    home: Home, actor: Actor
) -> None:
    entry = {**actor.entry, "lifecycle": "keep-alive"}
    async with opened(home, servers={"actor": entry}, limits=Limits(pulse=0.2, unused=0.1)) as host:
        first = await pid(host)
        await until(lambda: len(actor.done("pings")) >= 3)
        assert actor.done("starts") == [str(first)]
        actor.tell(mute=True)
        await until(lambda: len(actor.done("starts")) == 2)
        assert gone(first)


async def test_the_last_known_tools_stay_offered_while_a_server_is_away(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        process = await pid(host)
        known = host.tools
        actor.tell(die=True)
        kill(process)
        await until(lambda: isinstance(host.status()["actor"], Failed))
        assert host.tools == known


async def test_a_call_waits_for_a_server_that_is_being_brought_back(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": {**actor.entry, "lifecycle": "eager"}}) as host:
        process = await pid(host)
        actor.tell(die=True)
        kill(process)
        await until(lambda: len(actor.done("starts")) >= 2)
        waiting = asyncio.create_task(pid(host))
        actor.tell()
        assert await waiting


async def test_a_server_that_crashes_again_and_again_is_left_alone_and_costs_nothing(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        for _ in range(6):
            with pytest.raises(ServerDied):
                await host.call("actor.die")
        with pytest.raises(Suspended, match="suspended for now"):
            await host.call("actor.die")
        starts = len(actor.done("starts"))
        assert starts == 6
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        await asyncio.sleep(0.5)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 0.05
        assert len(actor.done("starts")) == starts
        status = host.status()["actor"]
        assert isinstance(status, Failed)
        assert status.stopped
        await host.reload("actor")
        await pid(host)


async def test_a_call_gives_up_when_its_own_time_is_over(home: Home, tmp_path: Path) -> None:
    late = Actor(tmp_path / "late.json", late=60)
    async with opened(home, servers={"late": late.entry}) as host:
        began = time.monotonic()
        with pytest.raises(TimedOut):
            await host.call("late.whoami", timeout=0.3)
        assert time.monotonic() - began < 30


# --- changes --------------------------------------------------------------------------------------------------------


async def test_a_changed_list_is_told_once_a_second_at_most_with_what_came_and_went(home: Home, actor: Actor) -> None:
    actor.tell(tools=["old"])
    async with opened(home, servers={"actor": actor.entry}) as host:
        await host.ready()
        listener = Listener(host)
        await asyncio.sleep(0)
        actor.tell(tools=["new"])
        await host.call("actor.change", {"times": 500})
        await until(lambda: bool(listener.of(ToolsChanged)))
        assert listener.of(ToolsChanged) == [ToolsChanged("actor", ("new",), ("old",))]
        assert (await host.call("actor.new")).text == "new"
        assert len(actor.done("lists")) <= 3


async def test_a_server_replaced_in_the_middle_of_a_call_ends_it_and_its_old_name_is_refused(
    home: Home, actor: Actor, tmp_path: Path
) -> None:
    other = Actor(tmp_path / "other.json")
    async with opened(home, servers={"actor": actor.entry}) as host:
        await pid(host)
        nap = asyncio.create_task(host.call("actor.nap", {"seconds": 1}))
        await until(lambda: bool(actor.done("naps")))
        await host.apply({"actor": other.entry})
        assert not nap.done()
        with pytest.raises(Stale, match="was replaced"):
            await host.call("actor.whoami")
        assert (await nap).text == "nap"
        assert other.done("starts") == []
        assert host.tools == ()
        assert await pid(host) == int(other.done("starts")[0])
        await until(lambda: all(gone(int(process)) for process in actor.done("starts")))


async def test_an_entry_of_a_replaced_server_never_reaches_the_new_one(
    home: Home, actor: Actor, tmp_path: Path
) -> None:
    other = Actor(tmp_path / "other.json")
    async with opened(home, servers={"actor": actor.entry}) as host:
        await host.ready()
        entry = next(entry for entry in host.tools if entry.tool == "whoami")
        await host.apply({"actor": other.entry})
        await host.ready()
        assert host.tools != ()
        with pytest.raises(Stale):
            await host.call(entry)


async def test_what_stays_the_same_goes_on_undisturbed_through_a_reload(
    home: Home, actor: Actor, tmp_path: Path
) -> None:
    second = Actor(tmp_path / "second.json")
    async with opened(home, servers={"actor": actor.entry}) as host:
        listener = Listener(host)
        process = await pid(host)
        await host.apply({"actor": actor.entry, "second": second.entry})
        assert await pid(host) == process
        await host.apply({"second": second.entry})
        with pytest.raises(UnknownServer):
            await host.call("actor.whoami")
        await until(lambda: gone(process))
        await until(lambda: len(listener.of(Reloaded)) >= 1)


async def test_a_filter_that_changes_restarts_nothing(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        process = await pid(host)
        await host.apply({"actor": {**actor.entry, "blockedTools": ["die"]}})
        assert await pid(host) == process
        assert "die" not in [entry.tool for entry in host.tools]
        with pytest.raises(UnknownTool, match="leaves it out"):
            await host.call("actor.die")


# --- the configuration changes while it is open ------------------------------------------------------------------


@pytest.fixture
def own(home: Home) -> Callable[..., Path]:
    """Writes the person's own file of servers."""
    return lambda content: home.write("home/.config/mooring/mcp.json", content)


async def test_a_server_added_to_a_file_is_there_without_a_restart_and_one_removed_is_gone(
    home: Home, actor: Actor, tmp_path: Path, own: Callable[..., Path]
) -> None:
    own({"mcpServers": {"actor": actor.entry}})
    async with opened(home, reload=True, sleep=Pauses()) as host:
        process = await pid(host)
        own({"mcpServers": {"actor": actor.entry, "second": Actor(tmp_path / "second.json").entry}})
        await until(lambda: "second" in host.status())
        assert await pid(host) == process
        own({"mcpServers": {}})
        await until(lambda: host.status() == {})
        await until(lambda: gone(process))


async def test_a_file_that_cannot_be_read_for_a_while_costs_no_server(
    home: Home, actor: Actor, own: Callable[..., Path]
) -> None:
    path = own({"mcpServers": {"actor": actor.entry}})
    async with opened(home, reload=True, sleep=Pauses()) as host:
        process = await pid(host)
        path.write_text('{"mcpServers": {"actor"')
        await until(lambda: bool(host.problems))
        assert await pid(host) == process
        path.unlink()
        path.mkdir()
        await until(lambda: any("folder" in problem.message for problem in host.problems))
        assert await pid(host) == process


async def test_an_edit_that_says_the_same_in_other_words_does_nothing(
    home: Home, actor: Actor, own: Callable[..., Path]
) -> None:
    path = own({"mcpServers": {"actor": actor.entry}})
    pauses = Pauses()
    async with opened(home, reload=True, sleep=pauses) as host:
        listener = Listener(host)
        process = await pid(host)
        await until(lambda: POLL_SECONDS in pauses.asked)
        path.write_text("// a comment\n" + json.dumps({"mcpServers": {"actor": actor.entry}}, indent=4))
        await until(lambda: SETTLE_SECONDS in pauses.asked and pauses.asked[-1] == POLL_SECONDS)
        assert await pid(host) == process
        assert listener.of(Reloaded) == []


async def test_an_approval_given_elsewhere_takes_effect(home: Home, actor: Actor) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"actor": actor.entry}})
    async with opened(home, reload=True, sleep=Pauses()) as host:
        assert isinstance(host.status()["actor"], Unapproved)
        inventory = home.inventory()
        asked = list_questions(inventory, ["actor"], home.where)
        decide(inventory, asked, home.where, approve=True)
        await until(lambda: host.status() == {"actor": Idle()})
        await pid(host)


# --- what may be started --------------------------------------------------------------------------------------------


async def test_a_projects_server_is_not_started_until_it_is_approved(home: Home, actor: Actor) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"actor": actor.entry}})
    async with opened(home) as host:
        assert host.status() == {"actor": Unapproved("unseen")}
        with pytest.raises(NotApproved, match="mooring mcp approve actor"):
            await host.call("actor.whoami")
        errors = await host.ready()
        assert isinstance(errors["actor"], Denied)
    assert actor.done("starts") == []


async def test_a_disabled_server_is_named_with_what_switched_it_off(home: Home, actor: Actor) -> None:
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"actor": {**actor.entry, "enabled": False}}})
    async with opened(home) as host:
        assert isinstance(host.status()["actor"], Disabled)
        with pytest.raises(mooring.ServerDisabled, match="Run `mooring mcp enable"):
            await host.call("actor.whoami")
        assert await host.ready() == {}


async def test_two_names_of_the_same_thing_are_started_once(home: Home, actor: Actor) -> None:
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"one": actor.entry, "two": actor.entry}})
    async with opened(home) as host:
        assert await pid(host, "one") == await pid(host, "two")
        assert {entry.server for entry in host.tools} == {"one"}


async def test_names_match_without_regard_to_case_and_a_misspelt_one_is_guessed_only_if_one_fits(
    home: Home, actor: Actor
) -> None:
    async with opened(home, servers={"My.Actor": actor.entry}) as host:
        await host.ready()
        for name in ("my.actor.whoami", "My.Actor/whoami", "mcp_my_actor_who_am_i", "MCP__my-actor__WhoAmI"):
            assert (await host.find(name)).tool == "whoami", name
        with pytest.raises(UnknownServer):
            await host.call("nobody.whoami")


# --- what it hears --------------------------------------------------------------------------------------------------


async def test_what_a_server_writes_is_heard_and_kept(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        listener = Listener(host)
        await host.call("actor.complain")
        await until(lambda: len(listener.of(Logged)) >= 2)
        assert {(event.level, event.text) for event in listener.of(Logged)} == {
            ("stderr", "this is stderr"),
            ("warning", "this is a message"),
        }
    kept = "".join(path.read_text() for path in (home.home / ".local/state/mooring/logs").iterdir() if path.is_file())
    assert "this is stderr" in kept
    assert "this is a message" in kept


async def test_closing_leaves_no_process_and_no_task(home: Home, tmp_path: Path) -> None:
    actors = [Actor(tmp_path / f"{number}.json") for number in range(5)]
    before = asyncio.all_tasks()
    async with opened(home, servers={f"a{n}": actor.entry for n, actor in enumerate(actors)}) as host:
        await host.ready()
    assert all(gone(int(process)) for actor in actors for process in actor.done("starts"))
    assert asyncio.all_tasks() == before


async def test_calls_under_way_fail_when_the_host_closes(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        await pid(host)
        nap = asyncio.create_task(host.call("actor.nap", {"seconds": 30}))
        await until(lambda: bool(actor.done("naps")))
    with pytest.raises(mooring.Closed):
        await nap


async def test_nothing_of_a_closed_host_stays_in_memory(home: Home, actor: Actor) -> None:
    async with opened(home, servers={"actor": actor.entry}) as host:
        for _ in range(3):  # the way to a tool is kept once it is known
            await pid(host)
        left = [weakref.ref(thing) for thing in (host, live_server(host, "actor"))]
    del host
    await until(lambda: gc.collect() >= 0 and not any(thing() for thing in left))
