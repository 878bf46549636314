"""`mooring mcp edit`: one entry changed by options or in an editor, tried, and every byte outside it kept."""

import json
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from chat.terminal import Person
from mooring.discovery.targets import find_target, list_writers
from mooring.errors import ConfigError
from mooring.permissions.trust import load
from mooring.syntax.parse import parse
from mooring.verbs.config.edit import edit as edit_fields
from mooring.verbs.config.edit import read_entry_text
from mooring.verbs.config.fields import FieldChanges
from mooring.verbs.config.remove import remove
from support import DEMO, HOMES, MOORING, Cli, Home, run_beside

OWN = "home/.config/mooring/mcp.json"
PROJECT = "project/.mooring/mcp.json"
DEMO_WORDS = (DEMO["command"], *DEMO["args"])
PROGRAM = {"command": "npx", "args": ["-y", "a"], "env": {"A": "1", "B.C": "2"}, "cwd": "/tmp", "timeout": 5000}
ADDRESS = {"type": "sse", "url": "https://a.example/sse", "headers": {"X": "1"}, "blockedTools": ["t"]}

terminal = pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal")


def configure(home: Home, path: str = OWN, **servers: Any) -> Path:
    """A file with these servers between others, and comments around them."""
    others = {"first": {"command": "x"}, **servers, "last": {"command": "y"}}
    text = json.dumps({"mcpServers": others}, indent="\t")
    return home.write(path, f"// mine\r\n{text}\r\n/* end */".replace('"last"', '/* the last */ "last"'))


def servers(home: Home, path: str = OWN) -> dict[str, Any]:
    # Not with `json`: there are comments.
    found: dict[str, Any] = parse((home.folder / path).read_bytes(), "json").data["mcpServers"]
    return found


# --- options ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "words", "changed"),
    [
        (PROGRAM, ["-e", "A=2", "-e", "D="], {**PROGRAM, "env": {"A": "2", "B.C": "2", "D": ""}}),
        (PROGRAM, ["--", "uvx"], {key: value for key, value in PROGRAM.items() if key != "args"} | {"command": "uvx"}),
        (PROGRAM, ["uvx", "-q", "b"], {**PROGRAM, "command": "uvx", "args": ["-q", "b"]}),
        (PROGRAM, ["--timeout", "1.5"], {**PROGRAM, "timeout": 1500}),
        (PROGRAM, ["--unset", "env.A"], {**PROGRAM, "env": {"B.C": "2"}}),
        (PROGRAM, ["--unset", "env.B.C", "--unset", "cwd"], {**PROGRAM, "env": {"A": "1"}} | {"cwd": None}),
        (PROGRAM, ["--url", "https://b.example"], {"url": "https://b.example", "timeout": 5000}),
        (ADDRESS, ["https://b.example/mcp", "-t", "http"], {**ADDRESS, "type": "http", "url": "https://b.example/mcp"}),
        (ADDRESS, ["-H", "Y: 2"], {**ADDRESS, "headers": {"X": "1", "Y": "2"}}),
        (ADDRESS, ["--token", "${T}"], {**ADDRESS, "headers": {"X": "1", "Authorization": "Bearer ${T}"}}),
        # What would be left empty goes, too.
        (PROGRAM, ["--unset", "env.A", "--unset", "env.B.C"], {**PROGRAM, "env": None}),
        (ADDRESS, ["--unset", "type"], {key: value for key, value in ADDRESS.items() if key != "type"}),
        (ADDRESS, ["--", "npx", "-y"], {"command": "npx", "args": ["-y"], "blockedTools": ["t"]}),
        ({"type": "stdio", "command": "npx"}, ["-e", "A=1"], {"type": "stdio", "command": "npx", "env": {"A": "1"}}),
        ({"command": ""}, ["--", "npx"], {"command": "npx"}),
    ],
)
def test_what_is_typed_changes_its_fields_and_no_other_byte(
    entry: dict[str, Any], words: list[str], changed: dict[str, Any], home: Home, cli: Cli
) -> None:
    path = configure(home, x=entry)
    before = path.read_bytes().decode()
    done = cli("mcp", "edit", "x", "--no-test", *words)
    assert (done.code, done.out, done.err) == (0, "Changed x in ~/.config/mooring/mcp.json.\n", "")
    expected = {key: value for key, value in changed.items() if value is not None}
    assert servers(home) == {"first": {"command": "x"}, "x": expected, "last": {"command": "y"}}
    start = before.index('"x": ') + len('"x": ')
    end = before.rindex(",", 0, before.index("/* the last */"))
    after = path.read_bytes().decode()
    assert after.startswith(before[:start])
    assert after.endswith(before[end:])


