"""Conversations with other agents' programs on disk: what they tell is kept, and continued with the same program."""

import sqlite3
from contextlib import closing
from typing import Any

from msgspec.structs import replace

from mooring.agents.history import ModelMessage, PersonMessage, ResultsMessage
from mooring.agents.sessions.database import VERSION
from mooring.agents.sessions.store import SessionStore
from mooring.agents.sessions.turn_recorder import TurnRecorder
from mooring.core.conversation.event import (
    ConversationEvent,
    InputAdded,
    TextPiece,
    ThinkingPiece,
    TokensUsed,
    TokenUsage,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnFailed,
    TurnStarted,
)
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.turn import TurnInput
from mooring.core.protocol.content import Image, Text
from mooring.settings import load
from mooring.verbs.agent.choose_backend import SessionStart, choose_backend
from support import Cli, Home, run_beside

STAMP: dict[str, Any] = {"session": "s", "turn": 1}


def make_call(id: str, text: str, *, parent: str | None = None) -> tuple[ConversationEvent, ConversationEvent]:
    """The events of one call that answers with a text."""
    names: dict[str, Any] = {"id": id, "name": "mcp__tides__echo", "server": "tides", "tool": "echo"}
    arguments = {"text": text}
    outcome = Outcome((Text(text),))
    started = ToolStarted(**STAMP, **names, arguments=arguments, parent=parent)
    return started, ToolFinished(**STAMP, **names, arguments=arguments, success=True, outcome=outcome, parent=parent)


def keep_turn(home: Home, *events: ConversationEvent, backend: str = "claude", said: str = "Do it.") -> str:
    """Keep one turn with a program; the id of its session."""
    journal = SessionStore(home.where).begin(str(home.cwd), model="", backend=backend)
    with closing(journal):
        told = TurnRecorder(journal)
        journal.name_backend_session(f"{backend}-1")
        told.begin_turn(TurnInput(said))
        for event in (TurnStarted(**STAMP, backend=backend), *events):
            told.take(event)
    return journal.id


def list_messages(home: Home, id: str) -> list[Any]:
    return [entry.message for entry in SessionStore(home.where).read(id)[1]]


async def test_what_is_said_during_a_turn_of_a_program_is_kept_where_it_is_read_as_a_part_of_the_turn(
    home: Home,
) -> None:
    call, done = make_call("1", "one")
    image = Image(data="AAAA", mime_type="image/png")
    with closing(SessionStore(home.where).begin(str(home.cwd), model="", backend="claude")) as journal:
        told = TurnRecorder(journal)
        told.begin_turn(TurnInput("Do it."))
        told.expect(TurnInput("In blue", (image,)))
        told.expect(TurnInput("never read"))
        for event in (
            call,
            done,
            InputAdded(**STAMP, text="In blue"),
            TextPiece(**STAMP, text="Blue."),
            TurnDone(**STAMP, reason="finished"),
        ):
            told.take(event)
    kinds = [PersonMessage, ModelMessage, ResultsMessage, PersonMessage, ModelMessage]
    messages = list_messages(home, journal.id)
    assert [type(message) for message in messages] == kinds
    assert messages[3] == PersonMessage((Text("In blue"), image), in_turn=True)
    assert SessionStore(home.where).find(journal.id).turns == 1


async def test_what_a_program_tells_is_kept_as_replies_and_results_in_order(home: Home) -> None:
    first, first_done = make_call("1", "one")
    second, second_done = make_call("2", "two")
    pieces = [TextPiece(**STAMP, text=letter) for letter in "On it."]
    used = TokensUsed(**STAMP, model="opus", usage=TokenUsage(10, 5), cost=0.5)
    id = keep_turn(
        home,
        ThinkingPiece(**STAMP, text="hm"),
        *pieces,
        first,
        second,
        second_done,
        first_done,
        TextPiece(**STAMP, text="Done."),
        used,
        TurnDone(**STAMP, reason="finished"),
    )
    said, reply, results, last = list_messages(home, id)
    assert said == PersonMessage((Text("Do it."),))
    assert (reply.text, [call.name for call in reply.calls]) == ("On it.", ["tides.echo", "tides.echo"])
    assert [result.id for result in results.results] == ["2", "1"]
    assert last.text == "Done."
    session = SessionStore(home.where).find(id)
    assert (session.backend, session.backend_session, session.model) == ("claude", "claude-1", "opus")
    assert (session.usage, session.cost, session.turns) == (TokenUsage(10, 5), 0.5, 1)


async def test_a_program_that_prices_turns_and_not_replies_adds_up_to_what_its_turns_cost(home: Home) -> None:
    unpriced = TokensUsed(**STAMP, model="opus", usage=TokenUsage(10, 5))
    first = keep_turn(home, unpriced, unpriced, TurnDone(**STAMP, reason="finished", cost=0.25))
    assert SessionStore(home.where).find(first).cost == 0.25
    never_priced = keep_turn(home, unpriced, TurnDone(**STAMP, reason="finished", cost=None))
    assert SessionStore(home.where).find(never_priced).cost is None


async def test_what_a_sub_agent_does_is_counted_and_not_told_as_the_agent_s_own(home: Home) -> None:
    used = TokensUsed(**STAMP, model="haiku", usage=TokenUsage(7, 3), cost=0.1, parent="1")
    id = keep_turn(home, *make_call("2", "below", parent="1"), used, TurnDone(**STAMP, reason="finished"))
    assert [type(message) for message in list_messages(home, id)] == [PersonMessage]
    session = SessionStore(home.where).find(id)
    assert (session.usage.input_tokens, session.model) == (7, "")


