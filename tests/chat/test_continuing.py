"""Conversations that go on: who answers and how comes back, what was said last is shown, and leaving says how to."""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.models import Call, FakeModel, Hold, Say

from agent.test_sessions_continued import wait_for_text
from backends.asking import MODELS, variables
from chat.terminal import Person
from mooring.agents.history import PersonMessage
from mooring.agents.sessions.store import SessionStore
from mooring.core.protocol.content import Text
from support import DEMO, Home, Result, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

READY, CTRL_C, CTRL_D = "\n> ", "\x03", "\x04"
MODEL = MODELS["anthropic"]
AGENT = "---\nname: sailor\ndescription: Sails.\ntools: Read\n---\nYou sail the seven seas.\n"
AGENT_FILE = "home/.config/mooring/agents/sailor.md"


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    """A model that says what it was asked last, and never ends a story."""

    def reply(request: Any) -> Any:
        said = request.last_user_text
        return [Say("Once upon a time\nthere was a "), Hold("never")] if "story" in said else Say(f"You said: {said}")

    with FakeModel(reply) as fake:
        yield fake


def ask(home: Home, fake: FakeModel, *words: str, **env: str) -> Result:
    """`mooring chat -p` as a process."""
    return run_beside(home, "chat", *words, **{**variables(fake), **env})


def meet(home: Home, fake: FakeModel, *words: str) -> Person:
    return Person(home, "chat", *words, cells=80, **variables(fake))


def find_newest(home: Home) -> Any:
    return SessionStore(home.where).list(most=1)[0]


# --- what comes back --------------------------------------------------------------------------------------------------


def test_the_model_comes_back_before_the_environment_and_the_settings_and_an_option_wins(
    home: Home, fake: FakeModel
) -> None:
    home.write("home/.config/mooring/settings.json", {"model": MODELS["openai"]})
    assert ask(home, fake, "-m", MODEL, "-p", "One.").code == 0
    again = ask(home, fake, "--continue", "-p", "Two.", MOORING_MODEL=MODELS["google"])
    assert (again.code, again.out) == (0, "You said: Two.\n"), again.err
    assert [request.model for request in fake.requests] == [MODEL.partition(":")[2]] * 2
    other = ask(home, fake, "--continue", "-p", "Three.", "-m", MODELS["openai"])
    assert other.code == 0, other.err
    assert fake.requests[-1].model == MODELS["openai"].partition(":")[2]
    # From now on that is who answers.
    assert find_newest(home).model == MODELS["openai"]
    assert ask(home, fake, "--continue", "-p", "Four.").code == 0
    assert fake.requests[-1].model == MODELS["openai"].partition(":")[2]
    assert len(SessionStore(home.where).list()) == 1


def test_a_model_that_cannot_be_used_any_more_is_named_with_the_option_that_chooses_another(
    home: Home, fake: FakeModel
) -> None:
    assert ask(home, fake, "-m", MODEL, "-p", "One.").code == 0
    for words in (("chat", "--continue", "-p", "Two."), ("chat", "--resume", find_newest(home).id, "-p", "Two.")):
        refused = run_beside(home, *words)
        assert (refused.code, refused.out) == (2, "")
        assert f"{MODEL} (this conversation) needs a key." in refused.err
        assert "-m PROVIDER:MODEL" in refused.err
    with Person(home, "chat", "--continue") as person:
        assert person.ended() == 2
        assert "-m PROVIDER:MODEL" in person.shown
    # A provider that the settings had, and have no more.
    models = {"harbor": {"kind": "openai-chat", "baseUrl": fake.openai_url}}
    home.write("home/.config/mooring/settings.json", {"models": models})
    own = ask(home, fake, "-m", "harbor:small", "-p", "One.")
    assert own.code == 0, own.err
    home.write("home/.config/mooring/settings.json", {})
    gone = ask(home, fake, "--continue", "-p", "Two.")
    assert gone.code == 2
    assert "'harbor' (this conversation) is not a provider" in gone.err
    assert "-m PROVIDER:MODEL" in gone.err


def test_the_agent_comes_back_with_its_tools_and_another_can_be_named(home: Home, fake: FakeModel) -> None:
    home.write(AGENT_FILE, AGENT)
    assert ask(home, fake, "-m", MODEL, "--agent", "sailor", "-p", "One.").code == 0
    assert ask(home, fake, "--continue", "-p", "Two.").code == 0
    assert "You sail the seven seas." in fake.requests[-1].system
    assert [name for name in fake.requests[-1].tool_names if name in ("Read", "Bash")] == ["Read"]
    assert ask(home, fake, "--continue", "-p", "Three.", "--agent", "explore").code == 0
    assert "seven seas" not in fake.requests[-1].system
    assert find_newest(home).agent == "explore"


