"""What was typed in one chat is found in the next, and nothing that is private is among it."""

import json
import stat
import sys

import pytest

from chat.terminal import Person
from support import Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal"),
]

READY, UP, CTRL_R, CTRL_U = "\n> ", "\x1b[A", "\x12", "\x15"
PLACE = "home/.local/state/mooring/input-history.jsonl"


def leave(person: Person) -> None:
    person.types("/quit")
    assert person.ended() == 0, person.shown
    assert "Traceback" not in person.raw


def read_lines(home: Home) -> list[str]:
    return [json.loads(line) for line in (home.folder / PLACE).read_text().splitlines()]


def test_what_was_typed_is_found_in_the_next_chat(home: Home) -> None:
    with Person(home, "chat", "--demo") as person:
        person.answers((READY, "/tools echo"), (READY, "/tools add"))
        person.sees(READY)
        leave(person)
    with Person(home, "chat", "--demo") as person:
        person.sees(READY)
        person.presses(UP)
        person.sees("/quit")
        person.presses(UP)
        person.sees("tools add")  # the editor of lines draws what is different
        person.presses(CTRL_U + CTRL_R + "ech")
        person.sees("tools echo")
        person.types("")
        person.sees("demo.echo")
        person.sees(READY)
        leave(person)
    assert stat.S_IMODE((home.folder / PLACE).stat().st_mode) == 0o600


def test_the_arrows_find_it_without_an_editor_of_lines_too(home: Home) -> None:
    home.write("without/readline.py", "raise ImportError('there is none')\n")
    home.write(PLACE, '"/tools echo"\n"/tools add"\n').chmod(0o600)
    with Person(home, "chat", "--demo", real=True, PYTHONPATH=str(home.folder / "without")) as person:
        person.sees(READY)
        person.presses("begun" + UP + UP)
        person.sees("> /tools echo")
        person.presses("\x1b[B\x1b[B")
        person.sees("> begun")
        person.presses(UP + "ress\x7f\x7f\x7f\x7f")
        person.types("")
        person.sees("demo.add")
        person.sees(READY)
        leave(person)


def test_two_chats_at_once_lose_nothing_of_each_other(home: Home) -> None:
    with Person(home, "chat", "--demo") as one, Person(home, "chat", "--demo") as other:
        for number in range(5):
            one.answers((READY, f"/tools one{number}"))
            other.answers((READY, f"/tools other{number}"))
        for person in (one, other):
            person.sees(READY)
            leave(person)
    lines = read_lines(home)
    assert [line for line in lines if "one" in line] == [f"/tools one{number}" for number in range(5)]
    assert [line for line in lines if "other" in line] == [f"/tools other{number}" for number in range(5)]


def test_neither_secrets_nor_forms_nor_answers_are_kept(home: Home) -> None:
    secret = "ghp_" + "k3J9x2LmQ8vT5wR7yB1nC4dF6gH0pS2aZ8eU"
    with Person(home, "chat", "--demo", "--deny", "Bash") as person:
        person.answers((READY, "/call demo.add"), ("a (number, required): ", "4711"), ("required): ", "1"))
        person.sees("4712")
        person.answers((READY, f"/call demo.echo text={secret}"), ('because …"): ', "no, because I say so"))
        person.answers((READY, f"!GITHUB_TOKEN={secret[4:]} make"), (READY, "/tools tok"), (READY, "  /tools private"))
        person.sees(READY)
        leave(person)
    assert read_lines(home) == ["/call demo.add", "/tools tok", "/quit"]


def test_nothing_is_kept_where_the_setting_is_off(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {"inputHistory": False})
    with Person(home, "chat", "--demo") as person:
        person.answers((READY, "/tools echo"))
        person.sees(READY)
        leave(person)
    assert not (home.folder / PLACE).exists()


def test_it_stays_small_and_a_damaged_line_is_left_out(home: Home) -> None:
    old = "".join(f"{json.dumps(f'/tools old{number}')}\n" for number in range(20_000))
    home.write(PLACE, f'{old}"cut o\n[1]\n').chmod(0o600)
    with Person(home, "chat", "--demo") as person:
        person.sees(READY)
        person.presses(UP)
        person.sees("/tools old19999")
        person.presses(CTRL_U)
        person.types("/tools new")
        person.sees(READY)
        leave(person)
    assert read_lines(home) == ["/tools new", "/quit"]
    assert sorted(path.name for path in (home.folder / PLACE).parent.glob("input-history*")) == [
        "input-history.jsonl",
        "input-history.jsonl.1",
    ]


def test_a_history_that_cannot_be_kept_is_said_once_and_the_chat_goes_on(home: Home) -> None:
    (home.folder / PLACE).mkdir(parents=True)
    with Person(home, "chat", "--demo") as person:
        person.sees("What you type isn't kept for later chats: ")
        person.answers((READY, "/tools echo"), ("demo.echo", ""), (READY, "/tools add"), ("demo.add", ""))
        person.sees(READY)
        leave(person)
        assert person.shown.count("isn't kept for later chats") == 1
