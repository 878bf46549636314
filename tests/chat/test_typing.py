"""What a person types and pastes: several lines are one message, and words that leave do."""

import termios
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.models import Call, FakeModel, Hold, Say

from backends.asking import MODELS, variables
from chat import late_lines
from chat.libedit import build_libedit
from chat.terminal import Person
from support import DEMO, Home

PASTE = "\x1b[200~{}\x1b[201~"


EDITORS = ["GNU readline", "libedit", "no editor"]


@pytest.fixture(params=EDITORS)
def environment(request: pytest.FixtureRequest, home: Home) -> dict[str, str]:
    """With each editor of lines that a Python can have."""
    match request.param:
        case "GNU readline":
            return {}
        case "libedit":
            return build_libedit(home.folder / "libedit")
        case _:
            return use_no_editor(home)


def use_no_editor(home: Home) -> dict[str, str]:
    home.write("without/readline.py", "raise ImportError('there is none')\n")
    return {"PYTHONPATH": str(home.folder / "without")}


@contextmanager
def chatting(home: Home, fake: FakeModel, environment: dict[str, str]) -> Iterator[Person]:
    home.configure(demo=DEMO)
    words = ("chat", "-m", MODELS["anthropic"])
    with Person(home, *words, real=True, **environment, **variables(fake)) as person:
        person.sees("answers.")
        person.sees("> ")
        yield person


def list_requests(fake: FakeModel) -> list[str]:
    """What the person said, by request."""
    return [request.messages[-1].text for request in fake.requests]


def test_a_paste_of_many_lines_is_one_message_and_nothing_in_it_is_a_command(
    home: Home, environment: dict[str, str]
) -> None:
    lines = [f"line {number}" for number in range(200)]
    lines[0] = "/quit"
    lines[70] = "/quit"
    lines[71] = "touch was-here"
    with FakeModel([Say("I got it.")]) as fake, chatting(home, fake, environment) as person:
        person.presses(PASTE.format("\r".join(lines)))
        person.presses("\r")
        person.sees("I got it.")
        assert len(fake.requests) == 1
        assert "\n".join(lines) in list_requests(fake)[0]
        person.sees("> ")
        person.types("/quit")
        assert person.ended() == 0
    assert not (home.cwd / "was-here").exists()


def test_a_paste_while_the_model_answers_is_one_message_too(home: Home, environment: dict[str, str]) -> None:
    with FakeModel([Say("One."), Say("Two.")]) as fake, chatting(home, fake, environment) as person:
        person.presses("first\r" + PASTE.format("a\tb\r/quit\rc") + "\r")
        person.sees("Two.")
        assert [said.split("\n\n")[-1] for said in list_requests(fake)] == ["first", "a\tb\n/quit\nc"]


def test_what_was_typed_before_a_question_is_in_the_input_line_after_it(
    home: Home, environment: dict[str, str]
) -> None:
    script = [Call("mcp__demo__echo", {"text": "hello"}), Say("One."), Say("Two.")]
    with FakeModel(script) as fake, chatting(home, fake, environment) as person:
        # In one go, so that the second line is certainly typed before the question.
        person.presses("first\ry\r")
        person.sees("Call it?")
        person.types("n")
        person.sees("One.")
        person.sees("> y")
        person.types("es, go on")
        person.sees("Two.")
        assert list_requests(fake)[-1].endswith("yes, go on")


def test_what_was_typed_before_a_question_can_be_corrected_after_it(home: Home, environment: dict[str, str]) -> None:
    script = [Call("mcp__demo__echo", {"text": "hello"}), Say("One."), Say("Two."), Say("Three.")]
    with FakeModel(script) as fake, chatting(home, fake, environment) as person:
        person.presses("first\ryes, go\r")
        person.sees("Call it?")
        person.types("n")
        person.sees("> yes, go")
        person.presses("\x7f" * len("yes, go") + "no, stop\r")
        person.sees("Two.")
        assert list_requests(fake)[-1] == "no, stop"
        # Nothing of it is left in the next line.
        person.sees("> ")
        person.types("third")
        person.sees("Three.")
        assert list_requests(fake)[-1] == "third"


def test_what_an_editor_left_can_be_corrected_and_edited_again(home: Home, environment: dict[str, str]) -> None:
    editor = home.write("editor", '#!/bin/sh\nprintf "%s, wrong" "$(cat "$1")" > "$1"\n')
    editor.chmod(0o700)
    with FakeModel([Say("I got it.")]) as fake, chatting(home, fake, {**environment, "EDITOR": str(editor)}) as person:
        person.presses("begun\x18\x05")
        person.sees("> begun, wrong")
        person.presses("\x7f" * len("wrong") + "right\x18\x05")
        person.sees("> begun, right, wrong")
        person.presses("\x17better\r")
        person.sees("I got it.")
        assert list_requests(fake)[0].endswith("begun, right, better")