@pytest.mark.parametrize(
    ("entry", "words", "message"),
    [
        (PROGRAM, ["-H", "A: b"], "Invalid server config: -H goes with a URL, and this is a command."),
        (ADDRESS, ["-e", "A=b"], "Invalid server config: -e goes with a command, and this is a URL."),
        (PROGRAM, ["-e", "A"], "Invalid server config: a variable is written as KEY=VALUE."),
        (PROGRAM, ["--token", "t"], "--token requires --url (HTTP/SSE transport)."),
        (PROGRAM, ["--url", "https://a.example", "--", "npx"], "Use either --url or -- <command...>, not both."),
        (PROGRAM, ["-t", "sse"], "Invalid server config: sse needs a URL, and this is a command."),
        (ADDRESS, ["--url", "ftp://a"], "Invalid server config: `url` is not a URL (begin it with https://)."),
        (PROGRAM, ["--unset", "env.NO"], "x has no `env.NO`."),
        (PROGRAM, ["--unset", "env."], "x has no `env.`."),
        (PROGRAM, ["--unset", "cwd.a"], "x has no `cwd.a`."),
        (PROGRAM, ["--unset", "command"], "Invalid server config: it has neither a command nor a url"),
        ({"command": 7}, ["-e", "A=b"], "Invalid server config: it has neither a command nor a URL."),
        ("text", ["-e", "A=b"], "x is not an object; edit it as a whole: mooring mcp edit x"),
    ],
)
def test_what_does_not_fit_is_refused_and_the_file_stays(
    entry: Any, words: list[str], message: str, home: Home, cli: Cli
) -> None:
    path = configure(home, x=entry)
    before = path.read_bytes()
    done = cli("mcp", "edit", "x", "--no-test", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"mooring: {message}")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("", "the name is empty."),
        ("x" * 101, "the name is longer than 100 characters."),
        ("a b", "the name may have letters, digits, `_`, `.` and `-` only."),
    ],
)
@pytest.mark.parametrize(
    "verb", [["add", "--no-test"], ["add-json"], ["edit", "--timeout", "1"], ["add", "--to", "codex"]]
)
def test_a_name_that_no_file_should_have_is_refused_by_the_rule_that_it_breaks(
    verb: list[str], name: str, rule: str, cli: Cli
) -> None:
    words = {"add": ["npx"], "add-json": ['{"command": "npx"}']}.get(verb[0], [])
    done = cli("mcp", *verb, name, *words)
    assert (done.code, done.err) == (2, f"mooring: Invalid server config: {rule}\n")


def test_what_is_already_so_changes_nothing(home: Home, cli: Cli) -> None:
    path = configure(home, x=PROGRAM)
    before = path.read_bytes()
    done = cli("mcp", "edit", "x", "-e", "A=1", "--timeout", "5")
    assert (done.code, done.out, done.err) == (0, "Nothing changed.\n", "")
    assert path.read_bytes() == before


def test_it_connects_and_reports_and_a_program_reads_it_as_data(home: Home, cli: Cli) -> None:
    configure(home, x={"command": "false"})
    edited = cli("mcp", "edit", "x", "--json", "--", *DEMO_WORDS)
    assert edited.code == 0
    assert edited.data["edited"]["path"] == str(home.folder / OWN)
    assert (edited.data["edited"]["changed"], edited.data["test"]["ok"]) == (True, True)
    broken = cli("mcp", "edit", "x", "--", "/bin/false")
    assert broken.code == 1
    assert 'Failed to connect to "x": ' in broken.err
    assert servers(home)["x"] == {"command": "/bin/false"}


@pytest.mark.parametrize("tool", list_writers())
def test_an_entry_of_any_tool_is_changed_in_its_own_words_or_left_as_it_is(tool: str, home: Home, cli: Cli) -> None:
    scope = "user" if find_target(tool, "user") else "project"
    added = cli("mcp", "add", "--to", tool, "-s", scope, "--no-test", "--json", "x", "npx", "-y", "a")
    assert added.code == 0, added.err
    path = Path(added.data["added"]["path"])
    option = [] if tool == "mooring" else ["--in", tool]
    edited = cli("mcp", "edit", "x", *option, "-e", "COLOR=blue", "--no-test", "--json", "uvx", "-q", "b")
    assert edited.code == 0, edited.err
    found = cli("mcp", "get", "x", "--json").data
    assert (found["server"]["command"], found["server"]["args"]) == ("uvx", ["-q", "b"])
    assert "COLOR" in found["env"]
    # Back again, so that nothing is left of it.
    back = cli("mcp", "edit", "x", *option, "--no-test", "npx", "-y", "a")
    assert back.code == 0, back.err
    assert "uvx" not in path.read_text()


CODEX = """\
# mine
[mcp_servers.x]
command = "npx" # the program
args = ["-y", "a"]
tool_timeout_sec = 5
only_codex_knows = "this"

[mcp_servers.x.env]
A = "1"

[mcp_servers.y]
command = "other"
"""


def test_what_only_the_tool_knows_stays(home: Home, cli: Cli) -> None:
    path = home.write("home/.codex/config.toml", CODEX)
    done = cli("mcp", "edit", "x", "--in", "codex", "--no-test", "-e", "B=2")
    assert (done.code, done.out) == (0, "Changed x in ~/.codex/config.toml.\n")
    assert path.read_text() == CODEX.replace('A = "1"\n', 'A = "1"\nB = "2"\n')


