"""A definition that was let through becomes something to start or to reach, and none of its secrets is shown."""

import asyncio
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from prepared import CLAUDE, CRUSH, OWN, SHARED, VSCODE, context, defined, found, reached, started, until

from mooring.auth.logins import Logins, LoginTarget
from mooring.auth.store import SecretStore
from mooring.core.definitions.approved import Approved
from mooring.core.text.secret import list_secrets
from mooring.errors import GuardLost, NotApproved, ServerDied, Unresolved
from mooring.inventory.approval import list_questions
from mooring.process.programs import Guard
from mooring.servers.launch.prepare import LaunchContext, OmittedEntry, Secrets, prepare
from mooring.servers.launch.target import UNRESOLVED
from mooring.servers.start_program import dial
from support import Home, run_beside

LOUD = "echo canary-stderr >&2; echo canary-stdout; "


def counting(home: Home, rest: str = "echo canary-fetched") -> str:
    """A command that leaves a line behind each time it runs."""
    return f"!echo run >> {home.folder}/runs; {rest}"


def runs(home: Home) -> int:
    return len(written(home, "runs").splitlines())


def written(home: Home, name: str) -> str:
    path = home.folder / name
    return path.read_text() if path.exists() else ""


def with_token(home: Home, command: str, file: str = OWN) -> Approved:
    return defined(home, file, {"command": "x", "env": {"TOKEN": command}})


# --- commands ------------------------------------------------------------------------------------------------


async def test_a_command_is_run_once_for_a_whole_host_however_many_want_it_at_once(home: Home) -> None:
    approved = with_token(home, counting(home, "sleep 0.1; echo ' canary-fetched '"))
    async with Guard() as guard:
        given = context(home, guard=guard)
        made = await asyncio.gather(*(started(approved, given) for _ in range(5)))
        made.append(await started(approved, given))
        assert [one.env["TOKEN"] for one in made] == ["canary-fetched"] * 6
        assert runs(home) == 1
        given.secrets.forget()
        await started(approved, given)
    assert runs(home) == 2
    assert made[0].redact("it said canary-fetched twice") == "it said ••• twice"


async def test_commands_of_one_definition_run_at_the_same_time(home: Home) -> None:
    """Each waits for the file that the other makes."""
    wait = "for _ in $(seq 400); do [ -e {} ] && echo met && exit; sleep 0.01; done"
    env = {
        "A": f"!cd {home.folder}; touch a; {wait.format('b')}",
        "B": f"!cd {home.folder}; touch b; {wait.format('a')}",
    }
    async with Guard() as guard:
        made = await started(defined(home, OWN, {"command": "x", "env": env}), context(home, guard=guard))
    assert (made.env["A"], made.env["B"]) == ("met", "met")


async def test_a_command_of_the_persons_own_takes_nothing_from_the_project(home: Home) -> None:
    line = "!echo $PWD ${PYTHONPATH-none} $PATH"
    given = {"PATH": ".:bin:/usr/bin:/bin", "PYTHONPATH": "src:"}
    async with Guard() as guard:
        made = await started(with_token(home, line, OWN), context(home, given, guard=guard))
    folder, modules, path = made.env["TOKEN"].split()
    assert (folder, modules) == (str(home.home), "none")
    assert path.startswith("/usr/bin:/bin")
    assert all(part.startswith("/") for part in path.split(":"))


async def test_a_variable_that_a_definition_sets_is_started_as_written(home: Home) -> None:
    entry = {"command": "x", "env": {"PATH": "bin:/usr/bin", "PYTHONPATH": "src"}}
    made = await started(defined(home, OWN, entry), context(home, {"NODE_PATH": "lib:/lib"}))
    env = made.surroundings.env
    assert env["PATH"].startswith("bin:/usr/bin")
    assert (env["PYTHONPATH"], env["NODE_PATH"]) == ("src", "/lib")


async def test_a_command_runs_in_the_projects_folder_with_the_persons_whole_environment(home: Home) -> None:
    approved = with_token(home, "!echo $PWD $GITHUB_TOKEN $EXTRA ${WORD}", SHARED)
    async with Guard() as guard:
        given = context(home, {"WORD": "word"}, guard=guard, env={"EXTRA": "extra"})
        made = await started(approved, given)
    assert made.env["TOKEN"] == f"{home.project} canary-environment extra word"
    assert "GITHUB_TOKEN" not in made.env


