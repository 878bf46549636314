"""What a user's settings make of the screen: its keys, its theme, the mouse wheel, and what it leaves behind."""

import re
import sys

import pytest
from tests.models import FakeModel

from chat.screen.screen_person import CTRL_D, ENTER, ScreenPerson
from chat.screen.test_screen import meet, says
from chat.terminal import Person
from chat.test_plain import READY as PLAIN_READY
from mooring.chat.screen.app import ChatScreen
from mooring.chat.screen.keys import CALLS, find_input_actions
from mooring.core.keys import KEY_ACTIONS, choose_keys
from mooring.settings import load
from support import Home

pty = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]
LONG = "\n\n".join(f"Paragraph {number}." for number in range(60))
WHEEL_UP = "\x1b[<64;5;5M"


def test_every_action_of_the_table_does_something_and_nothing_else_has_a_key() -> None:
    keys = choose_keys({}).keys
    assert {action.name for action in KEY_ACTIONS} == set(CALLS) | set(find_input_actions(keys).values())
    for call in CALLS.values():
        assert hasattr(ChatScreen, f"action_{call.partition('(')[0]}"), call


def set_up(home: Home, **settings: object) -> None:
    home.write("home/.config/mooring/settings.json", settings)


def leave(person: ScreenPerson) -> str:
    person.presses(f"/quit{ENTER}")
    assert person.ended() == 0, person.raw[-3000:]
    return person.left_behind


class TestAtATerminal:
    pytestmark = pty

    def test_plain_lines_list_their_own_keys_and_keep_a_theme_for_the_screen(self, home: Home) -> None:
        with Person(home, "chat", "--plain", "--demo") as person:
            person.answers((PLAIN_READY, "/keys"))
            person.sees("Ctrl+X Ctrl+E")
            person.answers((PLAIN_READY, "/theme light"))
            person.sees("Lines have the colors of your terminal")
            person.answers((PLAIN_READY, "/theme light keep"))
            person.sees("Later chats begin with the theme light.")
            person.answers((PLAIN_READY, "/theme purple"))
            person.sees("There is no theme 'purple'. The themes are terminal, dark, light.")
        assert load(home.where, None)["theme"] == "light"

    def test_keys_of_the_settings_work_in_the_screen_and_the_input_and_are_listed(self, home: Home) -> None:
        set_up(home, keys={"search": "f3", "newline": "ctrl+s", "search-history": [], "serach": "f4"})
        with FakeModel(says("The needle.", "Two lines.")) as fake, meet(home, fake, cells=120, rows=50) as person:
            person.looks_for("answers")
            person.presses(f"Hi{ENTER}")
            person.looks_for("The needle.")
            person.presses("\x1bOR")
            person.looks_for("Find:")
            person.presses("\x1b")
            person.looks_until_gone("Find:")
            person.presses("one\x13two")
            person.looks_for("  two")
            person.presses(ENTER)
            person.looks_for("Two lines.")
            assert fake.requests[-1].last_user_text == "one\ntwo"
            person.presses(f"/keys{ENTER}")
            screen = person.looks_for("In parentheses")
            assert "F3" in screen
            assert "no key" in screen
            assert "`serach` in `keys` is not an action; it is ignored: did you mean `search`?" in screen
            person.presses(CTRL_D)
            assert person.ended() == 0

    def test_a_theme_is_drawn_at_once_and_in_later_chats_if_it_is_kept(self, home: Home) -> None:
        light, dark = "48;2;255;255;255", "48;2;13;17;23"
        with FakeModel(says("Yes.")) as fake:
            with meet(home, fake, COLORTERM="truecolor") as person:
                person.looks_for("answers")
                assert light not in person.raw
                person.presses(f"/theme light{ENTER}")
                person.looks_for("To begin later chats with it too: /theme light keep")
                assert light in person.raw
                person.presses(f"/theme dark keep{ENTER}")
                person.looks_for("Later chats begin with the theme dark.")
                assert dark in person.raw
                leave(person)
            with meet(home, fake, COLORTERM="truecolor") as person:
                person.looks_for("answers")
                assert dark in person.raw
                leave(person)

    def test_no_color_wins_over_a_theme(self, home: Home) -> None:
        set_up(home, theme="dark")
        with FakeModel(says("Yes.")) as fake, meet(home, fake, NO_COLOR="1", COLORTERM="truecolor") as person:
            person.looks_for("answers")
            person.presses(f"/theme light{ENTER}")
            person.looks_for("NO_COLOR is set")
            leave(person)
            assert "38;2;" not in person.raw
            assert "48;2;" not in person.raw

    @pytest.mark.parametrize(("lines", "has_reply"), [(0, False), (5, False), (2_000, True)])
    def test_as_many_lines_are_left_behind_as_the_setting_says(self, home: Home, lines: int, has_reply: bool) -> None:
        set_up(home, screenLinesLeft=lines)
        with FakeModel(says(LONG)) as fake, meet(home, fake) as person:
            person.looks_for("answers")
            person.presses(f"Tell{ENTER}")
            person.looks_for("Paragraph 59.")
            left = leave(person)
        assert ("Paragraph 0." in left) == has_reply
        assert ("mooring chat --resume" in left) == (lines > 0)

    def test_the_wheel_scrolls_as_far_as_the_setting_says(self, home: Home) -> None:
        set_up(home, wheelRows=7)
        with FakeModel(says(LONG)) as fake, meet(home, fake) as person:
            person.looks_for("answers")
            person.presses(f"Tell{ENTER}")
            person.looks_for("Paragraph 59.")
            person.presses(WHEEL_UP)
            person.looks_for("7 rows below")

    def test_after_resume_and_new_in_a_chat_only_what_it_added_is_left_behind_each_thing_once(self, home: Home) -> None:
        replies = ("The first reply.", "The second reply.", "The third reply.", "The fourth reply.")
        with FakeModel(says(*replies)) as fake:
            with meet(home, fake) as person:
                person.looks_for("answers")
                person.presses(f"First question{ENTER}")
                person.looks_for(replies[0])
                [id] = re.findall(r"chat --resume (\w+)", leave(person))
            with meet(home, fake, rows=50) as person:
                person.looks_for("answers")
                person.presses(f"Second question{ENTER}")
                person.looks_for(replies[1])
                person.presses(f"/resume {id}{ENTER}")
                person.looks_for("Continuing")
                assert replies[0] in person.screen
                person.presses(f"Third question{ENTER}")
                person.looks_for(replies[2])
                person.presses(f"/new{ENTER}")
                person.presses(f"Fourth question{ENTER}")
                person.looks_for(replies[3])
                left = leave(person)
        assert [left.count(reply) for reply in replies] == [0, 1, 1, 1]
        assert left.index(replies[1]) < left.index(replies[2]) < left.index(replies[3])
