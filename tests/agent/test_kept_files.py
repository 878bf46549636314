"""What files were before a turn, in the record: how much of it there is, and what becomes of it with the turn."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing

from test_sessions import begin, person, reply

from mooring.agents.history import SummaryMessage, TextBlock
from mooring.agents.sessions.database import SqlStatement
from mooring.agents.sessions.journal import SessionJournal
from mooring.agents.sessions.kept_files import MOST_SECONDS, add_kept_file
from mooring.agents.sessions.last_turn import LastTurn
from mooring.agents.sessions.store import SessionStore
from mooring.core.conversation.event import TokenUsage
from support import Home


def list_kept(home: Home) -> list[tuple[str, bytes | None]]:
    with closing(sqlite3.connect(home.where.record)) as connection:
        rows = connection.execute("SELECT session, content FROM kept_files ORDER BY session, turn")
        return [(session, content) for session, content in rows]


def execute(home: Home, statements: Sequence[SqlStatement]) -> None:
    with closing(sqlite3.connect(home.where.record)) as connection, connection:
        for sql, values in statements:
            connection.execute(sql, values)


def say(journal: SessionJournal, words: str) -> None:
    journal.add_message(person(words))
    journal.add_message(reply(TextBlock(f"You said: {words}")))
    journal.record_usage("scripted:one", TokenUsage(10, 5), 0.25)


async def find_turn(journal: SessionJournal) -> LastTurn:
    turn = await journal.find_last_turn()
    assert turn is not None
    return turn


def test_what_is_kept_is_bounded_in_size_and_age(home: Home) -> None:
    with closing(begin(home)) as journal:
        journal.add_message(person("Begin"))
    path, now = str(home.project / "a.txt"), 1_000_000_000.0
    for number in range(4):
        content = bytes([65 + number]) * 40
        execute(home, add_kept_file(f"s{number}", 1, path, content, b"x", now + number, most_bytes=100))
    # What was kept first goes first, whichever conversation it is of.
    assert list_kept(home) == [("s2", b"C" * 40), ("s3", b"D" * 40)]
    execute(home, add_kept_file("s4", 1, path, b"E", b"x", now + MOST_SECONDS + 3, most_bytes=100))
    assert list_kept(home) == [("s3", b"D" * 40), ("s4", b"E")]


def test_a_file_is_kept_once_in_a_turn_as_it_was_first(home: Home) -> None:
    file = home.write("project/a.txt", "one")
    with closing(begin(home)) as journal:
        journal.add_message(person("Change it"))
        journal.keep_file(str(file), b"one", b"two")
        journal.keep_file(str(file), b"two", b"three")
        journal.add_message(person("Again"))
        journal.keep_file(str(file), b"three", b"four")
    assert list_kept(home) == [(journal.id, b"one"), (journal.id, b"three")]


async def test_a_turn_that_is_undone_is_gone_with_its_sub_agents_and_its_summary_and_what_it_cost_stays(
    home: Home,
) -> None:
    file = home.write("project/a.txt", "one")
    store = SessionStore(home.where)
    with closing(begin(home)) as journal:
        say(journal, "First")
        say(journal, "Second")
        below = journal.begin_sub_agent("call-1", agent="explore", model="a:b")
        say(below, "Sub task")
        below.keep_file(str(file), b"one", b"two")
        below.close()
        journal.compact((SummaryMessage("All of it."), person("Second")))
        turn = await find_turn(journal)
        assert turn.said == "Second"
        assert [kept.content for kept in turn.files] == [b"one"]
        assert len(turn.before) == 2
        journal.go_back(turn)
        assert (await find_turn(journal)).said == "First"
        say(journal, "Third")
        await journal.settle()
    assert list_kept(home) == []
    session, transcript = store.read(journal.id)
    assert [entry.message.parts[0].text for entry in transcript[::2]] == ["First", "Third"]  # type: ignore[union-attr]
    assert store.read_sub_agents(journal.id) == ()
    assert (session.turns, session.title, session.cost) == (2, "First", 1.0)
    resumed = store.resume(journal.id)
    resumed.journal.close()
    assert len(resumed.messages) == 4


async def test_a_summary_that_was_made_before_the_turn_stays(home: Home) -> None:
    store, summary = SessionStore(home.where), SummaryMessage("What was said first.")
    with closing(begin(home)) as journal:
        say(journal, "First")
        say(journal, "Second")
        journal.add_message(person("Third"))
        journal.compact((summary, person("Third")))
        journal.add_message(reply(TextBlock("You said: Third")))
        say(journal, "Fourth")
        journal.compact((SummaryMessage("All of it."),))
        turn = await find_turn(journal)
        assert turn.before[0] == summary
        assert len(turn.before) == 3
        journal.go_back(turn)
        await journal.settle()
    resumed = store.resume(journal.id)
    assert resumed.messages == turn.before
    # One further, there is no summary any more.
    turn = await find_turn(resumed.journal)
    assert (turn.said, len(turn.before)) == ("Third", 4)
    resumed.journal.close()


async def test_a_conversation_without_a_turn_begins_anew(home: Home) -> None:
    with closing(begin(home)) as journal:
        assert await journal.find_last_turn() is None
        say(journal, "First")
        journal.go_back(await find_turn(journal))
        assert await journal.find_last_turn() is None
        say(journal, "Other words")
    session = SessionStore(home.where).find(journal.id)
    assert (session.turns, session.title) == (1, "Other words")


async def test_a_turn_of_one_conversation_is_undone_in_that_one_alone(home: Home) -> None:
    with closing(begin(home)) as one, closing(begin(home)) as two:
        for journal in (one, two):
            say(journal, "First")
            journal.keep_file(str(home.project / "a.txt"), None, b"new")
        one.go_back(await find_turn(one))
        await one.settle()
        assert list_kept(home) == [(two.id, None)]
        assert (await find_turn(two)).said == "First"
