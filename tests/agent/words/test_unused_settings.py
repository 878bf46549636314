"""Settings that people copy from other tools: accepted, said to be unused, and never acted on."""

import json

import pytest
from words_door import Asked

from support import Cli, Home

PLACES = ("home/.config/mooring/settings.json", "project/.mooring/settings.json")


def write_hooks(home: Home, place: str) -> None:
    command = f"touch {home.folder}/marker"
    hook = [{"matcher": "*", "hooks": [{"type": "command", "command": command}]}]
    names = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
    home.write(place, {"hooks": dict.fromkeys(names, hook), "sandbox": {"enabled": True}})


@pytest.mark.parametrize("place", PLACES)
def test_doctor_and_settings_say_once_that_they_are_unused_and_nothing_is_wrong(
    place: str, cli: Cli, home: Home
) -> None:
    write_hooks(home, place)
    done = cli("mcp", "doctor")
    assert done.code == 0, done.out
    for key in ("hooks", "sandbox"):
        sentence = f"`{key}` is a setting of other tools; Mooring does not use it"
        assert done.out.count(sentence) == 1
        assert cli("settings").err.count(sentence) == 1
    assert cli("mcp", "list").code == 0
    found = json.loads(cli("mcp", "list", "--json").out)["problems"]
    assert [problem["message"].split()[0] for problem in found] == ["`hooks`", "`sandbox`"]


@pytest.mark.parametrize("place", PLACES)
def test_no_hook_runs_in_a_turn(place: str, asked: Asked, home: Home) -> None:
    write_hooks(home, place)
    asked.sent("Go")
    assert not (home.folder / "marker").exists()