def test_an_editor_opens_on_what_is_typed(home: Home, environment: dict[str, str]) -> None:
    script = 'cat "$1" > seen; printf "more\\nlines\\n" >> "$1"'
    editor = home.write("editor", f"#!/bin/sh\ncd {home.cwd}\n{script}\n")
    editor.chmod(0o700)
    with FakeModel([Say("I got it.")]) as fake, chatting(home, fake, {**environment, "EDITOR": str(editor)}) as person:
        person.presses("begun: \x18\x05")
        person.sees("lines")
        person.types("")
        person.sees("I got it.")
        assert (home.cwd / "seen").read_text() == "begun: "
        assert list_requests(fake)[0].endswith("begun: more\nlines")


def test_a_line_stays_where_no_editor_is_named(home: Home, environment: dict[str, str]) -> None:
    unnamed = {"EDITOR": "", "VISUAL": ""}
    with FakeModel([Say("I got it.")]) as fake, chatting(home, fake, {**environment, **unnamed}) as person:
        person.presses("begun\x18\x05")
        person.sees("Neither VISUAL nor EDITOR names your editor")
        person.sees("> begun")
        person.types("")
        person.sees("I got it.")
        assert list_requests(fake)[0].endswith("begun")


def test_ctrl_j_goes_on_with_the_message(home: Home, environment: dict[str, str]) -> None:
    with FakeModel([Say("I got it.")]) as fake, chatting(home, fake, environment) as person:
        person.presses("first\nsecond\r")
        person.sees("I got it.")
        assert list_requests(fake)[0].endswith("first\nsecond")


def test_keys_that_correct_a_line_do_so_without_an_editor_of_lines(home: Home) -> None:
    with FakeModel([Say("I got it.")]) as fake, chatting(home, fake, use_no_editor(home)) as person:
        person.presses("all wrong\x15two words\x17wörr\x7fds\x1b[A\r")
        person.sees("I got it.")
        assert list_requests(fake)[0].endswith("two wörds")


def test_the_terminal_is_as_before_when_the_chat_has_ended(home: Home, environment: dict[str, str]) -> None:
    with FakeModel([]) as fake, chatting(home, fake, environment) as person:
        before = person.read_settings()
        person.types("/quit")
        assert person.ended() == 0
        assert person.read_settings() != before
        assert person.read_settings()[3] & termios.ICANON
        assert person.read_settings()[3] & termios.ECHO
        assert person.raw.rfind("\x1b[?2004l") > person.raw.rfind("\x1b[?2004h")


def test_a_line_goes_on_behind_a_backslash(home: Home, environment: dict[str, str]) -> None:
    with FakeModel([Say("I got it.")]) as fake, chatting(home, fake, environment) as person:
        person.types("first \\")
        person.sees("… ")
        person.types("second")
        person.sees("I got it.")
        assert "first \nsecond" in list_requests(fake)[0]


def test_a_line_that_was_typed_while_the_model_answered_is_the_next_message(
    home: Home, environment: dict[str, str]
) -> None:
    with FakeModel([Say("One."), Say("Two.")]) as fake, chatting(home, fake, environment) as person:
        # Its Enter reaches the terminal before the editor of lines does.
        person.presses("first\rsecond\r")
        person.sees("Two.")
        assert [said.splitlines()[-1] for said in list_requests(fake)] == ["first", "second"]


def test_what_is_typed_while_a_model_is_awaited_is_not_in_the_line_about_that(
    home: Home, environment: dict[str, str]
) -> None:
    script = [[Hold("reply"), Say("One.")], Say("Two.")]
    with FakeModel(script) as fake, chatting(home, fake, environment) as person:
        person.types("first")
        person.sees("waiting for the model · 0 s")
        person.presses("ahead")
        person.sees("waiting for the model · 2 s")
        assert "ahead" not in person.shown
        fake.release("reply")
        person.sees("One.")
        person.sees("> ahead")
        person.types("")
        person.sees("Two.")
        assert list_requests(fake)[-1].endswith("ahead")


def test_two_backslashes_and_a_pasted_one_are_part_of_the_message(home: Home, environment: dict[str, str]) -> None:
    with FakeModel([Say("One."), Say("Two.")]) as fake, chatting(home, fake, environment) as person:
        person.types("C:\\\\")
        person.sees("One.")
        person.presses(PASTE.format("a\rb \\"))
        person.presses("\r")
        person.sees("Two.")
        assert list_requests(fake)[0].endswith("C:\\\\")
        assert list_requests(fake)[1].endswith("a\nb \\")


@pytest.mark.parametrize("word", ["exit", "quit"])
def test_a_word_that_leaves_a_shell_leaves_the_chat_and_is_no_request(home: Home, word: str) -> None:
    with FakeModel([]) as fake, chatting(home, fake, {}) as person:
        person.types(word)
        assert person.ended() == 0
        assert fake.requests == []


def test_a_prompt_stands_there_once_whatever_is_said_before_it_is_drawn(
    home: Home, environment: dict[str, str]
) -> None:
    with Person(home, program=late_lines.__file__, real=True, **environment) as person:
        person.sees("late\n")
        person.types("this")
        person.sees("got this")
        assert person.ended() == 0
    assert "> >" not in person.shown