def test_a_time_is_rounded_up_for_a_tool_that_takes_whole_seconds(home: Home, cli: Cli) -> None:
    path = home.write("home/.config/zed/settings.json", {"context_servers": {"x": {"command": "a"}}})
    assert cli("mcp", "edit", "x", "--in", "zed", "--no-test", "--timeout", "1.5").code == 0
    assert json.loads(path.read_text())["context_servers"]["x"]["timeout"] == 2


def test_an_entry_that_lacks_what_its_tool_requires_can_become_an_address(home: Home, cli: Cli) -> None:
    path = home.write("home/.config/zed/settings.json", {"context_servers": {"x": {"command": "a"}}})
    done = cli("mcp", "edit", "x", "--in", "zed", "--no-test", "-t", "http", "--url", "https://b.example")
    assert (done.code, done.err) == (0, "")
    assert json.loads(path.read_text())["context_servers"]["x"] == {"url": "https://b.example"}


def test_an_invalid_entry_of_another_tool_is_left_to_the_editor(home: Home, cli: Cli) -> None:
    path = home.write("home/.codex/config.toml", CODEX.replace('"npx"', "7"))
    before = path.read_bytes()
    done = cli("mcp", "edit", "x", "--in", "codex", "-e", "B=2")
    assert (done.code, done.err) == (
        2,
        "mooring: x has an invalid entry; edit it as a whole: mooring mcp edit x --in codex\n",
    )
    assert path.read_bytes() == before


def test_what_the_tool_cannot_express_is_refused(home: Home, cli: Cli) -> None:
    path = home.write("home/.codex/config.toml", CODEX)
    done = cli("mcp", "edit", "x", "--in", "codex", "--no-test", "--", "${HOME}/bin/x")
    assert done.code == 2
    assert done.err.startswith("mooring: OpenAI Codex cannot express ")
    assert path.read_text() == CODEX


# --- which file ---------------------------------------------------------------------------------------------


def test_another_tools_entry_is_edited_only_if_the_tool_is_named(home: Home, cli: Cli) -> None:
    path = home.write("home/.cursor/mcp.json", {"mcpServers": {"x": {"command": "a"}}})
    refused = cli("mcp", "edit", "x", "--timeout", "1")
    assert refused.code == 2
    assert refused.err.endswith("To edit it there: mooring mcp edit x --in cursor\n")
    assert cli("mcp", "edit", "x", "--in", "cursor", "--no-test", "--", "b").code == 0
    assert json.loads(path.read_text())["mcpServers"]["x"]["command"] == "b"


def test_of_two_files_one_has_to_be_chosen(home: Home, cli: Cli) -> None:
    configure(home, x={"command": "a"})
    configure(home, PROJECT, x={"command": "a"})
    assert "choose one with -s" in cli("mcp", "edit", "x", "--", "b").err
    assert cli("mcp", "edit", "x", "-s", "user", "--no-test", "--", "b").code == 0
    assert (servers(home)["x"], servers(home, PROJECT)["x"]) == ({"command": "b"}, {"command": "a"})


def test_what_claude_code_keeps_for_one_project_is_edited_in_the_persons_own_file(home: Home, cli: Cli) -> None:
    others = {"/elsewhere": {"mcpServers": {"x": {"command": "theirs"}}}}
    path = home.write(
        "home/.claude.json", {"projects": {**others, str(home.project): {"mcpServers": {"x": {"command": "a"}}}}}
    )
    done = cli("mcp", "edit", "x", "--in", "claude-code", "--no-test", "--", "b")
    assert (done.code, done.err) == (0, "")
    projects = json.loads(path.read_text())["projects"]
    assert projects == {**others, str(home.project): {"mcpServers": {"x": {"command": "b"}}}}


