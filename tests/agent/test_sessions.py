"""Conversations on disk: kept while they happen, continued later, listed and removed, by one process or by several."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import aclosing, closing, contextmanager
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted import ScriptedModel, call
from test_loop import agent_on

from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.sessions.journal import SessionJournal
from mooring.agents.sessions.replay import (
    BlockArrived,
    CallEnded,
    CallStarted,
    EntryContent,
    HistoryReplaced,
    MessageAdded,
    Replay,
    ReplyCut,
    TextArrived,
    decode_content,
    encode_content,
)
from mooring.agents.sessions.store import DAY_SECONDS, SessionStore
from mooring.core.conversation.event import TokenUsage, ToolStarted
from mooring.core.conversation.question import Allow, Answer, No, Question, Yes
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.content import Image, Text
from mooring.core.text.secret import list_secrets
from mooring.errors import ConfigError
from mooring.verbs.agent.sessions import SessionStart, open_session
from mooring.verbs.agent.thread import AgentPast
from support import Cli, Home, run_beside


def person(text: str) -> PersonMessage:
    return PersonMessage((Text(text),))


def reply(*blocks: ReplyBlock) -> ModelMessage:
    return ModelMessage(blocks, "scripted:one")


def begin(home: Home, **options: Any) -> SessionJournal:
    return SessionStore(home.where, **options).begin(str(home.cwd), model="scripted:one")


def keep(home: Home, *words: str, **options: Any) -> str:
    """Keep a finished conversation; its id."""
    with closing(begin(home, **options)) as journal:
        for said in words:
            journal.add_message(person(said))
            journal.add_message(reply(TextBlock(f"You said: {said}")))
            journal.record_usage("scripted:one", TokenUsage(10, 5), 0.25)
        return journal.id


@contextmanager
def resumed(home: Home, id: str) -> Iterator[Any]:
    found = SessionStore(home.where).resume(id)
    with closing(found.journal):
        yield found


# --- through the agent ------------------------------------------------------------------------------------------------


async def test_a_conversation_goes_on_in_another_process_with_all_that_was_said_and_the_tools_that_were_found(
    home: Home,
) -> None:
    store = SessionStore(home.where)
    model = ScriptedModel(["On it.", call("mcp__demo__echo", {"text": "hi"})], ["It says hi."])
    with closing(begin(home)) as journal:
        async with agent_on(home, model, journal=journal, past=AgentPast(journal.id)) as agent:
            journal.list_loaded = lambda: ("mcp__demo__add",)
            await agent.run("Say hi with the echo tool.")
            said = agent.history
    with resumed(home, store.find_newest(str(home.cwd)).id) as found:
        assert (found.messages, found.ended, found.waiting) == (said, (), ())
        assert (found.session.turns, found.session.cost, found.loaded) == (1, 1.0, ("mcp__demo__add",))
        assert found.session.title == "Say hi with the echo tool."
        later = ScriptedModel(["As I said: hi."])
        past = AgentPast(found.journal.id, found.session.turns, found.messages, found.ended, found.loaded)
        async with agent_on(home, later, journal=found.journal, past=past) as agent:
            done = await agent.run("What did it say?")
    assert (done.text, done.turn) == ("As I said: hi.", 2)
    assert later.requests[0].messages == (*said, person("What did it say?"))


async def test_a_call_that_was_waiting_for_an_answer_is_asked_about_again(home: Home) -> None:
    asked: list[Question] = []
    is_asked, never = asyncio.Event(), asyncio.Event()

    async def ask(question: Question) -> Answer:
        asked.append(question)
        is_asked.set()
        await never.wait()
        return No()

    model = ScriptedModel([call("mcp__demo__echo", {"text": "hi"}, "one")])
    journal = begin(home)
    async with agent_on(home, model, None, ask=ask, journal=journal) as agent, aclosing(agent.turn("Go")) as events:
        async for event in events:
            if isinstance(event, ToolStarted):
                break
        await is_asked.wait()
        left = photograph(home)
    journal.close()
    restore(home, left)
    with resumed(home, journal.id) as found:
        assert [each.id for each in found.waiting] == ["one"]
        assert found.ended == ()

        async def agree(question: Question) -> Answer:
            asked.append(question)
            return Yes()

        past = AgentPast(found.journal.id, 1, found.messages, found.ended)
        later = ScriptedModel(["Done."])
        async with agent_on(home, later, None, ask=agree, journal=found.journal, past=past) as agent:
            await agent.run("And now?")
    assert len(asked) == 2
    [results] = [each for each in later.requests[0].messages if isinstance(each, ResultsMessage)]
    assert [(each.id, each.is_error) for each in results.results] == [("one", False)]


async def test_what_was_allowed_for_a_session_is_asked_about_when_it_is_continued(home: Home) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> Answer:
        asked.append(question)
        return Allow("session")

    script = [call("mcp__demo__echo", {"text": "hi"})], ["Said."]
    with closing(begin(home)) as journal:
        async with agent_on(home, ScriptedModel(*script, *script), None, ask=ask, journal=journal) as agent:
            await agent.run("Say hi.")
            await agent.run("Again.")
    assert len(asked) == 1
    with resumed(home, journal.id) as found:
        past = AgentPast(found.journal.id, found.session.turns, found.messages, found.ended, found.loaded)
        options = {"ask": ask, "journal": found.journal, "past": past}
        async with agent_on(home, ScriptedModel(*script), None, **options) as agent:
            await agent.run("Once more.")
    assert len(asked) == 2


def photograph(home: Home) -> dict[str, bytes]:
    """What would be left if the process were killed at this moment."""
    return {suffix: Path(f"{home.where.record}{suffix}").read_bytes() for suffix in ("", "-wal")}


def restore(home: Home, left: dict[str, bytes]) -> None:
    for suffix, data in left.items():
        Path(f"{home.where.record}{suffix}").write_bytes(data)
    # Its owner was this process, which lives.
    with closing(sqlite3.connect(home.where.record)) as connection:
        connection.execute("UPDATE sessions SET owner_start = 1")
        connection.commit()


@pytest.mark.swift
async def test_text_is_on_the_disk_within_a_second_of_its_arrival_and_not_at_each_piece(home: Home) -> None:
    journal = begin(home)
    journal.add_message(person("Go"))
    for number in range(100):
        journal.record_text(f"{number} ")
        await asyncio.sleep(0.05)
        _, transcript = SessionStore(home.where).read(journal.id)
        written = transcript[-1].message
        late = number + 1 - (len(written.text.split()) if isinstance(written, ModelMessage) else 0)
        assert late * 0.05 <= 1.0
    await asyncio.sleep(1.0)
    _, transcript = SessionStore(home.where).read(journal.id)
    assert transcript[-1].message == reply(TextBlock("".join(f"{number} " for number in range(100))))
    assert transcript[-1].is_cut
    assert count_entries(home) <= 1 + 5 / 0.5 + 1
    journal.close()


def count_entries(home: Home) -> int:
    with closing(sqlite3.connect(home.where.record)) as connection:
        count: int = connection.execute("SELECT count(*) FROM entries").fetchone()[0]
    return count


def test_what_became_a_message_is_not_kept_twice(home: Home) -> None:
    one = CallBlock("1", "x", "{}")
    with closing(begin(home)) as journal:
        journal.add_message(person("Go"))
        for block in (ThinkingBlock("hm"), TextBlock("I do."), one):
            journal.record_block(block)
        journal.add_message(reply(TextBlock("I do."), one))
        journal.record_call_started(one)
        journal.record_call_ended(CallResult("1", "x", (Text("ok"),)))
        journal.add_message(ResultsMessage((CallResult("1", "x", (Text("ok"),)),)))
        assert count_entries(home) == 3


def test_a_history_that_was_compacted_is_sent_short_and_shown_whole(home: Home) -> None:
    with closing(begin(home)) as journal:
        journal.add_message(person("The first thing"))
        journal.add_message(reply(TextBlock("The first answer")))
        journal.compact((SummaryMessage("First things."), person("The second thing")))
        journal.add_message(reply(TextBlock("The second answer")))
    with resumed(home, journal.id) as found:
        sent = (SummaryMessage("First things."), person("The second thing"), reply(TextBlock("The second answer")))
        assert found.messages == sent
    _, transcript = SessionStore(home.where).read(journal.id)
    assert [entry.message for entry in transcript] == [
        person("The first thing"), reply(TextBlock("The first answer")), SummaryMessage("First things."),
        reply(TextBlock("The second answer")),
    ]  # fmt: skip


def test_images_signatures_and_half_characters_are_kept(home: Home) -> None:
    image = Image(data="AAAA", mime_type="image/png")
    signed = ThinkingBlock("hm", {"signature": "s", "more": [1, {"a": None}]})
    with closing(begin(home)) as journal:
        journal.add_message(PersonMessage((Text("half \ud83d of one"), image)))
        journal.add_message(ModelMessage((signed, TextBlock("a", {"odd": object()})), "scripted:one"))
    with resumed(home, journal.id) as found:
        assert found.messages[0] == PersonMessage((Text("half ? of one"), image))
        assert found.messages[1].blocks == (signed, TextBlock("a", {"odd": None}))


def test_known_secrets_are_struck_out_of_what_is_stored(home: Home) -> None:
    keep(home, 'The key is sk-"canary"-1', secrets=list_secrets(['sk-"canary"-1']))
    stored = b"".join(path.read_bytes() for path in Path(home.where.state).iterdir() if path.is_file())
    assert b"canary" not in stored
    [session] = SessionStore(home.where).list(str(home.cwd))
    assert session.title == "The key is •••"


# --- any order of events ----------------------------------------------------------------------------------------------

IDS = st.sampled_from(["1", "2", "3"])
TEXTS = st.sampled_from(["", " ", "a", "b"])
CALLS = st.builds(CallBlock, IDS, st.just("x"), st.just("{}"))
BLOCKS: st.SearchStrategy[ReplyBlock] = st.one_of(CALLS, st.builds(TextBlock, TEXTS), st.builds(ThinkingBlock, TEXTS))
RESULTS = st.builds(CallResult, IDS, st.just("x"), st.just((Text("ok"),)))
REPLIES = st.builds(lambda blocks: reply(*blocks), st.lists(BLOCKS, max_size=4, unique_by=repr))
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(person, TEXTS),
    REPLIES,
    st.builds(lambda results: ResultsMessage(tuple(results)), st.lists(RESULTS, max_size=3)),
)
CONTENTS: st.SearchStrategy[EntryContent] = st.one_of(
    st.builds(MessageAdded, MESSAGES),
    st.builds(ReplyCut, REPLIES),
    st.just(HistoryReplaced((SummaryMessage("before"),))),
    st.builds(BlockArrived, BLOCKS),
    st.builds(TextArrived, TEXTS),
    st.builds(CallStarted, IDS),
    st.builds(CallEnded, RESULTS),
)


def check_valid(messages: list[Message]) -> None:
    """Each call has exactly one result, in the reply's order, right behind it; no result has no call."""
    for before, message in zip([None, *messages], [*messages, None], strict=True):
        calls = before.calls if isinstance(before, ModelMessage) else ()
        results = message.results if isinstance(message, ResultsMessage) else ()
        assert [each.id for each in calls] == [each.id for each in results]


