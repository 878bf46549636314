"""`mooring backends`: who can answer in a chat, found by asking each program, and what is missing for the others."""

import json
import time
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from mooring.process.programs import Guard
from mooring.verbs.agent.backends import list_backends
from support import Cli, Home, install_command

NO_LOGIN = "┌  Credentials \x1b[90m~/.local/share/opencode/auth.json\n│\n└  0 credentials\n"
LOGIN = "┌  Credentials\n│\n●  Anthropic \x1b[90moauth\n│\n└  1 credentials\n"
HANGING = "sleep 1000"


def write_program(home: Home, path: str, script: str) -> Path:
    """A program that stands for an agent's: a shell script."""
    program = home.write(path, f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def write_opencode(home: Home, listed: str) -> None:
    script = f"case \"$1\" in --version) echo 1.18.18;; *) printf '%s' '{listed}';; esac"
    write_program(home, "home/.local/bin/opencode", script)


def find(states: list[dict[str, Any]], name: str) -> dict[str, Any]:
    [state] = [state for state in states if state["name"] == name]
    return state


def list_states(cli: Cli) -> list[dict[str, Any]]:
    found = cli("backends", "--json")
    assert (found.code, found.err) == (0, "")
    return found.data["backends"]


def test_with_nothing_installed_each_has_the_one_command_that_is_missing(cli: Cli) -> None:
    states = list_states(cli)
    assert [state["name"] for state in states] == ["api", "manual", "claude", "copilot", "opencode"]
    assert find(states, "manual")["state"] == "ready"
    assert (find(states, "claude")["state"], find(states, "claude")["fix"]) == (
        "not-installed",
        install_command("claude"),
    )
    assert find(states, "opencode")["fix"] == "npm install -g opencode-ai"


def test_people_read_a_table_and_below_it_what_to_do(cli: Cli) -> None:
    shown = cli("backends")
    assert shown.code == 0
    assert [line.split()[0] for line in shown.out.splitlines()] == [
        "NAME", "api", "manual", "claude", "copilot", "opencode",
    ]  # fmt: skip
    assert "To install opencode: npm install -g opencode-ai" in shown.err
    assert cli("backends", "-q").err == ""


def test_a_program_says_its_version_and_that_nobody_is_logged_in(home: Home, cli: Cli) -> None:
    write_opencode(home, NO_LOGIN)
    state = find(list_states(cli), "opencode")
    assert (state["state"], state["version"]) == ("needs-login", "1.18.18")
    assert (state["login"], state["fix"]) == (None, "opencode auth login")


def test_a_program_with_a_login_is_ready_and_the_settings_make_it_the_default(home: Home, cli: Cli) -> None:
    write_opencode(home, LOGIN)
    home.write("home/.config/mooring/settings.json", {"backend": "opencode"})
    states = list_states(cli)
    state = find(states, "opencode")
    assert (state["state"], state["login"], state["fix"]) == ("ready", "Anthropic", None)
    assert [each["name"] for each in states if each["default"]] == ["opencode"]


def test_a_project_neither_names_the_default_nor_has_its_own_program_asked(home: Home, cli: Cli) -> None:
    home.write("project/.mooring/settings.json", {"backend": "opencode"})
    marker = home.folder / "started"
    write_program(home, "project/opencode", f"touch {marker}")
    states = list_states(cli)
    assert not any(state["default"] for state in states)
    assert find(states, "opencode")["state"] == "not-installed"
    assert not marker.exists()


def test_a_program_is_asked_outside_of_the_project_and_without_unrelated_secrets(home: Home, cli: Cli) -> None:
    seen = home.folder / "seen"
    write_program(home, "home/.local/bin/opencode", f"pwd >> {seen}; env >> {seen}; echo 1.0.0")
    list_states(cli)
    text = seen.read_text()
    assert str(home.project) not in text.replace(f"PWD={home.project}", "")
    assert "canary-environment" not in text


async def test_a_program_that_hangs_costs_its_time_and_no_process(home: Home) -> None:
    write_program(home, "home/.local/bin/opencode", HANGING)
    request = home.request()
    async with Guard() as guard:
        began = time.monotonic()
        states = await list_backends(replace(request, where=home.where), guard, 0.5)
        assert time.monotonic() - began < 30
    assert [(state.state, state.version) for state in states if state.name == "opencode"] == [("unknown", None)]


def test_what_a_program_prints_is_shown_and_never_obeyed(home: Home, cli: Cli) -> None:
    listed = LOGIN.replace("Anthropic", "Evil\x1b]0;owned\x07")
    write_opencode(home, listed)
    assert "\x1b]0" not in cli("backends").out
    assert json.loads(cli("backends", "--json").out)
