"""What decides about servers without touching one: plans, pauses, the breaker, and how events are merged."""

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mooring.core.conversation.host_event import HostEvent, Logged, Reloaded, StatusChanged, ToolsChanged
from mooring.core.conversation.status import Failed, Idle
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Origin, ServerConfig, Stdio
from mooring.core.definitions.template import literal
from mooring.core.protocol.failure import COOLDOWN, FAILURE_WINDOW, MAX_FAILURES, Breaker
from mooring.host.feed import MAX_LINES, Feed
from mooring.servers.fleet import make_plan
from mooring.servers.start_program import may_download
from mooring.servers.supervisor import compute_pause


def approved(name: str, command: str = "run", **changes: object) -> Approved:
    config = ServerConfig(name=name, origin=Origin("mooring", "user", None), connection=Stdio(literal(command)))
    return Approved(replace(config, **changes), "/project")


# --- plans ----------------------------------------------------------------------------------------------------


def test_a_plan_puts_every_name_into_one_group() -> None:
    running = {name: approved(name) for name in ("same", "other", "filtered", "old")}
    wanted = {
        "same": approved("same"),
        "other": approved("other", "another"),
        "filtered": approved("filtered", tools_deny=("x",)),
        "new": approved("new"),
    }
    made = make_plan(running, wanted)
    assert (made.start, made.stop, made.replace, made.update, made.keep) == (
        ("new",), ("old",), ("other",), ("filtered",), ("same",),
    )  # fmt: skip


@pytest.mark.parametrize("change", [{"idle_timeout": 5.0}, {"call_timeout": 5.0}, {"tools_allow": ("x",)}])
def test_what_can_change_while_a_server_runs_updates_it(change: dict[str, object]) -> None:
    made = make_plan({"a": approved("a")}, {"a": approved("a", **change)})
    assert (made.update, made.keep, made.replace) == (("a",), (), ())


@pytest.mark.parametrize("change", [{"target": "/bin/other"}, {"files": "another digest"}])
def test_what_was_approved_anew_is_taken_over_without_a_restart(change: dict[str, str]) -> None:
    before = replace(approved("a"), own=False, target="/bin/one")
    made = make_plan({"a": before}, {"a": replace(before, **change)})
    assert (made.update, made.keep, made.replace) == (("a",), (), ())


names = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["run", "walk"]))


@given(names, names)
def test_a_plan_leads_from_what_runs_to_what_is_wanted_and_changes_nothing_else(one: dict, other: dict) -> None:
    running = {name: approved(name, command) for name, command in one.items()}
    wanted = {name: approved(name, command) for name, command in other.items()}
    made = make_plan(running, wanted)
    after = {name: running[name] for name in (*made.keep, *made.update)}
    after |= {name: wanted[name] for name in (*made.start, *made.replace)}
    assert after == wanted
    assert {*made.keep, *made.stop, *made.replace, *made.update} == set(running)
    changed = (*made.start, *made.stop, *made.replace, *made.update)
    assert bool(changed) == (running != wanted)


# --- pauses ---------------------------------------------------------------------------------------------------


def test_a_program_is_tried_four_times_and_an_address_for_ever() -> None:
    assert [compute_pause(attempt, remote=False, chance=0.5) for attempt in range(1, 6)] == [0.5, 1.0, 2.0, 4.0, None]
    assert [compute_pause(attempt, remote=True, chance=0.5) for attempt in range(1, 9)] == [
        0,
        15,
        30,
        60,
        120,
        240,
        300,
        300,
    ]


def test_every_pause_is_spread_and_a_server_that_asks_for_more_gets_it() -> None:
    spread = {compute_pause(2, remote=True, chance=random.random()) for _ in range(50)}
    assert len(spread) > 40
    assert all(12 <= seconds <= 18 for seconds in spread if seconds is not None)
    assert compute_pause(2, remote=True, chance=0.5, retry_after=99) == 99


