"""The conversations of one chat, one after another: begun, gone back to, listed, and what each takes."""

import re
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.models import Call, FakeModel, Say, Usage

from backends.asking import MODELS, variables
from chat.terminal import Person
from mooring.agents.sessions.store import SessionStore
from mooring.core.conversation.event import TokenUsage
from support import DEMO, Home, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

READY, CALL_IT = "\n> ", 'because …"): '
MODEL = MODELS["anthropic"]


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    """A model that adds where it is asked to, and else says what it was asked last."""

    def reply(request: Any) -> Any:
        if request.results:
            return Say(f"It is {request.results[-1].text}.")
        said = request.last_user_text
        return Call("mcp__demo__add", {"a": 2, "b": 40}) if "Add" in said else Say(f"You said: {said}")

    with FakeModel(reply) as fake:
        yield fake


def meet(home: Home, fake: FakeModel, *words: str) -> Person:
    return Person(home, "chat", *words, cells=100, **variables(fake))


def say(person: Person, words: str, reply: str) -> None:
    person.answers((READY, words))
    person.sees(reply)
    person.sees("tokens in")


def run(person: Person, line: str, *picked: str) -> str:
    """What a command shows, which may have something picked."""
    person.answers((READY, line))
    person.sees(line)
    shown = "".join(_pick(person, each) for each in picked)
    shown += person.sees(READY)
    person.types("")
    return shown


def _pick(person: Person, typed: str) -> str:
    shown = person.sees("Enter goes back: ")
    person.types(typed)
    return shown


def leave(person: Person) -> None:
    person.answers((READY, "/quit"))
    assert person.ended() == 0, person.shown
    assert "Traceback" not in person.raw


# --- help -------------------------------------------------------------------------------------------------------------


def test_help_describes_a_chat_with_a_model_only_where_a_model_answers(home: Home, fake: FakeModel) -> None:
    home.configure(demo=DEMO)
    with meet(home, fake, "-b", "manual") as person:
        shown = run(person, "/help")
        assert "Describe a task, pick one of the tools that fit" in shown
        assert "Say what you want done" not in shown
        leave(person)
    with meet(home, fake, "-m", MODEL) as person:
        shown = run(person, "/help")
        assert f"Say what you want done: {MODEL} answers, with the tools of your servers." in shown
        assert "pick one of the tools" not in shown
        leave(person)


def test_the_name_of_a_tool_alone_opens_the_tool_and_no_model_is_paid_for_it(home: Home, fake: FakeModel) -> None:
    home.configure(demo=DEMO)
    with meet(home, fake, "-m", MODEL, "--allow", "demo.*") as person:
        person.answers((READY, "/tools echo"), (READY, "demo.echo"), ("text (text, required): ", "ahoy"))
        person.sees("ahoy")
        person.sees(READY)
        assert fake.requests == []
        person.types("demo.nothing here")
        person.sees("You said: demo.nothing here")
        leave(person)


# --- another conversation ---------------------------------------------------------------------------------------------


def test_a_new_conversation_knows_nothing_of_the_one_before_which_goes_on_when_it_is_resumed(
    home: Home, fake: FakeModel
) -> None:
    with meet(home, fake, "-m", MODEL) as person:
        say(person, "My boat is red.", "You said: My boat is red.")
        person.answers((READY, "/new"))
        first = re.search(r"/resume (\w+)", person.sees(f"{MODEL} answers.")) or pytest.fail("no command")
        say(person, "Two.", "You said: Two.")
        assert [message.text for message in fake.requests[-1].messages] == ["Two."]
        person.answers((READY, f"/resume {first[1]}"))
        person.sees('Continuing "My boat is red." (1 turn, ')
        person.sees("You said: My boat is red.")
        say(person, "Three.", "You said: Three.")
        sent = [message.text for message in fake.requests[-1].messages]
        assert sent == ["My boat is red.", "You said: My boat is red.", "Three."]
        person.answers((READY, f"/resume {first[1]}"))
        person.sees("You are in that conversation.")
        person.answers((READY, "/resume nowhere"))
        person.sees("There is no session 'nowhere'.")
        say(person, "Four.", "You said: Four.")
        person.answers((READY, "/quit"))
        # Leaving names the conversation that the chat was in last.
        person.sees(f"mooring chat --resume {first[1]}")
        assert person.ended() == 0
    by_title = {session.title: session for session in SessionStore(home.where).list()}
    assert {title: session.turns for title, session in by_title.items()} == {"My boat is red.": 3, "Two.": 1}
    assert [session.open_in for session in by_title.values()] == [None, None]