def test_what_a_variable_defines_is_not_edited(home: Home, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", json.dumps({"mcp": {"x": {"type": "local", "command": ["a"]}}}))
    done = cli("mcp", "edit", "x", "--in", "opencode", "--", "b")
    assert done.code == 2
    assert done.err == "mooring: x is in $OPENCODE_CONFIG_CONTENT, which is never written; edit it there.\n"


PLUGINS = "home/.claude/plugins/cache/market"
NEOVIM = "home/.config/nvim/lua"


def read_all(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}


@pytest.mark.parametrize("verb", ["edit", "remove"])
@pytest.mark.parametrize(
    ("sample", "name", "tool", "path"),
    [
        ("claude_plugins", "plugin:docs:search", "claude-code", f"{PLUGINS}/docs/1.0/.mcp.json"),
        ("claude_plugins", "plugin:inline:api", "claude-code", f"{PLUGINS}/inline/2.0/.claude-plugin/plugin.json"),
        ("codex_plugins", "find", "codex", "home/.codex/plugins/cache/market/search/1.10.0/servers.json"),
        ("magenta_lua", "fetch", "magenta", f"{NEOVIM}/plugins/ai.lua"),
        ("magenta_lua", "through", "magenta", f"{NEOVIM}/mine/plugins/magenta.lua"),
    ],
)
def test_a_plugins_file_and_lua_are_never_written_and_it_says_where_the_server_is(
    sample: str,
    name: str,
    tool: str,
    path: str,
    verb: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    home = Home(tmp_path, HOMES / sample)
    before = read_all(home.home)
    words = ("--in", tool, "--no-test", "-e", "A=1") if verb == "edit" else ("--from", tool)
    done = Cli(home, monkeypatch, capfd)("mcp", verb, name, *words)
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == f"mooring: {name} is in {home.shorten(home.folder / path)}, which is never written; {verb} it there.\n"
    )
    assert read_all(home.home) == before


async def test_what_an_administrator_manages_is_neither_edited_nor_removed(tmp_path: Path) -> None:
    # Through the verb: on the command line, such files are where only an administrator can put them.
    home = Home(tmp_path, HOMES / "claude_managed")
    before = read_all(home.folder)
    path = re.escape(f"{home.folder}/system/etc/claude-code/managed-mcp.json")
    with pytest.raises(ConfigError, match=f"^corp is in {path}, which is never written; edit it there.$"):
        await edit_fields(home.request(), "corp", FieldChanges(timeout=5), "claude-code")
    with pytest.raises(ConfigError, match=f"^corp is in {path}, which is never written; edit it there.$"):
        read_entry_text(home.request(), "corp", "claude-code")
    with pytest.raises(ConfigError, match=f"^corp is in {path}, which is never written; remove it there.$"):
        remove(home.request(), "corp", "claude-code")
    assert read_all(home.folder) == before


def test_of_a_file_and_a_plugin_the_file_is_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    home = Home(tmp_path, HOMES / "magenta_lua")
    cli = Cli(home, monkeypatch, capfd)
    done = cli("mcp", "edit", "shared", "--in", "magenta", "--no-test", "-e", "A=1")
    assert (done.code, done.out, done.err) == (0, "Changed shared in ~/.magenta/options.json.\n", "")
    removed = cli("mcp", "remove", "shared", "--from", "magenta")
    assert (removed.code, removed.out) == (0, "Removed shared from ~/.magenta/options.json.\n")
    assert removed.err == "Still defined: magenta, user: ~/.config/nvim/lua/plugins/ai.lua.\n"


def test_a_projects_link_does_not_lead_an_edit_out_of_it(home: Home, cli: Cli) -> None:
    real = home.write("home/secrets.json", {"mcpServers": {"x": {"command": "a"}}})
    link = home.folder / PROJECT
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    before = real.read_bytes()
    done = cli("mcp", "edit", "x", "--no-test", "--", "b")
    assert done.code == 2
    assert "leads out of the project" in done.err
    assert real.read_bytes() == before


def test_a_linked_dotfile_stays_a_link_and_it_says_where_it_leads(home: Home, cli: Cli) -> None:
    real = configure(home, "home/dotfiles/mooring.json", x={"command": "a"})
    link = home.folder / OWN
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    done = cli("mcp", "edit", "x", "--no-test", "--", "b")
    assert (done.code, done.err) == (0, f"That is a link; the file is {home.shorten(real)}.\n")
    assert link.is_symlink()
    assert servers(home)["x"] == {"command": "b"}


# --- approval -----------------------------------------------------------------------------------------------


def decisions(home: Home) -> list[str]:
    return [decision.verdict for decision in load(home.where)[0].find_decisions(str(home.project), "x")]


def test_a_projects_entry_that_was_approved_stays_so_when_a_field_is_changed(home: Home, cli: Cli) -> None:
    assert cli("mcp", "add", "x", "-s", "project", "--no-test", *DEMO_WORDS).code == 0
    done = cli("mcp", "edit", "x", "-e", "A=1")
    assert (done.code, done.err) == (0, "")
    assert cli("mcp", "test", "x").code == 0


EVIL = {"command": "curl", "args": ["https://evil.example"]}
APPROVE = r"mooring: x was not changed: (.+)\. To look and decide: mooring mcp approve x; to approve exactly this: mooring (.+)\n"


def test_a_field_of_a_projects_entry_approves_nothing_that_nobody_looked_at(home: Home, cli: Cli) -> None:
    path = configure(home, PROJECT, x=EVIL)
    before = path.read_bytes()
    done = cli("mcp", "edit", "x", "-s", "project", "-e", "A=1")
    assert (done.code, done.out) == (4, "")
    refused = re.fullmatch(APPROVE, done.err)
    assert refused is not None, done.err
    assert refused[1] == "it comes from the project and is not approved"
    assert (path.read_bytes(), decisions(home)) == (before, [])
    # What it names approves the entry as it is, and what is typed afterwards too.
    assert cli(*refused[2].split()).code == 0
    assert cli("mcp", "edit", "x", "-s", "project", "-e", "A=1", "--no-test").code == 0
    assert servers(home, PROJECT)["x"] == {**EVIL, "env": {"A": "1"}}
    assert decisions(home) == ["approved", "approved"]


@pytest.mark.parametrize("word", ["approve", "reject"])
def test_a_decision_about_another_entry_of_that_name_lets_no_field_be_changed(word: str, home: Home, cli: Cli) -> None:
    path = configure(home, PROJECT, x={"command": "a"})
    assert cli("mcp", word, "x", *(["--yes"] if word == "approve" else [])).code == 0
    path.write_text(path.read_text().replace('"a"', '"curl"'))
    before = path.read_bytes()
    done = cli("mcp", "edit", "x", "-e", "A=1")
    assert (done.code, path.read_bytes()) == (4, before)
    assert "x was not changed: it changed since you decided about it." in done.err


def test_a_field_is_no_approval_of_what_the_entry_leads_to_by_now(home: Home) -> None:
    configure(home, PROJECT, x={"command": "${TOOL}"})
    assert run_beside(home, "mcp", "approve", "x", "--yes", TOOL="/bin/true").code == 0
    done = run_beside(home, "mcp", "edit", "x", "-e", "A=1", TOOL="/bin/false")
    assert done.code == 4
    assert "x was not changed: it leads to something else than when you approved it." in done.err


def test_an_invalid_entry_of_a_project_is_changed_only_before_somebodys_eyes(home: Home, cli: Cli) -> None:
    path = configure(home, PROJECT, x={"command": ""})
    before = path.read_bytes()
    done = cli("mcp", "edit", "x", "--", "npx")
    assert (done.code, path.read_bytes()) == (4, before)
    assert done.err.endswith("Run this in a terminal to look and decide.\n")


@terminal
@pytest.mark.parametrize("entry", [EVIL, {"command": ""}])
def test_at_a_terminal_a_projects_entry_is_shown_as_it_would_be_and_a_yes_writes_and_approves_it(
    entry: dict[str, Any], home: Home
) -> None:
    path = configure(home, PROJECT, x=entry)
    before = path.read_bytes()
    words = ("mcp", "edit", "x", "-s", "project", "-e", "A=1", "--", *DEMO_WORDS)
    with Person(home, *words) as person:
        shown = person.sees("Let it be started? [y/N]: ")
        assert ("with env" in shown, "A=1" in shown, DEMO_WORDS[0] in shown, "evil" in shown) == (
            True,
            True,
            True,
            False,
        )
        assert path.read_bytes() == before
        person.types("n")
        person.sees("Nothing was written: you did not approve x as it would be.")
        assert person.ended() == 4
    assert (path.read_bytes(), decisions(home)) == (before, [])
    with Person(home, *words) as person:
        person.answers(("Let it be started? [y/N]: ", "y"))
        person.sees("Changed x in")
        person.sees("✓ approval")
        person.sees("✓ tools")
        assert person.ended() == 0
    assert servers(home, PROJECT)["x"] == {**DEMO, "env": {"A": "1"}}
    assert decisions(home) == ["approved"]


@terminal
def test_at_a_terminal_the_fields_that_nobody_typed_are_shown_too(home: Home) -> None:
    configure(home, PROJECT, x=EVIL)
    with Person(home, "mcp", "edit", "x", "-e", "A=1", "--no-test") as person:
        shown = person.sees("Let it be started? [y/N]: ")
        assert "curl https://evil.example" in shown
        person.presses("\x03")
        assert person.ended() == 130
    assert (servers(home, PROJECT)["x"], decisions(home)) == (EVIL, [])


@terminal
def test_an_entry_that_changes_while_somebody_looks_at_it_is_not_written(home: Home) -> None:
    path = configure(home, PROJECT, x={"command": "a", "args": ["safe"]})
    with Person(home, "mcp", "edit", "x", "-e", "A=1", "--no-test") as person:
        person.sees("Let it be started? [y/N]: ")
        changed = path.read_text().replace("safe", "evil")
        path.write_text(changed)
        person.types("y")
        person.sees("was changed by another program in the meantime, so it was left as it is.")
        assert person.ended() == 2
    assert path.read_text() == changed
    # What was approved is what was shown, and that is not what the file has.
    with Person(home, "mcp", "edit", "x", "-e", "A=1", "--no-test") as person:
        assert "evil" in person.sees("Let it be started? [y/N]: ")


@terminal
def test_what_opencode_merges_into_an_entry_is_shown_and_approved_with_it(home: Home) -> None:
    mine = {"type": "local", "command": ["a"], "environment": {"MINE": "1"}}
    home.write("home/.config/opencode/opencode.json", {"mcp": {"x": mine}})
    home.write("project/opencode.json", {"mcp": {"x": {"type": "local", "command": ["b"]}}})
    words = ("mcp", "edit", "x", "--in", "opencode", "-s", "project", "-e", "A=1", "--no-test")
    with Person(home, *words) as person:
        shown = person.sees("Let it be started? [y/N]: ")
        assert ("merged with" in shown, "A=1" in shown) == (True, True)
        person.types("y")
        person.sees("Changed x in")
        assert person.ended() == 0
        assert "not approved" not in person.shown
    assert decisions(home) == ["approved"]
    # Nobody is asked about it again.
    with Person(home, *words[:-3], "-e", "A=2", "--no-test") as person:
        person.sees("Changed x in")
        assert person.ended() == 0


def test_what_one_person_approved_lets_another_change_nothing(home: Home, cli: Cli) -> None:
    path = configure(home, PROJECT, x=EVIL)
    assert cli("mcp", "approve", "x", "--yes").code == 0
    others = home.folder / "others"
    others.mkdir()
    before = path.read_bytes()
    done = run_beside(home, "mcp", "edit", "x", "-e", "A=1", "--no-test", HOME=str(others))
    assert (done.code, path.read_bytes()) == (4, before)
    assert run_beside(home, "mcp", "edit", "x", "-e", "A=1", "--no-test").code == 0


# --- several at once ----------------------------------------------------------------------------------------


def test_edits_at_the_same_moment_are_all_kept(home: Home) -> None:
    configure(home, x={"command": "a"})
    running = [
        subprocess.Popen(
            [MOORING, "mcp", "edit", "x", "--no-test", "-e", f"K{number}=1"],
            cwd=home.cwd,
            env=home.env,
            stdout=subprocess.DEVNULL,
        )
        for number in range(8)
    ]
    assert [process.wait(100) for process in running] == [0] * 8
    assert servers(home)["x"]["env"] == {f"K{number}": "1" for number in range(8)}


# --- in an editor -------------------------------------------------------------------------------------------


class Editor:
    """An editor that does what it is told, one step at each time it is opened, and notes what it saw."""

    def __init__(self, home: Home, *steps: str) -> None:
        self._folder = home.home / "an editor's"
        self._folder.mkdir()
        for number, step in enumerate(steps):
            (self._folder / f"step{number}.py").write_text(step)
        script = self._folder / "edit.py"
        script.write_text(
            "import os, pathlib, sys\n"
            "here, path = pathlib.Path(__file__).parent, pathlib.Path(sys.argv[-1])\n"
            "assert sys.argv[1] == '--wait', sys.argv\n"
            "number = len(list(here.glob('seen*')))\n"
            "text = path.read_text()\n"
            "mode = [oct(os.stat(each).st_mode & 0o777) for each in (path, path.parent)]\n"
            "(here / f'seen{number}').write_text('\\n'.join([str(path), *mode, text]))\n"
            "exec((here / f'step{number}.py').read_text())\n"
        )
        self.command = f'"{sys.executable}" "{script}" --wait'

    @property
    def seen(self) -> list[list[str]]:
        """Of each time: the path, the modes of the file and its folder, and the text."""
        return [each.read_text().split("\n", 3) for each in sorted(self._folder.glob("seen*"))]

    def waits(self, mark: str = "seen0") -> None:
        """Wait until it is open, or has left another mark."""
        until = time.monotonic() + 100
        while not (self._folder / mark).exists():
            assert time.monotonic() < until, f"it left no {mark}"
            time.sleep(0.02)

    @property
    def folder(self) -> Path:
        return Path(self.seen[0][0]).parent


def replacing(old: str, new: str) -> str:
    return f"path.write_text(text.replace({old!r}, {new!r}))"


def edit(home: Home, editor: Editor, *words: str, **env: str) -> Person:
    return Person(home, "mcp", "edit", "x", "--no-test", *words, EDITOR=editor.command, **env)


@terminal
def test_the_editor_gets_the_entry_as_it_is_in_the_file_and_only_it_is_changed(home: Home) -> None:
    entry = {"command": DEMO["command"], "args": DEMO["args"]}
    path = configure(home, x=entry)
    before = path.read_bytes()
    editor = Editor(home, replacing('"command"', '"cwd": "/", // here\n\t"command"'))
    with Person(home, "mcp", "edit", "x", VISUAL=editor.command, EDITOR="false") as person:
        person.sees("Opening x of ~/.config/mooring/mcp.json …")
        person.sees("Changed x in ~/.config/mooring/mcp.json.")
        person.sees("✓ tools")
        assert person.ended() == 0
    [[name, mode, folder_mode, text]] = editor.seen
    assert (Path(name).name, mode, folder_mode) == ("x.json", "0o600", "0o700")
    assert text == json.dumps(entry, indent="\t") + "\n"
    assert not editor.folder.exists()
    assert path.read_bytes() == before.replace(
        b'"x": {\n\t\t\t"command"', b'"x": {\n\t\t\t"cwd": "/", // here\n\t\t\t"command"'
    )


@terminal
@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("sys.exit(3)", "failed with exit code 3, so nothing was changed."),
        ("os.kill(os.getpid(), 9)", "was ended by signal 9, so nothing was changed."),
        ("path.unlink()", "left no file, so nothing was changed."),
        ("path.write_bytes(b'\\xff')", "is not UTF-8 text, so nothing was changed."),
        ("pass", "Nothing changed."),
        ("path.write_text('')", "Nothing changed."),
    ],
)
def test_an_editor_that_fails_or_does_nothing_changes_nothing(home: Home, step: str, message: str) -> None:
    path = configure(home, x=PROGRAM)
    before = path.read_bytes()
    editor = Editor(home, step)
    with edit(home, editor) as person:
        person.sees(message)
        assert person.ended() == (0 if message == "Nothing changed." else 2)
        assert person.left() == []
    assert path.read_bytes() == before
    assert not editor.folder.exists()


