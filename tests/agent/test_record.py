"""The record of conversations beside other processes: nothing is lost, whoever opens, closes, replaces or lists it."""

import asyncio
import os
import resource
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

import pytest
from scripted import ScriptedModel, Step
from test_loop import agent_on
from test_sessions_continued import start_chat, wait_for_text
from tests.models import Call, FakeModel, Hold, Say

from backends.asking import KEY, MODELS, variables
from chat.terminal import Person
from mooring.agents.history import PersonMessage
from mooring.agents.model import ModelRequest
from mooring.agents.sessions.connection import find_connection
from mooring.agents.sessions.database import BUSY_SECONDS, VERSION
from mooring.agents.sessions.store import SessionStore
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.content import Text
from mooring.files.cleanup import find_loose, tighten
from mooring.verbs.agent.sessions import UPKEEP_DELAY
from support import DEMO, MOORING, WATCHED, Cli, Home, Result, run_beside
from warm import run_mooring, start_python

CONVERSING = """
import os, resource, signal, sys, threading
from contextlib import redirect_stdout
from mooring.agents.history import PersonMessage
from mooring.agents.sessions.connection import hold_record
from mooring.agents.sessions.store import SessionStore
from mooring.core.protocol.content import Text
from mooring.core.definitions.paths import Paths

connected = 0

def count(event, values):
    global connected
    connected += event == "sqlite3.connect"

sys.addaudithook(count)
home, cwd, name = sys.argv[1:]

is_stored_again = threading.Event()

def tell(problem):
    print(problem.message, flush=True)
    if "stored again" in problem.message:
        is_stored_again.set()

def open_store():
    return SessionStore(Paths(home, {}), on_problem=tell)

def limit_files(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

store = open_store()
said = 0

def say(journal, count):
    global said
    for _ in range(count):
        said += 1
        journal.add_message(PersonMessage((Text(f"{name} {said}"),)))

for line in sys.stdin:
    match line.split():
        case ["begin"]:
            journal = store.begin(cwd, model="m")
        case ["continue"]:
            journal = store.resume(store.find_newest(cwd).id).journal
        case ["say", count]:
            say(journal, int(count))
        case ["another", words]:
            other = open_store().begin(cwd, model="m")
            other.add_message(PersonMessage((Text(words),)))
        case ["close-another"]:
            other.close()
        case ["hold"]:
            holding = hold_record(Paths(home, {}))
            holding.__enter__()
        case ["release"]:
            holding.__exit__(None, None, None)
        case ["sub-agent"]:
            below = journal.begin_sub_agent("call", agent="explore", model="m")
            below.add_message(PersonMessage((Text("look"),)))
            below.close()
        case ["fill-the-disk"]:
            limit_files(0)
        case ["make-room"]:
            limit_files(resource.RLIM_INFINITY)
            is_stored_again.wait(30)
        case ["make-room-silently"]:
            limit_files(resource.RLIM_INFINITY)
        case ["upkeep"]:
            store.remove_expired(90)
        case ["doctor"]:
            from mooring.cli.app import run  # only here: it takes a while
            with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
                run(["mcp", "doctor", "--fix"])
        case ["list"]:
            open_store().list()
        case ["fork"]:
            child = os.fork()
            if not child:
                before = connected
                store.list()
                os._exit(connected - before)
            print("connections of the child:", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        case ["connections"]:
            print(connected, flush=True)
        case ["close"]:
            journal.close()
    print("done", flush=True)
"""


class Conversing:
    """A process with conversations, which does what it is told and says when that is done."""

    def __init__(self, home: Home, name: str) -> None:
        words, pipe = (str(home.home), str(home.cwd), name), subprocess.PIPE
        env = {**home.env, **WATCHED}
        self._process = start_python(CONVERSING, *words, cwd=home.cwd, env=env, stdin=pipe, stdout=pipe)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process as process:
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(100) == 0

    def does(self, *orders: str) -> list[str]:
        """What it says besides, order after order."""
        said: list[str] = []
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        for order in orders:
            self._process.stdin.write(f"{order}\n".encode())
            self._process.stdin.flush()
            while (line := self._process.stdout.readline().decode().rstrip()) != "done":
                assert line or self._process.poll() is None, "it ended"
                said.append(line)
        return said


