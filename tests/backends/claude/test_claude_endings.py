"""How turns and programs end: canceled, killed, closed; what is left of them, and what the next turn knows."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from claude_talk import MarkedHome, last_words, talk
from tests.backends.program_talk import KEY, Person, Talk, ending_of, make_model, patient, pick, text_of, wait_for_end
from tests.models import Call, Hold, ModelRequest, Reply, Say

from mooring.core.conversation.event import (
    QuestionAsked,
    TextPiece,
    ToolFinished,
    TurnDone,
    TurnFailed,
)
from mooring.core.conversation.question import Allow
from mooring.testing.site import ReceivedRequest, Site
from support import DEMO, Home, running

pytestmark = pytest.mark.timeout(200)
PROMISE = 3.0
"""Seconds until nothing is left after Mooring was killed."""


def reply_as_told(request: ModelRequest) -> Reply:
    """The person says what to do."""
    match last_words(request).split()[-1]:
        case "Stream.":
            return [Say("So far. "), Hold("stream"), Say("Never.")]
        case "Wait." if not request.results:
            return Call("mcp__demo__slow", {"seconds": 600})
        case _:
            return Say("Fine.")


async def cancel_when(conversation: Talk, words: str, ready: Callable[[], Awaitable[object]]) -> TurnDone:
    """Take a turn, and cancel it as soon as something has happened."""
    turn = asyncio.ensure_future(conversation.say(words))
    waiting = asyncio.ensure_future(ready())
    await asyncio.wait({turn, waiting}, return_when=asyncio.FIRST_COMPLETED)
    assert not turn.done()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    return ending_of(conversation.events)


def said(request: ModelRequest) -> str:
    return " ".join(message.text for message in request.messages)


# --- canceled ---------------------------------------------------------------------------------------------------------


@patient
async def test_a_turn_that_is_canceled_while_the_model_speaks_ends_and_the_next_one_works(home: Home) -> None:
    with make_model(reply_as_told) as model:
        async with talk(home, model) as conversation:
            done = await cancel_when(conversation, "Stream.", lambda: conversation.wait_for(TextPiece))
            assert (done.reason, done.turn) == ("interrupted", 1)
            [before] = list_programs()
            events = await conversation.say("Work.")
            assert list_programs() == [before], "the program went on"
        model.release("stream")
    assert text_of(events) == "Fine."
    assert "Stream." in said(model.requests[-1])


@pytest.mark.parametrize("servers", ["shared", "native"])
@patient
async def test_a_call_that_is_canceled_reaches_the_server_and_is_told_as_ended(home: Home, servers: str) -> None:
    called = asyncio.Event()

    async def never_answer(heard: ReceivedRequest) -> None:
        called.set()
        await asyncio.sleep(600)

    def reply(request: ModelRequest) -> Reply:
        return Call("mcp__web__echo", {"text": "hi"}) if last_words(request) == "Call." else Say("Fine.")

    with make_model(reply) as model:
        async with Site() as site:
            site.answers["tools/call"] = never_answer
            home.configure(web={"type": "http", "url": site.url})
            async with talk(home, model, person=Person(Allow()), servers=servers) as conversation:
                done = await cancel_when(conversation, "Call.", called.wait)
                assert done.reason == "interrupted"
                [finished] = pick(conversation.events, ToolFinished)
                assert (finished.server, finished.tool, finished.success) == ("web", "echo", False)
                assert text_of(await conversation.say("Work.")) == "Fine."
            assert len(site.said("tools/call")) == 1
            if servers == "shared":
                assert len(site.said("notifications/cancelled")) == 1


@patient
async def test_a_turn_can_be_canceled_while_the_person_is_asked(home: Home) -> None:
    home.configure(demo=DEMO)
    dropped = asyncio.Event()

    class Hesitant(Person):
        async def ask(self, question: object) -> Allow:
            try:
                await asyncio.sleep(600)
            finally:
                dropped.set()
            return Allow()

    with make_model(reply_as_told) as model:
        async with talk(home, model, person=Hesitant()) as conversation:
            done = await cancel_when(conversation, "Wait.", lambda: conversation.wait_for(QuestionAsked))
            assert done.reason == "interrupted"
            await asyncio.wait_for(dropped.wait(), 10)
            assert text_of(await conversation.say("Work.")) == "Fine."


# --- killed -----------------------------------------------------------------------------------------------------------


def list_programs() -> list[str]:
    """The running programs of Claude Code that this test started."""
    mark = os.environ["MOORING_TEST"]
    found = [pid for pid in running(mark) if b"_bundled/claude" in read_command(pid)]
    # What it starts itself has its command line for a moment, until it has become another program.
    return [pid for pid in found if find_parent(pid) not in found]


def find_parent(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
    except OSError:
        return ""


def read_command(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0]
    except OSError:
        return b""


@patient
async def test_a_program_that_is_killed_ends_the_turn_and_the_next_goes_on_with_what_was_said(home: Home) -> None:
    with make_model(reply_as_told) as model:
        async with talk(home, model) as conversation:
            await conversation.say("Remember the anchor.")
            turn = asyncio.ensure_future(conversation.say("Stream."))
            await conversation.wait_for(TextPiece, lambda piece: piece.turn == 2)
            [pid] = list_programs()
            os.kill(int(pid), signal.SIGKILL)
            killed = await turn
            assert ending_of(killed).reason == "failed"
            [failure] = pick(killed, TurnFailed)
            assert "Claude Code was ended by SIGKILL" in failure.error
            events = await conversation.say("Work.")
            assert text_of(events) == "Fine."
            assert len(list_programs()) == 1
        model.release("stream")
    assert "Remember the anchor." in said(model.requests[-1])
    assert len(conversation.sessions) == 1


@patient
async def test_a_program_that_is_killed_between_turns_is_started_again(home: Home) -> None:
    with make_model(reply_as_told) as model:
        async with talk(home, model) as conversation:
            await conversation.say("Remember the anchor.")
            [pid] = list_programs()
            os.kill(int(pid), signal.SIGKILL)
            # Without a pause: it may not have been noticed yet when the turn begins.
            assert text_of(await conversation.say("Work.")) == "Fine."
    assert "Remember the anchor." in said(model.requests[-1])


async def kill_in_first_turn(conversation: Talk) -> None:
    turn = asyncio.ensure_future(conversation.say("Stream."))
    await conversation.wait_for(TextPiece)
    [pid] = list_programs()
    os.kill(int(pid), signal.SIGKILL)
    assert ending_of(await turn).reason == "failed"


@patient
async def test_a_program_that_is_killed_in_its_first_turn_starts_anew(home: Home) -> None:
    with make_model(reply_as_told) as model:
        async with talk(home, model) as conversation:
            await kill_in_first_turn(conversation)
            assert text_of(await conversation.say("Work.")) == "Fine."
        model.release("stream")


@patient
async def test_a_program_that_is_killed_before_it_saved_anything_says_so_once_and_starts_anew(home: Home) -> None:
    with make_model(reply_as_told) as model:
        async with talk(home, model) as conversation:
            await kill_in_first_turn(conversation)
            forget_sessions(home)
            events = await conversation.say("Work.")
            later = await conversation.say("Work.")
        model.release("stream")
    [failure] = pick(events, TurnFailed)
    assert failure.error == "Claude Code ended before it saved the conversation, so it starts over without it."
    assert failure.retry_in == 0
    assert (text_of(events), ending_of(events).reason) == ("Fine.", "finished")
    assert (text_of(later), pick(later, TurnFailed)) == ("Fine.", [])
    lost, new = conversation.sessions
    assert lost != new


def forget_sessions(home: Home) -> None:
    """Have it as if the program was killed a moment earlier: it saves a session some time after it names it."""
    for saved in (home.home / ".claude" / "projects").rglob("*.jsonl"):
        saved.unlink()


@patient
async def test_a_later_conversation_goes_on_by_the_session_that_it_is_given(home: Home) -> None:
    with make_model(reply_as_told) as model:
        async with talk(home, model) as first:
            await first.say("Remember the anchor.")
        [session] = first.sessions
        async with talk(home, model, resume=session) as second:
            await second.say("Work.")
    assert "Remember the anchor." in said(model.requests[-1])
    assert second.sessions in ([], [session])


@patient
async def test_a_session_that_is_gone_is_said_and_nothing_is_left_running(home: Home) -> None:
    with make_model(reply_as_told) as model:
        async with talk(home, model, resume="00000000-0000-4000-8000-000000000000") as conversation:
            events = await conversation.say("Work.")
            assert list_programs() == []
    assert ending_of(events).reason == "failed"
    [failure] = pick(events, TurnFailed)
    assert "No conversation found" in failure.error


SCRIPT = """
import asyncio, sys
sys.path[:0] = {paths!r}
from pathlib import Path
from claude_talk import MarkedHome, talk
from tests.backends.program_talk import Person
from mooring.core.conversation.question import Allow

