"""`mooring mcp doctor`: what it knows without starting anything."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import mooring
from mooring.auth.store import SecretStore
from mooring.discovery.formats import FORMATS
from mooring.discovery.unasked import UNASKED
from mooring.verbs.doctor.diagnose import diagnose
from support import DEMO, Cli, Home, run_beside

OWN = "home/.config/mooring/mcp.json"
SHELL = {"command": "sh", "args": ["-c", "true"]}
OTHER = {"command": "sh", "args": ["-c", "false"]}


def findings(cli: Cli, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli("mcp", "doctor", *words, "--json").data["findings"]
    return found


def find(cli: Cli, text: str) -> dict[str, Any]:
    [finding] = [finding for finding in findings(cli) if text in finding["what"]]
    return finding


# --- the report -----------------------------------------------------------------------------------------------------


def test_a_healthy_home_is_one_line(cli: Cli) -> None:
    cli.home.configure(a=SHELL)
    assert cli("mcp", "doctor").out == "Read 1 file; 1 server configured. Nothing to fix.\n"
    shown = cli("mcp", "doctor", "-v").out.splitlines()
    assert shown[1:4] == ["  ~/.mcp.json", "a", "  ✓ file       stdio, from claude-code, user: ~/.mcp.json"]


def test_the_data_says_everything_that_the_text_says(cli: Cli) -> None:
    cli.home.configure(a=SHELL, gone={"command": "no-such-program"})
    done = cli("mcp", "doctor", "--json")
    assert done.code == 1
    assert list(done.data) == ["version", "healthy", "files", "servers", "findings", "repairs", "secretStore"]
    assert (done.data["version"], done.data["healthy"], done.data["repairs"]) == (1, False, [])
    servers = {server["name"]: server for server in done.data["servers"]}
    assert list(servers["gone"]["stages"][-1]) == ["stage", "ok", "what", "evidence", "fix"]
    stages = {name: [stage["stage"] for stage in server["stages"]] for name, server in servers.items()}
    known = ["file", "approval", "variables", "command"]
    assert stages == {"a": known, "gone": known}
    [finding] = done.data["findings"]
    assert (finding["server"], finding["stage"], finding["unhealthy"]) == ("gone", "command", True)


def test_what_is_found_about_a_server_stands_together(cli: Cli) -> None:
    entry = {"command": "no-such-program", "env": {"A": "${NO_A}"}, "agrs": []}
    cli.home.configure(one=entry, two=entry)
    servers = [finding["server"] for finding in findings(cli)]
    assert servers == ["one"] * 3 + ["two"] * 3


def test_a_server_that_worked_before_is_known_to_have_its_tools(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    assert cli("tools", "demo").code == 0
    [server] = cli("mcp", "doctor", "--json").data["servers"]
    assert server["tried"] is False
    assert server["stages"][-1]["what"] == "7 tools, as it listed them the last time"


def test_ones_own_server_passes_its_approval_while_a_project_would_replace_it(cli: Cli) -> None:
    cli.home.write(OWN, {"mcpServers": {"a": SHELL}})
    cli.home.write("project/.mcp.json", {"mcpServers": {"a": OTHER}})
    [server] = cli("mcp", "doctor", "--json").data["servers"]
    assert all(stage["ok"] for stage in server["stages"])


def test_another_name_of_a_server_that_failed_is_not_known_to_pass(cli: Cli) -> None:
    dead = {"command": sys.executable, "args": ["-S", "-c", "raise SystemExit(3)"]}
    cli.home.configure(one=dead, two=dead)
    data = cli("mcp", "doctor", "--check", "--json").data
    stages = {server["name"]: server["stages"][-1] for server in data["servers"]}
    assert (stages["one"]["stage"], stages["one"]["ok"]) == ("command", False)
    assert (stages["two"]["stage"], stages["two"]["ok"]) == ("command", True)
    assert cli("mcp", "doctor", "two").code == 1


def test_ten_times_the_servers_in_ten_times_the_files_cost_about_ten_times(home: Home) -> None:
    spent = []
    for files in (5, 50):
        for number in range(files):
            servers = {f"s{number}-{n}": {"command": "npx", "args": [f"package-{number}-{n}"]} for n in range(10)}
            home.write(f"home/.continue/mcpServers/{number}.json", {"mcpServers": servers})
        inventory = home.inventory()
        assert len(inventory.choices) == 10 * files
        took = []
        for _ in range(3):
            began = time.process_time()
            assert len(diagnose(inventory, home.where).servers) == 10 * files
            took.append(time.process_time() - began)
        spent.append(min(took))
    assert spent[1] < 14 * spent[0]


def test_the_whole_command_copes_with_five_hundred_servers(home: Home) -> None:
    for number in range(50):
        servers = {f"s{number}-{n}": {"command": "npx", "args": [f"package-{number}-{n}"]} for n in range(10)}
        home.write(f"home/.continue/mcpServers/{number}.json", {"mcpServers": servers})
    before = os.times()
    done = run_beside(home, "mcp", "doctor")
    after = os.times()
    assert done.out.startswith("Read 50 files; 500 servers configured.")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    assert cpu < 10.0
    assert not (home.home / ".local").exists()


# --- pitfalls -------------------------------------------------------------------------------------------------------


def test_a_name_that_two_files_define_differently_is_named_with_the_winner(cli: Cli) -> None:
    cli.home.configure(a=SHELL, same=SHELL)
    cli.home.write("home/.cursor/mcp.json", {"mcpServers": {"a": OTHER, "same": SHELL}})
    finding = find(cli, "defined differently")
    assert finding["server"] == "a"
    assert finding["path"] == f"{cli.home.home}/.cursor/mcp.json"
    assert "in ~/.mcp.json, and this definition wins: cursor wins over .mcp.json" in finding["what"]
    assert finding["fix"] == "mooring mcp why a  (shows the differences)"


def test_names_that_become_one_in_the_names_of_tools_are_told(cli: Cli) -> None:
    cli.home.configure(**{"my-server": SHELL, "my.server": OTHER, "my-server2": {**SHELL, "args": []}})
    finding = find(cli, "in the names of tools")
    assert (finding["server"], finding["unhealthy"]) == ("my.server", False)
    assert finding["what"] == "Its name becomes my_server in the names of tools, as that of my-server does"


def test_an_entry_that_is_off_and_hides_one_that_is_on_is_told_and_the_command_helps(cli: Cli) -> None:
    cli.home.write("home/.cursor/mcp.json", {"mcpServers": {"a": {**SHELL, "enabled": False}}})
    assert findings(cli) == []
    cli.home.configure(a=SHELL)
    finding = find(cli, "It is off by `enabled` in its entry")
    assert "and so is the definition in ~/.mcp.json" in finding["what"]
    assert cli(*finding["fix"].split()[1:]).code == 0
    assert findings(cli) == []


def test_a_credential_that_is_not_stored_is_told(cli: Cli) -> None:
    entry = {"type": "http", "url": "https://example.com/mcp", "auth": {"type": "oauth", "credentialId": "cred-1"}}
    cli.home.write("home/.omp/agent/mcp.json", {"mcpServers": {"a": entry}})
    finding = find(cli, "The credential that `auth.credentialId` names is not stored")
    assert (finding["server"], finding["unhealthy"]) == ("a", False)
    asyncio.run(SecretStore(cli.home.where).set("oauth", "cred-1", "{}"))
    assert findings(cli) == []


def test_a_secret_that_is_not_stored_is_told_with_the_command_that_stores_it(cli: Cli) -> None:
    entry = {**SHELL, "env": {"TOKEN": "${keyring:github}"}}
    cli.home.write("home/.config/mooring/mcp.json", {"mcpServers": {"a": entry}})
    finding = find(cli, "It needs the secret github for env.TOKEN, which is not stored")
    assert (finding["stage"], finding["fix"]) == ("variables", "mooring secret set github")
    asyncio.run(SecretStore(cli.home.where).set("secret", "github", "x"))
    assert findings(cli) == []
    index = cli.home.home / ".local/state/mooring/secrets/index.json"
    index.write_text("{")
    assert find(cli, "Your secrets cannot be found: the file is damaged")["path"] == str(index)


def test_where_secrets_are_stored_and_why_is_told(cli: Cli) -> None:
    cli.home.configure(a=SHELL)
    path = cli.home.home / ".local/state/mooring/secrets/values.json"
    why = "this system has no keyring that is running"
    store = cli("mcp", "doctor", "--json").data["secretStore"]
    assert (store["kind"], store["path"], store["why"]) == ("file", str(path), why)
    shown = cli("mcp", "doctor", "-v").out
    assert f"Secrets are stored in ~/.local/state/mooring/secrets/values.json, because {why}.\n" in shown


# --- other tools ----------------------------------------------------------------------------------------------------


def test_a_tool_that_starts_the_projects_servers_unasked_is_named_if_it_is_here(cli: Cli) -> None:
    cli.home.write("project/opencode.json", {"mcp": {"evil": {"type": "local", "command": ["sh", "-c", "true"]}}})
    cli.home.write("project/.cursor/mcp.json", {"mcpServers": {"odd": SHELL}})

    def claims() -> list[str]:
        return [finding["what"] for finding in findings(cli) if "without asking" in finding["what"]]

    assert claims() == []
    (cli.home.home / ".config/opencode").mkdir(parents=True)
    (cli.home.home / ".cursor").mkdir()
    certain, uncertain = claims()
    assert certain.startswith("OpenCode starts 1 server (evil) of this project without asking")
    assert uncertain.startswith("Cursor may start 1 server (odd) of this project without asking")


def test_a_program_on_path_is_a_tool_that_is_here_and_what_you_approved_is_no_news(cli: Cli) -> None:
    cli.home.write("project/.mcp.json", {"mcpServers": {"theirs": SHELL}})
    cli.home.write("bin/omp", "#!/bin/sh\n").chmod(0o755)
    assert findings(cli, "--no-project") == []
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{cli.home.folder}/bin:{path}"
    assert "oh-my-pi starts 1 server (theirs) of this project without asking (as seen in: 18.3.4)" in [
        finding["what"] for finding in findings(cli)
    ]
    digest = cli("mcp", "approve", "theirs").err.rpartition("--digest ")[2].split()[0]
    assert cli("mcp", "approve", "theirs", "--digest", digest).code == 0
    assert findings(cli) == []


def test_a_folder_that_was_trusted_in_another_tool_is_told(cli: Cli) -> None:
    cli.home.write("project/.codex/config.toml", '[mcp_servers.theirs]\ncommand = "sh"\nargs = ["-c", "true"]\n')
    trust = f'[projects."{cli.home.project}"]\ntrust_level = "trusted"\n'
    cli.home.write("home/.codex/config.toml", trust)
    finding = find(cli, "without asking, because of")
    assert finding["what"].startswith("OpenAI Codex starts 1 server (theirs)")


def test_every_tool_that_starts_unasked_reads_files_of_tools_that_are_known() -> None:
    known = {format.tool for format in FORMATS}
    for tool in UNASKED:
        assert set(tool.reads) <= known
        assert tool.seen
        assert tool.programs or tool.folders


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"tool": "demo.add", "action": "denied"}, "its action has to be allow, deny or ask, not 'denied'"),
        ({"tool": "demo.[ad", "action": "deny"}, "'demo.[ad' has a [ without its ]"),
        ({"tool": "demo.add", "action": "deny", "pattern": "[z-a]"}, "runs backward"),
    ],
)
def test_a_rule_that_is_not_understood_is_named_and_every_allow_of_its_file_asks(
    home: Home, rule: dict[str, str], words: str
) -> None:
    home.configure(demo=DEMO)
    path = home.write(
        "home/.config/mooring/settings.json", {"permissions": [rule, {"tool": "demo.*", "action": "allow"}]}
    )
    found = run_beside(home, "mcp", "doctor", "--json")
    [finding] = [each for each in found.data["findings"] if each["path"] == str(path)]
    assert finding["what"].startswith("Rule 1 of `permissions` is not one, and is ignored")
    assert words in finding["fix"]
    shown = run_beside(home, "mcp", "doctor")
    assert "Rule 1 of `permissions`" in shown.out + shown.err

    async def judge() -> str:
        async with mooring.open(request=home.request()) as host:
            await host.ready()
            async with host.conversation() as tools:
                return tools.may("mcp__demo__add", {"a": 1, "b": 2}).action

    assert asyncio.run(judge()) == "ask"


# --- another program of our name ------------------------------------------------------------------------------------


def put_mooring(folder: Path, text: str = "#!/bin/sh\necho I am another program\n") -> Path:
    """A program called `mooring` in a folder."""
    folder.mkdir()
    program = folder / "mooring"
    program.write_text(text)
    program.chmod(0o755)
    return program


def test_another_mooring_that_comes_first_on_path_is_named_and_the_fix_puts_this_one_first(
    home: Home, tmp_path: Path
) -> None:
    other = put_mooring(tmp_path / "other bin")
    path = f"{other.parent}:{home.env['PATH']}"
    [finding] = json.loads(run_beside(home, "mcp", "doctor", "--json", PATH=path).out)["findings"]
    assert finding["what"] == f"Your shell starts another program when you type mooring: {other}"
    command, _, _ = finding["fix"].partition("  (")
    shell = ["sh", "-c", f"{command}; mooring --version; mooring mcp doctor"]
    done = subprocess.run(shell, env={**home.env, "PATH": path}, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("mooring 0.")
    assert "PATH has another program called mooring, further back" in done.stdout


def test_a_link_to_this_mooring_is_no_other_program(home: Home, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "mooring").symlink_to(Path(sys.executable).parent / "mooring")
    put_mooring(tmp_path / "no program").chmod(0o644)
    path = f"{tmp_path / 'no program'}:{tmp_path / 'links'}:{home.env['PATH']}"
    assert json.loads(run_beside(home, "mcp", "doctor", "--json", PATH=path).out)["findings"] == []