@given(st.lists(CONTENTS, max_size=25))
@settings(max_examples=500)
def test_whatever_happened_in_whatever_order_a_history_is_valid(contents: list[EntryContent]) -> None:
    replay = Replay("scripted:one").take(decode_content(encode_content(content)) for content in contents)
    replay.close_reply()
    messages = list(replay.messages)
    waiting = {each.id for each in replay.waiting}
    ended = {each.id: each for each in replay.ended}
    assert not waiting & ended.keys()
    if isinstance(last := messages[-1] if messages else None, ModelMessage) and last.calls:
        assert waiting | ended.keys() == {each.id for each in last.calls}
        messages.append(
            ResultsMessage(tuple(ended.get(each.id) or CallResult(each.id, "x", ()) for each in last.calls))
        )
    check_valid(messages)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add_message"), MESSAGES),
        st.tuples(st.just("record_text"), TEXTS),
        st.tuples(st.just("record_block"), BLOCKS),
        st.tuples(st.just("drop_reply")),
        st.tuples(st.just("record_call_started"), CALLS),
        st.tuples(st.just("record_call_ended"), RESULTS),
        st.tuples(st.just("compact"), st.just((SummaryMessage("before"),))),
        st.tuples(st.just("resume")),
    ),
    max_size=15,
)