@terminal
@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"EDITOR": "no-such-editor --wait"}, "The editor no-such-editor --wait (VISUAL or EDITOR) was not found"),
        ({}, "Neither VISUAL nor EDITOR names your editor; for example: export EDITOR=nano"),
    ],
)
def test_an_editor_that_is_missing_is_named(home: Home, env: dict[str, str], message: str) -> None:
    configure(home, x=PROGRAM)
    with Person(home, "mcp", "edit", "x", **env) as person:
        person.sees(message)
        assert person.ended() == 2


@terminal
def test_nonsense_is_explained_and_can_be_edited_again(home: Home) -> None:
    configure(home, x={"command": "a", "args": []})
    editor = Editor(
        home,
        replacing('"a",', '"a", ;'),
        replacing('"command": "a", ;', '"command": 7,'),
        replacing('"command": 7,', '"command": "b",'),
    )
    with edit(home, editor) as person:
        shown = person.sees("Edit again or give up [edit again]: ")
        assert "Invalid server config: it is not valid JSON" in shown
        assert "(line 2)" in shown
        person.types("")
        assert "Invalid server config: `command` should be text" in person.sees("Edit again or give up [edit again]: ")
        person.types("1")
        person.sees("Changed x in ~/.config/mooring/mcp.json.")
        assert person.ended() == 0
    # What was typed is there again, not the entry as it was.
    assert '"a", ;' in editor.seen[1][3]
    assert servers(home)["x"] == {"command": "b", "args": []}