@pytest.mark.parametrize(
    ("kept", "line", "runs_in"),
    [
        ("for one project", "pwd > FILE", "home"),
        ("for one project", "A=x/y pwd > FILE", "home"),
        ("for one project", "./note FILE", "project"),
        ("for one project", "tools/note FILE", "project"),
        ("named, elsewhere", "pwd > FILE", "home"),
        ("named, elsewhere", "'./note' FILE", "project"),
        ("named, in the project", "pwd > FILE", "project"),
        ("for all projects", "./note FILE", "home"),
    ],
)
def test_a_command_runs_in_the_project_only_if_it_is_the_projects_or_means_a_file_of_it(
    home: Home, kept: str, line: str, runs_in: str
) -> None:
    for folder in (home.project, home.project / "tools", home.home):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "note").write_text('#!/bin/sh\npwd > "$1"\n')
        (folder / "note").chmod(0o755)
    helper = line.replace("FILE", str(home.folder / "folder"))
    servers = {"mcpServers": {"x": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headersHelper": helper}}}
    options: list[str] = []
    match kept:
        case "for one project":
            home.write("home/.claude.json", {"projects": {str(home.project): servers}})
        case "for all projects":
            home.write("home/.claude.json", servers)
        case _:
            file = "project/named.json" if "in the project" in kept else "named.json"
            options = ["--config", str(home.write(file, servers))]
    run_beside(home, *options, "tools", "x")
    assert written(home, "folder").strip() == str(home.home if runs_in == "home" else home.project)


FAILURES = {
    "exit 1": "ended with exit code 1",
    "kill -9 $$": "was ended by signal 9",
    "sleep 60": "took longer than 0.5 s",
    "head -c 65537 /dev/zero | tr '\\0' x": "printed more than 65,536 bytes",
    "yes": "printed more than 65,536 bytes",
    "printf '\\377'": "printed something that is not text",
}


def limit(command: str) -> float:
    return 0.5 if "sleep" in command else 10.0


@pytest.mark.parametrize("command", FAILURES)
async def test_a_command_that_fails_costs_the_entry_and_only_how_it_failed_is_told(home: Home, command: str) -> None:
    async with Guard() as guard:
        made = await started(with_token(home, f"!{LOUD}{command}"), context(home, guard=guard, seconds=limit(command)))
    assert "TOKEN" not in made.env
    assert made.omitted == (OmittedEntry("env.TOKEN", f"comes from a command that {FAILURES[command]}"),)
    assert "canary" not in repr((made, made.omitted, made.secrets))


async def test_a_command_that_prints_nothing_has_failed(home: Home) -> None:
    async with Guard() as guard:
        made = await started(with_token(home, "!echo canary >&2; echo '  '"), context(home, guard=guard))
    assert made.omitted == (OmittedEntry("env.TOKEN", "comes from a command that printed nothing"),)


async def test_a_command_that_failed_is_tried_again_at_the_next_start(home: Home) -> None:
    """The store was locked, and the person has opened it."""
    approved = with_token(home, f"!cat {home.folder}/opened")
    async with Guard() as guard:
        given = context(home, guard=guard)
        assert "TOKEN" not in (await started(approved, given)).env
        home.write("opened", "canary-fetched")
        assert (await started(approved, given)).env["TOKEN"] == "canary-fetched"


async def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(home: Home) -> None:
    line = f"!sleep 61 & echo $! > {home.folder}/pid; setsid sleep 62 & echo $! > {home.folder}/pid2; wait"
    async with Guard() as guard:
        made = await started(with_token(home, line), context(home, guard=guard, seconds=1.5))
        assert [str(omission) for omission in made.omitted] == [
            "env.TOKEN was left out: it comes from a command that took longer than 1.5 s."
        ]
        for name in ("pid", "pid2"):
            assert not alive(int(written(home, name)))


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:  # it is gone, perhaps since it was opened
        return False


async def test_what_a_command_leaves_running_is_not_waited_for(home: Home) -> None:
    loop = asyncio.get_running_loop()
    async with Guard() as guard:
        began = loop.time()
        made = await started(with_token(home, "!sleep 60 & echo canary-fetched"), context(home, guard=guard))
    assert made.env["TOKEN"] == "canary-fetched"
    assert loop.time() - began < 30


async def test_whoever_gives_up_waiting_leaves_the_command_to_the_others(home: Home) -> None:
    approved = with_token(home, counting(home, f"until [ -e {home.folder}/go ]; do sleep 0.01; done; echo canary"))
    async with Guard() as guard:
        given = context(home, guard=guard)
        impatient, patient = (asyncio.create_task(started(approved, given)) for _ in range(2))
        await until((home.folder / "runs").exists)
        impatient.cancel()
        home.write("go", "")
        assert (await patient).env["TOKEN"] == "canary"
    assert runs(home) == 1
    assert impatient.cancelled()


async def test_a_command_that_nobody_waits_for_any_more_is_ended(home: Home) -> None:
    approved = with_token(home, f"!echo $$ > {home.folder}/pid; sleep 60")
    async with Guard() as guard:
        given = context(home, guard=guard)
        only = asyncio.create_task(started(approved, given))
        await until(lambda: written(home, "pid").endswith("\n"))
        only.cancel()
        with pytest.raises(asyncio.CancelledError):
            await only
        await until(lambda: not alive(int(written(home, "pid"))))


async def test_a_command_whose_guard_is_gone_is_no_missing_secret(home: Home) -> None:
    guard = Guard()
    await guard.close()
    with pytest.raises(GuardLost):
        await started(with_token(home, "!echo canary"), context(home, guard=guard))


async def test_a_command_that_fails_stops_the_start_where_nothing_can_be_left_out(home: Home) -> None:
    entry = {"type": "stdio", "command": "x", "args": [f"--token=$({LOUD}exit 3)"]}
    approved = defined(home, CRUSH, entry, key="mcp")
    async with Guard() as guard:
        with pytest.raises(Unresolved, match="args comes from a command that ended with exit code 3") as caught:
            await started(approved, context(home, guard=guard))
        assert "canary" not in str(caught.value)
        good = replace_args(home, entry, "--token=$(echo canary-fetched)")
        made = await started(good, context(home, guard=guard))
    assert made.argv == ("x", "--token=canary-fetched")
    assert made.secrets == list_secrets(["canary-fetched"])
    assert "canary" not in repr(made)


def replace_args(home: Home, entry: dict[str, Any], *args: str) -> Approved:
    return defined(home, CRUSH, {**entry, "args": list(args)}, key="mcp")


async def test_text_that_begins_with_a_mark_is_text_where_its_tool_runs_no_commands(home: Home) -> None:
    made = await started(with_token(home, "!touch marker", CLAUDE), context(home))
    assert made.env["TOKEN"] == "!touch marker"


# --- the environment and the folder ------------------------------------------------------------------------------


async def test_the_entrys_own_env_counts_before_the_settings_and_those_before_what_is_inherited(home: Home) -> None:
    approved = defined(home, OWN, {"command": "x", "env": {"A": "entry"}, "passEnv": ["GITHUB_TOKEN", "C_TOKEN"]})
    given = context(home, {"A": "person", "B": "person", "C_TOKEN": "person"}, env={"A": "s", "B": "s", "C_TOKEN": "s"})
    made = await started(approved, given)
    assert [made.env[name] for name in ("A", "B", "C_TOKEN", "GITHUB_TOKEN")] == [
        "entry",
        "s",
        "s",
        "canary-environment",
    ]
    assert made.secrets == list_secrets(["canary-environment"])
    assert made.withheld == ()


async def test_a_variable_to_be_passed_on_that_is_not_set_is_reported(home: Home) -> None:
    approved = defined(home, OWN, {"command": "x", "env": {"B": "b"}, "passEnv": ["GITHUB_TOKEN", "A", "B"]})
    made = await started(approved, context(home))
    assert list(map(str, made.omitted)) == ["passEnv.A was left out: it is not set."]


async def test_a_project_is_given_the_short_list_what_it_names_and_what_the_settings_add(home: Home) -> None:
    approved = defined(home, CLAUDE, {"command": "x", "env": {"A": "entry"}})
    made = await started(approved, context(home, {"EDITOR": "vi"}, env={"PROXY": "p"}))
    assert set(made.env) == {"HOME", "PATH", "A", "PROXY"}
    assert made.withheld == ("EDITOR", "GITHUB_TOKEN")


@pytest.mark.parametrize(
    ("cwd", "folder"),
    [
        (None, "project"),
        ("", "project"),
        ("sub", "project/sub"),
        ("${NAMED}", "project/named"),
        ("~", "home"),
        ("~/work", "home/work"),
    ],
)
async def test_a_server_runs_in_the_projects_folder_or_from_there(home: Home, cwd: str | None, folder: str) -> None:
    entry = {"command": "x", **({"cwd": cwd} if cwd is not None else {})}
    made = await started(defined(home, OWN, entry), context(home, {"NAMED": "named"}))
    assert made.cwd == str(home.folder / folder)


async def test_a_command_in_the_persons_home_may_be_written_with_a_tilde(home: Home) -> None:
    made = await started(defined(home, OWN, {"command": "~/bin/x"}), context(home))
    assert made.argv == (f"{home.home}/bin/x",)


async def test_a_command_that_comes_to_nothing_stops_the_start(home: Home) -> None:
    approved = defined(home, "home/.cursor/mcp.json", {"command": "${env:NOPE}"})
    with pytest.raises(Unresolved, match="command is empty"):
        await started(approved, context(home))


# --- addresses ---------------------------------------------------------------------------------------------------


async def test_an_address_is_filled_in_with_its_headers_and_its_secrets_are_known(home: Home) -> None:
    entry = {
        "type": "http",
        "url": "https://me:canary-password@a.example/${PLACE}?api_key=canary-query&page=three",
        "headers": {"Authorization": "Bearer canary-literal", "X-Trace": "on-and-on", "X-Mine": "<${GITHUB_TOKEN}>"},
    }
    made = await reached(defined(home, CLAUDE, entry), context(home, {"PLACE": "mcp"}))
    assert made.url == "https://me:canary-password@a.example/mcp?api_key=canary-query&page=three"
    assert made.headers == {**entry["headers"], "X-Mine": "<canary-environment>"}
    assert made.transport == "http"
    said = "Bearer canary-literal, canary-literal, canary-password, canary-query, canary-environment, three, on-and-on"
    assert made.redact(said) == "•••, •••, •••, •••, •••, three, on-and-on"
    assert repr(made) == "<Endpoint https://a.example>"


def helped(home: Home, helper: str, **headers: str) -> Approved:
    entry = {"type": "http", "url": "https://a.example/mcp", "headers": headers, "headersHelper": helper}
    return defined(home, CLAUDE, entry)


async def test_a_helper_prints_headers_that_count_before_the_written_ones_each_time_anew(home: Home) -> None:
    line = counting(home, """echo '{"Authorization": "Bearer canary-'$CLAUDE_CODE_MCP_SERVER_NAME'"}'""")[1:]
    approved = helped(home, line, authorization="old", **{"X-Kept": "kept"})
    async with Guard() as guard:
        given = context(home, guard=guard)
        made = await reached(approved, given)
        await reached(approved, given)
    assert made.headers == {"X-Kept": "kept", "Authorization": "Bearer canary-x"}
    assert made.redact("canary-x") == "•••"
    assert runs(home) == 2


@pytest.mark.parametrize(
    ("helper", "how"),
    [
        (f"{LOUD}exit 2", "ended with exit code 2"),
        (LOUD, "did not print a JSON object of header names and texts"),
        ("""echo '{"A": ["canary"]}'""", "did not print a JSON object of header names and texts"),
        ("sleep 60", "took longer than 0.5 s"),
        ("true", "printed nothing"),
    ],
)
async def test_a_helper_that_fails_is_reported_and_the_written_headers_stay(home: Home, helper: str, how: str) -> None:
    async with Guard() as guard:
        made = await reached(helped(home, helper, A="kept"), context(home, guard=guard, seconds=limit(helper)))
    assert made.headers == {"A": "kept"}
    assert made.omitted == (OmittedEntry("headersHelper", how),)


# --- what was approved -------------------------------------------------------------------------------------------


def approved_now(home: Home, env: Mapping[str, str] | None = None) -> Approved:
    """The project's server `x`, approved for what it stands for at this moment, with these variables set."""
    [question] = list_questions(home.inventory(), ["x"], replace(home.where, env={**home.env, **(env or {})}))
    return replace(found(home, own=False), target=question.target, files=question.files_digest)


def program(home: Home, path: str) -> Path:
    made = home.write(path, "#!/bin/sh\n")
    made.chmod(0o755)
    return made


@pytest.mark.parametrize("oauth", [{}, {"oauth": {"clientId": "me"}}, {"oauth": False}])
async def test_a_login_that_the_description_does_not_have_is_not_looked_up(
    home: Home, oauth: Mapping[str, Any]
) -> None:
    entry = {"type": "http", "url": "https://a.example/mcp", **oauth}
    endpoint = await reached(defined(home, OWN, entry), context(home))
    found = endpoint.fetcher.find_own_login(Logins(SecretStore(home.where)), LoginTarget("x", endpoint.url))
    if oauth.get("oauth") is not False:
        assert await found is None
        return
    with pytest.raises(NotApproved, match="x would use the login for address, which its description does not have"):
        await found


async def test_a_command_that_is_another_program_now_is_not_started_and_nothing_is_fetched_for_it(home: Home) -> None:
    old = program(home, "bin/tool")
    home.write(SHARED, {"mcpServers": {"x": {"command": "tool", "env": {"A": "!touch marker"}}}})
    home_env = {"PATH": f"{home.folder}/first:{home.folder}/bin:/usr/bin:/bin"}
    approved = approved_now(home, home_env)
    new = program(home, "first/tool")
    with pytest.raises(NotApproved) as caught:
        await prepare(approved, context(home, home_env))
    assert str(caught.value) == (
        f"x now leads to another program ({old}, now {new}). To look and decide: mooring mcp approve x"
    )


async def test_what_is_approved_again_is_let_through_also_where_the_settings_choose_the_search_path(home: Home) -> None:
    tool = program(home, "bin/tool")
    settings = {"PATH": f"{home.folder}/bin"}
    home.write("home/.config/mooring/settings.json", {"env": settings})
    home.write(SHARED, {"mcpServers": {"x": {"command": "tool"}}})
    approved = approved_now(home)
    assert approved.target == str(tool)
    made = await started(approved, context(home, env=settings))
    assert made.argv == ("tool",)


async def test_a_link_that_leads_to_another_program_now_is_another_program(home: Home) -> None:
    link = home.project / "tool"
    link.symlink_to(program(home, "one"))
    home.write(SHARED, {"mcpServers": {"x": {"command": "./tool"}}})
    approved = approved_now(home)
    assert (await started(approved, context(home))).argv == ("./tool",)
    link.unlink()
    link.symlink_to(program(home, "two"))
    with pytest.raises(NotApproved, match="another program"):
        await prepare(approved, context(home))


async def test_a_program_that_is_gone_is_left_to_the_start_to_explain(home: Home) -> None:
    tool = program(home, "project/tool")
    home.write(SHARED, {"mcpServers": {"x": {"command": "./tool"}}})
    approved = approved_now(home)
    tool.unlink()
    assert (await started(approved, context(home))).argv == ("./tool",)


async def test_an_address_that_leads_elsewhere_is_not_reached_and_nothing_is_fetched_for_it(home: Home) -> None:
    entry = {"type": "http", "url": "https://me:pw@a.example/${PLACE}", "headers": {"A": "!touch marker"}}
    home.write(SHARED, {"mcpServers": {"x": entry}})
    approved = approved_now(home)
    assert approved.target == "https://a.example"
    moved = replace(approved, target="https://b.example")
    with pytest.raises(NotApproved, match=r"another address \(https://b\.example, now https://a\.example\)") as caught:
        await prepare(moved, context(home, {"PLACE": "canary"}))
    assert "pw" not in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "before", "after"),
    [
        ("https://${HOST}/mcp", "https://good.example", "https://evil.example"),
        ("https://a.example${HOST}/mcp", "https://a.examplegood.example", "https://a.exampleevil.example"),
        ("${HOST}/mcp", "no host", "no host"),
        ("unix://${HOST}#/mcp", "unix://good.example", "unix://evil.example"),
    ],
)
async def test_an_approved_address_is_bound_to_what_its_variables_were(
    home: Home, url: str, before: str, after: str
) -> None:
    home.write(SHARED, {"mcpServers": {"x": {"type": "http", "url": url}}})
    approved = approved_now(home, {"HOST": "good.example"})
    assert approved.target == before
    await reached(approved, context(home, {"HOST": "good.example"}))
    if after != before:
        with pytest.raises(NotApproved, match=re.escape(f"({before}, now {after})")):
            await prepare(approved, context(home, {"HOST": "evil.example"}))


