"""Plan mode at both faces of the chat, and without one: a plan is shown, approved or sent back, and carried out."""

import sys

import pytest
from tests.models import Call, FakeModel, Say

from backends.asking import MODELS, variables
from chat.screen.screen_person import ENTER, ESCAPE, ScreenPerson
from chat.terminal import Person
from support import Home, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]
PLAN = "# Write the notes\n\n1. Make **notes.txt**\n2. Say so"
WRITE = Call("Write", {"file_path": "notes.txt", "content": "new"})
READY, QUESTION = "\n> ", 'because …"): '
IN_PLAN_MODE = ("chat", "-m", MODELS["anthropic"], "--permission-mode", "plan")


def show_plan() -> Call:
    return Call("ExitPlanMode", {"plan": PLAN})


def looks_for_the_plan(person: ScreenPerson) -> str:
    person.looks_for("· plan")
    person.presses(f"Write the notes{ENTER}")
    return person.looks_for("Carry it out?")


def test_on_the_screen_a_plan_is_shown_as_markdown_and_carried_out_with_edits_allowed(home: Home) -> None:
    script = [show_plan(), WRITE, Say("Written.")]
    with FakeModel(script) as fake, ScreenPerson(home, *IN_PLAN_MODE, **variables(fake)) as person:
        screen = looks_for_the_plan(person)
        assert "Write the notes" in screen
        assert "**notes.txt**" not in screen, "it is drawn, not quoted"
        assert "ExitPlanMode" not in screen
        assert "· plan" in screen
        person.presses(f"e{ENTER}")
        screen = person.looks_for("Written.")
        assert "The plan is carried out in edits mode" in screen
        assert "· edits" in screen
        assert "· plan" not in screen
        assert (home.cwd / "notes.txt").read_text() == "new"
        person.presses(f"/quit{ENTER}")
        assert person.ended() == 0, person.raw[-3000:]


def test_on_the_screen_a_plan_is_sent_back_with_words_and_esc_ends_the_turn(home: Home) -> None:
    script = [show_plan(), Call("ExitPlanMode", {"plan": "A longer plan."}), Say("Never.")]
    with FakeModel(script) as fake, ScreenPerson(home, *IN_PLAN_MODE, **variables(fake)) as person:
        looks_for_the_plan(person)
        person.presses(f"no, because it is too short{ENTER}")
        person.looks_for("A longer plan.")
        assert "it is too short" in fake.requests[1].results[0].text
        person.presses(ESCAPE)
        person.looks_for("Stopped.")
        assert "· plan" in person.screen
        assert len(fake.requests) == 2


def test_a_plan_carried_out_in_one_conversation_changes_nothing_in_one_beside_it(home: Home) -> None:
    with FakeModel([show_plan(), Say("Done.")]) as fake:
        one = ScreenPerson(home, *IN_PLAN_MODE, **variables(fake))
        other = ScreenPerson(home, *IN_PLAN_MODE, **variables(fake))
        with one, other:
            other.looks_for("· plan")
            looks_for_the_plan(one)
            one.presses(f"a{ENTER}")
            one.looks_for("Done.")
            assert "· ask" in one.screen
            assert "· plan" in other.screen


def test_in_plain_lines_a_plan_is_shown_and_carried_out_with_a_question_about_each_change(home: Home) -> None:
    words = (*IN_PLAN_MODE, "--plain")
    script = [show_plan(), WRITE, Say("Written.")]
    with FakeModel(script) as fake, Person(home, *words, cells=100, **variables(fake)) as person:
        person.answers((READY, "Write the notes"))
        shown = person.sees(QUESTION)
        assert "1. Make **notes.txt**\n2. Say so" in shown
        assert "Carry it out? [e]dits allowed · [a]sk about each · [n]o, plan on" in shown
        person.types("what?")
        person.sees("One of these letters, please.")
        person.answers((QUESTION, "a"))
        person.sees("The plan is carried out in ask mode: you are asked about each change.")
        person.sees("Call it?")
        person.answers((QUESTION, "y"))
        person.sees("Written.")
        person.answers((READY, "/mode"))
        assert "*ask" in person.sees("Enter goes back")
        person.types("", "/quit")
        assert person.ended() == 0, person.shown


def test_without_a_face_the_plan_is_the_answer(home: Home) -> None:
    with FakeModel([show_plan(), Say("Never.")]) as fake:
        done = run_beside(home, *IN_PLAN_MODE, "-p", "Write the notes", **variables(fake))
        assert (done.code, done.out.strip()) == (0, PLAN), done.err
        assert len(fake.requests) == 1


def test_a_plan_that_a_model_wrote_to_steer_the_terminal_does_not(home: Home) -> None:
    evil = Call("ExitPlanMode", {"plan": "Fine.\x1b[2J\x1b]0;owned\x07[bold]"})
    with FakeModel([evil, Say("Done.")]) as fake, ScreenPerson(home, *IN_PLAN_MODE, **variables(fake)) as person:
        assert "\\x1b[2J" in looks_for_the_plan(person)
        assert "owned\x07" not in person.raw
        person.presses(f"n{ENTER}")
        person.looks_for("Done.")
