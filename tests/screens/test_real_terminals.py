"""The chat in windows of a terminal, of tmux and of GNU screen: with bash, the command, a scripted model and servers."""

import time

import pytest
from pyte.screens import Char
from tests.models import Call, FakeModel, Hold, Say, Usage
from windows import CTRL_C, CTRL_L, CTRL_Z, ENTER, ESCAPE, WINDOWS, Window

from backends.asking import KEY, MODELS, variables
from support import DEMO, Home

pytestmark = pytest.mark.processes
in_each = pytest.mark.parametrize("kind", WINDOWS, ids=[kind.name for kind in WINDOWS])
CHAT = ("mooring", "chat", "-m", MODELS["anthropic"])
READY = "ask · mcp"
CTRL_HOME, CTRL_END = "\x1b[1;5H", "\x1b[1;5F"
RESUME = "To continue this conversation: mooring chat --resume"


def opens_chat(window: Window) -> None:
    window.runs(*CHAT)
    window.sees("answers")


def uses_shell(window: Window, number: int = 1) -> str:
    """See that the shell echoes what is typed, and runs it; the screen then."""
    window.settles(0.2)
    window.runs(f"echo sum $(({number}+41)) $(stty -a | grep -o ' .\\?echo ')")
    return window.sees(f"sum {number + 41} echo")


@in_each
def test_a_turn_with_a_tool_is_asked_about_answered_and_left_on_the_normal_screen(
    home: Home, kind: type[Window]
) -> None:
    home.configure(demo=DEMO)
    script = [[Say("Let me add.\n"), Call("mcp__demo__add", {"a": 2, "b": 40})], Say("It is 42.")]
    with FakeModel(script) as fake, kind(home, **variables(fake)) as window:
        window.runs(*CHAT)
        window.sees(READY)
        window.presses(f"Add these{ENTER}")
        window.sees("Call it?")
        window.settles()
        assert "🔌 demo / add" in window.screen
        window.presses(f"y{ENTER}")
        window.sees("It is 42.")
        assert '"sum": 42' in window.screen
        window.presses(f"/quit{ENTER}")
        window.sees(RESUME)
        window.waits_for_chats(0)
        screen = uses_shell(window)
        assert "It is 42." in screen
        assert READY not in screen, "what framed the conversation is gone"
        assert "❯ \n" not in screen
        assert not window.emulator.cursor.hidden
        assert KEY not in window.raw
        assert window.left_by_chat() == []


@in_each
def test_without_any_settings_it_opens_says_what_is_there_and_leaves(home: Home, kind: type[Window]) -> None:
    with kind(home) as window:
        window.runs("mooring", "chat")
        window.sees("no model")
        window.presses(f"/help{ENTER}")
        window.sees("/quit")
        window.presses(f"/quit{ENTER}")
        window.waits_for_chats(0)
        assert "Traceback" not in uses_shell(window)
        assert window.left_by_chat() == []


PARAGRAPHS = "\n\n".join(
    f"Paragraph {number} has **some** words, `code` and 資料夾, so that it is wrapped." for number in range(12)
)
STORY = f"# A heading\n\n{PARAGRAPHS}\n\n```python\nfor each in range(100): print(each, 'a line that is too long for most windows')\n```\n\nThe end."

SPENT = Usage(input=4_000, output=250)


@in_each
def test_after_a_storm_of_sizes_while_it_writes_it_looks_as_if_it_had_never_had_another(
    home: Home, tmp_path_factory: pytest.TempPathFactory, kind: type[Window]
) -> None:
    half = 400
    stormy = [[*(Say(STORY[at : at + 20]) for at in range(0, half, 20)), Hold("rest"), Say(STORY[half:]), SPENT]]
    with FakeModel(stormy) as fake, kind(home, **variables(fake)) as window:
        opens_chat(window)
        window.presses(f"Tell{ENTER}")
        window.sees("Paragraph 1")
        for number in range(100):
            window.resizes(40 + number * 37 % 160, 12 + number * 13 % 40)
            if number == 50:
                fake.release("rest")
            window.settles(0.001)
            time.sleep(0.03)  # as a person drags
        window.resizes(90, 28)
        window.sees("The end.")
        stormed = show_settled(window)
    calm_home = Home(tmp_path_factory.mktemp("calm") / "machine")
    with FakeModel([[Say(STORY), SPENT]]) as fake, kind(calm_home, 90, 28, **variables(fake)) as window:
        opens_chat(window)
        window.presses(f"Tell{ENTER}")
        window.sees("The end.")
        assert stormed == show_settled(window)


def show_settled(window: Window) -> list[list[Char]]:
    """Every cell, once everything is drawn; a second drawing of all of it changes none."""
    window.sees("tokens in")
    # How long a text is that was never in view is estimated, and with it the scroll bar.
    window.presses(CTRL_HOME)
    window.sees("Tell")
    window.presses(CTRL_END)
    window.sees("tokens in")
    window.settles()
    grid = window.grid
    window.presses(CTRL_L)
    window.settles()
    assert window.grid == grid
    return grid


@in_each
def test_a_paste_of_43_lines_is_shown_as_one_and_said_as_it_is(home: Home, kind: type[Window]) -> None:
    with FakeModel([Say("Read.")]) as fake, kind(home, **variables(fake)) as window:
        opens_chat(window)
        window.pastes("\r".join(f"line {number}" for number in range(43)))
        window.sees("[pasted 43 lines]")
        assert fake.requests == []
        window.presses(ENTER)
        window.sees("Read.")
        said = fake.requests[-1].last_user_text
        assert said == "\n".join(f"line {number}" for number in range(43))


