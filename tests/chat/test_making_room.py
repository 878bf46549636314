"""A conversation that is summarized when the user asks for it, and one that is written to a file."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.models import Call, Fail, FakeModel, Hold, Say

from backends.asking import MODELS, variables
from chat.terminal import Person
from chat.test_conversations import CALL_IT, READY, leave, say
from mooring.agents.history import CallBlock, CallResult, ModelMessage, PersonMessage, ResultsMessage, TextBlock
from mooring.agents.sessions.store import SessionStore
from mooring.core.protocol.content import Text
from mooring.verbs.agent.export import write_markdown
from mooring.verbs.agent.sessions import show_session
from support import DEMO, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

MODEL = MODELS["anthropic"]
CTRL_C = "\x03"


class Summaries:
    """A model whose summaries the test chooses; else it says what it was asked last."""

    def __init__(self) -> None:
        self.summary: Any = Say("They spoke of boats.")

    def __call__(self, request: Any) -> Any:
        if request.results:
            return Say(f"It is {request.results[-1].text}.")
        said = request.last_user_text
        if "about to be continued" in said:
            return self.summary
        return Call("mcp__demo__add", {"a": 2, "b": 40}) if "Add" in said else Say(f"You said: {said}")


@pytest.fixture
def summaries() -> Summaries:
    return Summaries()


@pytest.fixture
def fake(summaries: Summaries) -> Iterator[FakeModel]:
    with FakeModel(summaries) as fake:
        yield fake


def meet(home: Home, fake: FakeModel, *words: str) -> Person:
    return Person(home, "chat", *words, cells=100, **variables(fake))


# --- compact ----------------------------------------------------------------------------------------------------------


def test_a_conversation_goes_on_with_its_summary_and_another_one_beside_it_as_it_was(
    home: Home, fake: FakeModel
) -> None:
    with meet(home, fake, "-m", MODEL) as person, meet(home, fake, "-m", MODEL) as other:
        person.answers((READY, "/compact"))
        person.sees("There is nothing to summarize yet.")
        for number in ("One.", "Two."):
            say(person, number, f"You said: {number}")
            say(other, number, f"You said: {number}")
        person.answers((READY, "/compact the boats"))
        person.sees("The conversation is summarized: about ")
        asked = fake.requests[-1]
        assert asked.last_user_text.endswith("Above all, keep this: the boats")
        say(person, "Three.", "You said: Three.")
        sent = [message.text for message in fake.requests[-1].messages]
        assert "They spoke of boats." in sent[0]
        assert "> One." in sent[0]  # the user's own words stay
        assert sent[-2:] == ["You said: Two.", "Three."]
        say(other, "Three.", "You said: Three.")
        assert fake.requests[-1].messages[0].text == "One."
        leave(other)
        leave(person)


def test_a_summary_that_fails_or_is_stopped_leaves_the_conversation_as_it_was(
    home: Home, fake: FakeModel, summaries: Summaries
) -> None:
    with meet(home, fake, "-m", MODEL) as person:
        say(person, "One.", "You said: One.")
        say(person, "Two.", "You said: Two.")
        summaries.summary = Fail(400, message="No summaries today.")
        person.answers((READY, "/compact"))
        person.sees("No summaries today.")
        summaries.summary = Say("")
        person.answers((READY, "/compact"))
        person.sees("it did not summarize the conversation, which stays as it is.")
        summaries.summary = [Say("They"), Hold("never")]
        asked = len(fake.requests)
        person.answers((READY, "/compact"))
        person.sees("summarizing …")
        while len(fake.requests) == asked:
            person.sees("")
        person.presses(CTRL_C)
        person.sees("Stopped.")
        say(person, "Three.", "You said: Three.")
        sent = [message.text for message in fake.requests[-1].messages]
        assert sent == ["One.", "You said: One.", "Two.", "You said: Two.", "Three."]
        leave(person)


def test_what_was_summarized_is_still_so_when_the_conversation_goes_on(home: Home, fake: FakeModel) -> None:
    with meet(home, fake, "-m", MODEL) as person:
        say(person, "One.", "You said: One.")
        say(person, "Two.", "You said: Two.")
        person.answers((READY, "/compact"))
        person.sees("The conversation is summarized")
        leave(person)
    with meet(home, fake, "--continue") as person:
        say(person, "Three.", "You said: Three.")
        assert "They spoke of boats." in fake.requests[-1].messages[0].text
        person.answers((READY, "/export all.md"))
        person.sees("Written to ")
        leave(person)
    text = (home.cwd / "all.md").read_text()
    assert "You said: One." in text


# --- export -----------------------------------------------------------------------------------------------------------


def test_a_conversation_is_written_as_markdown_and_never_over_another_file(home: Home, fake: FakeModel) -> None:
    home.configure(demo=DEMO)
    with meet(home, fake, "-m", MODEL) as person, meet(home, fake, "-m", MODEL) as other:
        person.answers((READY, "/export"))
        person.sees("Nothing of this conversation is stored")
        say(other, "Hers.", "You said: Hers.")
        person.answers((READY, "Add."), (CALL_IT, "o"))
        person.sees("It is ")
        person.answers((READY, "/export 'our talk.md'"))
        person.sees("Written to our talk.md.")
        person.answers((READY, "/export 'our talk.md'"))
        person.sees("our talk.md exists already. Nothing was written: choose another name.")
        person.answers((READY, "/export nowhere/talk.md"))
        person.sees("nowhere is not a folder.")
        person.answers((READY, "/export"))
        person.sees("conversation-")
        leave(person)
        leave(other)
    file = home.cwd / "our talk.md"
    assert file.stat().st_mode & 0o077 == 0
    text = file.read_text()
    [kept] = [session for session in SessionStore(home.where).list() if session.title == "Add."]
    for part in (
        "# Add.\n",
        f"- Conversation {kept.id} in ",
        f"- With {MODEL}, 1 turn, cost $",
        "## You, ",
        'Calls `mcp__demo__add`:\n\n```json\n{"a"',
        '`mcp__demo__add` returned:\n\n```\n{"sum": 42}\n```',
        'It is {"sum": 42}.',
    ):
        assert part in text
    assert "Hers." not in text
    assert (home.cwd / f"conversation-{kept.id}.md").read_text() == text


def test_nothing_that_was_said_looks_like_a_part_of_the_file_or_steers_a_terminal(home: Home) -> None:
    journal = SessionStore(home.where).begin(str(home.cwd), model=MODEL)
    call = CallBlock("1", "a`b", "{}")
    for message in (
        PersonMessage((Text("# Not a heading\n\x1b[31mred\n```\n# a comment"),)),
        ModelMessage((TextBlock("## You, 2026\nI said nothing."), call), MODEL),
        ResultsMessage((CallResult("1", "a`b", (Text("```\n````\n## You, 2026"),)),)),
    ):
        journal.add_message(message)
    journal.close()
    text = write_markdown(show_session(home.where, journal.id))
    assert "\x1b" not in text
    assert "\\# Not a heading" in text
    assert "\\## You, 2026" in text
    assert "\n`````\n```\n````\n## You, 2026\n`````" in text
    # The block of code that was left open ends before the reply begins.
    _, _, after = text.rpartition("# a comment\n")
    assert after.startswith("```\n")
