"""What doctor prints as a fix solves the problem: each command is run as it stands, and the problem is gone."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chat.terminal import Person
from cli.test_doctor_fixes import find_command
from support import DEMO, MOORING, Cli, Home

OWN = "home/.config/mooring/mcp.json"
TOKEN = "ghp_canaryCanaryCanary0123456789abcdefAB"

terminal = pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal")


def run(home: Home, line: str, *, typed: str = "", path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A line in the person's shell, which has only `mooring` on PATH and what is beside it."""
    folder = path or home.folder / "bin"
    folder.mkdir(exist_ok=True)
    if not (folder / "mooring").exists():
        (folder / "mooring").symlink_to(MOORING)
    return subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=home.cwd, env={**home.env, "PATH": f"{folder}:/usr/bin/nowhere"}, input=typed, text=True,
        capture_output=True, timeout=100, check=False,
    )  # fmt: skip


def find_fix(home: Home, words: str) -> str:
    """The fix of the finding that says so; empty if there is none."""
    done = run(home, "mooring mcp doctor --json")
    fixes = [each["fix"] for each in json.loads(done.stdout)["findings"] if words in each["what"]]
    return fixes[0] if fixes else ""


def own(home: Home, **servers: Any) -> None:
    home.write(OWN, {"mcpServers": servers})


def add_program(home: Home, name: str, script: str) -> None:
    path = home.write(f"bin/{name}", f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


PROBLEMS = {
    "a command with its arguments in it": (
        {"command": " ".join((DEMO["command"], *DEMO["args"]))},
        "in the same text",
        "",
    ),
    "a secret that is not stored": ({**DEMO, "env": {"A": "${keyring:missing}"}}, "needs the secret missing", TOKEN),
    "a token in env": ({**DEMO, "env": {"API_TOKEN": TOKEN}}, "env.API_TOKEN holds a secret as plain text", TOKEN),
    "a token in a header": (
        {"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": f"Bearer {TOKEN}"}},
        "headers.Authorization holds a secret as plain text",
        TOKEN,
    ),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_printed_command_solves_the_problem(problem: str, home: Home) -> None:
    entry, words, typed = PROBLEMS[problem]
    own(home, it=entry)
    fix = find_fix(home, words)
    run(home, find_command(fix), typed=typed)
    assert find_fix(home, words) == "", fix
    assert TOKEN not in (home.folder / OWN).read_text()


def test_a_token_in_another_tools_file_becomes_a_variable(home: Home) -> None:
    home.write("home/.cursor/mcp.json", {"mcpServers": {"it": {**DEMO, "env": {"API_TOKEN": TOKEN}}}})
    fix = find_fix(home, "holds a secret as plain text")
    assert fix.startswith("export API_TOKEN=… && mooring mcp edit --in cursor ")
    done = run(home, f"{find_command(fix).replace('…', TOKEN)} && mooring mcp doctor --json")
    assert done.returncode == 0, done.stderr
    assert TOKEN not in (home.folder / "home/.cursor/mcp.json").read_text()
    assert '"${env:API_TOKEN}"' in (home.folder / "home/.cursor/mcp.json").read_text()


def test_a_variable_that_is_not_set_is_exported(home: Home) -> None:
    own(home, it={**DEMO, "env": {"A": "${NO_SUCH}"}})
    fix = find_fix(home, "NO_SUCH")
    done = run(home, f"{find_command(fix).replace('…', 'x')}; mooring mcp doctor")
    assert "NO_SUCH" not in done.stdout


def test_a_missing_program_is_installed_by_a_package_manager_that_is_here(home: Home) -> None:
    own(home, it={"command": "bunx", "args": ["some-server"]})
    program = home.folder / "bin/bunx"
    add_program(
        home,
        "brew",
        f'test "$*" = "install oven-sh/bun/bun" && echo "#!/bin/sh" >{program} && /bin/chmod 755 {program}',
    )
    fix = find_fix(home, "bunx is not on PATH")
    assert fix == "brew install oven-sh/bun/bun"
    assert run(home, fix).returncode == 0
    assert find_fix(home, "bunx is not on PATH") == ""


@terminal
@pytest.mark.parametrize("command", ["no-such-program", "/nowhere/server"])
def test_a_program_that_nothing_here_installs_is_a_matter_of_the_entry(command: str, home: Home) -> None:
    own(home, it={"command": command})
    fix = find_fix(home, f"{command} is not on PATH")
    assert fix.startswith("mooring mcp edit it  (")
    assert command in fix
    assert "doctor" not in fix
    add_program(home, "editor", f"echo '{json.dumps(DEMO)}' >\"$1\"")
    words = shlex.split(find_command(fix))[1:]
    with Person(home, *words, EDITOR=str(home.folder / "bin/editor")) as person:
        assert person.ended() == 0
    assert find_fix(home, "is not on PATH") == ""


@terminal
def test_a_server_of_the_project_is_approved(home: Home) -> None:
    home.write("project/.mcp.json", {"mcpServers": {"it": DEMO}})
    fix = find_fix(home, "is not approved")
    with Person(home, *shlex.split(find_command(fix))[1:]) as person:
        person.sees("[y/N]")
        person.types("y")
        assert person.ended() == 0
    assert find_fix(home, "is not approved") == ""


def test_a_definition_that_hides_another_is_enabled(home: Home) -> None:
    own(home, it={**DEMO, "enabled": False})
    home.write("home/.cursor/mcp.json", {"mcpServers": {"it": DEMO}})
    fix = find_fix(home, "It is off by")
    assert run(home, find_command(fix)).returncode == 0
    assert find_fix(home, "It is off by") == ""


def test_a_damaged_record_is_moved_aside(home: Home) -> None:
    own(home, it=DEMO)
    home.write("home/.local/state/mooring/overlay.json", "{ damaged")
    fix = find_fix(home, "The record of disabled servers")
    run(home, f"PATH=$PATH:/bin:/usr/bin; {find_command(fix)}")
    assert find_fix(home, "The record of disabled servers") == ""


def test_fix_says_that_it_has_nothing_to_fix(home: Home, cli: Cli) -> None:
    own(home, it=DEMO)
    assert "There is nothing to fix." in cli("mcp", "doctor", "--fix").err
    own(home, it={"command": "no-such-program"})
    done = cli("mcp", "doctor", "--fix")
    assert done.code == 1
    assert "Nothing here can be fixed automatically." in done.err


def test_a_token_that_is_a_reference_is_no_finding(home: Home) -> None:
    own(home, it={**DEMO, "env": {"API_TOKEN": "${keyring:x}", "B_TOKEN": "${B}", "LOG": "debug"}})
    assert find_fix(home, "plain text") == ""


def test_the_token_itself_is_never_shown(home: Home) -> None:
    own(home, it={**DEMO, "args": ["--token", TOKEN], "env": {"API_TOKEN": TOKEN}})
    done = run(home, "mooring mcp doctor; mooring mcp doctor --json")
    assert "args holds a secret as plain text" in done.stdout
    assert TOKEN not in done.stdout + done.stderr