def test_a_folder_below_the_home_is_the_same_to_an_approval_as_to_a_start(home: Home) -> None:
    tool = program(home, "home/tools/run")
    home.write(SHARED, {"mcpServers": {"x": {"command": "./run", "cwd": "~/tools"}}})
    assert approved_now(home).target == str(tool)


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "${TOOLS}/tool"},
        {"command": "tool", "env": {"PATH": "${TOOLS}:/usr/bin"}},
        {"command": "./tool", "cwd": "${TOOLS}"},
    ],
)
async def test_an_approved_command_is_bound_to_what_its_variables_and_its_search_path_were(
    home: Home, entry: dict[str, Any]
) -> None:
    one, two = program(home, "one/tool"), program(home, "two/tool")
    home.write(SHARED, {"mcpServers": {"x": {**entry, "args": ["${UNSET_AND_UNSEEN}"]}}})
    approved = approved_now(home, {"TOOLS": str(one.parent)})
    assert approved.target == str(one)
    await started(approved, context(home, {"TOOLS": str(one.parent)}))
    with pytest.raises(NotApproved, match=re.escape(f"another program ({one}, now {two})")):
        await prepare(approved, context(home, {"TOOLS": str(two.parent)}))


@pytest.mark.parametrize("entry", [{"command": "${TOOL}"}, {"command": "tool-that-comes-later"}])
async def test_what_stood_for_nothing_when_it_was_approved_asks_again_when_it_stands_for_something(
    home: Home, entry: dict[str, Any]
) -> None:
    home.write(SHARED, {"mcpServers": {"x": entry}})
    path = {"PATH": f"{home.folder}/bin:/usr/bin:/bin"}
    approved = approved_now(home, path)
    assert approved.target == UNRESOLVED
    await prepare(approved, context(home, path))  # the start will say that there is no such program
    tool = program(home, "bin/tool-that-comes-later")
    now = {**path, "TOOL": str(tool)}
    with pytest.raises(NotApproved) as caught:
        await prepare(approved, context(home, now))
    assert str(caught.value) == (
        f"x led nowhere when it was approved, and now leads to {tool}. To look and decide: mooring mcp approve x"
    )
    await started(approved_now(home, now), context(home, now))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("MODE=slow\nTOKEN=other\nNODE_ENV=production\nNODE_OPTIONS=-r ./known.js\n", None),
        ("NODE_OPTIONS=-r ./evil.js\n", ".env sets NODE_OPTIONS"),
        ("NODE_OPTIONS=-r ./known.js\nnpm_config_registry=https://evil\n", ".env sets NODE_OPTIONS, npm_config_reg"),
        ("NODE_OPTIONS=-r ./known.js\nGIT_SSH_COMMAND=evil\n", "GIT_SSH_COMMAND"),
        ("NODE_OPTIONS=-r ./known.js\nJAVA_TOOL_OPTIONS=-javaagent:evil\n", "JAVA_TOOL_OPTIONS"),
        ("NODE_OPTIONS=-r ./known.js\nHOME=.\n", "HOME"),
        ("MODE=slow\n", "its files no longer set what they did"),
    ],
)
async def test_an_approval_is_bound_to_what_its_env_file_sets_that_changes_what_is_loaded(
    home: Home, change: str, says: str | None
) -> None:
    home.write(SHARED, {"mcpServers": {"x": {"command": "sh", "envFile": ".env", "env": {"A": "!touch marker"}}}})
    home.write("project/.env", "MODE=fast\nTOKEN=canary\nNODE_OPTIONS=-r ./known.js\n")
    approved = approved_now(home)
    async with Guard() as guard:
        assert (await started(approved, context(home, guard=guard))).env["NODE_OPTIONS"] == "-r ./known.js"
        (home.project / "marker").unlink()
        home.write("project/.env", change)
        if says is None:
            assert (await started(approved, context(home, guard=guard))).env["MODE"] == "slow"
            return
        with pytest.raises(NotApproved) as caught:
            await prepare(approved, context(home, guard=guard))
        assert says in str(caught.value)
        assert not (home.project / "marker").exists(), "a command ran for what nobody approved"
        await started(approved_now(home), context(home, guard=guard))