def read_record(home: Home) -> dict[str, list[str]]:
    """What was said in each conversation, by the name that it begins with."""
    return {words[0].split()[0]: words for words in list_prompts(home)}


def count_up(name: str, count: int) -> list[str]:
    return [f"{name} {number}" for number in range(1, count + 1)]


# --- beside other processes -------------------------------------------------------------------------------------------


@pytest.mark.processes
@pytest.mark.parametrize("trigger", ["sub-agent", "upkeep", "list"])
def test_two_conversations_lose_nothing_when_a_third_process_lists_them(home: Home, trigger: str) -> None:
    with Conversing(home, "a") as one, Conversing(home, "b") as two:
        assert one.does("begin", "say 200", trigger) == []
        # When this ends, it must not take itself for the last process that has the file open.
        assert run_beside(home, "sessions").code == 0
        assert two.does("begin", "say 200", trigger) == []
        assert one.does("say 200", "close") == []
        assert two.does("say 200", "close") == []
    assert read_record(home) == {"a": count_up("a", 400), "b": count_up("b", 400)}


@pytest.mark.processes
def test_a_conversation_that_is_continued_while_old_ones_are_removed_loses_nothing(home: Home) -> None:
    with Conversing(home, "a") as first:
        first.does("begin", "say 1", "close")
    with Conversing(home, "a") as one, Conversing(home, "b") as two:
        assert one.does("continue", "upkeep", "say 5") == []
        assert run_beside(home, "sessions").code == 0
        assert two.does("begin", "say 5", "upkeep") == []
        assert one.does("say 5", "close") == []
        assert two.does("say 5", "close") == []
    found = read_record(home)
    assert found == {"a": ["a 1", *count_up("a", 10)], "b": count_up("b", 10)}


@pytest.mark.processes
@pytest.mark.timeout(300)
def test_two_chats_and_a_listing_beside_them_are_all_in_the_record(home: Home) -> None:
    script = {name: [Say(f"{name} {number}") for number in range(3)] for name in ("red", "blue")}
    connections = home.folder / "connections"
    with FakeModel(script) as model:
        words = ("chat", "-m", MODELS["anthropic"])
        assert run_beside(home, *words, "-p", "Say red.", **variables(model)).code == 0
        counted = {**variables(model), "RECORD_CONNECTIONS": str(connections)}
        with Person(home, *words, "--continue", **counted) as red:
            red.types("More red.")
            red.sees("red 1", 60)
            # It has looked for old conversations by then.
            time.sleep(UPKEEP_DELAY + 0.5)
            assert run_beside(home, "sessions").code == 0
            with Person(home, *words, **variables(model)) as blue:
                blue.types("Say blue.")
                blue.sees("blue 0", 60)
                red.types("And red again.")
                red.sees("red 2", 60)
                red.types("/exit")
                assert red.ended() == 0
                blue.types("And blue again.")
                blue.sees("blue 1", 60)
                blue.types("/exit")
                assert blue.ended() == 0
    assert sorted(list_prompts(home)) == [
        ["Say blue.", "And blue again."],
        ["Say red.", "More red.", "And red again."],
    ]
    # To look it up, to show the last exchange, to go on, to remove old ones, and to say how to continue it.
    assert len(connections.read_text().splitlines()) == 1


