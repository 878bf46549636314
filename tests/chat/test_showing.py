"""What a chat shows of calls: a line for each, a few lines of what came back, and the rest on request."""

import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.models import Call, Fail, FakeModel, Hold, Say

from backends.asking import MODELS, variables
from chat.terminal import SECONDS, Person
from mooring.permissions.audit import read_log
from support import DEMO, Actor, Home, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal"),
]

READY, CALL_IT = "\n> ", 'because …"): '


def leave(person: Person) -> None:
    person.types("/quit")
    assert person.ended() == 0, person.shown
    assert "Traceback" not in person.raw


def write_numbered(home: Home, count: int, more: str = "") -> Path:
    return home.write("project/long.txt", "\n".join(f"line {number}{more}" for number in range(count)))


def meet(home: Home, fake: FakeModel, *words: str, cells: int = 0) -> Person:
    return Person(home, "chat", "-m", MODELS["anthropic"], *words, cells=cells, **variables(fake))


def test_a_call_is_one_line_and_five_of_what_came_back_and_show_has_the_rest(home: Home) -> None:
    text = write_numbered(home, 1300)
    with Person(home, "chat", "--demo", "--allow", "*") as person:
        person.answers((READY, "/call demo.echo text=hi"), ('✓ 🔌 demo / echo "hi" · ', ""), ("\nhi", ""))
        person.answers((READY, f"/call demo.echo text=@{text}"))
        person.sees('✓ 🔌 demo / echo "line 0\\nline 1')
        assert re.fullmatch(r".* · [\d.]+ m?s\nline 0\nline 1\nline 2\nline 3\n", person.sees("line 4\n"))
        assert person.sees(READY).startswith("… 1,295 more lines: /show 2")
        person.types("/show 2")
        person.sees("MCP Tool Result\nInput:\n")
        person.sees("Output:\nline 0\n")
        assert len(person.sees("\nline 1299").splitlines()) == 1298
        person.answers((READY, "/show"))
        listed = person.sees(READY)
        assert '1  ✓ 🔌 demo / echo "hi" · ' in listed
        assert "2  ✓ 🔌 demo / echo " in listed
        for wrong, why in (
            ("3", "There is no call 3."),
            ("x", "'x' is not the number of a call."),
            ("²", "'²' is not"),
        ):
            person.types(f"/show {wrong}")
            person.sees(why)
            person.sees(READY)
        leave(person)


def test_two_chats_count_their_own_calls(home: Home) -> None:
    with (
        Person(home, "chat", "--demo", "--allow", "*") as one,
        Person(home, "chat", "--demo", "--allow", "*") as other,
    ):
        one.answers((READY, "/call demo.echo text=mine"), ("\nmine", ""), (READY, "/call demo.echo text=again"))
        one.sees("\nagain")
        other.answers((READY, "/call demo.echo text=theirs"), ("\ntheirs", ""), (READY, "/show 2"))
        other.sees("There is no call 2.")
        one.answers((READY, "/show 2"), ('"text": "again"', ""))
        other.answers((READY, "/show 1"), ('"text": "theirs"', ""))
        leave(one)
        leave(other)


def test_a_result_too_long_to_keep_is_shown_in_part_and_its_file_named(home: Home) -> None:
    text = write_numbered(home, 1300, "x" * 400)
    with Person(home, "chat", "--demo", "--allow", "*") as person:
        person.answers((READY, f"/call demo.echo text=@{text}"), ("\n… more: /show 1", ""), (READY, "/show 1"))
        person.sees("Shown in part; the whole is in ")
        path = person.sees(".txt")
        assert Path(f"{path}.txt").read_text() == text.read_text()
        leave(person)
        # Advice on how a model reads the rest is not for a person.
        assert "ToolResult" not in person.shown


def test_what_a_question_has_shown_is_not_printed_again(home: Home) -> None:
    with Person(home, "--demo") as person:
        person.answers((READY, "/call demo.echo text=once"), (CALL_IT, "y"), ("✓ 🔌 demo / echo", ""))
        assert "Input:" not in person.sees(READY)
        leave(person)


def test_reads_and_searches_in_a_row_are_counted_and_a_failed_one_is_shown(home: Home) -> None:
    home.configure(demo=DEMO)
    write_numbered(home, 300)
    script: list[Any] = [
        [Call("Read", {"file_path": "long.txt"}), Call("Grep", {"pattern": "line 7"})],
        [Call("Read", {"file_path": "long.txt", "limit": 2}), Call("Glob", {"pattern": "*.txt"})],
        Call("Read", {"file_path": "none.txt"}),
        Call("mcp__demo__echo", {"text": "between"}),
        Call("Read", {"file_path": "long.txt"}),
        Say("Done."),
    ]
    with FakeModel(script) as fake, meet(home, fake, "--allow", "*") as person:
        person.answers((READY, "Look around"))
        person.sees("✓ read 2 files, searched 2 times\n✗ ⚙ Read none.txt · ")
        person.sees('✓ 🔌 demo / echo "between" · ')
        assert person.sees("Done.").count("✓ ⚙ Read long.txt · ") == 1
        person.sees(READY)
        assert "line 299" not in person.shown
        person.types("/show 1")
        person.sees("line 299")
        leave(person)