@pytest.mark.parametrize("way", ["a file", "a folder", "the project itself"])
async def test_a_file_in_the_project_that_becomes_a_link_out_of_it_asks_again(home: Home, way: str) -> None:
    home.write("home/.ssh/key", "canary-key")
    home.write("project/data/key", "1.0")
    home.write("project/.env", "MODE=fast")
    reader = {"type": "remote", "url": "https://a.example", "headers": {"V": "{file:data/key}"}}
    home.write("project/opencode.json", {"mcp": {"x": reader}})
    approved = approved_now(home)
    assert (await reached(approved, context(home))).headers == {"V": "1.0"}
    (home.project / "data/key").unlink()
    if way == "a folder":
        (home.project / "data").rmdir()
        (home.project / "data").symlink_to(home.home / ".ssh")
    else:
        (home.project / "data/key").symlink_to(home.home / ".ssh/key")
    if way == "the project itself":
        (home.folder / "link").symlink_to(home.project)
        cwd = str(home.folder / "link")
        config = home.inventory(cwd=cwd).find("x").definition.config
        approved = replace(approved, config=config)
    with pytest.raises(NotApproved, match=f"leads to {home.home}/.ssh/key"):
        await prepare(approved, context(home))
    [question] = list_questions(home.inventory(), ["x"], home.where)
    assert question.effects[0].path == str(home.home / ".ssh/key")
    assert (await reached(approved_now(home), context(home))).headers == {"V": "canary-key"}


