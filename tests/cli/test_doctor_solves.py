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
COMMAND = (DEMO["command"], *DEMO["args"])
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
        {"command": " ".join(COMMAND)},
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


def test_a_pip_that_is_kept_for_the_systems_own_packages_is_not_suggested(home: Home) -> None:
    own(home, it={"command": "uvx", "args": ["some-server"]})
    add_program(home, "pip", "exit 1")
    assert find_fix(home, "uvx is not on PATH") == "pip install uv"
    home.write("lib/python3.12/EXTERNALLY-MANAGED", "")
    assert find_fix(home, "uvx is not on PATH").startswith("mooring mcp edit it  (install uvx (uv, https://docs.astral")


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


# --- what failed when it was last used --------------------------------------------------------------------------------

CHOOSY = f"""test "$API_KEY_OF_X" = {TOKEN} || {{ echo "Error: API_KEY_OF_X is required" >&2; exit 2; }}
exec {shlex.join(COMMAND)}"""
LACK = "API_KEY_OF_X is required"


@pytest.fixture
def choosy(home: Home) -> dict[str, Any]:
    """The entry of a program that says which variable it lacks."""
    add_program(home, "choosy", CHOOSY)
    return {"command": str(home.folder / "bin/choosy")}


def test_a_variable_that_a_program_asks_for_is_stored_as_a_secret(choosy: dict[str, Any], home: Home) -> None:
    own(home, it=choosy)
    run(home, "mooring tools")
    fix = find_fix(home, LACK)
    assert fix.startswith("mooring secret set it.API_KEY_OF_X && mooring mcp edit -e ")
    assert fix.endswith("  (if you trust the server with it)")
    done = run(home, find_command(fix), typed=TOKEN)
    assert done.returncode == 0, done.stderr
    assert TOKEN not in (home.folder / OWN).read_text()
    assert run(home, "mooring mcp doctor --check").returncode == 0


def test_a_variable_that_a_program_asks_for_and_the_person_has_is_passed_on(choosy: dict[str, Any], home: Home) -> None:
    own(home, it=choosy)
    given = f"export API_KEY_OF_X={TOKEN};"
    run(home, f"{given} mooring tools")
    found = json.loads(run(home, f"{given} mooring mcp doctor --json").stdout)["findings"]
    [fix] = [each["fix"] for each in found if LACK in each["what"]]
    assert fix.startswith("mooring mcp edit -e 'API_KEY_OF_X=${API_KEY_OF_X}' it  (")
    assert run(home, f"{given} {find_command(fix)} && mooring mcp doctor --check").returncode == 0


def test_a_variable_that_a_program_in_another_tools_file_asks_for_is_exported(
    choosy: dict[str, Any], home: Home
) -> None:
    home.write("home/.cursor/mcp.json", {"mcpServers": {"it": choosy}})
    run(home, "mooring tools")
    fix = find_fix(home, LACK)
    assert fix.startswith("export API_KEY_OF_X=… && mooring mcp edit --in cursor -e ")
    done = run(home, f"{find_command(fix).replace('…', TOKEN)} && mooring mcp doctor --check")
    assert done.returncode == 0, done.stderr


def test_what_another_tools_file_asks_for_is_stored_and_the_copy_is_no_other_definition(home: Home) -> None:
    entry = {**DEMO, "env": {"A": "${input:one}", "B": "${input:two}", "C": "${userHome}/c"}}
    inputs = [{"type": "promptString", "id": name} for name in ("one", "two")]
    home.write("home/.config/Code/User/mcp.json", {"inputs": inputs, "servers": {"it": entry}})
    first, second, copy = find_command(find_fix(home, "needs the input one")).split(" && ")
    for command in (first, second):
        assert run(home, command, typed=TOKEN).returncode == 0
    assert run(home, copy).returncode == 0
    done = run(home, "mooring mcp doctor --check")
    assert (done.returncode, done.stdout) == (0, "Read 2 files; 1 server configured. Nothing to fix.\n")
    own(home, it={**DEMO, "env": {"A": "${keyring:it.one}", "B": "${keyring:it.two}", "C": "${HOME}/d"}})
    assert "env.C" in run(home, "mooring mcp why it").stdout
    assert find_fix(home, "It is defined differently in ~/.config/Code/User/mcp.json")


NO_DOCKER = [
    "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    "failed to connect to the docker API at unix:///x.sock; check if the path is correct and if the daemon is running",
]


@pytest.mark.parametrize("words", NO_DOCKER)
def test_docker_is_started_for_a_server_that_runs_in_it(words: str, home: Home) -> None:
    sign = home.folder / "started"
    add_program(home, "docker", f'[ -e {sign} ] || {{ echo "{words}" >&2; exit 125; }}; exec {shlex.join(COMMAND)}')
    own(home, it={"command": str(home.folder / "bin/docker"), "args": ["run", "-i", "--rm", "x"]})
    run(home, "mooring tools")
    assert find_fix(home, "125") == "mooring mcp doctor it  (once you have started Docker)"
    add_program(home, "systemctl", f'[ "$*" = "start docker" ] && echo >{sign}')
    add_program(home, "sudo", 'exec "$@"')
    done = run(home, find_command(find_fix(home, "125")))
    assert done.returncode == 0, done.stderr
    assert find_fix(home, "125") == ""


@terminal
@pytest.mark.parametrize("words", ["ANTHROPIC_API_KEY is required", "the database is locked"])
def test_a_program_that_dies_of_something_else_or_wants_the_key_of_a_model_is_a_matter_of_the_entry(
    words: str, home: Home
) -> None:
    add_program(home, "broken", f"echo '{words}' >&2; exit 2")
    own(home, it={"command": str(home.folder / "bin/broken")})
    run(home, "mooring tools")
    fix = find_fix(home, words)
    assert fix.startswith("mooring mcp edit it  (")
    assert "KEY" not in fix
    add_program(home, "editor", f"echo '{json.dumps(DEMO)}' >\"$1\"")
    with Person(home, *shlex.split(find_command(fix))[1:], EDITOR=str(home.folder / "bin/editor")) as person:
        assert person.ended() == 0
    assert find_fix(home, words) == ""


def test_a_server_that_was_too_slow_the_last_time_gets_more_time(home: Home) -> None:
    add_program(home, "slow", f"/bin/sleep 1.5; exec {shlex.join((DEMO['command'], *DEMO['args']))}")
    own(home, it={"command": str(home.folder / "bin/slow"), "timeout": 500})
    run(home, "mooring tools")
    fix = find_fix(home, "did not answer")
    assert fix.startswith("mooring mcp edit --timeout 120 it  (")
    assert run(home, find_command(fix)).returncode == 0
    assert find_fix(home, "did not answer") == ""


def test_an_address_that_was_closed_the_last_time_is_changed(home: Home) -> None:
    own(home, it={"type": "http", "url": "http://127.0.0.1:9/mcp"})
    run(home, "mooring tools")
    assert find_fix(home, "Connection refused").startswith("mooring mcp edit --url … it  (")