def test_a_plan_is_a_checklist_and_nothing_else(home: Home) -> None:
    steps = [{"content": "Look", "status": "completed"}, {"content": "Fix it", "status": "in_progress"}]
    script: list[Any] = [Call("TodoWrite", {"todos": [*steps, {"content": "Test it"}]}), Say("Planned.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        person.answers((READY, "Plan"))
        shown = person.sees("Planned.")
        assert "☑ Look\n▶ Fix it\n☐ Test it\n" in shown
        assert "✓ ⚙ TodoWrite" not in shown
        assert "{" not in shown
        person.sees(READY)
        leave(person)


def test_what_the_agent_asks_reads_like_a_question(home: Home) -> None:
    options = [{"label": "Blue", "description": "like the sea"}, {"label": "Red"}]
    asked = [{"question": "Which color?", "header": "color", "options": options}]
    script: list[Any] = [Call("AskUserQuestion", {"questions": asked}), Say("Good.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        person.answers((READY, "Paint it"), ("n to decline: ", ""))
        person.answers(("1. color (one of these, Enter skips): ", "Blue"), ("other (text, Enter skips): ", ""))
        person.sees("✓ ⚙ AskUserQuestion · ")
        shown = person.sees("Good.")
        assert "\nWhich color? Blue\n" in shown
        assert "{" not in person.shown
        person.sees(READY)
        leave(person)


def test_a_long_diff_ends_with_the_path_that_it_is_about(home: Home) -> None:
    write_numbered(home, 300)
    new = "\n".join(["++ b/other.txt", *(f"new {number}" for number in range(200))])
    script: list[Any] = [Call("Write", {"file_path": "made.txt", "content": new}), Say("Written.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        person.answers((READY, "Write it"))
        question = person.sees(CALL_IT)
        assert "⚙ Write\n" in question
        assert "+++ " in question
        assert re.search(r"\+new 199\n\\ No newline at end of file\nthis changes \S*made\.txt\n", question)
        person.types("y")
        person.sees("✓ ⚙ Write made.txt · ")
        person.sees(READY)
        leave(person)


def test_what_a_tool_returns_cannot_pass_for_a_line_of_ours_or_steer_the_terminal(home: Home, tmp_path: Path) -> None:
    evil = "\x1b]0;gone\x07\u202e ok"
    home.configure(evil=Actor(tmp_path / "evil.json", tools=["speak"], says={"speak": evil}).entry)
    with Person(home, "chat", "--allow", "*") as person:
        person.answers((READY, "/call evil.speak"), ("✓ 🔌 evil / speak", ""), (READY, "/show 1"))
        person.sees("Output:\n")
        person.sees("\\x1b]0;gone")
        leave(person)
        assert "\x1b]0;" not in person.raw
        assert "\u202e" not in person.raw


def wait_until_recorded(home: Home, tool: str) -> None:
    """Wait until a call of this tool has ended."""
    until = time.monotonic() + SECONDS
    while not any(entry.tool == tool and entry.outcome == "ok" for entry in read_log(home.where)):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_nothing_is_printed_between_a_question_and_its_answer(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    home.configure(demo=DEMO, actor=actor.entry)
    script: list[Any] = [
        [Call("mcp__demo__echo", {"text": "x"}), Call("mcp__actor__nap", {"seconds": 1})],
        Say("Done."),
    ]
    with FakeModel(script) as fake, meet(home, fake, "--allow", "actor.*") as person:
        person.answers((READY, "Do both"))
        person.sees(CALL_IT)
        wait_until_recorded(home, "nap")
        person.types("y")
        # What was typed stands right behind the question.
        assert person.sees("✓ 🔌 actor / nap").startswith("y\n")
        person.sees("Done.")
        person.sees(READY)
        assert '✓ 🔌 demo / echo "x" · ' in person.shown
        leave(person)


def test_questions_wait_for_each_other_and_say_which_of_how_many_they_are(home: Home) -> None:
    home.configure(demo=DEMO)
    # Questions about one tool are put one by one: an answer to the first may settle the others.
    calls = [Call("mcp__demo__echo", {"text": "x"}), Call("mcp__demo__add", {"a": 1, "b": 2}), Call("mcp__demo__fail")]
    with FakeModel([calls, Say("Done.")]) as fake, meet(home, fake) as person:
        person.answers((READY, "Say all"))
        for number, tool in enumerate(("echo", "add", "fail"), 1):
            asked = person.sees(CALL_IT)
            assert f"🔌 demo / {tool}\n" in asked
            assert number == 1 or f"Question {number} of 3\n" in asked
            person.types("y")
        person.sees("Done.")
        person.sees(READY)
        leave(person)


def test_a_question_by_itself_has_no_number(home: Home) -> None:
    with Person(home, "--demo") as person:
        for text in ("one", "two"):
            person.answers((READY, f"/call demo.echo text={text}"))
            assert "Question" not in person.sees(CALL_IT)
            person.types("y")
        person.sees(READY)
        leave(person)


def test_code_and_json_are_never_broken_and_prose_is(home: Home) -> None:
    home.configure(demo=DEMO)
    command = "curl " + " ".join(f"--header 'X-Number-{number}: {number}'" for number in range(12))
    long_text = "some words " * 20
    prose = "these are words of a sentence " * 5
    reply = f"{prose}\n```sh\n{command}\n```\n~~~~\n~~~\n{command} again\n~~~~\n{prose}"
    script: list[Any] = [Call("mcp__demo__echo", {"text": long_text}), Say(reply)]
    with FakeModel(script) as fake, meet(home, fake, cells=100) as person:
        person.answers((READY, "Show it"))
        assert f'\n  "text": "{long_text}"\n' in person.sees(CALL_IT)
        person.types("y")
        person.sees(f"\n{long_text}\n")
        shown = person.sees("tokens in")
        assert f"{command}\n" in shown
        assert f"{command} again\n" in shown
        assert prose not in shown
        person.answers((READY, "/show 1"), (f'\n  "text": "{long_text}"\n', ""))
        person.sees(READY)
        leave(person)


def test_while_a_model_is_awaited_a_line_says_how_long_what_it_took_and_what_ends_it(home: Home) -> None:
    script: list[Any] = [Call("TodoWrite", {"todos": [{"content": "Look"}]}), Hold("go")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        person.sees("starting · 0 s · Ctrl+C ends it")
        person.answers((READY, "Take your time"))
        person.sees("waiting for the model · 0 s · Ctrl+C ends it")
        person.sees("☐ Look")
        waited = person.sees(" tokens · Ctrl+C ends it")
        assert re.search(r"waiting for the model · \d+ s · [\d,]+$", waited)
        person.sees("waiting for the model · 2 s · ")
        person.presses("\x03")
        person.sees("Stopped.")
        person.sees(READY)
        leave(person)


def test_ctrl_c_ends_a_chat_that_is_starting(home: Home) -> None:
    with FakeModel([]) as fake, meet(home, fake) as person:
        person.sees("starting · ")
        person.presses("\x03")
        assert person.ended() in (0, 130)
        assert "Traceback" not in person.raw


def test_a_call_by_hand_says_how_long_it_takes(home: Home) -> None:
    with Person(home, "chat", "--demo", "--allow", "*") as person:
        person.answers((READY, "/call demo.slow seconds=60 steps=60"))
        assert "🔌 demo / slow · " in person.sees("step 1 of 60 · 2 s · Ctrl+C ends it")
        person.presses("\x03")
        person.sees("Stopped.")
        leave(person)


def test_a_tab_takes_the_cells_that_it_has(home: Home) -> None:
    with FakeModel([Say("word\t" * 14)]) as fake, meet(home, fake, cells=60) as person:
        person.answers((READY, "Use tabs"))
        person.sees("tokens in")
        said = [line for line in person.raw.split("\n") if line.count("word") and "\x1b[K" not in line]
        assert all(len(line.rstrip("\r").expandtabs()) <= 60 for line in said)
        person.sees(READY)
        leave(person)


def test_the_reason_for_another_try_is_a_sentence_of_its_own(home: Home) -> None:
    with FakeModel([Fail(429), Say("Now.")]) as fake, meet(home, fake) as person:
        person.answers((READY, "Go"))
        assert person.sees(" Trying again in ")[-1] in ".!?"
        person.sees("Now.")
        person.sees(READY)
        leave(person)


def test_agents_are_readable_in_a_hundred_columns(home: Home) -> None:
    description = "Looks into " + ", ".join(f"part number {number} of the whole" for number in range(5))
    home.write("project/.claude/agents/looker.md", f"---\nname: looker\ndescription: {description}\n---\nLook.")
    with Person(home, "chat", "--demo", cells=100) as person:
        person.answers((READY, "/agents"))
        shown = person.sees(READY)
        assert " ".join(description.split()[:16]) in " ".join(shown.split())
        # A path stays whole, however long it is.
        assert [line for line in shown.splitlines() if len(line) > 100 and len(line.split()) > 1] == []
        leave(person)


def test_a_list_of_sessions_shows_what_was_typed_and_not_what_it_names(home: Home) -> None:
    write_numbered(home, 3)
    with FakeModel([Say("Read.")]) as fake, meet(home, fake) as person:
        person.answers((READY, "Read @long.txt, please"), ("Read.", ""))
        leave(person)
    listed = run_beside(home, "sessions").out
    assert "Read @long.txt, please" in listed
    assert "line 0" not in listed


def test_a_picture_in_a_turn_of_a_model_has_a_path(home: Home) -> None:
    home.configure(demo=DEMO)
    with FakeModel([Call("mcp__demo__picture"), Say("Nice.")]) as fake, meet(home, fake, "--allow", "*") as person:
        person.answers((READY, "Draw"), ("✓ 🔌 demo / picture · ", ""))
        person.sees("kept in ")
        path = person.sees(".png]")
        assert Path(f"{path}.png").read_bytes().startswith(b"\x89PNG")
        person.sees("Nice.")
        # The model saw the picture itself.
        assert fake.requests[-1].results[0].images
        leave(person)
