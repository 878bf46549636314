"""What a model thinks is one line in the chat, and nothing of it is lost."""

import re
import sys

import pytest
from tests.models import Call, FakeModel, ModelRequest, Say
from tests.models.script import Think

from backends.asking import MODELS, variables
from chat.terminal import Person
from support import DEMO, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal"),
]

READY = "\n> "


def respond(request: ModelRequest) -> list[object]:
    if not request.results:
        return [Think("Two and forty, let me see.\nI had better add them."), Call("mcp__demo__add", {"a": 2, "b": 40})]
    return [Think("So it is."), Say("It is 42.")]


def test_thinking_is_folded_into_a_line_before_what_came_of_it(home: Home) -> None:
    home.configure(demo=DEMO)
    words = ("chat", "-m", MODELS["anthropic"], "--allow", "demo.*")
    with FakeModel(respond) as fake, Person(home, *words, **variables(fake)) as person:
        person.answers((READY, "Add."))
        shown = person.sees("It is 42.") + person.sees(READY)
        assert re.search(
            r"thought for \d+ s · 11 words\n(.*\n)*.*demo / add(.*\n)*.*thought for \d+ s · 3 words", shown
        )
        assert "let me see" not in shown
        person.types("/quit")
        assert person.ended() == 0
        (session,) = re.findall(r"--resume (\S+)", person.shown)
    with Person(home, "sessions", session, "-v") as beside:
        assert beside.ended() == 0
        assert "let me see" in beside.shown