async def test_what_only_the_start_can_tell_is_approved_as_such(home: Home) -> None:
    inputs = [{"id": "tool", "type": "promptString"}]
    home.write(VSCODE, {"inputs": inputs, "servers": {"x": {"command": "${input:tool}"}}})
    assert approved_now(home).target is None


async def test_a_secret_that_is_part_of_an_address_is_neither_shown_nor_kept(home: Home) -> None:
    home.write(SHARED, {"mcpServers": {"x": {"type": "http", "url": "https://${HOST_TOKEN}.example/mcp"}}})
    approved = approved_now(home, {"HOST_TOKEN": "canary-one"})
    assert approved.target is not None
    assert "canary" not in approved.target
    with pytest.raises(NotApproved) as caught:
        await prepare(approved, context(home, {"HOST_TOKEN": "canary-two"}))
    assert "canary" not in str(caught.value)


# --- nothing is shown ----------------------------------------------------------------------------------------------


async def test_no_value_shows_in_any_repr(home: Home) -> None:
    home.write("home/.config/mooring/token.env", "FILE_TOKEN=canary-file")
    entry = {
        "command": "x",
        "args": ["${ARG_TOKEN}"],
        "env": {"A": "!echo canary-run", "B": "${B_TOKEN}", "C": "D_TOKEN"},
    }
    approved = defined(home, OWN, {**entry, "envFile": "~/.config/mooring/token.env"})
    async with Guard() as guard:
        given = context(home, {"ARG_TOKEN": "canary-arg", "B_TOKEN": "canary-b"}, guard=guard, env={"E": "canary-e"})
        made = await started(approved, given)
    assert "canary" not in repr((given, given.secrets, made, made.omitted, approved))
    assert {"canary-run", "canary-arg", "canary-b", "canary-file"} <= set(made.secrets)


