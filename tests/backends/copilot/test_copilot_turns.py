"""What the real Copilot says in a turn, told as events."""

import pytest
from copilot_talk import Person, make_model, patient, talk, text_of
from tests.models import Call, ModelRequest, Reply, Say, Think

from mooring.core.question import Allow
from mooring.core.turn import TurnStarted
from support import DEMO, Home

pytestmark = pytest.mark.timeout(200)


@pytest.mark.parametrize("servers", ["shared", "native"])
@patient
async def test_a_turn_tells_text_thoughts_calls_and_tokens(home: Home, servers: str) -> None:
    def reply(request: ModelRequest) -> Reply:
        if request.results:
            return [Say("It is "), Say(request.results[0].text)]
        return [Think("Let me add."), Call(request.find_tool("demo-add"), {"a": 40, "b": 2})]

    home.configure(demo=DEMO)
    person = Person(Allow())
    async with make_model(reply) as fake, talk(home, fake, person=person, servers=servers) as copilot:
        events = await copilot.say("Add them.")
    for e in events:
        print(e)
    assert isinstance(events[0], TurnStarted)
    assert text_of(events) == "It is 42"
