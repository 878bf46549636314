"""The chat on a whole screen: a person at a terminal, a scripted model and real servers."""

import signal
import sys
import time

import pytest
from tests.models import Call, FakeModel, Hold, Say

from backends.asking import KEY, MODELS, variables
from chat.screen.screen_person import CTRL_C, CTRL_D, CTRL_J, ENTER, ESCAPE, ScreenPerson
from support import DEMO, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]
READY = "ask · mcp"


def meet(home: Home, fake: FakeModel, *words: str, cells: int = 100, rows: int = 30, **env: str) -> ScreenPerson:
    model = MODELS["anthropic"]
    return ScreenPerson(home, "chat", "-m", model, *words, cells=cells, rows=rows, **variables(fake), **env)


def says(*words: str) -> list[Say]:
    return [Say(each) for each in words]


def test_a_turn_with_a_call_is_asked_about_answered_and_stays_on_the_normal_screen(home: Home) -> None:
    home.configure(demo=DEMO)
    script = [[Say("Let me add.\n"), Call("mcp__demo__add", {"a": 2, "b": 40})], Say("It is 42.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        person.looks_for(READY)
        person.presses(f"Add these{ENTER}")
        person.looks_for("Call it?")
        assert "🔌 demo / add" in person.screen
        person.presses(f"y{ENTER}")
        screen = person.looks_for("It is 42.")
        assert "❯ Add these" in screen
        assert "Let me add." in screen
        assert '"sum": 42' in screen
        person.presses(f"/quit{ENTER}")
        assert person.ended() == 0, person.raw[-2000:]
        assert "It is" in person.left_behind
        assert "To continue this conversation: mooring chat --resume" in person.left_behind
        assert "Traceback" not in person.raw
        assert KEY not in person.raw
        assert person.left() == []


BREAKING = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    method, result = request.get("method"), {}
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "b", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        print("before it broke\\nthe disk is full \\x1b[31m", file=sys.stderr, flush=True)
        result = {"content": [{"type": "text", "text": "it broke"}], "isError": True}
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


def test_a_call_that_fails_shows_the_end_of_its_servers_stderr(home: Home) -> None:
    home.configure(breaking={"command": sys.executable, "args": [str(home.write("breaking.py", BREAKING))]})
    script = [[Call("mcp__breaking__go", {})], Say("It failed.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        person.looks_for(READY)
        person.presses(f"Go{ENTER}")
        person.looks_for("Call it?")
        person.presses(f"y{ENTER}")
        person.looks_for("It failed.")
        screen = person.looks_for("the disk is full \\x1b[31m")
        assert "✗ 🔌 breaking / go" in screen
        assert "it broke" in screen


def test_what_is_typed_while_it_works_waits_and_comes_back_when_it_is_stopped(home: Home) -> None:
    with FakeModel([Hold("first"), Say("Second.")]) as fake, meet(home, fake) as person:
        person.looks_for("answers")
        person.presses(f"First{ENTER}")
        person.looks_for("waiting for the model")
        person.presses(f"And this{ENTER}")
        person.looks_for("↳ And this")
        person.presses(ESCAPE)
        person.looks_for("Stopped.")
        assert "↳" not in person.screen
        person.presses(ENTER)
        person.looks_for("Second.")
        assert [each.last_user_text for each in fake.requests][-1].endswith("And this")


def test_what_waits_goes_into_the_turn_and_is_shown_where_the_model_reads_it(home: Home) -> None:
    home.configure(demo=DEMO)
    script = [[Say("Adding. "), Call("mcp__demo__add", {"a": 2, "b": 40})], [Hold("second"), Say("42.")], Say("Blue.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        person.looks_for(READY)
        person.presses(f"Add these{ENTER}")
        person.looks_for("Call it?")
        person.presses(f"y{ENTER}")
        person.looks_for("waiting for the model")
        person.presses(f"In blue{ENTER}")
        person.looks_for("↳ In blue")
        person.presses(ENTER)
        person.looks_for("→ In blue")
        assert len(fake.requests) == 2
        fake.release("second")
        person.looks_for("Blue.")
        screen = person.looks_until_gone("→")
        assert screen.index("42.") < screen.index("❯ In blue") < screen.index("Blue.")
        assert screen.count("In blue") == 1
        assert fake.requests[-1].last_user_text == "In blue"
        person.presses(f"/quit{ENTER}")
        assert person.ended() == 0, person.raw[-3000:]


def test_what_was_sent_into_a_turn_comes_back_when_the_turn_is_stopped_before_it_was_read(home: Home) -> None:
    with FakeModel([Hold("first"), Say("Second.")]) as fake, meet(home, fake) as person:
        person.looks_for("answers")
        person.presses(f"First{ENTER}")
        person.looks_for("waiting for the model")
        person.presses(f"And this{ENTER}")
        person.looks_for("↳ And this")
        person.presses(ENTER)
        person.looks_for("→ And this")
        person.presses(ESCAPE)
        person.looks_for("Stopped.")
        person.presses(f", please{ENTER}")
        person.looks_for("Second.")
        assert fake.requests[-1].last_user_text.endswith("And this, please")


def test_a_command_that_waits_is_never_sent_to_the_model(home: Home) -> None:
    with FakeModel([[Hold("first"), Say("One.")], Say("Two.")]) as fake, meet(home, fake) as person:
        person.looks_for("answers")
        person.presses(f"First{ENTER}")
        person.looks_for("waiting for the model")
        person.presses(f"/cost{ENTER}Then this{ENTER}")
        person.looks_for("↳ Then this")
        person.presses(ENTER)
        person.looks_for("A command waits until the turn is over")
        fake.release("first")
        person.looks_for("Two.")
        assert fake.requests[-1].last_user_text == "Then this"
        assert "This conversation, 1 turn" in person.screen


def test_lines_that_arrive_at_once_are_all_said_in_their_order(home: Home) -> None:
    with FakeModel(says("One.", "Two.", "Three.")) as fake, meet(home, fake) as person:
        person.looks_for("answers")
        person.presses(f"first{ENTER}second{ENTER}third{ENTER}")
        person.looks_for("Three.")
        assert [each.last_user_text for each in fake.requests] == ["first", "second", "third"]


def test_a_paste_of_many_lines_is_shown_as_one_and_said_as_it_is(home: Home) -> None:
    pasted = "\r".join(f"line {number}" for number in range(43))
    with FakeModel(says("Read.")) as fake, meet(home, fake) as person:
        person.looks_for("answers")
        person.presses(f"\x1b[200~{pasted}\x1b[201~")
        person.looks_for("[pasted 43 lines]")
        assert fake.requests == []
        person.presses(ENTER)
        person.looks_for("Read.")
        assert "line 0\nline 1\n" in fake.requests[-1].last_user_text
        assert "line 42" in fake.requests[-1].last_user_text


def test_keys_that_arrive_at_once_are_taken_in_their_order(home: Home) -> None:
    with FakeModel(says("One.")) as fake, meet(home, fake) as person:
        person.looks_for("answers")
        person.presses(f"abc\x7f\x7fd\x1b[De\x1b[C\x7ff{ENTER}")
        person.looks_for("One.")
        assert fake.requests[0].last_user_text == "aef"
        person.presses(CTRL_D)
        assert person.ended() == 0


def test_ctrl_j_and_a_backslash_begin_another_line(home: Home) -> None:
    with FakeModel(says("Two.")) as fake, meet(home, fake) as person:
        person.looks_for("answers")
        person.presses(f"one{CTRL_J}two\\{ENTER}three")
        person.looks_for("three")
        person.presses(ENTER)
        person.looks_for("Two.")
        assert "one\ntwo\nthree" in fake.requests[-1].last_user_text


def test_ctrl_c_empties_the_input_and_only_the_second_one_in_time_leaves(home: Home) -> None:
    with FakeModel(says("Yes.")) as fake, meet(home, fake) as person:
        person.looks_for("answers")
        person.presses("not this")
        person.looks_for("not this")
        person.presses(CTRL_C)
        person.looks_until_gone("not this")
        person.presses(CTRL_C)
        person.looks_for("Ctrl+C again leaves")
        time.sleep(2.2)  # as a person who goes on after all
        person.presses(CTRL_C)
        person.looks_for("Ctrl+C again leaves")
        person.presses(CTRL_C)
        assert person.ended() == 0, person.raw[-3000:]
        assert person.left() == []


def test_ctrl_d_leaves_an_empty_input(home: Home) -> None:
    with FakeModel(says("Yes.")) as fake, meet(home, fake) as person:
        person.looks_for("answers")
        person.presses(CTRL_D)
        assert person.ended() == 0, person.raw[-3000:]


def test_keys_typed_before_a_question_appears_never_answer_it(home: Home) -> None:
    home.configure(demo=DEMO)
    script = [Call("mcp__demo__add", {"a": 2, "b": 40}), Say("Done.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        person.looks_for(READY)
        person.presses(f"Add{ENTER}y{ENTER}")
        person.looks_for("Call it?")
        time.sleep(0.5)  # an answer would have been taken by now
        assert "Call it?" in person.screen
        assert len(fake.requests) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_an_order_to_end_gives_the_terminal_back(home: Home, number: int) -> None:
    with FakeModel(says("Yes.")) as fake, meet(home, fake) as person:
        person.looks_for("answers")
        before = person.read_settings()
        person.presses(f"Hi{ENTER}")
        person.looks_for("Yes.")
        person.is_sent(number)
        assert person.ended() == -number
        assert "Yes." in person.left_behind
        assert "mooring chat --resume" in person.left_behind
        assert person.read_settings()[3] != before[3], "keys are echoed again"
        assert person.left() == []


def test_a_window_that_is_closed_leaves_no_process(home: Home) -> None:
    home.configure(demo=DEMO)
    with FakeModel(says("Yes.")) as fake, meet(home, fake) as person:
        person.looks_for(READY)
        person.closes_the_window()
        until = time.monotonic() + 20
        while person.left() and time.monotonic() < until:
            time.sleep(0.05)
        assert person.left() == []


def test_a_window_of_any_size_never_ends_it(home: Home) -> None:
    with FakeModel(says("Still here.")) as fake, meet(home, fake) as person:
        person.looks_for("answers")
        for cells, rows in [(20, 5), (250, 80), (40, 12), (1, 1), (80, 24)] * 5:
            person.resizes(cells, rows)
            time.sleep(0.01)
        person.presses(f"Hi{ENTER}")
        person.looks_for("Still here.")
        person.resizes(30, 10)
        person.looks_for("Mooring needs 40 columns")
        person.resizes(100, 30)
        person.looks_for("Still here.")
        assert "Traceback" not in person.raw


def test_words_are_found_in_what_was_said_and_the_view_returns_to_the_end(home: Home) -> None:
    long = "\n\n".join(f"Paragraph {number}." for number in range(60))
    with FakeModel(says(f"The needle.\n\n{long}")) as fake, meet(home, fake) as person:
        person.looks_for("answers")
        person.presses(f"Tell{ENTER}")
        person.looks_for("Paragraph 59.")
        person.presses("\x06needle")
        person.looks_for("The needle.")
        assert "rows below" in person.looks_for("rows below")
        person.presses(f"{ESCAPE}\x1b[1;5F")
        person.looks_for("Paragraph 59.")


def test_what_was_said_before_is_found_by_its_words_and_said_again(home: Home) -> None:
    with FakeModel(says("One.", "Two.", "Three.")) as fake, meet(home, fake) as person:
        person.looks_for("answers")
        for said, reply in (("count the harbors", "One."), ("and the ships", "Two.")):
            person.presses(f"{said}{ENTER}")
            person.looks_for(reply)
        person.presses("\x12harb")
        person.looks_for("search: harb")
        person.presses(ENTER)
        person.looks_for("Three.")
        assert fake.requests[-1].last_user_text == "count the harbors"


def test_a_conversation_that_goes_on_stands_there_and_only_what_is_new_is_left_behind(home: Home) -> None:
    with FakeModel(says("The first reply.", "The second reply.")) as fake:
        with meet(home, fake) as person:
            person.looks_for("answers")
            person.presses(f"First question{ENTER}")
            person.looks_for("The first reply.")
            person.presses(f"/quit{ENTER}")
            assert person.ended() == 0, person.raw[-3000:]
        with meet(home, fake, "--continue") as person:
            screen = person.looks_for("Continuing")
            assert "❯ First question" in screen
            assert "The first reply." in screen
            person.presses(f"Second question{ENTER}")
            person.looks_for("The second reply.")
            person.presses(f"/quit{ENTER}")
            assert person.ended() == 0, person.raw[-3000:]
            assert "The second reply." in person.left_behind
            assert "The first reply." not in person.left_behind