@given(STEPS)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_journal_that_is_used_in_any_order_and_resumed_at_any_moment_gives_a_valid_history(
    home: Home, steps: list[tuple[Any, ...]]
) -> None:
    async def run() -> None:
        journal = begin(home)
        journal.add_message(person("first"))
        for name, *values in [*steps, ("resume",), ("resume",)]:
            if name == "resume":
                journal.close()
                found = SessionStore(home.where).resume(journal.id)
                check_valid([*found.messages, *fill(found)])
                journal = found.journal
            else:
                getattr(journal, name)(*values)
        journal.close()

    asyncio.run(run())


def fill(found: Any) -> list[Message]:
    last = found.messages[-1]
    if not isinstance(last, ModelMessage) or not last.calls:
        return []
    known = {each.id: each for each in found.ended}
    return [ResultsMessage(tuple(known.get(each.id) or CallResult(each.id, "x", ()) for each in last.calls))]


# --- which one goes on ------------------------------------------------------------------------------------------------


def test_a_session_belongs_to_its_project_and_the_newest_is_continued(home: Home) -> None:
    now = [1000.0]
    store = SessionStore(home.where, clock=lambda: now[0])
    first = keep(home, "one", clock=lambda: now[0])
    now[0] += 1
    second = keep(home, "two", clock=lambda: now[0])
    below = home.write("project/deep/er/x", "").parent
    elsewhere = home.write("elsewhere/x", "").parent
    assert store.find_newest(str(below)).id == second
    assert [each.id for each in store.list(str(below))] == [second, first]
    with pytest.raises(ConfigError, match=r"There is no session of .*elsewhere to continue"):
        store.find_newest(str(elsewhere))