def test_conversations_are_listed_and_one_that_another_chat_has_open_is_refused(home: Home, fake: FakeModel) -> None:
    with meet(home, fake, "-m", MODEL) as person, meet(home, fake, "-m", MODEL) as other:
        say(other, "Hers.", "You said: Hers.")
        say(person, "His.", "You said: His.")
        ids = {session.title: session.id for session in SessionStore(home.where).list()}
        shown = run(person, "/sessions")
        answerer = MODEL.partition(":")[2]
        assert re.search(rf"\*{ids['His.']} .* 1 turn +{answerer} +His\.", shown)
        assert re.search(rf"  {ids['Hers.']} .* 1 turn +open elsewhere +Hers\.", shown)
        person.answers((READY, f"/resume {ids['Hers.']}"))
        person.sees(f"The session {ids['Hers.']} is open in another process")
        # Both go on where they were.
        say(person, "Still his.", "You said: Still his.")
        say(other, "Still hers.", "You said: Still hers.")
        leave(other)
        person.answers((READY, f"/resume {ids['Hers.']}"))
        person.sees("You said: Still hers.")
        leave(person)


def test_what_was_allowed_for_the_session_holds_in_the_next_conversation_and_bypass_does_not(
    home: Home, fake: FakeModel
) -> None:
    home.configure(demo=DEMO)
    with meet(home, fake, "-m", MODEL) as person:
        person.answers((READY, "Add."), (CALL_IT, "s"))
        person.sees("It is ")
        person.answers((READY, "/new"))
        say(person, "Add again.", "It is ")
        leave(person)
    assert person.shown.count("Call it?") == 1
    with meet(home, fake, "-m", MODEL, "--permission-mode", "bypass") as person:
        say(person, "Add.", "It is ")
        person.answers((READY, "/new"), (READY, "Add again."), (CALL_IT, "n"))
        person.sees("It is ")
        leave(person)
    first = SessionStore(home.where).list()[-1]
    with meet(home, fake, "-m", MODEL, "--permission-mode", "bypass") as person:
        person.answers((READY, f"/resume {first.id}"))
        person.sees("Permissions are no longer bypassed: the mode is ask.")
        person.answers((READY, "Add again."), (CALL_IT, "n"))
        person.sees("It is ")
        leave(person)


def test_a_call_that_waited_when_a_chat_was_killed_is_asked_about_when_its_conversation_is_resumed(
    home: Home, fake: FakeModel
) -> None:
    home.configure(demo=DEMO)
    with meet(home, fake, "-m", MODEL) as person:
        person.answers((READY, "Add."))
        person.sees(CALL_IT)
        person.is_sent(signal.SIGKILL)
        person.ended()
    [cut] = SessionStore(home.where).list()
    with meet(home, fake, "-m", MODEL) as person:
        say(person, "Something else.", "You said: Something else.")
        person.answers((READY, f"/resume {cut.id}"))
        person.sees('Continuing "Add."')
        person.answers((CALL_IT, "o"))
        person.sees('It is {"sum": 42}.')
        say(person, "Thanks.", "You said: Thanks.")
        leave(person)


def test_tab_completes_the_commands_and_what_they_take(home: Home, fake: FakeModel) -> None:
    with meet(home, fake, "-m", MODEL) as person:
        say(person, "One.", "You said: One.")
        [kept] = SessionStore(home.where).list()
        run(person, "/sessions")
        # What follows a completed line makes it one that is refused, and repeated.
        for keys, line in {
            "/mode pl\tX": "There is no mode 'planX'.",
            "/back\topencod\tX": "There is no backend 'opencodeX'.",
            f"/resu\t{kept.id[:4]}\tX": f"There is no session '{kept.id}X'.",
            "/cont\tprom\tX": "Usage: /context, or /context prompt",
        }.items():
            person.sees(READY)
            person.presses(f"{keys}\r")
            person.sees(line)
        leave(person)