async def test_a_turn_that_is_cut_off_keeps_what_came_and_one_that_begins_anew_drops_it(home: Home) -> None:
    started, _ = make_call("1", "never")
    cut = keep_turn(home, TextPiece(**STAMP, text="I beg"), started)
    reply = list_messages(home, cut)[1]
    assert isinstance(reply, ModelMessage)
    assert (reply.text, len(reply.calls)) == ("I beg", 1)
    retried = keep_turn(
        home,
        TextPiece(**STAMP, text="void"),
        TurnFailed(**STAMP, error="overloaded", retry_in=1.0),
        TextPiece(**STAMP, text="said"),
        TurnDone(**STAMP, reason="finished"),
    )
    assert [message.text for message in list_messages(home, retried)[1:]] == ["said"]


async def test_a_reply_that_its_person_interrupted_is_one_without_an_end(home: Home) -> None:
    piece = TextPiece(**STAMP, text="I beg")
    interrupted = keep_turn(home, piece, TurnDone(**STAMP, reason="interrupted"))
    entry = SessionStore(home.where).read(interrupted)[1][-1]
    assert isinstance(entry.message, ModelMessage)
    assert (entry.message.text, entry.is_cut) == ("I beg", True)
    finished = keep_turn(home, piece, TurnDone(**STAMP, reason="finished"))
    assert not SessionStore(home.where).read(finished)[1][-1].is_cut


async def test_ten_times_as_many_pieces_make_one_text_and_ten_times_as_many_calls_as_many_results(home: Home) -> None:
    calls = [event for number in range(50) for event in make_call(str(number), str(number))]
    pieces = [TextPiece(**STAMP, text="x") for _ in range(20_000)]
    id = keep_turn(home, *pieces, *calls, TurnDone(**STAMP, reason="finished"))
    messages = list_messages(home, id)
    results = [result for message in messages if isinstance(message, ResultsMessage) for result in message.results]
    assert len(results) == 50
    assert messages[1].text == "x" * 20_000


async def test_the_list_says_who_answered_and_the_transcript_too(home: Home, cli: Cli) -> None:
    id = keep_turn(home, TextPiece(**STAMP, text="Hello."), TurnDone(**STAMP, reason="finished"), backend="copilot")
    assert cli("sessions").out.splitlines()[1].split()[5] == "copilot"
    [session] = cli("sessions", "--json").data["sessions"]
    assert (session["backend"], session["backendSession"]) == ("copilot", "copilot-1")
    shown = cli("sessions", id).out
    assert "with copilot" in shown
    assert "Hello." in shown


# --- who answers in a conversation that goes on -----------------------------------------------------------------------


async def test_a_conversation_goes_on_with_whoever_answered_in_it(home: Home) -> None:
    done = TurnDone(**STAMP, reason="finished")
    first = keep_turn(home, done, backend="claude")
    keep_turn(home, done, backend="opencode")
    request, settings = home.request(), load(home.where, None)
    named = choose_backend(None, None, SessionStart(first[:8]), request, settings)
    assert (named.backend, named.session.resume) == ("claude", first)
    assert choose_backend(None, None, SessionStart(newest=True), request, settings).backend == "opencode"
    asked = choose_backend("claude", None, SessionStart(newest=True), request, settings)
    assert (asked.backend, asked.session.resume) == ("claude", first)
    handed_over = choose_backend("copilot", None, SessionStart(first), request, settings)
    assert (handed_over.backend, handed_over.session.handed_over) == ("copilot", first)


async def test_without_a_session_the_option_wins_over_the_setting_and_that_over_a_chosen_model(home: Home) -> None:
    new = SessionStart()
    request, settings = home.request(), load(home.where, None)
    assert choose_backend(None, None, new, request, settings).backend == "manual"
    assert choose_backend(None, "ollama:qwen3", new, request, settings).backend == "api"
    env = {**home.env, "MOORING_MODEL": "ollama:qwen3"}
    with_model = replace(request, where=replace(home.where, env=env))
    assert choose_backend(None, None, new, with_model, settings).backend == "api"
    home.write("home/.config/mooring/settings.json", {"backend": "opencode"})
    chosen = load(home.where, None)
    assert choose_backend(None, "ollama:qwen3", new, request, chosen).backend == "opencode"
    assert choose_backend("manual", None, new, request, chosen).backend == "manual"


def test_a_limit_that_a_program_cannot_follow_is_refused(home: Home) -> None:
    counted = run_beside(home, "chat", "-p", "more", "-b", "copilot", "--max-cost", "3")
    assert (counted.code, "Leave out --max-cost" in counted.err) == (2, True)


# --- files of older versions ------------------------------------------------------------------------------------------


async def test_a_file_of_the_second_version_is_brought_up_to_date_with_all_that_is_in_it(home: Home) -> None:
    id = keep_turn(home, TextPiece(**STAMP, text="kept"), TurnDone(**STAMP, reason="finished"), backend="api")
    path = home.where.record
    with closing(sqlite3.connect(path)) as connection:
        for column in ("backend", "backend_session", "mode", "expired", "continues", "uncounted"):
            connection.execute(f"ALTER TABLE sessions DROP COLUMN {column}")
        connection.execute("DROP TABLE kept_files")
        connection.execute("PRAGMA user_version = 2")
        connection.commit()
    session, transcript = SessionStore(home.where).read(id)
    assert (session.backend, session.backend_session) == ("api", None)
    assert [entry.message.text for entry in transcript[1:]] == ["kept"]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
