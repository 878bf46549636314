"""Which chat opens: on the whole screen, in plain lines, or none."""

import sys
from collections.abc import Sequence

import pytest

from chat.screen.screen_person import CTRL_D, ScreenPerson
from support import Home, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]
ON_SCREEN = "\x1b[?1049h"
GREETING = "No model connected"


def open_chat(home: Home, *words: str, **env: str) -> bool:
    """Open a chat and leave it; whether it took the whole screen."""
    with ScreenPerson(home, *words, "--demo", **env) as person:
        person.looks_for(GREETING)
        person.presses(CTRL_D)
        assert person.ended() == 0, person.raw[-2000:]
        assert "Traceback" not in person.raw
        assert person.left() == []
        return ON_SCREEN in person.raw


@pytest.mark.parametrize("words", [(), ("chat",)])
def test_the_very_first_chat_in_an_empty_home_takes_the_whole_screen(home: Home, words: Sequence[str]) -> None:
    assert open_chat(home, *words)


def test_an_option_a_setting_and_a_terminal_that_cannot_draw_have_plain_lines(home: Home) -> None:
    assert not open_chat(home, "chat", "--plain")
    assert not open_chat(home, TERM="dumb")
    assert run_beside(home, "settings", "chat", "plain").code == 0
    assert not open_chat(home)
    assert not open_chat(home, "chat")
    assert open_chat(home, "chat", "--screen")


def test_a_screen_that_cannot_be_drawn_is_refused_in_one_sentence(home: Home) -> None:
    with ScreenPerson(home, "chat", "--screen", TERM="dumb") as person:
        assert person.ended() == 2
        assert "A screen can't be drawn on this terminal" in person.shown
        assert "Leave out --screen." in person.shown


def test_a_projects_settings_cannot_choose_and_a_value_that_does_not_exist_is_named(home: Home) -> None:
    home.write("project/.mooring/settings.json", {"chat": "plain"})
    assert open_chat(home)
    refused = run_beside(home, "settings", "chat", "window")
    assert refused.code == 2
    assert "screen, plain" in refused.err


def test_without_a_terminal_mooring_alone_lists_the_servers(home: Home) -> None:
    listed = run_beside(home, "--demo")
    assert listed.code == 0
    assert "demo" in listed.out
    assert ON_SCREEN not in listed.out + listed.err