@in_each
def test_ctrl_c_stops_then_empties_dismisses_a_question_and_leaves_when_pressed_twice(
    home: Home, kind: type[Window]
) -> None:
    home.configure(demo=DEMO)
    script = [Hold("first"), [Call("mcp__demo__add", {"a": 2, "b": 40})], Say("Fine.")]
    with FakeModel(script) as fake, kind(home, **variables(fake)) as window:
        window.runs(*CHAT)
        window.sees(READY)
        window.presses(f"Wait{ENTER}")
        window.waits(lambda: len(fake.requests) == 1, "the model was not asked")
        window.presses(CTRL_C)
        window.sees("Stopped.")
        window.presses("half a word")
        window.sees("half a word")
        window.presses(CTRL_C)
        window.sees_no_more("half a word")
        window.presses(f"Add{ENTER}")
        window.sees("Call it?")
        window.settles()
        window.presses(CTRL_C)
        window.sees_no_more("Call it?")
        window.sees("❯ Add")
        assert len(fake.requests) == 2, "a question that is dismissed ends the turn"
        window.presses(CTRL_C)
        window.sees("Ctrl+C again leaves")
        window.presses(CTRL_C)
        window.sees(RESUME)
        window.waits_for_chats(0)
        uses_shell(window)
        assert window.left_by_chat() == []


def test_ctrl_c_copies_what_the_mouse_has_selected_and_stops_nothing(home: Home) -> None:
    script = [[Say("Select these words, please.\n"), Hold("rest"), Say("Done.")]]
    with FakeModel(script) as fake, Window(home, **variables(fake)) as window:
        opens_chat(window)
        window.presses(f"Say{ENTER}")
        rows = window.sees("Select these words").split("\n")
        y = next(number for number, row in enumerate(rows, 1) if "Select these words" in row)
        x = rows[y - 1].index("these") + 1
        window.presses(f"\x1b[<0;{x};{y}M\x1b[<32;{x + 2};{y}M\x1b[<32;{x + 4};{y}M\x1b[<0;{x + 4};{y}m")
        window.settles()
        window.presses(CTRL_C)
        window.sees("Copied 5 characters")
        assert "\x1b]52;c;dGhlc2U=\x07" in window.raw
        fake.release("rest")
        window.sees("Done.")


@in_each
def test_ctrl_z_gives_the_shell_back_and_fg_the_chat(home: Home, kind: type[Window]) -> None:
    with FakeModel([Say("One."), Say("Two.")]) as fake, kind(home, **variables(fake)) as window:
        opens_chat(window)
        window.presses(f"First{ENTER}")
        window.sees("One.")
        window.presses("half a word")
        window.sees("half a word")
        for number in (1, 2):
            window.presses(CTRL_Z)
            window.sees("Stopped")
            uses_shell(window, number)
            window.runs("fg")
            window.sees("half a word")
            window.sees_no_more(f"sum {number + 41}")
            assert "One." in window.screen
        window.presses(CTRL_C)
        window.sees_no_more("half a word")
        window.presses(f"Second{ENTER}")
        window.sees("Two.")
        window.resizes(80, 24)
        window.settles()
        assert "Two." in window.screen
        window.presses(f"/quit{ENTER}")
        window.sees(RESUME)
        window.waits_for_chats(0)
        uses_shell(window, 3)


@in_each
def test_a_terminal_that_is_killed_leaves_no_process(home: Home, kind: type[Window]) -> None:
    home.configure(demo=DEMO)
    with FakeModel([Hold("ever")]) as fake, kind(home, **variables(fake)) as window:
        window.runs(*CHAT)
        window.sees(READY)
        window.presses(f"Wait{ENTER}")
        window.waits(lambda: len(fake.requests) == 1, "the model was not asked")
        assert window.find_chats()
        window.kill_terminal()
        assert window.left() == []


@in_each
def test_everything_works_by_keyboard_on_40_columns_and_12_lines(home: Home, kind: type[Window]) -> None:
    home.configure(demo=DEMO)
    script = [Call("mcp__demo__add", {"a": 2, "b": 40}), Say(f"The needle.\n\n{STORY}"), Say("Bye.")]
    with FakeModel(script) as fake, kind(home, 40, 12, **variables(fake)) as window:
        window.runs(*CHAT)
        window.sees("ask")
        window.presses(f"Add{ENTER}")
        window.sees("[y]es once")
        window.settles()
        window.presses(f"y{ENTER}")
        window.sees("The end.")
        window.presses("\x1b[5~\x1b[5~")
        window.sees("rows below")
        window.presses("\x06needle")
        window.sees("The needle.")
        window.presses(ESCAPE)
        window.settles()
        window.presses(CTRL_END)
        window.sees("The end.")
        window.presses("\x1b[Z")
        window.sees("edits")
        window.presses("\x1b[1;3A\x1bo")
        window.settles()
        window.presses(ESCAPE)
        window.settles()
        window.presses(f"Bye{ENTER}")
        window.sees("Bye.")
        window.presses(f"/quit{ENTER}")
        window.waits_for_chats(0)
        uses_shell(window)