def test_an_agent_whose_file_is_gone_is_named_and_another_goes_on(home: Home, fake: FakeModel) -> None:
    home.write(AGENT_FILE, AGENT)
    assert ask(home, fake, "-m", MODEL, "--agent", "sailor", "-p", "One.").code == 0
    (home.folder / AGENT_FILE).unlink()
    refused = ask(home, fake, "--continue", "-p", "Two.")
    assert (refused.code, refused.out) == (2, "")
    assert "with the agent 'sailor', which is no longer defined." in refused.err
    assert "--agent NAME" in refused.err
    with meet(home, fake, "--continue") as person:
        assert person.ended() == 2
        assert "with the agent 'sailor', which is no longer" in person.shown
    assert ask(home, fake, "--continue", "-p", "Two.", "--agent", "general-purpose").out == "You said: Two.\n"


def test_the_mode_comes_back_and_an_option_wins(home: Home, fake: FakeModel) -> None:
    home.configure(demo=DEMO)
    assert ask(home, fake, "-m", MODEL, "--permission-mode", "plan", "-p", "One.").code == 0
    with meet(home, fake, "--continue") as person:
        person.sees(f"{MODEL} answers in plan mode.")
        person.answers((READY, "/permissions"))
        person.sees("plan")
        person.sees(READY)  # the terminal loses a Ctrl+D that comes before the line editor
        person.presses(CTRL_D)
        assert person.ended() == 0
    assert ask(home, fake, "--continue", "-p", "Two.").code == 0
    assert find_newest(home).mode == "plan"
    assert ask(home, fake, "--continue", "-p", "Three.", "--permission-mode", "ask").code == 0
    assert find_newest(home).mode == "ask"


def test_bypass_never_comes_back_by_itself_and_that_is_said(home: Home) -> None:
    home.configure(demo=DEMO)
    calls = [Call("mcp__demo__note", {"text": "x"}), Say("Done.")]
    with FakeModel([*calls, *calls, *calls]) as fake:
        first = ask(home, fake, "-m", MODEL, "--dangerously-skip-permissions", "-p", "Note it.")
        assert (first.code, first.err) == (0, ""), first.err
        again = ask(home, fake, "--continue", "-p", "Note it.", "--output-format", "json")
        assert "Permissions were bypassed in this conversation. It goes on in ask mode" in again.err
        assert [denied["tool"] for denied in json.loads(again.out)["denied"]] == ["note"]
        asked_for = ask(home, fake, "--continue", "-p", "Note it.", "--dangerously-skip-permissions")
        assert (asked_for.code, asked_for.err) == (0, ""), asked_for.err
        with meet(home, fake, "--continue") as person:
            person.sees("Permissions were bypassed in this conversation. It goes on in ask mode")
            person.sees(READY)
            person.presses(CTRL_D)
            assert person.ended() == 0


def test_a_program_that_is_not_installed_any_more_is_named(home: Home, fake: FakeModel) -> None:
    store = SessionStore(home.where)
    journal = store.begin(str(home.cwd), model="", backend="opencode")
    journal.add_message(PersonMessage((Text("Ahoy."),)))
    journal.close()
    refused = ask(home, fake, "--continue", "-p", "Two.", PATH="/usr/bin:/bin")
    assert (refused.code, refused.out) == (2, "")
    assert "This conversation is with OpenCode" in refused.err
    assert "npm install -g opencode-ai" in refused.err
    assert f"mooring chat --resume {journal.id} -b NAME" in refused.err


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_the_command_that_continues_a_chat_on_the_demo_server_has_that_server_too(home: Home, fake: FakeModel) -> None:
    with meet(home, fake, "-m", MODEL, "--demo") as person:
        person.answers((READY, "Where is the boat?"))
        person.sees("You said: Where is the boat?")
        person.answers((READY, "/exit"))
        assert person.ended() == 0
        [command] = re.findall(r"mooring (chat --resume [0-9a-f]+ --demo)\n", person.shown)
    with Person(home, *command.split(), cells=80, **variables(fake)) as again:
        assert "mooring · 1 server, 7 tools" in again.sees(READY)
        again.presses(CTRL_D)
        assert again.ended() == 0


