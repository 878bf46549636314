"""Whatever one face of the chat can change, the other can: the keys of the screen, commands and the verbs of `/mcp`."""

import sys
from collections.abc import Mapping

import pytest

from chat.screen.screen_person import ENTER, ScreenPerson
from mooring.chat.commands import COMMANDS
from mooring.chat.mcp.verbs import VERBS
from mooring.core.keys import KEY_ACTIONS
from support import Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]
CHANGED_BY_KEY: Mapping[str, str] = {
    "next-mode": "mode", "paste-image": "@FILE", "edit": "Ctrl+X Ctrl+E", "leave": "quit", "close": "rewind",
}  # fmt: skip
"""The keys of the screen that change more than what is looked at or typed, and how the plain chat does the same."""
LOOKED_AT = {
    "send", "newline", "complete", "search-history", "interrupt", "suspend", "page-up", "page-down", "go-to-start",
    "go-to-end", "search", "previous-block", "next-block", "open-block", "open-all", "copy-block", "fold-code",
    "scroll-left", "scroll-right", "redraw",
}  # fmt: skip
"""Keys that only move, show, copy or type."""


def test_each_key_that_changes_something_has_a_command() -> None:
    assert {action.name for action in KEY_ACTIONS} == CHANGED_BY_KEY.keys() | LOOKED_AT
    commands = {word for word in CHANGED_BY_KEY.values() if word.isalpha()}
    assert commands <= COMMANDS.keys()


@pytest.mark.parametrize("face", ["plain", "screen"])
def test_each_command_and_verb_is_listed_in_either_face(home: Home, face: str) -> None:
    with ScreenPerson(home, "chat", "--demo", f"--{face}", cells=120, rows=80) as person:
        person.looks_for("No model connected")
        person.calms_down()
        person.presses(f"/help{ENTER}")
        person.looks_for("leave; so does Ctrl+D")
        person.presses(f"/mcp help{ENTER}")
        person.looks_for("/mcp help ")
        person.calms_down()
        missing = [name for name, row in COMMANDS.items() if f"/{name}" not in person.raw and not row.needs_model]
        assert missing == []
        assert [name for name in VERBS if f"/mcp {name}" not in person.raw] == []