def test_the_breaker_opens_after_too_many_failures_and_closes_when_it_has_rested() -> None:
    breaker = Breaker()
    assert [breaker.record_failure(float(second)) for second in range(MAX_FAILURES + 1)] == [True] * MAX_FAILURES + [
        False
    ]
    assert breaker.is_open(MAX_FAILURES + COOLDOWN - 1)
    assert not breaker.is_open(MAX_FAILURES + COOLDOWN + 1)
    assert breaker.record_failure(MAX_FAILURES + COOLDOWN + 1)
    assert not breaker.is_open(MAX_FAILURES + COOLDOWN + 2)


def test_failures_far_apart_never_open_the_breaker() -> None:
    breaker = Breaker()
    assert all(breaker.record_failure(attempt * (FAILURE_WINDOW / MAX_FAILURES + 1)) for attempt in range(100))


def test_a_person_can_close_the_breaker() -> None:
    breaker = Breaker()
    for _ in range(MAX_FAILURES + 1):
        breaker.record_failure(0.0)
    breaker.reset()
    assert breaker.record_failure(0.0)


# --- events ---------------------------------------------------------------------------------------------------


async def heard(*events: HostEvent) -> list[HostEvent]:
    feed = Feed()
    listener = feed.listen()
    for event in events:
        feed.emit(event)
    feed.close()
    return [event async for event in listener]


async def test_a_slow_listener_hears_the_last_word_on_each_server() -> None:
    told = await heard(
        StatusChanged("a", Idle()), StatusChanged("b", Idle()), StatusChanged("a", Failed("x")), Reloaded(("a",))
    )
    assert told == [StatusChanged("a", Failed("x")), StatusChanged("b", Idle()), Reloaded(("a",))]


async def test_what_came_and_went_again_is_no_news() -> None:
    told = await heard(
        ToolsChanged("a", ("x", "y"), ("z",)), ToolsChanged("a", ("z",), ("x",), ("y",)), ToolsChanged("a", (), ("w",))
    )
    assert told == [ToolsChanged("a", ("y",), ("w",), ("z",))]


async def test_a_listener_that_never_reads_costs_a_bounded_number_of_lines() -> None:
    told = await heard(
        *(Logged("a", "info", str(number)) for number in range(3 * MAX_LINES)), StatusChanged("a", Idle())
    )
    assert len(told) == MAX_LINES + 1
    assert told[0] == Logged("a", "info", str(2 * MAX_LINES))


async def test_lines_keep_their_order_while_they_are_read() -> None:
    feed = Feed()
    listener = feed.listen()
    seen = []
    for number in range(2000):
        feed.emit(Logged("a", "info", str(number)))
        if number % 3 == 0:
            event = await anext(listener)
            assert isinstance(event, Logged)
            seen.append(int(event.text))
    assert seen == sorted(seen)


async def test_a_listener_hears_what_is_told_between_its_making_and_its_first_look() -> None:
    feed = Feed()
    listener = feed.listen()
    feed.emit(StatusChanged("a", Idle()))
    assert await anext(listener) == StatusChanged("a", Idle())


async def test_a_listener_that_waits_ends_with_the_feed() -> None:
    feed = Feed()
    listener = feed.listen()
    waiting = asyncio.create_task(anext(listener))
    await asyncio.sleep(0)
    feed.close()
    with pytest.raises(StopAsyncIteration):
        await waiting


async def test_a_listener_that_is_forgotten_is_not_kept() -> None:
    feed = Feed()
    feed.listen()
    assert len(feed._listeners) == 0


@pytest.mark.parametrize(
    ("command", "downloads"),
    [
        (["npx", "-y", "x"], True),
        (["/usr/local/bin/uvx", "basic-memory", "mcp"], True),
        (["env", "A=b", "uvx", "x"], True),
        (["sh", "-c", "cd /tmp && exec npx -y x"], True),
        (["mise", "exec", "--", "server"], True),
        (["/opt/venv/bin/basic-memory", "mcp"], False),
        (["python", "-m", "server"], False),
    ],
)
def test_a_start_that_may_download_its_program_is_known_whatever_stands_before_the_launcher(
    command: list[str], downloads: bool
) -> None:
    assert may_download(command) is downloads