def list_prompts(home: Home) -> list[list[str]]:
    """What the person said in each conversation."""
    with closing(sqlite3.connect(home.where.record)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    store = SessionStore(home.where)
    said = []
    for session in store.list():
        messages = [entry.message for entry in store.read(session.id)[1]]
        said.append([_get_text(each) for each in messages if isinstance(each, PersonMessage)])
    return said


def _get_text(message: PersonMessage) -> str:
    (part,) = message.parts
    assert isinstance(part, Text)
    return part.text


def test_a_process_has_one_connection_and_one_that_is_forked_from_it_uses_another(home: Home) -> None:
    with Conversing(home, "a") as one:
        assert one.does("begin", "say 1", "sub-agent", "list", "upkeep", "say 1", "connections") == ["1"]
        assert one.does("fork") == ["connections of the child: 1"]
        assert one.does("say 1", "close", "connections") == ["1"]
    assert read_record(home) == {"a": count_up("a", 3)}


def test_two_conversations_of_a_process_share_its_connection_until_both_are_closed(home: Home) -> None:
    with Conversing(home, "a") as one:
        assert one.does("begin", "say 2", "another b", "list", "say 1", "close", "list", "connections") == ["1"]
        # The other one still has it.
        assert one.does("close-another", "connections") == ["1"]
        assert one.does("begin", "say 1", "close", "connections") == ["2"]
    assert sorted(list_prompts(home)) == [["a 1", "a 2", "a 3"], ["a 4"], ["b"]]


def test_what_is_looked_up_before_and_after_a_conversation_shares_its_connection(home: Home) -> None:
    with Conversing(home, "a") as one:
        one.does("begin", "say 1", "close")
    with Conversing(home, "a") as one:
        assert one.does("hold", "list", "continue", "say 1", "close", "list", "connections") == ["1"]
        # Nothing is left of it: whoever comes next opens its own.
        assert one.does("release", "list", "connections") == ["2"]
    assert list_prompts(home) == [["a 1", "a 1"]]


@pytest.mark.processes
def test_a_file_that_is_replaced_gets_all_of_two_conversations_again(home: Home) -> None:
    with Conversing(home, "a") as one:
        one.does("begin", "say 2", "another b")
        replace_files(home, "deleted")
        # Whichever notices it first.
        assert one.does("list", "say 1", "close", "close-another") == []
    assert sorted(list_prompts(home)) == [["a 1", "a 2", "a 3"], ["b"]]


def test_the_file_is_in_the_mode_that_a_power_cut_does_not_damage(home: Home) -> None:
    with closing(SessionStore(home.where).begin(str(home.cwd), model="m")) as journal:
        journal.add_message(PersonMessage((Text("one"),)))
        with find_connection(home.where.record).use() as connection:
            assert connection is not None
            # What SQLite says of this mode: after a power cut the last transactions may be missing, and nothing else.
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert connection.execute("PRAGMA synchronous").fetchone() == (1,)


@pytest.mark.processes
def test_what_a_person_types_is_stored_as_it_is_and_the_key_of_the_model_never(home: Home) -> None:
    with FakeModel([Say("I won't tell.")]) as model:
        said = run_beside(home, "chat", "-m", MODELS["anthropic"], "-p", "It is hunter2", **variables(model))
    assert said.code == 0, said.err
    stored = Path(home.where.record).read_bytes()
    assert b"It is hunter2" in stored
    assert KEY.encode() not in stored


# --- a file that another program holds --------------------------------------------------------------------------------


@contextmanager
def held(home: Home) -> Iterator[sqlite3.Connection]:
    """Another program's connection, which keeps everybody else from writing until it says ROLLBACK."""
    path = home.where.record
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


async def test_the_model_is_asked_once_what_was_said_is_in_the_file(home: Home) -> None:
    stored: list[list[list[str]]] = []

    def answer(_: ModelRequest) -> list[Step]:
        stored.append(list_prompts(home))
        return ["Fine."]

    model = ScriptedModel(answer, answer)
    with closing(SessionStore(home.where).begin(str(home.cwd), model="m")) as journal:
        async with agent_on(home, model, journal=journal) as agent:
            await agent.run("first")
            with held(home) as other:
                # The event loop ends what the write waits for: it must not wait itself.
                asyncio.get_running_loop().call_later(0.4, other.execute, "ROLLBACK")
                await agent.run("second")
    assert stored == [[["first"]], [["first", "second"]]]


async def test_a_file_that_is_held_for_longer_delays_a_turn_by_about_a_second_and_loses_nothing(home: Home) -> None:
    problems: list[str] = []
    is_stored_again = asyncio.Event()

    def note(problem: Problem) -> None:
        problems.append(problem.message)
        if problem.message == STORED_AGAIN:
            is_stored_again.set()

    journal = SessionStore(home.where, on_problem=note).begin(str(home.cwd), model="m")
    journal.add_message(PersonMessage((Text("one"),)))
    with held(home) as other:
        began = time.monotonic()
        journal.add_message(PersonMessage((Text("two"),)))
        assert time.monotonic() - began < BUSY_SECONDS
        await journal.settle()
        # It goes on with what is in memory.
        journal.add_message(PersonMessage((Text("three"),)))
        assert list_prompts(home) == [["one"]]
        other.execute("ROLLBACK")
        await is_stored_again.wait()
        assert list_prompts(home) == [["one", "two", "three"]]
    journal.close()
    busy = "This conversation goes on, but is not being stored: the file is in use by another process"
    assert problems == [busy, STORED_AGAIN]


def test_whoever_leaves_waits_for_a_program_that_holds_the_file(home: Home) -> None:
    problems: list[Problem] = []
    journal = SessionStore(home.where, on_problem=problems.append).begin(str(home.cwd), model="m")
    journal.add_message(PersonMessage((Text("one"),)))
    with held(home) as other:
        journal.add_message(PersonMessage((Text("two"),)))
        timer = threading.Timer(2.5, other.execute, ["ROLLBACK"])
        timer.start()
        journal.close()
        timer.join()
    assert list_prompts(home) == [["one", "two"]]
    assert "could not be stored" not in "".join(problem.message for problem in problems)


@pytest.mark.timeout(300)
def test_whoever_leaves_waits_ten_seconds_and_then_says_what_is_lost(home: Home) -> None:
    problems: list[Problem] = []
    journal = SessionStore(home.where, on_problem=problems.append).begin(str(home.cwd), model="m")
    journal.add_message(PersonMessage((Text("one"),)))
    with held(home):
        journal.add_message(PersonMessage((Text("two"),)))
        began = time.monotonic()
        journal.close()
        assert 10 <= time.monotonic() - began < 60
    assert problems[-1].message == "1 entry of this conversation could not be stored."
    assert list_prompts(home) == [["one"]]


# --- replaced files ---------------------------------------------------------------------------------------------------


def replace_files(home: Home, how: str) -> None:
    path = home.where.record
    match how:
        case "deleted":
            for suffix in ("", "-wal", "-shm"):
                os.unlink(f"{path}{suffix}")
        case "moved":
            os.rename(path, f"{path}.aside")
        case "log deleted":
            os.unlink(f"{path}-wal")
            os.unlink(f"{path}-shm")
        case "another":
            replace_files(home, "deleted")
            with Conversing(home, "other") as other:
                other.does("begin", "say 3", "close")


@pytest.mark.processes
@pytest.mark.parametrize("how", ["deleted", "moved", "log deleted", "another"])
@pytest.mark.parametrize("beginning", ["begin", "continue"])
def test_a_file_that_is_replaced_gets_all_that_was_said_again(home: Home, how: str, beginning: str) -> None:
    before: list[str] = []
    if beginning == "continue":
        with Conversing(home, "a") as first:
            first.does("begin", "say 2", "close")
        before = count_up("a", 2)
    with Conversing(home, "a") as one:
        assert one.does(beginning, "say 5", "sub-agent") == []
        replace_files(home, how)
        assert one.does("say 5", "close") == []
    found = read_record(home)
    assert found["a"] == [*before, *count_up("a", 10)]
    if how == "another":
        assert found["other"] == count_up("other", 3)
    (session,) = [each for each in SessionStore(home.where).list() if each.title.startswith("a")]
    assert session.turns == len(found["a"])
    assert len(SessionStore(home.where).read_sub_agents(session.id)) == 1


# --- where nothing can be written -------------------------------------------------------------------------------------


def write_nothing() -> None:
    """What a process on a full disk can write to files."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def leave_in_the_log(home: Home, model: FakeModel) -> None:
    """A chat that was killed: what was said is in the log beside the file alone."""
    with start_chat(home, variables(model), "Say a sentence.") as chat:
        wait_for_text(home, "It is half a sen")
        chat.kill()


def continue_chat(home: Home, model: FakeModel, prompt: str, **options: Any) -> Result:
    command = ["--demo", "chat", "-m", "anthropic:scripted", "--continue", "-p", prompt]
    env = {**home.env, **WATCHED, **variables(model)}
    if options:
        done = subprocess.run(
            [MOORING, *command], cwd=home.cwd, env=env, capture_output=True, text=True, timeout=100, **options
        )
    else:
        done = run_mooring(*command, cwd=home.cwd, env=env)
    return Result(done.returncode, done.stdout, done.stderr)


SCRIPT = [[Say("It is half a sen"), Hold("never")], Say("Now it is a whole one."), Say("Once more.")]


@pytest.mark.processes
@pytest.mark.timeout(300)
@pytest.mark.parametrize("index", ["index", "no index"])
def test_on_a_full_disk_a_conversation_is_continued_from_what_is_in_the_log(home: Home, index: str) -> None:
    with FakeModel(SCRIPT) as model:
        leave_in_the_log(home, model)
        if index == "no index":
            os.unlink(f"{home.where.record}-shm")
        done = continue_chat(home, model, "Go on.", preexec_fn=write_nothing)
        assert (done.code, done.out) == (0, "Now it is a whole one.\n"), done.err
        sent = [message.text for message in model.requests[1].messages]
        assert sent == ["Say a sentence.", "It is half a sen", "Go on."]
        assert "This conversation goes on, but is not being stored" in done.err
        assert "4 entries of this conversation could not be stored." in done.err
        # What could not be stored is gone, and everything else is there.
        again = continue_chat(home, model, "And now?")
    assert (again.code, again.out) == (0, "Once more.\n"), again.err
    assert list_prompts(home) == [["Say a sentence.", "And now?"]]


NOT_STORED = "This conversation goes on, but is not being stored: the file cannot be written: the disk is full or fails"
STORED_AGAIN = "This conversation is being stored again, with all that was said meanwhile."


@pytest.mark.processes
def test_what_a_sub_agent_says_on_a_full_disk_is_told_and_stored_once_there_is_room(home: Home) -> None:
    with Conversing(home, "a") as one:
        assert one.does("begin", "say 1", "fill-the-disk", "sub-agent") == [NOT_STORED]
        assert one.does("make-room") == [STORED_AGAIN]
        assert one.does("say 1", "close") == []
    (session,) = SessionStore(home.where).list()
    (below,) = SessionStore(home.where).read_sub_agents(session.id)
    assert len(below.messages) == 1
    assert read_record(home) == {"a": count_up("a", 2)}


@pytest.mark.processes
def test_whoever_leaves_is_told_how_much_of_it_and_its_sub_agents_is_not_stored(home: Home) -> None:
    with Conversing(home, "a") as one:
        assert one.does("begin", "say 1", "another b", "fill-the-disk", "sub-agent", "say 2") == [NOT_STORED]
        assert one.does("close") == ["3 entries of this conversation could not be stored."]
        # The other conversation had nothing to say meanwhile.
        assert one.does("make-room-silently", "close-another") == []
    assert sorted(list_prompts(home)) == [["a 1"], ["b"]]


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """A file system of its own at a folder; skips where nobody may mount one."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "none", folder], capture_output=True)
    if done.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.processes
@pytest.mark.timeout(300)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
@pytest.mark.parametrize("index", ["index", "no index"])
def test_on_a_read_only_disk_a_conversation_is_continued_from_what_is_in_the_log(home: Home, index: str) -> None:
    state = Path(home.where.state)
    with mounted(state), FakeModel(SCRIPT) as model:
        leave_in_the_log(home, model)
        if index == "no index":
            os.unlink(f"{home.where.record}-shm")
        subprocess.run(["mount", "-o", "remount,ro", state], check=True)
        listed = run_beside(home, "sessions")
        assert (listed.code, "Say a sentence." in listed.out) == (0, True), listed.err
        done = continue_chat(home, model, "Go on.")
        subprocess.run(["mount", "-o", "remount,rw", state], check=True)
        assert (done.code, done.out) == (0, "Now it is a whole one.\n"), done.err
        assert [message.text for message in model.requests[1].messages][1] == "It is half a sen"
        assert "This conversation goes on, but is not being stored" in done.err
        assert list_prompts(home) == [["Say a sentence."]]


# --- nothing but SQLite opens it --------------------------------------------------------------------------------------


def name_otherwise(home: Home, how: str) -> str:
    """A name in the project that leads to the record."""
    path, name = home.where.record, home.project / "notes.txt"
    match how:
        case "link":
            name.symlink_to(path)
        case "hard link":
            os.link(path, name)
        case "log":
            os.link(f"{path}-wal", name)
    return str(name)


@pytest.mark.processes
@pytest.mark.timeout(300)
@pytest.mark.parametrize("how", ["link", "hard link", "log"])
def test_neither_read_nor_a_mention_opens_the_record_by_any_name(home: Home, how: str) -> None:
    home.write("home/.config/mooring/settings.json", {"permissionMode": "bypass"})
    name = str(home.project / "notes.txt")
    script = [Say("Hello."), Call("Read", {"file_path": name}), Say("I can't."), Say("Fine.")]
    with FakeModel(script) as model, Person(home, "chat", "-m", MODELS["anthropic"], **variables(model)) as chat:
        chat.types("Say hello.")
        chat.sees("Hello.", 60)
        name_otherwise(home, how)
        chat.types("Read the notes.")
        if how == "link":
            # In no mode without a question; and when it is permitted, not at all.
            chat.answers(("Call it?", "y"))
        chat.sees("I can't.", 60)
        chat.types(f"Look at @{name}")
        # What leads into Mooring's own folders was refused before; another name for a file of them wasn't.
        refusal = "is never attached" if how == "link" else "is the record of your conversations"
        chat.sees(refusal, 60)
        chat.types("/exit")
        assert chat.ended() == 0
    (result,) = model.requests[-1].results
    assert "is the record of your conversations" in result.text, result.text
    assert list_prompts(home) == [["Say hello.", "Read the notes."]]


def test_an_argument_from_a_file_is_never_the_record(home: Home, cli: Cli) -> None:
    home.configure(demo=DEMO)
    with Conversing(home, "a") as one:
        one.does("begin", "say 1")
        name = name_otherwise(home, "hard link")
        refused = cli("call", "demo.echo", f"text=@{name}")
        assert (refused.code, refused.err.count("\n")) == (2, 1), refused.err
        assert "is the record of your conversations; to read it: mooring sessions" in refused.err
        one.does("say 1", "close")
    assert read_record(home) == {"a": count_up("a", 2)}


def test_doctor_takes_the_rights_of_others_away_without_opening_the_record(home: Home) -> None:
    with closing(SessionStore(home.where).begin(str(home.cwd), model="m")) as journal:
        journal.add_message(PersonMessage((Text("one"),)))
        path = home.where.record
        for suffix in ("", "-wal", "-shm"):
            os.chmod(f"{path}{suffix}", 0o644)
        for loose in list(find_loose(home.where.state)):
            tighten(loose)
        assert {os.stat(f"{path}{suffix}").st_mode & 0o777 for suffix in ("", "-wal", "-shm")} == {0o600}
        journal.add_message(PersonMessage((Text("two"),)))
    assert list_prompts(home) == [["one", "two"]]


@pytest.mark.processes
def test_doctor_repairs_the_rights_of_a_record_that_a_conversation_has_open(home: Home) -> None:
    files = [f"{home.where.record}{suffix}" for suffix in ("", "-wal", "-shm")]
    with Conversing(home, "a") as one:
        one.does("begin", "say 1")
        for path in files:
            os.chmod(path, 0o644)
        # The process may have the record open itself, as a chat has.
        assert one.does("doctor") == []
        assert {os.stat(path).st_mode & 0o777 for path in files} == {0o600}
        assert run_beside(home, "sessions").code == 0
        assert one.does("say 1", "close") == []
    assert read_record(home) == {"a": count_up("a", 2)}


# --- files of older versions ------------------------------------------------------------------------------------------

OLD_COLUMNS = {
    1: ("parent", "call", "backend", "backend_session", "mode", "expired", "continues", "uncounted"),
    2: ("backend", "backend_session", "mode", "expired", "continues", "uncounted"),
    3: ("mode", "expired", "continues", "uncounted"),
    4: ("continues", "uncounted"),
    5: ("uncounted",),
    6: ("uncounted",),
}


def make_old(home: Home, version: int) -> None:
    """Turn the record into one of an older version."""
    with closing(sqlite3.connect(home.where.record)) as connection, connection:
        if version == 1:
            for index in ("sessions_by_folder", "sessions_by_use", "sessions_by_parent"):
                connection.execute(f"DROP INDEX {index}")
            connection.execute("CREATE INDEX sessions_by_folder ON sessions (folder, used)")
            connection.execute("CREATE INDEX sessions_by_use ON sessions (used)")
        for column in OLD_COLUMNS[version]:
            connection.execute(f"ALTER TABLE sessions DROP COLUMN {column}")
        if version < 6:
            connection.execute("DROP TABLE kept_files")
        connection.execute(f"PRAGMA user_version = {version}")


@pytest.mark.processes
@pytest.mark.parametrize("version", OLD_COLUMNS)
def test_an_older_file_is_upgraded_while_a_process_of_that_version_has_it_open(home: Home, version: int) -> None:
    with Conversing(home, "a") as first:
        first.does("begin", "say 2", "close")
    make_old(home, version)
    add = "INSERT INTO entries (session, number, at, kind, data) SELECT session, ?, at, kind, data FROM entries LIMIT 1"
    begin = "INSERT INTO sessions (id, folder, cwd, agent, model, created, used) VALUES (?, ?, '/', NULL, 'm', 1, ?)"
    with closing(sqlite3.connect(home.where.record, isolation_level=None)) as old:
        old.execute(add, (3,))
        with Conversing(home, "b") as one:
            one.does("begin", "say 2")
            # As the older version writes: it doesn't know that the file has changed.
            old.execute(add, (4,))
            old.execute(begin, ("0123456789ab", str(home.project), time.time()))
            old.execute("UPDATE sessions SET used = ?, title = 'old' WHERE id = '0123456789ab'", (time.time(),))
            old.execute("INSERT INTO entries SELECT '0123456789ab', 1, at, kind, data FROM entries LIMIT 1")
            assert one.does("say 2", "close") == []
    assert read_record(home).keys() == {"a", "b"}
    assert sorted(map(len, list_prompts(home))) == [1, 4, 4]
    with closing(sqlite3.connect(home.where.record)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
