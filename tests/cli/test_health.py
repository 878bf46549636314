"""How servers are: `mcp list --check`, `mcp test`, `mcp reload`, and names for a shell to complete."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web

from mooring.testing.site import ReceivedRequest, Site
from mooring.verbs.use.complete import KnownServers
from support import DEMO, Actor, Cli, Home

MOORING = str(Path(sys.executable).parent / "mooring")
DEAD = {"command": sys.executable, "args": ["-S", "-c", "import sys; print('one'); sys.exit('no such table')"]}
SLEEPY = {"command": sys.executable, "args": ["-S", "-c", "import sys, time; print('set the key', file=sys.stderr, flush=True); time.sleep(60)"]}  # fmt: skip
NOWHERE = {"command": "no-such-program"}


@pytest.fixture
def actor(tmp_path: Path) -> Actor:
    return Actor(tmp_path / "actor.json")


# --- list --check ---------------------------------------------------------------------------------------------------


def test_a_check_says_how_each_server_stands_once_it_was_connected(cli: Cli) -> None:
    cli.home.configure(demo=DEMO, dead=DEAD, off={**NOWHERE, "enabled": False})
    cli.home.write("project/.mcp.json", {"mcpServers": {"theirs": NOWHERE}})
    done = cli("mcp", "list", "--check", "--json")
    assert done.code == 1
    rows = {row["name"]: row for row in done.data["servers"]}
    assert {name: row["status"] for name, row in rows.items()} == {
        "dead": "failed", "demo": "connected", "off": "disabled", "theirs": "unapproved",
    }  # fmt: skip
    assert (rows["demo"]["serverInfo"], rows["demo"]["tools"]) == ({"name": "mooring-demo", "version": "1"}, 7)
    assert "no such table" in rows["dead"]["error"]
    assert "Warning: MCP startup error: dead" in done.err


def test_a_check_is_well_if_all_that_may_start_is_there(cli: Cli) -> None:
    cli.home.configure(demo=DEMO, off={**NOWHERE, "enabled": False})
    cli.home.write("project/.mcp.json", {"mcpServers": {"theirs": NOWHERE}})
    done = cli("mcp", "ls", "--check")
    assert (done.code, "connected" in done.out) == (0, True)


def test_a_list_without_a_check_starts_nothing_and_a_slow_server_ends_at_the_deadline(cli: Cli, actor: Actor) -> None:
    actor.tell(late=30)
    cli.home.configure(actor=actor.entry)
    assert cli("mcp", "list", "--json").data["servers"][0]["status"] == "idle"
    assert actor.done("starts") == []
    done = cli("mcp", "list", "--check", "--timeout", "0.5", "--json")
    assert (done.code, done.data["servers"][0]["status"]) == (1, "failed")


# --- test -----------------------------------------------------------------------------------------------------------


def test_a_server_is_tried_step_by_step(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    done = cli("mcp", "test", "demo")
    assert done.code == 0
    steps = [line.split()[:2] for line in done.out.splitlines()]
    assert steps == [["✓", step] for step in ("file", "approval", "variables", "command", "protocol", "tools", "ping", "close")]  # fmt: skip
    assert "mooring-demo 1, protocol 2025-11-25\n" in done.out
    data = cli("mcp", "test", "demo", "--json").data
    assert list(data) == ["name", "ok", "error", "steps", "server"]
    assert (data["ok"], data["server"]["tools"], data["server"]["era"]) == (True, 7, "handshake")
    assert all(step["seconds"] >= 0 and step["ok"] for step in data["steps"])


@pytest.mark.parametrize(
    ("server", "step", "code", "words"),
    [
        ("dead", "command", 1, 'Failed to connect to "dead": dead ended with exit code 1'),
        ("nowhere", "command", 1, "is not on PATH"),
        (
            "sleepy",
            "protocol",
            5,
            "| set the key\nIt may need longer: `mooring mcp edit sleepy --in claude-code --timeout 120` raises",
        ),
    ],
)
def test_the_step_that_fails_is_marked_and_explained(server: str, step: str, code: int, words: str, cli: Cli) -> None:
    cli.home.configure(dead=DEAD, nowhere=NOWHERE, sleepy=SLEEPY)
    done = cli("mcp", "test", server, "--timeout", "1")
    assert (done.code, done.out.splitlines()[-1].split()[:2]) == (code, ["✗", step])
    assert words in done.err


@pytest.mark.parametrize("work", ["", "time.sleep(1.5)", "sys.stdin.readline()"])
def test_a_server_that_dies_at_its_start_is_started_once_and_its_command_is_what_failed(work: str, cli: Cli) -> None:
    starts = cli.home.folder / "starts"
    code = f"import sys, time; open({str(starts)!r}, 'a').write('x'); {work}\nsys.exit('no such table')"
    cli.home.configure(dead={"command": sys.executable, "args": ["-S", "-c", code]})
    done = cli("mcp", "test", "dead")
    steps = [line.split()[:2] for line in done.out.splitlines()]
    assert [mark for mark, step in steps if step == "command"] == ["✗"]
    assert steps[-1] == ["✗", "command"]
    assert (done.code, "no such table" in done.err) == (1, True)
    assert starts.read_text() == "x"


def test_what_to_look_at_after_a_failed_start_names_the_server_and_its_log_only_if_there_is_one(cli: Cli) -> None:
    ghost = "import os, sys; os.path.exists('spoke') or (open('spoke', 'w'), print('boo', file=sys.stderr))"
    cli.home.configure(ghost=NOWHERE, talker={"command": sys.executable, "args": ["-S", "-c", ghost]})
    assert cli("mcp", "test", "ghost").err.endswith("\n`mooring mcp get ghost` shows how it is started.\n")
    cli("mcp", "test", "talker")
    look = "`mooring mcp get talker` shows how it is started, `mooring logs talker` what it wrote before.\n"
    assert cli("mcp", "test", "talker").err.endswith(look)


@pytest.mark.parametrize(("server", "code"), [("off", 2), ("theirs", 4), ("nobody", 2), ("bad", 2)])
def test_what_may_not_be_started_is_not_tried(server: str, code: int, cli: Cli) -> None:
    cli.home.configure(off={**NOWHERE, "enabled": False}, bad={})
    cli.home.write("project/.mcp.json", {"mcpServers": {"theirs": NOWHERE}})
    assert cli("mcp", "test", server).code == code


def test_what_was_left_out_of_a_definition_is_said_without_any_value(cli: Cli) -> None:
    cli.home.write("home/.config/mooring/mcp.json", {"mcpServers": {"demo": {**DEMO, "env": {"A": "!exit 3", "B": "canary-value"}}}})  # fmt: skip
    done = cli("mcp", "test", "demo")
    line = next(line for line in done.out.splitlines() if "variables" in line)
    assert "env.A was left out" in line
    assert "canary" not in done.out + done.err


async def test_a_server_that_wants_a_login_exits_3_and_says_how_to_give_a_token(cli: Cli) -> None:
    def refuse(heard: ReceivedRequest) -> web.Response:
        return web.Response(status=401, headers={"WWW-Authenticate": 'Bearer realm="x"'})

    async with Site() as site:
        for method in ("initialize", "server/discover"):
            site.answers[method] = refuse
        cli.home.configure(site={"type": "http", "url": site.url})
        for words in (["mcp", "test", "site"], ["tools", "site"], ["call", "site.echo"]):
            code, out, err = await run(cli, *words)
            assert code == 3
            assert "requires a login" in err
            if words[0] == "mcp":
                assert '"Authorization": "Bearer ${TOKEN}"' in err
                assert "✗ auth" in out


async def test_a_server_that_forbids_is_helped_on_as_one_that_wants_a_login(cli: Cli) -> None:
    async with Site() as site:
        for method in ("initialize", "server/discover"):
            site.answers[method] = lambda heard: web.Response(status=403)
        cli.home.configure(site={"type": "http", "url": site.url})
        code, _, err = await run(cli, "mcp", "test", "site")
        assert (code, "403" in err) == (1, True)
        assert 'Give it a token: "headers": {"Authorization": "Bearer ${TOKEN}"} in ~/.mcp.json.' in err
        code, _, err = await run(cli, "mcp", "test", "--url", site.url)
        assert (code, "Give it a token: -H 'Authorization: Bearer …'." in err) == (1, True)


async def test_a_secret_that_a_server_repeats_when_it_fails_is_not_shown(cli: Cli) -> None:
    def refuse(heard: ReceivedRequest) -> web.Response:
        return web.Response(status=500, text=f"bad {heard.headers['Authorization']}")

    shout = "import os, sys; sys.exit('bad key ' + os.environ['MY_TOKEN'])"
    async with Site() as site:
        for method in ("initialize", "server/discover"):
            site.answers[method] = refuse
        cli.home.configure(
            site={"type": "http", "url": site.url, "headers": {"Authorization": "Bearer canary-header"}},
            loud={"command": sys.executable, "args": ["-S", "-c", shout], "env": {"MY_TOKEN": "canary-env"}},
        )
        printed = ""
        for words in (
            ["tools"],
            ["mcp", "test", "site"],
            ["mcp", "test", "loud"],
            ["mcp", "list", "--check", "--json"],
        ):
            _, out, err = await run(cli, *words)
            printed += out + err
        printed += "".join((await run(cli, "logs", "loud"))[1:])
        assert "bad key •••" in printed
        assert "HTTP status 500" in printed
        assert "canary" not in printed


async def test_a_configured_server_behind_an_address_is_used_like_any_other(cli: Cli) -> None:
    async with Site() as site:
        cli.home.configure(site={"type": "http", "url": site.url})
        assert await run(cli, "call", "site.echo", "text=hello") == (0, "hello\n", "")
        code, out, _ = await run(cli, "mcp", "test", "site")
        assert (code, "✓ network" in out) == (0, True)
        assert "-e is for servers that are programs" in (await run(cli, "call", "site.echo", "-e", "A=b"))[2]


async def run(cli: Cli, *args: str) -> tuple[int, str, str]:
    """Beside the loop, in which the site answers."""
    done = await asyncio.to_thread(cli, *args)
    return done.code, done.out, done.err


# --- reload ---------------------------------------------------------------------------------------------------------


def test_a_reload_says_which_tools_are_new_and_gone(cli: Cli, actor: Actor) -> None:
    actor.tell(tools=["old"])
    cli.home.configure(actor=actor.entry, demo=DEMO)
    assert cli("mcp", "reload").out.splitlines() == [
        "actor  9 tools, not known before",
        "demo   7 tools, not known before",
    ]
    actor.tell(tools=["new", "newer"])
    assert cli("mcp", "reconnect", "actor").out == "actor  10 tools; 2 new: new, newer; 1 gone: old\n"
    assert cli("mcp", "reload", "demo").out == "demo  7 tools, unchanged\n"
    assert "actor.newer" in cli("tools").out
    data = cli("mcp", "reload", "actor", "--json").data
    assert list(data["servers"][0]) == ["name", "known", "tools", "added", "removed", "changed", "held", "error"]


def test_a_reload_forgets_what_is_no_longer_there(cli: Cli, actor: Actor) -> None:
    cli.home.configure(actor=actor.entry)
    cli("tools")
    actor.tell(die=True)
    done = cli("mcp", "reload")
    assert (done.code, done.out) == (1, "")
    assert "Warning: MCP startup error: actor ended with exit code 7" in done.err
    assert cli("tools").out == ""
    assert cli("mcp", "reload", "actor").code == 1


# --- completion -----------------------------------------------------------------------------------------------------


def complete(home: Home, *words: str) -> list[str]:
    env = {"_MOORING_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run([MOORING], cwd=home.cwd, env={**home.env, **env}, capture_output=True, text=True, timeout=100)
    return [line.split(",", 1)[1] for line in done.stdout.splitlines() if line]


def test_tools_are_completed_from_what_is_known_and_nothing_is_started(cli: Cli, actor: Actor) -> None:
    def offered(typed: str) -> list[str]:
        return KnownServers(home.inventory(remember=False), home.where).complete_tools(typed)

    home = cli.home
    home.configure(actor=actor.entry, demo=DEMO)
    assert offered("") == ["actor.", "demo."]
    assert offered("act") == ["actor."]
    assert not (home.home / ".local").exists()
    cli("tools", "actor")
    assert offered("Act")[:2] == ["actor.whoami", "actor.die"]
    assert complete(home, "mooring", "call", "actor.co") == ["actor.count", "actor.complain"]
    assert len(actor.done("starts")) == 1


def test_only_the_first_of_several_words_is_completed_as_a_server(home: Home) -> None:
    home.configure(demo=DEMO)
    assert complete(home, "mooring", "read", "de") == ["demo"]
    assert complete(home, "mooring", "read", "demo", "de") == []