@terminal
@pytest.mark.parametrize(("keys", "code"), [("2\r", 0), ("give up\r", 0), ("\x04", 0), ("\x03", 130)])
def test_whoever_gives_up_changes_nothing(home: Home, keys: str, code: int) -> None:
    path = configure(home, x={"command": "a"})
    before = path.read_bytes()
    editor = Editor(home, "path.write_text('{')")
    with edit(home, editor) as person:
        person.sees("Edit again or give up [edit again]: ")
        person.presses(keys)
        person.sees("Nothing changed.")
        assert person.ended() == code
    assert path.read_bytes() == before
    assert not editor.folder.exists()


OTHERS_CHANGE = (
    "import json; other = pathlib.Path({path!r}); other.write_text(other.read_text().replace({old!r}, {new!r})); "
)


@terminal
def test_what_others_change_meanwhile_in_the_file_is_kept_too(home: Home) -> None:
    path = configure(home, x={"command": "a"})
    others = OTHERS_CHANGE.format(path=str(path), old='"y"', new='"theirs"')
    editor = Editor(home, others + replacing('"a"', '"mine"'))
    with edit(home, editor) as person:
        person.sees("Changed x in ")
        assert person.ended() == 0
    assert (servers(home)["x"], servers(home)["last"]) == ({"command": "mine"}, {"command": "theirs"})


