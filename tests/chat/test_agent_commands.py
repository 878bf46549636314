"""Agents as commands of the chat: one answers from now on, another does a task, and names that commands hide."""

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.models import FakeModel, Hold, Say

from backends.asking import MODELS, variables
from chat.terminal import Person
from chat.test_conversations import READY, leave, run, say
from mooring.agents.sessions.store import SessionStore
from support import DEMO, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

MODEL = MODELS["anthropic"]
SAILOR = "---\nname: sailor\ndescription: Sails.\ntools: Read\n---\nYou sail the seven seas.\n"
FOLDER = "home/.config/mooring/agents"


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    """A model that says who it is, and what it was asked last."""

    def reply(request: Any) -> Any:
        who = "Sailor" if "seven seas" in request.system else "Model"
        said = request.last_user_text.rpartition("\n")[2]
        return [Say("Once upon a time\n"), Hold("never")] if "story" in said else Say(f"{who}: {said}")

    with FakeModel(reply) as fake:
        yield fake


def meet(home: Home, fake: FakeModel, *words: str) -> Person:
    return Person(home, "chat", *words, cells=100, **variables(fake))


def test_an_agent_answers_from_now_on_with_its_prompt_and_tools_until_none_does(home: Home, fake: FakeModel) -> None:
    home.configure(demo=DEMO)
    home.write(f"{FOLDER}/sailor.md", SAILOR)
    with meet(home, fake, "-m", MODEL) as person, meet(home, fake, "-m", MODEL) as other:
        say(person, "Ahoy.", "Model: Ahoy.")
        [old] = SessionStore(home.where).list()
        person.answers((READY, "/agent sailor"))
        person.sees(f"Continues {old.id}, which was with {MODEL}, as a new conversation.")
        person.sees(f"The agent sailor ({MODEL}) answers.")
        say(person, "And now?", "Sailor: And now?")
        sent = fake.requests[-1]
        assert "Read" in sent.tool_names
        assert "Bash" not in sent.tool_names
        assert "User:\n  Ahoy." in "\n".join(message.text for message in sent.messages)
        assert SessionStore(home.where).list()[0].agent == "sailor"
        assert re.search(r"\*sailor ", run(person, "/agents"))
        say(other, "Still you?", "Model: Still you?")
        person.answers((READY, "/agent sailer"))
        person.sees("There is no agent named 'sailer'. Did you mean sailor?")
        person.answers((READY, "/agent none"))
        person.sees(f"{MODEL} answers.")
        say(person, "And now?", "Model: And now?")
        assert "Bash" in fake.requests[-1].tool_names
        leave(person)
        leave(other)


def test_an_agent_that_names_a_model_answers_with_that(home: Home, fake: FakeModel) -> None:
    home.write(f"{FOLDER}/sailor.md", SAILOR.replace("tools: Read", f"model: {MODELS['openai']}"))
    with meet(home, fake, "-b", "manual") as person:
        person.answers((READY, "/agent sailor"))
        person.sees(f"The agent sailor ({MODELS['openai']}) answers.")
        say(person, "Ahoy.", "Sailor: Ahoy.")
        leave(person)


def test_a_task_goes_to_the_agent_whose_name_is_typed_and_the_model_reads_of_it_later(
    home: Home, fake: FakeModel
) -> None:
    home.write(f"{FOLDER}/sailor.md", SAILOR)
    with meet(home, fake, "-m", MODEL) as person, meet(home, fake, "-m", MODEL) as other:
        person.answers((READY, "/sailor Find the island."))
        person.sees("Sailor: Find the island.")
        person.sees("tokens in")
        # The agent was asked once, and the model of the chat was not.
        [asked] = fake.requests
        assert "You sail the seven seas." in asked.system
        say(person, "What did it find?", "Model: What did it find?")
        sent = [message.text for message in fake.requests[-1].messages]
        assert sent[0] == "/sailor Find the island."
        assert "The agent sailor was given this task." in sent[1]
        assert "Sailor: Find the island." in sent[1]
        assert "seven seas" not in fake.requests[-1].system
        [kept] = SessionStore(home.where).list()
        assert (kept.title, kept.turns) == ("/sailor Find the island.", 2)
        assert kept.cost is not None
        [sub_agent] = SessionStore(home.where).read_sub_agents(kept.id)
        assert sub_agent.agent == "sailor"
        say(other, "Did you hear?", "Model: Did you hear?")
        assert len(fake.requests[-1].messages) == 1
        # It is a conversation like any other when it goes on.
        leave(other)
        leave(person)
    with meet(home, fake, "--resume", kept.id) as person:
        say(person, "Go on.", "Model: Go on.")
        leave(person)


def test_a_task_needs_words_and_a_model_and_ctrl_c_ends_it(home: Home, fake: FakeModel) -> None:
    home.write(f"{FOLDER}/sailor.md", SAILOR)
    with meet(home, fake, "-b", "manual") as person:
        person.answers((READY, "/sailor Find the island."))
        person.sees("sailor needs a model, and none answers here. /model PROVIDER:MODEL chooses one.")
        person.answers((READY, f"/model {MODEL}"), (READY, "/sailor"))
        person.sees("Write the task behind it: /sailor TASK. To have sailor answer from now on: /agent sailor")
        person.answers((READY, "/sailor Tell a story."))
        person.sees("sailor")
        while not fake.requests:
            person.sees("")
        person.presses("\x03")
        person.sees("Stopped.")
        say(person, "Ahoy.", "Model: Ahoy.")
        leave(person)


def test_commands_come_before_agents_and_help_lists_what_they_hide(home: Home, fake: FakeModel) -> None:
    home.write(f"{FOLDER}/sailor.md", SAILOR)
    home.write(f"{FOLDER}/export.md", SAILOR.replace("sailor", "export"))
    home.write(f"{FOLDER}/review.md", SAILOR.replace("sailor", "review"))
    home.write("project/.claude/commands/review.md", "Look closely.")
    home.write("project/.claude/commands/cost.md", "Count it.")
    with meet(home, fake, "-m", MODEL) as person:
        shown = run(person, "/help")
        assert re.search(r"/sailor TASK +Sails\.\n", shown)
        assert re.search(r"/agent:export TASK +Sails\. \(/export is a command\)", shown)
        assert re.search(r"/agent:review TASK +Sails\. \(/review is a command\)", shown)
        assert "/project:cost" in shown
        say(person, "/review", "Model: Look closely.")
        say(person, "/agent:review Ahoy.", "Sailor: Ahoy.")
        person.presses("/sai\t")
        person.sees("/sailor")
        person.presses("\x15/agent sai\tXX\r")
        person.sees("There is no agent named 'sailorXX'. Did you mean sailor?")
        leave(person)
