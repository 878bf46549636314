"""`/undo` at the real chat: files become what they were, the model forgets the turn, and others' changes stay."""

import json
import signal
import sqlite3
import sys
import threading
import time
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.models import Call, FakeModel, Hold, ModelRequest, Say

from backends.asking import MODELS, variables
from chat.terminal import Person
from chat.test_handing_over import Listening
from mooring.agents.history import PersonMessage
from mooring.agents.sessions.store import SessionStore
from mooring.backends.bridge.reporter import AgentReporter
from mooring.conversation.events import EventStream
from mooring.core.protocol.content import Text
from mooring.errors import ConfigError
from mooring.verbs.agent.program import KeptProgram
from mooring.verbs.agent.responder import Responder
from mooring.verbs.agent.undo import plan_undo
from support import DEMO, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

READY, UNDO_IT, ASKED = "\n> ", "Undo it? [y/N]: ", 'because …"): '


def meet(home: Home, fake: FakeModel, *words: str, mode: str = "edits") -> Person:
    return Person(home, "chat", "-m", MODELS["anthropic"], "--permission-mode", mode, *words, **variables(fake))


def leave(person: Person) -> None:
    person.sees(READY)
    person.types("/quit")
    assert person.ended() == 0, person.shown
    assert "Traceback" not in person.raw
    assert person.left() == []


def says(person: Person, text: str, reply: str) -> None:
    person.answers((READY, text))
    person.sees(reply)


def undoes(person: Person) -> str:
    """Undo the last turn; what was shown before the question."""
    person.answers((READY, "/undo"))
    shown = person.sees(UNDO_IT)
    person.types("y")
    person.sees("The model no longer sees this turn.")
    return shown


def write(path: str, content: str) -> Call:
    return Call("Write", {"file_path": path, "content": content})


def edit(path: str, old: str, new: str) -> Call:
    return Call("Edit", {"file_path": path, "old_string": old, "new_string": new})


def list_said(request: ModelRequest) -> str:
    return " ".join(message.text for message in request.messages)


def test_files_come_back_with_their_mode_and_those_that_were_made_go_and_again_goes_one_turn_further(
    home: Home,
) -> None:
    script = home.write("project/run.sh", "echo one\n")
    script.chmod(0o755)
    replies = [
        edit("run.sh", "one", "two"), Say("First done."),
        edit("run.sh", "two", "three"), edit("run.sh", "three", "four"), write("deep/er/new.py", "x = 1\n"),
        write("deep/er/new.py", "x = 2\n"), Say("Second done."),
        Say("Third done."),
    ]  # fmt: skip
    with FakeModel(replies) as fake, meet(home, fake) as person:
        says(person, "First request", "First done.")
        says(person, "Second request", "Second done.")
        assert script.read_text() == "echo four\n"
        shown = undoes(person)
        assert f"+++ {script}" in shown
        assert "-echo four" in shown
        assert "+echo two" in shown
        assert "+++ /dev/null" in shown
        assert script.read_text() == "echo two\n"
        assert not (home.project / "deep").exists()
        undoes(person)
        assert script.read_text() == "echo one\n"
        assert script.stat().st_mode & 0o777 == 0o755
        person.answers((READY, "/undo"))
        person.sees("There is no turn to undo.")
        says(person, "Third request", "Third done.")
        leave(person)
    said = list_said(fake.requests[-1])
    assert "Third request" in said
    assert "First" not in said
    assert "Second" not in said