async def test_secrets_of_many_lines_and_secrets_within_secrets_are_struck_out_whole(home: Home) -> None:
    key = "-----BEGIN KEY-----\ncanary-first\ncanary-second\n-----END KEY-----\n"
    approved = defined(home, OWN, {"command": "x", "env": {"MY_KEY": key, "A_TOKEN": "canary", "B_TOKEN": "abc"}})
    made = await started(approved, context(home))
    assert made.redact("canary-second and canary-first and canary") == "••• and ••• and •••"
    assert made.redact(f"<{key}>") == "<•••>"
    assert made.redact("abc") == "abc", "too short to be told from any other text"


async def test_each_line_of_a_servers_standard_error_is_handed_on_without_its_secrets(home: Home) -> None:
    code = (
        "import os, sys; print('my key is', os.environ['KEY'], file=sys.stderr); sys.stderr.write('bye'); sys.exit(3)"
    )
    approved = defined(home, OWN, {"command": sys.executable, "args": ["-c", code], "env": {"KEY": "!echo canary-key"}})
    lines: list[str] = []
    async with Guard() as guard:
        made = await started(approved, context(home, guard=guard))
        with pytest.raises(ServerDied) as caught:
            async with dial(made, guard, server="x", on_line=lines.append):
                raise AssertionError("it has ended")
    assert lines[-2:] == ["my key is •••", "bye"]
    assert "canary" not in f"{caught.value} {caught.value.stderr}"


def test_a_host_begins_without_any_secret(home: Home) -> None:
    given = LaunchContext(home.where, context(home).guard, Secrets(), SecretStore(home.where))
    assert (dict(given.env), given.seconds) == ({}, 10.0)