# --- somebody else ----------------------------------------------------------------------------------------------------


def test_another_model_goes_on_in_a_new_conversation_with_the_transcript_as_text(home: Home, fake: FakeModel) -> None:
    other_model = MODELS["openai"]
    with meet(home, fake, "-m", MODEL) as person, meet(home, fake, "-m", MODEL) as other:
        say(other, "Hers.", "You said: Hers.")
        say(person, "My boat is red.", "You said: My boat is red.")
        [old] = [session for session in SessionStore(home.where).list() if session.title == "My boat is red."]
        person.answers((READY, f"/model {other_model}"))
        person.sees(f"Continues {old.id}, which was with {MODEL}, as a new conversation.")
        person.sees(f"{other_model} answers.")
        person.answers((READY, "Two."))
        person.sees("Two.")
        person.sees("tokens in")
        assert fake.requests[-1].model == other_model.partition(":")[2]
        sent = "\n".join(message.text for message in fake.requests[-1].messages)
        assert f'<earlier-conversation id="{old.id}" with="{MODEL}">' in sent
        assert "User:\n  My boat is red." in sent
        assert "Hers." not in sent
        # The other chat stays with its own model, in its own conversation.
        say(other, "Still hers.", "You said: Still hers.")
        assert fake.requests[-1].model == MODEL.partition(":")[2]
        leave(person)
        leave(other)
    by_title = {session.title: session for session in SessionStore(home.where).list()}
    assert {title: session.continues for title, session in by_title.items()} == {
        "My boat is red.": None,
        "Two.": old.id,
        "Hers.": None,
    }


def test_a_backend_is_left_for_another_and_what_was_said_comes_along_when_a_model_answers_again(
    home: Home, fake: FakeModel
) -> None:
    home.configure(demo=DEMO)
    with meet(home, fake, "-m", MODEL) as person:
        person.answers((READY, "Add."), (CALL_IT, "s"))
        person.sees("It is ")
        [old] = SessionStore(home.where).list()
        person.answers((READY, "/backend none"))
        person.sees(f"Continues {old.id}, which was with {MODEL}, as a new conversation.")
        person.sees("No model connected")
        person.answers((READY, "/call demo.add a=1 b=2"))
        person.sees('{"sum": 3}')
        asked = len(fake.requests)
        person.answers((READY, "/help"))
        person.sees("Describe a task")
        # The model that answered here last answers again.
        person.answers((READY, "/backend api"))
        person.sees(f"Continues {old.id} as a new conversation.")
        person.sees(f"{MODEL} answers.")
        assert len(fake.requests) == asked
        say(person, "Add again.", "It is ")
        sent = "\n".join(message.text for message in fake.requests[-1].messages)
        assert f'<earlier-conversation id="{old.id}" with="{MODEL}">' in sent
        leave(person)
    assert person.shown.count("Call it?") == 1  # what was allowed for the session still is
    assert [session.continues for session in SessionStore(home.where).list()] == [old.id, None]


def test_bypass_ends_with_the_model_it_was_for(home: Home, fake: FakeModel) -> None:
    home.configure(demo=DEMO)
    with meet(home, fake, "-m", MODEL, "--permission-mode", "bypass") as person:
        say(person, "Add.", "It is ")
        person.answers((READY, f"/model {MODELS['openai']}"))
        person.sees("Permissions are no longer bypassed: the mode is ask.")
        person.answers((READY, "Add again."), (CALL_IT, "n"))
        person.sees("It is ")
        leave(person)


def test_whoever_cannot_answer_is_named_and_the_conversation_stays_as_it_is(home: Home, fake: FakeModel) -> None:
    with Person(home, "chat", "-m", MODEL, cells=100, **variables(fake), PATH="/usr/bin:/bin") as person:
        say(person, "One.", "You said: One.")
        for line, words in {
            "/model nowhere:x": "'nowhere' (-m) is not a provider of models.",
            "/backend nobody": "There is no backend 'nobody'. The backends are api, manual, claude, copilot, opencode.",
            "/backend api": "api answers already.",
            "/backend opencode": "npm install -g opencode-ai",
            "/backend manual x:y": "With manual, you pick the tools; leave out the model.",
        }.items():
            person.answers((READY, line))
            person.sees(words)
        shown = run(person, "/backend", "")
        assert re.search(r"\*api +ready +", shown)
        assert re.search(r"  manual +ready", shown)
        say(person, "Two.", "You said: Two.")
        assert [message.text for message in fake.requests[-1].messages] == ["One.", "You said: One.", "Two."]
        leave(person)
    assert len(SessionStore(home.where).list()) == 1


