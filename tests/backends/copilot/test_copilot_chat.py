"""The chat at a terminal with the real Copilot: what a person sees of its plan."""

import pytest
from tests.backends.copilot.copilot_talk import make_caller, make_environment

from chat.terminal import Person
from support import Home

pytestmark = pytest.mark.timeout(300)
READY, CTRL_D = "\n> ", "\x04"
PATIENCE = 90.0
PLAN = "INSERT INTO todos (id, title, status) VALUES ('a', 'Look', 'done'), ('b', 'Write', 'in_progress')"


def test_a_plan_is_a_checklist_and_the_tables_that_hold_it_are_not_shown(home: Home) -> None:
    with make_caller(("sql", {"description": "Plan", "query": PLAN})) as fake:
        env = make_environment(home, fake)
        with Person(home, "chat", "-b", "copilot", cells=80, **env) as person:
            person.sees(READY, PATIENCE)
            person.types("Make a plan.")
            shown = person.sees("tokens in", PATIENCE)
            assert "☑ Look\n▶ Write\n" in shown
            assert "⚙" not in shown
            person.sees(READY)
            person.presses(CTRL_D)
            assert person.ended() == 0
