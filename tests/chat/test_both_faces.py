"""Whatever one face of the chat can answer or change, the other can: the screen, and plain lines."""

import sys
from collections.abc import Mapping, Sequence
from typing import get_args

import msgspec
import pytest

from chat import asked_questions
from chat.asked_questions import ASKED
from chat.screen.screen_person import CTRL_C, ENTER, ScreenPerson
from mooring.core.conversation.question import Allow, Answer, No, Question, Yes
from support import Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]
FACES = pytest.mark.parametrize("face", ["plain", "screen"])

TYPED: Mapping[str, tuple[Sequence[tuple[str, str]], Answer]] = {
    "Sampling": ([("Enter alone refuses.", f"{ENTER}")], No("The person wrote nothing.")),
    "Form": ([("Enter to answer", ENTER), ("(text, Enter skips)", f"blue{ENTER}")], Yes({"color": "blue"})),
    "Visit": ([("Enter when you have", ENTER)], Yes()),
    "MissingValue": ([("token:", f"value{ENTER}")], Yes("value")),
    "Permission": ([("Call it?", f"no, because it is late{ENTER}")], No("it is late")),
    "RepeatedCall": ([("Call it again?", f"y{ENTER}")], Yes()),
    "ContinueTurn": ([("Go on", f"y{ENTER}")], Yes()),
    "CarryOutPlan": ([("Carry it out?", f"e{ENTER}")], Yes("edits")),
    "Approval": ([("Let it be started?", f"y{ENTER}")], Yes()),
    "ApplyRules": ([("Apply it to this server?", ENTER)], No()),
    "ChangedTools": ([("Let it be called as shown?", f"y{ENTER}")], Yes()),
    "KeepServer": ([("Keep it?", f"n{ENTER}")], No()),
    "ServerDetail": ([("Command:", f"serve{ENTER}")], Yes("serve")),
    "WriteServer": ([("Add it?", ENTER)], Yes()),
    "RemoveServer": ([("Remove it?", f"y{ENTER}")], Yes()),
    "ChangeFile": ([("Write it?", ENTER)], Yes()),
    "UndoTurn": ([("Undo it?", f"y{ENTER}")], Yes()),
    "Login": ([("Waiting for the login", f"http://localhost/back{ENTER}")], Yes("http://localhost/back")),
    "ChangedIssuer": ([("Log in there?", CTRL_C)], No(how="cancel")),
    "ChooseAnswerer": ([("Who answers?", "2")], Yes("ollama:qwen3")),
    "KeepAnswerer": ([("Keep it?", f"y{ENTER}")], Yes()),
}
"""For every kind of question what is typed at which prompt, and the answer that it makes."""


def test_there_is_an_example_of_every_question() -> None:
    kinds = [kind.__name__ for kind in get_args(Question)]
    assert [type(question).__name__ for question in ASKED] == kinds
    assert list(TYPED) == kinds


@FACES
def test_each_question_is_answered_at_the_terminal(home: Home, face: str) -> None:
    answers = home.folder / "answers.json"
    words = (face, str(answers))
    with ScreenPerson(home, *words, program=asked_questions.__file__, cells=100, rows=40) as person:
        for number, (steps, _) in enumerate(TYPED.values()):
            person.looks_for(f"question {number}")
            for prompt, keys in steps:
                person.looks_for(prompt)
                person.calms_down()
                person.presses(keys)
        assert person.ended() == 0, person.raw[-2000:]
    given = msgspec.json.decode(answers.read_bytes(), type=list[Yes | Allow | No])
    assert given == [answer for _, answer in TYPED.values()]