def test_a_conversation_opens_with_its_title_and_the_last_exchange_and_leaving_names_its_command(
    home: Home, fake: FakeModel
) -> None:
    with meet(home, fake, "-m", MODEL) as person:
        person.answers((READY, "Where is the boat?"))
        person.sees("You said: Where is the boat?")
        person.answers((READY, "And the cat?"))
        person.sees("You said: And the cat?")
        person.answers((READY, "/exit"))
        assert person.ended() == 0
        [command] = re.findall(r"To continue this conversation: mooring (chat --resume [0-9a-f]+)\n", person.shown)
    with Person(home, *command.split(), cells=80, **variables(fake)) as again:
        assert "Where is the boat?" not in again.sees('Continuing "Where is the boat?" (2 turns, ')
        shown = again.sees(READY)
        assert "You: And the cat?\nYou said: And the cat?" in shown
        assert "cut off" not in shown
        again.types("Thank you.")
        again.sees("You said: Thank you.")
        again.sees(READY)
        again.presses(CTRL_D)
        assert again.ended() == 0
        assert f"mooring {command}\n" in again.shown
    texts = [message.text for message in fake.requests[-1].messages]
    assert texts[0] == "Where is the boat?"
    assert texts[-1] == "Thank you."


def test_a_long_exchange_is_shortened_where_it_hurts_least(home: Home) -> None:
    reply = "\n".join(f"line {number}" for number in range(30))
    with FakeModel([Say(reply)]) as fake:
        assert ask(home, fake, "-m", MODEL, "-p", "first\nsecond\nthird\nfourth\nfifth").code == 0
        with meet(home, fake, "--continue") as person:
            shown = person.sees(READY)
            person.presses(CTRL_D)
            person.ended()
    id = find_newest(home).id
    assert f"You: first\n     second\n     third\n     …\n… 20 lines more: mooring sessions {id}\nline 20\n" in shown
    assert shown.endswith("line 29")


def test_a_reply_that_a_kill_or_ctrl_c_cut_off_is_marked_as_cut_off(home: Home, fake: FakeModel) -> None:
    with meet(home, fake, "-m", MODEL) as killed:
        killed.answers((READY, "Tell me a story."))
        wait_for_text(home, "Once upon a time\nthere was a ")
        killed.is_sent(9)
        killed.ended()
    cut = "You: Tell me a story.\nOnce upon a time\nthere was a\n― The reply was cut off here. ―"
    with meet(home, fake, "--continue") as person:
        assert cut in person.sees(READY)
        person.types("Fine.")
        person.sees("You said: Fine.")
        person.answers((READY, "Another story."))
        person.sees("Once upon a time")
        person.presses(CTRL_C)
        person.sees("Stopped.")
        person.sees(READY)
        person.presses(CTRL_D)
        assert person.ended() == 0
    with meet(home, fake, "--continue") as again:
        shown = again.sees(READY)
        assert "You: Another story.\nOnce upon a time" in shown
        assert "― The reply was cut off here. ―" in shown
        again.types("Go on.")
        again.sees("You said: Go on.")
        again.answers((READY, "/quit"))
        again.ended()
    # The model is sent what it had said.
    assert [message.text for message in fake.requests[-1].messages if "Once upon a time" in message.text]
    with meet(home, fake, "--continue") as finished:
        assert "cut off" not in finished.sees(READY)


def test_what_a_stored_reply_would_do_to_the_terminal_is_not_done(home: Home) -> None:
    with FakeModel([Say("\x1b]0;owned\x07\x1b[2Jgone")]) as fake:
        assert ask(home, fake, "-m", MODEL, "-p", "Draw.").code == 0
        with meet(home, fake, "--continue") as person:
            person.sees(READY)
            person.presses(CTRL_D)
            person.ended()
    assert "\x1b]0;owned" not in person.raw
    assert "\x1b[2J" not in person.raw


def test_a_chat_in_which_nothing_was_said_names_no_command(home: Home, fake: FakeModel) -> None:
    with meet(home, fake, "-m", MODEL) as person:
        person.answers((READY, "/mcp"))
        person.sees(READY)
        person.presses(CTRL_D)
        assert person.ended() == 0
        assert "--resume" not in person.shown
    assert SessionStore(home.where).list() == ()


def test_continue_takes_the_last_conversation_of_this_folder_with_all_that_was_chosen_in_it(
    home: Home, fake: FakeModel
) -> None:
    home.write(AGENT_FILE, AGENT)
    assert ask(home, fake, "-m", MODELS["openai"], "--agent", "sailor", "-p", "Red.").code == 0
    assert ask(home, fake, "-m", MODEL, "--permission-mode", "plan", "-p", "Blue.").code == 0
    newest, older = SessionStore(home.where).list()
    with meet(home, fake, "--resume", older.id[:8]) as red, meet(home, fake, "--continue") as blue:
        red.sees(f"The agent sailor ({MODELS['openai']}) answers.")
        red.sees("You: Red.")
        blue.sees(f"{MODEL} answers in plan mode.")
        blue.sees("You: Blue.")
        for person, id in ((red, older.id), (blue, newest.id)):
            person.sees(READY)
            person.presses(CTRL_D)
            assert person.ended() == 0
            assert f"mooring chat --resume {id}\n" in person.shown
