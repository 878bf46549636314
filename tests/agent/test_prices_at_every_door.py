"""What a conversation cost is told at every door: by the provider's own word, by the price list, or as unknown."""

import json
from typing import Any

import pytest
from tests.models import FakeModel, Say, Usage

from backends.asking import variables
from mooring.agents.sessions.store import SessionStore
from mooring.core.conversation.event import TokenUsage
from mooring.verbs.agent.export import write_markdown
from mooring.verbs.agent.sessions import show_session
from support import Home, run_beside

LONG = Usage(input=250_000, output=1_000, cache_read=100_000, thinking=300)
SHORT = Usage(input=1_000, output=100, cache_read=400, thinking=30)

# Gemini 2.5 Pro costs $1.25 for a million tokens of input, $0.125 from the cache and $10 of output; beyond 200,000
# tokens of input $2.50, $0.25 and $15.
SHORT_COST = (600 * 1.25 + 400 * 0.125 + 100 * 10) / 1_000_000
LONG_COST = (150_000 * 2.5 + 100_000 * 0.25 + 1_000 * 15) / 1_000_000


def ask(home: Home, fake: FakeModel, *words: str) -> Any:
    done = run_beside(home, "chat", "-p", "Hi", *words, **variables(fake))
    assert done.code == 0, done.err
    return done.out


@pytest.mark.parametrize(
    ("model", "usage", "cost"),
    [
        ("google:gemini-2.5-pro", SHORT, SHORT_COST),
        ("google:gemini-2.5-pro", LONG, LONG_COST),
        ("openrouter:google/gemini-2.5-pro", Usage(input=1_000, output=100, cost=0.75), 0.75),
    ],
)
def test_what_a_turn_cost_is_the_same_at_every_door(model: str, usage: Usage, cost: float, home: Home) -> None:
    with FakeModel([[Say("Ahoy."), usage]]) as fake:
        answer = json.loads(ask(home, fake, "-m", model, "--output-format", "json"))
    assert answer["cost"] == pytest.approx(cost, rel=1e-9)
    [session] = SessionStore(home.where).list()
    assert session.cost == pytest.approx(cost, rel=1e-9)
    assert f"${cost:.2f}" in run_beside(home, "sessions").out
    assert f"cost ${cost:.2f}" in run_beside(home, "sessions", session.id).out
    assert f"cost ${cost:.2f}" in write_markdown(show_session(home.where, session.id))


def test_a_price_that_nobody_knows_is_unknown_at_every_door_and_so_is_what_it_is_a_part_of(home: Home) -> None:
    with FakeModel([[Say("Ahoy."), SHORT]] * 4) as fake:
        ask(home, fake, "-m", "google:gemini-2.5-pro")
        answer = json.loads(ask(home, fake, "--continue", "-m", "google:gemini-nobody", "--output-format", "json"))
        events = ask(home, fake, "--continue", "--output-format", "stream-json").splitlines()
        text = ask(home, fake, "--continue")
    assert (answer["cost"], answer["usage"]["inputTokens"]) == (None, 1_000)
    told = [event["cost"] for event in map(json.loads, events) if "cost" in event]
    assert told
    assert set(told) == {None}
    assert text == "Ahoy.\n"
    [session] = SessionStore(home.where).list()
    assert (session.cost, session.usage) == (None, TokenUsage(4_000, 400, 1_600, 0))
    listed = run_beside(home, "sessions").out
    assert "unknown" in listed
    shown = run_beside(home, "sessions", session.id).out
    assert "cost unknown" in shown
    exported = write_markdown(show_session(home.where, session.id))
    assert "cost unknown" in exported
    assert "$" not in listed + shown + exported
    assert json.loads(run_beside(home, "sessions", "--json").out)["sessions"][0]["cost"] is None
