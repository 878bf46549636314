"""Going on from before an earlier message: what the new session holds, and that the other one stays as it was."""

import os
import sqlite3
import time
from contextlib import closing

import pytest
from killing import KILLED, kill_at_statement
from scripted import ScriptedModel
from test_loop import agent_on
from test_sessions import begin, keep, person, reply

from mooring.agents.history import Message, PersonMessage, SummaryMessage, TextBlock
from mooring.agents.sessions.branch import EarlierMessage, branch_session, list_earlier_messages
from mooring.agents.sessions.store import SessionStore
from mooring.core.protocol.content import Image, Text
from mooring.errors import FileError
from mooring.verbs.agent.thread import AgentPast
from support import Home


def list_said(home: Home, id: str) -> list[str]:
    return [message.text for message in list_earlier_messages(home.where.record, id)]


def branch(home: Home, id: str, said: str) -> str | None:
    [message] = [each for each in list_earlier_messages(home.where.record, id) if each.text == said]
    return branch_session(home.where.record, id, message)


def read_sent(home: Home, id: str) -> tuple[Message, ...]:
    """What a model is sent of a session."""
    resumed = SessionStore(home.where).resume(id)
    resumed.journal.close()
    return resumed.messages


def test_a_branch_holds_what_was_said_before_a_message_and_the_other_stays(home: Home) -> None:
    id = keep(home, "first", "second", "third")
    store = SessionStore(home.where)
    before = store.read(id)
    made = branch(home, id, "third")
    assert made is not None
    assert list_said(home, made) == ["second", "first"]
    assert store.read(id) == before
    new = store.find(made)
    assert (new.title, new.turns, new.continues, new.cost) == ("first", 2, id, 0)
    assert read_sent(home, made) == read_sent(home, id)[:4]


def test_nothing_is_made_where_nothing_was_said_before(home: Home) -> None:
    id = keep(home, "first", "second")
    assert branch(home, id, "first") is None
    assert [each.id for each in SessionStore(home.where).list()] == [id]


def test_a_branch_of_a_branch_is_one_of_its_own(home: Home) -> None:
    id = keep(home, "first", "second", "third")
    one = branch(home, id, "third")
    assert one is not None
    other = branch(home, one, "second")
    assert other is not None
    assert [list_said(home, each) for each in (id, one, other)] == [
        ["third", "second", "first"], ["second", "first"], ["first"],
    ]  # fmt: skip


def test_three_hundred_turns_are_listed_and_branched_at_once(home: Home) -> None:
    id = keep(home, *(f"message {number}" for number in range(300)))
    began = time.process_time()
    messages = list_earlier_messages(home.where.record, id)
    assert [messages[0].text, messages[-1].text, len(messages)] == ["message 299", "message 0", 300]
    made = branch_session(home.where.record, id, messages[99])
    assert time.process_time() - began < 0.5
    assert made is not None
    assert SessionStore(home.where).find(made).turns == 200
    assert len(read_sent(home, made)) == 400


def test_a_summary_counts_where_it_was_made_before_the_message_alone(home: Home) -> None:
    with closing(begin(home)) as journal:
        for said in ("first", "second"):
            journal.add_message(person(said))
            journal.add_message(reply(TextBlock(f"You said: {said}")))
        summary = SummaryMessage("They said two things.")
        journal.compact((summary,))
        for said in ("third", "fourth"):
            journal.add_message(person(said))
            journal.add_message(reply(TextBlock(f"You said: {said}")))
    earlier, later = branch(home, journal.id, "second"), branch(home, journal.id, "fourth")
    assert earlier is not None
    assert later is not None
    assert read_sent(home, earlier) == (person("first"), reply(TextBlock("You said: first")))
    assert read_sent(home, later) == (summary, person("third"), reply(TextBlock("You said: third")))


def test_what_was_attached_is_there_and_what_was_said_during_a_turn_is_a_part_of_it(home: Home) -> None:
    image = Image(data="AAAA", mime_type="image/png")
    with closing(begin(home)) as journal:
        journal.add_message(PersonMessage((Text("look"), image)))
        journal.add_message(reply(TextBlock("Hm")))
        journal.add_message(PersonMessage((Text("closer"),), in_turn=True))
        journal.add_message(PersonMessage((Text("news"),), synthetic=True))
        journal.add_message(reply(TextBlock("A cat.")))
        journal.add_message(PersonMessage((image,)))
    messages = list_earlier_messages(home.where.record, journal.id)
    assert [(each.text, each.attachments) for each in messages] == [("", (image,)), ("look", (image,))]
    assert [each.turns_before for each in messages] == [1, 0]


async def test_files_kept_for_an_earlier_turn_can_still_be_undone_in_the_branch(home: Home) -> None:
    path = home.write("notes.txt", "old")
    with closing(begin(home)) as journal:
        journal.add_message(person("first"))
        journal.keep_file(str(path), b"old", b"new")
        journal.add_message(reply(TextBlock("Done.")))
        journal.add_message(person("second"))
        journal.add_message(reply(TextBlock("Yes.")))
        await journal.settle()
        made = branch(home, journal.id, "second")
    assert made is not None
    resumed = SessionStore(home.where).resume(made)
    last = await resumed.journal.find_last_turn()
    resumed.journal.close()
    assert last is not None
    assert [(file.path, file.content) for file in last.files] == [(str(path), b"old")]


async def test_a_conversation_goes_on_in_the_branch_with_a_model_that_knows_no_more(home: Home) -> None:
    id = keep(home, "first", "second")
    made = branch(home, id, "second")
    assert made is not None
    resumed = SessionStore(home.where).resume(made)
    model = ScriptedModel(["Another."])
    past = AgentPast(made, resumed.session.turns, resumed.messages)
    async with agent_on(home, model, past=past, journal=resumed.journal) as agent:
        await agent.run("otherwise")
    resumed.journal.close()
    assert list_said(home, made) == ["otherwise", "first"]
    assert list_said(home, id) == ["second", "first"]
    assert len(model.requests[0].messages) == 3


@pytest.mark.processes
def test_a_kill_at_any_statement_makes_all_of_a_branch_or_nothing(home: Home) -> None:
    id = keep(home, "first", "second", "third")
    message = list_earlier_messages(home.where.record, id)[0]
    kills = 0
    for number in range(40):
        before = len(SessionStore(home.where).list())
        code = _branch_apart(home, id, message, number)
        made = len(SessionStore(home.where).list()) - before
        assert list_said(home, id) == ["third", "second", "first"]
        for session in SessionStore(home.where).list():
            assert session.id == id or list_said(home, session.id) == ["second", "first"]
        if code == 0:
            assert made == 1
            break
        assert code == KILLED
        assert made == 0, number
        kills += 1
    else:
        pytest.fail("it never came to its end")
    assert kills > 4


def _branch_apart(home: Home, id: str, message: EarlierMessage, number: int) -> int:
    """How a process ends that is killed at one of its statements."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        kill_at_statement(number)
        branch_session(home.where.record, id, message)
        code = 0
    finally:
        os._exit(code)


def test_a_record_that_cannot_be_written_is_an_error_and_stays_as_it_is(home: Home) -> None:
    id = keep(home, "first", "second")
    with closing(sqlite3.connect(home.where.record)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(FileError):
            branch(home, id, "second")
    assert [each.id for each in SessionStore(home.where).list()] == [id]
