"""Keys as settings: what a user writes is in force, and what can't be is said with what to do."""

import json
from pathlib import Path

import pytest

from mooring.core.keys import KEPT, KEY_ACTIONS, choose_keys, describe_keys, find_key_fault, normalize_key, spell_key
from mooring.settings import load
from support import Home

DEFAULTS = choose_keys({}).keys
SCHEMA = Path(__file__).parents[1] / "docs" / "reference" / "schema" / "settings.schema.json"


def test_no_two_actions_share_a_default_key_and_each_can_be_one() -> None:
    keys = [key for action in KEY_ACTIONS for key in action.keys]
    assert len(keys) == len(set(keys))
    assert [key for key in keys if find_key_fault(key) is not None] == []
    assert [key for key in keys if normalize_key(key) != key] == []
    assert {action.name: action.keys for action in KEY_ACTIONS} == DEFAULTS


def test_a_key_of_the_settings_replaces_the_default_ones_and_takes_it_from_another_action() -> None:
    chosen = choose_keys({"search": "Ctrl-S", "open-all": ["f2", "control+o"], "copy-block": [], "edit": "pgup"})
    assert chosen.faults == ()
    keys = chosen.keys
    assert (keys["search"], keys["open-all"], keys["copy-block"]) == (("ctrl+s",), ("f2", "ctrl+o"), ())
    assert (keys["edit"], keys["page-up"], keys["page-down"]) == (("pageup",), (), ("pagedown",))


@pytest.mark.parametrize(
    ("written", "message", "hint"),
    [
        ({"serach": "ctrl+s"}, "`serach` in `keys` is not an action", "did you mean `search`?"),
        ({"search": "s"}, "`s` can't be the key of `search`: it is what you type", "write a key such as ctrl+s"),
        (
            {"search": "cmd+f"},
            "`cmd+f` can't be the key of `search`: a key has only ctrl, alt and shift",
            "write a key",
        ),
        ({"search": "ctrl+shift+f"}, "most terminals send the same without shift", "write a key"),
        ({"search": "ctrl+m"}, "a terminal sends the same for Enter", "write a key"),
        ({"search": "ctrl+nonsense"}, "there is no such key", "write a key"),
        ({"search": ""}, "there is no such key", "write a key"),
        ({"search": "f5", "edit": "F5"}, "`F5` is the key of both `search` and `edit`; `search` has it", "give `edit`"),
        ({"search": "ctrl+c"}, "`ctrl+c` is the key of both `interrupt` and `search`; `interrupt` has it", "give `sea"),
    ],
)
def test_what_no_key_can_be_made_of_is_said_and_changes_nothing_else(
    written: dict[str, str], message: str, hint: str, home: Home
) -> None:
    home.write("home/.config/mooring/settings.json", {"keys": {**written, "redraw": "f9"}})
    settings = load(home.where, None)
    [problem] = settings.problems
    assert message in problem.message
    assert hint in problem.hint
    assert (problem.level, problem.line) == ("warning", 1)
    keys = choose_keys(settings["keys"]).keys
    assert keys["redraw"] == ("f9",)
    assert keys["interrupt"] == ("ctrl+c",)


def test_what_leaves_a_program_that_hangs_gets_more_keys_but_never_loses_its_own() -> None:
    assert choose_keys({"interrupt": []}).keys["interrupt"] == ("ctrl+c",)
    assert choose_keys({"interrupt": ["ctrl+q"]}).keys["interrupt"] == ("ctrl+c", "ctrl+q")
    assert set(KEPT) <= set(DEFAULTS)


def test_keys_of_another_kind_are_refused_as_any_setting_is(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {"keys": {"search": 3}})
    settings = load(home.where, None)
    assert settings["keys"] == {}
    assert "`keys` should be an object of actions" in settings.problems[0].message


def test_a_project_sets_no_keys_and_nothing_else_of_the_screen(home: Home) -> None:
    written = {"keys": {"leave": "enter"}, "theme": "light", "wheelRows": 9, "screenLinesLeft": 0}
    home.write("project/.mooring/settings.json", written)
    settings = load(home.where, str(home.project))
    assert [problem.message.split("`")[1] for problem in settings.problems] == list(written)
    assert settings["keys"] == {}


def test_keys_are_listed_as_people_write_them() -> None:
    listed = dict(describe_keys(choose_keys({"copy-block": [], "search": ["f3", "alt+up"]}).keys))
    assert listed["F3, Alt+Up"].endswith("(search)")
    assert listed["no key"].endswith("(copy-block)")
    assert spell_key("ctrl+pageup") == "Ctrl+PageUp"


def test_the_schema_of_settings_has_every_action() -> None:
    schema = json.loads(SCHEMA.read_text())["properties"]["keys"]
    assert list(schema["properties"]) == [action.name for action in KEY_ACTIONS], "add it to the schema"
