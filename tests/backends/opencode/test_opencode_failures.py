"""What becomes of a conversation when the real OpenCode, or Mooring itself, is killed."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from opencode_talk import DEMO, PATIENCE, OpenCodeHome, Talk, Turn, do, play, talking
from tests.models import Call, FakeModel, Hold, Say
from tests.peers.processes import marked

from mooring.core.conversation.event import TextPiece, ToolFinished

pytestmark = pytest.mark.timeout(400)

# What a program that embeds Mooring does, until it is killed in the middle of a turn.
VICTIM = """
import asyncio, sys
sys.path[:0] = {path!r}
from pathlib import Path
from opencode_talk import OpenCodeHome, do, talking
from tests.models import FakeModel, Hold, Say

class Model:
    openai_url = {url!r}

async def main():
    home = OpenCodeHome(Path({folder!r}), Model())
    async with talking(home) as talk:
        await talk.say(do([Say("Beginning"), Hold("forever")]))

asyncio.run(main())
"""


def make_home(folder: Path, model: FakeModel) -> OpenCodeHome:
    home = OpenCodeHome(folder, model)
    home.configure(demo=DEMO)
    return home


async def kill_in_turn(talk: Talk, model: FakeModel) -> Turn:
    """Kill the program while the model speaks."""
    turn, task = talk.begin(do([Say("Beginning"), Hold("killed")]))
    await turn.wait_for(TextPiece)
    os.kill(talk.pid, signal.SIGKILL)
    async with asyncio.timeout(PATIENCE):
        await task
    model.release("killed")
    assert turn.done.reason == "failed"
    return turn


def test_a_killed_program_ends_the_turn_with_the_cause_and_the_next_turn_knows_what_was_said(tmp_path: Path) -> None:
    async def live(home: OpenCodeHome, model: FakeModel) -> None:
        async with talking(home) as talk:
            await talk.say(do([Say("The word is heron.")]))
            turn = await kill_in_turn(talk, model)
            assert turn.failures == ["OpenCode: its program was ended by signal 9."]
            again = await talk.say(do([Call("demo_add", {"a": 1, "b": 2})]))
            assert again.find_finished("add").success
            assert "The word is heron." in [message.text for message in model.requests[-1].messages]
            assert len(talk.sessions) == 1

    with FakeModel(play, skip_asides=True) as model:
        asyncio.run(live(make_home(tmp_path, model), model))


def test_a_program_that_is_killed_in_its_first_turn_answers_the_next(tmp_path: Path) -> None:
    async def live(home: OpenCodeHome, model: FakeModel) -> None:
        async with talking(home) as talk:
            await kill_in_turn(talk, model)
            again = await talk.say(do([Say("Fine.")]))
            assert (again.text, again.failures) == ("Fine.", [])

    with FakeModel(play, skip_asides=True) as model:
        asyncio.run(live(make_home(tmp_path, model), model))


def test_a_program_that_is_killed_between_turns_is_started_again(tmp_path: Path) -> None:
    async def live(home: OpenCodeHome, model: FakeModel) -> None:
        async with talking(home) as talk:
            await talk.say(do([Say("The word is heron.")]))
            os.kill(talk.pid, signal.SIGKILL)
            # Without a pause: it may not have been noticed yet when the turn begins.
            again = await talk.say(do([Say("Fine.")]))
            assert (again.text, again.failures) == ("Fine.", [])
            assert "The word is heron." in [message.text for message in model.requests[-1].messages]

    with FakeModel(play, skip_asides=True) as model:
        asyncio.run(live(make_home(tmp_path, model), model))


def test_a_program_that_is_killed_in_a_call_leaves_it_finished_once(tmp_path: Path) -> None:
    async def live(home: OpenCodeHome) -> None:
        async with talking(home, servers="native") as talk:
            turn, task = talk.begin(do([Call("demo_slow", {"seconds": 500})]))
            while not talk.person.asked:  # noqa: ASYNC110  # the turn is held up by its own question
                await asyncio.sleep(0.05)
            os.kill(talk.pid, signal.SIGKILL)
            async with asyncio.timeout(PATIENCE):
                await task
            [finished] = turn.find(ToolFinished)
            assert not finished.success
            assert turn.done.reason == "failed"

    with FakeModel(play, skip_asides=True) as model:
        asyncio.run(live(make_home(tmp_path, model)))


def test_nothing_is_left_when_mooring_is_killed_in_a_turn(tmp_path: Path, nonce: str) -> None:
    with FakeModel(play, skip_asides=True) as model:
        make_home(tmp_path, model)
        code = VICTIM.format(path=sys.path, url=model.openai_url, folder=str(tmp_path))
        victim = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "MOORING_TEST": nonce})
        until = time.monotonic() + PATIENCE
        while not model.requests:
            assert victim.poll() is None, "it ended before it asked the model"
            assert time.monotonic() < until, "the model was never asked"
            time.sleep(0.05)
        assert len(marked(nonce)) > 1
        victim.kill()
        victim.wait()
        killed = time.monotonic()
        while marked(nonce) and time.monotonic() - killed < 15:
            time.sleep(0.02)
        assert marked(nonce) == []
        assert time.monotonic() - killed < 15
        model.release("forever")


def test_a_session_goes_on_by_its_own_id_in_another_program(tmp_path: Path) -> None:
    async def live(home: OpenCodeHome, model: FakeModel) -> None:
        async with talking(home) as talk:
            await talk.say(do([Say("The word is heron.")]))
            [session] = talk.sessions
        async with talking(home, resume=session) as talk:
            turn = await talk.say(do([Say("I remember.")]))
            assert turn.text == "I remember."
            assert "The word is heron." in [message.text for message in model.requests[-1].messages]

    with FakeModel(play, skip_asides=True) as model:
        asyncio.run(live(make_home(tmp_path, model), model))


def test_a_session_or_a_model_that_there_is_not_is_named(tmp_path: Path) -> None:
    async def live(home: OpenCodeHome) -> None:
        async with talking(home, resume="ses_nothing") as talk:
            turn = await talk.say("Hello.")
            assert turn.done.reason == "failed"
            assert "ses_nothing" in turn.failures[-1]
        async with talking(home, model="fake/other") as talk:
            turn = await talk.say("Hello.")
            assert turn.done.reason == "failed"
            assert "other" in turn.failures[-1]

    with FakeModel(play, skip_asides=True) as model:
        asyncio.run(live(make_home(tmp_path, model)))


def test_two_conversations_at_once_keep_their_words_and_calls_apart(tmp_path: Path) -> None:
    async def live(home: OpenCodeHome) -> None:
        async with talking(home, session="one") as one, talking(home, session="two") as two:
            prompts = {
                talk: do([Say(f"I am {name}."), Call("demo_echo", {"text": f"nonce-{name}"})])
                for name, talk in (("one", one), ("two", two))
            }
            first, second = await asyncio.gather(*(talk.say(prompt) for talk, prompt in prompts.items()))
            assert one.sessions != two.sessions
            for turn, name, other in ((first, "one", "two"), (second, "two", "one")):
                assert turn.text == f"I am {name}.All done."
                assert turn.find_finished("echo").outcome.text == f"nonce-{name}"
                assert not any(f"nonce-{other}" in str(event) for event in turn.events)
                assert {event.session for event in turn.events} == {name}

    with FakeModel(play, skip_asides=True) as model:
        asyncio.run(live(make_home(tmp_path, model)))