def test_a_no_leaves_everything_and_the_model_goes_on_from_the_turn_before(home: Home) -> None:
    file = home.write("project/a.txt", "one\n")
    script = [Say("Hello."), edit("a.txt", "one", "two"), Say("Changed."), Say("Again.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        says(person, "Greet me", "Hello.")
        says(person, "Change it", "Changed.")
        person.answers((READY, "/undo"), (UNDO_IT, ""))
        person.sees("Nothing was undone.")
        assert file.read_text() == "two\n"
        undoes(person)
        says(person, "Once more", "Again.")
        leave(person)
    said = list_said(fake.requests[-1])
    assert "Greet me" in said
    assert "Hello." in said
    assert "Change it" not in said


def test_what_somebody_else_changed_stays_and_is_named_and_so_are_commands(home: Home) -> None:
    for name in ("mine", "theirs", "linked", "between"):
        home.write(f"project/{name}.txt", "one\n")
    outside = home.write("home/outside.txt", "two\n")
    script = [
        edit("mine.txt", "one", "two"), edit("theirs.txt", "one", "two"), edit("linked.txt", "one", "two"),
        edit("between.txt", "one", "two"),
        Call("Bash", {"command": "echo three >> between.txt; touch made.txt"}),
        Call("Read", {"file_path": "between.txt"}),
        edit("between.txt", "two", "four"),
        Call("Bash", {"command": "never run"}),
        Call("Bash", {"command": "cat > made2.txt <<'END'\nx\nEND"}),
        Say("Done."),
    ]  # fmt: skip
    with FakeModel(script) as fake, meet(home, fake) as person:
        person.answers((READY, "Do it"), (ASKED, "o"), (ASKED, "n"), (ASKED, "o"))
        person.sees("Done.")
        home.write("project/theirs.txt", "two and mine\n")
        (home.project / "linked.txt").unlink()
        (home.project / "linked.txt").symlink_to(outside)
        shown = undoes(person)
        assert f"Stays as it is: {home.project}/theirs.txt, which was changed since" in shown
        assert f"Stays as it is: {home.project}/between.txt, which was changed since" in shown
        assert f"Stays as it is: {home.project}/linked.txt, which leads somewhere else" in shown
        assert "Not undone: the command echo three >> between.txt; touch made.txt" in shown
        assert "Not undone: the command cat > made2.txt <<'END' …\n" in shown
        assert "never run" not in shown
        leave(person)
    assert (home.project / "mine.txt").read_text() == "one\n"
    assert (home.project / "theirs.txt").read_text() == "two and mine\n"
    assert (home.project / "between.txt").read_text() == "four\nthree\n"
    assert outside.read_text() == "two\n"
    assert (home.project / "made.txt").exists()


def test_a_folder_that_became_a_link_is_not_written_through(home: Home) -> None:
    home.write("project/sub2/a.txt", "one\n")
    away = home.write("home/away/a.txt", "two\n")
    script = [edit("sub2/a.txt", "one", "two"), write("new/b.txt", "two\n"), Say("Done.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        says(person, "Do it", "Done.")
        for folder in ("sub2", "new"):
            (home.project / folder).rename(home.project / f"{folder}-moved")
            (home.project / folder).symlink_to(away.parent)
        home.write("home/away/b.txt", "two\n")
        shown = undoes(person)
        assert "No file changes." in shown
        assert shown.count("leads somewhere else by now") == 2
        leave(person)
    assert away.read_text() == "two\n"
    assert (away.parent / "b.txt").exists()


def test_what_sub_agents_changed_is_undone_with_the_turn(home: Home) -> None:
    file = home.write("project/a.txt", "one\n")
    replies = {
        "Delegate": [Call("Agent", {"subagent_type": "general-purpose", "description": "x", "prompt": "Sub task"})],
        "Sub task": [edit("a.txt", "one", "two"), Call("Bash", {"command": "touch made.txt"}), Say("Sub done.")],
    }

    def respond(request: ModelRequest) -> Any:
        first = next(message.text for message in request.messages if message.role == "user")
        rest = next((found for words, found in replies.items() if words in first), [])
        return rest.pop(0) if rest else Say("All done.")

    with FakeModel(respond) as fake, meet(home, fake, "--allow", "Bash(touch *)", "--allow", "Agent") as person:
        says(person, "Delegate", "All done.")
        assert file.read_text() == "two\n"
        shown = undoes(person)
        assert "Not undone: the command touch made.txt" in shown
        leave(person)
    assert file.read_text() == "one\n"


def test_a_task_that_the_person_gave_an_agent_is_a_turn_that_is_undone(home: Home) -> None:
    file = home.write("project/a.txt", "one\n")
    script = [edit("a.txt", "one", "two"), Say("Sub done."), Say("Hello.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        says(person, "/general-purpose Change it", "Sub done.")
        assert file.read_text() == "two\n"
        assert "Undo this turn: /general-purpose Change it" in undoes(person)
        assert file.read_text() == "one\n"
        says(person, "Greet me", "Hello.")
        leave(person)
    assert "Change it" not in list_said(fake.requests[-1])


def test_two_conversations_in_one_folder_each_undo_their_own_turns(home: Home) -> None:
    home.write("project/one.txt", "one\n")
    home.write("project/two.txt", "one\n")
    first = FakeModel([edit("one.txt", "one", "two"), Say("First done.")])
    second = FakeModel([edit("two.txt", "one", "two"), Say("Second done.")])
    with first as fake, second as other, meet(home, fake) as person, meet(home, other) as beside:
        says(person, "Change one", "First done.")
        says(beside, "Change two", "Second done.")
        shown = undoes(person)
        assert "two.txt" not in shown
        assert (home.project / "one.txt").read_text() == "one\n"
        assert (home.project / "two.txt").read_text() == "two\n"
        leave(person)
        undoes(beside)
        assert (home.project / "two.txt").read_text() == "one\n"
        leave(beside)


def test_it_works_after_continue_and_the_record_goes_back_too(home: Home) -> None:
    file = home.write("project/a.txt", "one\n")
    script = [edit("a.txt", "one", "two"), Say("First done."), edit("a.txt", "two", "three"), Say("Second done.")]
    with FakeModel(script) as fake:
        with meet(home, fake) as person:
            says(person, "First request", "First done.")
            says(person, "Second request", "Second done.")
            leave(person)
        with meet(home, fake, "--continue") as person:
            undoes(person)
            assert file.read_text() == "two\n"
            leave(person)
        with meet(home, fake, "--continue") as person:
            before = person.sees(READY)
            assert "First request" in before
            assert "1 turn," in before
            assert "Second request" not in before
            person.types("/undo")
            person.answers((UNDO_IT, "y"))
            person.sees("Undone: 1 file restored.")
            assert file.read_text() == "one\n"
            leave(person)


@pytest.mark.parametrize("words", [("-b", "manual"), ()])
def test_without_a_model_there_is_nothing_to_undo(home: Home, words: tuple[str, ...]) -> None:
    with Person(home, "chat", *words) as person:
        person.answers((READY, "/undo"))
        person.sees("none answers here")
        leave(person)


def test_what_is_kept_goes_with_the_conversation_and_is_nobody_else_s_to_read(home: Home) -> None:
    home.write("project/a.txt", "canary-content\n")
    with FakeModel([edit("a.txt", "canary-content", "two"), Say("Done.")]) as fake, meet(home, fake) as person:
        says(person, "Do it", "Done.")
        leave(person)
    record = Path(home.where.record)
    assert record.stat().st_mode & 0o077 == 0
    assert b"canary-content\n" in _read_all(record)
    with Person(home, "sessions", "rm", "--all") as person:
        assert person.ended() == 0
    assert b"canary-content" not in _read_all(record)


@pytest.mark.parametrize("begun", ["a reply", "a question"])
def test_after_a_kill_in_the_middle_of_a_turn_all_of_it_is_undone(home: Home, begun: str) -> None:
    file = home.write("project/a.txt", "one\n")
    last = [Say("I was "), Hold("never")] if begun == "a reply" else Call("Bash", {"command": "touch made.txt"})
    script = [Say("Hello."), edit("a.txt", "one", "two"), last, edit("a.txt", "two", "three"), Say("Done.")]
    with FakeModel(script) as fake:
        with meet(home, fake) as person:
            says(person, "Greet me", "Hello.")
            person.answers((READY, "Change it"))
            person.sees("I was" if begun == "a reply" else ASKED)
            person.is_sent(signal.SIGKILL)
            person.ended()
        with meet(home, fake, "--continue") as person:
            if begun == "a question":
                # The turn goes on where it was, and what it changes now belongs to it.
                person.answers((ASKED, "n"))
                person.sees("Done.")
                assert file.read_text() == "three\n"
            undoes(person)
            assert file.read_text() == "one\n"
            leave(person)
        with meet(home, fake, "--continue") as person:
            before = person.sees(READY)
            assert "Greet me" in before
            assert "Change it" not in before
            person.types("/quit")
            assert person.ended() == 0


@pytest.mark.parametrize("made", [1, 4, 7])
def test_whenever_a_turn_of_many_changes_is_killed_all_of_them_are_undone(home: Home, made: int) -> None:
    file = home.write("project/a.txt", "v0\n")
    numbers, is_killed = count(), threading.Event()

    def respond(_: ModelRequest) -> Any:
        if is_killed.is_set():
            return Say("That is all.")
        number = next(numbers)
        return [write(f"f{number}.txt", "x\n"), edit("a.txt", f"v{number}", f"v{number + 1}")]

    with FakeModel(respond) as fake:
        with meet(home, fake) as person:
            person.answers((READY, "Change it"))
            until = time.monotonic() + 100
            while not (home.project / f"f{made}.txt").exists():
                assert time.monotonic() < until
                time.sleep(0.001)
            person.is_sent(signal.SIGKILL)
            is_killed.set()
            person.ended()
        with meet(home, fake, "--continue") as person:
            undoes(person)
            leave(person)
    assert file.read_text() == "v0\n"
    assert list(home.project.glob("f*.txt")) == []


def test_a_kill_between_keeping_a_file_and_changing_it_loses_nothing(home: Home) -> None:
    """The record is as it would be: what the file was is in it, and what it was to become."""
    file = home.write("project/a.txt", "one\n")
    new = home.project / "new.txt"
    with closing(SessionStore(home.where).begin(str(home.cwd), model=MODELS["anthropic"])) as journal:
        journal.add_message(PersonMessage((Text("Change it"),)))
        journal.keep_file(str(file), b"one\n", b"two\n")
        file.write_text("two\n")
        journal.keep_file(str(file), b"two\n", b"three\n")
        journal.keep_file(str(new), None, b"new\n")
    with FakeModel([]) as fake, meet(home, fake, "--continue") as person:
        shown = undoes(person)
        assert "Stays as it is" not in shown
        assert "new.txt" not in shown
        leave(person)
    assert file.read_text() == "one\n"
    assert not new.exists()


def test_an_undoing_that_was_cut_off_between_the_files_and_the_conversation_is_finished_by_another(home: Home) -> None:
    file = home.write("project/a.txt", "one\n")
    script = [edit("a.txt", "one", "two"), write("new.txt", "x\n"), Say("Done."), Say("Again.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        says(person, "Change it", "Done.")
        # As the first half leaves them.
        file.write_text("one\n")
        (home.project / "new.txt").unlink()
        shown = undoes(person)
        assert "No file changes." in shown
        assert "Stays as it is" not in shown
        says(person, "Once more", "Again.")
        leave(person)
    assert "Change it" not in list_said(fake.requests[-1])


def test_every_byte_comes_back_and_cells_of_notebooks_too(home: Home) -> None:
    before = b"\xff\xfe one\r\ntwo\r\n\x00 no newline at the end"
    cell: dict[str, Any] = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["old"]}
    odd = home.write("project/odd.bin", before)
    notebook = home.write("project/a.ipynb", json.dumps({"cells": [cell]}))
    written = notebook.read_bytes()
    script = [
        edit("odd.bin", "one", "three"),
        Call("NotebookEdit", {"notebook_path": "a.ipynb", "cell_id": "a", "new_source": "new"}),
        Say("Done."),
    ]
    with FakeModel(script) as fake, meet(home, fake) as person:
        says(person, "Change it", "Done.")
        assert odd.read_bytes() == before.replace(b"one", b"three")
        assert notebook.read_bytes() != written
        undoes(person)
        leave(person)
    assert odd.read_bytes() == before
    assert notebook.read_bytes() == written


def test_after_all_of_it_is_undone_the_conversation_goes_on_empty_and_a_resumed_one_has_its_own_turns(
    home: Home,
) -> None:
    file = home.write("project/a.txt", "one\n")
    script = [edit("a.txt", "one", "two"), Say("Done."), Say("Hello."), Say("Fresh.")]
    with FakeModel(script) as fake:
        with meet(home, fake) as person:
            says(person, "Change it", "Done.")
            first = SessionStore(home.where).list(str(home.cwd))[0].id
            person.answers((READY, "/new"))
            says(person, "Greet me", "Hello.")
            assert "Change it" not in undoes(person)
            assert file.read_text() == "two\n"
            person.answers((READY, f"/resume {first}"))
            assert "Change it" in undoes(person)
            assert file.read_text() == "one\n"
            leave(person)
        with meet(home, fake, "--resume", first) as person:
            says(person, "Once more", "Fresh.")
            leave(person)
    assert "Change it" not in list_said(fake.requests[-1])


def test_a_summary_that_came_after_a_turn_goes_with_it(home: Home) -> None:
    file = home.write("project/a.txt", "one\n")
    script = [Say("Hello."), edit("a.txt", "one", "two"), Say("Changed."), Say("A summary of it."), Say("Again.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        says(person, "Greet me", "Hello.")
        says(person, "Change it", "Changed.")
        person.answers((READY, "/compact"), (READY, "/undo"), (UNDO_IT, "y"))
        person.sees("The model no longer sees this turn.")
        says(person, "Once more", "Again.")
        leave(person)
    assert file.read_text() == "one\n"
    said = list_said(fake.requests[-1])
    assert "Greet me" in said
    assert "A summary" not in said
    assert "Change it" not in said


def test_calls_of_servers_are_named_and_what_is_gone_stays_gone(home: Home) -> None:
    home.configure(demo=DEMO)
    file = home.write("project/a.txt", "one\n")
    script = [edit("a.txt", "one", "two"), Call("mcp__demo__add", {"a": 1, "b": 2}), Say("Done.")]
    with FakeModel(script) as fake, meet(home, fake, "--allow", "demo.*") as person:
        says(person, "Do it", "Done.")
        file.unlink()
        shown = undoes(person)
        assert "Not undone: demo / add" in shown
        assert f"Stays as it is: {file}, which is gone" in shown
        leave(person)
    assert not file.exists()


def test_a_file_of_which_nothing_is_kept_is_named(home: Home) -> None:
    file = home.write("project/a.txt", "one\n")
    with FakeModel([edit("a.txt", "one", "two"), Say("Done.")]) as fake:
        with meet(home, fake) as person:
            says(person, "Do it", "Done.")
            leave(person)
        with closing(sqlite3.connect(home.where.record)) as connection, connection:
            connection.execute("DELETE FROM kept_files")
        with meet(home, fake, "--continue") as person:
            assert f"Stays as it is: {file}, since what it was is no longer kept" in undoes(person)
            leave(person)
    assert file.read_text() == "two\n"


def test_what_was_changed_while_another_program_held_the_record_is_undone_too(home: Home) -> None:
    file = home.write("project/a.txt", "one\n")
    changes = [Hold("go"), edit("a.txt", "one", "two")], edit("a.txt", "two", "three")
    with FakeModel([Say("Hello."), *changes, Say("Done.")]) as fake, meet(home, fake) as person:
        says(person, "Greet me", "Hello.")
        person.answers((READY, "Do it"))
        person.sees("waiting for the model")
        with closing(sqlite3.connect(home.where.record, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            fake.release("go")
            person.sees("is not being stored")
            person.sees("Done.")
            assert file.read_text() == "three\n"
            other.execute("ROLLBACK")
        person.sees("is being stored again, with all that was said meanwhile.")
        shown = undoes(person)
        assert "meanwhile.;" not in person.shown
        assert "-three" in shown
        assert "+one" in shown
        assert file.read_text() == "one\n"
        leave(person)


def test_the_files_of_long_diffs_are_named_again_before_the_answer(home: Home) -> None:
    file = home.write("project/a.txt", "one\n")
    replies = [edit("a.txt", "one", "two"), write("new.txt", "line\n" * 200), Say("Done.")]
    with FakeModel(replies) as fake, meet(home, fake) as person:
        says(person, "Do it", "Done.")
        shown = undoes(person)
        assert shown.endswith(f"\nthis restores {file}\nthis removes {home.project / 'new.txt'}\n")
        leave(person)


def test_a_conversation_that_cannot_be_stored_is_left_as_it_is_and_says_why(home: Home) -> None:
    file = home.write("project/a.txt", "one\n")
    record = Path(home.where.record)
    record.parent.mkdir(parents=True, mode=0o700)
    record.write_bytes(b"no database" * 100)
    record.chmod(0o600)
    with FakeModel([edit("a.txt", "one", "two"), Say("Done.")]) as fake, meet(home, fake) as person:
        says(person, "Change it", "Done.")
        person.answers((READY, "/undo"))
        person.sees("sessions.db: lacks the last turn, since it cannot be written")
        leave(person)
    assert file.read_text() == "two\n"


async def test_a_program_undoes_its_own_turns(home: Home) -> None:
    stream = EventStream("0123")
    unused: Any = Listening(stream)
    program = KeptProgram(unused, None, "shared", None, AgentReporter(stream, "claude"), None)
    answering = Responder(backend=unused, stream=stream, conversation=None, model="claude (opus)", program=program)
    with pytest.raises(ConfigError, match=r"claude \(opus\) changes files and remembers the conversation itself"):
        await plan_undo(answering, home.request())


def _read_all(record: Path) -> bytes:
    return b"".join(path.read_bytes() for path in record.parent.glob(f"{record.name}*"))


def test_the_transcript_has_nothing_of_a_turn_that_was_undone(home: Home) -> None:
    with FakeModel([Say("Hello."), Say("Goodbye.")]) as fake, meet(home, fake) as person:
        says(person, "Greet me", "Hello.")
        says(person, "Leave me", "Goodbye.")
        shown = undoes(person)
        assert "No file changes." in shown
        leave(person)
    with Person(home, "sessions", "--json") as person:
        assert person.ended() == 0
        [session] = json.loads(person.shown)["sessions"]
    assert session["turns"] == 1
    with Person(home, "sessions", session["id"]) as person:
        assert person.ended() == 0
    assert "Greet me" in person.shown
    assert "Leave me" not in person.shown