def test_the_beginning_of_an_id_is_enough_and_an_unknown_one_is_answered_with_the_nearest(home: Home) -> None:
    id = keep(home, "one")
    with resumed(home, id[:4]) as found:
        assert found.journal.id == id
    other = f"{'0' if id[0] != '0' else '1'}{id[1:]}"
    with pytest.raises(ConfigError, match=f"There is no session '{other}'. Did you mean {id}"):
        SessionStore(home.where).resume(other)
    for _ in range(17):
        keep(home, "more")
    ids = sorted(each.id for each in SessionStore(home.where).list())
    twice = next(one[0] for one, two in pairwise(ids) if one[0] == two[0])
    with pytest.raises(ConfigError, match="The ids of several sessions begin with"):
        SessionStore(home.where).resume(twice)
    with pytest.raises(ConfigError, match="There is no session ''"):
        SessionStore(home.where).resume("")


OPENING = """
import sys
from mooring.core.definitions.paths import Paths
from mooring.agents.history import PersonMessage
from mooring.agents.sessions.store import SessionStore
from mooring.core.protocol.content import Text
from mooring.errors import ConfigError

store = SessionStore(Paths(sys.argv[1], {}))
if sys.argv[3:]:
    try:
        store.resume(sys.argv[3])
        print("resumed", flush=True)
    except ConfigError as error:
        print(error, flush=True)
else:
    journal = store.begin(sys.argv[2], model="m")
    journal.add_message(PersonMessage((Text("mine"),)))
    print(journal.id, flush=True)
sys.stdin.read()
"""


