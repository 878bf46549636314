"""Conversations that were recorded when models were asked through Pydantic AI go on."""

import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, variables
from support import Home, run_beside

RECORD = Path(__file__).parent / "records" / "through_pydantic_ai.sql"
"""One conversation with each of three models: thoughts, a text, a call, its result, thoughts, a text."""
SESSIONS = {"anthropic": "7e7424d8756b", "openai": "18f93991950e", "google": "9d728b1ee6cc"}
SIGNATURE = "c2lnbmVk"


@pytest.mark.parametrize("word", SESSIONS)
def test_a_conversation_that_was_recorded_through_pydantic_ai_goes_on_with_its_signatures(
    word: str, home: Home
) -> None:
    restore(home)
    with FakeModel([Say("As I said: 3.")]) as fake:
        done = resume(home, word, fake)
    assert (done.code, done.out) == (0, "As I said: 3.\n"), done.err
    asked = fake.requests[0]
    assert asked.first_user_text == f"Add one and two, {word}"
    [call] = asked.messages[1].calls
    assert call.arguments == {"a": 1, "b": 2}
    [result] = asked.messages[2].results
    assert (result.call_id, result.text) == (call.id, '{"sum": 3}')
    assert SIGNATURE in asked.messages[1].signatures
    assert SIGNATURE in asked.messages[3].signatures


@pytest.mark.parametrize("word", SESSIONS)
def test_another_provider_goes_on_with_it_without_what_only_the_first_understands(word: str, home: Home) -> None:
    restore(home)
    with FakeModel([Say("It is 3.")]) as fake:
        done = resume(home, word, fake, MODELS["openai-chat"])
    assert done.code == 0, done.err
    sent: Any = fake.requests[0].body
    assert "Let me see." not in str(sent)
    assert SIGNATURE not in str(sent)


def restore(home: Home) -> None:
    """Lay the record into a home, as if it had been written just now."""
    folder = home.home / ".local/state/mooring"
    folder.mkdir(parents=True, mode=0o700)
    with sqlite3.connect(folder / "sessions.db") as database:
        database.executescript(RECORD.read_text().replace("FOLDER", str(home.cwd)))
        database.execute("UPDATE sessions SET created = ?, used = ?", (time.time(), time.time()))
    database.close()
    (folder / "sessions.db").chmod(0o600)


def resume(home: Home, word: str, fake: FakeModel, model: str | None = None) -> Any:
    chosen = () if model is None else ("-m", model)
    words = ("--demo", "chat", "--resume", SESSIONS[word], *chosen, "-p", "What was it?")
    return run_beside(home, *words, **variables(fake))