@terminal
@pytest.mark.parametrize(("old", "new"), [('"a"', '"theirs"'), ('"x"', '"renamed"')])
def test_an_entry_that_others_changed_meanwhile_is_theirs_and_what_was_typed_is_kept(
    home: Home, old: str, new: str
) -> None:
    path = configure(home, x={"command": "a"})
    others = OTHERS_CHANGE.format(path=str(path), old=old, new=new)
    editor = Editor(home, others + replacing('"a"', '"mine"'))
    with edit(home, editor) as person:
        person.sees("was changed by another program in the meantime, so it was left as it is. What you wrote is in ")
        assert person.ended() == 2
    assert new in path.read_text()
    [saved] = (home.home / ".local/state/mooring/edits").iterdir()
    assert json.loads(saved.read_text()) == {"command": "mine"}
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert home.shorten(saved) in person.shown
    assert not editor.folder.exists()


@terminal
def test_two_people_who_edit_the_same_entry_lose_nothing(home: Home) -> None:
    configure(home, x={"command": "a"})
    waiting = "import time\nwhile not (here / 'go').exists(): time.sleep(0.02)\n"
    slow = Editor(home, waiting + replacing('"a"', '"slow"'))
    with edit(home, slow) as person:
        slow.waits()
        with Person(home, "mcp", "edit", "x", "--no-test", "--", "quick") as other:
            assert other.ended() == 0
        (home.home / "an editor's" / "go").touch()
        person.sees("What you wrote is in ")
        assert person.ended() == 2
    assert servers(home)["x"] == {"command": "quick"}