def open_beside(home: Home, *id: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", OPENING, str(home.home), str(home.cwd), *id],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.processes
def test_a_session_that_another_process_has_open_is_refused_until_that_process_is_gone(home: Home, cli: Cli) -> None:
    with open_beside(home) as owner:
        assert owner.stdout is not None
        id = owner.stdout.readline().strip()
        with pytest.raises(ConfigError, match=rf"The session {id} is open in another process \({owner.pid}\)"):
            SessionStore(home.where).resume(id)
        assert (refused := cli("sessions", "rm", id)).code == 2
        assert f"({owner.pid})" in refused.err
        assert cli("sessions", "--json").data["sessions"][0]["openIn"] == owner.pid
        assert cli("sessions", "rm", "--all").out.endswith("1 conversation stayed: open in another process.\n")
        owner.kill()
        # Its parent has not asked about it yet: such a process holds nothing any more.
        deadline = time.monotonic() + 100
        while SessionStore(home.where).list()[0].open_in is not None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        with resumed(home, id) as found, open_beside(home, id) as other:
            assert found.messages == (person("mine"),)
            assert other.stdout is not None
            assert other.stdout.readline().startswith(f"The session {id} is open in another process ({os.getpid()})")
            other.communicate()
        with pytest.raises(ConfigError), resumed(home, id), resumed(home, id):
            pass


WRITING = """
import sys
from mooring.core.definitions.paths import Paths
from mooring.agents.history import PersonMessage
from mooring.agents.sessions.store import SessionStore
from mooring.core.protocol.content import Text

journal = SessionStore(Paths(sys.argv[1], {}), on_problem=print).begin(sys.argv[2], model="m")
sys.stdin.read()
for number in range(200):
    journal.add_message(PersonMessage((Text(f"{sys.argv[3]} {number}"),)))
journal.close()
"""


@pytest.mark.processes
def test_four_processes_that_begin_and_write_at_once_never_mix(home: Home) -> None:
    command = [sys.executable, "-c", WRITING, str(home.home), str(home.cwd)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    running = [subprocess.Popen([*command, name], **pipes) for name in "abcd"]  # type: ignore[call-overload]
    # All of them wait to be told, so that they begin at the same moment.
    for each in running:
        each.stdin.close()
    for each in running:
        with each:
            assert (each.stdout.read(), each.wait(60)) == ("", 0)
    store = SessionStore(home.where)
    found = {}
    for session in store.list():
        texts = [entry.message.parts[0].text for entry in store.read(session.id)[1]]  # type: ignore[union-attr]
        found[texts[0][0]] = texts
    assert found == {name: [f"{name} {number}" for number in range(200)] for name in "abcd"}


# --- what can go wrong with the file ----------------------------------------------------------------------------------


def test_only_the_person_can_read_what_was_said(home: Home, cli: Cli) -> None:
    with closing(begin(home)) as journal:
        journal.add_message(person("hello"))
        made = [path for path in Path(home.where.state).iterdir() if path.name.startswith("sessions.db")]
        assert len(made) == 3
        assert {path.stat().st_mode & 0o777 for path in made} == {0o600}
    Path(home.where.record).chmod(0o644)
    refused = cli("sessions")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "sessions.db: holds what you said, but others may read it; to fix it: chmod go= " in refused.err


def spoil(home: Home, how: str) -> None:
    path = Path(home.where.record)
    match how:
        case "damaged":
            path.write_bytes(b"no database at all, but long enough to be taken for one" * 100)
        case "cut":
            path.write_bytes(path.read_bytes()[:5000])
        case "newer":
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA user_version = 99")
        case "link":
            path.rename(home.folder / "elsewhere.db")
            path.symlink_to(home.folder / "elsewhere.db")
        case "folder":
            path.unlink()
            path.mkdir(0o700)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("damaged", "is damaged; to start a new one: mv "),
        ("cut", "is damaged; to start a new one: mv "),
        ("newer", "was written by a newer version of mooring; update mooring"),
        ("link", "is a link, not a file"),
        ("folder", "is a folder, not a file"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence_and_a_conversation_goes_on_without_it(
    how: str, words: str, home: Home, cli: Cli
) -> None:
    id = keep(home, "one")
    spoil(home, how)
    for command in (["sessions"], ["sessions", id], ["sessions", "rm", "--all"]):
        refused = cli(*command)
        assert (refused.code, refused.err.count("\n"), refused.out) == (2, 1, "")
        assert words in refused.err
    problems: list[Problem] = []
    with closing(begin(home, on_problem=problems.append)) as journal:
        for number in range(10):
            journal.add_message(person(str(number)))
    assert problems[0].message.startswith("This conversation goes on, but is not being stored: the file ")
    assert [each.message for each in problems[1:]] == ["10 entries of this conversation could not be stored."]


FULL = """
import resource, signal, sys
from mooring.core.definitions.paths import Paths
from mooring.agents.history import PersonMessage
from mooring.agents.sessions import writer
from mooring.agents.sessions.store import SessionStore
from mooring.core.protocol.content import Text

writer.RETRY_SECONDS = 0.01
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = SessionStore(Paths(sys.argv[1], {}), on_problem=lambda problem: print(problem.message)).begin(sys.argv[2], model="m")
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
for number in range(30):
    if number == 10:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))
    if number == 20:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    journal.add_message(PersonMessage((Text(f"{number} " + "x" * 20_000),)))
journal.close()
"""


@pytest.mark.processes
def test_on_a_full_disk_the_conversation_goes_on_and_all_of_it_is_stored_once_there_is_room(home: Home) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(home.home), str(home.cwd)], capture_output=True, text=True, timeout=100
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "This conversation goes on, but is not being stored: the file cannot be written: the disk is full or fails",
        "This conversation is being stored again, with all that was said meanwhile.",
    ]
    store = SessionStore(home.where)
    _, transcript = store.read(store.find_newest(str(home.cwd)).id)
    assert [entry.message.parts[0].text.split()[0] for entry in transcript] == [str(n) for n in range(30)]  # type: ignore[union-attr]


# --- how long, and how many -------------------------------------------------------------------------------------------


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        # Noon, so that hours don't change the day.
        self.now = datetime(2026, 3, 2, 12).timestamp()

    def __call__(self) -> float:
        return self.now


def start_after(home: Home, clock: Clock, days: float) -> int:
    """What is removed by the start of a chat so many days later, in which something is said."""
    clock.now += days * DAY_SECONDS
    removed = SessionStore(home.where, clock=clock).remove_expired(90)
    keep(home, f"said {clock.now}", clock=clock)
    return removed


def test_an_old_session_is_marked_by_one_start_and_removed_by_one_on_a_later_day(home: Home) -> None:
    clock = Clock()
    old = keep(home, "old", clock=clock)
    with closing(begin(home, clock=clock)) as open_one:
        open_one.add_message(person("open"))
        for _ in range(60):
            assert start_after(home, clock, 1.5) == 0
        assert start_after(home, clock, 0.5) == 0
        assert start_after(home, clock, 0.1) == 0, "it was marked on this day"
        assert old in {each.id for each in SessionStore(home.where).list()}
        assert start_after(home, clock, 1) == 1
        assert open_one.id in {each.id for each in SessionStore(home.where).list()}
    with pytest.raises(ConfigError):
        SessionStore(home.where).read(old)


def test_a_clock_that_is_far_ahead_for_a_while_removes_nothing(home: Home) -> None:
    clock = Clock()
    old = keep(home, "old", clock=clock)
    # Ahead for a day: the first start does nothing, the second marks, and nothing is removed on that day.
    for days in (100, 0.01, 0.01):
        assert start_after(home, clock, days) == 0
    # The clock is right again, and in time the session expires as every other.
    assert start_after(home, clock, -100) == 0
    for _ in range(60):
        assert start_after(home, clock, 1) == 0
    assert old in {each.id for each in SessionStore(home.where).list()}


def test_the_use_of_a_session_that_was_marked_keeps_it(home: Home) -> None:
    clock = Clock()
    old = keep(home, "old", clock=clock)
    for _ in range(61):
        assert start_after(home, clock, 1.5) == 0
    found = SessionStore(home.where, clock=clock).resume(old)
    with closing(found.journal):
        found.journal.add_message(person("still needed"))
    for _ in range(20):
        start_after(home, clock, 1)
    assert old in {each.id for each in SessionStore(home.where).list()}


@pytest.mark.swift
async def test_opening_a_session_removes_old_ones_a_little_later_and_zero_days_keeps_them(home: Home) -> None:
    old = keep(home, "old", clock=lambda: 1000.0)
    keep(home, "new")
    with closing(sqlite3.connect(home.where.record)) as connection, connection:
        connection.execute("UPDATE sessions SET expired = 2000 WHERE id = ?", (old,))

    async def open_with(days: float) -> int:
        start = SessionStart()
        async with open_session(
            home.where, str(home.cwd), start, model="m", days=days, on_problem=lambda problem: None
        ) as opened:
            assert opened.resumed is None
            await asyncio.sleep(3)
            for thread in threading.enumerate():
                if thread.name == "mooring-sessions":
                    thread.join(20)
            return len(SessionStore(home.where).list())

    assert await open_with(0) == 2
    assert await open_with(90) == 1


def test_the_permission_mode_of_a_conversation_is_stored_with_its_messages(home: Home) -> None:
    store = SessionStore(home.where)
    with closing(begin(home)) as journal:
        journal.add_message(person("one"))
        assert store.find(journal.id).mode is None
        journal.find_mode = lambda: "plan"
        journal.add_message(reply(TextBlock("fine")))
    with resumed(home, journal.id) as found:
        assert (found.session.mode, found.journal.find_mode()) == ("plan", "plan")


async def test_a_chat_that_says_nothing_leaves_no_session(home: Home) -> None:
    async with open_session(
        home.where, str(home.cwd), SessionStart(), model="m", days=90, on_problem=lambda problem: None
    ):
        pass
    assert SessionStore(home.where).list() == ()
    assert not (home.home / ".local").exists()


async def test_continuing_takes_the_last_session_with_the_model_that_answers_now(home: Home) -> None:
    id = keep(home, "one")
    for start in (SessionStart(newest=True), SessionStart(resume=id[:6])):
        async with open_session(
            home.where, str(home.cwd), start, model="other:two", days=90, on_problem=lambda problem: None
        ) as opened:
            assert opened.resumed is not None
            assert (opened.journal.id, len(opened.resumed.messages) % 2) == (id, 0)
            opened.journal.add_message(person("more"))
            opened.journal.add_message(reply(TextBlock("fine")))
    assert SessionStore(home.where).list()[0].model == "other:two"


def fill_store(home: Home, count: int) -> str:
    """Store so many small sessions at once; the id of one of them."""
    keep(home, "first")
    with closing(sqlite3.connect(home.where.record)) as connection:
        rows = [
            (f"{number:012x}", f"/p/{number % 50}", "/p", "m", f"t{number}", number, number) for number in range(count)
        ]
        query = "INSERT INTO sessions (id, folder, cwd, model, title, created, used) VALUES (?, ?, ?, ?, ?, ?, ?)"
        connection.executemany(query, rows)
        data = encode_content(MessageAdded(person("hello")))
        entries = [(row[0], n, 0.0, "message", data) for row in rows for n in range(1, 4)]
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", entries)
        connection.commit()
    return f"{count // 2:012x}"


def test_listing_and_resuming_cost_the_same_with_ten_thousand_sessions(tmp_path: Path) -> None:
    def measure(count: int) -> float:
        home = Home(tmp_path / str(count))
        id = fill_store(home, count)
        store = SessionStore(home.where)
        best = float("inf")
        for _ in range(15):
            start = time.process_time()
            for _ in range(10):
                store.list(str(home.cwd), most=50)
                store.list(most=50)
                store.resume(id).journal.close()
            best = min(best, time.process_time() - start)
        return best

    assert measure(10_000) < 3 * measure(100)


# --- the commands -----------------------------------------------------------------------------------------------------


def test_sessions_are_listed_for_this_folder_or_for_all(home: Home, cli: Cli) -> None:
    assert cli("sessions").err == (
        "No conversations of this folder are stored. To list those of all folders: mooring sessions --all\n"
    )
    id = keep(home, "Fix the\x1b[31m tests", "And the docs")
    head, line = cli("sessions").out.splitlines()
    assert head.split() == ["ID", "LAST", "USED", "TURNS", "COST", "MODEL", "FIRST", "WORDS"]
    assert (line.split()[0], line.split()[3:7]) == (id, ["2", "$0.50", "scripted:one", "Fix"])
    assert line.endswith("Fix the\\x1b[31m tests")
    elsewhere = home.write("elsewhere/x", "").parent
    assert cli("sessions", "--cwd", str(elsewhere)).out == ""
    assert id in cli("sessions", "--all", "--cwd", str(elsewhere)).out
    [data] = cli("sessions", "--json").data["sessions"]
    assert {key: data[key] for key in ("id", "turns", "cost", "openIn", "folder")} == {
        "id": id, "turns": 2, "cost": 0.5, "openIn": None, "folder": str(home.project)
    }  # fmt: skip
    assert data["usage"]["inputTokens"] == 20


def test_a_session_is_shown_as_it_was_said_with_calls_and_results(home: Home, cli: Cli) -> None:
    one = CallBlock("1", "demo.echo", '{"text": "x"}')
    long = "\n".join(f"line {number}" for number in range(30))
    with closing(begin(home)) as journal:
        journal.add_message(PersonMessage((Text("Look"), Image(data="AAAA", mime_type="image/png"))))
        journal.add_message(reply(ThinkingBlock("hm"), TextBlock("I look."), one))
        journal.add_message(ResultsMessage((CallResult("1", "demo.echo", (Text(long),), is_error=True),)))
        journal.record_block(TextBlock("It is \x07 not"))
    shown = cli("sessions", journal.id[:5]).out
    assert '→ demo.echo {"text": "x"}' in shown
    assert "← demo.echo failed\n  line 0\n" in shown
    assert "  … 20 more lines; -v shows all\n" in shown
    assert "hm" not in shown
    assert ", cut off\nIt is \\x07 not" in shown
    full = cli("sessions", journal.id, "-v").out
    assert "line 29" in full
    assert "(thought) hm" in full
    data = cli("sessions", journal.id, "--json").data
    assert [each["message"]["type"] for each in data["messages"]] == ["person", "model", "results", "model"]
    assert data["messages"][-1]["isCut"]


def test_a_session_that_is_removed_is_gone_from_the_file_too(home: Home, cli: Cli) -> None:
    id = keep(home, "a canary-word in it")
    other = keep(home, "another")
    assert cli("sessions", "rm", id[:8]).out == f"Removed {id}.\n"
    stored = b"".join(path.read_bytes() for path in Path(home.where.state).iterdir() if path.is_file())
    assert b"canary-word" not in stored
    assert b"another" in stored
    assert cli("sessions", id).code == 2
    assert cli("sessions", "rm").code == 2
    assert cli("sessions", "rm", other, "--all").code == 2
    assert cli("sessions", "rm", "--all", "--json").data == {"removed": 1, "stillOpen": 0}
    assert cli("sessions", "--all").err == "No conversations are stored.\n"


@pytest.mark.processes
def test_a_shell_completes_the_ids_of_sessions_beside_the_verbs(home: Home) -> None:
    id = keep(home, "one")

    def complete(*words: str) -> list[str]:
        line = " ".join(["mooring", *words])
        env = {"_MOORING_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words))}
        return [each.partition(",")[2] for each in run_beside(home, **env).out.splitlines()]

    assert complete("sessions", id[:2])[-1] == id
    assert complete("sessions", "sh") == ["show"]
    assert complete("sessions", "rm", id[:2]) == [id]