def test_a_model_is_chosen_where_none_answered(home: Home, fake: FakeModel) -> None:
    with meet(home, fake, "-b", "manual") as person:
        person.answers((READY, "/backend api"))
        # What can be done is told as it is typed here.
        person.sees("No model is chosen.")
        person.sees("/model anthropic:")
        person.answers((READY, f"/model {MODEL}"))
        assert "Continues" not in person.sees(f"{MODEL} answers.")
        say(person, "One.", "You said: One.")
        leave(person)


# --- the mode -----------------------------------------------------------------------------------------------------


def test_the_mode_is_switched_for_this_chat_alone_and_kept_with_the_conversation(home: Home, fake: FakeModel) -> None:
    home.configure(demo=DEMO)
    with meet(home, fake, "-m", MODEL) as person, meet(home, fake, "-m", MODEL) as other:
        assert re.search(r"\*ask +\w", run(person, "/mode", ""))
        person.answers((READY, "/mode plan"))
        person.sees("The mode is plan.")
        say(person, "Add.", "It is ")
        assert "in plan mode" in fake.requests[-1].results[0].text
        [kept] = SessionStore(home.where).list()
        assert kept.mode == "plan"
        other.answers((READY, "Add."), (CALL_IT, "n"))
        person.answers((READY, "/mode bypass"))
        person.sees("Permissions are bypassed in this conversation")
        say(person, "Add.", 'It is {"sum": 42}')
        person.answers((READY, "/mode reckless"))
        person.sees("There is no mode 'reckless'. The modes are plan, ask")
        leave(person)
        leave(other)


# --- what it takes ----------------------------------------------------------------------------------------------------


def test_cost_and_context_say_what_the_conversation_takes(home: Home, fake: FakeModel) -> None:
    home.configure(demo=DEMO)
    home.write("project/AGENTS.md", "Speak like a sailor.")
    with meet(home, fake, "-m", MODEL) as person:
        assert "Nothing was said in this conversation yet." in run(person, "/cost")
        before = run(person, "/context")
        assert re.search(r"The next request takes about [\d,]+ of the model's [\d,]+ tokens", before)
        assert re.search(r"messages +0 +0 messages", before)
        assert "Speak like a sailor." in run(person, "/context prompt")
        say(person, "One.", "You said: One.")
        [kept] = SessionStore(home.where).list()
        shown = run(person, "/cost")
        assert f"This conversation, 1 turn: ${kept.cost:.2f}" in shown
        assert f"{kept.usage.input_tokens:,} tokens in" in shown
        assert re.search(r"messages +\d+ +2 messages", run(person, "/context"))
        person.answers((READY, "/new"))
        assert "Nothing was said in this conversation yet." in run(person, "/cost")
        leave(person)
    with meet(home, fake, "-b", "manual") as person:
        assert "No model answers here" in run(person, "/cost")
        assert "No model answers here" in run(person, "/context")
        leave(person)


def test_tokens_that_nobody_counts_are_unknown_and_not_none(home: Home) -> None:
    replies = [[Say("One."), Usage(is_told=False)], [Say("Two."), Usage(input=1000, output=20)]]
    with FakeModel(replies) as fake, meet(home, fake, "-m", MODELS["ollama"]) as person:
        person.answers((READY, "Go."))
        person.sees("One.")
        person.sees("tokens unknown · price unknown")
        assert "tokens unknown: the provider doesn't count them" in run(person, "/cost")
        say(person, "On.", "Two.")
        shown = run(person, "/cost")
        assert "This conversation, 2 turns: unknown" in shown
        assert "at least 1,000 tokens in" in shown
        assert "at least 20 tokens out" in shown
        leave(person)
    [kept] = SessionStore(home.where).list()
    assert (kept.usage, kept.cost) == (TokenUsage(1000, 20, partial=True), None)
    listed = run_beside(home, "sessions")
    assert "unknown" in listed.out
    assert "$" not in listed.out
