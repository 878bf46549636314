"""`mooring secret`: a value comes from an unseen prompt or a pipe, never from an argument, and is never shown again."""

import pytest

from auth.machine import Machine
from chat.terminal import Person
from support import Cli, Home

CANARY = "canary-7Yt2-value"


def test_the_value_is_asked_for_at_a_terminal_and_not_shown(home: Home) -> None:
    machine = Machine(home)
    with Person(home, "secret", "set", "github", **machine.env) as person:
        person.answers(("Value of github (not shown): ", CANARY))
        person.sees("Stored github in ~/.local/state/mooring/secrets/values.json, which only you can read")
        assert person.ended() == 0
        assert CANARY not in person.raw
    assert machine.files_with(CANARY) == ["values.json"]


def test_leaving_the_prompt_stores_nothing(home: Home) -> None:
    for key, code in (("\x03", 130), ("\x04", 2)):
        with Person(home, "secret", "set", "github") as person:
            person.sees("Value of github")
            person.presses(key)
            assert person.ended() == code
    assert not (home.home / ".local/state/mooring/secrets").exists()


def test_a_line_that_the_terminal_would_cut_is_refused(home: Home) -> None:
    with Person(home, "secret", "set", "github") as person:
        person.sees("Value of github")
        person.types("x" * 5000)
        person.sees("A terminal takes only")
        assert person.ended() == 2
    assert not (home.home / ".local/state/mooring/secrets").exists()


@pytest.mark.parametrize(
    ("piped", "value"),
    [("tok", "tok"), ("tok\n", "tok"), ("tok\r\n", "tok"), ("a\nb\n", "a\nb"), (" tok ", " tok "), ("tök", "tök")],
)
def test_a_piped_value_is_taken_as_it_is_but_for_the_end_of_its_last_line(home: Home, piped: str, value: str) -> None:
    machine = Machine(home, "Working")
    assert machine.run("secret", "set", "x", given=piped).code == 0
    assert machine.kept == [value]


@pytest.mark.parametrize(
    "words",
    [("github", CANARY), (f"github={CANARY}",), ("github", "--", f"-{CANARY}"), (f"{CANARY}/x",), ("", CANARY)],
)
def test_a_value_in_the_arguments_is_refused_in_one_sentence_that_does_not_repeat_it(
    cli: Cli, words: tuple[str, ...]
) -> None:
    refused = cli("secret", "set", *words)
    assert refused.code == 2
    assert refused.out == ""
    assert refused.err.count("\n") == 1
    assert CANARY not in refused.err


def test_what_is_no_value_is_refused_and_nothing_is_stored(home: Home) -> None:
    machine = Machine(home)
    assert machine.run("secret", "set", "x", given="\n").err == "mooring: The value of x is empty.\n"
    assert "at most 262,144 can be stored" in machine.run("secret", "set", "x", given="v" * 300_000).err
    assert not machine.secrets.exists()


def test_the_list_shows_names_and_stores_and_never_a_value(home: Home) -> None:
    machine = Machine(home)
    empty = machine.run("secret", "list")
    assert (empty.code, empty.out) == (0, "")
    assert empty.err == "No secrets are stored. To store one: mooring secret set NAME\n"
    machine.run("secret", "set", "zeta", given=CANARY)
    machine.run("secret", "set", "alpha", given=CANARY)
    for words in (("secret", "list"), ("secret", "list", "--json"), ("secret", "ls", "-v")):
        listed = machine.run(*words)
        assert CANARY not in listed.out + listed.err
        assert listed.out.index("alpha") < listed.out.index("zeta")
    assert set(machine.run("secret", "list", "--json").data["secrets"][0]) == {"kind", "name", "store", "at", "why"}


def test_a_secret_that_is_not_there_is_not_removed(home: Home) -> None:
    machine = Machine(home)
    unknown = machine.run("secret", "rm", "githb")
    assert (unknown.code, unknown.err) == (
        2,
        "mooring: There is no secret githb. `mooring secret list` shows those that are stored.\n",
    )
    machine.run("secret", "set", "github", given=CANARY)
    assert machine.run("secret", "rm", "githb").err == "mooring: There is no secret githb. Did you mean github?\n"
    assert machine.run("secret", "rm", "github", "--json").data == {"removed": "github"}
    assert machine.files_with(CANARY) == []


def test_the_settings_say_which_store_is_in_use_and_why(home: Home) -> None:
    machine = Machine(home, "Working")
    row = machine.run("settings").out.splitlines()[-1]
    assert row.split(maxsplit=2) == ["secretStore", '"keyring"', "keyrings Working: it answered a read"]
    machine.keyring = "Plain"
    row = machine.run("settings").out.splitlines()[-1]
    assert row.split(maxsplit=2)[1] == '"file"'
    assert row.endswith("secrets/values.json: keyrings Plain does not protect what it keeps")
    assert "secretStore" not in machine.run("settings", "env").out
