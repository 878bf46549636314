"""`mooring mcp add`, `add-json` and `remove`: entries written into files, tried, kept or undone, and taken out again."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from chat.terminal import Person
from mooring.discovery.targets import WriteScope, find_target, list_writers
from mooring.errors import ConfigError
from mooring.permissions.trust import load
from mooring.verbs.config.describe import describe_entry, parse_description
from mooring.verbs.mcp_rows import ROWS
from mooring.verbs.verb import find_options
from support import DEMO, Cli, Home

OWN = "home/.config/mooring/mcp.json"
PROJECT = "project/.mooring/mcp.json"
DEMO_WORDS = (DEMO["command"], *DEMO["args"])


def servers(home: Home, path: str = OWN) -> dict[str, object]:
    found: dict[str, object] = json.loads((home.folder / path).read_text())["mcpServers"]
    return found


# --- add ----------------------------------------------------------------------------------------------------


TYPED: list[tuple[list[str], dict[str, object]]] = [
    (["x", "npx"], {"command": "npx"}),
    (["x", "npx", "-y", "-e", "pkg", "--json"], {"command": "npx", "args": ["-y", "-e", "pkg", "--json"]}),
    (["x", "-e", "A=b=c", "--", "npx", "-y"], {"command": "npx", "args": ["-y"], "env": {"A": "b=c"}}),
    (["-e", "TOKEN=${TOKEN}", "x", "--", "npx"], {"command": "npx", "env": {"TOKEN": "${TOKEN}"}}),
    (["x", "https://a.example/mcp"], {"url": "https://a.example/mcp"}),
    (["--transport", "http", "x", "https://a.example"], {"type": "http", "url": "https://a.example"}),
    (["x", "--transport", "sse", "--url", "https://a.example"], {"type": "sse", "url": "https://a.example"}),
    (
        ["x", "https://a.example", "-H", "X-Key: ${KEY}"],
        {"url": "https://a.example", "headers": {"X-Key": "${KEY}"}},
    ),
    (
        ["x", "--url", "https://a.example", "--token", "${T}"],
        {"url": "https://a.example", "headers": {"Authorization": "Bearer ${T}"}},
    ),
]


@pytest.mark.parametrize(("words", "entry"), TYPED)
def test_what_is_typed_becomes_an_entry(words: list[str], entry: dict[str, object], home: Home, cli: Cli) -> None:
    done = cli("mcp", "add", "--no-test", *words)
    assert (done.code, done.out, done.err) == (0, "Added x to ~/.config/mooring/mcp.json.\n", "")
    assert servers(home) == {"x": entry}


@pytest.mark.parametrize(("words", "entry"), TYPED)
def test_a_chat_reads_the_same_words_without_the_command(words: list[str], entry: dict[str, object]) -> None:
    described = parse_description(["--no-test", *words])
    assert (described.name, described.no_test, describe_entry(described)) == ("x", True, entry)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["npx", "-y", "pkg", "--to", "gemini"], "--to"),
        (["npx", "-s", "project"], "-s"),
        (["npx", "--scope=project"], "--scope=project"),
        (["npx", "--no-test"], "--no-test"),
    ],
)
def test_an_option_behind_the_servers_command_is_the_servers_and_that_is_said(
    words: list[str], option: str, home: Home, cli: Cli
) -> None:
    note = f"{option} became an argument of npx: options go before the server's command.\n"
    added = cli("mcp", "add", "--no-test", "x", *words)
    assert (added.code, added.err) == (0, note)
    assert servers(home)["x"] == {"command": "npx", "args": words[1:]}
    edited = cli("mcp", "edit", "--no-test", "x", *words, "last")
    assert (edited.code, edited.err) == (0, note)


@pytest.mark.parametrize("words", [["docker", "run", "-e", "A=1", "-s", "9"], ["npx", "--url", "u", "--token", "t"]])
def test_options_that_servers_have_too_are_passed_on_without_a_word(words: list[str], home: Home, cli: Cli) -> None:
    done = cli("mcp", "add", "--no-test", "x", *words)
    assert (done.code, done.err) == (0, "")
    assert servers(home)["x"] == {"command": words[0], "args": words[1:]}


def test_the_command_and_the_chat_take_the_same_options() -> None:
    row = next(row for row in ROWS if row.name == "add")
    assert {option.spelling for option in find_options(row, "shell")} == {
        option.spelling for option in find_options(row, "chat")
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x", "--colour", "npx"], "There is no option --colour."),
        (["x", "-z", "npx"], "There is no option -z."),
        (["x", "--token"], "--token needs a value."),
        (["x", "-s", "team", "npx"], "--scope must be user, project or local, not 'team'."),
    ],
)
def test_an_option_that_a_chat_cannot_read_is_named(words: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}$"):
        parse_description(words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x", "--url", "https://a.example", "--", "npx"], "Use either --url or -- <command...>, not both."),
        (["x", "--token", "t", "--", "npx"], "--token requires --url (HTTP/SSE transport)."),
        (["x"], "Invalid server config: it has neither a command nor a URL. Add one: -- <command...>."),
        (["x", "-e", "A", "--", "npx"], "Invalid server config: a variable is written as KEY=VALUE."),
        (
            ["x", "-H", "A", "--url", "https://a.example"],
            "Invalid server config: a header is written as NAME: VALUE.",
        ),
        (
            ["x", "-e", "A=b", "https://a.example"],
            "Invalid server config: -e goes with a command, and this is a URL. Use -H for headers.",
        ),
        (
            ["x", "-H", "A: b", "--", "npx"],
            "Invalid server config: -H goes with a URL, and this is a command. Use -e for variables.",
        ),
        (["x", "--transport", "sse", "--", "npx"], "Invalid server config: sse needs a URL, and this is a command."),
        (["x", "--url", "ftp://a.example"], "Invalid server config: `url` is not a URL (begin it with https://)."),
        (["", "npx"], "Invalid server config: the name is empty."),
        (["x" * 101, "npx"], "Invalid server config: the name is longer than 100 characters."),
        (["a b", "npx"], "Invalid server config: the name may have letters, digits, `_`, `.` and `-` only."),
        (["a.b", "--to", "magenta", "npx"], "Invalid server config: magenta.nvim does not accept such a name."),
        (["x", "--to", "kimi", "npx"], "kimi is not a tool whose files are written. These are: mooring, omp,"),
        (["x", "--to", "claud", "npx"], "claud is not a tool whose files are written. Did you mean claude-code?"),
        (["x", "https://"], "Invalid server config: `url` names no host (write it as https://HOST/PATH)."),
        (
            ["x", "--to", "goose", "-s", "project", "npx"],
            "goose has no file of a project that is written; try the other scope with -s.",
        ),
        (
            ["x", "--no-project", "-s", "project", "npx"],
            "--no-project leaves the project's files out, so nothing is written there.",
        ),
        (["x", "--to", "claude-desktop", "https://a.example"], 'Claude Desktop cannot express "x": it'),
    ],
)
def test_what_cannot_be_added_is_refused_in_one_sentence(words: list[str], message: str, home: Home, cli: Cli) -> None:
    done = cli("mcp", "add", "--no-test", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"mooring: {message}")
    assert not list(home.home.rglob("*.json")) + list(home.project.rglob("*.json"))


@pytest.mark.parametrize(
    "words",
    [
        ["add", "x", "npx"],
        ["add-json", "x", '{"command": "npx"}'],
        ["edit", "demo", "-e", "A=1"],
        ["remove", "demo"],
        ["enable", "demo"],
        ["disable", "demo"],
        ["export", "--to", "codex"],
        ["export", "--to", "codex", "--dry-run"],
        ["import", "--from", "servers.json"],
    ],
)
def test_with_the_demo_alone_nothing_is_written(words: list[str], home: Home, cli: Cli) -> None:
    home.write("project/servers.json", {"mcpServers": {"x": {"command": "npx"}}})
    done = cli("--demo", "mcp", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err == "mooring: --demo leaves all files out, so nothing is written; try it without --demo.\n"
    assert not list(home.home.rglob("*.*"))


def test_a_name_that_is_taken_is_refused_and_the_file_stays(home: Home, cli: Cli) -> None:
    path = home.write(OWN, '{"mcpServers": {"x": {"command": "a"}}} // mine\n')
    before = path.read_bytes()
    done = cli("mcp", "add", "--no-test", "x", "npx")
    assert (done.code, done.err) == (2, f'mooring: Server "x" already exists in {home.shorten(path)}\n')
    assert path.read_bytes() == before


def test_a_file_that_cannot_be_read_is_never_written(home: Home, cli: Cli) -> None:
    path = home.write(OWN, '{\n"mcpServers": {,\n')
    done = cli("mcp", "add", "--no-test", "x", "npx")
    assert done.code == 2
    assert done.err.startswith(f"mooring: {home.shorten(path)} is not valid JSON")
    assert done.err.endswith(" (line 2), so it was left as it is.\n")
    assert path.read_text() == '{\n"mcpServers": {,\n'


def test_without_a_terminal_it_is_written_tried_reported_and_kept(home: Home, cli: Cli) -> None:
    works = cli("mcp", "add", "demo", *DEMO_WORDS)
    assert works.code == 0
    assert works.out.startswith("Added demo to ~/.config/mooring/mcp.json.\n✓ file")
    assert "✓ tools" in works.out
    fails = cli("mcp", "add", "broken", "false")
    assert fails.code == 1
    assert 'Failed to connect to "broken": broken ended with exit code 1' in fails.err
    assert set(servers(home)) == {"demo", "broken"}


def test_a_server_added_to_the_project_is_approved_exactly_as_it_was_typed(home: Home, cli: Cli) -> None:
    assert cli("mcp", "add", "-s", "project", "demo", *DEMO_WORDS).code == 0
    assert json.loads(cli("mcp", "list", "--json").out)["servers"][0]["approved"]
    entry = json.loads((home.folder / PROJECT).read_text())
    entry["mcpServers"]["demo"]["args"].append("--other")
    home.write(PROJECT, entry)
    assert not json.loads(cli("mcp", "list", "--json").out)["servers"][0]["approved"]


def test_what_the_project_says_about_the_name_is_not_approved_with_it(home: Home, cli: Cli) -> None:
    home.write(PROJECT, {"mcpServers": {"x": {"command": "evil"}}})
    done = cli("mcp", "add", "-s", "project", "--to", "claude-code", "--no-test", "x", "npx")
    assert done.code == 0
    assert f"Another definition of x wins: mooring, project: {home.folder / PROJECT}." in done.err
    assert load(home.where)[0].decisions == ()


def test_a_projects_link_does_not_lead_an_edit_out_of_it(home: Home, cli: Cli) -> None:
    target = home.write("home/.claude.json", "{}")
    (home.project / ".mcp.json").symlink_to(target)
    done = cli("mcp", "add", "-s", "project", "--to", "claude-code", "--no-test", "x", "npx")
    assert done.code == 2
    assert "leads out of the project, so it was left as it is." in done.err
    assert target.read_text() == "{}"


def test_a_linked_dotfile_is_followed_and_it_says_where_it_leads(home: Home, cli: Cli) -> None:
    target = home.write("home/dotfiles/mooring.json", "{}")
    link = home.folder / OWN
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    done = cli("mcp", "add", "--no-test", "x", "npx")
    assert done.err == f"That is a link; the file is {home.shorten(target)}.\n"
    assert link.is_symlink()
    assert "npx" in target.read_text()


def test_what_the_tool_cannot_express_is_reported_field_by_field_and_secrets_stay_references(
    home: Home, cli: Cli
) -> None:
    words = ["docs", "https://a.example/mcp", "--token", "${TOKEN}", "-H", "X-Key: a${B}", "--to", "codex", "--no-test"]
    done = cli("mcp", "add", *words)
    assert done.out == "Added docs to ~/.codex/config.toml.\n"
    assert done.err == "codex cannot express `headers.X-Key`, so it was left out.\n"
    assert (home.home / ".codex/config.toml").read_text() == (
        '[mcp_servers.docs]\nurl = "https://a.example/mcp"\nbearer_token_env_var = "TOKEN"\n'
    )


def test_json_is_taken_as_it_would_be_in_a_file(home: Home, cli: Cli) -> None:
    done = cli("mcp", "add-json", "x", '{"type": "http", "url": "https://a.example", "colour": 1}', "--no-test")
    assert (done.code, done.err) == (0, "x: has the unknown key `colour`, which is ignored.\n")
    assert servers(home) == {"x": {"type": "http", "url": "https://a.example"}}
    for text, reason in (
        ("{", "it is not valid JSON."),
        ("[]", "it should be a JSON object."),
        ('{"mcpServers": {}}', "it is a whole file. To add its servers: mooring mcp import --from -"),
        ('{"command": "a", "url": "https://b"}', "it has both a command and a url (keep the one you mean)."),
        ('{"type": "http"}', "it is of type http, but has no url (add its URL)."),
        ("{}", "it has neither a command nor a url (add the one you mean)."),
        ('{"comand": "a"}', "it has neither a command nor a url (did you mean `command`? It says `comand`)."),
    ):
        assert cli("mcp", "add-json", "y", text).err == f"mooring: Invalid server config: {reason}\n"


def test_a_program_reads_what_was_done_as_data(home: Home, cli: Cli) -> None:
    added = json.loads(cli("mcp", "add", "--json", "demo", *DEMO_WORDS).out)
    assert added["added"]["path"] == str(home.folder / OWN)
    assert (added["kept"], added["test"]["ok"]) == (True, True)
    removed = json.loads(cli("mcp", "remove", "--json", "demo").out)
    assert removed["removed"]["tool"] == "mooring"


@pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal")
def test_a_server_that_takes_long_shows_that_it_starts_and_stays_when_the_trial_is_interrupted(home: Home) -> None:
    with Person(home, "mcp", "add", "slow", "sleep", "100") as person:
        person.sees("✓ variables")
        person.sees("starting slow …")
        person.presses("\x03")
        person.sees("slow stays in ~/.config/mooring/mcp.json. To remove it: mooring mcp remove slow")
        assert person.ended() == 130
        assert person.left() == []
    assert servers(home) == {"slow": {"command": "sleep", "args": ["100"]}}


@pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal")
@pytest.mark.parametrize(("answer", "kept"), [("", True), ("y", True), ("n", False)])
def test_on_a_terminal_what_came_is_shown_and_kept_or_undone(home: Home, answer: str, kept: bool) -> None:
    home.write(OWN, '{"mcpServers": {"other": {"command": "x"}}}')
    with Person(home, "mcp", "add", "demo", *DEMO_WORDS) as person:
        shown = person.sees("Keep it? [Y/n]: ")
        assert "✓ tools" in shown
        assert "demo was added to ~/.config/mooring/mcp.json and works." in shown
        person.types(answer)
        assert person.ended() == 0
    assert set(servers(home)) == ({"other", "demo"} if kept else {"other"})
    if not kept:
        assert (home.folder / OWN).read_text() == '{"mcpServers": {"other": {"command": "x"}}}'


# --- remove -------------------------------------------------------------------------------------------------

COMMENTED = """\
// mine
{
\t"mcpServers": { // all
\t\t"a": {"command": "x"}, // first
\t\t/* second */ "b": {"command": "y"}
\t}
}
"""


def test_a_removed_server_leaves_every_other_byte(home: Home, cli: Cli) -> None:
    path = home.write(OWN, COMMENTED)
    done = cli("mcp", "add", "--no-test", "c", "npx")
    assert done.code == 0
    done = cli("mcp", "remove", "C")
    assert (done.code, done.out, done.err) == (0, "Removed c from ~/.config/mooring/mcp.json.\n", "")
    assert path.read_text() == COMMENTED


def list_targets() -> list[tuple[str, WriteScope]]:
    scopes: tuple[WriteScope, ...] = ("user", "project")
    return [(tool, scope) for tool in list_writers() for scope in scopes if find_target(tool, scope)]


@pytest.mark.parametrize(("tool", "scope"), list_targets())
def test_what_was_added_to_any_tools_file_is_listed_and_its_removal_gives_back_the_file(
    tool: str, scope: WriteScope, home: Home, cli: Cli
) -> None:
    def add(name: str) -> Path:
        return Path(
            cli("mcp", "add", "--json", "--no-test", "--to", tool, "-s", scope, name, "npx").data["added"]["path"]
        )

    def remove(name: str) -> None:
        assert cli("mcp", "remove", name, "--from", tool, "-s", scope).code == 0

    def list_names() -> set[str]:
        listed = cli("mcp", "list", "--json").data
        assert listed["problems"] == []
        return {row["name"] for row in listed["servers"]}

    path = add("first")
    before = path.read_bytes()
    assert add("second") == path
    assert list_names() == {"first", "second"}
    remove("second")
    assert path.read_bytes() == before
    # Without its only entry, an empty container remains, which takes the next one.
    remove("first")
    empty = path.read_bytes()
    assert list_names() == set()
    add("first")
    assert list_names() == {"first"}
    remove("first")
    assert path.read_bytes() == empty


EMPTY = {
    "json": ('{\n  "theme": "dark" // mine\n}\n', '{\n  "theme": "dark", // mine\n  "mcpServers": {\n  }\n}\n'),
    "toml": ('model = "x" # mine\n', 'model = "x" # mine\n'),
    "yaml": ("GOOSE_MODE: auto # mine\n", "GOOSE_MODE: auto # mine\nextensions: {}\n"),
}


@pytest.mark.parametrize(
    ("kind", "tool", "path"),
    [
        ("json", "claude-code", ".claude.json"),
        ("toml", "codex", ".codex/config.toml"),
        ("yaml", "goose", ".config/goose/config.yaml"),
    ],
)
def test_where_there_was_no_container_an_empty_one_remains_and_everything_else_as_it_was(
    kind: str, tool: str, path: str, home: Home, cli: Cli
) -> None:
    before, after = EMPTY[kind]
    file = home.write(f"home/{path}", before)
    assert cli("mcp", "add", "--no-test", "--to", tool, "x", "npx").code == 0
    assert cli("mcp", "remove", "x", "--from", tool).code == 0
    assert file.read_text() == after


def test_another_tools_server_is_removed_only_if_the_tool_is_named(home: Home, cli: Cli) -> None:
    path = home.write("home/.claude.json", {"mcpServers": {"x": {"command": "a"}}, "theme": "dark"})
    done = cli("mcp", "rm", "x")
    assert done.code == 2
    assert done.err == (
        f"mooring: x is not defined in Mooring's own file, but in claude-code ({home.shorten(path)})."
        " To remove it there: mooring mcp remove x --from claude-code\n"
    )
    assert cli("mcp", "rm", "x", "--from", "claude-code").code == 0
    assert json.loads(path.read_text()) == {"mcpServers": {}, "theme": "dark"}


def test_of_two_files_one_has_to_be_chosen_and_the_rest_is_named(home: Home, cli: Cli) -> None:
    entry = {"mcpServers": {"x": {"command": "a"}}}
    home.write(OWN, entry)
    home.write(PROJECT, entry)
    done = cli("mcp", "remove", "x")
    assert done.code == 2
    assert done.err.startswith("mooring: x is defined more than once (project: ")
    assert done.err.endswith("); choose one with -s.\n")
    done = cli("mcp", "remove", "x", "-s", "project")
    assert (done.code, done.err) == (0, "Still defined: mooring, user: ~/.config/mooring/mcp.json.\n")
    assert servers(home, PROJECT) == {}


def test_what_is_in_no_file_that_may_be_written_is_not_removed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", '{"mcp": {"x": {"type": "local", "command": ["a"]}}}')
    done = cli("mcp", "remove", "x", "--from", "opencode")
    assert done.code == 2
    assert done.err == "mooring: x is in $OPENCODE_CONFIG_CONTENT, which is never written; remove it there.\n"
    assert cli("mcp", "remove", "nobody").code == 2


def test_many_commands_at_once_lose_nothing(home: Home, tmp_path: Path) -> None:
    path = home.write("home/.claude.json", '// mine\n{\n  // all\n  "mcpServers": {}\n}\n')
    commands = [
        subprocess.Popen(
            [sys.executable, "-m", "mooring", "mcp", "add", f"s{number}", "--to", "claude-code", "--no-test", "npx"],
            cwd=home.cwd, env=home.env, stdout=subprocess.DEVNULL,
        )
        for number in range(6)
    ]  # fmt: skip
    assert [command.wait(timeout=50) for command in commands] == [0] * 6
    text = path.read_text()
    assert text.startswith("// mine\n{\n  // all\n")
    assert text.count('"command": "npx"') == 6


def test_a_server_that_fails_stays_where_nobody_can_be_asked_and_that_is_said(cli: Cli) -> None:
    done = cli("mcp", "add", "x", "--", "no-such-program-here")
    assert done.code == 1
    assert done.err.splitlines()[-1] == "x stays in ~/.config/mooring/mcp.json. To remove it: mooring mcp remove x"
    assert cli("mcp", "remove", "x").code == 0


def test_a_whole_command_line_in_quotes_is_refused_with_the_form_that_works(cli: Cli) -> None:
    done = cli("mcp", "add", "x", "npx -y some-server")
    assert done.code == 2
    assert (
        "the command has blanks in it; write its words apart, behind --. For example: -- npx -y some-server" in done.err
    )
    assert cli("mcp", "list", "--json").data["servers"] == []
    # A path with a blank in it is a program all the same.
    assert cli("mcp", "add", "y", "--no-test", "--", "/opt/my tools/server").code == 0


@pytest.mark.parametrize("command", ["npx -y some-server", "/nowhere/npx -y some-server"])
def test_a_whole_line_as_the_command_of_an_entry_is_refused_too(command: str, home: Home, cli: Cli) -> None:
    entry = {"command": command}
    for words in (["add-json", "x", json.dumps(entry)], ["add", json.dumps({"mcpServers": {"x": entry}})]):
        done = cli("mcp", *words, "--no-test")
        assert done.code == 2
        assert f"the command has blanks in it; write its words apart, behind --. For example: -- {command}" in done.err
    assert not (home.folder / OWN).exists()


def test_a_program_whose_path_has_blanks_is_a_program(home: Home, cli: Cli) -> None:
    program = home.write("home/My Servers/demo", "#!/bin/sh\n")
    assert cli("mcp", "add", "--no-test", "x", "--", str(program)).code == 0
    assert servers(home)["x"] == {"command": str(program)}