class Model:
    anthropic_url = {url!r}

async def main():
    async with talk(MarkedHome(Path({folder!r})), Model(), person=Person(Allow()), servers={servers!r}) as conversation:
        await conversation.say("Wait.")

asyncio.run(main())
"""


@pytest.mark.parametrize("servers", ["shared", "native"])
def test_nothing_is_left_three_seconds_after_mooring_was_killed(home: Home, nonce: str, servers: str) -> None:
    home.configure(demo=DEMO)
    with make_model(reply_as_told) as model:
        code = SCRIPT.format(paths=sys.path, url=model.anthropic_url, folder=str(home.folder), servers=servers)
        started = subprocess.Popen([sys.executable, "-c", code], env=dict(os.environ))
        try:
            wait_until_called()
        finally:
            started.kill()
            started.wait()
        assert wait_for_end(nonce, 5 * PROMISE) == []


def wait_until_called() -> None:
    until = time.monotonic() + 120
    mark = os.environ["MOORING_TEST"]
    while not (list_programs() and any(b"mooring.demo" in read_whole(pid) for pid in running(mark))):
        assert time.monotonic() < until
        time.sleep(0.05)


def read_whole(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


# --- many -------------------------------------------------------------------------------------------------------------


@patient
async def test_ten_turns_take_one_program_and_its_processes_do_not_grow(home: Home) -> None:
    home.configure(demo=DEMO)

    def reply(request: ModelRequest) -> Reply:
        return Say("Done.") if request.results else Call("mcp__demo__echo", {"text": "hi"})

    counts: list[int] = []
    with make_model(reply) as model:
        async with talk(home, model, person=Person(Allow("session"))) as conversation:
            [mark] = [os.environ["MOORING_TEST"]]
            for number in range(10):
                events = await conversation.say(f"Turn {number}.")
                assert ending_of(events).reason == "finished"
                counts.append(len(running(mark)))
            [only] = list_programs()
            assert only
    assert max(counts[1:]) <= counts[1]


@patient
async def test_nothing_of_one_conversation_reaches_another(home: Home, tmp_path: Path) -> None:
    other = MarkedHome(tmp_path / "other")
    words = {"one": os.urandom(8).hex(), "two": os.urandom(8).hex()}

    def reply(request: ModelRequest) -> Reply:
        [word] = [word for word in words.values() if word in said(request)]
        if request.results:
            return Say(f"Kept {word}.")
        return Call("mcp__demo__echo", {"text": word})

    people = {name: Person(Allow()) for name in words}
    with make_model(reply) as model:
        for each in (home, other):
            each.configure(demo=DEMO)
        async with (
            talk(home, model, person=people["one"]) as one,
            talk(other, model, person=people["two"]) as two,
        ):
            told = await asyncio.gather(
                *(one.say(f"Keep {words['one']}.") for _ in range(1)), two.say(f"Keep {words['two']}.")
            )
            told += await asyncio.gather(one.say(f"Again {words['one']}."), two.say(f"Again {words['two']}."))
    for request in model.requests:
        assert sum(word in str(request.body) for word in words.values()) == 1
    for events, word in zip(told, [*words.values()] * 2, strict=True):
        assert text_of(events) == f"Kept {word}."
    for name, person in people.items():
        assert [question.arguments for question in person.asked] == [{"text": words[name]}] * 2
    assert one.sessions != two.sessions
    assert KEY not in repr(told)