@terminal
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_whoever_is_told_to_end_while_the_editor_is_open_leaves_nothing_behind(
    home: Home, number: signal.Signals
) -> None:
    path = configure(home, x={"command": "a"})
    before = path.read_bytes()
    editor = Editor(home, "import time; time.sleep(60)")
    with edit(home, editor) as person:
        editor.waits()
        person.is_sent(number)
        assert person.ended() == 130
        assert person.left() == []
    assert path.read_bytes() == before
    assert not editor.folder.exists()


@terminal
@pytest.mark.parametrize("before", ["", "COLOR=blue "])
def test_ctrl_c_is_the_editors(home: Home, before: str) -> None:
    configure(home, x={"command": "a"})
    step = (
        "import signal, time\n"
        "signal.signal(signal.SIGINT, lambda *_: (here / 'go').touch())\n"
        "(here / 'ready').touch()\n"
        "while not (here / 'go').exists(): time.sleep(0.02)\n"
    )
    editor = Editor(home, step + replacing('"a"', '"b"'))
    with Person(home, "mcp", "edit", "x", "--no-test", EDITOR=before + editor.command) as person:
        editor.waits("ready")
        person.presses("\x03")
        person.sees("Changed x in ")
        assert person.ended() == 0
    assert servers(home)["x"] == {"command": "b"}


@terminal
def test_a_projects_entry_that_was_edited_as_a_whole_is_approved(home: Home) -> None:
    configure(home, PROJECT, x={"command": "a"})
    editor = Editor(home, replacing('"a"', json.dumps(DEMO["command"]) + ', "args": ' + json.dumps(DEMO["args"])))
    with Person(home, "mcp", "edit", "x", EDITOR=editor.command) as person:
        person.sees("✓ approval")
        person.sees("✓ tools")
        assert person.ended() == 0
    assert decisions(home) == ["approved"]


@terminal
@pytest.mark.parametrize(
    ("tool", "path", "text", "shown", "old", "new"),
    [
        (
            "codex",
            "home/.codex/config.toml",
            CODEX,
            CODEX.partition("# mine\n")[2].partition("\n[mcp_servers.y]")[0],
            'A = "1"',
            'A = "2" # new',
        ),
        (
            "goose",
            "home/.config/goose/config.yaml",
            "extensions:\n  # mine\n  x:\n    type: stdio\n    cmd: a # it\n    args: []\n    enabled: true\n  y: {type: stdio, cmd: b}\n",
            "type: stdio\ncmd: a # it\nargs: []\nenabled: true\n",
            "cmd: a",
            "cmd: c",
        ),
        (
            "continue",
            "home/.continue/config.yaml",
            "name: n\nversion: 1\nmcpServers:\n  - name: y\n    command: b\n  - name: x\n    command: a\n",
            "name: x\ncommand: a\n",
            "command: a",
            "command: c",
        ),
    ],
)
def test_other_syntaxes_are_edited_as_they_are(
    home: Home, tool: str, path: str, text: str, shown: str, old: str, new: str
) -> None:
    file = home.write(path, text)
    editor = Editor(home, replacing(old, new))
    with edit(home, editor, "--in", tool) as person:
        person.sees("Changed x in ")
        assert person.ended() == 0
    assert editor.seen[0][3] == shown
    assert Path(editor.seen[0][0]).suffix == Path(path).suffix
    assert file.read_text() == text.replace(old, new)


@terminal
def test_the_name_of_an_entry_in_a_list_has_to_stay(home: Home) -> None:
    text = "name: n\nversion: 1\nmcpServers:\n  - name: x\n    command: a\n"
    file = home.write("home/.continue/config.yaml", text)
    editor = Editor(home, replacing("name: x", "name: z"))
    with edit(home, editor, "--in", "continue") as person:
        assert "its name has to stay" in person.sees("Edit again or give up [edit again]: ")
        person.types("2")
        assert person.ended() == 0
    assert file.read_text() == text


def test_without_a_terminal_no_editor_is_opened(home: Home, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(home, x=PROGRAM)
    monkeypatch.setenv("EDITOR", "touch /nowhere")
    done = cli("mcp", "edit", "x")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "mooring: Without a terminal no editor is opened: say what to change. "
        "For example: mooring mcp edit x --timeout 60\n"
    )


def test_a_timeout_is_the_one_that_the_tool_has(home: Home, cli: Cli) -> None:
    home.write("home/.claude.json", {"mcpServers": {"x": {"command": "true"}}})
    done = cli("mcp", "edit", "x", "--in", "claude-code", "--timeout", "90", "--no-test")
    assert (done.code, done.err) == (0, "")
    written = json.loads((home.home / ".claude.json").read_text())
    assert written["mcpServers"]["x"] == {"command": "true", "timeout": 90000}
    home.write("home/.cursor/mcp.json", {"mcpServers": {"y": {"command": "true"}}})
    refused = cli("mcp", "edit", "y", "--in", "cursor", "--timeout", "90")
    assert (refused.code, "cannot express" in refused.err) == (2, True)
