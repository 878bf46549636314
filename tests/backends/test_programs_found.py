"""Where the programs of other agents are found, and what is said where one is missing."""

from pathlib import Path

import pytest

from mooring.backends.programs import find_program
from mooring.core.conversation.backend_name import ProgramName
from support import Home, install_command, run_beside


def write_program(path: Path, script: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", ["claude", "copilot", "opencode"])
def test_a_program_is_found_along_the_path(tmp_path: Path, name: ProgramName) -> None:
    program = write_program(tmp_path / name)
    assert find_program(name, {"PATH": str(tmp_path)}) == str(program)
    assert find_program(name, {"PATH": "/nowhere"}) is None


def test_copilot_is_found_where_a_person_names_it_if_it_is_there(tmp_path: Path) -> None:
    program = write_program(tmp_path / "elsewhere" / "copilot-3")
    write_program(tmp_path / "copilot")
    named = {"COPILOT_CLI_PATH": str(program), "PATH": str(tmp_path)}
    assert find_program("copilot", named) == str(program)
    program.unlink()
    assert find_program("copilot", named) is None


def test_a_program_that_a_repository_brings_is_never_run(home: Home) -> None:
    ran = home.folder / "ran"
    write_program(home.project / "node_modules" / ".bin" / "opencode", f"touch {ran}")
    path = "node_modules/.bin:/usr/bin:/bin"
    answered = run_beside(home, "chat", "-b", "opencode", "-p", "hi", PATH=path)
    assert answered.code == 2
    assert "OpenCode is not installed. Install it: npm install -g opencode-ai" in answered.err
    assert not ran.exists()


@pytest.mark.parametrize(
    ("name", "label"), [("claude", "Claude Code"), ("copilot", "Copilot")], ids=["claude", "copilot"]
)
def test_without_the_extra_the_one_command_that_is_missing_is_said(home: Home, name: str, label: str) -> None:
    answered = run_beside(home, "chat", "-b", name, "-p", "hi")
    assert answered.code == 2
    wanted = f"Mooring can't talk to {label} yet. Install what it needs: {install_command(name)}"
    assert wanted in answered.err
    assert "Traceback" not in answered.err
