"""What a person is told about servers without a start, and in how many words: `mcp list`, warnings, missing values."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from aiohttp import web

from mooring.testing.site import ReceivedRequest, Site
from support import DEMO, Actor, Cli, Result

DEAD = {"command": sys.executable, "args": ["-S", "-c", "import sys; sys.exit('no such table')"]}
NOWHERE = {"command": "no-such-program"}
OWN = "home/.config/mooring/mcp.json"


@pytest.fixture
def actor(tmp_path: Path) -> Actor:
    return Actor(tmp_path / "actor.json")


async def beside(cli: Cli, *words: str) -> Result:
    """Run a command beside the loop, in which a site answers."""
    return await asyncio.to_thread(cli, *words)


def rows(cli: Cli, *words: str) -> dict[str, dict[str, object]]:
    return {row["name"]: row for row in cli("mcp", "list", "--json", *words).data["servers"]}


def make_refusing_site() -> Site:
    def refuse(heard: ReceivedRequest) -> web.Response:
        return web.Response(status=401, headers={"WWW-Authenticate": 'Bearer realm="x"'})

    site = Site()
    for method in ("initialize", "server/discover"):
        site.answers[method] = refuse
    return site


# --- what a list knows ----------------------------------------------------------------------------------------------


def test_a_list_marks_a_server_whose_program_does_not_exist(cli: Cli) -> None:
    cli.home.configure(gone=NOWHERE, sh={"command": "sh"}, unsure={"command": "${SOME}/program"})
    listed = rows(cli)
    says = "The command no-such-program is not on PATH; install it, or give its full path in ~/.mcp.json."
    assert (listed["gone"]["status"], listed["gone"]["error"]) == ("failed", says)
    assert [listed[name]["status"] for name in ("sh", "unsure")] == ["idle", "idle"]
    shown = cli("mcp", "list")
    assert "✗  gone" in shown.out
    assert f"gone: {says}" in shown.err
    assert cli("mcp", "list", "-q").err == ""
    assert says in cli("mcp", "get", "gone").out
    for words in (["call", "gone.x"], ["tools", "gone"], ["mcp", "test", "gone"]):
        error = cli(*words).err.splitlines()[0]
        fix = "'no-such-program' is not on PATH; install it, or give its full path in ~/.mcp.json."
        assert error.endswith(fix)
        assert "/usr/bin" not in error
    typed = cli("tools", "--server", "no-such-program").err
    assert typed.endswith("'no-such-program' is not on PATH; install it, or give its full path.\n")


def test_a_list_marks_a_server_whose_variables_are_not_set(cli: Cli) -> None:
    cli.home.configure(
        github={"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "Bearer ${NO_TOKEN}"}},
        set={"command": "sh", "env": {"A": "${HOME}", "B": "${OTHER:-default}"}},
    )
    cli.home.write(
        "home/.mcporter/mcporter.json", {"mcpServers": {"strict": {"command": "sh", "env": {"A": "${NO_A}"}}}}
    )
    listed = rows(cli)
    assert (listed["github"]["status"], listed["github"]["error"]) == ("idle", "NO_TOKEN is not set.")
    assert (listed["strict"]["status"], listed["strict"]["error"]) == ("failed", "NO_A is not set.")
    assert (listed["set"]["status"], listed["set"]["error"]) == ("idle", None)
    shown = cli("mcp", "list")
    assert "!  github" in shown.out
    assert "github: NO_TOKEN is not set." in shown.err


def test_a_list_remembers_the_last_failure_until_the_server_is_there_again(cli: Cli, actor: Actor) -> None:
    cli.home.configure(actor=actor.entry)
    assert cli("tools", "actor").code == 0
    assert rows(cli)["actor"]["error"] is None
    actor.tell(die="start")
    assert cli("tools", "actor", "--refresh").code == 1
    failed = rows(cli)["actor"]
    assert failed["status"] == "failed"
    assert "That was" in str(failed["error"])
    assert "s ago" in cli("mcp", "doctor").out
    actor.tell(die=None)
    assert cli("mcp", "test", "actor").code == 0
    assert (rows(cli)["actor"]["status"], rows(cli)["actor"]["error"]) == ("idle", None)


async def test_a_list_says_that_a_server_needs_a_login_once_it_asked_for_one(cli: Cli) -> None:
    async with make_refusing_site() as site:
        cli.home.configure(site={"type": "http", "url": site.url})
        assert (await beside(cli, "tools", "site")).code == 3
    assert rows(cli)["site"]["status"] == "needs-auth"
    assert "needs login" in cli("mcp", "list").out


@pytest.mark.parametrize(
    "words",
    [
        ["mcp", "list", "--check"],
        ["mcp", "test", "demo"],
        ["tools", "demo"],
        ["call", "demo.echo", "text=x"],
        ["mcp", "reload"],
    ],
)
def test_the_number_of_tools_is_known_after_any_use_and_respects_filters(words: list[str], cli: Cli) -> None:
    cli.home.write(OWN, {"mcpServers": {"demo": DEMO, "few": {**DEMO, "allowedTools": ["ec*", "add"], "blockedTools": ["add"]}}})  # fmt: skip
    assert rows(cli)["demo"]["tools"] is None
    cli(*words)
    listed = rows(cli)
    assert (listed["demo"]["tools"], listed["few"]["tools"]) == (7, 1)
    checked = rows(cli, "--check")
    assert (checked["demo"]["tools"], checked["few"]["tools"]) == (7, 1)
    assert "few   1 tool, unchanged" in cli("mcp", "reload").out
    assert "1 of 7" in cli("mcp", "test", "few").out


def test_a_name_that_is_defined_differently_elsewhere_is_noted(cli: Cli) -> None:
    cli.home.write("home/.mcp.json", {"mcpServers": {"a": {"command": "sh"}, "b": {"command": "sh"}}})
    cli.home.write("home/.copilot/mcp-config.json", {"mcpServers": {"a": {"command": "env"}, "b": {"command": "sh"}}})
    err = cli("mcp", "list").err
    assert "a is also defined in claude-code, differently: mooring mcp why a" in err
    assert "b is also" not in err
    assert rows(cli)["a"]["shadows"] == [{"tool": "claude-code", "path": f"{cli.home.home}/.mcp.json", "differs": True}]


def test_names_that_are_defined_differently_are_listed_without_gaps(cli: Cli) -> None:
    cli.home.write("home/.mcp.json", {"mcpServers": {"a": {"command": "sh"}, "b": {"command": "sh"}}})
    cli.home.write("home/.copilot/mcp-config.json", {"mcpServers": {"a": {"command": "env"}, "b": {"command": "env"}}})
    lines = [f"{name} is also defined in claude-code, differently: mooring mcp why {name}\n" for name in "ab"]
    assert cli("mcp", "list").err == "\n" + "".join(lines)


def test_the_rows_of_many_names_of_one_definition_grow_with_their_number(cli: Cli) -> None:
    sizes = []
    for count in (100, 200):
        cli.home.configure(**{f"n{number:03}": {"command": "sh"} for number in range(count)})
        sizes.append(len(cli("mcp", "list", "--json").out))
    assert sizes[1] < 2.1 * sizes[0]
    listed = rows(cli)
    assert listed["n000"]["aliases"] == [f"n{number:03}" for number in range(1, 200)]
    assert listed["n150"]["aliases"] == ["n000"]


def test_a_rejected_server_is_called_rejected_and_nobody_is_asked_about_it_again(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    cli.home.write("project/.mcp.json", {"mcpServers": {"no": {"command": "sh"}, "yes": {"command": "sh"}, "bad": {}, "off": {"command": "sh", "enabled": False}}})  # fmt: skip
    assert cli("mcp", "reject", "no").code == 0
    assert rows(cli)["no"]["status"] == "rejected"
    for words in (["mcp", "list"], ["tools"], ["mcp", "reload"]):
        assert "The project's files define yes. To look" in cli(*words).err
    assert cli("mcp", "reject", "yes").code == 0
    for words in (["mcp", "list"], ["tools"], ["mcp", "reload"]):
        assert "approve --all" not in cli(*words).err
    assert "does not start: you rejected it for this project" in cli("mcp", "why", "no").out


def test_every_definition_of_a_name_has_a_row_with_all_also_what_a_project_proposes(cli: Cli) -> None:
    cli.home.configure(a={"command": "sh"})
    cli.home.write("project/.mcp.json", {"mcpServers": {"a": {"command": "env"}}})
    winner, proposed = cli("mcp", "list", "--all", "--json").data["servers"]
    assert (winner["command"], proposed["command"], proposed["status"]) == ("sh", "env", "unapproved")
    assert "?  a     unapproved" in cli("mcp", "list", "--all").out
    assert "not used: it comes from the project and is not approved" in cli("mcp", "why", "a").out


# --- values that are missing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["mcp", "test", "github"], ["tools", "github"], ["call", "github.echo"]])
async def test_an_unset_variable_is_the_first_cause_that_is_named_for_a_refusal(words: list[str], cli: Cli) -> None:
    async with make_refusing_site() as site:
        entry = {"type": "http", "url": site.url, "headers": {"Authorization": "Bearer ${NO_TOKEN}", "X-Kept": "1"}}
        cli.home.configure(github=entry)
        done = await beside(cli, *words)
    assert done.code == 3
    assert "NO_TOKEN is not set. github requires a login." in done.err
    assert "Give it a token" not in done.err
    assert "✓ variables" not in done.out
    assert {"Authorization" in heard.headers for heard in site.heard} == {False}
    assert {heard.headers.get("X-Kept") for heard in site.heard} == {"1"}


async def test_a_list_names_a_server_once_in_what_it_remembers_of_a_failure(cli: Cli) -> None:
    async with make_refusing_site() as site:
        headers = {"Authorization": "Bearer ${NO_TOKEN}"}
        cli.home.configure(github={"type": "http", "url": site.url, "headers": headers})
        for words in (["tools"], ["tools", "github"], ["mcp", "list", "--check"], ["mcp", "test", "github"]):
            await beside(cli, *words)
            shown = await beside(cli, "mcp", "list")
            assert "github: NO_TOKEN is not set. " in shown.err
            assert "github: github" not in shown.err


async def test_nothing_literal_is_sent_and_a_test_says_what_was_left_out(cli: Cli) -> None:
    async with Site() as site:
        cli.home.configure(
            site={"type": "http", "url": site.url + "?key=${NO_KEY}&b=1", "headers": {"X-A": "a ${NO_A}"}}
        )
        done = await beside(cli, "mcp", "test", "site")
        assert done.code == 0
        assert "! variables" in done.out
        assert "NO_KEY in url was left out: it is not set." in done.out
        assert "headers.X-A was left out: it needs the variable NO_A, which is not set." in done.out
        assert [step["ok"] for step in (await beside(cli, "mcp", "test", "site", "--json")).data["steps"]].count(
            False
        ) == 1
        assert {heard.request.query_string for heard in site.heard} == {"key=&b=1"}
        assert not any("X-A" in heard.headers for heard in site.heard)


async def test_a_placeholder_that_a_tool_takes_literally_is_reported_in_its_own_spelling(cli: Cli) -> None:
    async with make_refusing_site() as site:
        entry = {"url": site.url, "headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"}}
        cli.home.write("home/.cursor/mcp.json", {"mcpServers": {"github": entry}})
        tested = await beside(cli, "mcp", "test", "github")
    literally = "`headers.Authorization` holds ${GITHUB_TOKEN}, which Cursor takes literally"
    hint = "Cursor writes ${env:GITHUB_TOKEN}"
    [problem] = cli("mcp", "list", "--json").data["problems"]
    assert (problem["server"], problem["message"], problem["hint"]) == ("github", literally, hint)
    assert hint in cli("mcp", "doctor").out
    assert "! variables" in tested.out
    assert "headers.Authorization: its placeholder is taken literally; Cursor writes ${env:GITHUB_TOKEN}." in tested.out
    assert "Write ${env:GITHUB_TOKEN} for ${GITHUB_TOKEN} in ~/.cursor/mcp.json" in tested.err
    assert "${TOKEN}" not in tested.err


@pytest.mark.parametrize(
    ("path", "key", "spelling"),
    [
        ("home/.cursor/mcp.json", "mcpServers", "${env:TOKEN}"),
        ("home/.config/opencode/opencode.json", "mcp", "{env:TOKEN}"),
        ("home/.mcp.json", "mcpServers", "${TOKEN}"),
    ],
)
async def test_the_hint_after_a_refusal_spells_a_variable_as_its_file_does(
    path: str, key: str, spelling: str, cli: Cli
) -> None:
    async with make_refusing_site() as site:
        kind = "remote" if key == "mcp" else "http"
        cli.home.write(path, {key: {"site": {"type": kind, "url": site.url}}})
        tested = await beside(cli, "mcp", "test", "site")
    assert f'"Authorization": "Bearer {spelling}"' in tested.err


def test_a_placeholder_in_the_right_spelling_and_a_variable_of_a_shell_are_no_problem(cli: Cli) -> None:
    shell = {"command": "sh", "args": ["-c", "echo ${HOME}"], "env": {"A": "${env:HOME}", "B": "${workspaceFolder}"}}
    cli.home.write("home/.cursor/mcp.json", {"mcpServers": {"shell": shell}})
    assert cli("mcp", "list", "--json").data["problems"] == []


def test_an_unset_variable_in_the_origin_of_an_address_stops_the_start(cli: Cli) -> None:
    cli.home.configure(site={"type": "http", "url": "https://${NO_TENANT}.example.com/mcp"})
    done = cli("mcp", "test", "site")
    assert (done.code, "✗ variables" in done.out) == (1, True)
    assert "url needs the variable NO_TENANT, which is not set" in done.err


def test_an_unset_variable_anywhere_else_stays_as_it_is_written(cli: Cli, actor: Actor) -> None:
    cli.home.configure(actor={**actor.entry, "env": {"LITERAL": "${NO_SUCH}"}})
    done = cli("mcp", "test", "actor")
    assert "! variables" in done.out
    assert "env.LITERAL: NO_SUCH is not set; it stays as written." in done.out


# --- one line for each kind of trouble ------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["tools"], ["mcp", "reload"], ["mcp", "list", "--check"]])
def test_several_servers_that_fail_are_one_warning_with_v_one_each_and_with_q_none(words: list[str], cli: Cli) -> None:
    cli.home.configure(dead=DEAD, gone=NOWHERE, demo=DEMO)
    warnings = [line for line in cli(*words).err.splitlines() if line.startswith("Warning")]
    assert warnings == ["Warning: MCP startup error: 2 servers are unavailable; run: mooring mcp doctor"]
    each = [line for line in cli(*words, "-v").err.splitlines() if line.startswith("Warning: MCP startup error: ")]
    assert len(each) == 2
    assert cli(*words, "-q").err == ""
    doctor = cli("mcp", "doctor").out
    assert "✗ dead: " in doctor
    assert "no such table" in doctor


@pytest.mark.parametrize("words", [["tools"], ["resources"], ["mcp", "reload"], ["mcp", "list", "--check"]])
async def test_a_variable_that_keeps_a_server_from_being_reached_is_named_in_one_warning(
    words: list[str], cli: Cli
) -> None:
    async with make_refusing_site() as site:
        headers = {"Authorization": "Bearer ${NO_TOKEN}"}
        cli.home.configure(github={"type": "http", "url": site.url, "headers": headers})
        done = await beside(cli, *words)
    warnings = [line for line in done.err.splitlines() if line.startswith("Warning")]
    assert warnings == ["Warning: MCP startup error: github: NO_TOKEN is not set. github requires a login."]


async def test_another_value_that_is_missing_keeps_its_warning_beside_the_error(cli: Cli) -> None:
    async with make_refusing_site() as site:
        headers = {"Authorization": "Bearer ${NO_TOKEN}", "X-A": "!exit 3"}
        cli.home.write(OWN, {"mcpServers": {"github": {"type": "http", "url": site.url, "headers": headers}}})
        done = await beside(cli, "tools")
    assert "Warning: MCP config error: github: headers.X-A was left out: it comes from a command" in done.err
    assert "Warning: MCP startup error: github: NO_TOKEN is not set." in done.err


def test_several_problems_of_files_are_one_warning(cli: Cli) -> None:
    cli.home.configure(bad={}, worse={}, demo=DEMO)
    start = "Warning: MCP config error: "
    assert cli("tools").err.splitlines() == [f"{start}2 problems in configuration files; run: mooring mcp doctor"]
    assert [line.startswith(start) for line in cli("tools", "-v").err.splitlines()] == [True, True]
    assert cli("tools", "-q").err == ""


def test_an_error_names_the_server_as_it_was_typed(cli: Cli) -> None:
    cli.home.configure(first=DEAD, second=DEAD)
    for words in (["tools", "second"], ["call", "second.x"], ["mcp", "test", "second"], ["mcp", "reload", "second"]):
        err = cli(*words).err
        assert "second ended with exit code 1" in err
        assert "first" not in err
    cli.home.configure(one=DEMO, two=DEMO)
    assert cli("mcp", "reload", "two").out == "two  7 tools, not known before\n"


def test_a_deny_rule_that_matches_no_known_server_warns_once(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    done = cli("call", "demo.echo", "text=x", "--deny", "dem.*", "--deny", "demo.add", "--deny", "mcp__demo__x")
    assert done.err.splitlines() == ["Warning: The deny rule dem.* matches no known server; did you mean demo?"]
    assert done.out == "x\n"
    assert cli("call", "demo.echo", "text=x", "--deny", "dem.*", "-q").err == ""
    cli.home.write("home/.config/mooring/settings.json", {"permissions": [{"tool": "mcp__gone__*", "action": "deny"}]})
    doctor = cli("mcp", "doctor")
    assert (doctor.code, "The deny rule mcp__gone__* matches no known server" in doctor.out) == (0, True)


# --- keys that nobody reads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text", "line", "says"),
    [
        ("home/.config/mooring/settings.json", '{\n"permisions": []}', 2, "did you mean `permissions`?"),
        (
            "home/.config/mooring/settings.json",
            '{"permissions": [\n{"tool": "x.*", "action": "ask"},\n{"tool": "x.*", "actoin": "deny"}]}',
            3,
            "Rule 2 of `permissions` has the unknown key `actoin`, and is ignored; did you mean `action`?",
        ),
        ("home/.config/mooring/settings.json", '{"permissions": [\n{"tool": "x"}]}', 2, 'each rule needs "tool" and'),
        (OWN, '{"mcpServers": {"a": {"command": "sh",\n"timout": 3}}}', 2, "did you mean `timeout`?"),
        (OWN, '{\n"mcpServer": {"a": {"command": "sh"}}}', 2, "rename it to `mcpServers`"),
        (OWN, '{"mcpServers": {},\n"mcpservers2": 1}', 2, "did you mean `mcpServers`?"),
        ("home/.mcp.json", '{"mcpServers": {"a": {\n"comand": "sh"}}}', 2, "did you mean `command`?"),
        ("home/.cursor/mcp.json", '{"mcpServers": {"a": {\n"ulr": "https://x"}}}', 2, "did you mean `url`?"),
        (
            "home/.cursor/mcp.json",
            '{"mcpServers": {"a": {"command": "sh",\n"agrs": ["-c"]}}}',
            2,
            "a: has the unknown key `agrs`, which is ignored; did you mean `args`?",
        ),
        ("home/.mcp.json", '{"mcpServers": {"a": {"command": "sh",\n"evn": {}}}}', 2, "did you mean `env`?"),
        (
            "home/.copilot/mcp-config.json",
            '{"mcpServers": {"a": {"type": "http", "url": "https://x",\n"Header": {}}}}',
            2,
            "did you mean `headers`?",
        ),
        (
            "home/.codex/config.toml",
            '[mcp_servers.a]\ncommand = "sh"\nstartup_timout_sec = 3',
            3,
            "did you mean `startup_timeout_sec`?",
        ),
        (
            "home/.config/goose/config.yaml",
            "extensions:\n  a:\n    type: stdio\n    cmd: sh\n    enabled: true\n    7: x\n    arg: []",
            7,
            "did you mean `args`?",
        ),
    ],
)
def test_a_misspelled_key_is_named_with_its_line_and_the_key_that_was_meant(
    path: str, text: str, line: int, says: str, cli: Cli
) -> None:
    cli.home.write(path, text)
    err = cli("mcp", "list").err
    assert f"{path.replace('home/', '~/')}:{line}  " in err
    assert says in err
    doctor = cli("mcp", "doctor").out
    assert "    fix: " in doctor
    assert "mend" not in doctor


def test_keys_of_other_tools_are_no_mistakes_in_their_files(cli: Cli) -> None:
    cli.home.write("home/.cursor/mcp.json", {"mcpServers": {"a": {"command": "sh", "timeouts": 3, "arguments": []}}})
    cli.home.write("home/.mcp.json", {"mcpServers": {"b": {"command": "sh", "args": [], "arg": 1, "cmd": "x"}}})
    assert cli("mcp", "list").err == ""


def test_a_misspelled_key_without_which_there_is_no_server_is_reported_once(cli: Cli) -> None:
    cli.home.write(OWN, {"mcpServers": {"a": {"comand": "sh"}}})
    assert len(cli("mcp", "list", "--json").data["problems"]) == 1


# --- the demo server alone ------------------------------------------------------------------------------------------


def test_the_demo_stands_alone_unless_a_file_is_named_as_well(cli: Cli) -> None:
    cli.home.configure(mine={"command": "sh"})
    assert [*rows(cli, "--demo")] == ["demo"]
    named = cli.home.write("project/more.json", {"mcpServers": {"named": {"command": "sh"}}})
    assert [*rows(cli, "--demo", "--config", str(named))] == ["demo", "named"]
    servers = json.loads(cli("tools", "--demo", "--json").out)["servers"]
    assert [server["name"] for server in servers] == ["demo"]


# --- watching -------------------------------------------------------------------------------------------------------


def test_reading_an_address_that_does_not_exist_suggests_one_that_does(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    near, far = cli("read", "demo", "demo://clok"), cli("read", "demo", "x:y")
    assert (near.code, near.out) == (1, "")
    assert near.err.endswith(". Did you mean demo://clock?\n")
    assert "It has demo://" in far.err
    assert "see: mooring resources demo" in far.err


@pytest.mark.parametrize("more", [[], ["--interval", "1"]])
def test_watching_a_resource_that_does_not_exist_ends_with_what_there_is(more: list[str], cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    near = cli("watch", "demo", "demo://clok", *more)
    assert near.code == 2
    assert near.err == "mooring: demo has no resource demo://clok. Did you mean demo://clock?\n"
    far = cli("watch", "demo", "zzz:9", *more)
    assert (far.code, "It has demo://" in far.err, "see: mooring resources demo" in far.err) == (2, True, True)


def test_empty_lists_say_that_they_are_empty(cli: Cli, actor: Actor) -> None:
    nothing = "No MCP servers are configured here; `mooring mcp list` shows how to add one.\n"
    for words in (["tools"], ["tools", "--search", "x"], ["resources"], ["resources", "--templates"], ["prompts"]):
        assert (cli(*words).code, cli(*words).out, cli(*words).err) == (0, "", nothing)
        assert cli(*words, "-q").err == ""
        assert cli(*words, "--json").err == ""
    assert cli("mcp", "reload").err == "No server can be started here; see: mooring mcp list\n"
    cli.home.configure(actor=actor.entry)
    assert cli("prompts", "actor").err == "actor offers no prompts.\n"
    assert cli("prompts", "actor", "-q").err == ""
    assert cli("prompts").err == "No server offers any prompts.\n"


@pytest.mark.parametrize(
    "words",
    [
        ["call", "x.echo"],
        ["call", "x", "echo"],
        ["mcp", "get", "x"],
        ["mcp", "why", "x"],
        ["mcp", "test", "x"],
        ["read", "x", "a://b"],
        ["tools", "x"],
        ["tools", "x.echo"],
        ["prompts", "x"],
    ],
)
def test_a_file_that_could_not_be_read_is_named_when_a_server_is_unknown(words: list[str], cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    assert "could not be read" not in cli(*words).err
    cli.home.write("home/.cursor/mcp.json", '{"mcpServers": {"x": {"command": "sh"}')
    done = cli(*words)
    assert done.code == 2
    assert "called 'x'. ~/.cursor/mcp.json:1 could not be read: the file is not valid JSON" in done.err
    assert "; it may be defined there. " in done.err
    told = json.loads(cli(*words, "--json").err.splitlines()[-1])["error"]
    assert (told["message"].endswith("it may be defined there."), bool(told["hint"])) == (True, True)
    cli.home.write("home/.gemini/settings.json", '{"mcpServers": []}')
    both = cli(*words).err
    assert "It may be defined in one of these files, which could not be read: ~/" in both
    assert "~/.cursor/mcp.json:1" in both
    assert "~/.gemini/settings.json:1" in both
