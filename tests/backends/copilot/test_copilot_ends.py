"""How turns and programs of the real Copilot end: canceled, crashed, killed, and many of them at once."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from copilot_talk import find_pid, make_caller, make_environment, talk
from tests.backends.program_talk import (
    Person,
    Talk,
    ending_of,
    list_processes,
    make_model,
    patient,
    pick,
    text_of,
    wait_for_end,
)
from tests.models import Call, Hold, ModelRequest, Reply, Say

from mooring.core.conversation.event import (
    QuestionAsked,
    TextPiece,
    ToolFinished,
    ToolStarted,
    TurnFailed,
)
from mooring.core.conversation.question import Allow, Answer, Question
from support import DEMO, Home

pytestmark = pytest.mark.timeout(200)
WAYS = pytest.mark.parametrize("servers", ["shared", "native"])
SLOW = ("demo-slow", {"seconds": 100, "steps": 1})


async def cancel_when(copilot: Talk, text: str, happened: Callable[[], Awaitable[Any]]) -> float:
    """Cancel a turn once something has happened in it; how many seconds that took."""
    turn = asyncio.create_task(copilot.say(text))
    await happened()
    began = time.monotonic()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    return time.monotonic() - began


@WAYS
@patient
async def test_a_turn_is_canceled_in_a_stream_a_call_or_a_question_and_the_next_one_works(
    home: Home, servers: Any
) -> None:
    def reply(request: ModelRequest) -> Reply:
        # What was said in a turn that was cut off stands before it, in the same message.
        word = request.last_user_text.split()[-1]
        if word == "stream":
            return [Say("Once upon a time"), Hold("never")]
        if word in ("call", "question"):
            name, arguments = SLOW
            return Call(name, arguments)
        return Say("Here.")

    async def answer(question: Question) -> Answer:
        await asked.wait()
        return Allow()

    home.configure(demo=DEMO)
    person, asked = Person(answer), asyncio.Event()
    asked.set()
    async with make_model(reply) as fake, talk(home, fake, person=person, servers=servers) as copilot:
        pid = await warm_up(copilot)
        await cancel_when(copilot, "stream", lambda: copilot.wait_for(TextPiece))
        assert ending_of(copilot.events).reason == "interrupted"
        assert len(fake.abandoned) == 1
        copilot.events.clear()
        await cancel_when(copilot, "call", lambda: copilot.wait_for(ToolStarted))
        [finished] = pick(copilot.events, ToolFinished)
        assert (finished.success, finished.canceled) == (False, True)
        copilot.events.clear()
        asked.clear()
        await cancel_when(copilot, "question", lambda: copilot.wait_for(QuestionAsked))
        assert len(pick(copilot.events, ToolFinished)) == 1
        assert text_of(await copilot.say("And now?")) == "Here."
        assert find_pid(copilot) == pid


async def warm_up(copilot: Talk) -> int:
    """Have the program started by a first turn; its process."""
    await copilot.say("Hello.")
    copilot.events.clear()
    return find_pid(copilot)


@patient
async def test_a_program_that_dies_in_a_turn_ends_it_with_the_cause_and_the_next_turn_remembers(home: Home) -> None:
    def reply(request: ModelRequest) -> Reply:
        if "Wait" in request.last_user_text:
            return [Say("Wait"), Hold("never")]
        return Say("Noted.")

    async with make_model(reply) as fake, talk(home, fake) as copilot:
        await copilot.say("My boat is called Petrel.")
        killed = find_pid(copilot)
        copilot.events.clear()
        turn = asyncio.create_task(copilot.say("Wait for me."))
        await copilot.wait_for(TextPiece)
        os.kill(killed, signal.SIGKILL)
        events = await turn
        after = await copilot.say("What is it called?")
        assert find_pid(copilot) != killed
    [failure] = pick(events, TurnFailed)
    assert "Copilot: its program was ended by signal 9" in failure.error
    assert ending_of(events).reason == "failed"
    assert text_of(after) == "Noted."
    assert any("Petrel" in message.text for message in fake.requests[-1].messages)
    assert len(set(copilot.sessions)) == 1


def wait_unless_told_to_work(request: ModelRequest) -> Reply:
    # The prompt of a turn that was cut off comes again, in one message with the next.
    return Say("Fine.") if "Work." in request.last_user_text else [Say("Wait"), Hold("never")]


async def kill_in_first_turn(copilot: Talk) -> None:
    turn = asyncio.create_task(copilot.say("Wait for me."))
    await copilot.wait_for(TextPiece)
    os.kill(find_pid(copilot), signal.SIGKILL)
    assert ending_of(await turn).reason == "failed"


@patient
async def test_a_program_that_is_killed_in_its_first_turn_answers_the_next(home: Home) -> None:
    async with make_model(wait_unless_told_to_work) as fake, talk(home, fake) as copilot:
        await kill_in_first_turn(copilot)
        assert text_of(await copilot.say("Work.")) == "Fine."


@patient
async def test_a_program_that_is_killed_before_it_saved_anything_says_so_once_and_starts_anew(home: Home) -> None:
    async with make_model(wait_unless_told_to_work) as fake, talk(home, fake) as copilot:
        await kill_in_first_turn(copilot)
        forget_sessions(home)
        events = await copilot.say("Work.")
        later = await copilot.say("Work.")
    [failure] = pick(events, TurnFailed)
    assert failure.error == "Copilot ended before it saved the conversation, so it starts over without it."
    assert failure.retry_in == 0
    assert (text_of(events), ending_of(events).reason) == ("Fine.", "finished")
    assert (text_of(later), pick(later, TurnFailed)) == ("Fine.", [])


def forget_sessions(home: Home) -> None:
    """Have it as if the program was killed a moment earlier: it saves what was said up to a second later."""
    for saved in home.folder.rglob("session-state/*/events.jsonl"):
        saved.unlink()


@patient
async def test_a_program_that_is_killed_before_its_first_turn_answers_it(home: Home) -> None:
    async with make_model(lambda request: Say("Fine.")) as fake, talk(home, fake) as copilot:
        await copilot.backend._start
        os.kill(find_pid(copilot), signal.SIGKILL)
        events = await copilot.say("Work.")
    assert (text_of(events), pick(events, TurnFailed)) == ("Fine.", [])


@patient
async def test_a_program_that_dies_between_turns_is_started_again(home: Home) -> None:
    async with make_model(lambda request: Say("Noted.")) as fake, talk(home, fake) as copilot:
        await copilot.say("My boat is called Petrel.")
        os.kill(find_pid(copilot), signal.SIGKILL)
        after = await copilot.say("What is it called?")
    assert text_of(after) == "Noted."
    assert any("Petrel" in message.text for message in fake.requests[-1].messages)


@patient
async def test_ten_turns_leave_as_many_processes_as_one(home: Home, nonce: str) -> None:
    home.configure(demo=DEMO)
    async with (
        make_caller(("demo-add", {"a": 1, "b": 2})) as fake,
        talk(home, fake, person=Person(Allow()), servers="native") as copilot,
    ):
        await copilot.say("Once.")
        before = list_processes(nonce)
        for _ in range(10):
            assert ending_of(await copilot.say("Again.")).reason == "finished"
        assert list_processes(nonce) == before


@WAYS
@patient
async def test_nothing_crosses_between_two_conversations_at_once(tmp_path: Path, servers: Any) -> None:
    async def converse(name: str) -> tuple[list[ModelRequest], str]:
        home = Home(tmp_path / name)
        home.configure(demo=DEMO)
        async with (
            make_caller(("demo-note", {"text": name})) as fake,
            talk(home, fake, person=Person(Allow()), servers=servers) as copilot,
        ):
            for _ in range(3):
                events = await copilot.say(f"I am {name}.")
            return fake.requests, text_of(events)

    mine, yours = os.urandom(8).hex(), os.urandom(8).hex()
    (left, left_text), (right, right_text) = await asyncio.gather(converse(mine), converse(yours))
    assert yours not in str(left) + left_text
    assert mine not in str(right) + right_text
    assert len(left) == len(right) == 6


CONVERSE = """
import asyncio, sys
from pathlib import Path
from copilot_talk import talk
from tests.backends.program_talk import Person
from mooring.core.conversation.question import Allow
from mooring.core.conversation.event import ToolStarted
from support import Home

class Fake:
    openai_url = sys.argv[2]

async def main():
    async with talk(Home(Path(sys.argv[1])), Fake(), person=Person(Allow()), servers=sys.argv[3]) as copilot:
        turn = asyncio.create_task(copilot.say("Go."))
        await copilot.wait_for(ToolStarted)
        print("calling", flush=True)
        await turn

asyncio.run(main())
"""


@WAYS
def test_nothing_is_left_when_mooring_itself_is_killed(home: Home, nonce: str, servers: str) -> None:
    home.configure(demo=DEMO)
    with make_caller(SLOW) as fake:
        make_environment(home, fake)
        here = Path(__file__).parent
        paths = [str(here), str(here.parents[1]), str(here.parents[2])]
        mooring = subprocess.Popen(
            [sys.executable, "-c", CONVERSE, str(home.folder), fake.openai_url, servers],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdout=subprocess.PIPE,
        )
        assert mooring.stdout is not None
        try:
            assert mooring.stdout.readline() == b"calling\n"
            # Mooring itself, the program, and whatever servers the program has started.
            assert len(list_processes(nonce)) >= 2
        finally:
            mooring.kill()
            mooring.communicate()
        assert wait_for_end(nonce) == []
