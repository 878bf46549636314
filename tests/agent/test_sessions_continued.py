"""`mooring chat` killed in the middle of a reply, and continued by another process."""

import subprocess
import time

import pytest
from tests.models import Call, FakeModel, Hold, Say

from backends.asking import MODELS, variables
from chat.terminal import Person
from mooring.agents.history import ModelMessage
from mooring.agents.sessions.store import SessionStore
from support import WATCHED, Home, run_beside
from warm import WarmProcess, start_mooring


def start_chat(home: Home, env: dict[str, str], prompt: str) -> "WarmProcess | subprocess.Popen[bytes]":
    command = ["--demo", "chat", "-m", "anthropic:scripted", "-p", prompt]
    return start_mooring(
        command, cwd=home.cwd, env={**home.env, **WATCHED, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def wait_for_text(home: Home, text: str) -> None:
    """Wait until the file has what the model said."""
    store = SessionStore(home.where)
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline:
        for session in store.list():
            messages = [entry.message for entry in store.read(session.id)[1]]
            if any(isinstance(each, ModelMessage) and each.text == text for each in messages):
                return
        time.sleep(0.05)
    raise AssertionError(f"{text!r} was never stored")


@pytest.mark.processes
@pytest.mark.timeout(300)
def test_a_chat_that_is_killed_in_the_middle_of_a_word_goes_on_with_what_it_had_said(home: Home) -> None:
    script = [[Say("It is half a sen"), Hold("never")], Say("Now it is a whole one.")]
    with FakeModel(script) as model:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": model.anthropic_url}
        with start_chat(home, env, "Say a sentence.") as chat:
            wait_for_text(home, "It is half a sen")
            chat.kill()
        words = ("--demo", "chat", "-m", "anthropic:scripted", "--continue", "-p", "Go on.")
        done = run_beside(home, *words, **env)
    assert (done.code, done.out) == (0, "Now it is a whole one.\n"), done.err
    assert [message.text for message in model.requests[1].messages] == ["Say a sentence.", "It is half a sen", "Go on."]
    [line] = run_beside(home, "sessions").out.splitlines()[1:]
    assert line.split()[3] == "2"
    assert line.endswith("Say a sentence.")


@pytest.mark.processes
@pytest.mark.timeout(300)
def test_a_chat_whose_terminal_is_closed_is_all_there_later(home: Home) -> None:
    with FakeModel([Say("It is red."), Say("As I said: red.")]) as model:
        words = ("chat", "-m", MODELS["anthropic"])
        with Person(home, *words, **variables(model)) as chat:
            chat.types("Which color is it?")
            chat.sees("It is red.", 60)
            chat.sees("\n> ", 60)
            chat.closes_the_window()
        done = run_beside(home, *words, "--continue", "-p", "Which?", **variables(model))
    assert (done.code, done.out) == (0, "As I said: red.\n"), done.err
    assert [message.text for message in model.requests[1].messages] == ["Which color is it?", "It is red.", "Which?"]


@pytest.mark.processes
@pytest.mark.timeout(300)
def test_two_conversations_of_one_folder_are_continued_apart(home: Home) -> None:
    script = {
        "red": [Call("mcp__demo__add", {"a": 1, "b": 2}), Say("Red it is."), Say("Still red.")],
        "blue": [Say("Blue it is."), Say("Still blue.")],
    }
    with FakeModel(script) as model:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": model.anthropic_url}
        words = ("--demo", "chat", "-m", "anthropic:scripted", "-p")
        for color in ("red", "blue"):
            assert run_beside(home, *words, f"My color is {color}.", **env).code == 0
        ids = {each.title: each.id for each in SessionStore(home.where).list()}
        newest = run_beside(home, *words, "Which?", "--continue", **env)
        other = run_beside(home, *words, "Which?", "--resume", ids["My color is red."][:8], **env)
    assert (newest.out, other.out) == ("Still blue.\n", "Still red.\n"), (newest.err, other.err)
    assert [message.text for message in model.requests[-1].messages if message.text][-2:] == ["Red it is.", "Which?"]
